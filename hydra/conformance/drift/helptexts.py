"""What a help text names: options, the values that it lists for them, and commands; and the same
text with one of them hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from hydra.adapters.command_line import options

_SPLIT = re.compile(r"(--[a-zA-Z][a-zA-Z0-9-]*)\[(-[a-zA-Z0-9-]+)\]")
_DEFINED = re.compile(r"^ {0,6}(?:-\w, )?(?P<name>--[a-zA-Z][a-zA-Z0-9-]*)")
_LISTED = re.compile(r"^ {8,}- (?P<value>[\w-]+):")
_COMMAND = re.compile(r"^ {2,4}(?P<name>[a-z][\w-]*)(?:\|[\w-]+)?(?: +[\[<]\S+)*(?:  +\S.*)?$")


@cache
def names(text: str) -> frozenset[str]:
    """The long options."""
    return frozenset(name for name in options(text) if "=" not in name)


def values(text: str, name: str) -> frozenset[str]:
    """The values that are listed for one option: in brackets, or (clap's long form) a line each."""
    return _values(text).get(name, frozenset())


@cache
def _values(text: str) -> Mapping[str, frozenset[str]]:
    """The values of every option that lists some."""
    rows: dict[str, set[str]] = {}
    for option in options(text):
        name, _, value = option.partition("=")
        rows.setdefault(name, set()).update({value} - {""})
    name = ""
    for line in text.splitlines():
        if defined := _DEFINED.match(line):
            name = defined["name"]
        elif name and (listed := _LISTED.match(line)):
            rows.setdefault(name, set()).add(listed["value"])
    return {name: frozenset(listed) for name, listed in rows.items()}


def commands(text: str) -> set[str]:
    """The commands of the section `Commands:`."""
    mapping, inside = set(), False
    for line in text.splitlines():
        if not line[:1].isspace():
            inside = line.strip() == "Commands:" or (inside and not line.strip())
        elif inside and (match := _COMMAND.match(line)):
            mapping.add(match["name"])
    return mapping


def without(text: str, name: str) -> str:
    """The text in which the option `name` is another's name."""
    # `--name[-end]` names two options: the other one stays.
    for start, end in _SPLIT.findall(text):
        if name == start + end:
            text = text.replace(f"{start}[{end}]", start)
        elif name == start:
            text = f"{text.replace(f'{start}[{end}]', '')}\n  {start}{end}\n"
    return re.sub(rf"{re.escape(name)}(?![\w-])", "--no-such-option", text)


def without_value(text: str, name: str, value: str) -> str:
    """The text in which one option lists another value in place of `value`."""
    block = "\n".join(_block(text, name))
    hidden = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", "no-such-value", block)
    return text.replace(block, hidden, 1)


def _block(text: str, name: str) -> list[str]:
    """The lines of one option, from its definition up to the next."""
    texts: list[str] = []
    for line in text.splitlines():
        defined = _DEFINED.match(line)
        if defined and texts:
            break
        if texts or (defined and re.search(rf"{re.escape(name)}(?![\w-])", line[:60])):
            texts.append(line)
    return texts

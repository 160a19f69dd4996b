"""Reads the long options, and the values they list, from a CLI's own help text.

Three layouts are known: commander's (Claude Code), clap's (Codex) and yargs' (Gemini CLI). All set
an option's definition at most six columns in, its description further right or on the next lines.
"""

from __future__ import annotations

import re

_DEFINITION = re.compile(r"^ {0,6}(?=-)(?P<names>(?:-\w(?: [A-Z]\w*)?, )?--[a-zA-Z].*)$")
_LONG = re.compile(r"--[a-zA-Z][a-zA-Z0-9-]*")
_OPTIONAL_END = re.compile(r"(--[a-zA-Z][a-zA-Z0-9-]*)\[(-[a-zA-Z0-9-]+)\]")
_QUOTED_VALUES = re.compile(r"[(\[]choices: ([^)\]]*)[)\]]")
_PLAIN_VALUES = re.compile(r"\[possible values: ([^\]]*)\]")


def options(text: str) -> frozenset[str]:
    """Every long option that `text` defines, and `--option=value` for each value it lists.

    An option that is only spoken of in another's description does not count, but for the form
    `--name[-end]`, which names two options (so Claude Code's help has it).
    """
    found: set[str] = set()
    for names, described in _definitions(text):
        found.update(names)
        found.update(f"{name}={value}" for name in names for value in _values(described))
    for name, end in _OPTIONAL_END.findall(text):
        found.update((name, name + end))
    return frozenset(found)


def lists_values(found: frozenset[str], option: str) -> bool:
    """Whether the help text lists the values that `option` takes."""
    return any(name.startswith(f"{option}=") for name in found)


def _definitions(text: str) -> list[tuple[list[str], str]]:
    """(names, everything up to the next definition) for each option, in order."""
    blocks: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        match = _DEFINITION.match(line)
        if match:
            # Two spaces part the definition from a description on the same line.
            defined, _, described = match["names"].partition("  ")
            blocks.append((_LONG.findall(defined), [described]))
        elif blocks:
            blocks[-1][1].append(line)
    return [(names, " ".join(" ".join(lines).split())) for names, lines in blocks]


def _values(described: str) -> list[str]:
    quoted = _QUOTED_VALUES.search(described)
    if quoted:
        return re.findall(r'"([^"]+)"', quoted[1])
    plain = _PLAIN_VALUES.search(described)
    return [value.strip() for value in plain[1].split(",")] if plain else []

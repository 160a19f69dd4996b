"""A CLI's flags as a table, and the line that is built from what its help text still shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from hydra.adapters.prompts import as_session, preface_file
from hydra.errors import UnsupportedFlag
from hydra.records.agent import BuiltCommand, CapabilitySet, DetectResult, SpawnRequest

Pairs = tuple[tuple[str, str], ...]
"""Names and values: variables of an environment, or what a session is to say of itself."""


class Flag(NamedTuple):
    """One long option: what it is for, and what happens where the help text lacks it.

    `required`: no lane can be run without it. Otherwise it is left out, the capability `drops` is
    gone, and `loss` is said as a warning.
    """

    name: str
    purpose: str
    required: bool = False
    drops: tuple[str, ...] = ()
    loss: str = ""


def required(name: str, purpose: str, *drops: str) -> Flag:
    """A flag without which no lane can be run."""
    return Flag(name, purpose, required=True, drops=drops)


@dataclass
class CommandBuilder:
    """A line in the making: each flag is checked against the options that were found. `env`,
    `files` and `expected` go with it."""

    adapter: str
    label: str
    options: frozenset[str]
    hint: str = ""
    version: str = ""
    args: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    env: list[tuple[str, str]] = field(default_factory=list)
    files: list[tuple[Path, bytes]] = field(default_factory=list)
    expected: list[tuple[str, str]] = field(default_factory=list)

    def add(self, flag: Flag, *args: str) -> bool:
        """`args` (else the flag's own name) if it is there; says whether it was.

        Raises `UnsupportedFlag` where it is required and gone.
        """
        if flag.name in self.options:
            self.args.extend(args or (flag.name,))
            return True
        if flag.required:
            raise self.gone(flag.name, flag.purpose)
        self.dropped.append(flag.name)
        if flag.loss:
            self.warnings.append(f"{self.label} no longer has {flag.name}: {flag.loss}")
        return False

    def add_value(self, flag: Flag, value: str) -> None:
        """`--flag value`. Raises `UnsupportedFlag` where the help lists values and not this."""
        if lists_values(self.options, flag.name) and f"{flag.name}={value}" not in self.options:
            raise self.gone(f"{flag.name} {value}", flag.purpose)
        self.add(flag, flag.name, value)

    def add_mode(self, flag: Flag, mode: str, instead: Flag | None) -> None:
        """`--flag MODE`; where that flag is gone `instead`, which alone does what this mode is.

        Raises `UnsupportedFlag` where neither is there, or the help lists values and not this.
        """
        if flag.name in self.options:
            self.add_value(flag, mode)
        elif instead is not None and self.add(instead):
            self.dropped.append(flag.name)
        else:
            raise self.gone(f"{flag.name} {mode}", flag.purpose)

    def add_session(self, flag: Flag, session: str) -> None:
        """`--flag SESSION`, where there is one to go on with. Raises `UnsupportedFlag` where the
        flag is gone."""
        if session:
            self.need(flag, as_session(session, adapter=self.adapter))

    def add_preface(self, flag: Flag, request: SpawnRequest) -> None:
        """`--flag FILE` where the request has a preface, and that file; nothing where it has none.

        Raises `UnsupportedFlag` where the flag is gone.
        """
        for path, data in preface_file(request):
            self.need(flag, str(path))
            self.files.append((path, data))

    def need(self, flag: Flag, value: str | None = "") -> None:
        """`--flag value`, or the flag alone for "": somebody has asked for it. Nothing for None.

        Raises `UnsupportedFlag` where it is gone, required or not.
        """
        if value is not None and not self.add(flag, flag.name, *([value] if value else [])):
            raise self.gone(flag.name, flag.purpose)

    def need_words(self, flag: Flag, *args: str) -> None:
        """`args`, as `add` puts them there, for what only all of them together ask for.

        Raises `UnsupportedFlag`, which names them all, where the flag is gone.
        """
        if not self.add(flag, *args):
            raise self.gone(" ".join(args), flag.purpose)

    def command(
        self, request: SpawnRequest, result: DetectResult, *, stdin: bytes | None = None
    ) -> BuiltCommand:
        """The whole command: this line with the user's own words behind it, in the worktree."""
        return BuiltCommand(
            program=str(result.binary),
            args=(*self.args, *request.extra_args),
            env=tuple(self.env),
            cwd=request.worktree,
            stdin=stdin,
            files=tuple(self.files),
            dropped=tuple(self.dropped),
            warnings=tuple(self.warnings),
            expected_settings=tuple(self.expected),
        )

    def gone(self, what: str, purpose: str) -> UnsupportedFlag:
        """The error for a flag that is needed and not there."""
        return UnsupportedFlag(
            f"this {self.label} has no {what}, which is needed {purpose}",
            adapter=self.adapter,
            hint=self.hint,
            reason="flag_gone",
        )


def named_flags(module: Mapping[str, object]) -> tuple[Flag, ...]:
    """Every flag that a module has a name for, in its order."""
    return tuple(value for value in module.values() if isinstance(value, Flag))


def missing(table: Iterable[Flag], names: frozenset[str]) -> list[Flag]:
    """The required flags that were not found."""
    return [flag for flag in table if flag.required and flag.name not in names]


def without_lost(
    capability_set: CapabilitySet, table: Iterable[Flag], names: frozenset[str]
) -> CapabilitySet:
    """`capability_set` less the capabilities whose flags were not found, each with why."""
    for flag in table:
        if flag.name not in names:
            for name in flag.drops:
                note, lost = f"its help shows no {flag.name}", getattr(capability_set, name)
                lost = replace(lost, present=False, note=note)
                capability_set = replace(capability_set, **{name: lost})
    return capability_set


# ---- Reads the long options, and the values they list, from a CLI's own help text.
#
# Three layouts are known: commander's (Claude Code), clap's (Codex) and yargs' (Gemini CLI). All
# set an option's definition at most six columns in, its description further right or on the next
# lines.

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
    texts: set[str] = set()
    for names, described in _definitions(text):
        texts.update(names)
        texts.update(f"{name}={value}" for name in names for value in _values(described))
    for name, end in _OPTIONAL_END.findall(text):
        texts.update((name, name + end))
    return frozenset(texts)


def lists_values(names: frozenset[str], option: str) -> bool:
    """Whether the help text lists the values that `option` takes."""
    return any(name.startswith(f"{option}=") for name in names)


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

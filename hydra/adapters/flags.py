"""A CLI's flags as a table, and the line that is built from what its help text still shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from hydra.adapters.helptext import lists_values
from hydra.adapters.prompts import Files, as_session, preface_file
from hydra.errors import UnsupportedFlag
from hydra.model import BuiltCommand, CapabilitySet, DetectResult, SpawnRequest

Pairs = tuple[tuple[str, str], ...]
"""Names and values: variables of an environment, or what a session is to say of itself."""


class Flag(NamedTuple):
    """One long option: what it is for, and what happens where the help text lacks it.

    `required`: no lane can be run without it. Otherwise it is left out, `instead` takes its
    place (it may be empty), the capability `drops` is gone, and `loss` is said as a warning.
    """

    name: str
    purpose: str
    required: bool = False
    instead: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    loss: str = ""


@dataclass
class Line:
    """A line in the making: each flag is checked against the options that were found."""

    adapter: str
    label: str
    found: frozenset[str]
    hint: str = ""
    args: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, flag: Flag, *args: str) -> bool:
        """`args` (else the flag's own name) if it is there; says whether it was.

        Raises `UnsupportedFlag` where it is required and gone.
        """
        if flag.name in self.found:
            self.args.extend(args or (flag.name,))
            return True
        if flag.required:
            raise self.gone(flag.name, flag.purpose)
        self.args.extend(flag.instead)
        self.dropped.append(flag.name)
        if flag.loss:
            self.warnings.append(f"{self.label} no longer has {flag.name}: {flag.loss}")
        return False

    def add_value(self, flag: Flag, value: str) -> None:
        """`--flag value`. Raises `UnsupportedFlag` where the help lists values and not this."""
        if lists_values(self.found, flag.name) and f"{flag.name}={value}" not in self.found:
            raise self.gone(f"{flag.name} {value}", flag.purpose)
        self.add(flag, flag.name, value)

    def add_mode(self, flag: Flag, mode: str, instead: Flag | None) -> None:
        """`--flag MODE`; where that flag is gone `instead`, which alone does what this mode is.

        Raises `UnsupportedFlag` where neither is there, or the help lists values and not this.
        """
        if flag.name in self.found:
            self.add_value(flag, mode)
        elif instead is not None and self.add(instead):
            self.dropped.append(flag.name)
        else:
            raise self.gone(f"{flag.name} {mode}", flag.purpose)

    def add_session(self, flag: Flag, session: str) -> None:
        """`--flag SESSION`. Raises `UnsupportedFlag` where the flag is gone."""
        self.need(flag, as_session(session, adapter=self.adapter))

    def add_preface(self, flag: Flag, request: SpawnRequest) -> Files:
        """`--flag FILE` where the request has a preface, and that file; nothing where it has none.

        Raises `UnsupportedFlag` where the flag is gone.
        """
        files = preface_file(request)
        for path, _ in files:
            self.need(flag, str(path))
        return files

    def need(self, flag: Flag, value: str = "") -> None:
        """`--flag value`, or the flag alone without one: somebody has asked for it.

        Raises `UnsupportedFlag` where it is gone, required or not.
        """
        if not self.add(flag, flag.name, *([value] if value else [])):
            raise self.gone(flag.name, flag.purpose)

    def need_words(self, flag: Flag, *words: str) -> None:
        """`words`, as `add` puts them there, for what only all of them together ask for.

        Raises `UnsupportedFlag`, which names them all, where the flag is gone.
        """
        if not self.add(flag, *words):
            raise self.gone(" ".join(words), flag.purpose)

    def command(
        self,
        request: SpawnRequest,
        found: DetectResult,
        *,
        env: Pairs = (),
        stdin: bytes | None = None,
        files: Files = (),
        expects: Pairs = (),
    ) -> BuiltCommand:
        """The whole command: this line with the user's own words behind it, in the worktree."""
        return BuiltCommand(
            program=str(found.binary),
            args=(*self.args, *request.extra_args),
            env=env,
            cwd=request.worktree,
            stdin=stdin,
            files=files,
            dropped=tuple(self.dropped),
            warnings=tuple(self.warnings),
            expects=expects,
        )

    def gone(self, what: str, purpose: str) -> UnsupportedFlag:
        """The error for a flag that is needed and not there."""
        return UnsupportedFlag(
            f"this {self.label} has no {what}, which is needed {purpose}",
            adapter=self.adapter,
            hint=self.hint,
            reason="flag_gone",
        )


def missing(table: Iterable[Flag], found: frozenset[str]) -> list[Flag]:
    """The required flags that were not found."""
    return [flag for flag in table if flag.required and flag.name not in found]


def without_lost(
    held: CapabilitySet, table: Iterable[Flag], found: frozenset[str]
) -> CapabilitySet:
    """`held` less the capabilities whose flags were not found, each with why."""
    for flag in table:
        if flag.name not in found:
            for name in flag.drops:
                held = held.without(name, f"its help shows no {flag.name}")
    return held

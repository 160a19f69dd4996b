"""What a shell or a runner prints where the very program of a check is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra.model import Check

_SHELLS = (b"hydra-check", b"sh", b"bash", b"dash", b"ash", b"env")
"""Who says that a check's own program is not there: its shell, or that of npm and the like."""

_NOT_THERE = re.compile(
    rb"^(?:/usr)?(?:/bin/)?([\w.-]+): (?:line )?(?:\d+: )?(.{1,200}?): (?:command )?"
    rb"(not found|No such file or directory|Permission denied|Is a directory|bad interpreter)",
    re.MULTILINE,
)
_NO_MODULE = re.compile(rb"^\S*python[\d.]*: No module named ([\w.]+)\s*$", re.MULTILINE)
_NO_COMMAND = re.compile(rb"^error: no such (?:sub)?command: `([\w-]+)`", re.MULTILINE)
_RUNNERS: Sequence[tuple[str, re.Pattern[bytes]]] = tuple(
    (runner, re.compile(pattern, re.MULTILINE))
    for runner, pattern in (
        ("npm has no script", rb'^npm (?:ERR!|error) Missing script: "([^"]+)"'),
        ("pnpm has no script", rb"ERR_PNPM_NO_SCRIPT\S*\s+Missing script: (\S+)"),
        ("yarn has no script", rb'^error Command "([^"]+)" not found'),
        ("yarn has no script", rb'^Usage Error: Couldn\'t find a script named "([^"]+)"'),
        ("bun has no script", rb'^error: Script not found "([^"]+)"'),
        ("make has no rule for", rb"^g?make: \*\*\* No rule to make target [`']([^']+)'\.  Stop"),
        ("just has no recipe", rb"^error: Justfile does not contain recipe `([^`]+)`"),
    )
)
"""What each says of a name that its file of scripts has not; the name is the group."""


def missing(check: Check, code: int | None, end: bytes) -> str:
    """Why its own program could not run, "" where it did. A 127 from inside a test is none."""
    if code in (126, 127):
        for match in _NOT_THERE.finditer(end):
            if match[1] in _SHELLS:
                return f"{_text(match[2])}: {_text(match[3])} (exit {code})"
    module = _NO_MODULE.search(end)
    if code == 1 and module and f"-m {_text(module[1])}" in check.command:
        return f"python has no module {_text(module[1])}"
    command = _NO_COMMAND.search(end)
    if code == 101 and command:
        return f"cargo has no command {_text(command[1])}"
    return _not_in_manifest(check.command, end) if code else ""


def _not_in_manifest(command: str, end: bytes) -> str:
    """That a runner does not know what the command itself names; scripts call others in turn."""
    for runner, pattern in _RUNNERS:
        unknown = pattern.search(end)
        if unknown and _text(unknown[1]) in re.split(r"[\s;&|)]+", command):
            return f"{runner} {_text(unknown[1])}"
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip("'\"\u2018\u2019")

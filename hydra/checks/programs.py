"""What a shell or a runner prints where the very program of a check is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra.records.request import Check

UNSTARTED = " cannot start: "
"""Between a package manager that cannot say its version, and why."""

_SHELLS = (b"hydra-check", b"sh", b"bash", b"dash", b"ash", b"env")
"""Who says that a check's own program is not there: its shell, or that of npm and the like."""

_MAKES = (b"make", b"gmake")

_NOT_THERE = re.compile(
    rb"^(?:/usr)?(?:/bin/)?([\w.-]+)(?:\[\d+\])?: (?:line )?(?:\d+: )?(.{1,200}?): (?:command )?"
    rb"(not found|No such file or directory|Permission denied|Is a directory|bad interpreter)",
    re.MULTILINE,
)
_RECIPE_ENDED = re.compile(rb"^g?make(?:\[\d+\])?: \*\*\* \[.+\] Error (12[67])\s*$", re.MULTILINE)
"""make itself ends with 2, whatever its recipe ended with."""
_NO_FOLDER = re.compile(
    rb"^hydra-check: (?:line )?(?:\d+: )?cd: (?:can't cd to )?(.{1,300}?)"
    rb"(?:: (?:No such file or directory|Not a directory))?\Z",
    re.MULTILINE,
)
"""The last that is printed, or the command went on without it."""
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
        ("uv finds no", rb"^error: Failed to spawn: `([^`]+)`"),
        ("poetry finds no", rb"^Command not found: (\S+)"),
        ("pdm finds no", rb"Command '?(\S+?)'? is not found in your PATH"),
        ("pipenv finds no", rb"the command (\S+) could not be found within PATH"),
    )
)
"""What each says of a name that its file of scripts, or its environment, has not: the group."""


def missing(check: Check, code: int | None, end: bytes) -> str:
    """Why its own program could not run, "" where it did. A 127 from inside a test is none."""
    if code in (126, 127):
        for match in _NOT_THERE.finditer(end):
            if match[1] in _SHELLS:
                return f"{_text(match[2])}: {_text(match[3])} (exit {code})"
    if code and (folder := _NO_FOLDER.search(end.rstrip())):
        return f"cannot cd to {_text(folder[1])}"
    if code == 2 and (absent := _in_recipe(end)):
        return absent
    module = _NO_MODULE.search(end)
    if code == 1 and module and f"-m {_text(module[1])}" in check.command:
        return f"python has no module {_text(module[1])}"
    command = _NO_COMMAND.search(end)
    if code == 101 and command:
        return f"cargo has no command {_text(command[1])}"
    return _not_in_manifest(check.command, end) if code else ""


def _in_recipe(end: bytes) -> str:
    """The program for lack of which a recipe of make ended, as the last line before that says."""
    if not (ended := _RECIPE_ENDED.search(end)):
        return ""
    speakers = (*_SHELLS, *_MAKES)
    before = _NOT_THERE.finditer(end[: ended.start()])
    lines = [match for match in before if match[1] in speakers]
    return f"{_text(lines[-1][2])}: not found (exit {_text(ended[1])})" if lines else ""


def _not_in_manifest(command: str, end: bytes) -> str:
    """That a runner does not know what the command itself names; scripts call others in turn."""
    for runner, pattern in _RUNNERS:
        unknown = pattern.search(end)
        if unknown and _text(unknown[1]) in re.split(r"[\s;&|)]+", command):
            return f"{runner} {_text(unknown[1])}"
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip("'\"\u2018\u2019")

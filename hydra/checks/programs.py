"""What a shell or a runner prints where the very program of a check is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra.checks.text_parsers.lines import cleaned
from hydra.checks.text_parsers.output import read_text
from hydra.records.request import Check

_ENDS = 64 * 1024
"""Bytes at the end of the output that are looked at."""
UNSTARTED = " cannot start: "
"""Between a package manager that cannot say its version, and why."""

_MARK = r"(?:\[[\w@./:-]+\] |[\w@./:-]+(?: [\w:.-]+)?: )"
"""What a runner of many scripts puts before each line of one."""

_NOT_THERE = re.compile(
    rf"^({_MARK}??)(?:/usr)?(?:/bin/)?(?:hydra-check|sh|bash|dash|ash|env|g?make)(?:\[\d+\])?: "
    r"(?:line )?(?:\d+: )?(.{1,200}?): (?:command )?"
    r"(not found|No such file or directory|Permission denied|Is a directory|bad interpreter)",
    re.MULTILINE,
)
"""What its shell, that of npm and the like, or make says of a check's own program."""
_ENDED = re.compile(
    r"g?make(?:\[\d+\])?: \*\*\* \[.+\] Error (12[67])\s*$"
    r"|(?:.* )?exit(?:ed)? (?:with )?(?:code |status )?(12[67])\b",
    re.IGNORECASE,
)
"""How a runner says what its script ended with, where it ends with another code itself."""
_FAILED = re.compile(
    r"npm (?:ERR!|error) |\s*(?:ELIFECYCLE\b(?!.* exit code )|ERR_PNPM_RECURSIVE_)|/.+:\s*$"
    r"|info Visit https:|\$ yarn run |Warning: command .+ exited with non-zero status"
    r"|\u27a4 YN0000: Failed|exit \d+ \(\d|nox > Session \S+ failed"
)
"""How one says that its script failed, and no number that tells of what."""
_SCRIPT = re.compile(rf"^{_MARK}?(?:> |(?:\S+ \S+)?\$ )(.+)$", re.MULTILINE)
"""What one prints of a script before it runs it."""
_SEPARATORS = re.compile(r"[\s;&|()'\"]+")
_NO_FOLDER = re.compile(
    r"^hydra-check: (?:line )?(?:\d+: )?cd: (?:can't cd to )?(.{1,300}?)"
    r"(?:: (?:No such file or directory|Not a directory))?\Z",
    re.MULTILINE,
)
"""The last that is printed, or the command went on without it."""
_NO_MODULE = re.compile(r"^\S*python[\d.]*: No module named ([\w.]+)\s*$", re.MULTILINE)
_NO_COMMAND = re.compile(r"^error: no such (?:sub)?command: `([\w-]+)`", re.MULTILINE)


def _table(*rows: tuple[str, str]) -> Sequence[tuple[str, re.Pattern[str]]]:
    return [(runner, re.compile(f"^({_MARK}??){line}", re.MULTILINE)) for runner, line in rows]


_FILES = _table(
    ("npm has no script", r'npm (?:ERR!|error) Missing script: "([^"]+)"'),
    ("pnpm has no script", r"[^\S\n]*ERR_PNPM_NO_SCRIPT\S*\s+Missing script: (\S+)"),
    ("yarn has no script", r'Usage Error: Couldn\'t find a script named "([^"]+)"'),
    ("bun has no script", r'error: Script not found "([^"]+)"'),
    ("make has no rule for", r"g?make: \*\*\* No rule to make target [`']([^']+)'\.  Stop"),
    ("just has no recipe", r"error: [Jj]ustfile does not contain recipe `([^`]+)`"),
)
"""What each says of a name that its file of scripts has not: the second group."""
_ENVIRONMENTS = _table(
    (
        "pnpm finds no",
        r'[^\S\n]*ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL\S*\s+Command "([^"]+)" not found',
    ),
    ("yarn finds no", r'error Command "([^"]+)" not found'),
    ("yarn finds no", r"command not found: (\S+)$"),
    ("yarn finds no", r".*Usage ?Error: .* an (install) (?:there )?might help.*(?:\n +at .*)*"),
    ("npx finds no", r'npm (?:ERR!|error) npx canceled due to missing packages .*\["(@?[^"@]+)'),
    ("bunx finds no", r"error: Could not find an existing '([^']+)' binary to run"),
    ("uv finds no", r"error: Failed to spawn: `?([^`\n]+)`?(?:\n +(?:Caused by|cause): .*)*"),
    ("poetry finds no", r"Command not found: (\S+)"),
    ("pdm finds no", r"(?:\S+: )?Command '?(\S+?)'? is not found in your PATH"),
    ("pipenv finds no", r".{0,40}?the command (\S+) could not be found within PATH"),
    ("tox has no command", r"Exception running subprocess \[Errno 2\] .*: '([^'\n]+)'$"),
    ("nox has no command", r"nox > Program (\S+) not found\.$"),
)
"""The same of one that its environment has not."""


def missing(check: Check, code: int | None, output: bytes) -> str:
    """Why its own program could not run, "" where it did. A 127 from inside a test is none."""
    if not code:
        return ""
    text = cleaned(output[-_ENDS:]).decode("utf-8", "replace")
    if code in (126, 127):
        for match in _NOT_THERE.finditer(text):
            if not match[1]:
                return f"{_bare(match[2])}: {match[3]} (exit {code})"
    if folder := _NO_FOLDER.search(text.rstrip()):
        return f"cannot cd to {_bare(folder[1])}"
    module = _NO_MODULE.search(text)
    if code == 1 and module and f"-m {module[1]}" in check.command:
        return f"python has no module {module[1]}"
    command = _NO_COMMAND.search(text)
    if code == 101 and command:
        return f"cargo has no command {command[1]}"
    return _in_script(text) or _unknown(check.command, text)


def _in_script(text: str) -> str:
    """The program for lack of which a script ended that a runner has begun, as it says itself, or
    as it has shown of the script. Tests that were counted may say the same of their own."""
    scripts = _SEPARATORS.split("\n".join(_SCRIPT.findall(text)))
    absent = []
    for match in _NOT_THERE.finditer(text):
        name, how = _bare(match[2]), match[3].replace("No such file or directory", "not found")
        after = _after(match, text)
        if ended := _ENDED.match(after):
            return f"{name}: {how} (exit {ended[1] or ended[2]})"
        if how == "not found" and name in scripts and (not after or _FAILED.match(after)):
            absent.append(f"{name}: {how}")
    return absent[0] if absent and not _are_counted(text) else ""


def _unknown(command: str, text: str) -> str:
    """That a runner does not know what the command itself names, or has not in its environment what
    a script names; scripts call others in turn, which the task may be to write."""
    names = _SEPARATORS.split(command)
    absent = []
    for table in (_FILES, _ENVIRONMENTS):
        for runner, pattern in table:
            for match in pattern.finditer(text):
                after = _after(match, text)
                is_end = not after or _FAILED.match(after) or _ENDED.match(after)
                if match[2] in names:
                    return f"{runner} {match[2]}"
                if table is _ENVIRONMENTS and is_end:
                    absent.append(f"{runner} {match[2]}")
    return absent[0] if absent and not _are_counted(text) else ""


def _after(match: re.Match[str], text: str) -> str:
    """The next line of the same script; "" where it is its last."""
    rest = re.compile(rf"^{re.escape(match[1])}(.*\S.*)", re.MULTILINE)
    line_end = text.find("\n", match.end())
    following = rest.search(text, line_end + 1) if line_end >= 0 else None
    return following[1] if following else ""


def _are_counted(text: str) -> bool:
    tests = read_text(text.encode())
    return tests is not None and tests.total > 0


def _bare(name: str) -> str:
    return name.strip("'\"\u2018\u2019")

"""Checks as a person writes them: `pytest -q`, `unit=pytest -q`, or a table of hydra.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hydra.config.check_names import NAME, kind_of, name_of
from hydra.errors import ConfigError
from hydra.records.request import Check
from hydra.redaction import redacted

KINDS = ("test", "build", "lint")
_NAMED = rf"(?s:({NAME})=(?=\S)(.+))"
_ASSIGNMENT = r"[A-Za-z_]\w*=\S*"


def check_name(name: str) -> str:
    """`name` where it can be a check's, else `ConfigError`."""
    if not re.fullmatch(NAME, name):
        raise ConfigError(
            f'"{name}" is not the name of a check: lower-case letters, digits and dashes'
        )
    return name


def check_command(command: str) -> str:
    """A command for the shell: one line or several, no control character."""
    if not command.strip() or any(ord(char) < 32 and char not in "\t\n" for char in command):
        raise ConfigError("a check's command is empty or has a control character")
    return command.strip()


def check_spec(spec: str) -> str:
    """What `--check` takes: a command, or `name=command`. Raises `ConfigError`."""
    command = check_command(spec)
    if re.fullmatch(_ASSIGNMENT, command) and not re.fullmatch(_NAMED, command):
        raise ConfigError(  # to the shell it is a variable, and always passes
            f'"{command}" runs nothing: it is no name=command with a name of lower-case letters, '
            "digits and dashes"
        )
    return command


def report_path(path: str) -> str:
    """Where a check writes its JUnit XML: a path or a glob inside the worktree."""
    if not path.strip() or path.startswith(("/", "~")) or ".." in path.split("/"):
        raise ConfigError(f'"{path}" is not a path inside the repository')
    return path


def named(specs: Iterable[str], taken: Iterable[str] = ()) -> list[Check]:
    """The checks of `--check` and of `check = [...]`, each with a name of its own.

    Raises `ConfigError` where two are given one name.
    """
    checks: list[Check] = []
    used = set(taken)
    for spec in specs:
        match = re.fullmatch(_NAMED, spec)
        command = match[2].strip() if match else spec
        name = match[1] if match else _free(name_of(redacted(command)), used)
        if name in used:
            raise ConfigError(
                f'two checks are called "{name}"', hint="name them apart: a=..., b=..."
            )
        used.add(name)
        checks.append(Check(name, command, kind_of(name, command)))
    return checks


def from_tables(tables: Mapping[str, Mapping[str, Any]]) -> list[Check]:
    """The `[checks.<name>]` tables, in their order. Raises `ConfigError` without a command."""
    checks = []
    for name, table in tables.items():
        command = table.get("command")
        if command is None:
            raise ConfigError(f"[checks.{name}] has no command", hint='write command = "..."')
        kind = table.get("kind") or kind_of(name, command)
        required = table.get("required", True)
        checks.append(Check(name, command, kind, required, table.get("junit", "")))
    return checks


def _free(name: str, used: set[str]) -> str:
    number = 2
    free = name
    while free in used:
        free = f"{name}-{number}"
        number += 1
    return free

"""Checks as a person writes them: `pytest -q`, `unit=pytest -q`, or a table of hydra.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hydra.errors import ConfigError
from hydra.model import Check

KINDS = ("test", "build", "lint")
_NAME = r"[a-z][a-z0-9-]{0,39}"
_NAMED = rf"(?s:({_NAME})=(?=\S)(.+))"
_ASSIGNMENT = r"[A-Za-z_]\w*=\S*"

_WITH_VERB = frozenset(
    ("npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "make", "mix", "dotnet", "gradle")
) | {"mvn", "just", "task", "bundle", "rake", "composer", "swift", "bazel", "uv", "poetry", "npx"}
_LINTERS = frozenset(
    ("ruff", "flake8", "pylint", "mypy", "pyright", "black", "eslint", "prettier", "tsc")
) | {"clippy", "fmt", "vet", "golangci-lint", "shellcheck", "rubocop", "biome", "lint"}
_BUILDERS = frozenset(("build", "compile", "cmake", "ninja"))


def check_name(name: str) -> str:
    """`name` where it can be a check's, else `ConfigError`."""
    if not re.fullmatch(_NAME, name):
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
        name = match[1] if match else _free(name_of(command), used)
        if name in used:
            raise ConfigError(
                f'two checks are called "{name}"', hint="name them apart: a=..., b=..."
            )
        used.add(name)
        checks.append(Check(name, command, kind_of(name, command)))
    return checks


def name_of(command: str) -> str:
    """A name for a command: `pytest`, `npm-test`, `cargo-clippy`."""
    words = _words(command)
    if not words:
        return "check"
    first = words[0].rpartition("/")[2].lower()
    rest = [word for word in words[1:] if not word.startswith("-")]
    if first.startswith("python") and "-m" in words:
        rest = words[words.index("-m") + 1 :]
        first, rest = (rest[0] if rest else first), []
    if first in _WITH_VERB:
        verbs = [word for word in rest[:2] if word not in ("run", "exec")]
        first = "-".join((first, *verbs[:1]))
    name = re.sub(r"[^a-z0-9]+", "-", first.lower().removesuffix(".sh")).strip("-")[:32]
    return name if re.fullmatch(_NAME, name) else "check"


def kind_of(name: str, command: str) -> str:
    """test, build or lint, by the words in it; whatever is not known is a test."""
    words = {*name.split("-"), *(word.rpartition("/")[2] for word in _words(command)[:3])}
    if words & _LINTERS:
        return "lint"
    return "build" if words & _BUILDERS else "test"


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


def _words(command: str) -> list[str]:
    words = command.split()
    while words and re.fullmatch(_ASSIGNMENT, words[0]):
        words.pop(0)
    return words


def _free(name: str, used: set[str]) -> str:
    number = 2
    free = name
    while free in used:
        free = f"{name}-{number}"
        number += 1
    return free

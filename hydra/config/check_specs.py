"""Checks as a person writes them, `pytest -q` or `unit=pytest -q`: name, kind, folder, command."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from itertools import count, pairwise

from hydra.config.values import formed
from hydra.errors import ConfigError
from hydra.records.request import Check
from hydra.redaction import redacted

KINDS = ("test", "build", "lint")
NAME = r"[a-z][a-z0-9-]{0,39}"
_NAMED = rf"(?s:({NAME})=(?=\S)(.+))"
_ASSIGNMENT = r"[A-Za-z_]\w*=\S*"
_IN_FOLDER = r"\(?\s*cd\s+(?:--\s+)?('[^']+'|\"[^\"]+\"|[^\s;&|]+)\s*(?:&&|;)\s*(?s:(.+))"
_LONGEST_FOLDER = 60

_WITH_VERB = frozenset(
    ("npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "make", "mix", "dotnet", "gradle")
) | {"mvn", "just", "task", "bundle", "rake", "composer", "swift", "bazel", "uv", "poetry", "npx"}
RUNNERS = frozenset(("uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "bundle"))
"""Of `uv run pytest` it is pytest that has the name."""
_VALUED = frozenset(("--group", "--only-group", "--extra", "--with", "--python", "-p", "--package"))
"""Options of theirs that a word follows."""
_BEFORE = frozenset(("env", "exec", "command", "time", "nice", "npx", "bunx"))
_SHELLS = frozenset(("sh", "bash", "dash", "zsh"))
_INTERPRETERS = _SHELLS | {"node", "ruby", "perl"}

_LINTERS = frozenset(
    ("ruff", "flake8", "pylint", "mypy", "pyright", "black", "eslint", "prettier", "tsc")
) | {"clippy", "fmt", "vet", "golangci-lint", "shellcheck", "rubocop", "biome", "lint"}
_BUILDERS = frozenset(("build", "compile", "cmake", "ninja"))


check_name = formed(NAME, '"{}" is not the name of a check: lower-case letters, digits and dashes')


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


def _free(name: str, used: set[str]) -> str:
    names = (f"{name}-{number}" if number > 1 else name for number in count(1))
    return next(free for free in names if free not in used)


def name_of(command: str) -> str:
    """A name for a command: `pytest`, `npm-test`, `packages/api: unittest`."""
    inner = re.match(_IN_FOLDER, command)
    if inner is None:
        return _name(words_of(command))
    folder = re.sub(r"[^\w./-]+", "-", inner[1].strip("'\"")).rstrip("/")[-_LONGEST_FOLDER:]
    name = name_of(inner[2].strip(" {();}"))
    return f"{folder}: {name}" if folder not in ("", ".") else name


def split_folder(command: str) -> tuple[str, str]:
    """What `in_folder` has put together, or who wrote `cd FOLDER && COMMAND`."""
    inner = re.match(_IN_FOLDER, command)
    if inner is None:
        return "", command
    return inner[1].strip("'\""), inner[2].removeprefix("{").removesuffix("}").strip(" \n;)")


def split_folders(command: str) -> tuple[list[str], str]:
    """The folders that a command enters, one in another, and what it runs there: `in_folder` puts
    one before what begins with a `cd` itself."""
    folders: list[str] = []
    while True:
        folder, inner = split_folder(command)
        if not folder or re.search(r"[$`*?~]", folder):
            return folders, command
        folders.append(folder)
        command = inner


def in_folder(command: str, folder: str) -> str:
    """The command as the shell runs it from the top, in `folder` ("" for the top itself)."""
    if not folder:
        return command
    whole = command if re.fullmatch(r"[^;&|\n]+", command) else f"{{ {command}\n}}"
    return f"cd {shlex.quote(folder)} && {whole}"


def typed(command: str, folder: str) -> str:
    """A command that runs from the top, as one types it in `folder`."""
    if not folder:
        return command
    place, inner = split_folder(command)
    path = os.path.relpath(f"/{place}", f"/{folder}")
    return in_folder(inner, "" if path == "." else path)


def kind_of(name: str, command: str) -> str:
    """test, build or lint, by the words in it; whatever is not known is a test."""
    inner = re.match(_IN_FOLDER, command)
    terms = words_of(inner[2] if inner else command)[:3]
    parts = {*name.rpartition(": ")[2].split("-"), *(term.rpartition("/")[2] for term in terms)}
    if parts & _LINTERS:
        return "lint"
    return "build" if parts & _BUILDERS else "test"


def words_of(command: str) -> list[str]:
    """Its words without the variables that it sets."""
    terms = command.split()
    while terms and re.fullmatch(_ASSIGNMENT, terms[0]):
        terms.pop(0)
    return terms


def _name(terms: list[str]) -> str:
    if not terms:
        return "check"
    first = terms[0].rpartition("/")[2].lower()
    rest = [term for term in terms[1:] if not term.startswith("-")]
    if rest and first in RUNNERS and rest[0] in ("run", "exec"):
        rest = [
            term
            for before, term in pairwise(terms)
            if not term.startswith("-") and before not in _VALUED
        ]
        return _name(rest[1:])
    if rest and first in _BEFORE:
        return _name(words_of(" ".join(rest)))
    if first.startswith("python") and "-m" in terms:
        return _name(terms[terms.index("-m") + 1 :][:1])
    if first in _SHELLS and "-c" in terms:
        return name_of(" ".join(terms[terms.index("-c") + 1 :]).strip("'\""))
    if first.startswith("python") or first in _INTERPRETERS:
        options = [term for term in terms[1:] if term.startswith("--")]
        script = rest[0].rpartition("/")[2] if rest else "-".join((first, *options[:1]))
        return _safe(re.sub(r"\.\w+$", "", script))
    if first in _WITH_VERB:
        verbs = [term for term in rest[:2] if term not in ("run", "exec")]
        first = "-".join((first, *verbs[:1]))
    return _safe(first)


def _safe(name: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", name.lower().removesuffix(".sh")).strip("-")[:32]
    return name if re.fullmatch(NAME, name) else "check"

"""Checks as a person writes them, `pytest -q` or `unit=pytest -q`: name, kind, folder, command."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from itertools import count
from pathlib import PurePath

from hydra.errors import ConfigError
from hydra.records.request import Check
from hydra.redaction import redacted

NAME = r"[a-z][a-z0-9-]{0,39}"
RUNNERS = frozenset(("uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "bundle"))
"""Of `uv run pytest` it is pytest that has the name."""
_NAMED = rf"(?s:({NAME})=(?=\S)(.+))"
_ASSIGNMENT = r"[A-Za-z_]\w*=\S*"
_IN_FOLDER = r"\(?\s*cd\s+(?:--\s+)?('[^']+'|\"[^\"]+\"|[^\s;&|]+)\s*(?:&&|;)\s*(?s:(.+))"
_LONGEST_FOLDER = 60

_VALUED = r"(?:--(?:group|only-group|extra|with|python|package)|-p)(?!\S)"
_OPTIONS = rf"(?:\s+{_VALUED}\s+\S+|\s+(?!{_VALUED})-\S+)*"
_BEFORE = (
    rf"{_ASSIGNMENT}\s+|(?:\S*/)?(?:(?:{'|'.join(RUNNERS)}){_OPTIONS}\s+(?:run|exec){_OPTIONS}\s+(?=\S)"
    r"|(?:env|exec|command|time|nice|npx|bunx)(?:\s+-\S+)*\s+(?=[^\s-])"
    r"|python[\d.]*\s+(?:\S+\s+)*?-m\s+(?=\S)|(?:ba|da|z)?sh\s+(?:\S+\s+)*?-c\s+(?=\S))"
)
"""What stands in front of the command that has the name: what is set for it, and what runs it."""
_INTERPRETERS = r"python[\d.]*|(?:ba|da|z)?sh|node|ruby|perl"
_WITH_VERB = frozenset(
    ("npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "make", "mix", "dotnet", "gradle")
) | {"mvn", "just", "task", "bundle", "rake", "composer", "swift", "bazel", "uv", "poetry", "npx"}
_LINTERS = frozenset(
    ("ruff", "flake8", "pylint", "mypy", "pyright", "black", "eslint", "prettier", "tsc")
) | {"clippy", "fmt", "vet", "golangci-lint", "shellcheck", "rubocop", "biome", "lint"}
_BUILDERS = frozenset(("build", "compile", "cmake", "ninja"))


def named(specs: Iterable[str], taken: Iterable[str] = ()) -> list[Check]:
    """The checks of `--check` and of `check = [...]`, each a command, or `name=command`, and each
    with a name of its own that is not `taken`.

    Raises `ConfigError` for one that runs nothing, and where two are given one name.
    """
    checks: list[Check] = []
    used = set(taken)
    for spec in specs:
        match = re.fullmatch(_NAMED, spec)
        if not match and re.fullmatch(_ASSIGNMENT, spec):  # to the shell a variable: always passes
            why = "it is no name=command with a name of lower-case letters, digits and dashes"
            raise ConfigError(f'"{spec}" runs nothing: {why}')
        command = match[2].strip() if match else spec
        name = match[1] if match else name_of(redacted(command))
        if not match and name in used:
            name = next(free for number in count(2) if (free := f"{name}-{number}") not in used)
        if name in used:
            hint = "name them apart: a=..., b=..."
            raise ConfigError(f'two checks are called "{name}"', hint=hint)
        used.add(name)
        checks.append(Check(name, command, kind_of(name, command)))
    return checks


def name_of(command: str) -> str:
    """A name for a command: `pytest`, `npm-test`, `packages/api: unittest`."""
    folders: list[str] = []
    while True:
        if before := re.match(_BEFORE, command):
            command = command[before.end() :].strip("'\"")
        elif inner := re.match(_IN_FOLDER, command):
            folder = re.sub(r"[^\w./-]+", "-", inner[1].strip("'\"")).rstrip("/")
            folders += [folder[-_LONGEST_FOLDER:]] * (folder not in ("", "."))
            command = inner[2].strip(" {();}")
        else:
            return ": ".join((*folders[-3:], _program_name(command)))


def _program_name(command: str) -> str:
    first, *rest = command.split() or [""]
    first = first.rpartition("/")[2].lower()
    terms = [term for term in rest if not term.startswith("-")]
    verbs = [term for term in terms[:2] if term not in ("run", "exec")] * (first in _WITH_VERB)
    name = "-".join((first, *verbs[:1])).removesuffix(".sh")
    if re.fullmatch(_INTERPRETERS, first):
        options = [term for term in rest if term.startswith("--")]
        script = terms[0].rpartition("/")[2] if terms else "-".join((first, *options[:1]))
        name = re.sub(r"\.\w+$", "", script).lower()
    name = re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:32]
    return name if re.fullmatch(NAME, name) else "check"


def split_folders(command: str) -> tuple[list[str], str]:
    """The folders that a command enters, as `in_folder` or a person writes it, one in another, and
    what it runs there."""
    folders = []
    while (inner := re.match(_IN_FOLDER, command)) and not re.search(r"[$`*?~]", inner[1]):
        folders.append(inner[1].strip("'\""))
        command = inner[2].removeprefix("{").removesuffix("}").strip(" \n;)")
    return folders, command


def split_folder(command: str) -> tuple[str, str]:
    """The same, the folders as one."""
    folders, inner = split_folders(command)
    return f"{PurePath(*folders)}" if folders else "", inner


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
    return re.sub(rf"^\s*(?:{_ASSIGNMENT}(?:\s+|$))*", "", command).split()

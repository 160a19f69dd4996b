"""How a tree is set up, by its lockfiles and manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hydra.checks.project import Project, files_in
from hydra.git.runner import run
from hydra.race.guesses import python
from hydra.race.guesses.needs import pip_arguments, uv_options

_UV = "uv sync --frozen"
_NODE = (
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --immutable"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
    ("package.json", "npm install"),
)
_PYTHON = (
    ("uv.lock", _UV),
    ("poetry.lock", "poetry install"),
    ("pdm.lock", "pdm sync"),
    ("Pipfile.lock", "pipenv sync --dev"),
)
_PLAIN_PYTHON = (
    ("requirements.txt", ".venv/bin/pip install -r requirements.txt"),
    ("pyproject.toml", ".venv/bin/pip install -e ."),
    ("setup.py", ".venv/bin/pip install -e ."),
)
_OTHERS = (
    (("Cargo.lock", "cargo fetch --locked"), ("Cargo.toml", "cargo fetch")),
    (("go.mod", "go mod download"),),
    (("Gemfile", "bundle install"),),
    (("composer.json", "composer install"),),
    (("mix.exs", "mix deps.get"),),
)

MAKES = "python3 -m venv .venv"

_FROZEN = re.compile(r" --(frozen-lockfile|immutable|frozen|locked)$")


def setup(top: Path) -> tuple[str, ...]:
    """The commands that bring the dependencies of the project at `top`, in their order."""
    return tuple(_commands(top, files_in(top)))


def _commands(top: Path, names: frozenset[str]) -> Iterator[str]:
    project = Project(top, top)
    for family in (_NODE, _PYTHON, *_OTHERS):
        if command := _command(family, top, names):
            tool = python.test_tool(project) if command == _UV else ""
            yield f"{command}{uv_options(project, tool)}" if command == _UV else command
    if names & dict(_PLAIN_PYTHON).keys() and not _first(_PYTHON, names):
        yield from _by_pip(top, pip_arguments(project, python.test_tool(project)))


def without_manager(top: Path) -> tuple[str, ...]:
    """The commands that do it with Python alone, where the manager that the lockfile is of is not
    there; () where the standard tables do not say what the tests need."""
    project = Project(top, top)
    tool = python.test_tool(project)
    arguments = pip_arguments(project, tool)
    return tuple(_by_pip(top, arguments)) if tool and tool not in arguments else ()


def _by_pip(top: Path, arguments: list[str]) -> Iterator[str]:
    if arguments:
        yield MAKES
        if _is_unignored(top):  # Python 3.13 and later write that themselves
            yield "echo '*' > .venv/.gitignore"
        if "--group" in arguments:  # which the pip of older Pythons does not know
            yield ".venv/bin/pip install --upgrade pip"
        yield f".venv/bin/pip install {' '.join(arguments)}"


def _is_unignored(top: Path) -> bool:
    """Whether git would list what is in its environment."""
    terms = ("check-ignore", "-q", "--no-index", ".venv/pyvenv.cfg")
    return run(*terms, cwd=top, check=False).code == 1


def install(top: Path, changed: str) -> str:
    """The command that brings what a changed file of the project at `top` asks for now; "" for one
    that is none of its lockfiles and manifests."""
    for family in (_NODE, (*_PYTHON, *_PLAIN_PYTHON), *_OTHERS):
        if changed not in dict(family):
            continue
        command = _command(family, top, files_in(top))
        if command != dict(family)[changed]:  # as the lockfile stands, it would bring the old ones
            command = "npm install" if command == "npm ci" else _FROZEN.sub("", command)
        return command if (top / ".venv").is_dir() else command.removeprefix(".venv/bin/")
    return ""


def _command(family: tuple[tuple[str, str], ...], top: Path, names: frozenset[str]) -> str:
    command = _first(family, names)
    yarn_1 = command == "yarn install --immutable" and _is_yarn_1(top)
    return "yarn install --frozen-lockfile" if yarn_1 else command


def _first(family: tuple[tuple[str, str], ...], names: frozenset[str]) -> str:
    return next((command for name, command in family if name in names), "")


def _is_yarn_1(top: Path) -> bool:
    # Only its second line tells; yarn 2 and later do not know --frozen-lockfile, nor 1 the other.
    with suppress(OSError), (top / "yarn.lock").open("rb") as lock:
        return b"yarn lockfile v1" in lock.read(200)
    return False

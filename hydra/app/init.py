"""`hydra init`: a commented hydra.toml with guesses from what lies at the repository's top."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hydra.app.guesses import checks
from hydra.config import template
from hydra.errors import Refused, UsageError
from hydra.git import runner
from hydra.git.found import top as find_top

NAME = "hydra.toml"

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
    ("uv.lock", "uv sync --frozen"),
    ("poetry.lock", "poetry install"),
    ("pdm.lock", "pdm sync"),
    ("Pipfile.lock", "pipenv sync"),
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
_NO_SECRETS = re.compile(r"\.env.*\.(example|sample|template|dist)|\.envrc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial:
    """A hydra.toml to be: where, its text, and what was guessed. `written` says if it is there."""

    path: Path
    text: str
    copies: tuple[str, ...]
    setup: tuple[str, ...]
    checks: tuple[str, ...] = ()
    written: bool = False


def propose(start: Path) -> Initial:
    """The hydra.toml for the repository that `start` lies in. Raises `Refused` outside of one."""
    top = find_top(start)
    with os.scandir(top) as found:
        names = frozenset(entry.name for entry in found if entry.is_file(follow_symlinks=False))
    copies = _ignored(top, sorted(name for name in names if _may_hold_settings(name)))
    setup = tuple(_setup(top, names))
    commands = checks(top, names)
    text = template(
        "What a race of Hydra needs to know of this repository.",
        repository=True,
        guesses=_guesses(copies, setup, commands),
    )
    return Initial(path=top / NAME, text=text, copies=copies, setup=setup, checks=commands)


def write(initial: Initial) -> Initial:
    """Writes the file. Raises `UsageError` where something of that name is there already."""
    try:
        with initial.path.open("x", encoding="utf-8") as file:
            file.write(initial.text)
    except FileExistsError:
        raise UsageError(
            f"{initial.path} is there already, and init never overwrites",
            hint="`hydra init --print` shows what it would write",
        ) from None
    except OSError as error:
        raise Refused(f"{initial.path} cannot be written: {error.strerror}") from error
    return replace(initial, written=True)


def _may_hold_settings(name: str) -> bool:
    return name.startswith(".env") and name.isprintable() and not _NO_SECRETS.fullmatch(name)


def _ignored(top: Path, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    told = runner.run(
        *("check-ignore", "-z", "--stdin"),
        cwd=top,
        stdin=runner.join([os.fsencode(name) for name in names]),
        check=False,
    )
    return tuple(os.fsdecode(name) for name in runner.split(told.stdout))


def _setup(top: Path, names: frozenset[str]) -> Iterator[str]:
    for family in (_NODE, _PYTHON, *_OTHERS):
        command = _first(family, names)
        if command == "yarn install --immutable" and _is_yarn_1(top):
            command = "yarn install --frozen-lockfile"
        if command:
            yield command
    install = _first(_PLAIN_PYTHON, names)
    if install and not _first(_PYTHON, names):
        yield from ("python3 -m venv .venv", install)


def _first(family: tuple[tuple[str, str], ...], names: frozenset[str]) -> str:
    return next((command for name, command in family if name in names), "")


def _is_yarn_1(top: Path) -> bool:
    # Only its second line tells; yarn 2 and later do not know --frozen-lockfile, nor 1 the other.
    with suppress(OSError), (top / "yarn.lock").open("rb") as lock:
        return b"yarn lockfile v1" in lock.read(200)
    return False


def _guesses(
    copies: tuple[str, ...], setup: tuple[str, ...], commands: tuple[str, ...]
) -> dict[str, tuple[object, str]]:
    guesses: dict[str, tuple[object, str]] = {}
    if copies:
        note = "Found here, and ignored by git; whoever may read a lane reads its copy"
        guesses["race.copy"] = (copies, note)
    if setup:
        guesses["race.setup"] = (setup, "Guessed from the files at the top")
    if commands:
        guesses["race.check"] = (commands, "Guessed from the files at the top")
    return guesses

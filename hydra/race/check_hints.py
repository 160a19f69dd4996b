"""What to do about a check that cannot run here: each way is one that fits why."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from hydra.config.check_names import in_folder, split_folder, words_of
from hydra.errors import Refused
from hydra.race.guesses.commands import guess_checks
from hydra.race.guesses.python import ENVIRONMENTS
from hydra.race.guesses.setups import setup

_ABSENT = re.compile(r"^([\w.+-]+): not found(?: \(exit 127\))?$")
"""A program of a bare name, which is looked for on PATH alone."""
_NO_CD = "cannot cd to "
_MANAGERS = ("npm", "pnpm", "yarn", "bun", "node")
_MODULE = re.compile(r"No module named|no module \w|Cannot find module")
_UNNAMED = re.compile(r" has no (?:script|rule for|recipe|command) ")
"""What no set-up brings: the project's own file does not have it."""


def refusal(
    line: str, command: str, top: Path, way: str = "", *, folder: str = "", guessed: bool = False
) -> Refused:
    """The error of a check that cannot start; `way`, where it is not "", is what would help. Ways
    are as one types them in `folder`."""
    ways = [way] if way else [*_ways(line, command, top, folder)]
    if guessed:
        ways.append("--check COMMAND names another")
    hint = "; ".join([*ways, "--no-check races without"])
    which = f" (`{command}`, guessed)" if guessed else ""
    return Refused(f"tests cannot run here: {_where(line, command, top)}{which}", hint=hint)


def installing(line: str, command: str, top: Path, folder: str = "") -> str:
    """The set-up that may bring a program or a module that is not there, as one types it in
    `folder`; "" for other reasons."""
    if not _MODULE.search(line) and "not found" not in line:
        return ""
    if (absent := _ABSENT.match(line)) and not _may_be_installed(absent[1], command, top):
        return ""
    at = _installed_at(command, top)
    steps = [step for step in setup(at) if not _made_already(step, at)]
    place = "" if at == top else str(at.relative_to(top))
    return _typed(in_folder(" && ".join(steps), place), folder) if steps else ""


def _may_be_installed(program: str, command: str, top: Path) -> bool:
    """Not by itself, nor where the environments were set up and are without it."""
    set_up = _environments(command, top) and not _is_node(command, top)
    return program not in _MANAGERS and not set_up


def lacks_packages(line: str, command: str, top: Path) -> bool:
    """Whether it is a script of package.json's, whose packages were never installed here."""
    program = next(iter(words_of(split_folder(command)[1])), "")
    is_made = any((at / "node_modules").is_dir() for at in _above(command, top))
    return program in _MANAGERS and not is_made and bool(installing(line, command, top))


def _ways(line: str, command: str, top: Path, folder: str) -> Iterator[str]:
    if line.startswith(_NO_CD):
        yield _another_folder(line.removeprefix(_NO_CD), command, top)
    elif setup := installing(line, command, top, folder):
        yield f"--setup {shlex.quote(setup)}, or --share with the folder that holds what they need"
    elif _ABSENT.match(line):
        yield "check its spelling, or install it"
    elif not _UNNAMED.search(line):
        yield "--setup with the command that installs what they need"
    for guess in guess_checks(top, split_folder(command)[0])[:1]:
        if guess != command:
            yield f"--check {shlex.quote(_typed(guess, folder))} is Hydra's own guess"


def _another_folder(absent: str, command: str, top: Path) -> str:
    """What to do about a `cd` that fails: most are from the top, and Hydra is below it already."""
    place = split_folder(command)[0]
    if (top / place).is_dir() and (top / absent).is_dir():
        path = os.path.relpath(top / absent, top / place)
        return f"it already runs in {place}: cd {shlex.quote(path)} leads there"
    return "check its spelling"


def _typed(command: str, folder: str) -> str:
    """A command that runs from the top, as one types it in `folder`."""
    if not folder:
        return command
    place, inner = split_folder(command)
    path = os.path.relpath(f"/{place}", f"/{folder}")
    return in_folder(inner, "" if path == "." else path)


def _where(line: str, command: str, top: Path) -> str:
    """`line`, with where a program was looked for."""
    if not (absent := _ABSENT.match(line)):
        return line
    own = "".join(f", nor in {name}" for name in _environments(command, top))
    return f"{absent[1]}: not found on PATH{own}"


def _environments(command: str, top: Path) -> list[str]:
    """The folders of programs that the project has of its own."""
    names = [*(f"{name}/bin" for name in ENVIRONMENTS), "node_modules/.bin"]
    return [name for name in names if any((at / name).is_dir() for at in _above(command, top))]


def _above(command: str, top: Path) -> list[Path]:
    """The folder where it runs, and those above it up to the top."""
    place = top / split_folder(command)[0]
    return [at for at in (place, *place.parents) if at.is_relative_to(top)]


def _installed_at(command: str, top: Path) -> Path:
    """The nearest folder with a lockfile: a workspace's packages have none. Else the nearest that
    can be set up at all."""
    ways = {at: setup(at) for at in _above(command, top)}
    locked = [at for at, steps in ways.items() if steps not in ((), ("npm install",))]
    return next(iter((*locked, *(at for at, steps in ways.items() if steps))), top)


def _is_node(command: str, top: Path) -> bool:
    return any((at / "package.json").is_file() for at in _above(command, top))


def _made_already(setup: str, at: Path) -> bool:
    return setup == "python3 -m venv .venv" and (at / ".venv" / "pyvenv.cfg").is_file()

"""What to do about a check that cannot run here: each way is one that fits why."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from hydra.app import guesses
from hydra.app.guesses.python import ENVIRONMENTS
from hydra.config.check_names import split_folder
from hydra.errors import Refused

_ABSENT = re.compile(r"^([\w.+-]+): not found(?: \(exit 127\))?$")
"""A program of a bare name, which is looked for on PATH alone."""
_MODULE = re.compile(r"No module named|no module \w|Cannot find module")
_UNNAMED = re.compile(r" has no (?:script|rule for|recipe|command) ")
"""What no set-up brings: the project's own file does not have it."""


def refusal(line: str, command: str, top: Path, way: str = "") -> Refused:
    """The error of a check that was named; `way`, where it is not "", is what would help."""
    ways = [way] if way else [*_ways(line, command, top)]
    hint = "; ".join([*ways, "--no-check races without"])
    return Refused(f"tests cannot run here: {_where(line, command, top)}", hint=hint)


def installing(line: str, command: str, top: Path) -> str:
    """The set-up that may bring a program or a module that is not there; "" for other reasons."""
    if not _MODULE.search(line) and "not found" not in line:
        return ""
    if _ABSENT.match(line) and _environments(command, top) and not _is_node(top):
        return ""  # it has been set up, and without this
    return " && ".join(setup for setup in guesses.setup(top) if not _made_already(setup, top))


def _ways(line: str, command: str, top: Path) -> Iterator[str]:
    if setup := installing(line, command, top):
        yield f"--setup {shlex.quote(setup)}, or --share with the folder that holds what they need"
    elif _ABSENT.match(line):
        yield "check its spelling, or install it"
    elif not _UNNAMED.search(line):
        yield "--setup with the command that installs what they need"
    for guess in guesses.checks(top, split_folder(command)[0])[:1]:
        if guess != command:
            yield f"--check {shlex.quote(guess)} is Hydra's own guess"


def _where(line: str, command: str, top: Path) -> str:
    """`line`, with where a program was looked for."""
    if not (absent := _ABSENT.match(line)):
        return line
    own = "".join(f", nor in {name}" for name in _environments(command, top))
    return f"{absent[1]}: not found on PATH{own}"


def _environments(command: str, top: Path) -> list[str]:
    """The folders of programs that the project has of its own."""
    place = top / split_folder(command)[0]
    names = [*(f"{name}/bin" for name in ENVIRONMENTS), "node_modules/.bin"]
    return [name for name in names if (place / name).is_dir() or (top / name).is_dir()]


def _is_node(top: Path) -> bool:
    return (top / "package.json").is_file()


def _made_already(setup: str, top: Path) -> bool:
    return setup == "python3 -m venv .venv" and (top / ".venv" / "pyvenv.cfg").is_file()

"""`hydra init`: a commented hydra.toml with guesses from what lies at the repository's top."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from hydra.app import guesses
from hydra.config import template
from hydra.errors import Refused, UsageError
from hydra.git import runner

NAME = "hydra.toml"

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
    top = _top(start)
    with os.scandir(top) as found:
        names = frozenset(entry.name for entry in found if entry.is_file(follow_symlinks=False))
    copies = _ignored(top, sorted(name for name in names if _may_hold_settings(name)))
    setup = guesses.setup(top)
    made = ".venv/bin/python" if any(it.startswith(".venv/") for it in setup) else "python3"
    commands = (*guesses.checks(top, interpreter=made), *guesses.lints(top))
    text = template(
        "What a race of Hydra needs to know of this repository.",
        repository=True,
        guesses=_settings(copies, setup, commands),
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


def _top(start: Path) -> Path:
    result = runner.run("rev-parse", "--show-toplevel", cwd=start, check=False)
    if result.code or not result.line:
        raise Refused(
            f"there is no git work tree at {start}: {result.reason.removeprefix('fatal: ')}",
            hint="run this in a repository, or make one: git init",
        )
    return Path(result.line)


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


def _settings(
    copies: tuple[str, ...], setup: tuple[str, ...], commands: tuple[str, ...]
) -> dict[str, tuple[object, str]]:
    found: dict[str, tuple[object, str]] = {}
    if copies:
        note = "Found here, and ignored by git; whoever may read a lane reads its copy"
        found["race.copy"] = (copies, note)
    if setup:
        found["race.setup"] = (setup, "Guessed from the files at the top")
    if commands:
        found["race.check"] = (commands, "Guessed from the files at the top")
    return found

"""What to do about a check that cannot run here: each way is one that fits why."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra.checks.programs import UNSTARTED
from hydra.config.check_specs import in_folder, split_folder, split_folders, typed
from hydra.errors import Refused
from hydra.git.runner import join, run, split
from hydra.process.sandbox.hidden_output import ABSENT
from hydra.race.guesses.commands import guess_checks
from hydra.race.guesses.python import ENVIRONMENTS
from hydra.race.guesses.setups import MAKES, without_manager
from hydra.race.guesses.setups import setup as set_up_commands
from hydra.records.request import Check
from hydra.text import shell_quoted

WITHOUT = "--no-check races without tests"
"""What a race's refusal ends with."""

_ABSENT = re.compile(r"^([\w.+-]+): not found(?: \(exit 127\))?$")
"""A program of a bare name, which is looked for on PATH alone."""
_NO_CD = "cannot cd to "
_NO_TOOLCHAIN = "rustup could not choose a version"
_OF_PYTHON = ("uv", "poetry", "pdm", "pipenv", "hatch")
"""What brings packages that pip may bring too."""
_MANAGERS = (*_OF_PYTHON, "npm", "pnpm", "yarn", "bun", "node", "cargo")
"""What brings packages is brought by none."""
_FOLDERS = (*ENVIRONMENTS, "node_modules")
_RULES = "lanes ignore what your commit does, and have no other environment"
_MODULE = re.compile(r"No module named|no module \w|Cannot find module|finds no \w")
_UNNAMED = re.compile(r" has no (?:script|rule for|recipe|command) ")
"""What no set-up brings: the project's own file does not have it."""


def refusal(
    line: str,
    check: Check,
    top: Path,
    way: str = "",
    *,
    folder: str = "",
    setup: Sequence[str] = (),
    shown: bool = True,
    racing: bool = True,
) -> Refused:
    """The error of a check that cannot start; `way`, where it is not "", is what would help. Ways
    are as one types them in `folder`, to race again, or to check again what is there; `setup` has
    run already, and `shown` says whether lanes have the checkout's environments."""
    again = "race" if racing else "check"
    ways = [way] if way else [*_ways(line, check, top, folder, setup, again if shown else "")]
    if check.guessed:
        ways.append("--check COMMAND names another")
    hint = "; ".join([*ways, *((WITHOUT,) if racing else ())])
    notes = [f"`{check.command}`", "guessed"] if check.guessed else []
    which = f" ({', '.join([*notes, *(['after the set-up'] if setup else ())])})"
    why = line if way else _where(line, check.command, top)
    return Refused(f"your tests cannot run here: {why}{which if which != ' ()' else ''}", hint=hint)


def misses_one_of(output: str, folders: Sequence[str]) -> str:
    """The folder, from the top, of which `output` says that a file is not there; "" for none."""
    lines = [line for line in output.splitlines() if ABSENT.search(line)]
    patterns = {name: rf"(?<![\w.-]){re.escape(name)}/" for name in folders}
    named = (name for name in folders if any(re.search(patterns[name], line) for line in lines))
    return next(named, "")


def fetching(module: str, folder: str) -> str:
    """What brings a submodule, as one types it in `folder`."""
    path = os.path.relpath(f"/{module}", f"/{folder}")
    return f"git submodule update --init {shlex.quote(path)}, then race again"


def installing(line: str, command: str, top: Path) -> str:
    """The set-up that may bring a program or a module that is not there; "" for other reasons."""
    if not _is_absent(line):
        return ""
    absent = _ABSENT.match(line)
    at = _installed_at(command, top)
    if absent and absent[1] in _OF_PYTHON:
        commands = without_manager(at)
    elif absent and not _may_be_installed(absent[1], command, top):
        return ""
    else:
        commands = set_up_commands(at)
    is_made = (at / ".venv" / "pyvenv.cfg").is_file()
    steps = [step for step in commands if not (is_made and step == MAKES)]
    place = "" if at == top else str(at.relative_to(top))
    return in_folder(" && ".join(steps), place) if steps else ""


def _may_be_installed(program: str, command: str, top: Path) -> bool:
    """Not by itself, nor where the environments were set up and are without it."""
    is_node = any((at / "package.json").is_file() for at in _above(command, top))
    set_up = _environments(command, top) and not is_node
    return program not in _MANAGERS and not set_up


def _ways(
    line: str, check: Check, top: Path, folder: str, setup: Sequence[str], again: str
) -> Iterator[str]:
    command = check.command
    if UNSTARTED in line:
        asks = in_folder(f"{line.partition(UNSTARTED)[0]} --version", split_folder(command)[0])
        then = f", then {again} again" if again else ""
        brings = f"{typed(asks, folder)} in your checkout brings the version that is pinned"
        yield ("rustup default stable" if _NO_TOOLCHAIN in line else brings) + then
        return
    needed = installing(line, command, top)
    if line.startswith(_NO_CD):
        yield _another_folder(line.removeprefix(_NO_CD), command, top)
    elif again and _is_absent(line) and (name := _unignored(command, top)):
        ignoring = f'echo {shlex.quote(name)} >> "$(git rev-parse --git-path info/exclude)"'
        yield f"{ignoring}, then {again} again: lanes have what git ignores of your checkout"
    elif again and _is_absent(line) and (rules := _uncommitted(command, top)):
        path = shlex.quote(os.path.relpath(f"/{rules}", f"/{folder}"))
        dirty = "; or --include-dirty" * (again == "race")
        yield f"git add {path} && git commit -m {path}, then {again} again{dirty}: {_RULES}"
    elif needed and needed not in setup:
        line = typed(needed, folder)  # once in the checkout, or in each lane
        if again == "check" and ".venv/" in line:
            # Afterwards a bare `python3` is the checkout's; only a race looks what a set-up made.
            yield f"{line}, then check again"
        else:
            first = f"{line}, then {again} again; or " if again else ""
            yield f"{first}--setup {shell_quoted(line)}"
    elif needed or not (_ABSENT.match(line) or _UNNAMED.search(line)):
        other = "another" if setup else "the"
        yield f"--setup with {other} command that installs what they need"
    elif absent := _ABSENT.match(line):
        yield f"install {absent[1]}" if check.guessed else "check its spelling, or install it"
    for guess in guess_checks(top, split_folder(command)[0])[:1]:
        if guess != command and not check.guessed:
            yield f"--check {shell_quoted(typed(guess, folder))} is Hydra's own guess"


def _is_absent(line: str) -> bool:
    return bool(_MODULE.search(line)) or "not found" in line


def _unignored(command: str, top: Path) -> str:
    """An environment of the checkout that lanes are not shown, from the top; "" without one."""
    names = [str(at.relative_to(top) / name) for at in _above(command, top) for name in _FOLDERS]
    terms = ("ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory")
    listed = split(run(*terms, "-z", "--", *names, cwd=top, check=False).stdout)
    return next((os.fsdecode(name) for name in listed), "")


def _uncommitted(command: str, top: Path) -> str:
    """The file by which the checkout ignores an environment that is present, where its commit has
    not these rules; "" without one."""
    names = [at / name for at in _above(command, top) for name in _FOLDERS]
    present = [os.fsencode(path.relative_to(top)) for path in names if path.is_dir()]
    terms = ("check-ignore", "-v", "-z", "--stdin")
    sources = split(run(*terms, cwd=top, stdin=join(present), check=False).stdout)[::4]
    rules = [source for source in sources if source.endswith(b".gitignore")]
    options = ("--literal-pathspecs", "status", "--porcelain", "-z", "--")
    changed = split(run(*options, *rules, cwd=top, check=False).stdout) if rules else []
    return next((os.fsdecode(line[3:]) for line in changed), "")


def _another_folder(absent: str, command: str, top: Path) -> str:
    """What to do about a `cd` that fails: most are from the top, and Hydra is below it already."""
    place = next(iter(split_folders(command)[0]), "")
    if (top / place).is_dir() and (top / absent).is_dir():
        path = os.path.relpath(top / absent, top / place)
        return f"it already runs in {place}: cd {shlex.quote(path)} leads there"
    return "check its spelling"


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
    ways = {at: set_up_commands(at) for at in _above(command, top)}
    locked = [at for at, steps in ways.items() if steps not in ((), ("npm install",))]
    return next(iter((*locked, *(at for at, steps in ways.items() if steps))), top)

"""Whether the program of a check starts at all: asked on the base, before any agent costs."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from hydra.checks import telling
from hydra.checks.kit import Kit
from hydra.checks.programs import missing
from hydra.checks.run import SHELL
from hydra.config.check_names import name_of, split_folder, words_of
from hydra.errors import HydraError
from hydra.model import Check
from hydra.process import CannotStart, Ran, run
from hydra.sandbox import confine

SECONDS = 5.0
"""For all checks together; what has not ended by then has started."""

_GROUND = "_look"
_COMPOUND = re.compile(r"[;&|<>()`\n]|\$\(")
_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")
_COLLECTED = re.compile(r"^\d+(?:/\d+)? tests? collected", re.MULTILINE)
_STOPPED = re.compile(r"^!+ Interrupted: \d+ errors? during collection !+$", re.MULTILINE)
"""Then pytest runs none of those that it has collected."""
_UNKNOWN = re.compile(r"error: unrecognized arguments?: .+|unknown (?:config )?option.+")
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "Pipfile", "noxfile.py")
_LARGEST = 1024 * 1024
_MANAGERS = frozenset(("npm", "pnpm", "yarn", "bun"))
_DRY = {"make": "-n", "gmake": "-n", "just": "--dry-run"}
"""How a runner shows what it would run, and says what it has no rule for."""
_FIND = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)"
_NOT_FOUND = 127
_LOAD = """
import sys, unittest
class Loaded:
    def __init__(self, **_): pass
    def run(self, suite):
        waiting, modules, failures = [suite], set(), []
        while waiting:
            test = waiting.pop()
            if hasattr(test, "__iter__"): waiting.extend(test)
            elif hasattr(test, "_exception"): failures.append(str(test._exception))
            else: modules.add(type(test).__module__)
        sys.exit(failures[0] if len(failures) > len(modules) else 0)
unittest.main(None, argv=["unittest", *sys.argv[1:]], testRunner=Loaded)
"""
"""Loads what unittest would run, and exits 0 unless most modules of it cannot be imported."""
_FRAME = re.compile(r'^ +File "([^"]+)", line \d+', re.MULTILINE)


class Look(NamedTuple):
    """By name, the line that says why a check cannot start; whether each was seen to start."""

    problems: Mapping[str, str]
    passed: bool


async def look(kit: Kit, commit: str, seconds: float = SECONDS) -> Look:
    """Whether the checks start on `commit`.

    One command after another, in one clean ground, where they would run. What Hydra itself cannot
    find out keeps nobody from racing.
    """
    ground = kit.clean_ground(_GROUND, commit)
    problems: dict[str, str] = {}
    started: list[Check] = []
    try:
        await trio.to_thread.run_sync(ground.open)
        with trio.move_on_after(seconds):
            for check in kit.checks:
                if problem := _no_script(check.command, ground.worktree):
                    problems[check.name] = problem
                    continue
                script = _script(check.command, ground.worktree)
                policy = kit.policy(ground)
                ran = await run(
                    ("/bin/sh", "-c", f"exec 2>&1; {script}", SHELL),
                    env=kit.variables(ground),
                    cwd=ground.worktree,
                    timeout=seconds,
                    wrap=partial(confine, kit.confinement, policy),
                    output_limit=_LARGEST,
                )
                if problem := _problem(check, ran, ground.worktree):
                    problems[check.name] = problem
                elif ran.exit_code == 0:
                    started.append(check)
    except (HydraError, OSError, CannotStart):
        pass  # the baseline says it, with all there is to say
    finally:
        with trio.CancelScope(shield=True), suppress(OSError):
            await trio.to_thread.run_sync(ground.remove)
    return Look(problems, passed=len(started) == len(kit.checks))


def _script(command: str, top: Path) -> str:
    """What shows that `command` can start: pytest collects; of others the program is looked for."""
    folder, inner = split_folder(command)
    if name_of(inner) == "pytest" and not _COMPOUND.search(inner):
        return f"{command} --collect-only -q -p no:cacheprovider"
    place = top / folder
    lines = [f"cd {shlex.quote(folder)} || exit"] if folder else []
    lines += [f"PATH={shlex.quote(_packages(top, place))}:$PATH"]
    lines += [_finding(*question) for question in _needs(inner, place)]
    words = words_of(inner)
    if words[:1] and words[0] in _DRY and not _COMPOUND.search(inner):
        lines += [" ".join(["LC_ALL=C", words[0], _DRY[words[0]], *words[1:]])]
    if (arguments := _unittest_arguments(inner)) is not None:
        lines += [f"{words_of(inner)[0]} -c {shlex.quote(_LOAD)} {arguments}"]
    return "\n".join(lines)


def _unittest_arguments(command: str) -> str | None:
    """What follows `python -m unittest`; None for any other command."""
    words = words_of(command)
    plain = words[1:3] == ["-m", "unittest"] and not _COMPOUND.search(command)
    return " ".join(words[3:]) if plain else None


def _packages(top: Path, place: Path) -> str:
    """Where a script of package.json finds its programs, as seen from `place`."""
    above = [it for it in (place, *place.parents) if it.is_relative_to(top)]
    return ":".join(os.path.relpath(it / "node_modules" / ".bin", place) for it in above)


def _needs(command: str, place: Path) -> Iterator[tuple[str, str]]:
    """The programs of a command, each with the module that it has to have, or ""."""
    words = words_of(command)
    if not words or not re.fullmatch(r"[\w./+-]+", words[0]):
        return
    module = ""
    if words[0].rpartition("/")[2].startswith("python") and words[1:2] == ["-m"] and words[2:]:
        module = words[2]
    yield words[0], module
    script = _package_script(words, place)
    yield from ((word, "") for word in script[:1] if re.fullmatch(r"[\w./@+-]+", word))


def _package_script(words: list[str], place: Path, deep: int = 5) -> list[str]:
    """The words of the script in package.json that `npm test` or `pnpm run unit` stands for, and of
    the first that this calls in turn."""
    verbs = [word for word in words[1:] if word not in ("run", "run-script")]
    if words[0] not in _MANAGERS or not verbs or verbs[0].startswith("-"):
        return []
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        scripts = json.loads((place / "package.json").read_bytes()[:_LARGEST]).get("scripts", {})
        name = {"t": "test", "tst": "test"}.get(verbs[0], verbs[0])
        script = words_of(re.sub(r"^cross-env(?:-shell)?\s", "", str(scripts.get(name, ""))))
        return (_package_script(script, place, deep - 1) if script and deep else []) or script
    return []


def _no_script(command: str, top: Path) -> str:
    """That package.json has no script of the name that npm or pnpm is asked for; "" where it has,
    and where options or a workspace may ask for it elsewhere."""
    folder, inner = split_folder(command)
    words = words_of(inner)
    runner, verb, name = [*words, "", "", ""][:3]
    named = name if verb in ("run", "run-script") else "test" * (verb in ("test", "t"))
    options = [word for word in words if word.startswith("-") and word != "--"]
    if runner not in ("npm", "pnpm") or options or not re.fullmatch(r"[\w:.-]+", named):
        return ""
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        text = (top / folder / "package.json").read_bytes()[:_LARGEST]
        if named not in json.loads(text).get("scripts", {}):
            return f"{runner} has no script {named}"
    return ""


def _finding(program: str, module: str) -> str:
    name = shlex.quote(program)
    found = f"command -v {name} >/dev/null || {{ echo {name}: not found; exit {_NOT_FOUND}; }}"
    if not module:
        return found
    ask = f"{name} -c {shlex.quote(_FIND)} {shlex.quote(module)}"
    return f"{found}\n{ask} || {{ echo {name}: No module named {shlex.quote(module)}; exit 1; }}"


def _problem(check: Check, ran: Ran, top: Path) -> str:
    if ran.timed_out or ran.exit_code == 0:
        return ""
    text = ran.stdout.decode("utf-8", "replace")
    if reason := missing(check, ran.exit_code, ran.stdout):
        return reason
    if ran.exit_code == _NOT_FOUND:
        return next(iter(telling.lines(text)), "its program was not found")
    if _unittest_arguments(split_folder(check.command)[1]) is not None:
        return _unloaded(check, text, top)
    if name_of(check.command).rpartition(": ")[2] != "pytest":
        return ""
    if _COLLECTED.search(text) and not _STOPPED.search(text):
        return ""
    if ran.exit_code == 5:
        return "pytest finds no tests" if check.guessed else ""
    if option := _UNKNOWN.search(text):
        return option[0]
    return _absent(check, text, top)


def _unloaded(check: Check, text: str, top: Path) -> str:
    """Why unittest cannot import most modules of tests, where that is no fault of the project's own
    code: an installed package asks for what this command does not set up."""
    frames = _FRAME.findall(text)
    if check.guessed and frames and "/site-packages/" in frames[-1]:
        return text.rstrip().rpartition("\n")[2].strip()
    return _absent(check, text, top)


def _absent(check: Check, text: str, top: Path) -> str:
    module = _MODULE.search(text)
    return module[0] if module and _belongs(module[1], check, top) else ""


def _belongs(module: str, check: Check, top: Path) -> bool:
    """Whether it should be there: the project is it, or asks for it. Any other the task may be to
    make."""
    place = top / split_folder(check.command)[0]
    for folder in (place, place / "src", top, top / "src"):
        if (folder / module).is_dir() or (folder / f"{module}.py").is_file():
            return True
    wanted = re.compile(re.escape(module).replace("_", "[-_.]"), re.IGNORECASE)
    return any(wanted.search(text) for folder in {place, top} for text in _manifests(folder))


def _manifests(folder: Path) -> Iterator[str]:
    names = [folder / name for name in _MANIFESTS]
    for path in (*names, *folder.glob("*requirements*.txt")):
        with suppress(OSError), path.open("rb") as file:
            yield file.read(_LARGEST).decode("utf-8", "replace")

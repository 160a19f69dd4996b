"""Whether the program of a check starts at all: asked on the base, before any agent costs."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hydra.checks import failure_lines
from hydra.checks.context import CheckContext, Tell
from hydra.checks.network import seeks_network
from hydra.checks.programs import UNSTARTED, missing
from hydra.checks.project import Project, folders_in
from hydra.checks.run import SHELL
from hydra.config.check_specs import RUNNERS, name_of, split_folders, words_of
from hydra.log import get_logger
from hydra.process.records import CommandResult
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.records.request import Check
from hydra.workspace.private import LaneWorkspace

_log = get_logger(__name__)

SECONDS = 60.0
"""Of its own that each program of a look has: what it waits for a core does not count, so a busy
machine makes no check start that cannot. What has not ended by then has started."""

_COMPOUND = re.compile(r"[;&|<>()`\n]|\$\(")
_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")
_COLLECTED = re.compile(r"^\d+(?:/\d+)? tests? collected", re.MULTILINE)
_STOPPED = re.compile(r"^!+ Interrupted: \d+ errors? during collection !+$", re.MULTILINE)
"""Then pytest runs none of those that it has collected."""
_OF_PYTEST = re.compile(
    r"^(?:=+|!+|E  ) |^(?:no )?tests? |collected|^ERROR|^INTERNALERROR|while loading conftest",
    re.MULTILINE,
)
"""Whether it was pytest that failed, and not what should have brought it."""
_UNKNOWN = re.compile(r"error: unrecognized arguments?: .+|unknown (?:config )?option.+")
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "Pipfile", "noxfile.py")
_LARGEST = 1024 * 1024
_MANAGERS = frozenset(("npm", "pnpm", "yarn", "bun"))
_DRY = {"make": "-n", "gmake": "-n", "just": "--dry-run"}
"""How a runner shows what it would run, and says what it has no rule for."""
_FIND = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)"
_NOT_FOUND = 127
_UNSTARTED = 125
"""What a look exits with where a package manager cannot even say its version."""
_NO_TESTS = 5
"""What pytest exits with where it finds none."""
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_HARMLESS = re.compile(r"(?:echo|printf|mkdir|rm|export|set|true|:)(?:\s|$)")
"""Commands of a recipe that bring no program."""
_OWN_PATH = re.compile(
    r"^\s*(?:export\s+)?(?:PATH|SHELL|PYTHONPATH)\s*[:+?]*=|^[-s]?include\b", re.MULTILINE
)
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
_INTERNAL = "INTERNALERROR> "
_INSTALLED = re.compile(r"/site-packages/|/lib/python3|^<")
"""Whether a file that Python names is none of the project's own, which the task may be to mend."""
_FRAME = re.compile(r'^(?:INTERNALERROR> )? +File "([^"]+)", line \d+', re.MULTILINE)


class StartReport(NamedTuple):
    """By name, the line that says why a check cannot start.

    `outputs` are what those printed that failed, also where the task may be to mend it; `empty`
    are those that start and find no tests; `on_host` those that start with the machine's network
    and not without it.
    """

    problems: Mapping[str, str]
    outputs: Mapping[str, str]
    empty: Collection[str]
    on_host: Collection[str] = ()


async def look(
    context: CheckContext, workspace: LaneWorkspace, tell: Tell, seconds: float = SECONDS
) -> StartReport:
    """Whether the checks start in `workspace`, one command after another; `tell` is told which.
    Raises `CannotStart`."""
    problems: dict[str, str] = {}
    outputs: dict[str, str] = {}
    empty: list[str] = []
    on_host: list[str] = []
    for check in context.checks:
        tell("check_started", {"command": check.command})
        if problem := _no_script(check.command, workspace.worktree):
            _log.info("check cannot start", check=check.name, why=problem)
            problems[check.name] = problem
            continue
        ran = await _ran(context, workspace, check, seconds)
        if ran.exit_code and _may_need_host(context, check, ran):
            context = context.with_host([check.name])
            ran = await _ran(context, workspace, check, seconds)
            on_host += [check.name] * (ran.exit_code == 0)
        if problem := _problem(check, ran, workspace.worktree):
            _log.info("check cannot start", check=check.name, why=problem)
            problems[check.name] = problem
        elif ran.exit_code == _NO_TESTS and _is_pytest(check):
            empty.append(check.name)
        if ran.exit_code != 0:
            outputs[check.name] = ran.stdout.decode("utf-8", "replace")
    return StartReport(problems, outputs=outputs, empty=empty, on_host=on_host)


def _may_need_host(context: CheckContext, check: Check, ran: CommandResult) -> bool:
    is_alone = context.network == "auto" and context.network_of(check) == "private"
    return is_alone and seeks_network(ran.stdout)


def _is_pytest(check: Check) -> bool:
    return name_of(check.command).rpartition(": ")[2] == "pytest"


async def _ran(
    context: CheckContext, workspace: LaneWorkspace, check: Check, seconds: float
) -> CommandResult:
    """What shows that `check` starts, and where make says what it would run, of that too."""
    top = workspace.worktree
    network = context.network_of(check)
    ran = await _run(context, workspace, _script(check.command, top), seconds, network)
    folders, inner = split_folders(check.command)
    if ran.exit_code or not _is_make(inner):
        return ran
    place = top.joinpath(*folders)
    line = _first_of_recipe(ran.stdout.decode("utf-8", "replace"), place)
    needs = [_finding(*question) for question in _needs(line, place)]
    if not needs:
        return ran
    script = "\n".join([*_begin(folders, top), *needs])
    return await _run(context, workspace, script, seconds, network)


async def _run(
    context: CheckContext, workspace: LaneWorkspace, script: str, seconds: float, network: str
) -> CommandResult:
    return await run(
        ("/bin/sh", "-c", f"exec 2>&1; {script}", SHELL),
        env=context.variables(workspace),
        cwd=workspace.worktree,
        timeout=seconds,
        wrap=partial(confine, context.confinement, context.policy(workspace, network)),
        output_limit=_LARGEST,
        waits_for_core=True,
    )


def _script(command: str, top: Path) -> str:
    """What shows that `command` can start: pytest collects; of others the program is looked for."""
    folders, inner = split_folders(command)
    if name_of(inner) == "pytest" and not _COMPOUND.search(inner):
        return "\n".join([*_entering(folders), f"{inner} --collect-only -q -p no:cacheprovider"])
    lines = _begin(folders, top)
    lines += [_finding(*question) for question in _needs(inner, top.joinpath(*folders))]
    terms = words_of(inner)
    pinned = _pinned(top.joinpath(*folders), top)
    if terms[:1] and (terms[0] == "cargo" or pinned.startswith(f"{terms[0]}@")):
        # It may have to bring the version first that the project pins, which no lane has room for,
        # and a cargo that is rustup's own may have none at all.
        lines += [f'said=$({terms[0]} --version 2>&1) || {{ echo "$said"; exit {_UNSTARTED}; }}']
    if terms[:1] and terms[0] in _DRY and not _COMPOUND.search(inner):
        lines += [" ".join(["LC_ALL=C", terms[0], _DRY[terms[0]], *terms[1:]])]
    if (arguments := _unittest_arguments(inner)) is not None:
        lines += [f"{words_of(inner)[0]} -c {shlex.quote(_LOAD)} {arguments}"]
    return "\n".join(lines)


def _pinned(place: Path, top: Path) -> str:
    """The package manager of the project, with its version; "" where none is named."""
    names = (Project(at, top).package.get("packageManager") for at in Project(place, top).above)
    return str(next(filter(None, names), ""))


def _entering(folders: Sequence[str]) -> list[str]:
    return [f"cd {shlex.quote(folder)} || exit" for folder in folders]


def _begin(folders: Sequence[str], top: Path) -> list[str]:
    packages = shlex.quote(_packages(top, top.joinpath(*folders)))
    return [*_entering(folders), f"PATH={packages}:$PATH"]


def _is_make(command: str) -> bool:
    return words_of(command)[:1] in (["make"], ["gmake"]) and not _COMPOUND.search(command)


def _first_of_recipe(output: str, place: Path) -> str:
    """The first command of what make would run; "" where it may fail or be made meanwhile, and
    where a Makefile says where programs are found."""
    lines = (line.strip() for line in output.splitlines())
    first, _, then = next(
        (line for line in lines if line and not _is_harmless(line)), ""
    ).partition("&&")
    program = next(iter(words_of(first)), "")
    text = "".join(_read(place / name) for name in _MAKEFILES)
    ignored = re.compile(rf"^\t[@+ ]*-[@+ ]*(?:\$|{re.escape(program)}\b)", re.MULTILINE)
    if "/" in program or _COMPOUND.search(first) or re.search(r"[;|]", then):
        return ""
    return "" if ignored.search(text) or _OWN_PATH.search(text) else first


def _is_harmless(line: str) -> bool:
    return bool(_HARMLESS.match(line)) and not _COMPOUND.search(line)


def _unittest_arguments(command: str) -> str | None:
    """What follows `python -m unittest`; None for any other command."""
    terms = words_of(command)
    plain = terms[1:3] == ["-m", "unittest"] and not _COMPOUND.search(command)
    return " ".join(terms[3:]) if plain else None


def _packages(top: Path, place: Path) -> str:
    """Where a script of package.json finds its programs, as seen from `place`."""
    above = [path for path in (place, *place.parents) if path.is_relative_to(top)]
    return ":".join(os.path.relpath(path / "node_modules" / ".bin", place) for path in above)


def _needs(command: str, place: Path) -> Iterator[tuple[str, str, str]]:
    """The programs of a command, each with the module that it has to have, or "", and the package
    of a workspace that is to have it, or ""."""
    terms = words_of(command)
    if not terms or not re.fullmatch(r"[\w./+-]+", terms[0]):
        return
    module = ""
    is_module = terms[0].rpartition("/")[2].startswith("python") and terms[1:2] == ["-m"]
    if is_module and terms[2:] and "PYTHONPATH=" not in command:
        module = terms[2]
    yield terms[0], module, ""
    script, folder = _package_script(terms, place)
    package = "" if folder == place else os.path.relpath(folder, place)
    yield from ((term, "", package) for term in script[:1] if re.fullmatch(r"[\w./@+-]+", term))


def _package_script(terms: list[str], place: Path, deep: int = 5) -> tuple[list[str], Path]:
    """The words of the script in package.json that `npm test` or `pnpm run unit` stands for, or of
    the first that this calls in turn, and whose it is."""
    verbs = [term for term in terms[1:] if term not in ("run", "run-script")]
    if terms[0] not in _MANAGERS or not verbs or not deep:
        return [], place
    name = {"t": "test", "tst": "test"}.get(verbs[0], verbs[0])
    if name.startswith("-"):  # `pnpm -r test`, `pnpm --filter NAME test`
        place, name = _member(verbs, place)
    line = Project(place, place).table("scripts").get(name, "")
    script = words_of(re.sub(r"^cross-env(?:-shell)?\s", "", line))
    inner = _package_script(script, place, deep - 1) if script else ([], place)
    return inner if inner[0] else (script, place)


def _member(verbs: Sequence[str], place: Path) -> tuple[Path, str]:
    """The first package below `place` that has a script of one of these names, and the name: which
    of them options mean is not asked. Without one `place`, and ""."""
    above = folders_in(place) if Project(place, place).is_workspace else []
    inside = ((name, *(f"{name}/{inner}" for inner in folders_in(place / name))) for name in above)
    members = (place / name for names in inside for name in names)
    scripts = ((path, Project(path, path).table("scripts")) for path in members)
    named = ((path, name) for path, table in scripts for name in verbs if name in table)
    return next(named, (place, ""))


def _no_script(command: str, top: Path) -> str:
    """That package.json has no script of the name that npm or pnpm is asked for; "" where it has,
    and where options or a workspace may ask for it elsewhere."""
    folders, inner = split_folders(command)
    terms = words_of(inner)
    runner, verb, name = [*terms, "", "", ""][:3]
    named = name if verb in ("run", "run-script") else "test" * (verb in ("test", "t"))
    options = [term for term in terms if term.startswith("-") and term != "--"]
    if runner not in ("npm", "pnpm") or options or not re.fullmatch(r"[\w:.-]+", named):
        return ""
    project = Project(top.joinpath(*folders), top)
    is_absent = project.package and named not in project.table("scripts")
    return f"{runner} has no script {named}" if is_absent else ""


def _finding(program: str, module: str, package: str) -> str:
    """Asks for it; of a package's program only where nothing at all is installed."""
    name = shlex.quote(program)
    text = f"command -v {name} >/dev/null || {{ echo {name}: not found; exit {_NOT_FOUND}; }}"
    if package:
        own = shlex.quote(f"{package}/node_modules")
        return f"[ -e node_modules ] || [ -e {own} ] || {text}"
    if not module:
        return text
    ask = f"{name} -c {shlex.quote(_FIND)} {shlex.quote(module)}"
    return f"{text}\n{ask} || {{ echo {name}: No module named {shlex.quote(module)}; exit 1; }}"


def _problem(check: Check, ran: CommandResult, top: Path) -> str:
    if ran.timed_out or ran.exit_code == 0:
        return ""
    text = ran.stdout.decode("utf-8", "replace")
    if reason := missing(check, ran.exit_code, ran.stdout):
        return reason
    if ran.exit_code == _NOT_FOUND:
        return next(iter(failure_lines.lines(text)), "its program was not found")
    inner = split_folders(check.command)[1]
    if ran.exit_code == _UNSTARTED and words_of(inner)[0] in (*_MANAGERS, "cargo"):
        line = next(iter(failure_lines.lines(text)), "it does not say its version")
        return f"{words_of(inner)[0]}{UNSTARTED}{line}"
    if _unittest_arguments(inner) is not None:
        return _unloaded(check, text, top)
    if not _is_pytest(check):
        return ""
    if _COLLECTED.search(text) and not _STOPPED.search(text):
        return ""
    if option := _UNKNOWN.search(text):
        return option[0]
    if _INTERNAL in text and all(map(_INSTALLED.search, _FRAME.findall(text))):
        return next(iter(failure_lines.lines(text)), "pytest itself fails")
    if words_of(inner)[0] in RUNNERS and not _OF_PYTEST.search(text):
        return next(iter(failure_lines.lines(text)), f"{words_of(inner)[0]} cannot start pytest")
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
    place = top.joinpath(*split_folders(check.command)[0])
    for folder in (place, place / "src", top, top / "src"):
        if (folder / module).is_dir() or (folder / f"{module}.py").is_file():
            return True
    pattern = re.compile(re.escape(module).replace("_", "[-_.]"), re.IGNORECASE)
    return any(pattern.search(text) for folder in {place, top} for text in _manifests(folder))


def _manifests(folder: Path) -> Iterator[str]:
    names = [folder / name for name in _MANIFESTS]
    for path in (*names, *folder.glob("*requirements*.txt")):
        yield _read(path)


def _read(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "replace")
    return ""

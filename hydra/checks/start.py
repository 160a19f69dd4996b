"""Whether a check starts at all: asked on the base, before any agent costs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hydra.checks import failure_lines
from hydra.checks.context import CheckContext, Tell
from hydra.checks.network import seeks_network
from hydra.checks.programs import UNSTARTED, missing
from hydra.checks.run import SHELL
from hydra.checks.text_parsers.output import read_text
from hydra.config.check_specs import RUNNERS, name_of, split_folders, words_of
from hydra.log import get_logger
from hydra.process.records import CommandResult
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.records.request import Check
from hydra.workspace.private import LaneWorkspace

_log = get_logger(__name__)

SECONDS = 60.0
"""Of its own that a question has: what it waits for a core does not count, so a busy machine makes
no check start that cannot. What has not ended by then has started."""
FIRST_SECONDS = 3.0
"""The same of a check itself, where nothing of this machine is in its reach: then it is ended."""

_COMPOUND = re.compile(r"[;&|<>()`\n]|\$\(")
_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")
_COLLECTED = re.compile(r"^\d+(?:/\d+)? tests? collected|\b\d+ (?:passed|failed)\b", re.MULTILINE)
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
_VERSIONED = frozenset(("npm", "pnpm", "yarn", "bun", "cargo"))
"""What may have to bring the version first that the project pins, for which no lane has room; a
cargo that is rustup's own may have none at all."""
_FIND = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)"
_NO_TESTS = 5
"""What pytest exits with where it finds none."""
_INTERNAL = "INTERNALERROR> "
_INSTALLED = re.compile(r"/site-packages/|/lib/python3|^<")
"""Whether a file that Python names is none of the project's own, which the task may be to mend."""
_FRAME = re.compile(r'^(?:INTERNALERROR> )? +File "([^"]+)", line \d+', re.MULTILINE)
_UNLOADED = re.compile(r"Failed to import test module: (\S+)")


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


async def look(context: CheckContext, workspace: LaneWorkspace, tell: Tell) -> StartReport:
    """Whether the checks start in `workspace`, one after another; `tell` is told which. Raises
    `CannotStart`.

    pytest collects; another is run itself for its first seconds, where it has a network of its own.
    Elsewhere, where it may leave something half done, its program is looked for.
    """
    problems: dict[str, str] = {}
    outputs: dict[str, str] = {}
    empty: list[str] = []
    on_host: list[str] = []
    for check in context.plan.checks:
        tell("check_started", {"command": check.command})
        inner = split_folders(check.command)[1]
        seconds = SECONDS
        collects = name_of(inner) == "pytest" and not _COMPOUND.search(inner)
        if collects:
            script = in_place(check, f"{inner} --collect-only -q -p no:cacheprovider")
        elif context.network_of(check) == "private":
            script, seconds = in_place(check, inner), FIRST_SECONDS
        else:
            script = in_place(check, *_questions(inner))
        ran = await ask(context, workspace, check, script, seconds)
        if ran.exit_code and collects and _may_need_host(context, check, ran):
            context = context.with_host([check.name])
            ran = await ask(context, workspace, check, script, seconds)
            on_host += [check.name] * (ran.exit_code == 0)
        if ran.timed_out or ran.exit_code == 0:
            continue
        outputs[check.name] = ran.stdout.decode("utf-8", "replace")
        program = next(iter(words_of(inner)), "")
        problem = _problem(check, ran, workspace.worktree)
        if not problem and program in _VERSIONED:
            version = in_place(check, f"{program} --version")
            ran = await ask(context, workspace, check, version, SECONDS)
            line = next(iter(failure_lines.lines(ran.stdout.decode("utf-8", "replace"))), "")
            says = line or "it does not say its version"
            problem = f"{program}{UNSTARTED}{says}" if ran.exit_code else ""
        if problem:
            _log.info("check cannot start", check=check.name, why=problem)
            problems[check.name] = problem
        elif ran.exit_code == _NO_TESTS and _is_pytest(check):
            empty.append(check.name)
    return StartReport(problems, outputs=outputs, empty=empty, on_host=on_host)


def _may_need_host(context: CheckContext, check: Check, ran: CommandResult) -> bool:
    is_alone = context.plan.checking.network == "auto" and context.network_of(check) == "private"
    return is_alone and seeks_network(ran.stdout)


def _is_pytest(check: Check) -> bool:
    return name_of(check.command).rpartition(": ")[2] == "pytest"


async def ask(
    context: CheckContext, workspace: LaneWorkspace, check: Check, script: str, seconds: float
) -> CommandResult:
    """Runs a script as that check would be run. Raises `CannotStart`."""
    policy = context.policy(workspace, context.network_of(check))
    return await run(
        ("/bin/sh", "-c", f"exec 2>&1; {script}", SHELL),
        env=context.variables(workspace, check.command),
        cwd=workspace.worktree,
        timeout=seconds,
        wrap=partial(confine, context.plan.confinement, policy),
        output_limit=_LARGEST,
        waits_for_core=True,
    )


def in_place(check: Check, *lines: str) -> str:
    """These where the check runs."""
    folders = split_folders(check.command)[0]
    return "\n".join([*(f"cd {shlex.quote(folder)} || exit" for folder in folders), *lines])


def _questions(command: str) -> Iterator[str]:
    """Asks for the program of a command, and for the module that it has to have; says what is not
    there as a shell does, and as Python."""
    terms = words_of(command)
    if not terms or not re.fullmatch(r"[\w./+-]+", terms[0]):
        return
    name = terms[0]
    yield f"command -v {name} >/dev/null || {{ echo {SHELL}: {name}: not found; exit 127; }}"
    if name.rpartition("/")[2].startswith("python") and terms[1:2] == ["-m"] and terms[2:]:
        module = shlex.quote(terms[2])
        if "PYTHONPATH=" not in command:
            ask = f"{name} -c {shlex.quote(_FIND)} {module}"
            yield f"{ask} || {{ echo {name}: No module named {module}; exit 1; }}"


def _problem(check: Check, ran: CommandResult, top: Path) -> str:
    text = ran.stdout.decode("utf-8", "replace")
    if reason := missing(check, ran.exit_code, ran.stdout):
        return reason
    inner = split_folders(check.command)[1]
    if words_of(inner)[1:3] == ["-m", "unittest"] and not seeks_network(ran.stdout):
        return _unloaded(check, ran.stdout, text, top)
    if not _is_pytest(check) or (_COLLECTED.search(text) and not _STOPPED.search(text)):
        return ""
    if option := _UNKNOWN.search(text):
        return option[0]
    if _INTERNAL in text and all(map(_INSTALLED.search, _FRAME.findall(text))):
        return next(iter(failure_lines.lines(text)), "pytest itself fails")
    if words_of(inner)[0] in RUNNERS and not _OF_PYTEST.search(text):
        return next(iter(failure_lines.lines(text)), f"{words_of(inner)[0]} cannot start pytest")
    return _absent(check, text, top)


def _unloaded(check: Check, output: bytes, text: str, top: Path) -> str:
    """Why unittest cannot import most modules of tests, where that is no fault of the project's own
    code: an installed package asks for what this command does not set up."""
    tests = read_text(output)
    unloaded = {match[1] for match in _UNLOADED.finditer(text)}
    ids = tests.by_id if tests is not None else ()
    loaded = {id.rsplit(".", 2)[0] for id in ids if id not in unloaded}
    if len(unloaded) <= (len(loaded) or (tests.passed if tests is not None else 0)):
        return ""
    *_, last = _UNLOADED.finditer(text)
    error = re.split(r"\n\n\n|\n[=-]{70}", text[last.start() :])[0].rstrip()
    frames = _FRAME.findall(error)
    if check.guessed and frames and "/site-packages/" in frames[-1]:
        return error.rpartition("\n")[2].strip()
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
        with suppress(OSError), path.open("rb") as file:
            yield file.read(_LARGEST).decode("utf-8", "replace")

"""`hydra doctor`: is everything here that a race needs?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra import __version__, executables
from hydra.cli.common import Command, experimental_option, json_option
from hydra.cli.streams import looks, show

if TYPE_CHECKING:
    from hydra.adapters.probe.local_models import Server
    from hydra.config.schema import Config
    from hydra.process.sandbox.view import View
    from hydra.report.doctor import DoctorCheck


@click.command(
    cls=Command,
    examples=(
        "hydra doctor",
        "hydra doctor --view",
        "hydra doctor --allow-experimental-adapters --json",
    ),
)
@experimental_option()
@click.option("--fresh", is_flag=True, help="Ask every agent again, not only those that changed.")
@click.option("--view", is_flag=True, help="List what agents see of this machine, and why.")
@json_option
def command(experimental: bool, fresh: bool, view: bool, as_json: bool) -> int:
    """Check what a race needs, and say what to do.

    Exit 4 where neither claude nor codex is ready, 3 without git or a folder for races.
    """
    environ = executables.users_environment()
    if view:
        from hydra.report.doctor import view_document, view_text

        seen = _seen_by_lanes(environ)
        show(view_document(seen) if as_json else view_text(seen))
        return 0
    return _examine(environ, experimental, fresh, as_json)


def _examine(environ: Mapping[str, str], experimental: bool, fresh: bool, as_json: bool) -> int:
    """Looks, and shows it; the exit code."""
    from hydra import paths
    from hydra.adapters.probe import available, settings
    from hydra.adapters.probe.cache import ELSEWHERE
    from hydra.adapters.probe.local_models import discover
    from hydra.commands.agent_rows import probe, rows
    from hydra.errors import EXIT_NO_AGENT, EXIT_OK, EXIT_REFUSED
    from hydra.race.recovery.startup import recover
    from hydra.records.agent import Tier
    from hydra.report.doctor import doctor_text
    from hydra.report.document import agent_document
    from hydra.report.models import server_document

    recover(environ)
    config = settings.load(None, environ, {"race.allow_experimental_adapters": experimental})
    machine = _machine(config, environ, whole=as_json)
    agent_set = available.of_all(config)
    adapters = tuple(agent_set.adapters.values())
    servers = discover(environ) if config.race.allow_experimental else ()
    local = [server for server in servers if server.is_up]
    if fresh:
        # Nobody elsewhere is asked by this: the next race there asks again.
        paths.cache_dir(environ).joinpath(ELSEWHERE).unlink(missing_ok=True)
    state = machine["state"]
    folder = None if state["problem"] or not state["folder"] else Path(state["folder"])
    confinement, results = probe(adapters, config, environ, folder, fresh=fresh)
    agents = rows(adapters, results, whole=as_json)
    first = (row.detection for row in agents if row.descriptor.tier is Tier.TIER1)
    code = EXIT_OK if any(each and each.ready for each in first) else EXIT_NO_AGENT
    code = EXIT_REFUSED if machine["git"]["problem"] or state["problem"] else code
    document = {
        "schema": 1,
        "git": machine["git"],
        "confinement": {
            "kind": confinement.kind,
            "program": confinement.program or None,
            "reason": confinement.reason or None,
            "promises": list(confinement.promises),
        },
        **machine,
        "program": _program(environ),
        "path_distrusted": list(executables.distrusted_entries(environ.get("PATH"))),
        "agents": [agent_document(row) for row in agents] if as_json else [],
        "adapter_problems": list(agent_set.problems),
        "local_models": list(map(server_document, local)),
        "exit_code": code,
    }
    show(document if as_json else doctor_text(list(_checks(document, local)), agents, **looks()))
    return code


def _checks(machine: Mapping[str, Any], local: list[Server]) -> Iterator[DoctorCheck]:
    """The lines on this machine."""
    from hydra.report.doctor import DoctorCheck
    from hydra.report.models import server_words

    git, state, walls, about = (
        machine[name] for name in ("git", "state", "confinement", "repository")
    )
    yield DoctorCheck("git", not git["problem"], git["problem"] or f"git {git['version']}")
    if walls["kind"] != "none":
        yield DoctorCheck("confinement", True, f"agents are confined by {walls['program']}")
    else:
        hint = "without it agents may edit files and run no commands"
        yield DoctorCheck("confinement", None, f"none: {walls['reason']}", hint)
    where = state["problem"] or f"races are kept in {state['folder']}"
    yield DoctorCheck("folder", not state["problem"], where)
    if problem := machine["repository_problem"]:
        yield DoctorCheck("repository", None, problem)
    else:
        where = f"{about['root']} on {about['branch'] or 'no branch'}: {about['subject']}"
        yield DoctorCheck("repository", True, where)
    if distrusted := machine["path_distrusted"]:
        entries = ", ".join(f"`{entry}`" for entry in distrusted)
        text = f"{entries}: in the repository, so Hydra takes git, bwrap and ssh from elsewhere"
        yield DoctorCheck("PATH", None, text)
    yield DoctorCheck("hydra", True, machine["program"])
    for problem in machine["adapter_problems"]:
        yield DoctorCheck("adapter", None, problem)
    for server in local:
        yield DoctorCheck("local models", None, f"{server.name}: {server_words(server)}")


def _machine(config: Config, environ: Mapping[str, str], *, whole: bool) -> dict[str, Any]:
    """git, the folder for races, and the repository; not `whole`, of that only what a line has room
    for. What is wrong is told in a sentence, None where all is well."""
    from hydra.commands.agent_rows import state_folder
    from hydra.errors import HydraError
    from hydra.git.runner import require_git
    from hydra.race.disk_space import check_room

    version = git_problem = ""
    try:
        version = ".".join(map(str, require_git()))
    except HydraError as error:
        git_problem = f"{error.message} ({error.hint})"
    state, problem = state_folder(environ)
    if state is not None and not problem:
        try:
            check_room(state, state, config.limits.disk_floor)
        except HydraError as error:
            problem = f"{error.message} ({error.hint})"
    about: Mapping[str, object] = {}
    about_problem = git_problem
    if version:
        about, about_problem = _repository(environ, state, whole)
    return {
        "git": {"version": version or None, "problem": git_problem or None},
        "state": {"folder": None if state is None else str(state), "problem": problem or None},
        "repository": dict(about) or None,
        "repository_problem": about_problem or None,
    }


def _repository(
    environ: Mapping[str, str], state: Path | None, whole: bool
) -> tuple[Mapping[str, object], str]:
    from hydra.adapters.probe import settings
    from hydra.errors import HydraError
    from hydra.git import base_commit
    from hydra.git.runner import run as git

    try:
        repository = base_commit.read(Path.cwd(), state=state)
        root, head = repository.root, repository.head
        settings.load(root, environ, {})  # its hydra.toml may say what a race would refuse
        if whole:
            return {"root": str(root), **base_commit.about(repository, head)}, ""
        # GitPython alone takes as long as all else that is remembered.
        log = git("log", "-1", "--no-show-signature", "--format=%s", head, cwd=root)
        subject = os.fsdecode(log.stdout).strip()
        return {"root": str(root), "branch": repository.branch, "subject": subject}, ""
    except HydraError as error:
        return {}, f"{error.message} ({error.hint})" if error.hint else error.message


def _program(environ: Mapping[str, str]) -> str:
    """Which `hydra` a shell finds: Debian's login cracker has the same name."""
    from shutil import which

    text = which("hydra", path=environ.get("PATH"))
    if text is None:
        return f"{__version__}; `hydra` is not on PATH (python -m hydra works)"
    ours = Path(text).parent == Path(sys.executable).parent
    with suppress(OSError), Path(text).open("rb") as file:
        ours = ours or b"hydra.cli" in file.read(4096)
    if ours:
        return f"{__version__} at {text}"
    return f"{__version__}; but `hydra` on PATH is another program ({text}): use hydra-race"


def _seen_by_lanes(environ: Mapping[str, str]) -> View:
    """Computed as for a race of every agent that is found here. Raises `HydraError`."""
    from hydra import paths
    from hydra.adapters.probe import available, settings
    from hydra.errors import Exhausted, HydraError
    from hydra.git import base_commit
    from hydra.race.command_context import view_source

    repository = None
    try:
        repository = base_commit.read(Path.cwd())
    except Exhausted:
        raise
    except HydraError:
        pass  # one stands in none
    config = settings.load(repository.root if repository else None, environ, {})
    adapters = available.of_all(config).adapters
    path, programs = environ.get("PATH"), list[str]()
    for key, adapter in adapters.items():
        configured = config.agent(key).path
        names = (configured,) if configured else adapter.descriptor.binaries
        programs += filter(None, (executables.find_all_users(name, path) for name in names))
    state = paths.state_dir(environ)
    return view_source(config, environ, state, repository, adapters, programs=programs)()

"""`hydra doctor` and `hydra agents`: what is here, and what is missing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import trio
from msgspec import Struct

from hydra import __version__, executables, paths
from hydra.adapters.contract import Adapter
from hydra.adapters.probe import available, settings
from hydra.adapters.probe.cache import ELSEWHERE
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.local_models import Server, discover
from hydra.adapters.probe.sandbox import try_confinement
from hydra.config.schema import Config
from hydra.errors import (
    EXIT_NO_AGENT,
    EXIT_OK,
    EXIT_REFUSED,
    AgentError,
    Exhausted,
    HydraError,
)
from hydra.git import base_commit
from hydra.git.runner import require_git
from hydra.git.runner import run as git
from hydra.process.sandbox.view import View
from hydra.race.command_context import view_source
from hydra.race.disk_space import check_room
from hydra.race.recovery.startup import recover
from hydra.records.agent import DetectResult, SpawnRequest, Tier
from hydra.records.plan import Confinement
from hydra.records.request import Permission


class Checkup(Struct, frozen=True, kw_only=True):
    """What `hydra doctor` found. Sentences are "" where all is well."""

    git_version: str
    git_problem: str
    confinement: Confinement
    state: Path | None
    state_problem: str
    repository: Mapping[str, object]
    repository_problem: str
    adapters: tuple[Adapter, ...]
    detections: Mapping[str, DetectResult]
    program: str
    adapter_problems: tuple[str, ...] = ()
    distrusted_path: tuple[str, ...] = ()
    """Entries of PATH in which Hydra looks for none of its own programs."""
    local: tuple[Server, ...] = ()
    """The model servers of this machine that run, where experimental adapters were asked for."""

    @property
    def exit_code(self) -> int:
        """What a race would end with here: 3 without git or a state folder, 4 without an agent."""
        if self.git_problem or self.state_problem:
            return EXIT_REFUSED
        ready = any(
            adapter.descriptor.tier is Tier.TIER1 and self.detections[adapter.key()].ready
            for adapter in self.adapters
            if adapter.key() in self.detections
        )
        return EXIT_OK if ready else EXIT_NO_AGENT


def doctor(
    flags: Mapping[str, object],
    environ: Mapping[str, str] | None = None,
    *,
    fresh: bool = False,
    whole: bool = True,
) -> Checkup:
    """Looks at everything a race needs. Raises `ConfigError` alone; what it finds, it tells.

    `fresh` asks every CLI again, whatever is remembered; not `whole`, of the repository it tells
    only what a line has room for.
    """
    environ = executables.users_environment() if environ is None else environ
    recover(environ)
    config = settings.load(None, environ, flags)
    git_version, git_problem = _git()
    state, state_problem = _state(environ)
    if state is not None and not state_problem:
        try:
            check_room(state, state, config.limits.disk_floor)
        except HydraError as error:
            state_problem = f"{error.message} ({error.hint})"
    about, about_problem = _repository(environ, state, whole) if git_version else ({}, git_problem)
    agent_set = available.of_all(config)
    adapters = tuple(agent_set.adapters.values())
    probed = _probed(adapters, config)
    servers = discover(environ) if config.race.allow_experimental else ()
    local = tuple(server for server in servers if server.is_up)
    if fresh:
        # Nobody elsewhere is asked by this: the next race there asks again.
        paths.cache_dir(environ).joinpath(ELSEWHERE).unlink(missing_ok=True)
    with _scratch_state(state, state_problem) as scratch:
        confinement, results = trio.run(_probe, probed, config, environ, scratch, fresh)
    return Checkup(
        git_version=git_version,
        git_problem=git_problem,
        confinement=confinement,
        state=state,
        state_problem=state_problem,
        repository=about,
        repository_problem=about_problem,
        adapters=adapters,
        detections=results,
        program=_program(environ),
        adapter_problems=agent_set.problems,
        distrusted_path=executables.distrusted_entries(environ.get("PATH")),
        local=local,
    )


def _git() -> tuple[str, str]:
    try:
        return ".".join(map(str, require_git())), ""
    except HydraError as error:
        return "", f"{error.message} ({error.hint})"


def _state(environ: Mapping[str, str]) -> tuple[Path | None, str]:
    try:
        state = paths.state_dir(environ)
    except HydraError as error:
        return None, f"{error.message} ({error.hint})"
    if _lies_in_repository(state):
        hint = "set HYDRA_STATE_DIR to a folder outside the repository"
        return state, f"{state} and the repository lie in each other ({hint})"
    try:
        paths.make_private(state)  # as a race would: only the attempt tells
    except OSError as error:
        hint = "set HYDRA_STATE_DIR to a folder you can write"
        return state, f"{state} cannot be made: {error.strerror} ({hint})"
    if not (state.is_dir() and os.access(state, os.W_OK | os.X_OK)):
        return state, f"{state} cannot be written (set HYDRA_STATE_DIR to a folder that can)"
    return state, ""


def _lies_in_repository(state: Path) -> bool:
    try:
        root = base_commit.read(Path.cwd()).root
    except HydraError:
        return False
    return state.is_relative_to(root) or root.is_relative_to(state)


@contextmanager
def _scratch_state(state: Path | None, problem: str) -> Iterator[Path]:
    """The state folder; where there is none, a folder for the probes alone, out of /tmp as it."""
    if state is not None and not problem:
        yield state
        return
    with TemporaryDirectory(prefix="hydra-doctor-", dir="/var/tmp") as folder:
        yield Path(folder)


def _repository(
    environ: Mapping[str, str], state: Path | None, whole: bool
) -> tuple[Mapping[str, object], str]:
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


async def _probe(
    adapters: tuple[Adapter, ...],
    config: Config,
    environ: Mapping[str, str],
    state: Path,
    fresh: bool = False,
) -> tuple[Confinement, dict[str, DetectResult]]:
    confinement = await try_confinement(environ)
    results = await detect_all(
        adapters,
        ProbeContext(
            environ=environ,
            home=paths.home_dir(environ),
            confinement=confinement,
            state=state,
            paths=settings.programs(config),
            extra_names=settings.extra_names(config),
            show=config.show,
            cache_file=paths.cache_dir(environ) / "probes.json",
            confirm_sign_in=True,
            fresh=fresh,
        ),
    )
    return confinement, results


def agents(
    name: str | None, flags: Mapping[str, object], environ: Mapping[str, str] | None = None
) -> tuple[list[tuple[Adapter, DetectResult | None]], tuple[str, ...]]:
    """The adapters, or the one named, each with what is here of it (None: not probed); why a third
    party's is not among them, a sentence each.

    Raises `UsageError` for a name that no adapter has, or one whose adapter cannot be used.
    """
    environ = executables.users_environment() if environ is None else environ
    config = settings.load(None, environ, flags)
    agent_set = available.AgentSet() if name is not None else available.of_all(config)
    adapters = (
        (available.adapter_of(config, name),)
        if name is not None
        else tuple(agent_set.adapters.values())
    )
    probed = _probed(adapters, config)
    state, problem = _state(environ)
    with _scratch_state(state, problem) as scratch:
        _, results = trio.run(_probe, probed, config, environ, scratch)
    rows = [(adapter, results.get(adapter.key())) for adapter in adapters]
    return rows, agent_set.problems


def example_line(adapter: Adapter, result: DetectResult | None) -> tuple[str, ...]:
    """The exact line a race would run for this agent here, () where there is none."""
    if result is None or not result.ready:
        return ()
    request = SpawnRequest(
        prompt="TASK",
        worktree=Path("/WORKTREE"),
        permission=Permission.FULL_AUTO,
        as_root=os.geteuid() == 0,
    )
    try:
        return adapter.build_command(request, result).argv
    except AgentError:
        return ()


def _probed(adapters: tuple[Adapter, ...], config: Config) -> tuple[Adapter, ...]:
    """Tier 1, and the others where they are allowed: without that none of their programs runs."""
    return tuple(
        adapter
        for adapter in adapters
        if config.race.allow_experimental or adapter.descriptor.tier is Tier.TIER1
    )


def _program(environ: Mapping[str, str]) -> str:
    """Which `hydra` a shell finds: Debian's login cracker has the same name."""
    text = shutil.which("hydra", path=environ.get("PATH"))
    if text is None:
        return f"{__version__}; `hydra` is not on PATH (python -m hydra works)"
    ours = Path(text).parent == Path(sys.executable).parent
    with suppress(OSError), Path(text).open("rb") as file:
        ours = ours or b"hydra.cli" in file.read(4096)
    if ours:
        return f"{__version__} at {text}"
    return f"{__version__}; but `hydra` on PATH is another program ({text}): use hydra-race"


# ---- `--view`: what the lanes of a race would see of this machine, and why.


def seen_by_lanes() -> View:
    """Computed as for a race of every agent that is found here. Raises `HydraError`."""
    environ = executables.users_environment()
    repo = _repository_here()
    config = settings.load(repo.root if repo else None, environ, {})
    adapters = available.of_all(config).adapters
    programs = _programs_of(adapters, config, environ)
    state = paths.state_dir(environ)
    return view_source(config, environ, state, repo, adapters, programs=programs)()


def _repository_here() -> base_commit.Repository | None:
    """The one that one stands in, if any."""
    try:
        return base_commit.read(Path.cwd())
    except Exhausted:
        raise
    except HydraError:
        return None


def _programs_of(
    adapters: Mapping[str, Adapter], config: Config, environ: Mapping[str, str]
) -> Iterator[str]:
    for key, adapter in adapters.items():
        configured = config.agent(key).path
        for name in (configured,) if configured else adapter.descriptor.binaries:
            if program := executables.find_all_users(name, environ.get("PATH")):
                yield program

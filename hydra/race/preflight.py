"""What a race stands on, read and checked before the first probe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from hydra import executables, paths
from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.environment import secret_values
from hydra.adapters.probe import available, settings
from hydra.adapters.probe.available import AgentSet
from hydra.adapters.registry import check_experimental
from hydra.config.schema import Config
from hydra.errors import Refused, UsageError
from hydra.git import base_commit
from hydra.git.background import Later
from hydra.git.base_commit import Repository, regular_files
from hydra.git.runner import require_git
from hydra.log import get_logger, hide
from hydra.process.sandbox.places import show_problems
from hydra.race.check_selection import folder_of, with_checks, with_paths
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import names_of
from hydra.race.disk_space import check_open_files, check_room
from hydra.records.request import Lane
from hydra.redaction import notice
from hydra.report.text import size
from hydra.text import join_names, plural
from hydra.workspace.dependencies import check_shared

_log = get_logger(__name__)


def silent(_text: str) -> None:
    """Tells nobody."""


class RaceRequest(Struct, frozen=True, kw_only=True):
    """What a person, or a program, asks for. `flags` are dotted config keys set by flags; `tell` is
    told what is waited for before the race begins."""

    prompt: str
    directory: Path = field(default_factory=Path.cwd)
    base: str = "HEAD"
    flags: Mapping[str, object] = field(default_factory=dict)
    dry_run: bool = False
    no_check: bool = False
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)
    tell: Callable[[str], None] = silent


class RaceInputs(CommandContext, frozen=True, kw_only=True):
    """What was read before the first probe."""

    request: RaceRequest
    config: Config
    base: str
    base_name: str
    lanes: tuple[Lane, ...]
    adapters: Mapping[str, Adapter]
    instructions: frozenset[str]
    """The files at the base that any of its agents reads as its instructions."""
    dependencies: tuple[str, ...]
    warnings: tuple[str, ...]


def gather_inputs(request: RaceRequest) -> RaceInputs:
    """Reads and checks all that a race stands on, probing nothing. Raises `HydraError`."""
    environ = request.environ
    check_prompt(request.prompt)
    check_open_files()
    require_git()
    state = paths.state_dir(environ)
    home = paths.home_dir(environ)
    repository = base_commit.read(request.directory, home=home, state=state)
    _check_state(state)
    folder = folder_of(repository.root, request.directory)
    config = settings.load(
        repository.root, environ, with_paths(request.flags, repository.root, folder)
    )
    check_room(state, paths.runs_dir(state, repository.root), config.limits.disk_floor)
    agent_set, lanes = _lanes(config)
    adapters = agent_set.adapters
    config = settings.with_prefaces(config, lanes, repository.root)
    settings.check_folders(config, _racing(lanes), home)
    check_experimental(lanes, adapters, config.race.allow_experimental)
    config = with_checks(config, repository.root, folder, none=request.no_check)
    base = base_commit.resolve(repository, request.base)
    check_shared(repository, config.race.share)
    for line in (bulk := _bulk(repository, config)):
        request.tell(line)
    dependencies = Later(partial(names_of, repository, config, environ))
    base_commit.check_copies(
        repository, config.race.copies, text=_source_words(config, "race.copy")
    )
    _refuse_filters(repository, base, config.race.allow_filters)
    racing = [adapters[key].descriptor for key in _racing(lanes)]
    keys = [value for descriptor in racing for value in secret_values(descriptor, environ)]
    hide(keys)
    notice(request.prompt, *sys.argv, values=keys)
    sources = {key: at for key, at in config.sources.items() if at != "default"}
    _log.info(
        "asked for",
        repository=repository.root,
        base=base,
        agents=[lane.id for lane in lanes] or "those that are ready",
        checks=[check.command for check in config.checks.checks],
        more={"state": state, "settings_from": sources, "folder": folder},
    )
    return RaceInputs(
        request=request,
        repository=repository,
        state=state,
        environ=environ,
        config=config,
        base=base,
        base_name=request.base if request.base != "HEAD" else (repository.branch or "HEAD"),
        lanes=lanes,
        adapters=adapters,
        instructions=_instructions(repository, base, (adapters[key] for key in _racing(lanes))),
        dependencies=dependencies.result(),
        warnings=(
            *_remarks(repository, config),
            *bulk,
            *_unread_settings(repository.root, folder),
            *show_problems(config.show, home),
            *agent_set.problems,
        ),
    )


def _lanes(config: Config) -> tuple[AgentSet, tuple[Lane, ...]]:
    """Who can race, and the lanes. Raises `UsageError` for a name that is none; where a file has
    it, with the file: nobody typed it."""
    try:
        agent_set = available.of_race(config, config.race.agents)
        return agent_set, registry.lanes(
            config.race.agents, agent_set.adapters, config.agents_of_profiles
        )
    except UsageError as error:
        text = _source_words(config, "race.agents")
        if text == config.sources["race.agents"]:
            raise
        raise UsageError(f"{text}: {error.message}", hint=error.hint) from None


def _source_words(config: Config, key: str) -> str:
    """What has set it, as a sentence names it: the flag, the variable, or the file and the key."""
    source = config.sources[key]
    return f"{source}: {key}" if "/" in source else source


def _racing(lanes: tuple[Lane, ...]) -> Iterable[str]:
    return dict.fromkeys(lane.adapter for lane in lanes) or registry.TIER1


def _instructions(repository: Repository, base: str, adapters: Iterable[Adapter]) -> frozenset[str]:
    # Of all who may race, for it is not known yet who is there: git is asked while trio loads.
    names = dict.fromkeys(name for adapter in adapters for name in adapter.descriptor.instructions)
    return frozenset(regular_files(repository, base, tuple(names)))


def _check_state(state: Path) -> None:
    # Before the probes, which work in it too.
    try:
        paths.make_private(state)
        writable = state.is_dir() and os.access(state, os.W_OK | os.X_OK)
        problem = "" if writable else "it is no folder that you can write"
    except OSError as error:
        problem = error.strerror or str(error)
    if problem:
        raise Refused(
            f"the state folder {state} cannot be used: {problem}",
            hint="set HYDRA_STATE_DIR to a folder you can write",
        )


def check_prompt(prompt: str) -> None:
    """Raises `UsageError` for a task no agent could be given."""
    if not prompt.strip():
        raise UsageError("the task is empty", hint='say what is to be done: hydra race "fix ..."')
    if "\0" in prompt:
        raise UsageError("the task holds NUL bytes", hint="give plain text")
    if any("\ud800" <= char <= "\udfff" for char in prompt):  # bytes that the locale cannot read
        raise UsageError("the task is not text", hint="give UTF-8 text")


def _refuse_filters(repository: Repository, base: str, allowed: tuple[str, ...]) -> None:
    """Content filters are programs of the user's: LFS's is known, others only by name."""
    unknown = [name for name in base_commit.filters(repository, base) if name not in allowed]
    if unknown:
        why = base_commit.unread(repository, base)
        asks = f"may ask ({why})" if why else "asks"
        raise Refused(
            f"this repository {asks} for the content filter {', '.join(unknown)}",
            hint=" ".join(f"--allow-filter {name}" for name in unknown)
            + " lets it run as it is configured now",
        )
    if base_commit.lfs_missing(repository, base):
        if executables.find("git-lfs"):
            raise Refused(
                "this repository keeps files in Git LFS, and git is not set up for it",
                hint="run: git lfs install && git lfs pull",
            )
        raise Refused(
            "this repository keeps files in Git LFS, and git-lfs is not here",
            hint="install git-lfs, or race where it is",
        )


def _unread_settings(top: Path, folder: str) -> tuple[str, ...]:
    """That a hydra.toml where one stands, below the top, is not read."""
    if not folder or not (top / folder / "hydra.toml").is_file():
        return ()
    used = "the one at the top is" if (top / "hydra.toml").is_file() else "only one at the top is"
    return (f"{folder}/hydra.toml is not read: {used}",)


def _remarks(repository: Repository, config: Config) -> tuple[str, ...]:
    remarks = []
    if repository.state:
        remarks.append(
            f"a {repository.state} is under way here; the lanes begin from the commit alone"
        )
    if repository.partial:
        filters = (value for key, value in repository.config.items() if key.endswith(_FILTER))
        remarks.append(
            f"a partial clone ({next(filters, 'filtered')}): of older commits a lane has what was "
            "fetched here until now, and fetches nothing (git log -p, git blame)"
        )
    if not config.race.include_dirty:
        dirty = base_commit.dirty(repository)
        if dirty:
            counts = ((dirty.tracked, "changed file"), (dirty.untracked, "untracked file"))
            text = " and ".join(plural(count, what) for count, what in counts if count)
            remarks.append(f"not committed, so left out: {text} (--include-dirty takes them along)")
    return tuple(remarks)


_BULK = 100_000_000
"""Bytes of untracked files from which they are named before they are copied."""


def _bulk(repository: Repository, config: Config) -> tuple[str, ...]:
    folders = base_commit.bulk(repository) if config.race.include_dirty else ()
    if sum(folder.size for folder in folders) < _BULK:
        return ()
    names = [f"{at.folder} ({size(at.size)}, {plural(at.files, 'file')})" for at in folders]
    return (
        f"--include-dirty copies what git does not ignore: {join_names(names, 3)}; "
        "what no lane needs belongs into .gitignore",
    )


_FILTER = ".partialclonefilter"

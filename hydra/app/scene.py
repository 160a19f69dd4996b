"""What a race stands on, read and checked before the first probe."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hydra import executables, paths
from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.app import roster, settings
from hydra.app.asked_checks import folder_of, with_checks
from hydra.app.dependencies import names_of
from hydra.app.room import check_open_files, check_room
from hydra.app.roster import Roster
from hydra.app.title import title
from hydra.config import Config
from hydra.errors import Refused, UsageError
from hydra.git import repository
from hydra.git.later import Later
from hydra.git.repository import Repository
from hydra.git.runner import require_git
from hydra.git.tree import regular_files
from hydra.lanes import check_experimental
from hydra.model import Lane, Task
from hydra.reporters.text import plural
from hydra.sandbox.places import show_problems
from hydra.workspace.dependencies import check_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRequest:
    """What a person, or a program, asks for. `flags` are dotted config keys set by flags."""

    prompt: str
    directory: Path = field(default_factory=Path.cwd)
    base: str = "HEAD"
    flags: Mapping[str, object] = field(default_factory=dict)
    dry_run: bool = False
    no_check: bool = False
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What was read before the first probe."""

    request: RaceRequest
    repository: Repository
    config: Config
    state: Path
    home: Path
    task: Task
    asked: tuple[Lane, ...]
    adapters: Mapping[str, Adapter]
    instructions: frozenset[str]
    """The files at the base that any of its agents reads as its instructions."""
    dependencies: tuple[str, ...]
    warnings: tuple[str, ...]


def look_around(request: RaceRequest) -> Scene:
    """Reads and checks all that a race stands on, probing nothing. Raises `HydraError`."""
    environ = request.environ
    check_prompt(request.prompt)
    check_open_files()
    require_git()
    state = paths.state_dir(environ)
    home = paths.home_dir(environ)
    found = repository.read(request.directory, home=home, state=state)
    _check_state(state)
    config = settings.load(found.root, environ, request.flags)
    check_room(state, paths.runs_dir(state, found.root), config.limits.disk_floor)
    known, asked = _lanes(config)
    adapters = known.adapters
    config = settings.with_prefaces(config, asked, found.root)
    settings.check_folders(config, _racing(asked), home)
    check_experimental(asked, adapters, config.race.allow_experimental)
    folder = folder_of(found.root, request.directory)
    config = with_checks(config, found.root, folder, none=request.no_check)
    base = repository.resolve(found, request.base)
    check_shared(found, config.race.share)
    dependencies = Later(partial(names_of, found, config, environ))
    repository.check_copies(found, config.race.copies, said=_said(config, "race.copy"))
    _refuse_filters(found, base, config.race.allow_filters)
    task = Task(
        prompt=request.prompt,
        repository=found.root,
        base=base,
        base_name=request.base if request.base != "HEAD" else (found.branch or "HEAD"),
        title=title(request.prompt),
    )
    return Scene(
        request=request,
        repository=found,
        config=config,
        state=state,
        home=home,
        task=task,
        asked=asked,
        adapters=adapters,
        instructions=_instructions(found, base, (adapters[key] for key in _racing(asked))),
        dependencies=dependencies.result(),
        warnings=(
            *_remarks(found, config),
            *_unread_settings(found.root, folder),
            *show_problems(config.confine.show, home),
            *known.problems,
        ),
    )


def _lanes(config: Config) -> tuple[Roster, tuple[Lane, ...]]:
    """Who can race, and the lanes. Raises `UsageError` for a name that is none; where a file has
    it, with the file: nobody typed it."""
    try:
        known = roster.of_race(config, config.race.agents)
        return known, registry.lanes(config.race.agents, known.adapters, config.agents_of_profiles)
    except UsageError as error:
        said = _said(config, "race.agents")
        if said == config.sources["race.agents"]:
            raise
        raise UsageError(f"{said}: {error.message}", hint=error.hint) from None


def _said(config: Config, key: str) -> str:
    """What has set it, as a sentence names it: the flag, the variable, or the file and the key."""
    source = config.sources[key]
    return f"{source}: {key}" if "/" in source else source


def _racing(asked: tuple[Lane, ...]) -> Iterable[str]:
    return dict.fromkeys(lane.adapter for lane in asked) or registry.TIER1


def _instructions(found: Repository, base: str, adapters: Iterable[Adapter]) -> frozenset[str]:
    # Of all who may race, for it is not known yet who is there: git is asked while trio loads.
    names = dict.fromkeys(name for one in adapters for name in one.descriptor.instructions)
    return frozenset(regular_files(found, base, tuple(names)))


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


def _refuse_filters(found: Repository, base: str, allowed: tuple[str, ...]) -> None:
    """Content filters are programs of the user's: LFS's is known, others only by name."""
    unknown = [name for name in repository.filters(found, base) if name not in allowed]
    if unknown:
        raise Refused(
            f"this repository asks for the content filter {', '.join(unknown)}",
            hint=" ".join(f"--allow-filter {name}" for name in unknown)
            + " lets it run as it is configured now",
        )
    if repository.lfs_missing(found, base):
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


def _remarks(found: Repository, config: Config) -> tuple[str, ...]:
    remarks = []
    if found.state:
        remarks.append(f"a {found.state} is under way here; the lanes begin from the commit alone")
    if not config.race.include_dirty:
        dirty = repository.dirty(found)
        if dirty:
            counts = ((dirty.tracked, "changed file"), (dirty.untracked, "untracked file"))
            some = " and ".join(plural(count, what) for count, what in counts if count)
            remarks.append(f"not committed, so left out: {some} (--include-dirty takes them along)")
    return tuple(remarks)

"""`hydra runs` and `hydra diff`: the records of this repository's races, read back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hydra import executables, paths
from hydra.errors import Exhausted, RecordError, Refused, UsageError
from hydra.git import base_commit, patches
from hydra.git.base_commit import Repository
from hydra.git.runner import require_git
from hydra.race.recovery import retention
from hydra.race.recovery.moved_repos import moved
from hydra.race.recovery.startup import recover
from hydra.ranking.model import EndedRace, LaneResult
from hydra.records.plan import RaceManifest
from hydra.records.store.reader import RunRecord, find_run, read_record, runs
from hydra.text import nearest


class RepositoryRuns(Struct, frozen=True):
    """One repository and the folder that holds its runs."""

    repository: Repository
    state: Path
    folder: Path


def repository_runs(
    environ: Mapping[str, str] | None = None, start: Path | None = None
) -> RepositoryRuns:
    """The repository one stands in, or `start` lies in. Raises `Refused` outside of one."""
    environ = executables.users_environment() if environ is None else environ
    require_git()
    state = paths.state_dir(environ)
    recover(environ)
    repository = base_commit.read(start or Path.cwd(), state=state)
    return RepositoryRuns(repository, state, paths.runs_dir(state, repository.root))


def list_runs(place: RepositoryRuns) -> list[RunRecord]:
    """This repository's runs, newest first."""
    return list(reversed(runs(place.folder)))


def find(place: RepositoryRuns, name: str | None) -> RunRecord:
    """The run that `-r/--run` names; the latest without one. Raises `UsageError`."""
    if not runs(place.folder) and (elsewhere := moved(place.state, place.repository.root)):
        raise elsewhere
    return find_run(place.folder, name)


def is_uncommitted(run: RunRecord) -> bool:
    """Whether its base is a commit of Hydra's own, of what was not committed as it began."""
    with suppress(RecordError):
        return run.manifest.is_uncommitted
    return False


def size(place: RepositoryRuns, run: RunRecord) -> int:
    """Bytes that a run takes, its worktrees too."""
    return retention.size(run, place.state)


class RunReading(Struct, frozen=True, kw_only=True):
    """One run as far as it can be read; `damage` is the first thing that could not be.

    `race` is the result; without one, what manifest, events and `patches.git` tell of it.
    """

    run: RunRecord
    manifest: RaceManifest
    result: Mapping[str, object] | None
    race: EndedRace
    damage: RecordError | None

    @property
    def lanes(self) -> Mapping[str, LaneResult]:
        """Its lanes, by name."""
        return {lane.lane: lane for lane in self.race.lanes}

    @property
    def state(self) -> str:
        """As `RunRecord.state`, or `unreadable` where something of it is damaged or newer."""
        return "unreadable" if self.damage and not self.run.live else self.run.state


def read(run: RunRecord, *, events: bool = False) -> RunReading:
    """Reads a run and raises nothing. `events` has the events read, and they and the
    patches checked, in any case; then it raises `Refused` where git could not be asked."""
    damages: list[RecordError] = []
    manifest = RaceManifest()
    result: Mapping[str, object] | None = None
    race: EndedRace | None = None
    statuses: dict[str, str] = {}
    try:
        manifest = run.manifest
    except RecordError as damage:
        damages.append(damage)
    try:
        if (result := run.result) is not None:
            race = read_record(run.folder / "result.json", EndedRace)
    except RecordError as damage:
        damages.append(damage)
    if events or result is None:
        try:
            for event in run.events():
                if event.kind == "lane_ended":
                    statuses[event.lane] = str(event.data.get("status"))
            if result is not None:
                check_patches(run)
        except RecordError as damage:
            damages.append(damage)
    return RunReading(
        run=run,
        manifest=manifest,
        result=result,
        race=_unended(run, manifest, statuses) if race is None else race,
        damage=damages[0] if damages else None,
    )


def _unended(run: RunRecord, manifest: RaceManifest, statuses: Mapping[str, str]) -> EndedRace:
    names = manifest.lanes or list(_branches(run))
    state = "running" if run.live else "broken off"
    lanes = (LaneResult(lane=lane, status=statuses.get(lane, state)) for lane in names)
    return EndedRace(
        run=run.id,
        repository=manifest.repository,
        base=manifest.base,
        base_name=manifest.base_name,
        title=manifest.title,
        lanes=tuple(lanes),
    )


def _branches(run: RunRecord) -> dict[str, str]:
    try:
        return patches.branches(run.patches)
    except Refused:  # git's own words are told where a patch is asked for
        return {}


def _check_whole(run: RunRecord, lane: str, commit: str) -> None:
    """Raises `RecordError` where something of a patch is not there any more."""
    from hydra.git.missing_objects import problem  # no race needs it

    try:
        base = run.base
    except RecordError:  # whoever needs the base says so
        return
    why, hint = problem(run.patches, base, commit) if commit != base else ("", "")
    if why:
        raise RecordError(f"the patch of lane {lane} cannot be read: {why}", hint=hint)


def check_patches(run: RunRecord) -> None:
    """Raises `RecordError` where a patch of the run is not whole any more."""
    try:
        for lane, commit in patches.branches(run.patches).items():
            _check_whole(run, lane, commit)
    except Exhausted:
        raise
    except Refused as failed:
        raise RecordError(f"its patches cannot be read: {failed.message}") from failed


def commit_of(run: RunRecord, lane: str) -> str:
    """A lane's patch as a commit in the run's `patches.git`, whatever became of the record.

    Raises `UsageError` for an unknown lane, `Refused` for one without a patch, `RecordError`
    where there are no patches any more, where an object of this one is gone, or where the record
    does not say which lanes there were.
    """
    try:
        commit = patches.branches(run.patches).get(lane)
    except Exhausted:
        raise
    except Refused as error:
        raise RecordError(
            f"the patches of run {run.id} cannot be read: {error.message}",
            hint=f"what the lanes said is in {run.folder}/lanes",
        ) from error
    if commit is not None:
        _check_whole(run, lane, commit)
        return commit
    reading = read(run)
    if lane in reading.lanes:
        raise Refused(
            f"lane {lane} of run {run.id} has no patch ({reading.lanes[lane].status})",
            hint=f"`hydra runs show {run.id}` says how it ended",
        )
    if reading.damage:
        raise reading.damage
    raise _no_lane(run, lane, list(reading.lanes))


def check_lane(run: RunRecord, lane: str) -> None:
    """Raises `UsageError` for a lane that the run has not, as far as its record says."""
    reading = read(run)
    if reading.damage is None and lane not in reading.lanes:
        raise _no_lane(run, lane, list(reading.lanes))


def _no_lane(run: RunRecord, lane: str, lanes: Sequence[str]) -> UsageError:
    near = nearest(lane, lanes)
    meant = f"did you mean {near}? " if near else ""
    return UsageError(
        f"run {run.id} has no lane {lane!r}", hint=f"{meant}its lanes: {', '.join(lanes)}"
    )


def ends_of(run: RunRecord, lane: str, other: str | None) -> tuple[str, str]:
    """The two commits whose difference is shown: base and lane, or lane and the other lane."""
    commit = commit_of(run, lane)
    return (commit, commit_of(run, other)) if other else (run.base, commit)


def from_top(place: RepositoryRuns, paths: Sequence[str]) -> tuple[str, ...]:
    """Paths as one writes them here, as they are from the top.

    () is everything. Raises `UsageError` for one outside the repository.
    """
    top = place.repository.root
    below = os.path.relpath(os.path.realpath(Path.cwd()), os.path.realpath(top))
    named = tuple(_from_top(top, below, path) for path in paths)
    return () if "." in named else named


def _from_top(top: Path, below: str, path: str) -> str:
    absolute = Path(path).is_absolute()
    named = os.path.relpath(path, top) if absolute else os.path.normpath(f"{below}/{path}")
    if named == ".." or named.startswith("../"):
        raise UsageError(
            f"{path!r} is outside the repository at {top}",
            hint="paths are read from the folder you are in, as git does",
        )
    return named

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
from hydra.git.runner import require_git
from hydra.git.runner import run as git
from hydra.race.command_context import CommandContext
from hydra.race.recovery.startup import recover
from hydra.ranking.model import EndedRace, LaneResult
from hydra.records.plan import RaceManifest
from hydra.records.store.reader import RunRecord, as_record, read_record, runs
from hydra.report.text import quote
from hydra.text import nearest, plural


def repository_runs(
    environ: Mapping[str, str] | None = None, start: Path | None = None
) -> CommandContext:
    """The repository one stands in, or `start` lies in. Raises `Refused` outside of one."""
    environ = executables.users_environment() if environ is None else environ
    require_git()
    state = paths.state_dir(environ)
    recover(environ)
    repository = base_commit.read(start or Path.cwd(), state=state)
    return CommandContext(repository=repository, state=state, environ=environ)


def list_runs(place: CommandContext) -> list[RunRecord]:
    """This repository's runs, newest first."""
    return list(reversed(runs(place.folder)))


def find(place: CommandContext, name: str | None) -> RunRecord:
    """The run that `-r/--run` names; the latest without one. Raises `UsageError`."""
    if not runs(place.folder) and (elsewhere := moved(place.state, place.repository.root)):
        raise elsewhere
    return find_run(place.folder, name)


def find_run(folder: Path, name: str | None) -> RunRecord:
    """The run that `-r/--run` names: none or "" is the latest, `@-1` the one before, else how
    an id ends or begins.

    Raises `UsageError` where there is none or where several do so.
    """
    records = runs(folder)
    if not records:
        raise UsageError(
            "this repository has no races yet", hint='start one: hydra race "your task"'
        )
    if not name:
        return records[-1]
    if name.startswith("@-") and name[2:].isascii() and name[2:].isdigit():
        back = int(name[2:][:9])
        if back < len(records):
            return records[-1 - back]
        only = "is only 1 race" if len(records) == 1 else f"are only {len(records)} races"
        raise UsageError(f"there {only} here", hint="hydra runs lists them")
    ending = [run for run in records if run.id.endswith(name)]
    fitting = ending or [run for run in records if run.id.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    many = f"{len(fitting)} runs {'end' if ending else 'start'} with {name!r}"
    what = many if fitting else f"no run is called {name!r}"
    raise UsageError(what, hint="hydra runs lists them; any unique beginning or end will do")


def is_uncommitted(run: RunRecord) -> bool:
    """Whether its base is a commit of Hydra's own, of what was not committed as it began."""
    with suppress(RecordError):
        return run.manifest.is_uncommitted
    return False


class RunReading(Struct, frozen=True, kw_only=True):
    """One run as far as it can be read; `damage` is the first thing that could not be.

    `race` is the result; without one, what manifest, events and `patches.git` tell of it.
    """

    run: RunRecord
    manifest: RaceManifest
    result: Mapping[str, object] | None
    race: EndedRace
    damage: RecordError | None
    live: bool
    """Whether it was under way as it was read."""

    @property
    def lanes(self) -> Mapping[str, LaneResult]:
        """Its lanes, by name."""
        return {lane.lane: lane for lane in self.race.lanes}

    @property
    def state(self) -> str:
        """As `RunRecord.state`, or `unreadable` where something of it is damaged or newer."""
        return "unreadable" if self.damage and not self.live else self.run.state


def read(run: RunRecord, *, events: bool = False) -> RunReading:
    """Reads a run and raises nothing. `events` has the events read, and they and the
    patches checked, in any case; then it raises `Refused` where git could not be asked."""
    damages: list[RecordError] = []
    manifest, live = RaceManifest(), run.live
    result: Mapping[str, object] | None = None
    race: EndedRace | None = None
    statuses: dict[str, str] = {}
    try:
        manifest = run.manifest
    except RecordError as damage:
        damages.append(damage)
    try:
        if (result := run.result) is not None:
            race = as_record(run.folder / "result.json", result, EndedRace)
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
        race=_unended(run, manifest, statuses, live) if race is None else race,
        damage=damages[0] if damages else None,
        live=live,
    )


def _unended(
    run: RunRecord, manifest: RaceManifest, statuses: Mapping[str, str], live: bool
) -> EndedRace:
    names = manifest.lanes or list(_branches(run))
    state = "running" if live else "broken off"
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


def branches(run: RunRecord) -> dict[str, str]:
    """The lanes' patches as commits. Raises `RecordError` where they cannot be read."""
    try:
        return patches.branches(run.patches)
    except Exhausted:
        raise
    except Refused as error:
        raise RecordError(
            f"the patches of run {run.id} cannot be read: {error.message}",
            hint=f"what the lanes said is in {run.folder}/lanes",
        ) from error


def patched(run: RunRecord) -> dict[str, str]:
    """The lanes that left something, and their commits. Raises `Refused`, `RecordError`."""
    check_ended(run)
    commits, base = branches(run), run.base
    lanes = {lane: commits[lane] for lane in read(run).lanes if commits.get(lane, base) != base}
    if not lanes:
        way = f"`hydra runs show {run.id}` says why"
        raise Refused(f"no lane of run {run.id} has a patch", hint=way)
    return lanes


def check_ended(run: RunRecord) -> None:
    """Raises `Refused` for a run that is under way."""
    if run.live:
        raise Refused(f"run {run.id} is still running", hint="wait until it has ended")


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
    commit = branches(run).get(lane)
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


def check_lane(reading: RunReading, lane: str) -> None:
    """Raises `UsageError` for a lane that the run has not, as far as its record says."""
    if reading.damage is None and lane not in reading.lanes:
        raise _no_lane(reading.run, lane, list(reading.lanes))


def only_lane(run: RunRecord) -> str:
    """The lane of a race of one. Raises `UsageError` where there are more to choose from."""
    reading = read(run)
    lanes = list(reading.lanes)
    if len(lanes) == 1:
        return lanes[0]
    raise reading.damage or UsageError(
        f"run {run.id} has {len(lanes)} lanes", hint=f"name one: {', '.join(lanes)}"
    )


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


def from_top(place: CommandContext, paths: Sequence[str]) -> tuple[str, ...]:
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


# ---- Races of a repository that was moved since: their records lie under its old path, and their
# pins came along with it.


def moved(state: Path, root: Path) -> UsageError | None:
    """What is to be said instead of "no races yet"; None where no race of it is recorded elsewhere.

    The lanes' patches borrow the base from the old path, so that has to lead here again.
    """
    pins = git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/hydra", cwd=root).line
    ids = {pin.partition("/")[0] for pin in pins.splitlines()}
    folders = [folder for folder in state.glob("*/runs/*") if folder.name in ids]
    for folder in sorted(folders, key=lambda folder: folder.name, reverse=True):
        with suppress(OSError, RecordError):
            old = Path(read_record(folder / "manifest.json", str, "repository"))
            if not old.exists():
                link = f"ln -s {quote(str(root))} {quote(str(old))} && "
                return _moved(f"{old}, where it is no more", link, folder, len(folders))
            if old != root and old.samefile(root):
                return _moved(f"{old}, which is a link to it now", "", folder, len(folders))
    return None


def _moved(place: str, link: str, folder: Path, count: int) -> UsageError:
    races = plural(count, "race")
    return UsageError(
        f"this repository has no races here: {races} of it began at {place}",
        hint=f"move it back; or look at the latest: {link}"
        f"git fetch {quote(str(folder / 'patches.git'))} LANE && git show FETCH_HEAD",
    )

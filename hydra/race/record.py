"""A race's record: opened before anything runs, closed with its result and its verdict."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from hydra import __version__, paths
from hydra.errors import Refused
from hydra.git import base_commit, patches
from hydra.git.runner import owner, require_git
from hydra.log import get_logger
from hydra.process.identity import ProcessIdentity
from hydra.race.check_selection import folder_of
from hydra.race.dependencies import Links
from hydra.race.preflight import RaceInputs
from hydra.ranking.model import EndedRace
from hydra.records.codec import as_json, shaped
from hydra.records.outcome import RaceResult, Status
from hydra.records.plan import RaceManifest, RacePlan
from hydra.records.store.writer import RunStore
from hydra.text import plural

_log = get_logger(__name__)


def open_record(
    inputs: RaceInputs, planned: RacePlan, links: Links | None = None
) -> tuple[RunStore, RacePlan]:
    """The race's folder with its first documents, and the base pinned; the plan with the base that
    uncommitted changes have made, where it races from those. Blocks. Raises `HydraError`.

    `links` have their place among its grounds already, which then is claimed.
    """
    folder = inputs.folder / planned.run
    path = paths.ground_dir(inputs.state, planned.run, "x").parent
    if links is None:
        claim_grounds(path)
    try:
        store = RunStore(folder, _documents(inputs, planned))
    except OSError as error:
        with suppress(OSError):
            path.rmdir()
        raise _unwritable(error) from error
    try:
        return store, _furnish(inputs, planned, store)
    except BaseException as error:
        if links is not None:
            links.remove()  # what is still being linked cannot be removed
        discard_record(inputs, store)
        store.close()
        if isinstance(error, OSError):
            raise _unwritable(error) from error
        raise


def discard_record(inputs: RaceInputs, store: RunStore) -> None:
    """No agent has run: a race that was refused leaves no record. Blocks; raises `OSError`."""
    from hydra.race.recovery.retention import remove_run  # not before: hardly a race needs it

    remove_run(inputs.state, store.folder)


def claim_grounds(path: Path) -> None:
    """Makes the folder of a race's grounds, which no other has: ids are unique in one repository,
    and grounds lie beside those of all. Raises `Refused`."""
    try:
        paths.make_private(path.parent)
        path.mkdir(mode=0o700)
    except FileExistsError as error:
        raise Refused(
            "another race got the same id in this very moment", hint="begin it again"
        ) from error
    except OSError as error:
        raise _unwritable(error) from error


def _unwritable(error: OSError) -> Refused:
    return Refused(
        f"the run's record cannot be written: {error}",
        hint="set HYDRA_STATE_DIR to a folder you can write, with room on its disk",
    )


def _furnish(inputs: RaceInputs, planned: RacePlan, store: RunStore) -> RacePlan:
    """From here on the run can be found, whenever Hydra is killed; so nothing is made before."""
    base_commit.pin(inputs.repository, planned.run, planned.base)
    patches.create(
        store.patches,
        inputs.repository,
        base=planned.base,
        allow=inputs.config.race.allow_filters,
    )
    if inputs.config.race.include_dirty:
        base = base_commit.dirty_base(
            inputs.repository, store.patches, planned.base, inputs.config.limits
        )
        planned = replace(planned, base=base)
        for name, document in _documents(inputs, planned).items():
            store.write_json(name, document)
    return planned


def manifest(planned: RacePlan, head: str, sources: Mapping[str, str]) -> dict[str, object]:
    """`manifest.json` of a race. `head` is the commit of the checkout, and `sources` say where each
    setting came from."""
    document: dict[str, object] = as_json(
        RaceManifest(
            hydra=__version__,
            run=planned.run,
            started=time.time(),
            process=ProcessIdentity.of(os.getpid()).as_dict(),
            owner=owner,
            argv=tuple(sys.argv),
            repository=str(planned.repository),
            base=planned.base,
            base_name=planned.base_name,
            head=head,
            title=planned.title,
            prompt=planned.prompt,
            python=sys.version.split()[0],
            git=".".join(map(str, require_git())),
            environment_names=tuple(sorted({n for row in planned.lanes for n in row.env_names})),
            settings_from=dict(sources),
            lanes=tuple(lane.id for lane in planned.lanes),
        )
    )
    return document


def _documents(inputs: RaceInputs, planned: RacePlan) -> dict[str, dict[str, object]]:
    of_race = manifest(planned, inputs.base, inputs.config.sources)
    return {"manifest.json": of_race, "plan.json": planned.document()}


def close_record(
    inputs: RaceInputs, store: RunStore, planned: RacePlan, result: RaceResult
) -> RaceResult:
    """Writes the result, then the verdict beside it. What the disk did not take is said in it, and
    loses no lane's outcome."""
    result = replace(result, warnings=(*result.warnings, *losses(store)))
    result = _written(store, planned, result)  # before it is judged: whatever comes, this stands
    judged = _judged(inputs, store, planned, result)
    return result if judged is result else _written(store, planned, judged)


def losses(store: RunStore) -> Iterator[str]:
    """What of a race's events its record has not, in sentences."""
    if store.lost:
        yield f"{plural(store.lost, 'event')} could not be recorded: is the disk full?"
    if store.invalid:
        yield f"{plural(store.invalid, 'event')} could not be recorded: a bug in Hydra"


def _written(store: RunStore, planned: RacePlan, result: RaceResult) -> RaceResult:
    try:
        store.write_json("result.json", result.document(planned))
    except OSError as error:
        _log.warning("the result could not be recorded", why=error.strerror)
        remark = f"the result could not be recorded: {error.strerror}"
        result = replace(result, warnings=(*result.warnings, remark))
    return result


def _judged(
    inputs: RaceInputs, store: RunStore, planned: RacePlan, result: RaceResult
) -> RaceResult:
    """With its verdict, where there is a patch to judge."""
    if not any(end.patch is not None and not end.patch.empty for end in result.outcomes):
        return result
    try:
        from hydra.race.verdict import of_result  # not before: an agent is not to wait for it

        race = shaped(result.document(planned), EndedRace)
        place = folder_of(inputs.repository.root, inputs.request.directory)
        verdict = of_result(store.folder, planned.base, race, inputs.config, place)
    except Exception as bug:
        # Every outcome is recorded already, and `hydra compare` judges again.
        _log.warning("the race could not be judged", exc_info=True)
        remark = f"the race could not be judged: {bug}"
        return replace(result, warnings=(*result.warnings, remark))
    return replace(result, verdict=verdict.document())


def left_standing(planned: RacePlan, result: RaceResult) -> bool:
    """Whether a race that was ended at once has work left for recovery to take."""
    return any(
        end.status is Status.INTERRUPTED and end.patch is None and lane.worktree.is_dir()
        for lane, outcome in zip(planned.lanes, result.outcomes, strict=True)
        for end in (outcome, *outcome.others)
    )

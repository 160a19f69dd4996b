"""The verdict whole: what the judge says of a run, beside the evidence that it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.generated import generated, vendored
from hydra.analysis.patch import FileChange
from hydra.checks.lack import joined
from hydra.checks.record import NAMED, CheckDocument, CheckStatus
from hydra.errors import EXIT_NO_USABLE_LANE, EXIT_OK
from hydra.ranking.cross_tests import with_new
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.model import (
    ChangedFile,
    EndedRace,
    LaneResult,
    LaneVerdict,
    ProtectedTrial,
    Verdict,
)
from hydra.ranking.unchecked import folders_of, made_places, untested_places


def whole(
    verdict: Verdict, evidence: Evidence, race: EndedRace, folder: str, place: str = ""
) -> Verdict:
    """One run's verdict with its evidence; `race` is the run's result, and `place` where in the
    checkout one types what its sentences offer."""
    evidence = with_new(evidence)
    lanes = {lane.lane: lane for lane in evidence.lanes}
    results = {lane.lane: lane for lane in race.lanes}
    touched = _touched(evidence)
    return replace(
        verdict,
        base=evidence.base,
        base_name=race.base_name,
        title=race.title,
        repository=race.repository,
        interrupted=race.interrupted,
        lanes=tuple(
            _lane(
                lane,
                lanes[lane.lane],
                results.get(lane.lane) or LaneResult(lane=lane.lane),
                evidence,
                touched,
            )
            for lane in verdict.lanes
        ),
        baseline=tuple(map(CheckDocument.of, evidence.baseline)),
        notes=evidence.notes,
        folder=folder,
        exit_code=EXIT_OK if verdict.usable else EXIT_NO_USABLE_LANE,
        warnings=tuple(_warnings(evidence, place)),
    )


def _warnings(evidence: Evidence, place: str) -> Iterator[str]:
    """What leaves patches without a measure."""
    lacks = joined(lack for result in evidence.baseline for lack in result.missing)
    yield from (lack.told_of("a check", place) for lack in lacks)
    for result in evidence.baseline:
        name = result.check.name
        if result.check.kind != "test" or result.status is not CheckStatus.FAILED:
            continue
        if result.tests is None:
            yield f"{name} does not name its tests: what a patch breaks beside them is not seen"
        elif "passed" in result.tests.unnamed and not result.tests.passed:
            yield f"{name} names its failures alone: new tests are not tried on other patches"
        elif not (result.tests.passed or result.missing):
            what = f"{name} passes no test on the base ({result.says})"
            yield f"{what}: it can tell what a patch mends, not what it breaks"
    yield from untested_places(evidence)
    yield from made_places(evidence)


def _lane(
    verdict: LaneVerdict,
    lane: LaneEvidence,
    result: LaneResult,
    evidence: Evidence,
    touched: Mapping[str, Sequence[str]],
) -> LaneVerdict:
    return replace(
        verdict,
        adapter=lane.adapter,
        model=result.model,
        label=result.label,
        status=lane.status,
        own_version=verdict.own_version[:NAMED],
        chance=None if verdict.chance is None else round(verdict.chance, 6),
        checks=tuple(map(CheckDocument.of, lane.checks)),
        protected=tuple(
            ProtectedTrial(
                check=trial.result.check.name,
                status=trial.result.status.value,
                says=trial.result.says,
                details=trial.result.details or None,
                paths=trial.paths,
                configuration=trial.configuration,
            )
            for trial in evidence.trials
            if trial.kind == "protected" and trial.on == verdict.lane
        ),
        patch=result.patch,
        files=tuple(_file(file, touched[file.path]) for file in lane.files),
        made=folders_of(lane, evidence),
        usage=lane.usage,
        usage_estimate=result.usage_estimate,
        seconds=lane.seconds,
        message=result.message,
    )


def _file(file: FileChange, lanes: Sequence[str]) -> ChangedFile:
    term = "modified" if file.old_mode and file.new_mode else "added"
    return ChangedFile(
        path=file.path,
        added=file.insertions,
        deleted=file.deletions,
        status=term if file.new_mode else "deleted",
        binary=file.binary,
        lanes=tuple(lanes),
        generated=generated(file.path, file.new),
        vendored=vendored(file.path),
    )


def _touched(evidence: Evidence) -> Mapping[str, Sequence[str]]:
    rows: dict[str, list[str]] = {}
    for lane in evidence.lanes:
        for file in lane.files:
            rows.setdefault(file.path, []).append(lane.lane)
    return rows

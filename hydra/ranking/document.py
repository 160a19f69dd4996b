"""The verdict as a document: what `hydra compare --json` prints and result.json keeps.

docs/reference/json.md has every field. Every field is always there; what is unknown is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from hydra.analysis.generated import generated, vendored
from hydra.analysis.patch import FileChange
from hydra.checks.lack import joined
from hydra.checks.record import NAMED, CheckStatus
from hydra.checks.record import document as check_document
from hydra.errors import EXIT_NO_USABLE_LANE, EXIT_OK
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.model import LaneVerdict, Reason, Verdict
from hydra.ranking.unchecked import folders_of, made_places, untested_places
from hydra.records.codec import as_json

SCHEMA = 1
"""Version of this document. A field may be added under it; none changes its meaning or goes."""

Document = dict[str, Any]


def verdict_document(
    verdict: Verdict, evidence: Evidence, result: Mapping[str, Any], folder: str, place: str = ""
) -> Document:
    """One run's verdict with the evidence it stands on; `result` is the run's result document, and
    `place` where in the checkout one types what its sentences offer."""
    lanes = {lane.lane: lane for lane in evidence.lanes}
    document = {str(lane["lane"]): lane for lane in result.get("lanes") or ()}
    touched = _touched(evidence)
    whole: Document = as_json(
        {
            "schema": SCHEMA,
            "kind": "verdict",
            "run": verdict.run,
            "base": evidence.base,
            **{name: result.get(name) for name in ("base_name", "title", "repository")},
            "top": verdict.top or None,
            "says": verdict.says,
            "checked": verdict.checked,
            "tested": verdict.tested,
            "interrupted": result.get("interrupted") or None,
            "confidence": verdict.confidence,
            "lanes": [
                _lane(lane, lanes[lane.lane], document.get(lane.lane, {}), evidence, touched)
                for lane in verdict.lanes
            ],
            "baseline": [check_document(result) for result in evidence.baseline],
            "cross": verdict.cross,
            "groups": verdict.groups,
            "shared": verdict.shared,
            "picks": verdict.picks,
            "not_tried": verdict.not_tried,
            "notes": evidence.notes,
            "separated": None,
            "folder": folder,
            "exit_code": EXIT_OK if verdict.usable else EXIT_NO_USABLE_LANE,
            "warnings": list(_warnings(evidence, place)),
        }
    )
    return whole


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
    document: Mapping[str, Any],
    evidence: Evidence,
    touched: Mapping[str, Sequence[str]],
) -> Document:
    return {
        "lane": verdict.lane,
        "adapter": lane.adapter,
        **{name: document.get(name) for name in ("model", "label")},
        "rank": verdict.rank,
        "tied": verdict.tied,
        "state": verdict.state,
        "reason": verdict.reason,
        "decision": verdict.decision or None,
        "agreed": verdict.agreed,
        "status": lane.status,
        "why": verdict.why,
        "gates": [_reason(reason) for reason in verdict.gates],
        "reasons": [_reason(reason) for reason in verdict.reasons],
        "own_version": verdict.own_version[:NAMED],
        "chance": None if verdict.chance is None else round(verdict.chance, 6),
        "checks": [check_document(result) for result in lane.checks],
        "protected": [
            {
                "check": trial.result.check.name,
                "status": trial.result.status.value,
                "says": trial.result.says,
                "details": trial.result.details or None,
                "paths": trial.paths,
                "configuration": trial.configuration,
            }
            for trial in evidence.trials
            if trial.kind == "protected" and trial.on == verdict.lane
        ],
        "patch": document.get("patch"),
        "files": [_file(file, touched[file.path]) for file in lane.files],
        "made": folders_of(lane, evidence),
        "usage": lane.usage,
        "usage_estimate": document.get("usage_estimate"),
        "seconds": lane.seconds,
        "message": document.get("message") or "",
    }


def _reason(reason: Reason) -> Document:
    document = asdict(reason)
    return {**document, "file": reason.file or None, "path": reason.path or None}


def _file(file: FileChange, lanes: Sequence[str]) -> Document:
    term = "modified" if file.old_mode and file.new_mode else "added"
    return {
        "path": file.path,
        "added": file.insertions,
        "deleted": file.deletions,
        "status": term if file.new_mode else "deleted",
        "binary": file.binary,
        "lanes": list(lanes),
        "generated": generated(file.path, file.new),
        "vendored": vendored(file.path),
    }


def _touched(evidence: Evidence) -> Mapping[str, Sequence[str]]:
    rows: dict[str, list[str]] = {}
    for lane in evidence.lanes:
        for file in lane.files:
            rows.setdefault(file.path, []).append(lane.lane)
    return rows

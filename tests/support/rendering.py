"""The reporters on what a test writes as JSON has it, read as the records that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.commands.review import discriminate
from hydra.race.candidates import unjudged
from hydra.ranking import document as whole_verdict
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import EndedRace, LaneVerdict, Verdict
from hydra.records.codec import shaped
from hydra.report import checks, compare, markdown, ranking
from hydra.report import race_end as ends
from hydra.report import summary as ended
from hydra.report.html import build as pages
from hydra.report.html import summary as first_screen

Document = Mapping[str, Any]


def as_verdict(document: Document) -> Verdict:
    """A verdict's document as the record."""
    confidence = {"word": "unknown", **document.get("confidence", {})}
    return shaped({"run": "", "lanes": [], **document, "confidence": confidence}, Verdict)


def as_race(document: Document) -> EndedRace:
    """A result's document as the record."""
    lanes = [{**lane, "error": _failure(lane.get("error"))} for lane in document.get("lanes", ())]
    return shaped({**document, "lanes": lanes}, EndedRace)


def _failure(error: Document | None) -> Document | None:
    return error and {"kind": "AgentFailed", **error}


def _both(document: Document) -> tuple[EndedRace, Verdict]:
    race, data = as_race(document), document.get("verdict")
    return race, as_verdict(data) if data else unjudged(race)


def verdict_document(verdict: Verdict, evidence: Evidence, result: Document, folder: str) -> Any:
    return whole_verdict.whole(verdict, evidence, as_race(result), folder).document()


def compare_text(document: Document, **options: Any) -> str:
    return compare.compare_text(as_verdict(document), **options)


def comment(document: Document, **options: Any) -> str:
    return markdown.comment(as_verdict(document), **options)


def race_end(document: Document, **options: Any) -> str:
    return ends.race_end(*_both(document), **options)


def summary(document: Document, **options: Any) -> str:
    return ended.summary(*_both(document), **options)


def warnings(document: Document) -> list[str]:
    return ended.warnings(as_race(document))


def baseline(document: Document) -> list[str]:
    return checks.baseline(as_race(document).baseline)


def table_text(document: Document, **options: Any) -> str:
    head = {"run": "", "folder": "", **document}
    return checks.table_text(shaped(head, checks.CheckedRun), **options)


def steps(document: Document, width: int | None = None) -> list[str]:
    return ranking.steps(as_verdict(document), width)


def sure(document: Document) -> str:
    return ranking.sure(as_verdict(document))


def opening(document: Document, plans: Mapping[str, str]) -> dict[str, Any]:
    return first_screen.opening(as_verdict(document), plans)


def lane_line(lane: Document, document: Document, plans: Mapping[str, str]) -> dict[str, Any]:
    row = shaped(lane, LaneVerdict)
    return first_screen.lane_line(row, as_verdict(document), plans)


def build(document: Document, *data: Any, **options: Any) -> bytes:
    return pages.build(as_verdict(document), *data, **options)


def patch_groups(document: Document) -> Sequence[Sequence[str]]:
    return discriminate.patch_groups(as_verdict(document))

"""The document of one call of `hydra conformance`: what `--json` prints, and every report shows.

Reporters read this document and not the record: all of them show the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from hydra.conformance.results import Case, Network, Report
from hydra.errors import EXIT_NO_USABLE_LANE, EXIT_OK
from hydra.report.document import Data, record, records, text

SCHEMA = 1
"""Version of this document. A field may be added under it; none changes its meaning or goes."""

VERDICTS = ("passed", "failed", "skipped")


def conformance_document(
    report: Report, *, folder: str | None = None, compared: Sequence[tuple[str, str, str]] = ()
) -> dict[str, Any]:
    """The document of a report; `folder` is the scratch folder, where kept.

    `compared` are the versions that were compared, whether or not something had changed: agent,
    old, new. Every field is always there; what is unknown is null.
    """
    cases = [_case(case) for case in report.cases]
    changes = [{**asdict(change), "minds": change.minds or None} for change in report.changes]
    return {
        "schema": SCHEMA,
        "kind": "conformance",
        "hydra": report.hydra,
        "platform": report.platform,
        "started": round(report.started, 3),
        "seconds": round(report.seconds, 3),
        "versions": dict(report.versions),
        "third_party": list(report.third_party),
        "counts": {verdict: _count(cases, verdict) for verdict in VERDICTS},
        "cases": cases,
        "compared": [dict(zip(("agent", "old", "new"), texts, strict=True)) for texts in compared],
        "changes": changes,
        "network": _network(report.network),
        "recorded": list(report.recorded),
        "folder": folder,
        "exit_code": EXIT_NO_USABLE_LANE if report.differs else EXIT_OK,
        "warnings": list(report.warnings),
        "named": {agent: list(line) for agent, line in report.named.items()},
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "suite": case.suite,
        "agent": case.agent,
        "version": case.version or None,
        "name": case.name,
        "verdict": case.verdict.value,
        "seconds": round(case.seconds, 3),
        "differences": list(case.differences),
        "reason": case.reason or None,
        "evidence": case.evidence or None,
    }


def _network(network: Network | None) -> dict[str, Any] | None:
    if network is None:
        return None
    return {
        "watched": network.watched,
        "reason": network.reason or None,
        "packets": network.packets if network.watched else None,
        "tried": list(network.tried),
    }


def _count(cases: list[dict[str, Any]], verdict: str) -> int:
    return sum(case["verdict"] == verdict for case in cases)


def ended(document: Data, verdict: str) -> list[Data]:
    """The cases that ended so, in their order."""
    return [case for case in records(document, "cases") if text(case, "verdict") == verdict]


def groups(document: Data) -> list[tuple[str, str, list[Data]]]:
    """Agent, suite and their cases, each pair once, in the order in which they were met."""
    met: dict[tuple[str, str], list[Data]] = {}
    for case in records(document, "cases"):
        met.setdefault((text(case, "agent"), text(case, "suite")), []).append(case)
    return [(agent, suite, cases) for (agent, suite), cases in met.items()]


def drifts(document: Data) -> list[tuple[tuple[str, str, str], list[Data]]]:
    """Agent, old and new version, and what changed between them: what Hydra minds first.

    Empty where nothing has changed.
    """
    met: dict[tuple[str, str, str], list[Data]] = {}
    for row in (*records(document, "compared"), *records(document, "changes")):
        key = (text(row, "agent"), text(row, "old"), text(row, "new"))
        met.setdefault(key, []).extend([row] if "text" in row else [])
    return [
        (key, sorted(documents, key=lambda row: not impact(row))) for key, documents in met.items()
    ]


def impact(change: Data) -> str:
    """What Hydra loses by a change; "" where it does not mind."""
    return text(change, "minds")


def version_of(document: Data, agent: str, cases: list[Data]) -> str:
    """The version that these cases are of; how many, where several; "" where none is known."""
    lines = {version for case in cases if (version := text(case, "version"))}
    if len(lines) > 1:
        return f"{len(lines)} versions"
    return lines.pop() if lines else text(record(document, "versions"), agent)

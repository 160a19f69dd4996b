"""Races as data: what lanes left, how checks ended on them, and what the verdict says of it.

Each row of tests/data/races is one run's evidence; tests/data/golden/races.txt has the verdict on
all of them. A check's tests are written as `{ id = "+" }`: passed, `-` failed, `~` skipped.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.analysis.syntax import read_syntax
from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import ResultCounts, Status, TestCase, Tests
from hydra.ranking.evidence import EarlierCommit, Evidence, LaneEvidence, Note, ReviewTest
from hydra.ranking.verdict import rank
from hydra.records.outcome import Patch
from hydra.records.request import Check
from tests.support.evidences import file
from tests.support.golden_text import alike
from tests.support.rendering import verdict_document

DATA = Path(__file__).parents[1] / "data" / "races"
ENDS: Mapping[str, Status] = {"+": "passed", "-": "failed", "~": "skipped"}
Row = Mapping[str, Any]
Checks = Mapping[str, Check]


def races() -> Iterator[tuple[str, Evidence]]:
    """Every race by its name."""
    for path in sorted(DATA.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        checks = {row["name"]: Check(**row) for row in data["check"]}
        for row in data["race"]:
            yield row["name"], evidence(row, checks)


def evidence(row: Row, checks: Checks) -> Evidence:
    """One race as the judge reads it."""
    base = [result_of(each, checks) for each in row.get("base", ())]
    by_name = {result.check.name: result for result in base}
    return Evidence(
        run="r",
        base="b" * 40,
        lanes=tuple(_lane(each, checks, by_name) for each in row["lane"]),
        baseline=tuple(base if row.get("has_base", True) else ()),
        trials=tuple(_trial(each, checks, by_name) for each in row.get("trial", ())),
        not_tried=tuple(NotTried(**each) for each in row.get("not_tried", ())),
        tests=row.get("tests", {}),
        review_tests=tuple(ReviewTest(**each) for each in row.get("review_test", ())),
        notes=tuple(Note(**each) for each in row.get("note", ())),
        protected=tuple(row.get("protected", ())),
        history=tuple(
            EarlierCommit(each["oid"], each["subject"], _files(each["files"]))
            for each in row.get("history", ())
        ),
    )


def _files(rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    texts = ((path, [None if text is False else text for text in sides]) for path, *sides in rows)
    return tuple(file(path, *sides) for path, sides in texts)


def _lane(row: Row, checks: Checks, base: Mapping[str, CheckResult]) -> LaneEvidence:
    files = _files(row.get("files", ()))
    patch = Patch(
        commit="c" * 40, base="b" * 40, files=len(files), incomplete=row.get("incomplete", "")
    )
    ended = row.get("ended", "")
    results = (result_of(each, checks) for each in row.get("checks", ()))
    return LaneEvidence(
        lane=row["name"],
        adapter="claude",
        patch=patch if files else None,
        tree=row.get("tree", row["name"]),
        files=files,
        checks=tuple(compare_to_baseline(now, base.get(now.check.name)) for now in results),
        seconds=row.get("seconds", 60.0),
        ended=ended,
        status="failed" if ended else "completed",
    )


def _trial(row: Row, checks: Checks, base: Mapping[str, CheckResult]) -> Trial:
    now = result_of(row, checks)
    more = {name: row[name] for name in ("author", "configuration") if name in row}
    return Trial(
        kind=row["kind"],
        on=row["on"],
        result=compare_to_baseline(now, base.get(now.check.name)),
        paths=tuple(row.get("paths", ())),
        passes=tuple(row.get("passes", ())),
        **more,
    )


def result_of(row: Row, checks: Checks) -> CheckResult:
    """A check and how its tests ended; without tests, what it exited with."""
    ends = row.get("ends")
    code = row.get("exit_code", int("-" in {*(ends or {}).values()}))
    status = CheckStatus(row.get("status", "failed" if code else "passed"))
    again = row.get("again")
    return CheckResult(
        check=checks[row.get("check", "pytest")],
        status=status,
        reason=row.get("reason", f"it exited with {code}" if code else ""),
        exit_code=code,
        tests=None if ends is None else _tests(ends, row.get("tests", {})),
        details=f"checks/1/{row.get('check', 'pytest')}.json",
        telling=tuple(row.get("telling", ())),
        remarks=tuple(row.get("remarks", ())),
        output=row.get("output", ""),
        again=None
        if again is None
        else result_of({"check": row.get("check", "pytest"), **again}, checks),
    )


def _tests(ends: Mapping[str, str], more: Row) -> Tests:
    cases = tuple(TestCase(id, ENDS[end]) for id, end in ends.items())
    counts = ResultCounts(*more["counts"]) if "counts" in more else None
    return Tests(
        more.get("source", "junit"),
        cases,
        counts=counts,
        unnamed=frozenset[Status](more.get("unnamed", ())),
        flaky=tuple(more.get("flaky", ())),
        files={path: ResultCounts(*many) for path, many in more.get("files", {}).items()},
    )


def verdicts() -> str:
    """What is said of every race, as one text."""
    every = [*races()]
    files = [file for _, facts in every for lane in facts.lanes for file in lane.files]
    sides = [(file.path, text) for file in files for text in (file.old, file.new) if text]
    read_syntax(sides)  # by one child, and not by one a race
    return alike((name, "".join(verdict_lines(facts))) for name, facts in every)


def verdict_lines(facts: Evidence) -> Iterator[str]:
    """The verdict's document, a line for each thing that it says."""
    return document_lines(verdict_document(rank(facts), facts, {}, "/run"))


def document_lines(document: Row, *, files: bool = True) -> Iterator[str]:
    """The same of a document, as `hydra compare --json` prints it; `files` of the run, too. What a
    lane's one sentence consists of bears a number, or is its gate."""

    def place(row: Row) -> str:
        where = f"{row['path']}:{row['line']}" if row["line"] else row["path"]
        places = [*filter(None, (where, row["file"] if files else ""))]
        return f" [{', '.join(places)}]" if places else ""

    yield f"  {document['top'] or '-'}, exit {document['exit_code']}: {document['says']}\n"
    for row in document["lanes"]:
        agreed = " (agreed)" if row["agreed"] else ""
        tied = f" tied with {', '.join(row['tied'])}" if row["tied"] else ""
        yield f"  {row['rank'] or '-'} {row['lane']} {row['state']}{tied}: {row['reason']}\n"
        texts = [reason["text"] for reason in row["reasons"]]
        first = _marks(row["why"], texts)
        if not first and row["why"] not in [gate["text"] for gate in row["gates"]]:
            yield f"      because {row['why']}\n"
        if row["decision"]:
            yield f"      asked{agreed}: {row['decision']}\n"
        if row["own_version"]:
            yield f"      by its own version: {', '.join(row['own_version'])}\n"
        for gate in row["gates"]:
            yield f"      x {gate['text']}{place(gate)}\n"
        for reason in row["reasons"]:
            mark = first.pop(reason["text"], "-")
            yield f"      {mark} {reason['kind']}: {reason['text']}{place(reason)}\n"
        if row["chance"] is not None:
            yield f"      chance {row['chance']:.4f}\n"
    shown = document["confidence"]
    yield f"  sure: {shown['word']} {shown['share']} {shown['why']}\n"
    for row in document["cross"]:
        cells = ", ".join(f"{lane} {cell}" for lane, cell in row["cells"].items())
        weighs = "" if row["weighs"] else f", weighs nothing: {row['says']}"
        yield f"  {row['author']}'s {row['id']}: base {row['base']}, {cells}{weighs}\n"
    for group in document["groups"]:
        yield f"  {group['kind']}: {', '.join(group['lanes'])}\n"
    yield from (f"  {line}\n" for line in (*document["not_tried"], *document["warnings"]))


def _marks(why: str, texts: Sequence[str]) -> dict[str, str]:
    """The place in `why` of each reason that it consists of; none where it is something else."""
    rest, marks = why, dict[str, str]()
    while rest:
        parts = [
            text for text in texts if text not in marks and f"{rest}; ".startswith(f"{text}; ")
        ]
        if not parts:
            return {}
        part = max(parts, key=len)
        marks[part] = str(len(marks) + 1)
        rest = rest[len(part) + 2 :]
    return marks

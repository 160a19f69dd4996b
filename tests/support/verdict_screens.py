"""The verdict on a terminal, and as a comment: what is shown of samples, as one text."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.support import verdicts
from tests.support.rendering import comment, compare_text, steps, summary, sure
from tests.support.sample_race import PLAN, RESULT
from tests.support.verdicts import Document

SHARES = (0.82, 0.66, 0.5, 0.04, None)


def screens() -> str:
    """Each of them under its name."""
    return "\n".join(f"== {name}\n{text}" for name, text in _screens())


def _screens() -> Iterator[tuple[str, str]]:
    for name, document in _documents():
        yield name, compare_text(document, width=None)
    for name, document in (("a verdict", verdicts.verdict()), ("a tie", verdicts.tie())):
        yield (
            f"{name}, of a lane that was named",
            compare_text(document, lanes=("claude",), width=None),
        )
        yield f"{name}, in 60 columns", compare_text(document, width=60)
    for name, document in _documents()[:3]:
        yield f"{name}, as a comment", comment(document)
    yield "a verdict, as a comment on one lane", comment(verdicts.verdict(), lanes=("claude",))
    race = json.loads(json.dumps(RESULT.document(PLAN)))
    ended = {**race, "verdict": verdicts.verdict()}
    yield "a race that has ended", summary(ended, width=None)
    loose = {**ended, "confinement": {"kind": "none"}}
    yield "an unconfined race that has ended", summary(loose, width=None)
    yield "a race without a verdict", summary({**race, "verdict": None}, width=80)
    yield "how sure", "".join(f"{line}\n" for line in _sure())
    yield "what is next", "".join(f"{line}\n" for line in _steps())


def _documents() -> list[tuple[str, Document]]:
    many = [
        verdicts.cross(f"t::a_{n}", "codex", {"claude": "passed"}, weighs=False, says="flaky")
        for n in range(30)
    ]
    many.append(verdicts.cross("t::weighs", "claude", {"codex": "failed"}))
    names = [f"codex-{n}" for n in range(3, 17)]
    crowd = verdicts.verdict()
    crowd["lanes"] += [verdicts.lane(name, rank=9) for name in names]
    cells = dict.fromkeys(names, "passed") | {"claude": "failed", "codex-7": "not run"}
    crowd["cross"] = [verdicts.cross("tests/test_pager.py::test_empty", "codex", cells)]
    ids = [f"tests/test_numbers.py::test_it_counts_beyond_one_hundred[{n}-x]" for n in (1, 2)]
    same = verdicts.verdict()
    same["lanes"][1]["reasons"] = [
        verdicts.reason("cross", "fails 4 of codex's 5 new tests: t::test_edge")
    ]
    other = verdicts.verdict()
    other["lanes"][1]["reasons"] = same["lanes"][1]["reasons"]
    other["lanes"][1]["reason"] = "fixes 1 of the 2 failing tests"
    return [
        ("a verdict", verdicts.verdict()),
        ("a tie", verdicts.tie()),
        ("none that may land", verdicts.none_passing()),
        ("many tests", verdicts.verdict(cross=many)),
        ("many lanes", crowd),
        ("long names", verdicts.verdict(cross=[verdicts.cross(id, "codex", {}) for id in ids])),
        ("a patch with the first's sentence that fails its tests", same),
        ("a patch with a sentence of its own", other),
    ]


def _sure() -> Iterator[str]:
    for share in SHARES:
        for why in ("", "no new test tells the patches apart"):
            confidence = {"word": "unknown", "share": share, "why": why}
            yield f"{share} {why}: {sure({'top': 'codex', 'lanes': [], 'confidence': confidence})}"
    unknown = {"share": None, "why": "no new test tells the patches apart"}
    document = verdicts.verdict(confidence=unknown)
    yield f"two are proved: {sure(document)}"
    document["lanes"][1]["state"] = "broken"
    yield f"no other is: {sure(document)}"
    yield f"none may land: {sure({**document, 'top': None, 'confidence': {'share': 0.5}})}"
    yield f"tied: {sure({**verdicts.tie(), 'confidence': {'share': 0.3, 'why': ''}})}"


def _steps() -> Iterator[str]:
    tied = {**verdicts.tie(), "checked": True}
    tied["lanes"] = [{**lane, "adapter": "codex"} for lane in tied["lanes"]]
    untested = [{**lane, "state": "untested"} for lane in tied["lanes"]]
    alone = [tied["lanes"][0]] + [
        {**row, "gates": [verdicts.reason("gate", "why")]} for row in tied["lanes"][1:]
    ]
    cases: list[tuple[str, Document]] = [
        ("tied", {}),
        ("tied and uncommitted", {"uncommitted": True}),
        ("untested", {"lanes": untested}),
        ("asked already", {"separated": {"tests": [{}]}}),
        ("alone", {"lanes": alone}),
        ("unchecked", {"checked": False}),
        ("with a top", {"top": "codex"}),
    ]
    for name, more in cases:
        yield f"{name}:"
        yield from steps({**tied, **more})

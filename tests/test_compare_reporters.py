"""The verdict on a terminal: what it says, at every width, whatever is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from hydra.report import text
from hydra.report.document import result_document
from tests.support import verdicts
from tests.support.rendering import compare_text, race_end, steps, summary, sure, tied_for_first
from tests.support.sample_race import PLAN, RESULT
from tests.test_reporters_hostile import assert_harmless

WIDTHS = (40, 60, 80, 100, 120, 160, 200)
HOSTILE = "\u202ekcatta\u2066 \x1b[2J\x1b]52;c;ZXZpbA==\x07\x00\n## | `x` <b> @ada #1 \ud800 \u200b"
SAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "verdict": verdicts.verdict,
    "tie": verdicts.tie,
    "none": verdicts.none_passing,
}


def rows(shown: str) -> list[str]:
    """The lines of the ranks' table, without its head."""
    lines = shown.split("\n")
    at = next(i for i, line in enumerate(lines) if line.lstrip().startswith("rank"))
    return [line for line in lines[at + 1 : lines.index("", at)] if "any of its tools" not in line]


def test_the_table_has_the_columns_of_a_race_and_the_order_of_the_ranks() -> None:
    shown = compare_text(verdicts.verdict(), width=None)
    head = next(line for line in shown.split("\n") if line.lstrip().startswith("rank"))
    columns = ["rank", "lane", "state", "pytest", "+/-", "cost", "time", "why"]
    assert head.split() == columns
    first, second, third = rows(shown)
    assert first.split()[:3] == ["1", "codex", "proved"]
    assert "43 passed" in first
    assert "+6 -2" in first
    assert re.search(r"\?\s+1:12\s+fixes both failing tests, breaks nothing", first)
    assert "$0.14" in second
    assert third.split()[:4] == ["-", "codex-2", "timed", "out"]
    assert "idle for 10:00" in third


def test_each_lane_has_its_sentences_and_their_lines_in_the_patch() -> None:
    shown = compare_text(verdicts.none_passing(), width=None)
    gate = "  x changes what test_full_page expects; the base's version still fails with it "
    assert gate + "[tests/test_pager.py:9]\n" in shown
    assert "  - fixes both failures\n" in shown
    assert "how sure" not in shown
    assert "not tried\n  - the base's tests on codex-2" in shown
    assert f"files: {verdicts.FOLDER}\n" in shown


def test_only_the_lanes_that_are_named_are_told_of_in_full() -> None:
    shown = compare_text(verdicts.verdict(), lanes=("claude",), width=None)
    assert len(rows(shown)) == 3
    assert "2  claude  proved" in shown
    assert "1  codex  proved" not in shown


def test_the_answer_is_the_first_line_and_the_score_is_nowhere() -> None:
    shown = compare_text(verdicts.verdict(), width=None)
    assert shown.startswith("Land codex: ")
    assert "87.5" not in shown
    held_back = compare_text(verdicts.none_passing(), width=None)
    assert held_back.startswith("codex is held back: changes what test_full_page expects\n")


def test_the_matrix_is_capped_and_those_that_weigh_come_first() -> None:
    cross = [
        verdicts.cross(f"t::a_{n}", "codex", {"claude": "passed"}, weighs=False, says="flaky")
        for n in range(30)
    ] + [verdicts.cross("t::weighs", "claude", {"codex": "failed"})]
    shown = compare_text(verdicts.verdict(cross=cross), width=None)
    lines = [line for line in shown.split("\n") if "t::" in line]
    assert len(lines) == 20
    assert lines[0].split() == ["t::weighs", "claude", "failed", "failed", "passed"]
    assert lines[1].endswith("flaky")
    assert "and 11 more tests: --json has them all" in shown


def test_where_words_do_not_fit_the_matrix_has_signs_and_says_what_they_mean() -> None:
    names = [f"codex-{n}" for n in range(3, 17)]
    document = verdicts.verdict()
    document["lanes"] += [verdicts.lane(name, rank=9) for name in names]
    cells = dict.fromkeys(names, "passed") | {"claude": "failed", "codex-7": "not run"}
    document["cross"] = [verdicts.cross("tests/test_pager.py::test_empty", "codex", cells)]
    shown = compare_text(document, width=120)
    row = next(line for line in shown.split("\n") if "test_empty" in line)
    assert row.split()[-16:-14] == ["+", "x"]
    assert "." in row.split()[-14:]
    assert "+ passed, x failed, . not run, ? not tried" in shown
    assert "1 codex, 2 claude, 3 codex-3" in shown


def test_tests_with_long_names_differ_in_their_rows() -> None:
    ids = [f"tests/test_numbers.py::test_it_counts_beyond_one_hundred[{n}-x]" for n in (1, 2)]
    document = verdicts.verdict(cross=[verdicts.cross(name, "codex", {}) for name in ids])
    shown = compare_text(document, width=80)
    lines = [line for line in shown.split("\n") if "\u2026" in line and "codex" in line]
    assert len(lines) == 2
    for number, line in enumerate(lines, 1):
        assert line.startswith("  tests/t\u2026")
        assert f"_hundred[{number}-x]" in line


def test_a_patch_with_the_firsts_sentence_says_which_new_tests_it_fails() -> None:
    document = verdicts.verdict()
    document["lanes"][1]["reasons"] = [
        verdicts.reason("cross", "fails 4 of codex's 5 new tests: t")
    ]
    first, second, _ = rows(compare_text(document, width=None))
    assert second.endswith(f"{document['lanes'][1]['reason']}; fails 4 of codex's 5 new tests")
    assert first.endswith("(43 passed)")
    document["lanes"][1]["reason"] = "fixes 1 of the 2 failing tests"
    assert rows(compare_text(document, width=None))[1].endswith("failing tests")


def test_a_tie_is_called_one_and_both_lines_are_there() -> None:
    document = verdicts.tie()
    assert tied_for_first(document) == ["codex", "claude"]
    shown = compare_text(document, width=None)
    assert [line.split()[0] for line in rows(shown)] == ["1", "1", "-"]
    for line in ("  hydra merge codex -r k3f\n", "  hydra merge claude -r k3f\n", "are tied: look"):
        assert line in shown
    assert "land it:" not in shown
    landing = steps({**document, "uncommitted": True})
    assert "  hydra merge claude -r k3f --no-commit" in landing


def test_where_nothing_chooses_between_patches_a_question_that_would_is_offered() -> None:
    tied = {**verdicts.tie(), "checked": True}
    tied["lanes"] = [{**lane, "adapter": "codex"} for lane in tied["lanes"]]
    offer = "tell them apart: hydra compare --separate codex -r k3f"
    assert offer in steps(tied)
    untested = [{**lane, "state": "untested"} for lane in tied["lanes"]]
    assert offer in steps({**tied, "lanes": untested})
    document: dict[str, object] = {"separated": {"tests": [{}]}}
    alone = {
        "lanes": [
            tied["lanes"][0],
            *({**row, "gates": [verdicts.reason("gate", "why")]} for row in tied["lanes"][1:]),
        ]
    }
    for other in (document, alone, {"checked": False}, {"top": "codex"}):
        assert offer not in steps({**tied, **other})


def test_the_next_steps_name_their_run() -> None:
    for make in SAMPLES.values():
        lines = [line for line in steps(make()) if "hydra " in line]
        assert lines
        assert all(" -r k3f" in line for line in lines)
    assert any("--override" in line for line in steps(verdicts.none_passing()))


@pytest.mark.parametrize(
    ("confidence", "line"),
    [
        ({"share": 0.82, "why": ""}, "likely right (about 8 in 10 such winners were right"),
        ({"share": 0.66, "why": ""}, "more likely right than wrong (about 7 in 10 such winners"),
        ({"share": 0.5, "why": "w"}, "even odds (about 1 in 2 such winners were right"),
        ({"share": 0.04, "why": ""}, "more likely wrong than right (about 1 in 10 such winners"),
        ({"share": None, "why": "no new test"}, "not measured: no new test"),
        ({"share": None, "why": ""}, ""),
        ({}, ""),
    ],
)
def test_how_sure_in_words_that_fit_the_number(confidence: dict[str, Any], line: str) -> None:
    shown = sure({"top": "codex", "lanes": [], "confidence": confidence})
    assert shown.startswith(f"how sure: {line}") if line else shown == ""


def test_how_sure_is_not_asked_where_no_other_patch_is_proved_or_none_may_land() -> None:
    unknown = {"word": "unknown", "share": None, "why": "no new test tells the patches apart"}
    document = verdicts.verdict(confidence=unknown)
    assert sure(document) == f"how sure: not measured: {unknown['why']}"
    document["lanes"][1]["state"] = "broken"
    assert sure(document) == ""
    assert sure({**document, "top": None, "confidence": {"share": 0.5}}) == ""
    tied = {**verdicts.tie(), "confidence": {"share": 0.3, "why": ""}}
    assert "about 3 in 10 patches that were tied so were right" in sure(tied)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    shown = compare_text(SAMPLES[name](), width=width)
    # The baseline's line, the folder and the commands are to be read or copied in one piece.
    prose = [name for name in shown[: shown.index("files: ")].split("\n") if "baseline" not in name]
    long = [line for line in prose if text.width(line) > width]
    assert long == []
    assert "timed out" in shown  # whole, however narrow


@pytest.mark.parametrize("name", SAMPLES)
def test_a_colour_is_never_the_only_signal(name: str) -> None:
    plain = compare_text(SAMPLES[name](), width=100)
    colored = compare_text(SAMPLES[name](), width=100, color=True)
    assert colored != plain
    assert re.sub(r"\x1b\[[0-9]+m", "", colored) == plain


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [None, *WIDTHS])
def test_hostile_texts_stay_text(name: str, width: int | None) -> None:
    document = verdicts.with_texts(SAMPLES[name](), lambda text: f"{text}{HOSTILE}")
    for color in (False, True):
        assert_harmless(compare_text(document, width=width, color=color), color=color)
        whole = {"run": "r", "lanes": document["lanes"], "verdict": document}
        assert_harmless(summary(whole, width=width, color=color), color=color)
        assert_harmless(race_end(whole, width=width, color=color), color=color)


def test_a_huge_text_costs_a_line_and_not_a_screen() -> None:
    huge = "x" * 1_000_000
    document = verdicts.verdict(title=huge, says=huge, not_tried=[huge], warnings=[huge])
    document["cross"] = [verdicts.cross(huge, "codex", {"claude": "passed"}, says=huge)]
    document["lanes"][0] |= {"why": huge, "message": huge}
    document["lanes"][0]["gates"] = [verdicts.reason("gate", huge, huge, huge)]
    document["shared"][0] |= {"path": huge, "name": huge}
    assert len(compare_text(document, width=100)) < 10_000
    document = verdicts.verdict()
    document["lanes"][0]["reasons"] = [verdicts.reason("risk", "y" * 1_000_000)] * 1000
    shown = compare_text(document, width=100)
    assert len(shown) < 20_000
    assert "and 988 more: --json has them all" in shown


def test_a_race_ends_in_its_ranks() -> None:
    document = json.loads(json.dumps(result_document(PLAN, RESULT)))
    data = verdicts.verdict()
    shown = summary({**document, "verdict": data}, width=None)
    assert "2 of 3 lanes proved" in shown
    assert [line.split()[1] for line in rows(shown)] == ["codex", "claude", "codex-2"]
    assert "claude !" not in shown
    loose = {**document, "verdict": data, "confinement": {"kind": "none"}}
    assert "claude !" in summary(loose, width=None)  # that its tools are not limited is still said
    assert "Land codex: fixes both failures; smallest change\nhow sure: even odds" in shown
    assert "codex-2: timed out (idle, limit 600 s)" in shown
    assert shown.endswith(
        "land it:       hydra merge codex -r k3f\n"
        "see it:        hydra diff codex -r k3f\n"
        "side by side:  hydra compare --html --open -r k3f\n"
    )
    assert summary({**document, "verdict": None}, width=80) == summary(document, width=80)

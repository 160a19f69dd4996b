"""The verdict on a terminal: what it says, at every width, whatever is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra.reporters import text
from hydra.reporters.compare import compare_text
from hydra.reporters.document import result_document
from hydra.reporters.ending import race_end
from hydra.reporters.ranking import steps, sure, tied_for_first
from hydra.reporters.summary import summary
from tests.support import verdicts
from tests.support.sample_race import PLAN, RESULT
from tests.test_reporters_hostile import assert_harmless, nasty, value

WIDTHS = (40, 60, 80, 100, 120, 160, 200)
HOSTILE = "\u202ekcatta\u2066 \x1b[2J\x1b]52;c;ZXZpbA==\x07\x00\n## | `x` <b> @ada #1 \ud800 \u200b"
SAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "verdict": verdicts.verdict,
    "tie": verdicts.tie,
    "none": verdicts.none_mergeable,
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
    assert re.search(r"unknown\s+1:12\s+fixes both failing tests, breaks nothing", first)
    assert "$0.14" in second
    assert third.split()[:4] == ["-", "codex-2", "timed", "out"]
    assert "idle for 10:00" in third


def test_each_lane_has_its_sentences_and_their_lines_in_the_patch() -> None:
    shown = compare_text(verdicts.none_mergeable(), width=None)
    gate = "  x changes what test_full_page expects; the base's version still fails with it "
    assert gate + "[tests/test_pager.py:9]\n" in shown
    assert "  - fixes both failures\n" in shown
    assert "confidence: fair: winners like this one were right in 55% of measured cases" in shown
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
    held_back = compare_text(verdicts.none_mergeable(), width=None)
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


def test_a_tie_is_called_one_and_both_lines_are_there() -> None:
    document = verdicts.tie()
    assert tied_for_first(document) == ["codex", "claude"]
    shown = compare_text(document, width=None)
    assert [line.split()[0] for line in rows(shown)] == ["1", "1", "-"]
    for line in ("  hydra merge codex\n", "  hydra merge claude\n", "are tied: look"):
        assert line in shown
    assert "land it:" not in shown
    landing = steps({**document, "uncommitted": True}, "")
    assert "  hydra merge claude --no-commit" in landing


def test_the_next_steps_name_a_run_that_is_not_the_latest() -> None:
    for make in SAMPLES.values():
        lines = [line for line in steps(make(), "r-1") if "hydra " in line]
        assert lines
        assert all("-r r-1" in line for line in lines)
    assert any("--override" in line for line in steps(verdicts.none_mergeable(), ""))


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        ({"word": "high", "share": 0.871, "why": ""}, "high: winners like this one were right in"),
        ({"word": "unknown", "share": None, "why": "no test tells them apart"}, "no test"),
        ({"word": "unknown", "share": None, "why": ""}, None),
        ({}, None),
    ],
)
def test_confidence_in_words(confidence: dict[str, Any], said: str | None) -> None:
    shown = sure({"confidence": confidence})
    begins = "confidence: " if confidence.get("share") else "how sure this is was not measured: "
    assert shown.startswith(f"{begins}{said}") if said else shown == ""
    assert ("87%" in shown) == (confidence.get("share") == 0.871)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    shown = compare_text(SAMPLES[name](), width=width)
    # The baseline's line, the folder and the commands are to be read or copied in one piece.
    prose = [it for it in shown[: shown.index("files: ")].split("\n") if "baseline" not in it]
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


keys = st.sampled_from([*verdicts.verdict(), *verdicts.lane("claude"), "dimensions", "cells"])
odd = st.recursive(
    value, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner))
)


@settings(max_examples=40)
@given(st.dictionaries(keys, odd, max_size=8), st.sampled_from([None, 40, 100]), nasty)
def test_a_document_of_any_shape(document: dict[str, Any], width: int | None, word: str) -> None:
    assert_harmless(compare_text(document, width=width, run=word), color=False)
    assert_harmless(summary({"verdict": document, "lanes": []}, width=width), color=False)
    assert_harmless(race_end({"verdict": document, "lanes": []}, width=width), color=False)


def test_a_race_ends_in_its_ranks() -> None:
    document = json.loads(json.dumps(result_document(PLAN, RESULT)))
    told = verdicts.verdict()
    shown = summary({**document, "verdict": told}, width=None)
    assert "2 of 3 lanes proved" in shown
    assert [line.split()[1] for line in rows(shown)] == ["codex", "claude", "codex-2"]
    assert "claude !" in shown  # that its tools are not limited is still said
    assert "Land codex: fixes both failures; smallest change\nconfidence: fair" in shown
    assert "codex-2: timed out (idle, limit 600 s)" in shown
    assert shown.endswith(
        "land it:       hydra merge codex\n"
        "see it:        hydra diff codex\n"
        "side by side:  hydra compare --html --open\n"
    )
    assert summary({**document, "verdict": None}, width=80) == summary(document, width=80)

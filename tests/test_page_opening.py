"""What the page opens on, for every kind of race: the first screen is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra.report.compare import separated
from tests.support import fakes, verdicts
from tests.support.command import Hydra
from tests.support.rendering import lane_line, opening
from tests.support.verdicts import Document


def lane(name: str, state: str, reason: str, **more: Any) -> Document:
    return verdicts.lane(name, state=state, reason=reason, **more)


CLAUDE = lane("claude", "proved", "fixes both failing tests, breaks nothing (43 passed)")
NO_PATCH: Document = {"rank": None, "patch": None, "status": "failed"}
SIGNED_OUT = lane("codex", "held_back", "codex is not signed in", **NO_PATCH)


def opened(*lanes: Document, plans: dict[str, str] | None = None, **more: Any) -> Document:
    document = {**verdicts.verdict(), "checked": True, "top": None, "lanes": [*lanes], **more}
    return opening(document, plans or {})


@pytest.mark.parametrize("others", [0, 1, 15])
def test_a_lane_to_land_is_the_answer_however_many_there_are(others: int) -> None:
    broken = [lane(f"codex-{n}", "broken", "breaks test_up", rank=n + 2) for n in range(others)]
    first = opened(CLAUDE, *broken, top="claude")
    assert first["says"] == "Land claude"
    assert first["why"] == "Fixes both failing tests, breaks nothing (43 passed)."
    assert first["lines"] == ["hydra merge claude -r k3f"]
    assert first["help"] == ""


def test_an_interrupted_race_is_said_to_be_one() -> None:
    first = opened(CLAUDE, top="claude", interrupted="SIGINT")
    assert first["says"] == "Land claude"
    assert first["why"].startswith("The race was interrupted: ")
    assert first["why"].endswith(" Fixes both failing tests, breaks nothing (43 passed).")
    assert "interrupted" not in opened(CLAUDE, top="claude")["why"]


def test_a_tie_names_both_and_has_a_line_for_each() -> None:
    document: Document = {**verdicts.tie(), "checked": True}
    for row in document["lanes"][:2]:
        row |= {"state": "proved", "reason": "fixes both failing tests"}
    first: Document = opening(document, {})
    assert first["says"] == "codex and claude are tied"
    assert first["why"] == "No test tells them apart."
    assert [line.split()[2] for line in first["lines"]] == ["codex", "claude"]


def test_where_none_is_to_land_it_says_what_each_is_and_what_would_help() -> None:
    first = opened(
        lane("claude", "broken", "breaks test_up"),
        lane("codex", "held_back", "changes what test_up expects", rank=2),
        lane("codex-2", "broken", "breaks test_down", rank=3),
    )
    assert (first["says"], first["why"]) == ("No patch is proved", "2 broken, 1 held back.")
    assert "under Changes" in first["help"]
    assert first["lines"] == []


def test_an_untested_patch_is_no_answer_and_may_land_by_name() -> None:
    first = opened(lane("claude", "untested", "pytest passes with and without it"))
    assert first["says"] == "No patch is proved"
    assert first["why"] == "Untested: pytest passes with and without it."
    assert "A test that fails on the base" in first["help"]
    assert first["lines"] == ["hydra merge claude -r k3f"]


def test_lanes_that_ended_alike_are_counted_in_a_sentence() -> None:
    broken = [lane(f"codex-{n}", "broken", "breaks test_up", rank=n) for n in (1, 2)]
    assert opened(*broken)["why"] == "All 2 broken."
    idle = lane("codex", "held_back", "changed nothing", **{**NO_PATCH, "status": "no_changes"})
    assert opened(SIGNED_OUT, idle)["why"] == "1 failed, 1 changed nothing."


def test_what_has_landed_is_not_offered_again() -> None:
    first = opened(CLAUDE, top="claude", landed=["claude"])
    assert first["says"] == "claude has landed"
    assert first["why"] == "Fixes both failing tests, breaks nothing (43 passed)."
    assert first["help"] == "hydra merge --undo -r k3f takes it back."
    assert first["lines"] == []


def test_a_reason_that_begins_with_a_path_keeps_it_as_it_is() -> None:
    only = lane("claude", "broken", "tools/c: make-test fails with it, and passed on the base")
    assert opened(only)["why"].startswith("Broken: tools/c: ")
    fixes = lane("claude", "proved", "tools/c: make-test failed on the base and passes")
    assert opened(fixes, top="claude")["why"].startswith("tools/c: make-test failed")


def test_a_state_is_not_told_again_by_its_reason() -> None:
    failed = lane("codex", "held_back", "failed: API Error", **NO_PATCH)
    assert lane_line(failed, verdicts.verdict(), {})["line"] == "API Error"


def test_lanes_that_share_a_rank_say_so() -> None:
    tied = lane("claude", "broken", "breaks test_up", tied=["codex"])
    assert lane_line(tied, verdicts.verdict(), {})["place"] == "1"


def test_without_checks_nothing_is_called_proved() -> None:
    patch = lane("claude", "untested", "no check ran: `hydra check --check COMMAND` tests it")
    first = opened(patch, SIGNED_OUT, top=None, checked=False)
    assert (first["says"], first["why"]) == ("Nothing was tested", "There is no first.")
    assert "hydra check -r k3f" in first["help"]
    assert first["lines"] == []
    alone = opened(patch, top="claude", checked=False)
    assert alone["says"] == "No check ran, so nothing is proved"
    assert alone["lines"] == ["hydra merge claude -r k3f"]


def test_where_all_failed_there_is_no_line_to_land() -> None:
    first = opened(SIGNED_OUT)
    assert (first["says"], first["lines"]) == ("No lane left a patch", [])
    assert "hydra runs show" in first["help"]
    line = lane_line(SIGNED_OUT, verdicts.verdict(), {})
    assert (line["word"], line["style"]) == ("failed", "bad")
    assert line["line"] == "codex is not signed in"


SPLIT: Document = {"id": "test_zero", "counts": True, "why": ""}
SAME: Document = {"id": "test_rest", "counts": False, "why": "it passes everywhere"}


@pytest.mark.parametrize(
    ("tests", "text"),
    [
        ([SPLIT, SAME], "1 of 2 tests that codex was asked for tells patches apart"),
        ([SPLIT, SPLIT], "2 of 2 tests that codex was asked for tell patches apart"),
        (
            [SAME],
            "0 of 1 test that codex was asked for tell patches apart: it passes everywhere",
        ),
        ([], "no test that codex was asked for could be tried"),
    ],
)
def test_what_came_of_tests_that_were_asked_for_is_said_as_on_a_terminal(
    tests: list[Document], text: str
) -> None:
    shown = [test for test in tests if test["counts"]]
    document: Document = {"agent": "codex", "tests": tests, "shown": shown}
    assert opened(CLAUDE, top="claude", separated=document)["separated"] == text
    assert separated(document, None)[0] == text
    assert opened(CLAUDE, top="claude", separated=None)["separated"] == ""


@pytest.mark.slow
def test_plans_are_no_failure_and_are_carried_whole(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.say("I looked."), fakes.finish("# Plan\n\n1. Mend the slice")])
    hydra.race("-a", "claude", "--permission", "plan")
    page = Path(hydra.scratch, "plan.html")
    hydra.run("compare", "--html", str(page))
    text = page.read_text()
    assert '"says":"1 plan","why":"This race asked for plans' in text
    assert '"plan":"# Plan\\n\\n1. Mend the slice' in text

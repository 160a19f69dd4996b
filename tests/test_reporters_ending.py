"""The end of a race: the answer, the lanes, what to type; twelve lines for four lanes, and a second
for each long sentence."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hydra.report import text
from tests.support import verdicts
from tests.support.rendering import compare_text, race_end, summary, table_text, warnings

AT_80 = """\
Land codex: fixes both failing tests, breaks nothing (43 passed).
  1  codex         proved     +6 -2
  2  claude        proved     +18 -4  passes the same tests
  3  cursor-agent  held back  +6 -2   changes what
                                      test_a_full_page_has_ten_items expects
  -  codex-2       timed out  -       idle for 10:00; it left no patch

look: hydra diff codex -r k3f
why: hydra compare -r k3f
land: hydra merge codex -r k3f
warning: 3 files stay out
"""
WITHOUT_CHECKS = """\
Nothing was tested: there is no first.
  -  codex         untested   +6 -2
  -  claude        untested   +18 -4  changes no line of code, and no check ran
  -  cursor-agent  held back  +6 -2   changes what
                                      test_a_full_page_has_ten_items expects
  -  codex-2       timed out  -       idle for 10:00; it left no patch

look: hydra diff codex -r k3f
look: hydra diff claude -r k3f
look: hydra diff cursor-agent -r k3f
test them now: hydra check -r k3f --check 'npm test'
warning: 3 files stay out
"""
BINARY = {"kind": "binary", "path": "a.png", "text": "is binary"}
OWN = re.compile(
    r"mergeable|\bgates?\b|weigh|put back|base's own|usable|verdict|trial", re.IGNORECASE
)


def race(**more: Any) -> dict[str, Any]:
    """Four lanes: two that fix it, a cheat, and one that idled."""
    data = verdicts.verdict()
    cheat = verdicts.lane(
        "cursor-agent",
        rank=3,
        state="held_back",
        reason="changes what test_a_full_page_has_ten_items expects",
    )
    data["lanes"].insert(2, cheat)
    document = {
        "run": verdicts.RUN,
        "seconds": 601.0,
        "lanes": data["lanes"],
        "warnings": ["3 files stay out"],
    }
    return {**document, "verdict": {**data, **more}}


def test_the_end_of_a_race_at_80_columns() -> None:
    assert race_end(race(), width=80) == AT_80


@pytest.mark.parametrize("width", [80, 120, None])
def test_four_lanes_have_twelve_lines_and_no_word_of_hydras_own(width: int | None) -> None:
    shown = race_end(race(), width=width)
    assert len(shown.splitlines()) <= 12
    assert not OWN.search(shown)
    assert "hydra merge codex" in shown
    assert width is None or max(map(text.width, shown.splitlines())) <= width


def test_a_first_that_is_no_lane_is_none() -> None:
    """A verdict that something else wrote, or that was damaged."""
    assert race_end(race(top="nobody"), width=80).startswith("No patch is proved.\n")


def test_long_sentences_have_two_lines_each() -> None:
    document = race()
    for lane in document["verdict"]["lanes"]:
        lane["reason"] = f"{lane['lane']} fixes it, " + "and says so at great length " * 20
    assert len(race_end(document, width=80).splitlines()) <= 14


def test_without_checks_it_says_so() -> None:
    document = race(checked=False, top=None, check_now="hydra check -r k3f --check 'npm test'")
    first, second, *_ = document["verdict"]["lanes"]
    first |= {
        "state": "untested",
        "reason": "no check ran: `hydra check --check COMMAND` tests it",
    }
    second |= {"state": "untested", "reason": "changes no line of code, and no check ran"}
    assert race_end(document, width=80) == WITHOUT_CHECKS


def test_an_untested_patch_is_offered_by_name_and_a_broken_one_is_not() -> None:
    document = race(top=None)
    for lane in document["verdict"]["lanes"][:3]:
        lane |= {"state": "untested", "reason": "pytest passes with and without it"}
    shown = race_end(document, width=80)
    assert shown.startswith("No patch is proved.\n")
    assert "land it all the same: hydra merge codex" in shown
    for lane in document["verdict"]["lanes"][:3]:
        lane |= {"state": "broken", "reason": "breaks test_up, which passed on the base"}
    assert "hydra merge" not in race_end(document, width=80)


def test_warnings_are_counted_as_they_are_listed() -> None:
    document = race()
    document["baseline"] = [
        {"check": "unit", "status": "passed", "remarks": ["it writes into the checkout"]}
    ]
    document["lanes"][0]["patch"]["notes"] = ["vendor/.git was taken as files"]
    shown = race_end(document, width=80)
    assert len(warnings(document)) == 3
    assert "3 warnings: hydra runs show -r k3f" in shown


def test_what_to_look_at_is_the_winners_alone() -> None:
    document = race()
    for lane in document["verdict"]["lanes"][1:3]:
        lane["patch"]["remarks"] = [BINARY] * 2
    assert "to look at" not in race_end(document, width=80)
    document["verdict"]["lanes"][0]["patch"]["remarks"] = [BINARY]
    shown = race_end(document, width=80)
    assert "codex: 1 change to look at before you land: hydra compare -r k3f" in shown


def test_an_interrupted_lane_is_not_called_held_back() -> None:
    document = race(top=None)
    document["verdict"]["lanes"][2] |= {"status": "interrupted", "reason": "was interrupted"}
    row = next(
        splitline
        for splitline in race_end(document, width=80).splitlines()
        if "cursor-agent" in splitline
    )
    assert row.split()[2] == "interrupted"


def test_an_equal_that_fails_another_new_test_says_so() -> None:
    document = race()
    lanes = document["verdict"]["lanes"]
    lanes[1]["reason"] = lanes[0]["reason"]
    name = "t::test_a_number_is_kept"
    text = f"fails codex's 1 new test, which passes on the base: {name}"
    lanes[1]["reasons"] = [verdicts.reason("cross", text)]
    shown = race_end(document, width=None)
    assert "  fails codex's 1 new test, which passes on the base\n" in shown
    assert "same result" not in shown


def test_the_code_of_one_and_the_tests_of_the_other_are_offered_in_one_line() -> None:
    shown = race_end(race(picks=["claude:src/pager.py", "codex:tests/test a.py"]), width=80)
    line = "hydra merge --pick claude:src/pager.py --pick 'codex:tests/test a.py' -r k3f"
    assert f"\nor claude's code with codex's tests:\n{line}\n" in shown


@pytest.mark.parametrize("width", [60, 80, 110])
@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        (
            "its dependencies changed (requirements.txt) and were not installed:",
            "hydra check -r 20261121t203415-k3f --setup 'pip install -r requirements.txt'",
            "tests it with them",
        ),
        (
            "its checks did not run:",
            "`hydra check -r 20261121t203415-k3f --check COMMAND`",
            "tests it",
        ),
        (
            "tests import the installed copy of shop, not the patch:",
            "--setup '.venv/bin/python -m pip install --no-deps --force-reinstall .'",
            "installs it anew",
        ),
    ],
)
def test_a_line_to_type_is_whole_in_the_column_of_reasons(
    width: int, before: str, line: str, after: str
) -> None:
    document = race()
    lane = document["verdict"]["lanes"][1]
    lane |= {"state": "untested", "reason": f"{before} {line} {after}"}
    lane |= {"gates": [], "reasons": [verdicts.reason("base", lane["reason"])]}
    document["lanes"][1]["held_back"] = [lane["reason"]]
    shown = (
        race_end(document, width=width),
        compare_text(document["verdict"], width=width),
        summary(document, width=width),
        table_text(document, width=width, color=False),
    )
    for screen in shown:
        assert line in screen, screen
        assert f"{before} {line} {after}" in " ".join(screen.split()), screen


def test_an_unknown_cost_is_shown_as_such() -> None:
    shown = race_end(race(), width=120)
    assert "cost ?" in shown


def test_a_tie_and_a_race_that_left_nothing() -> None:
    tied = verdicts.tie()
    shown = race_end({"lanes": tied["lanes"], "verdict": tied}, width=80)
    assert shown.startswith("codex and claude are tied: no test tells them apart.\n")
    assert "\nland: hydra merge codex -r k3f\nland: hydra merge claude -r k3f\n" in shown
    idle = {"lane": "codex", "status": "timed_out", "error": {"message": "no progress for 600 s"}}
    shown = race_end({"lanes": [idle], "interrupted": "SIGINT", "seconds": 41.0}, width=80)
    assert shown.startswith("Interrupted after 0:41. No lane left a patch.\n")
    assert "no progress for 600 s" in shown
    assert shown.endswith("why: hydra runs show\n")


def test_what_a_build_left_and_what_a_note_ends_with_stay_whole() -> None:
    data = race()
    folders = [f"packages/number {at}/coverage" for at in range(3)]
    lane = data["verdict"]["lanes"][0]
    lane["made"] = [{"folder": f"{folder}/", "files": 1, "by_hand": []} for folder in folders]
    lane["files"] = [{"path": f"{at}"} for at in range(4)]
    way = "--copy data/of/the/year/in/which/it/was/measured brings it"
    note = f"a check misses {', '.join(folders)} and {folders[0]}, which your checkout has: {way}"
    data["verdict"]["warnings"] = [note]
    shown = race_end(data, width=80)
    options = " ".join(f"--except '{folder}'" for folder in folders)
    first, second = "or without what a build may have left:", f"hydra merge codex {options} -r k3f"
    assert f"\nland: hydra merge codex -r k3f\n{first}\n{second}\n" in shown
    assert f"note: {note}" in " ".join(shown.split())
    lane["files"] = lane["files"][1:]
    assert "--except" not in race_end(data, width=80), "it would leave nothing"


def test_a_lane_that_a_new_test_was_not_tried_on_is_not_said_to_pass_it() -> None:
    document = race()
    document["verdict"]["cross"][0]["cells"]["claude"] = "not tried"
    shown = race_end(document, width=None)
    assert "passes the same tests" not in shown
    assert "  fixes both failing tests, breaks nothing (43 passed)\n" in shown


def test_a_test_that_it_fails_is_said_once_in_a_row() -> None:
    document = race()["verdict"]
    for lane in document["lanes"][:2]:
        lane["reason"] = "fixes both failing tests; fails cursor-agent's new test"
    text = "fails cursor-agent's 1 new test, which passes on no other patch: t::test_b"
    document["lanes"][1]["reasons"] = [verdicts.reason("cross", text)]
    shown = compare_text(document, width=None)
    row = next(line for line in shown.splitlines() if re.match(r" +2  claude ", line))
    assert row.count("fails cursor-agent's") == 1

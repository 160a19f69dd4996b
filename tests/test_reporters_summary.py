from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.cli.streams import lines_width
from hydra.errors import AuthMissing, Refused
from hydra.records.agent import Tier
from hydra.records.codec import dump
from hydra.records.outcome import Status
from hydra.records.plan import Confinement
from hydra.report import text
from hydra.report.document import result_document
from hydra.report.dryrun import plan_text
from hydra.report.text import error_text
from tests.support.rendering import summary
from tests.support.sample_race import PLAN, RESULT, STALLED, lane_plan

AT_80 = """\
race 20261121t203415-k3f  ended in 10:01  1 of 3 lanes usable

  lane      outcome     files  +/-     tokens   cost   time
  claude !  finished        2  +18 -4   18.2k  $0.14   0:58
      Both tests pass now. \u21b5 I changed the division to round up.
  codex     no changes      0  -            ?      ?   1:12
      Nothing to do.
  codex-2   timed out       1  +3 -0     3.1k      ?  10:00
      patch INCOMPLETE: over 20,000 untracked files in node_modules; no progress
      for 600 s
  ! may use any of its tools (its own options forbid none): claude
"""

AT_120 = """\
race 20261121t203415-k3f  ended in 10:01  1 of 3 lanes usable

  lane      outcome     files  +/-     tokens   cost   time  why
  claude !  finished        2  +18 -4   18.2k  $0.14   0:58  Both tests pass now. \u21b5 I changed the division to round up.
  codex     no changes      0  -            ?      ?   1:12  Nothing to do.
  codex-2   timed out       1  +3 -0     3.1k      ?  10:00  patch INCOMPLETE: over 20,000 untracked files in
                                                             node_modules; no progress for 600 s
  ! may use any of its tools (its own options forbid none): claude
"""  # noqa: E501

REST = """
codex-2: timed out (idle, limit 600 s)
  why      no progress for 600 s
  adapter  codex
  command  /usr/bin/codex exec --json -m 'it'"'"'s me' -
  stderr   warn: reconnecting
           error: stream ended^[[2J before the answer
  next     raise --idle-timeout if the task needs long quiet stretches

warnings
  - 3 changed files stay out
  - codex-2: vendor/.git was taken as files
  - codex-2: left running and ended by Hydra: node server.js

see it:        hydra diff claude -r k3f
land it still: hydra merge claude -r k3f --override "why it may land"
"""


def test_what_an_agents_own_options_forbid_is_said_where_nothing_else_confines_it() -> None:
    confined = result_document(PLAN, RESULT)
    assert confined["confinement"]["kind"] == "bwrap"  # type: ignore[index]
    shown = summary(confined, width=80)
    assert "its own options" not in shown
    assert " ! " not in shown


@pytest.mark.parametrize(("width", "picture"), [(80, AT_80), (120, AT_120)])
def test_the_end_of_a_race(width: int, picture: str) -> None:
    unconfined = result_document(PLAN, RESULT) | {"confinement": {"kind": "none"}}
    assert summary(unconfined, width=width) == picture + REST
    colored = summary(unconfined, width=width, color=True)
    assert colored != picture + REST
    assert re.sub(r"\x1b\[[0-9]+m", "", colored) == picture + REST


def test_in_a_pipe_each_lane_is_one_line() -> None:
    lines = summary(result_document(PLAN, RESULT), width=None).split("\n")
    (row,) = [line for line in lines if line.startswith("  codex-2 ")]
    assert row.endswith("in node_modules; no progress for 600 s")


def test_the_record_gives_the_same_summary() -> None:
    recorded = json.loads(dump(result_document(PLAN, RESULT)))
    assert summary(recorded, width=80) == summary(result_document(PLAN, RESULT), width=80)


def test_a_race_from_before_there_were_verdicts_lands_without_a_reason() -> None:
    document = result_document(PLAN, RESULT)
    del document["verdict"]
    shown = summary(document, width=80)
    assert shown.endswith(
        "\n\nland it:  hydra merge claude -r k3f\nsee it:   hydra diff claude -r k3f\n"
    )


def test_an_interrupted_race_with_nothing_to_show() -> None:
    failed = replace(
        RESULT.outcomes[2], status=Status.NOT_STARTED, patch=None, failure=STALLED, warnings=()
    )
    shown = summary(
        result_document(PLAN, replace(RESULT, outcomes=(failed,), interrupted=2)), width=80
    )
    assert "interrupted by SIGINT after 10:01  0 of 1 lane usable" in shown
    assert "not started      -  -" in shown
    assert "hydra diff" not in shown


def test_a_failed_lane_says_that_its_patch_is_kept() -> None:
    whole = replace(RESULT.outcomes[0], status=Status.FAILED, failure=STALLED)
    shown = summary(result_document(PLAN, replace(RESULT, outcomes=(whole,))), width=None)
    assert "no progress for 600 s; its patch is kept" in shown
    assert "hydra diff claude" in shown


def test_a_patch_that_is_not_usable_is_looked_at_first() -> None:
    cut = replace(RESULT.outcomes[0], status=Status.INTERRUPTED, failure=STALLED)
    shown = summary(result_document(PLAN, replace(RESULT, outcomes=(cut,))), width=None)
    assert shown.endswith(
        "see it:        hydra diff claude -r k3f\n"
        'land it still: hydra merge claude -r k3f --override "why it may land"\n'
    )


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ([{"cost_usd": 0.25}], "claude is try 2 of 2; the other cost $0.25 more"),
        (
            [{"cost_usd": 0.25}, {"cost_usd": None}],
            "claude is try 3 of 3; the others cost at least $0.25 more",
        ),
        ([{"cost_usd": None}], "claude is try 2 of 2; the other told no cost"),
    ],
)
def test_what_a_lane_cost_before_its_last_try_is_told(
    others: list[dict[str, object]], line: str
) -> None:
    document = result_document(PLAN, replace(RESULT, outcomes=RESULT.outcomes[:1]))
    (lane,) = json.loads(json.dumps(document["lanes"]))
    tries = [{"attempt": n, "status": "failed", "usage": row} for n, row in enumerate(others, 1)]
    last = {"attempt": len(tries) + 1, "status": "completed"}
    shown = {**lane, **last, "attempts": [*tries, last]}
    assert f"\n  {line}\n" in summary({**document, "lanes": [shown]}, width=80)
    tries[0] |= {"usage": {}, "usage_estimate": {"cost_usd": 0.5, "prices_of": None, "source": ""}}
    assert "~$0.50 more" in summary({**document, "lanes": [shown]}, width=80)


def test_a_large_figure_of_a_failure_is_shown_in_digits() -> None:
    large = replace(STALLED, numbers={"limit": 8388608.0, "share": 0.25})
    cut = replace(RESULT.outcomes[0], status=Status.FAILED, failure=large)
    shown = summary(result_document(PLAN, replace(RESULT, outcomes=(cut,))), width=None)
    assert "limit 8388608 s, share 0.25 s" in shown


def test_the_dry_run_shows_the_exact_lines() -> None:
    shown = plan_text(PLAN, width=80)
    line = """  $ /usr/bin/codex exec --json --title 'it'"'"'s'\n"""
    line += "  gets         the task, on its standard input\n"
    assert shown.count(line) == 2
    assert "  $ cd /var/lib/hydra/g/1f3a9c00/codex-2/shop\n" in shown
    assert "  sets         CI\n  passes on    ANTHROPIC_API_KEY, PATH\n" in shown
    assert "value-never-shown" not in shown
    assert "- an agent writes only in its lane" in shown
    assert "limits       idle 10:00, one tool call 20:00, what is left running 2:00, total" in shown
    assert (
        "claude: Claude Code 2.1.330  (default, ! may use any tool, permission full-auto)" in shown
    )
    assert "--gone is gone from the help: left out" in shown
    assert shown.endswith("nothing was started: 3 of 3 lanes would start\n")
    assert max(map(text.width, shown.split("\n"))) <= 80


def test_the_dry_run_names_lanes_that_will_not_start() -> None:
    plan = replace(
        PLAN,
        lanes=(replace(lane_plan("codex", "codex", failure=STALLED), tier=Tier.EXPERIMENTAL),),
        confinement=Confinement(kind="none", reason="bwrap was not found"),
        network=False,
    )
    shown = plan_text(plan, width=None)
    assert "not confined" in shown
    assert "confinement  none (bwrap was not found)" in shown
    assert "network      off" in shown
    assert "will not start\n  why      no progress for 600 s" in shown
    assert "(experimental, permission" in shown
    assert "0 of 1 lane would start" in shown


def test_errors_say_what_and_what_next() -> None:
    refused = Refused("no commit yet", hint="make a first commit")
    assert error_text(refused) == "error: no commit yet\nhint: make a first commit\n"
    assert error_text(Refused("x\x1b[2J")) == "error: x^[[2J\n"
    folded = Refused("the first line is long\n  a/path: in the way", hint="add it, or let it be")
    assert error_text(folded, width=29) == (
        "error: the first line is long\n  a/path: in the way\nhint: add it, or let it be\n"
    )
    assert error_text(folded, width=28) == (
        "error: the first line is\n       long\n  a/path: in the way\nhint: add it, or let it be\n"
    )
    assert error_text(refused, color=True).startswith("\x1b[31merror:\x1b[0m no commit")
    pasted = Refused("no", hint='git fetch "$(hydra runs path)/patches.git"')
    assert error_text(pasted, width=28) == f"error: no\nhint: {pasted.hint}\n"
    auth = AuthMissing(
        "the key was refused", adapter="claude", command=("claude", "-p"), stderr="401\n\nno\n",
        hint="run claude and type /login",
    )  # fmt: skip
    assert error_text(auth) == (
        "error: the key was refused\n"
        "  adapter  claude\n"
        "  command  claude -p\n"
        "  stderr   401\n"
        "           no\n"
        "hint: run claude and type /login\n"
    )


def test_an_error_in_a_log_is_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")  # a runner of tests or jobs may set it
    with Path(os.devnull).open("w") as log:
        assert lines_width(log) is None

from __future__ import annotations

import io
from typing import Any

import pytest

from hydra.records.codec import as_json
from hydra.records.events import decode, encode
from hydra.report.phrases import describe, headlines, opening
from hydra.report.stream import JsonLines, PlainLines
from tests.support.event_kinds import HYDRA_KINDS
from tests.support.sample_race import PLAN, RUN, STALLED, Tape, events

LINES = """\
 0:00 hydra      race 20261121t203415-k3f  base 4be1c02 (main)  3 lanes  confined
 0:00 hydra      warning: 3 changed files stay out (--include-dirty)
 0:00 claude     making its copy of the checkout
 0:00 claude     its copy is ready
 0:00 claude     agent started
"""


def test_one_line_for_what_matters() -> None:
    out: list[str] = []
    plain = PlainLines(out.append)
    for event in events():
        plain.event(event)
    plain.tick(100.0)
    plain.close()
    text = "".join(out)
    assert text.startswith(LINES)
    assert text.endswith(" 0:41 claude     Edit src/pager.py\n 0:52 codex      $ pytest -q\n")
    assert "Let me look" not in text


def test_the_beginning_has_a_line_for_each_thing_that_it_says() -> None:
    out: list[str] = []
    data: dict[str, Any] = {"guessed": ["npm test"], "check_runs": 3, "trial_time": 600}
    PlainLines(out.append).event(Tape()(0.0, "run_started", lanes=["a"], **data))
    assert len(out) == 3
    assert " 0:00 hydra      check: npm test (guessed; --no-check to do without)\n" in out


@pytest.mark.parametrize(
    ("kind", "sub", "data", "text"),
    [
        ("tool_result", "", {"ok": True, "summary": "x"}, ""),
        ("tool_result", "", {"ok": False, "summary": "exit 1"}, "failed: exit 1"),
        ("tool_result", "", {"denied": True, "summary": "Bash"}, "denied: Bash"),
        ("progress", "retry", {"attempt": 3, "of": 10, "status": 401}, "retry 3 of 10, status 401"),
        ("progress", "retry", {"retry_after": 30.0, "text": "slow"}, "in 30 s, slow"),
        ("failed", "", {"message": "out of credit"}, "error: out of credit"),
        ("completed", "", {"text": "all\ngood"}, "says it is done: all \u21b5 good"),
        ("progress", "closing", {"ok": True, "text": "all\ngood"},
         "says it is done: all \u21b5 good"),
        ("progress", "closing", {"ok": False, "text": "out of credit"}, "error: out of credit"),
        ("limit_warning", "waiting", {"limit": "background", "of": 120, "for": ["npm run dev"]},
         "has finished; waits for npm run dev (at most 2:00)"),
        ("usage", "", {"input_tokens": 1}, ""),
        ("run_interrupted", "", {"signal": "SIGINT", "times": 2},
         "SIGINT again: killing the agents at once; the patches are left to recovery"),
        ("setup_ended", "", {"command": "npm ci", "exit_code": None, "seconds": 900},
         "set-up was ended after 15:00: $ npm ci"),
        ("limit_warning", "", {"limit": "idle", "seconds": 300, "of": 600},
         "half of its idle limit has passed without progress: 5:00 of 10:00"),
        ("limit_warning", "", {"limit": "total", "seconds": 1800, "of": 3600},
         "half of its time is used: 30:00 of 1:00:00"),
        ("attempt_ended", "", {"status": "failed", "seconds": 4, "error": {"kind": "AgentFailed",
         "message": "429"}}, "this try: failed in 0:04: 429"),
        ("lane_retrying", "", {"attempt": 2, "after": "rate_limit", "seconds": 70},
         "try 2 begins in 1:10, after rate limit"),
        ("stopping", "", {"reason": "sign_in", "signal": "SIGTERM"},
         "stopping (sign in): SIGTERM sent"),
        ("agent_exited", "", {"code": None, "signal": 9, "seconds": 3, "survivors": ["node"]},
         "agent ended by signal 9 after 0:03; left running and ended: node"),
        ("patch_taken", "", {"files": 1, "insertions": 6, "deletions": 2},
         "patch taken: 1 file, +6 -2"),
        ("patch_taken", "", {"files": 0, "incomplete": "disk full"},
         "patch taken: no changes; INCOMPLETE: disk full"),
        ("lane_ended", "", {"status": "timed_out", "seconds": 600, "error": as_json(STALLED)},
         "timed out in 10:00: no progress for 600 s"),
    ],
)  # fmt: skip
def test_what_is_said_of_an_event(kind: str, sub: str, data: dict[str, object], text: str) -> None:
    assert describe(Tape()(1.0, kind, "x", sub, **data)) == text


def test_a_closing_line_is_told_when_it_is_said_and_not_again_at_the_end() -> None:
    e = Tape()
    lines: list[str] = []
    printer = PlainLines(lines.append)
    for fact in (
        e(1.0, "progress", "x", "closing", ok=True, text="done"),
        e(9.0, "completed", "x", text="done"),
        e(9.5, "agent_started", "x"),
        e(11.0, "completed", "x", text="done"),
    ):
        printer.event(fact)
    assert [line.split()[0] for line in lines if "says it is done" in line] == ["0:01", "0:11"]


def test_a_long_warning_is_cut_in_the_race_and_says_where_all_of_it_is() -> None:
    event = Tape()(1.0, "run_warning", text="long " * 100)
    text = describe(event)
    assert len(text) < 240
    assert text.endswith(f"(whole: hydra runs show {event.run})")
    assert describe(Tape()(1.0, "lane_warning", "x", text="short")) == "warning: short"


def test_the_start_says_what_the_dry_run_says() -> None:
    assert opening(next(events())) == headlines(PLAN)[:1]  # its checks are not in the sample
    assert describe(Tape()(0.0, "run_started", lanes=["a"])) == f"race {RUN}  1 lane"


def test_the_start_says_where_its_checks_run() -> None:
    data: dict[str, Any] = {
        "lanes": ["a", "b"],
        "checks": ["pytest"],
        "check_runs": 3,
        "trial_time": 5400,
    }
    assert describe(Tape()(0.0, "run_started", **data)).endswith(
        "checks: pytest  they run on the base and on 2 patches, twice where they fail; "
        "then each patch's new tests run on the others (1 hour 30 minutes at most)"
    )
    assert "at most" not in describe(Tape()(0.0, "run_started", **data | {"trial_time": 0}))
    assert "they run" not in describe(Tape()(0.0, "run_started", **data | {"check_runs": 0}))


@pytest.mark.parametrize("kind", HYDRA_KINDS)
def test_every_kind_of_hydras_own_has_a_line_even_without_data(kind: str) -> None:
    assert describe(Tape()(1.0, kind, "x"))


def test_events_go_out_as_they_are_recorded() -> None:
    out = io.BytesIO()
    lines = JsonLines(out.write)
    hostile = Tape()(1.0, "message", "x", text="\x1b]52;c;x\x07\x7f\x9b\u202e\ud800\u2028\n")
    lines.event(hostile)
    lines.tick(1.0)
    lines.close()
    sent = out.getvalue()
    assert sent == encode(hostile)
    assert all(0x20 <= byte < 0x7F for byte in sent[:-1])
    assert decode(sent) == hostile
    lines.lines(sent + sent)
    assert out.getvalue() == sent * 3


def test_a_record_that_somebody_else_wrote_to_is_safe_on_a_terminal() -> None:
    out = io.BytesIO()
    output = encode(Tape()(1.0, "message", "x", text="ESC"))
    JsonLines(out.write).lines(output + output.replace(b"ESC", "\x7f\u202e\x9b".encode()))
    first, second = out.getvalue().splitlines(keepends=True)
    assert first == output
    assert second == output.replace(b"ESC", b"\\u007f\\u202e\\u009b")

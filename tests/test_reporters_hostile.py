"""Whatever an agent writes, no reporter sends a raw control character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.errors import KINDS as ERROR_KINDS
from hydra.errors import AgentError, Failure
from hydra.records.codec import dump
from hydra.records.events import AGENT_KINDS, HYDRA_KINDS, Event
from hydra.records.outcome import ExitStatus, Outcome, Patch, Status, Usage
from hydra.report import doctor, listing, runs
from hydra.report.document import error_document, plan_document, result_document
from hydra.report.dryrun import plan_text
from hydra.report.hunks import shown as shown_diff
from hydra.report.live import LiveTable
from hydra.report.stream import PlainLines
from hydra.report.summary import summary
from hydra.report.text import error_text
from tests.support.sample_agents import AGENTS, CHECKS, RUNS
from tests.support.sample_race import PLAN, RESULT
from tests.support.screen import Screen

nasty = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x9b\x9d\x07\x7f\r\n\t[]\\;0m2JHc \u202e\u2066\u200b\u2028\ud800\u0301"
        ),
        st.characters(),
    ),
    max_size=40,
)
names = st.one_of(nasty, st.sampled_from(["total", "idle", "SIGINT", "completed", ""]))
value = st.one_of(
    nasty,
    names,
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.lists(nasty, max_size=3),
    st.dictionaries(st.sampled_from(["kind", "message", "reason"]), nasty),
)
FIELDS = (
    "text", "id", "name", "summary", "denied", "ok", "command", "exit_code", "seconds", "limit",
    "reason", "signal", "survivors", "files", "insertions", "deletions", "incomplete", "status",
    "error", "message", "terminal", "lanes", "times", "worktree", "input_tokens", "output_tokens",
    "cost_usd", "base", "base_name", "confined", "soft", "limits", "of", "attempt",
    "retry_after", "code", "usable",
)  # fmt: skip
event = st.builds(
    Event,
    seq=st.integers(1, 9),
    wall=st.just(0.0),
    mono=st.floats(0, 1e6),
    run=st.just("r"),
    kind=st.sampled_from(sorted({*AGENT_KINDS, *HYDRA_KINDS})),
    sub=st.sampled_from(["", "session", "retry", "unknown"]),
    source=st.sampled_from(["agent", "hydra"]),
    lane=st.one_of(st.sampled_from(["", "claude", "codex"]), nasty),
    data=st.dictionaries(st.sampled_from(FIELDS), value, max_size=6),
)
failure = st.builds(
    Failure,
    kind=st.one_of(st.sampled_from(sorted(ERROR_KINDS)), nasty),
    message=nasty,
    adapter=nasty,
    command=st.lists(nasty, max_size=3).map(tuple),
    stderr=nasty,
    hint=nasty,
    reason=nasty,
    numbers=st.dictionaries(nasty, st.floats(), max_size=2),
)
patch = st.builds(
    Patch, commit=nasty, base=nasty, files=st.integers(0, 9), incomplete=nasty,
    notes=st.lists(nasty, max_size=2).map(tuple),
)  # fmt: skip
outcome = st.builds(
    Outcome,
    lane=st.sampled_from(["claude", "codex", "codex-2"]),
    attempt=st.just(1),
    status=st.sampled_from(list(Status)),
    failure=st.one_of(st.none(), failure),
    patch=st.one_of(st.none(), patch),
    usage=st.builds(Usage, input_tokens=st.integers(0), cost_usd=st.floats()),
    exit=st.builds(ExitStatus, survivors=st.lists(nasty, max_size=2).map(tuple)),
    message=nasty,
    session=nasty,
    warnings=st.lists(nasty, max_size=2).map(tuple),
)
widths = st.sampled_from([20, 40, 80, 120])


def assert_harmless(shown: str, *, color: bool) -> None:
    if color:
        shown = re.sub(r"\x1b\[(?:0|1|2|31|32|33|36)m", "", shown)
    bad = [
        name for name in shown
        if name != "\n" and unicodedata.category(name) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]  # fmt: skip
    assert not bad, f"{bad!r} in {shown!r}"


@settings(max_examples=60, deadline=None)
@given(st.lists(event, max_size=12), widths, st.booleans())
def test_live_and_plain(events: list[Event], width: int, color: bool) -> None:
    screen = Screen(width, 12)  # it refuses any byte that the table has no business to send
    live = LiveTable(screen.write, lambda: (width, 12), color)
    plain = PlainLines(lambda line: assert_harmless(line, color=False))
    now = 0.0
    for fact in sorted(events, key=lambda fact: fact.mono):
        now = max(now, fact.mono)
        live.event(fact)
        live.tick(now)
        plain.event(fact)
    live.close()
    assert screen.wraps
    assert_harmless(screen.picture(), color=False)


@settings(max_examples=60, deadline=None)
@given(st.lists(outcome, max_size=3), nasty, widths, st.booleans())
def test_summary_and_documents(
    outcomes: list[Outcome], title: str, width: int, color: bool
) -> None:
    named = {
        lane.id: replace(lane, label=title, version=title, warnings=(title,)) for lane in PLAN.lanes
    }
    plan = replace(
        PLAN,
        title=title,
        prompt=title,
        base_name=title,
        lanes=tuple(named.values()),
        warnings=(title,),
    )
    result = replace(RESULT, outcomes=tuple(outcomes))
    assert_harmless(summary(result_document(plan, result), width=width, color=color), color=color)
    assert_harmless(plan_text(plan, width=width, color=color), color=color)
    for document in (result_document(plan, result), plan_document(plan)):
        assert_harmless(dump(document), color=False)


@given(st.dictionaries(st.sampled_from(["run", "lanes", "seconds", "interrupted"]), value))
def test_a_record_of_any_shape(document: dict[str, object]) -> None:
    assert_harmless(summary(document, width=80), color=False)


@given(failure, st.booleans())
def test_errors(given: Failure, color: bool) -> None:
    error = AgentError(
        given.message, adapter=given.adapter, command=given.command, stderr=given.stderr,
        hint=given.hint,
    )  # fmt: skip
    assert_harmless(error_text(error, color=color), color=color)
    assert_harmless(dump(error_document(error)), color=False)


@settings(max_examples=40, deadline=None)
@given(nasty, failure, widths, st.booleans())
def test_lists(word: str, broken: Failure, width: int, color: bool) -> None:
    row, check, run = AGENTS[0], CHECKS[0], RUNS[0]
    assert row.detection is not None
    result = replace(
        row.detection, version=word, warnings=(word,), sign_in_detail=word, error=broken,
        binary=Path("/" + word.replace("\x00", "")),
    )  # fmt: skip
    agent = replace(row, detection=result)
    shown = (
        listing.agents_table([agent], width=width, color=color),
        listing.agent_text(agent, (word,), width=width, color=color),
        doctor.doctor_text(
            [replace(check, text=word, hint=word)], [agent], width=width, color=color
        ),
        runs.runs_table([replace(run, title=word, lanes=((word, word),))], width=width),
        runs.run_text(replace(run, title=word, folder=word), "", width=width, color=color),
    )
    for name in shown:
        assert_harmless(name, color=color)


@given(st.binary(max_size=60))
def test_diffs(diff: bytes) -> None:
    for shown in _lines(shown_diff(diff, color=False)):
        assert_harmless(shown.replace("\t", ""), color=False)


def _lines(text: bytes) -> Iterator[str]:
    yield from text.decode().split("\n")

"""Whatever an agent writes, no reporter sends a raw control character; what shows events, results
and verdicts is held to it in test_stream_storm.py."""

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
from hydra.report import doctor, listing, runs
from hydra.report.document import error_document, plan_document
from hydra.report.dryrun import plan_text
from hydra.report.hunks import shown as shown_diff
from hydra.report.text import error_text
from tests.support.sample_agents import AGENTS, CHECKS, RUNS
from tests.support.sample_race import PLAN

nasty = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x9b\x9d\x07\x7f\r\n\t[]\\;0m2JHc \u202e\u2066\u200b\u2028\ud800\u0301"
        ),
        st.characters(),
    ),
    max_size=40,
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
@given(nasty, widths, st.booleans())
def test_a_plan(title: str, width: int, color: bool) -> None:
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
    assert_harmless(plan_text(plan, width=width, color=color), color=color)
    assert_harmless(dump(plan_document(plan)), color=False)


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

"""How an attempt ended: exit 0 is never believed alone, and the work is never forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters.contract import Descriptor
from hydra.process.records import End
from hydra.race.outcome import AttemptEvidence, classify
from hydra.race.output import OutputCounts
from hydra.race.policy import COST, TOOL_CALLS, TURNS
from hydra.race.transcript import AgentTranscript
from hydra.records.agent import Tier
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus, Patch, Status
from hydra.records.request import Budget, Limits

DESCRIPTOR = Descriptor(
    key="claude",
    label="Claude Code",
    homepage="",
    tier=Tier.TIER1,
    binaries=("claude",),
    sign_in_hint="run `claude` once and sign in",
    exit_codes={42: "no prompt"},
)
WORK = Patch(commit="c" * 40, base="b" * 40, files=2, insertions=3)
NOTHING = Patch(commit="b" * 40, base="b" * 40)
DONE = AgentEvent("completed", data={"text": "done", "denials": [], "failed_items": 0})
QUOTA = AgentEvent(
    "failed",
    data={
        "error": "AgentFailed",
        "reason": "rate_limit",
        "message": "429",
        "numbers": {"retry_after": 30},
        "terminal": True,
    },
)


def evidence(
    *events: AgentEvent, code: int | None = 0, patch: Patch | None = WORK
) -> AttemptEvidence:
    story = AgentTranscript()
    for event in events:
        story.add(event)
    return AttemptEvidence(
        run="r1",
        lane="claude",
        attempt=1,
        descriptor=DESCRIPTOR,
        command=("claude", "-p"),
        transcript=story,
        end=End(ExitStatus(code=code), "", 1.0),
        patch=patch,
        patch_error="" if patch else "the worktree is gone",
        stderr="oh",
        counts=OutputCounts(),
        limits=Limits(idle=60),
    )


def ended(seen: AttemptEvidence, **changes: Any) -> AttemptEvidence:
    return replace(seen, end=seen.end._replace(**changes))


@pytest.mark.parametrize(
    ("event", "refused"),
    [
        (AgentEvent("progress", "retry", {"status": 401}), True),
        (AgentEvent("progress", "retry", {"status": 500}), False),
        (AgentEvent("failed", "", {"error": "AuthMissing", "terminal": False}), True),
        (AgentEvent("message", "", {"text": "401", "status": 401}), False),
        (QUOTA, False),
    ],
)
def test_a_refused_sign_in_is_known_by_the_agents_word(event: AgentEvent, refused: bool) -> None:
    assert evidence(event).transcript.sign_in_refused is refused


DENIED = DONE._replace(data={"denials": ["Bash", "Edit"]})
BROKEN = DONE._replace(data={"failed_items": 2})
CUT = replace(NOTHING, incomplete="incomplete: disk full")
ENDS: list[tuple[AttemptEvidence, Status, str | None, str]] = [
    (evidence(DENIED, patch=NOTHING), Status.NO_CHANGES, "permission_denied", "Bash, Edit"),
    (evidence(BROKEN, patch=NOTHING), Status.FAILED, "failed_items", ""),
    (evidence(QUOTA, DONE), Status.COMPLETED, "", ""),  # the agent has recovered
    (evidence(DONE, patch=None), Status.FAILED, "patch_lost", ""),  # and never no changes
    (evidence(DONE, patch=CUT), Status.FAILED, None, ""),  # nor so
    (evidence(), Status.FAILED, "no_terminal_event", ""),  # exit 0 alone is not believed
    (evidence(DONE, code=42), Status.FAILED, None, "42 (no prompt)"),
    (
        ended(evidence(DONE), exit=ExitStatus(signal=11)),
        *(Status.FAILED, None, "died by signal 11"),
    ),
]


@pytest.mark.parametrize(("seen", "status", "reason", "part"), ENDS)
def test_how_an_attempt_ended(
    seen: AttemptEvidence, status: Status, reason: str | None, part: str
) -> None:
    """By status, the failure's reason where one is asked for, and a part of what it says."""
    outcome = classify(seen)
    assert outcome.status is status
    assert outcome.usable is (status is Status.COMPLETED)
    assert outcome.patch == seen.patch
    failure = outcome.failure
    assert reason is None or reason == (failure.reason if failure else "")
    assert part in (failure.message if failure else "")


@pytest.mark.parametrize(
    ("stopped", "budget", "text", "part"),
    [
        (TURNS, Budget(turns=1), "it has used its budget of 1 turn", "turns"),
        (TOOL_CALLS, Budget(tool_calls=2), "it has used its budget of 2 tool calls", "tool_calls"),
        (COST, Budget(cost_usd=0.5), "it has used its budget of $0.5", "cost"),
        ("total", Budget(seconds=4), "the total limit of 4 s was reached", "time"),
    ],
)
def test_a_budget_that_ended_a_lane_is_what_it_is_told_to_raise(
    stopped: str, budget: Budget, text: str, part: str
) -> None:
    seen = ended(replace(evidence(), budget=budget, limits=Limits(total=4)), stopped=stopped)
    failure = classify(seen).failure
    assert failure is not None
    assert failure.message == text
    assert failure.hint == f"raise {part} in [budget] of hydra.toml, or in the lane's profile"


def test_a_closing_event_in_a_line_that_was_too_long_names_the_limit() -> None:
    outcome = classify(replace(evidence(), counts=OutputCounts(oversized=1)))
    assert outcome.failure is not None
    assert outcome.failure.reason == "no_terminal_event"
    assert "raise limits.line" in outcome.failure.hint


def test_a_budget_in_dollars_that_nothing_could_keep_is_told() -> None:
    attempt_evidence = replace(evidence(DONE), budget=Budget(cost_usd=0.5))
    text = "its agent told no cost: nothing could hold it to its budget of $0.5"
    assert text in classify(attempt_evidence).warnings
    keeps = replace(DESCRIPTOR, budgets=("turns", "cost_usd"))
    assert text not in classify(replace(attempt_evidence, descriptor=keeps)).warnings
    facts = evidence(DONE, AgentEvent("usage", data={"cost_usd": 0.1}))
    assert text not in classify(replace(facts, budget=Budget(cost_usd=0.5))).warnings
    assert text not in classify(replace(attempt_evidence, budget=Budget(turns=3))).warnings

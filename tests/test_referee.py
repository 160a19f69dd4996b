"""Pure decisions: what an event means for the race."""

from __future__ import annotations

from hydra.race.policy import HURRIED, PolicyState, StopAll, StopLane, decide
from hydra.records.events import Event


def event(kind: str, **more: object) -> Event:
    source = "agent" if kind == "failed" else "hydra"
    return Event(seq=1, wall=0, mono=0, run="r", kind=kind, lane="codex", source=source, data=more)


def test_term_and_hup_leave_less_time() -> None:
    for name in ("SIGTERM", "SIGHUP"):
        _, actions = decide(PolicyState(), event("run_interrupted", signal=name))
        assert actions == (StopAll("interrupt", HURRIED),)


def test_a_refused_sign_in_ends_its_lane_and_no_other_failure_does() -> None:
    _, actions = decide(PolicyState(), event("failed", error="AuthMissing", terminal=True))
    assert actions == (StopLane("codex", "sign_in"),)
    for data in (
        {"error": "AuthMissing", "terminal": False},
        {"error": "AgentFailed", "terminal": True},
    ):
        assert decide(PolicyState(), event("failed", **data)) == (PolicyState(), ())


def test_hydras_own_words_are_not_taken_for_the_agents() -> None:
    own = Event(
        seq=1,
        wall=0,
        mono=0,
        run="r",
        kind="failed",
        lane="x",
        data={"error": "AuthMissing", "terminal": True},
    )
    assert decide(PolicyState(), own)[1] == ()

"""Pure decisions: what an event means for the race."""

from __future__ import annotations

from hydra.events import Event
from hydra.referee import HURRIED, KillAll, State, StopAll, StopLane, step


def event(kind: str, **more: object) -> Event:
    source = "agent" if kind == "failed" else "hydra"
    return Event(seq=1, wall=0, mono=0, run="r", kind=kind, lane="codex", source=source, data=more)


def test_ctrl_c_once_stops_in_order_and_twice_kills() -> None:
    state, actions = step(State(), event("run_interrupted", signal="SIGINT"))
    assert actions == (StopAll("interrupt", None),)
    _, actions = step(state, event("run_interrupted", signal="SIGINT"))
    assert actions == (KillAll("interrupt"),)


def test_term_and_hup_leave_less_time() -> None:
    for name in ("SIGTERM", "SIGHUP"):
        _, actions = step(State(), event("run_interrupted", signal=name))
        assert actions == (StopAll("interrupt", HURRIED),)


def test_a_disk_at_its_floor_ends_every_lane_in_order() -> None:
    low = event("run_warning", free=1, floor=2)._replace(sub="disk_floor")
    assert step(State(), low) == (State(), (StopAll("disk_floor", HURRIED),))
    assert step(State(), event("run_warning", text="a warning"))[1] == ()


def test_a_refused_sign_in_ends_its_lane_and_no_other_failure_does() -> None:
    _, actions = step(State(), event("failed", error="AuthMissing", terminal=True))
    assert actions == (StopLane("codex", "sign_in"),)
    for data in (
        {"error": "AuthMissing", "terminal": False},
        {"error": "AgentFailed", "terminal": True},
    ):
        assert step(State(), event("failed", **data)) == (State(), ())


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
    assert step(State(), own)[1] == ()

"""The nursery and the one order of events, with attempts that are plain coroutines."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing
from msgspec.structs import replace

from hydra.errors import Failure
from hydra.race.context import AttemptControl as Control
from hydra.race.context import Emit
from hydra.race.scheduler import RaceScheduler
from hydra.records.agent import BuiltCommand, Tier
from hydra.records.outcome import Outcome, Status
from hydra.records.plan import Confinement, LanePlan, RacePlan
from hydra.records.request import Limits, Permission


def lane(name: str, failure: Failure | None = None) -> LanePlan:
    return LanePlan(
        id=name,
        adapter="claude",
        label="Claude Code",
        tier=Tier.TIER1,
        sandbox="hard",
        version="1",
        worktree=Path("/w") / name,
        permission=Permission.EDIT,
        built=BuiltCommand(program="claude", args=(), cwd=Path("/w")),
        failure=failure,
    )


def plan(*lanes: LanePlan, max_parallel: int = 4) -> RacePlan:
    return RacePlan(
        run="r",
        repository=Path("/r"),
        base="0" * 40,
        lanes=lanes,
        permission=Permission.EDIT,
        confinement=Confinement(kind="none"),
        limits=Limits(),
        max_parallel=max_parallel,
    )


def outcome(planned: LanePlan, status: Status = Status.COMPLETED) -> Outcome:
    return Outcome(lane=planned.id, attempt=1, status=status)


@pytest.mark.parametrize(
    ("refusal", "reason", "text"),
    [
        (PermissionError(13, "Permission denied"), "record", "Permission denied"),
        (OSError(28, "No space left on device", "/s/f"), "exhausted", "left on the disk: /s/f"),
        (OSError(24, "Too many open files"), "exhausted", "no more files"),
        (RuntimeError("can't start new thread"), "exhausted", "processes or threads"),
        (MemoryError(), "exhausted", "no memory"),
    ],
)
async def test_a_machine_that_fails_a_lane_is_no_bug(
    refusal: Exception, reason: str, text: str
) -> None:
    async def attempt(planned: LanePlan, handle: Control, emit: Emit, _: int) -> Outcome:
        raise refusal

    race = RaceScheduler(plan=plan(lane("one")), run_attempt=attempt, record=lambda event: None)
    (ended,) = (await race.run()).outcomes
    assert ended.failure is not None
    assert (ended.failure.reason, text in ended.failure.message) == (reason, True)
    assert ended.failure.hint


async def test_a_lane_gives_up_its_place_before_it_is_finished() -> None:
    second = trio.Event()
    order: list[str] = []

    async def attempt(planned: LanePlan, handle: Control, emit: Emit, _: int) -> Outcome:
        order.append(f"{planned.id} runs")
        if planned.id == "two":
            second.set()
        return outcome(planned)

    async def finish(planned: LanePlan, handle: Control, emit: Emit, ended: Outcome) -> Outcome:
        await second.wait()  # the other lane's agent runs while this one is checked
        order.append(f"{planned.id} is finished")
        return replace(ended, held_back=("no",)) if planned.id == "one" else ended

    race = RaceScheduler(
        plan=plan(lane("one"), lane("two"), max_parallel=1),
        run_attempt=attempt,
        finish_lane=finish,
        record=lambda event: None,
    )
    with trio.fail_after(20):
        result = await race.run()
    assert order[:2] == ["one runs", "two runs"]
    assert [o.held_back for o in result.outcomes] == [("no",), ()]


async def test_an_outcome_survives_a_failure_of_its_checks() -> None:
    async def attempt(planned: LanePlan, handle: Control, emit: Emit, _: int) -> Outcome:
        return outcome(planned)

    async def finish(planned: LanePlan, handle: Control, emit: Emit, ended: Outcome) -> Outcome:
        raise ValueError("oh no")

    race = RaceScheduler(
        plan=plan(lane("one")), run_attempt=attempt, finish_lane=finish, record=lambda event: None
    )
    (ended,) = (await race.run()).outcomes
    assert ended.status is Status.COMPLETED
    assert not ended.usable
    assert "oh no" in ended.held_back[0]


async def test_what_goes_on_beside_waits_for_the_first_agents_and_ends_with_the_race() -> None:
    began, ended = trio.Event(), False
    running: list[str] = []

    async def attempt(planned: LanePlan, handle: Control, emit: Emit, _: int) -> Outcome:
        assert not began.is_set() or len(running) == 2
        running.append(planned.id)
        emit("agent_started")
        await began.wait()
        return outcome(planned)

    async def beside(emit: Emit) -> None:
        nonlocal ended
        assert len(running) == 2
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended = True

    race = RaceScheduler(
        plan=plan(lane("one"), lane("two")),
        run_attempt=attempt,
        baseline_task=beside,
        record=lambda event: None,
    )
    with trio.fail_after(20):
        await race.run()
    assert ended

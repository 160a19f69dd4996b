"""A lane that is tried again, and one that uses up its budget."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import trio
import trio.testing

from hydra.attempt import Emit, Handle
from hydra.errors import Failure
from hydra.events import Event
from hydra.model import LanePlan, Outcome, Patch, Retry, Status
from hydra.race import Race
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.test_race_nursery import lane, plan

LIMITED = Failure(kind="AgentFailed", reason="rate_limit", message="429", adapter="claude")
EMPTY = Patch(commit="b", base="b")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Iterator[Hydra]:
    yield Hydra(scratch, repo)
    assert fakes.left(str(scratch)) == []


def in_turn(hydra: Hydra, *tries: list[fakes.Step]) -> Fifo:
    """Places a `claude` that does one thing after the other, each time it is given a task."""
    fifo = fakes.Fifo(hydra.scratch / "turns")
    cases = []
    for number, steps in enumerate(tries, 1):
        placed = fakes.place(hydra.scratch / f"try-{number}", "claude", steps) / "claude"
        cases.append(f'{number}) exec {placed} "$@";;\n')
        os.write(fifo.fd, f"{number}\n".encode())
    folder = hydra.scratch / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(
        f'#!/bin/sh\nn=1\ncase "$*" in *--output-format*) read n <{fifo.path};; esac\n'
        f"case $n in {''.join(cases)}esac\n"
    )
    program.chmod(0o755)
    hydra.path.insert(0, folder)
    (hydra.home / "hydra.toml").write_text('[retry]\nwait = "0s"\n')
    return fifo


Fifo = fakes.Fifo


def test_a_lane_that_fell_over_is_tried_again_from_the_base(hydra: Hydra) -> None:
    broken = [fakes.think("..."), fakes.signal_self(11)]
    fifo = in_turn(hydra, broken, [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--retry", "1")
    fifo.close()
    assert race.code == 0, race.stderr
    (told,) = race.document["lanes"]
    assert (told["status"], told["attempt"]) == ("completed", 2)
    assert [(one["attempt"], one["status"]) for one in told["attempts"]] == [
        (1, "failed"),
        (2, "completed"),
    ]
    folder = Path(race.document["folder"])
    refs = git(folder / "patches.git", "for-each-ref", "--format=%(refname)").splitlines()
    assert {"refs/heads/claude", "refs/tries/claude/1", "refs/tries/claude/2"} <= set(refs)
    assert (folder / "lanes" / "claude" / "raw.jsonl").stat().st_size
    assert (folder / "lanes" / "claude" / "raw.2.jsonl").stat().st_size
    kinds = [(e["kind"], e["attempt"]) for e in hydra.events() if e["lane"] == "claude"]
    assert [kind for kind in kinds if kind[0] in ("attempt_ended", "lane_ended")] == [
        ("attempt_ended", 1),
        ("lane_ended", 2),
    ]


@pytest.mark.parametrize(("options", "tries"), [((), 1), (("--retry", "2"), 1)])
def test_what_was_changed_is_never_raced_over(
    hydra: Hydra, options: tuple[str, ...], tries: int
) -> None:
    fifo = in_turn(hydra, [fakes.edit("a.txt", "half\n"), fakes.signal_self(11)], [fakes.finish("no")])
    race = hydra.race("-a", "claude", *options)
    fifo.close()
    assert "lanes" in race.document, race.document
    (told,) = race.document["lanes"]
    assert len(told["attempts"]) == tries
    assert told["status"] == "failed"
    assert told["patch"]["files"] == 1


def test_an_earlier_patch_is_the_result_where_the_last_try_has_none(hydra: Hydra) -> None:
    fifo = in_turn(hydra, [fakes.edit("a.txt", "half\n"), fakes.signal_self(11)], [fakes.signal_self(11)])
    with (hydra.home / "hydra.toml").open("a") as settings:
        settings.write("with_patch = true\n")
    race = hydra.race("-a", "claude", "--retry", "1")
    fifo.close()
    (told,) = race.document["lanes"]
    assert [one["attempt"] for one in told["attempts"]] == [1, 2]
    assert (told["attempt"], told["patch"]["files"]) == (1, 1)
    patches = Path(race.document["folder"], "patches.git")
    assert git(patches, "show", "claude:a.txt") == "half"
    assert git(hydra.repo, "diff", "HEAD", "--stat") == ""


@pytest.mark.parametrize(
    ("budget", "reason", "limit"),
    [("tool_calls = 1", "budget", 1), ("turns = 1", "max_turns", 1)],
)
def test_a_budget_that_is_used_up_ends_the_lane_and_keeps_its_patch(
    hydra: Hydra, budget: str, reason: str, limit: float
) -> None:
    hydra.agent("codex", [fakes.edit("a.txt", "1\n"), fakes.edit("b.txt", "2\n"), fakes.hang()])
    (hydra.home / "hydra.toml").write_text(f"[budget]\n{budget}\n")
    race = hydra.race("-a", "codex")
    (told,) = race.document["lanes"]
    assert told["status"] == "failed"
    assert (told["error"]["kind"], told["error"]["reason"]) == ("AgentFailed", reason)
    assert told["error"]["numbers"] == {"limit": limit}
    assert told["patch"]["files"] >= 1


def outcome(planned: LanePlan, number: int, failure: Failure | None = LIMITED) -> Outcome:
    status = Status.FAILED if failure else Status.COMPLETED
    return Outcome(
        lane=planned.lane.id, attempt=number, status=status, failure=failure, patch=EMPTY
    )


async def test_its_waiting_ends_with_the_race(autojump_clock: trio.testing.MockClock) -> None:
    events: list[Event] = []

    async def attempt(planned: LanePlan, handle: Handle, emit: Emit, number: int) -> Outcome:
        return outcome(planned, number)

    race = Race(
        plan=plan(lane("one")),
        run_attempt=attempt,
        record=events.append,
        retry=Retry(times=3, wait=3000, longest=3000),
    )

    async def interrupt() -> None:
        await trio.testing.wait_all_tasks_blocked()
        race.interrupt(2)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt)
        result = await race.run()
    (one,) = result.outcomes
    assert (one.attempt, one.failure) == (1, LIMITED)
    assert [event.kind for event in events].count("lane_retrying") == 1
    assert trio.current_time() < 3000


async def test_each_try_waits_longer_and_has_a_handle_of_its_own(
    autojump_clock: trio.testing.MockClock,
) -> None:
    handles: list[Handle] = []
    began: list[float] = []

    async def attempt(planned: LanePlan, handle: Handle, emit: Emit, number: int) -> Outcome:
        handles.append(handle)
        began.append(trio.current_time())
        return outcome(planned, number, LIMITED if number < 4 else None)

    race = Race(
        plan=plan(lane("one")),
        run_attempt=attempt,
        record=lambda event: None,
        retry=Retry(times=5, wait=100, longest=250),
    )
    (one,) = (await race.run()).outcomes
    assert (one.attempt, one.status) == (4, Status.COMPLETED)
    assert [other.attempt for other in one.others] == [1, 2, 3]
    assert len(set(map(id, handles))) == 4
    waits = [after - before for before, after in pairwise(began)]
    assert all(
        least <= wait <= most
        for wait, (least, most) in zip(waits, [(50, 100), (100, 200), (125, 250)], strict=True)
    )

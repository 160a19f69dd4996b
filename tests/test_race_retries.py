"""A lane that is tried again, and one that uses up its budget."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from msgspec.structs import replace

from hydra.errors import Failure
from hydra.race.context import AttemptControl as Control
from hydra.race.context import Emit
from hydra.race.scheduler import RaceScheduler
from hydra.records.events import Event
from hydra.records.outcome import Outcome, Patch, Status
from hydra.records.plan import LanePlan
from hydra.records.request import Budget, Retry
from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra, in_turn
from tests.test_race_nursery import lane, plan

LIMITED = Failure(kind="AgentFailed", reason="rate_limit", message="429", adapter="claude")
EMPTY = Patch(commit="b", base="b")


@pytest.mark.slow
def test_a_lane_that_fell_over_is_tried_again_from_the_base(hydra: Hydra) -> None:
    broken = [fakes.think("..."), fakes.signal_self(11)]
    in_turn(hydra, broken, [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--retry", "1")
    assert race.code == 0, race.stderr
    (document,) = race.document["lanes"]
    assert (document["status"], document["attempt"]) == ("completed", 2)
    assert [(row["attempt"], row["status"]) for row in document["attempts"]] == [
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


def test_what_was_changed_is_never_raced_over(hydra: Hydra) -> None:
    in_turn(hydra, [fakes.edit("a.txt", "half\n"), fakes.signal_self(11)], [fakes.finish("no")])
    race = hydra.race("-a", "claude", "--retry", "2")
    assert "lanes" in race.document, race.document
    (document,) = race.document["lanes"]
    assert len(document["attempts"]) == 1
    assert document["status"] == "failed"
    assert document["patch"]["files"] == 1


@pytest.mark.slow
def test_an_earlier_patch_is_the_result_where_the_last_try_has_none(hydra: Hydra) -> None:
    in_turn(hydra, [fakes.edit("a.txt", "half\n"), fakes.signal_self(11)], [fakes.signal_self(11)])
    with (hydra.home / "hydra.toml").open("a") as settings:
        settings.write("with_patch = true\n")
    race = hydra.race("-a", "claude", "--retry", "1")
    (document,) = race.document["lanes"]
    assert [row["attempt"] for row in document["attempts"]] == [1, 2]
    assert (document["attempt"], document["patch"]["files"]) == (1, 1)
    patches = Path(race.document["folder"], "patches.git")
    assert git(patches, "show", "claude:a.txt") == "half"
    assert git(hydra.repo, "diff", "HEAD", "--stat") == ""


def outcome(planned: LanePlan, number: int, failure: Failure | None = LIMITED) -> Outcome:
    status = Status.FAILED if failure else Status.COMPLETED
    return Outcome(lane=planned.id, attempt=number, status=status, failure=failure, patch=EMPTY)


WORKED = Patch(commit="c", base="b", files=1)


async def test_a_try_that_hydra_cannot_begin_loses_nothing_of_the_one_before() -> None:
    async def attempt(planned: LanePlan, handle: Control, emit: Emit, number: int) -> Outcome:
        if number > 1:
            raise OSError("its ground cannot be removed")
        return replace(outcome(planned, number), patch=WORKED)

    again = Retry(times=1, wait=0, longest=0, with_patch=True)
    events: list[Event] = []
    race = RaceScheduler(
        plan=plan(lane("one")), run_attempt=attempt, record=events.append, retry=again
    )
    (item,) = (await race.run()).outcomes
    assert (item.attempt, item.patch, item.failure) == (1, WORKED, LIMITED)
    assert [(other.attempt, other.status) for other in item.others] == [(2, Status.NOT_STARTED)]
    ended = [(e.kind, e.attempt) for e in events if e.kind in ("attempt_ended", "lane_ended")]
    assert ended == [("attempt_ended", 1), ("attempt_ended", 2), ("lane_ended", 1)]


async def test_ended_at_once_in_a_later_try_a_lane_has_all_of_its_tries() -> None:
    second = trio.Event()

    async def attempt(planned: LanePlan, handle: Control, emit: Emit, number: int) -> Outcome:
        if number > 1:
            second.set()
            await trio.sleep_forever()
        return replace(outcome(planned, number), patch=WORKED)

    again = Retry(times=1, wait=0, longest=0, with_patch=True)
    race = RaceScheduler(
        plan=plan(lane("one")), run_attempt=attempt, record=lambda event: None, retry=again
    )

    async def insist() -> None:
        await second.wait()
        race.interrupt(2)
        race.interrupt(2)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(insist)
        (item,) = (await race.run()).outcomes
    assert (item.attempt, item.patch) == (1, WORKED)
    (cut,) = item.others
    assert (cut.attempt, cut.status, cut.patch) == (2, Status.INTERRUPTED, None)


def tried(document: dict[str, Any]) -> list[tuple[int, str]]:
    return [(row["attempt"], row["status"]) for row in document["attempts"]]


@pytest.mark.slow
def test_killed_while_a_later_try_is_opened_half_a_checkout_is_no_patch(hydra: Hydra) -> None:
    reached, pass_on = fakes.Fifo(hydra.scratch / "reached"), fakes.Fifo(hydra.scratch / "go")
    git(
        hydra.repo,
        "config",
        "filter.slow.smudge",
        f"echo . >{reached.path}; read n <{pass_on.path}; cat",
    )
    (hydra.repo / ".gitattributes").write_text("z.slow filter=slow\n")
    (hydra.repo / "z.slow").write_text("z\n")
    commit(hydra.repo, "slow")
    os.write(pass_on.fd, b"1\n")
    in_turn(hydra, [fakes.signal_self(11)], [fakes.finish("no")])
    race = hydra.start("race", "Do it", "-a", "claude", "--retry", "1", "--allow-filter", "slow")
    for _ in range(2):
        assert reached.take(b"\n", 120) is not None
    race.kill()
    race.communicate()
    hydra.run("runs")
    folder = Path(hydra.run("runs", "path").stdout.strip())
    (document,) = json.loads((folder / "result.json").read_bytes())["lanes"]
    assert tried(document) == [(1, "failed"), (2, "interrupted")]
    assert document["patch"] is None or document["patch"]["files"] == 0
    base = git(hydra.repo, "rev-parse", "HEAD")
    refs = git(folder / "patches.git", "for-each-ref", "--format=%(objectname)").splitlines()
    assert set(refs) == {base}


@pytest.mark.slow
def test_the_worktree_of_a_last_try_stays_while_its_patch_is_not_whole(hydra: Hydra) -> None:
    many = [fakes.edit(f"new-{number}.txt", "1\n") for number in range(3)]
    first = [fakes.edit("README.md", "half\n"), fakes.signal_self(11)]
    in_turn(hydra, first, [*many, fakes.signal_self(11)])
    with (hydra.home / "hydra.toml").open("a") as settings:
        settings.write('with_patch = true\n[limits]\nuntracked = 1\n[race]\nkeep = "none"\n')
    race = hydra.race("-a", "claude", "--retry", "1")
    (document,) = race.document["lanes"]
    assert len(document["attempts"]) == 2
    assert Path(document["worktree"], "new-2.txt").exists()


async def test_what_is_too_much_to_record_counts_for_a_budget() -> None:
    handles: list[Control] = []

    async def attempt(planned: LanePlan, handle: Control, emit: Emit, number: int) -> Outcome:
        handles.append(handle)
        for _ in range(2):
            emit("tool_call", source="agent", recorded=False)
        return outcome(planned, number)

    limited = replace(lane("one"), budget=Budget(tool_calls=1))
    events: list[Event] = []
    await RaceScheduler(plan=plan(limited), run_attempt=attempt, record=events.append).run()
    (handle,) = handles
    assert handle.process_control.reason == "budget_tool_calls"
    assert "tool_call" not in [event.kind for event in events]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))

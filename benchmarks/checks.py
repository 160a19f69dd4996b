"""Checks of four lanes, two at a time, and what a clean worktree costs."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from benchmarks.measure import LIMIT, Result, interleave, milliseconds, ratio, timed
from benchmarks.place import BYE, HELLO, Place
from hydra.git import base_commit, patches
from hydra.records.request import Limits
from hydra.records.store.reader import RunRecord
from hydra.workspace.private import LaneWorkspace

WAITING = 0.4
"""Seconds that a check of the first case sleeps: a test-suite waits as often as it works."""
WORKING = 2_000_000


def checks(place: Place) -> list[Result]:
    """Both cases."""
    return [*_two_at_a_time(place), *_clean_worktree(place)]


def _two_at_a_time(place: Place) -> list[Result]:
    root = place.repository(1_000)
    env = place.environ(place.agent("checks", f"{HELLO}echo x > new.txt\n{BYE}"))
    check = f"sleep {WAITING}; python3 -c 'sum(range({WORKING}))'"
    line = [*place.hydra, "race", "Do it", "-a", "4xclaude", "-q", "--keep", "none"]

    def race(parallel: int) -> float:
        subprocess.run(
            [*line, "--check", check],
            cwd=root,
            env={**env, "HYDRA_CHECKS_PARALLEL": str(parallel)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
        )
        seconds = _checking(place.folder / "state")
        place.forget_runs()
        return seconds

    ways = {"one": lambda: race(1), "two": lambda: race(2)}
    taken = interleave(max(place.runs // 2, 3), ways)
    value, best = ratio(taken["one"], taken["two"])
    return [
        Result(
            case="checks of 4 lanes, 2 at a time",
            against="one after another",
            value=value,
            best=best,
            target=1.5,
            at_least=True,
            why="two checks at once gain no more than the cores that are free",
            note=f"{milliseconds(taken['one'])} -> {milliseconds(taken['two'])}",
        )
    ]


def _checking(state: Path) -> float:
    """Seconds from the first lane's check to the last, in the only race there."""
    (folder,) = state.glob("*/runs/*")
    item = [event for event in RunRecord(folder).events() if event.lane]
    began = [event.mono for event in item if event.kind == "check_started"]
    ended = [event.mono for event in item if event.kind == "check_ended"]
    if len(ended) != 4:
        raise RuntimeError("not all four lanes were checked")
    return max(ended) - min(began)


def _clean_worktree(place: Place) -> list[Result]:
    root = place.repository(10_000)
    env = place.environ()
    item = base_commit.read(root)
    base = base_commit.resolve(item, "HEAD")
    bare = place.folder / "checks-patches.git"
    patches.create(bare, item, base=base)

    def hydra() -> float:
        top = place.folder / "clean"
        ground = LaneWorkspace(
            repository=item,
            base=base,
            lane="_claude",
            run_folder=top,
            path=top,
            patches=bare,
            home=place.folder / "home",
            confined=True,
            copies=(),
            limits=Limits(),
        )
        began = time.perf_counter()
        ground.open()
        seconds = time.perf_counter() - began
        ground.remove()
        return seconds

    def by_hand() -> float:
        tree = place.folder / "tree-clean"
        seconds = timed(["git", "worktree", "add", "-q", "--detach", tree], env, root)
        place.drop_worktree(root, tree)
        return seconds

    taken = interleave(place.runs, {"hand": by_hand, "hydra": hydra})
    value, best = ratio(taken["hydra"], taken["hand"])
    return [
        Result(
            case="clean worktree of 10,000 files",
            against="git worktree add",
            value=value,
            best=best,
            target=1.3,
            why="a few git processes more: its private repository, its tags, its index",
            note=f"{milliseconds(taken['hand'])} -> {milliseconds(taken['hydra'])}",
        )
    ]

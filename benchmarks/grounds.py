"""Opening lanes over a large tree, and taking a patch from one."""

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

CHANGED = 5
RACY = 1.2
"""Seconds until git no longer takes a fresh checkout's files for possibly changed."""


def lanes(place: Place) -> list[Result]:
    """Four lanes of 10,000 files, opened by a race, against four `git worktree add` in a row."""
    root = place.repository(10_000)
    env = place.environ(place.agent("lanes", HELLO + BYE))
    line = [*place.hydra, "race", "Do it", "-a", "4xclaude", "-q", "--keep", "none"]

    def hydra() -> float:
        subprocess.run(
            line, cwd=root, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
        )
        seconds = _opening(place.folder / "state")
        place.forget_runs()
        return seconds

    def by_hand() -> float:
        trees = [place.folder / f"tree-{number}" for number in range(4)]
        item = ["git", "worktree", "add", "-q", "--detach"]
        seconds = sum(timed([*item, tree], env, root) for tree in trees)
        for tree in trees:
            place.drop_worktree(root, tree)
        return seconds

    taken = interleave(max(place.runs // 2, 3), {"hand": by_hand, "hydra": hydra})
    value, best = ratio(taken["hand"], taken["hydra"])
    return [
        Result(
            case="4 lanes of 10,000 files",
            against="4 git worktree add in a row",
            value=value,
            best=best,
            target=1.8,
            at_least=True,
            why="four checkouts at once gain no more than the cores that are free, and each writes "
            "every byte; a layered ground (overlayfs) is what would",
            note=f"{milliseconds(taken['hand'])} -> {milliseconds(taken['hydra'])}",
        )
    ]


def _opening(state: Path) -> float:
    """Seconds from the first `lane_opening` to the last `lane_opened` of the only race there."""
    (folder,) = state.glob("*/runs/*")
    times: dict[str, list[float]] = {"lane_opening": [], "lane_opened": []}
    for event in RunRecord(folder).events():
        times.get(event.kind, []).append(event.mono)
    if len(times["lane_opened"]) != 4:
        raise RuntimeError("not all four lanes opened")
    return max(times["lane_opened"]) - min(times["lane_opening"])


def snapshots(place: Place) -> list[Result]:
    """A patch of five changed files on 20,000 and on 50,000."""
    return [_snapshot(place, files) for files in (20_000, 50_000)]


def _snapshot(place: Place, files: int) -> Result:
    root = place.repository(files)
    ground = _ground(place, root, files)
    ground.open()
    plain = place.folder / "plain"
    place.git(root, "worktree", "add", "-q", "--detach", plain)
    time.sleep(RACY)
    ground.warm_index()
    place.git(plain, "update-index", "-q", "--refresh")
    turn = 0

    def hydra() -> float:
        nonlocal turn
        turn += 1
        _edit(ground.worktree, turn)
        began = time.perf_counter()
        patch = ground.snapshot(attempt=turn, message="five files")
        seconds = time.perf_counter() - began
        if patch.files != CHANGED or patch.incomplete:
            raise RuntimeError(f"the patch is not what was changed: {patch}")
        return seconds

    def by_hand() -> float:
        nonlocal turn
        turn += 1
        _edit(plain, turn)
        began = time.perf_counter()
        place.git(plain, "add", "-A")
        place.git(plain, "write-tree")
        return time.perf_counter() - began

    taken = interleave(max(place.runs, 5), {"hand": by_hand, "hydra": hydra})
    ground.remove()
    place.drop_worktree(root, plain)
    value, best = ratio(taken["hydra"], taken["hand"])
    return Result(
        case=f"patch of {CHANGED} files on {files:,}",
        against="warm git add -A + write-tree",
        value=value,
        best=best,
        target=1.2,
        why="the tree is surveyed besides git's lstat of each file (what git would hang on is "
        "found first), and four git processes read the index where plain git has two",
        note=f"{milliseconds(taken['hand'])} -> {milliseconds(taken['hydra'])}, "
        "the commit, its ref and the count of lines included",
    )


def _ground(place: Place, root: Path, files: int) -> LaneWorkspace:
    item = base_commit.read(root)
    run = place.folder / f"run-{files}"
    run.mkdir()
    patches.create(run / "patches.git", item, base=item.head)
    return LaneWorkspace(
        repository=item,
        base=item.head,
        lane="claude",
        run_folder=run,
        path=run / "ground",
        patches=run / "patches.git",
        home=place.folder / "home",
        confined=True,
        copies=(),
        limits=Limits(),
    )


def _edit(tree: Path, turn: int) -> None:
    for number in range(CHANGED):
        path = tree / f"src/part{number * 7:04}/file{number * 7 * 50:05}.py"
        path.write_text(f"value = {turn}\n" * 40)

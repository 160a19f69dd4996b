"""Whole races: four agents of a second, and sixteen that write while nobody reads."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks.measure import LIMIT, Result, Way, interleave, milliseconds, ratio, timed
from benchmarks.place import BYE, HELLO, Place
from benchmarks.starts import Bell

LINES = 2_000
"""What each of the sixteen writes: 0.5 MB, eight times what a pipe holds."""

_TEXT = (
    '{"type":"assistant","message":{"content":[{"type":"text","text":"'
    + "The parser reads one more line of this file. " * 4
    + '"}]}}'
)


def four_agents(place: Place) -> list[Result]:
    """Four agents that think a second and edit one file, raced and by hand."""
    repository = place.repository(400)
    body = HELLO + "sleep 1\necho 'x = 1' >> src/part0000/file00000.py\n" + BYE
    folder = place.agent("second", body)
    env = place.environ(folder)
    line = [*place.hydra, "race", "Do it", "-a", "4xclaude", "--keep", "none", "--json", "-q"]

    def hydra() -> float:
        began = time.perf_counter()
        done = subprocess.run(line, cwd=repository, env=env, capture_output=True, timeout=LIMIT)
        seconds = time.perf_counter() - began
        document = json.loads(done.stdout)
        usable = [lane for lane in document.get("lanes", ()) if lane["usable"]]
        if len(usable) != 4:
            raise RuntimeError(f"{len(usable)} of 4 lanes are usable: {document.get('error')}")
        return seconds

    checkouts = [_checkout(place, repository, number) for number in range(4)]

    def by_hand() -> float:
        began = time.perf_counter()
        agents = [
            subprocess.Popen([folder / "claude"], cwd=tree, env=env, stdout=subprocess.DEVNULL)
            for tree in checkouts
        ]
        for agent in agents:
            agent.wait(LIMIT)
        return time.perf_counter() - began

    def imports() -> float:
        return timed([sys.executable, "-c", "import trio, click"], env, repository)

    ways = {"hand": by_hand, "imports": imports, "hydra": hydra}
    taken = interleave(max(place.runs, 5), ways)
    for tree in checkouts:
        place.drop_worktree(repository, tree)
    place.forget_runs()
    value, best = ratio(taken["hydra"], taken["hand"])
    return [
        Result(
            case="race of 4 one-second agents, 400 files",
            against="the same agents by hand, side by side",
            value=value,
            best=best,
            target=1.6,
            why="the start (see above), then four grounds and four snapshots of a dozen git "
            "processes each share the cores; a second of sleep takes a second on a busy machine, "
            "and Hydra's own work takes longer",
            note=f"{milliseconds(taken['hand'])} -> {milliseconds(taken['hydra'])}; "
            f"`import trio, click` took {milliseconds(taken['imports'])} in this run",
        )
    ]


def _checkout(place: Place, repository: Path, number: int) -> Path:
    tree = place.folder / f"hand-{number}"
    place.git(repository, "worktree", "add", "-q", "--detach", tree)
    return tree


def slow_reader(place: Place) -> list[Result]:
    """Sixteen agents write at once: whoever shows the race reads nothing until all have ended."""
    repository = place.repository(400)
    lines = place.seen / "lines.jsonl"
    lines.write_text(f"{_TEXT}\n" * LINES)
    bell = Bell(place.seen / "reader.bell")
    env = place.environ(place.agent("writer", HELLO + f"cat '{lines}'\n" + BYE + bell.ring))
    line = [*place.hydra, "race", "Do it", "-a", "16xclaude", "--max-parallel", "16"]
    line += ["--keep", "none"]

    def blocked() -> float:
        began = time.perf_counter()
        with subprocess.Popen(
            [*line, "--events"], cwd=repository, env=env, stdout=subprocess.PIPE, stderr=-3
        ) as race:
            bell.wait(16)
            seconds = time.perf_counter() - began
            assert race.stdout is not None
            item = sum(b'"kind": "message"' in event for event in race.stdout)
            race.wait(LIMIT)
        if item != 16 * LINES:
            raise RuntimeError(f"the reader got {item} of {16 * LINES} messages")
        return seconds

    def unblocked(how: str) -> float:
        began = time.perf_counter()
        with subprocess.Popen(
            [*line, how], cwd=repository, env=env, stdout=subprocess.DEVNULL, stderr=-3
        ) as race:
            bell.wait(16)
            seconds = time.perf_counter() - began
            race.wait(LIMIT)
        return seconds

    ways: dict[str, Way] = {
        "fast": partial(unblocked, "--events"),
        "quiet": partial(unblocked, "-q"),
        "blocked": blocked,
    }
    taken = interleave(max(place.runs // 2, 3), ways)
    bell.close()
    lines.unlink()
    place.forget_runs()
    value, best = ratio(taken["blocked"], taken["quiet"])
    shown, shown_best = ratio(taken["fast"], taken["quiet"])
    case = f"16 agents that write {LINES} lines at once"
    against = "the same race, shown to nobody"
    return [
        Result(
            case=f"{case}, a reader that reads nothing",
            against=against,
            value=value,
            best=best,
            target=1.15,
            why="something waits for the reader",
            note=f"until the last agent has written all: {milliseconds(taken['quiet'])} -> "
            f"{milliseconds(taken['blocked'])}; every event came once it was read",
        ),
        Result(
            case=f"{case}, --events into /dev/null",
            against=against,
            value=shown,
            best=shown_best,
            note="the reader's thread copies the record, and takes the interpreter from the "
            "loop meanwhile",
        ),
    ]

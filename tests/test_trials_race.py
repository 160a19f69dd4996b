"""Trials in a race and after `hydra check`, as a person runs them: what is shown, kept and left."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydra.records.events import Event
from hydra.report.live import LiveTable
from hydra.report.stream import PlainLines
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import running, token, wait_until
from tests.support.trials import RIGHT, UNITTEST, WRONG, pages, with_tests

DONE = fakes.finish("done")
WEAK = pages(up="(3, 2), 1", even="(4, 2), 2")
NEW = pages(third="(7, 3), 3")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Iterator[Hydra]:
    with_tests(repo)
    yield Hydra(scratch, repo)
    assert fakes.left(str(scratch)) == []


def writes(files: dict[str, str]) -> list[fakes.Step]:
    return [*(fakes.edit(name, text) for name, text in files.items()), DONE]


def told(hydra: Hydra, round: int = 1) -> dict[str, Any]:
    """The document of a round's trials."""
    folder = Path(hydra.run("runs", "path").stdout.strip())
    document: dict[str, Any] = json.loads((folder / f"checks/{round}/trials.json").read_text())
    return document


def pairs(document: dict[str, Any], what: str = "runs") -> set[tuple[str, str, str]]:
    return {(row["kind"], row["on"], row["author"]) for row in document[what]}


def grounds(hydra: Hydra) -> list[str]:
    return sorted(path.name for path in hydra.state.glob("g/*/_*"))


def drop(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()


EVERYTHING = {
    ("protected", "codex", ""),
    ("cross", "", "claude"),
    ("cross", "codex", "claude"),
    ("cross", "", "codex"),
}


@pytest.mark.slow
def test_a_race_tries_what_its_lanes_left(hydra: Hydra) -> None:
    hydra.agent("claude", writes({"src/pager.py": RIGHT, "test_new.py": NEW}))
    hydra.agent("codex", writes({"src/pager.py": f"# mine\n{WRONG}", "test_pages.py": WEAK}))
    done = hydra.run("race", "Do it", "--check", UNITTEST, "--check", "lint=true")
    assert done.returncode == 0, done.stderr
    document = told(hydra)
    assert pairs(document) == EVERYTHING
    assert document["not_tried"] == []
    assert document["cap"] == {"runs": 40, "seconds": 600.0}
    folder = Path(hydra.run("runs", "path").stdout.strip())
    for run in document["runs"]:
        assert json.loads((folder / run["details"]).read_text())["status"] == run["status"]
    assert "trying claude's tests on codex's patch" in done.stderr
    assert "trying the base's tests on codex's patch" in done.stderr
    assert "claude's tests on the base: 0 of 1 passed" in done.stderr
    events = hydra.events()
    kinds = [event["kind"] for event in events]
    assert kinds.count("trial_started") == kinds.count("trial_ended") == document["used"]["runs"]
    assert kinds[-1] == "run_ended"
    assert max(at for at, kind in enumerate(kinds) if kind == "lane_ended") < kinds.index(
        "trial_started"
    )
    assert events[-1]["data"]["trials"] <= events[-1]["data"]["seconds"]
    assert {event["lane"] for event in events if event["kind"].startswith("trial_")} == {""}
    assert grounds(hydra) == []
    result = json.loads((folder / "result.json").read_text())
    assert [lane["usable"] for lane in result["lanes"]] == [True, False]


@pytest.mark.full
def test_every_patch_checked_again_is_tried_again_and_some_are_not(hydra: Hydra) -> None:
    hydra.agent("claude", writes({"src/pager.py": RIGHT, "test_new.py": NEW}))
    hydra.agent("codex", writes({"src/pager.py": f"# mine\n{RIGHT}", "test_pages.py": WEAK}))
    hydra.race("--check", UNITTEST, "--trial-runs", "0")
    assert told(hydra)["runs"] == []
    assert {row["why"] for row in told(hydra)["not_tried"]} == {
        "trials are turned off (trial_runs = 0)"
    }
    done = hydra.run("check")
    assert pairs(told(hydra, 2)) == EVERYTHING
    assert "tests      trying claude's tests on codex's patch" in done.stderr
    folder = Path(hydra.run("runs", "path").stdout.strip())
    hydra.run("check", "codex")
    assert not (folder / "checks/3/trials.json").exists()
    hydra.run("check", "--trial-runs", "1")
    assert (len(told(hydra, 4)["runs"]), len(told(hydra, 4)["not_tried"])) == (1, 3)
    assert grounds(hydra) == []


@pytest.mark.full
def test_what_is_landed_is_checked_without_trials(hydra: Hydra) -> None:
    hydra.agent("claude", writes({"src/pager.py": RIGHT, "test_new.py": NEW}))
    hydra.agent("codex", writes({"docs/a.md": "a\n", "test_more.py": NEW}))
    hydra.race("--check", UNITTEST)
    merged = hydra.run("merge", "--pick", "claude:src/pager.py", "--pick", "codex:docs/")
    assert merged.returncode == 0, merged.stderr
    folder = Path(hydra.run("runs", "path").stdout.strip())
    assert (folder / "checks/2/_landing").exists()
    assert not (folder / "checks/2/trials.json").exists()


def slow_lanes(hydra: Hydra, mark: str) -> None:
    """A protected trial that ends, then one on both lanes' work that does not."""
    with_tests(hydra.repo, {"mark": mark})
    hydra.agent("claude", writes({"src/pager.py": RIGHT, "new_ones": "", "test_new.py": NEW}))
    hydra.agent(
        "codex", writes({"src/pager.py": f"# me\n{RIGHT}", "mine": "", "test_pages.py": WEAK})
    )


HANGING = f"unit=test ! -e test_new.py -o ! -e mine || sleep $(cat mark); {UNITTEST}"


@pytest.mark.slow
def test_ctrl_c_ends_the_trials_and_the_race_ends_in_order(hydra: Hydra) -> None:
    mark = token()
    slow_lanes(hydra, mark)
    race = hydra.start("race", "Do it", "--check", HANGING)
    assert wait_until(lambda: running(mark), 60)
    race.send_signal(signal.SIGINT)
    assert race.wait(60) == 130
    drop(race)
    assert wait_until(lambda: not running(mark))
    document = told(hydra)
    assert ("protected", "codex", "") in pairs(document)
    cut = {"kind": "cross", "on": "codex", "author": "claude", "why": "it was interrupted"}
    assert document["not_tried"] == [cut]
    folder = Path(hydra.run("runs", "path").stdout.strip())
    claude, codex = json.loads((folder / "result.json").read_text())["lanes"]
    assert (claude["status"], claude["usable"]) == ("completed", True)
    assert codex["status"] == "completed"
    assert hydra.events()[-1]["kind"] == "run_ended"
    assert grounds(hydra) == []


@pytest.mark.slow
def test_of_equals_the_one_with_tests_is_first_after_ctrl_c_too(hydra: Hydra) -> None:
    mark = token()
    with_tests(hydra.repo, {"mark": mark})
    hydra.agent("claude", writes({"src/pager.py": f"# me\n{RIGHT}", "mine": ""}))
    hydra.agent("codex", writes({"src/pager.py": RIGHT, "new_ones": "", "test_new.py": NEW}))
    hangs = f"unit=test ! -e test_new.py -o -e new_ones || sleep $(cat mark); {UNITTEST}"
    race = hydra.start("race", "Do it", "--check", hangs)
    assert wait_until(lambda: running(mark), 60)
    race.send_signal(signal.SIGINT)
    assert race.wait(60) == 130
    drop(race)
    assert not told(hydra)["runs"]
    verdict = json.loads(hydra.run("compare", "--json").stdout)
    assert verdict["says"].endswith("equal to claude in all tests, and brings 1 of them")
    assert (verdict["top"], [lane["rank"] for lane in verdict["lanes"]]) == ("codex", [1, 2])


def event(seq: int, kind: str, /, **data: object) -> Event:
    return Event(seq=seq, wall=0.0, mono=float(seq), run="r1", kind=kind, data=data)


def test_what_is_tried_is_shown_and_is_harmless() -> None:
    author = "cl\x1b]52;c;eA==\x07aude"
    document = {"kind": "cross", "on": "codex", "author": author, "check": "unit", "again": False}
    events = [
        event(1, "run_started", lanes=["codex"]),
        event(2, "trial_started", **document),
        event(3, "trial_ended", **document, status="passed", says="1 of 1 passed", seconds=2.0),
        event(4, "trial_started", **{**document, "on": "", "author": "", "again": True}),
        event(5, "run_ended", usable=False, seconds=4.0, trials=2.0),
    ]
    plain: list[str] = []
    lines, live = PlainLines(plain.append), LiveTable(plain.append, lambda: (100, 30), color=False)
    painted = []
    for fact in events:
        lines.event(fact)
        number = len(plain)
        live.event(fact)
        painted.append("".join(plain[number:]))
        del plain[number:]
    assert plain[1:] == [
        " 0:02 tests      trying cl^[]52;c;eA==^Gaude's tests on codex's patch\n",
        " 0:03 tests      cl^[]52;c;eA==^Gaude's tests on codex's patch: 1 of 1 passed, 0:02\n",
        " 0:04 tests      trying the base's tests on the base, again\n",
        " 0:05 hydra      the race ended in 0:04 (0:02 of it for more tests)\n",
    ]
    assert "trying cl^[]52;c;eA==^Gaude's tests on codex's patch" in painted[1]
    assert "trying" not in painted[4]
    assert "\x1b]52" not in "".join(painted)

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


def event(seq: int, kind: str, /, **data: object) -> Event:
    return Event(seq=seq, wall=0.0, mono=float(seq), run="r1", kind=kind, data=data)

"""Two races in one repository, in every order of begin, end, check and landing: each line that one
offers acts upon that one, whichever is the latest when it is pasted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import wait_until
from tests.support.trees import Whole, leftovers
from tests.support.verdict_races import UNITTEST

pytestmark = pytest.mark.slow

TEST = "import unittest\n\nimport {0}\n\n\nclass Of{0}(unittest.TestCase):\n"
TEST += "    def test_{0}(self):\n        self.assertEqual({0}.up(3), 2)\n"
SHOP = {f"{name}.py": "def up(n):\n    return n // 2\n" for name in ("one", "two")}
SHOP |= {f"test_{name}.py": TEST.format(name) for name in ("one", "two")}
RIGHT = "def up(n):\n    return -(-n // 2)\n"
"""What either race is to write, into `one.py` or into `two.py`."""

LINE = re.compile(
    r"(?:^|[ `(])(hydra (?:merge|diff|compare|check|runs).*?)(?: says more)?(?=$|[`;)])", re.M
)


class Race:
    """One that waits at its barrier, until `end` lets its agents go on."""

    def __init__(self, two: Two, name: str, *args: str) -> None:
        self.hydra, self.gate, self.name = two.hydra, two.gates[name], name
        agents = () if "-a" in args else ("-a", "claude")
        checks = () if "--no-check" in args else ("--check", UNITTEST)
        self.process = two.hydra.start("race", f"Mend {name}", *agents, *checks, *args)
        self.gate.wait(2 if "2xclaude" in args else 1)
        self.id = max(path.name for path in two.hydra.state.glob("*/runs/*"))

    def end(self, *, by: int = 0) -> str:
        """Its screen, once it has come to its end, or a signal has ended it."""
        if by:
            self.process.send_signal(by)
        else:
            self.gate.open()
        out, self.stderr = self.process.communicate(timeout=120)
        return out


class Two:
    """The shop with a change of the user's in it, and the scripts of both races."""

    def __init__(self, hydra: Hydra, stack: ExitStack) -> None:
        self.hydra = hydra
        commit(hydra.repo, SHOP)
        (hydra.repo / "README.md").write_text("# My shop\n")
        (hydra.repo / "mine.txt").write_text("mine\n")
        self.before = Whole.of(hydra.repo)
        self.gates = {name: fakes.Barrier(hydra.scratch, name) for name in ("one", "two")}
        for gate in self.gates.values():
            stack.callback(gate.close)
        self.script(lambda name: [fakes.edit(f"{name}.py", RIGHT)])

    def script(self, steps: Any) -> None:
        cases = [
            (f"Mend {name}", [*steps(name), *gate.stop(), fakes.finish("done")])
            for name, gate in self.gates.items()
        ]
        self.hydra.agent("claude", [fakes.fail()], cases=cases)

    def begin(self, name: str, *args: str) -> Race:
        return Race(self, name, *args)

    def ran_on(self, line: str) -> str:
        """The run that a line acts upon when it is pasted."""
        line = line.replace(" --html --open", "")
        more = " --dry-run" if line.startswith("hydra merge") else ""
        done = paste(self.hydra, f"{line}{more} --json")
        try:
            return str(json.loads(done.stdout)["run"])
        except (ValueError, KeyError):
            raise AssertionError(f"{line}\n{done.stdout}\n{done.stderr}") from None

    def check(self, text: str, race: Race, *kinds: str) -> None:
        """Each line in a text acts upon its race, and there is one of each of these."""
        lines = offered(text)
        for kind in kinds:
            assert any(line.startswith(f"hydra {kind}") for line in lines), (kind, text)
        assert {line: self.ran_on(line) for line in lines} == dict.fromkeys(lines, race.id)

    def has_ended(self, lane: str) -> bool:
        """Whether a lane of the race that runs has come to its end, checks and all."""
        kinds = ((row["kind"], row.get("lane")) for row in self.hydra.recorded())
        return ("lane_ended", lane) in kinds

    def is_mended(self) -> list[str]:
        return [
            name for name in self.gates if (self.hydra.repo / f"{name}.py").read_text() == RIGHT
        ]

    def is_mine(self) -> bool:
        """What the user has changed is there, and no landing has left anything."""
        mine = Whole.of(self.hydra.repo).files
        same = all(mine[name] == self.before.files[name] for name in ("README.md", "mine.txt"))
        return same and leftovers(self.hydra.repo) == []


def commit(repo: Path, files: Mapping[str, str]) -> None:
    """Writes and commits these, at the top."""
    for name, text in files.items():
        (repo / name).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Project")


def paste(hydra: Hydra, line: str) -> subprocess.CompletedProcess[str]:
    """A line as a shell takes it, `hydra` a program of its PATH."""
    folder = hydra.scratch / "pasted"
    if not folder.exists():
        folder.mkdir()
        (folder / "hydra").write_text(f'#!/bin/sh\nexec {sys.executable} -m hydra "$@"\n')
        (folder / "hydra").chmod(0o755)
    return hydra.execute("/bin/sh", "-c", f'PATH={folder}:"$PATH"; {line}')


def offered(text: str) -> list[str]:
    """The lines of Hydra's in a text that a person may paste as they are."""
    return [line for line in LINE.findall(text) if "COMMAND" not in line]


@pytest.fixture
def two(hydra: Hydra, stack: ExitStack) -> Two:
    return Two(hydra, stack)


ORDER, TURNED = ("one", "two"), ("two", "one")
FULL = pytest.mark.full


@pytest.mark.parametrize(
    ("ended", "landed"),
    [
        (ORDER, TURNED),
        pytest.param(TURNED, ORDER, marks=FULL),
        pytest.param(ORDER, ORDER, marks=FULL),
        pytest.param(TURNED, TURNED, marks=FULL),
    ],
)
def test_both_end_and_land_in_any_order(
    two: Two, ended: tuple[str, str], landed: tuple[str, str]
) -> None:
    races = {name: two.begin(name) for name in ("one", "two")}
    screens = {name: races[name].end() for name in ended}
    backs = {}
    for name in ended:
        two.check(screens[name], races[name], "merge", "diff", "compare")
    for number, name in enumerate(landed, 1):
        (line,) = (row for row in offered(screens[name]) if row.startswith("hydra merge"))
        done = paste(two.hydra, line)
        assert done.returncode == 0, done.stderr
        assert two.is_mended() == sorted(landed[:number])
        backs[name] = next(row for row in offered(done.stdout) if "--undo" in row)
    assert two.is_mine()
    # The first that was landed lies below the other: it goes alone where nothing is lost by that.
    first, last = landed
    done = paste(two.hydra, backs[first])
    assert done.returncode == 5, done.stdout
    assert two.is_mended() == ["one", "two"]
    for name in (last, first):
        done = paste(two.hydra, f"{backs[name]} --json")
        assert json.loads(done.stdout)["run"] == races[name].id
    assert Whole.of(two.hydra.repo) == two.before


@pytest.mark.parametrize("stopped", ["one", pytest.param("two", marks=FULL)])
def test_one_is_stopped_by_ctrl_c_while_the_other_goes_on(two: Two, stopped: str) -> None:
    races = {name: two.begin(name) for name in ("one", "two")}
    screen = races[stopped].end(by=signal.SIGINT)
    (other,) = {*races} - {stopped}
    two.check(screen, races[stopped], "check", "diff")
    two.check(races[other].end(), races[other], "merge", "diff", "compare")
    line = next(row for row in offered(screen) if row.startswith("hydra check"))
    done = paste(two.hydra, line)
    assert f"checks of run {races[stopped].id}" in done.stdout
    two.check(done.stdout, races[stopped], "compare")
    refused = two.hydra.run("merge", "-r", races[stopped].id)
    two.check(refused.stderr, races[stopped], "compare", "merge")
    line = next(row for row in offered(refused.stderr) if "merge" in row)
    assert paste(two.hydra, line).returncode == 0
    assert two.is_mended() == [stopped]
    assert two.is_mine()


@pytest.mark.parametrize("killed", [pytest.param("one", marks=FULL), "two"])
def test_one_is_killed_and_found_while_the_other_goes_on(two: Two, killed: str) -> None:
    races = {name: two.begin(name) for name in ("one", "two")}
    races[killed].end(by=signal.SIGKILL)
    (other,) = {*races} - {killed}
    shown = two.hydra.run("runs", "show", races[killed].id)
    assert f"recovered run {races[killed].id}: 1 patch taken" in shown.stderr
    two.check(shown.stdout, races[killed], "diff", "merge")
    rows = json.loads(two.hydra.run("runs", "--json").stdout)["runs"]
    states = {row["run"]: row["state"] for row in rows}
    assert states == {races[killed].id: "ended", races[other].id: "running"}
    two.check(races[other].end(), races[other], "merge", "diff", "compare")
    assert Whole.of(two.hydra.repo) == two.before
    for name in (killed, other):
        done = two.hydra.run("merge", "claude", "-r", races[name].id, "--override", "mine")
        assert done.returncode == 0, done.stderr
    assert two.is_mended() == ["one", "two"]
    assert two.is_mine()


def test_one_is_landed_checked_and_removed_while_the_other_runs(two: Two) -> None:
    first, second = two.begin("one"), two.begin("two")
    screen = first.end()
    for args in (("merge",), ("merge", "--dry-run"), ("check",), ("compare",)):
        done = two.hydra.run(*args)
        assert done.returncode == 3 + 2 * (args[0] == "merge"), (args, done.stderr)
        assert f"run {second.id} is still running" in done.stderr
    assert Whole.of(two.hydra.repo) == two.before
    done = two.hydra.run("check", "-r", first.id)
    two.check(done.stdout, first, "compare")
    line = next(row for row in offered(screen) if row.startswith("hydra merge"))
    landed = paste(two.hydra, line)
    assert (landed.returncode, two.is_mended()) == (0, ["one"]), landed.stderr
    refused = two.hydra.run("runs", "rm", second.id, "--yes")
    assert (refused.returncode, second.process.poll()) == (3, None)
    assert two.hydra.run("runs", "rm", first.id, "--yes").returncode == 0
    back = next(row for row in offered(landed.stdout) if "--undo" in row)
    refused = paste(two.hydra, back)  # its record has gone: git alone takes it back
    assert refused.returncode == 5
    assert f"git revert {git(two.hydra.repo, 'rev-parse', 'HEAD')[:12]}" in refused.stderr
    screen = second.end()
    two.check(screen, second, "merge", "diff", "compare")
    assert two.hydra.run("merge").returncode == 0
    assert two.is_mended() == ["one", "two"]
    assert two.is_mine()


def test_a_lane_that_is_done_waits_for_the_verdict_of_its_race(two: Two) -> None:
    """What speaks against it is not known before; by a reason it lands all the same."""
    two.hydra.agent("codex", [fakes.edit("one.py", RIGHT), fakes.finish("done")])
    first = two.begin("one", "-a", "claude", "-a", "codex", "--no-check")
    assert wait_until(lambda: two.has_ended("codex"))
    second = two.begin("two")
    second.end()
    for args in (("codex",), ("codex", "--no-check"), ("--pick", "codex:one.py", "--no-check")):
        refused = two.hydra.run("merge", "-r", first.id, *args)
        assert refused.returncode == 5, refused.stdout
        assert f"nothing was landed: run {first.id} is still running" in refused.stderr
    assert Whole.of(two.hydra.repo) == two.before
    line = next(row for row in offered(refused.stderr) if "--override" in row)
    assert paste(two.hydra, f"{line} --no-check").returncode == 0
    assert two.is_mended() == ["one"]
    first.end()
    assert two.hydra.run("merge").returncode == 0
    assert two.is_mended() == ["one", "two"]
    assert two.is_mine()

"""Two races at once in one repository: each line that is offered is of the race that it stands at
the end of, in whatever order the two begin, end, are checked and land."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra, of_run
from tests.support.verdict_races import RIGHT, UNITTEST, shop

pytestmark = pytest.mark.slow

MADE = "mkdir -p coverage; cd coverage; for i in $(seq 10); do echo $i >$i.html; done"


class Races:
    """Two races of a lane each, `claude-first` and `claude-second`; each agent waits at a gate."""

    def __init__(self, hydra: Hydra) -> None:
        shop(hydra.repo)
        self.hydra = hydra
        self.gates = {name: fakes.Barrier(hydra.scratch, name) for name in ("first", "second")}
        cases = [
            (
                f"--model\n{name}\n",
                [
                    *gate.stop(),
                    fakes.edit("src/pager.py", f"{RIGHT}# {name}\n"),
                    fakes.shell("sh", "-c", MADE),
                    fakes.finish("done"),
                ],
            )
            for name, gate in self.gates.items()
        ]
        hydra.agent("claude", [fakes.fail()], cases=cases)
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def begin(self, name: str) -> None:
        """Until its agent is at work."""
        args = ("race", "Do it", "-a", f"claude:{name}", "--check", UNITTEST)
        self.processes[name] = self.hydra.start(*args)
        self.gates[name].wait()

    def end(self, name: str) -> str:
        """What the race prints at its end."""
        self.gates[name].open()
        output, errors = self.processes[name].communicate(timeout=120)
        self.gates[name].close()
        assert self.processes[name].returncode == 0, output + errors
        return output

    def run_of(self, name: str) -> str:
        """The id of its run."""
        rows = json.loads(self.hydra.run("runs", "--json").stdout)["runs"]
        (run,) = (row["run"] for row in rows if row["lanes"][0]["lane"] == f"claude-{name}")
        return str(run)

    def landed(self, line: str) -> str:
        """What an offered line brings to the pager's last line; the landing is taken back."""
        *_, command = line.partition("hydra ")
        done = self.hydra.run(*shlex.split(command))
        assert done.returncode == 0, done.stderr
        text = (self.hydra.repo / "src/pager.py").read_text().splitlines()[-1]
        assert self.hydra.run("merge", "--undo").returncode == 0
        return text


@pytest.fixture
def races(hydra: Hydra) -> Races:
    return Races(hydra)


def test_a_check_of_an_earlier_race_names_it_and_its_place_in_the_row_does_not_stay(
    races: Races,
) -> None:
    races.begin("first")
    races.end("first")
    races.begin("second")
    races.end("second")
    first = races.run_of("first")
    for typed in ("@-1", first[:-1], first[-4:]):
        checked = races.hydra.run("check", "-r", typed)
        assert f"compare again:  hydra compare{of_run(first)}\n" in checked.stdout
    second = of_run(races.run_of("second"))
    assert f"compare again:  hydra compare{second}\n" in races.hydra.run("check").stdout


def test_a_check_during_which_another_race_begins_names_its_own(races: Races) -> None:
    races.begin("first")
    races.end("first")
    gate = fakes.Barrier(races.hydra.scratch, "check")
    waits = f"echo . > {gate.path}; until [ -e {gate.path.parent}/open ]; do sleep 0.05; done"
    check = races.hydra.start("check", "claude-first", "--check", waits)
    gate.wait()
    races.begin("second")
    gate.open()
    output, errors = check.communicate(timeout=120)
    gate.close()
    assert check.returncode == 0, output + errors
    assert f"compare again:  hydra compare{of_run(races.run_of('first'))}\n" in output
    races.end("second")


def test_every_way_that_a_refusal_names_is_of_the_run_that_was_named(hydra: Hydra) -> None:
    empty = [fakes.edit("more.txt", "more\n"), fakes.finish("done")]
    hydra.agent("claude", [fakes.finish("done")], cases=[("--model\nb\n", empty)])
    first = hydra.race("-a", "claude:a", "-a", "claude:b", "--no-check").document["run"]
    hydra.race("-a", "claude:a", "--no-check")
    folder = Path(hydra.run("runs", "path", first).stdout.strip())
    refusals: list[tuple[str, ...]] = [
        ("merge", "claude-a"),
        ("merge", "--pick", "claude-a:README.md"),
        ("merge", "--hunk", "claude-a:abc"),
        ("diff", "claude-a", "--mbox"),
    ]
    for line in refusals:
        assert_named(hydra.run(*line, "-r", first), first)
    result = folder / "result.json"
    whole = result.read_text()
    document = json.loads(whole)
    document["verdict"] = {"schema": 1}
    result.write_text(json.dumps(document))
    assert_named(hydra.run("compare", "-r", first), first)
    result.write_text("{")
    for line in [("merge",), ("compare",), ("runs", "show")]:
        assert_named(hydra.run(*line, "-r", first), first)


def assert_named(done: subprocess.CompletedProcess[str], run: str) -> None:
    """That a refusal hints at lines to type, each with this run."""
    assert done.returncode, done.stdout
    hints = [line for line in done.stderr.splitlines() if line.startswith("hint: ")]
    lines = re.findall(
        r"hydra (?:merge|diff|compare|check|runs show|runs path)\b[^`;]*", "".join(hints)
    )
    assert lines, done.stderr
    for line in lines:
        assert run in line or of_run(run) in line, done.stderr

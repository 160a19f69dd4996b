"""Checks in a race as a person runs it: the table, what is usable, Ctrl-C, and a killed Hydra."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydra.config.schema import Config
from hydra.race.verdict import of_result
from hydra.ranking.model import Verdict
from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import running, token, wait_until
from tests.support.rendering import as_race
from tests.support.trials import RIGHT, UNITTEST, WRONG, with_tests

DONE = fakes.finish("done")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Iterator[Hydra]:
    """No clean ground stands when a test has ended."""
    hydra = Hydra(scratch, with_tests(repo))
    yield hydra
    assert grounds(hydra) == []


def writes(text: str) -> list[fakes.Step]:
    return [fakes.edit("src/pager.py", text), DONE]


def of(lane: object, name: str) -> dict[str, object]:
    assert isinstance(lane, dict)
    document: dict[str, object] = next(row for row in lane["checks"] if row["check"] == name)
    return document


def slow_check(hydra: Hydra, mark: str) -> str:
    """A check that hangs on a patch, not on the base; Hydra's own line does not have the mark."""
    base = hashlib.sha256((hydra.repo / "src" / "pager.py").read_bytes()).hexdigest()
    script = f"sha256sum src/pager.py | grep -q {base} && exit 0\necho begun\nsleep {mark}\n"
    (hydra.repo / "slow.sh").write_text(script)
    commit(hydra.repo, "A slow check")
    return "slow=sh slow.sh"


def grounds(hydra: Hydra) -> list[str]:
    """The clean grounds that still stand."""
    return sorted(path.name for path in hydra.state.glob("g/*/_*"))


@pytest.mark.slow
def test_a_check_has_no_agent_s_key(hydra: Hydra) -> None:
    hydra.extra |= {"DATABASE_URL": "postgres://here", "OTHER": "x"}
    (hydra.home / "hydra.toml").write_text('[checks]\nenvironment = ["DATABASE_URL"]\n')
    hydra.agent("claude", writes(RIGHT))
    race = hydra.race("-a", "claude", "--check", "env=env | sort")
    folder = Path(race.document["folder"])
    text = (folder / str(of(race.lane("claude"), "env")["output"])).read_text()
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert "DATABASE_URL" in names
    assert not names & {"OTHER", "ANTHROPIC_API_KEY", "CODEX_API_KEY"}


@pytest.mark.slow
def test_a_repository_s_checks_run_only_where_something_confines_them(hydra: Hydra) -> None:
    mark = hydra.scratch / "ran"
    text = f'[race]\ncheck = ["touch {mark}; true"]\n'
    (hydra.repo / "hydra.toml").write_text(text)
    commit(hydra.repo, "Checks")
    hydra.agent("claude", writes(RIGHT))
    tools = hydra.scratch / "bin"
    tools.mkdir()
    for name in ("git", "sh", "env", "python3", "true", "touch", "sleep"):
        (tools / name).symlink_to(shutil.which(name) or "/bin/false")
    hydra.extra["PATH"] = os.pathsep.join([*map(str, hydra.path), str(tools)])
    race = hydra.race("-a", "claude")
    assert race.lane("claude")["checks"] == []
    assert any("checks are skipped (touch)" in document for document in race.document["warnings"])
    assert not mark.exists()
    (hydra.home / "hydra.toml").write_text(text)
    flag = hydra.race("-a", "claude", "--check", f"mine=touch {mark}")
    assert of(flag.lane("claude"), "mine")["status"] == "passed"
    assert mark.exists()


@pytest.mark.slow
def test_ctrl_c_while_the_verdict_is_made_says_what_is_there(hydra: Hydra) -> None:
    """Git stands still from the end of the lanes on: nothing but the verdict asks it any more."""
    hydra.agent("claude", writes(RIGHT))
    gate = fakes.Barrier(hydra.scratch, "judging")
    shim = hydra.scratch / "slow" / "git"
    shim.parent.mkdir()
    waits = f"echo . > {gate.path}; until [ -e {gate.path.parent}/open ]; do sleep 0.05; done"
    ended = f"cat {hydra.state}/*/runs/*/events.jsonl 2>/dev/null | grep -q run_ended"
    shim.write_text(f'#!/bin/sh\nif {ended}; then {waits}; fi\nexec /usr/bin/git "$@"\n')
    shim.chmod(0o755)
    hydra.path.insert(0, shim.parent)
    race = hydra.start("race", "Do it", "-a", "claude", "--check", UNITTEST)
    gate.wait()
    race.send_signal(signal.SIGINT)
    gate.open()
    stdout, _ = race.communicate(timeout=60)
    assert race.returncode == 130
    assert re.match(r"Interrupted after \d+:\d\d\b", stdout)
    assert "Land claude: fixes the failing test, breaks nothing (2 passed)." in stdout
    assert "hydra merge claude" in stdout


@pytest.mark.slow
def test_as_many_lanes_are_checked_at_once_as_are_asked_for(hydra: Hydra) -> None:
    mark = token()
    texts = {"one": RIGHT, "two": f"{RIGHT}\n", "three": f"\n{RIGHT}"}
    cases = [(f"--model\n{name}\n", writes(text)) for name, text in texts.items()]
    hydra.agent("claude", [fakes.fail()], cases=cases)
    slow = slow_check(hydra, mark)
    hydra.extra["HYDRA_CHECKS_PARALLEL"] = "2"
    lanes = [term for name in texts for term in ("-a", f"claude:{name}")]
    race = hydra.start("race", "Do it", *lanes, "--check", slow)
    assert wait_until(lambda: len(running(mark)) == 2)
    assert wait_until(lambda: "check_waiting" in [row["kind"] for row in hydra.recorded()])
    kinds = [row["data"] for row in hydra.recorded() if row["kind"] == "check_waiting"]
    assert (kinds, len(running(mark))) == ([{"for": "place"}], 2)
    race.send_signal(signal.SIGINT)
    assert race.wait(60) == 130


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once_and_the_outcome_stands(hydra: Hydra) -> None:
    mark = token()
    hydra.agent("claude", writes(RIGHT))
    gate = fakes.Barrier(hydra.scratch, "working")
    hydra.agent("codex", [fakes.ignore("SIGINT", "SIGTERM"), *gate.stop(), DONE])
    slow = slow_check(hydra, mark)
    race = hydra.start("race", "Do it", "-a", "claude", "-a", "codex", "--check", slow)
    gate.wait()
    assert wait_until(lambda: running(mark))
    race.send_signal(signal.SIGINT)
    assert wait_until(lambda: not running(mark))
    race.send_signal(signal.SIGINT)
    assert race.wait(60) == 130
    document = json.loads(hydra.run("runs", "show", "--json").stdout)
    claude = next(lane for lane in document["lanes"] if lane["lane"] == "claude")
    assert claude["status"] == "completed"
    assert claude["patch"]["files"] == 1
    assert claude["usable"] is False
    assert claude["held_back"]


@pytest.mark.slow
def test_a_killed_check_is_swept_up_by_the_next(hydra: Hydra) -> None:
    mark = token()
    hydra.agent("claude", writes(RIGHT))
    slow = slow_check(hydra, mark)
    hydra.race("-a", "claude", "--check", "true")
    check = hydra.start("check", "--check", slow)
    assert wait_until(lambda: running(mark))
    assert grounds(hydra) != []
    check.kill()
    check.wait(60)
    assert wait_until(lambda: not running(mark))
    assert hydra.run("check").returncode == 0
    assert grounds(hydra) == []
    stopped = hydra.start("check", "--check", slow)
    assert wait_until(lambda: running(mark))
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait(60) == 130
    assert "interrupted" in (stopped.stdout.read() if stopped.stdout else "")


@pytest.mark.slow
def test_ctrl_c_while_a_landing_is_checked_lands_nothing(hydra: Hydra) -> None:
    mark = token()
    hydra.agent("claude", writes(RIGHT))
    (hydra.repo / "slow.sh").write_text(f"test -e {hydra.scratch}/go || exec sleep {mark}\n")
    commit(hydra.repo, "A slow check")
    (hydra.scratch / "go").touch()
    hydra.race("-a", "claude", "--check", "slow=sh slow.sh")
    git(hydra.repo, "commit", "-q", "--allow-empty", "-m", "The branch moves on")
    before = git(hydra.repo, "rev-parse", "HEAD")
    (hydra.scratch / "go").unlink()
    merge = hydra.start("merge", "claude")
    assert wait_until(lambda: running(mark))
    merge.send_signal(signal.SIGINT)
    assert merge.wait(60) == 130
    assert "its checks were interrupted" in (merge.stderr.read() if merge.stderr else "")
    assert wait_until(lambda: not running(mark))
    assert git(hydra.repo, "rev-parse", "HEAD") == before


@pytest.mark.slow
def test_checks_that_could_not_be_run_are_not_taken_for_none(hydra: Hydra) -> None:
    hydra.agent("claude", writes(RIGHT))
    race = hydra.race("-a", "claude", "--no-check")
    folder, lane = Path(race.document["folder"]), race.lane("claude")

    def judged(**more: object) -> Verdict:
        ended = as_race({"lanes": [{**lane, "checks": [], **more}]})
        return of_result(folder, lane["patch"]["base"], ended, Config())

    assert judged().exit_code == 0  # none was asked for
    why = "its checks cannot be run: no space left on device"
    document = judged(held_back=[why])
    (mine,) = document.lanes
    assert (document.exit_code, mine.state) == (1, "held_back")
    assert mine.reason == f"{why}; its patch is kept"
    assert [gate.text for gate in mine.gates] == [mine.reason]


@pytest.mark.slow
def test_checks_again_and_others(hydra: Hydra) -> None:
    hydra.agent("claude", writes(RIGHT))
    hydra.agent("codex", writes(WRONG))
    folder = Path(hydra.race("--check", UNITTEST).document["folder"])
    first = {path: path.read_bytes() for path in (folder / "checks").rglob("*") if path.is_file()}
    again = hydra.run("check", "--json")
    assert again.returncode == 1, again.stderr
    document = json.loads(again.stdout)
    assert [lane["lane"] for lane in document["lanes"]] == ["claude", "codex"]
    assert document["baseline_recorded"] is True
    assert document["folder"] == str(folder / "checks" / "2")
    assert {path: path.read_bytes() for path in first} == first
    process = hydra.run("check", "claude", "--check", "true", "--check", "b=exit 1")
    assert process.returncode == 1
    assert "b exited with 1; it fails on the base as well" in process.stdout
    assert hydra.run("check", "claude").returncode == 0
    assert hydra.run("check", "nobody").returncode == 2

"""Races whose agents, readers and disks do their worst: what is kept, and that it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import fakes
from tests.support.command import Hydra

EDIT = fakes.edit("a.txt", "x\n")
DONE = fakes.finish("done")
MB = 1024**2
SECRET = "made-up-anthropic-key"


def python(code: str) -> fakes.Step:
    return fakes.shell(sys.executable, "-c", code)


def peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def result_of(hydra: Hydra) -> dict[str, Any]:
    """The result, once it stands; the race may still be waiting for its reader."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for path in hydra.state.glob("*/runs/*/result.json"):
            document: dict[str, Any] = json.loads(path.read_text())
            return document
        time.sleep(0.02)
    raise AssertionError("no result")


@pytest.mark.full
@pytest.mark.parametrize(("to", "line"), [("stdout", 80), ("stdout", 0), ("stderr", 80)])
def test_a_flood_costs_no_memory_and_little_disk(hydra: Hydra, to: str, line: int) -> None:
    flood: fakes.Step = {"flood": {"to": to, "bytes": 300 * MB, "line": line}}
    gate = fakes.Barrier(hydra.scratch, "flooded")
    hydra.agent("claude", [EDIT, flood, *gate.stop(), DONE])
    race = hydra.start("race", "Do it", "-a", "claude", "-q")
    gate.wait(timeout=120)
    assert peak_mb(race.pid) < 64
    gate.open()
    race.communicate(timeout=60)
    (lane,) = result_of(hydra)["lanes"]
    assert (lane["status"], lane["patch"]["files"]) == ("completed", 1)
    (folder,) = hydra.state.glob("*/runs/*")
    assert (folder / "events.jsonl").stat().st_size < 200 * MB
    paths = [path for path in (folder / "lanes" / "claude").iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in paths) < 280 * MB


@pytest.mark.slow
def test_an_agent_cannot_write_into_its_prompt(hydra: Hydra) -> None:
    # Its tool's parent is the agent itself, whose descriptor 0 is the prompt.
    code = (
        "import os; place = f'/proc/{os.getppid()}/fd/0';"
        "os.write(os.open(place, os.O_WRONLY), b'x' * 4096)"
    )
    hydra.agent("claude", [EDIT, python(code), DONE])
    race = hydra.race("-a", "claude")
    prompt = Path(race.document["folder"], "lanes", "claude", "prompt.txt")
    assert "Do it" in prompt.read_text()
    assert "x" * 100 not in prompt.read_text()


@pytest.mark.slow
def test_a_secret_among_the_arguments_or_in_the_task_is_not_passed_on(hydra: Hydra) -> None:
    settings = f'[agents.claude]\nargs = ["--append-system-prompt", "{SECRET}"]\n'
    (hydra.home / "hydra.toml").write_text(settings)
    hydra.agent("claude", [EDIT, fakes.fail("error")])
    done = hydra.run("race", f"use {SECRET}", "-a", "claude", "--json")
    (lane,) = json.loads(done.stdout)["lanes"]
    assert SECRET not in json.dumps(lane)
    assert all(SECRET not in json.dumps(event) for event in hydra.events())
    patches = hydra.run("runs", "path").stdout.strip() + "/patches.git"
    process = subprocess.run(["git", "log", "claude"], cwd=patches, capture_output=True, check=True)
    assert b"use [redacted]" in process.stdout


@pytest.mark.slow
def test_ctrl_c_after_the_agent_was_done_does_not_undo_it(hydra: Hydra) -> None:
    # One lane has ended when the signal comes, one hangs, one waits for its place.
    gate = fakes.Barrier(hydra.scratch, "waiting")
    hydra.agent("claude", [EDIT, DONE])
    hydra.agent("codex", [EDIT, gate.arrive(), fakes.hang()])
    race = hydra.start("race", "Do it", "-a", "claude", "-a", "2xcodex", "--max-parallel", "1")
    gate.wait()
    race.send_signal(signal.SIGINT)
    race.communicate(timeout=120)
    lanes = {lane["lane"]: lane for lane in result_of(hydra)["lanes"]}
    assert race.returncode == 130
    assert (lanes["claude"]["status"], lanes["codex"]["status"]) == ("completed", "interrupted")
    assert lanes["codex"]["patch"]["files"] == 1
    begun = [event["lane"] for event in hydra.events() if event["kind"] == "agent_started"]
    assert begun == ["claude", "codex"]


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_that_never_reads_holds_up_no_lane_and_ctrl_c_ends_it(
    hydra: Hydra, stream: str
) -> None:
    steps = [fakes.say("hello " * 50), fakes.shell("true")]
    hydra.agent("claude", [EDIT, fakes.repeat(400, *steps), DONE])
    reader, writer = os.pipe()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: writer}
    events = ["--events"] if stream == "stdout" else []
    race = hydra.start("race", "Do it", "-a", "claude", *events, **streams)
    os.close(writer)
    try:
        (lane,) = result_of(hydra)["lanes"]
        assert lane["status"] == "completed"
        assert race.poll() is None  # it waits for its reader, as any program does
        while race.poll() is None:
            race.send_signal(signal.SIGINT)
            time.sleep(0.2)
    finally:
        os.close(reader)
        race.kill()
        race.wait()

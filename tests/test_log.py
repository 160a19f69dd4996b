"""The log: what it tells of a race, what it keeps to itself, and that it holds none up."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hydra import log
from hydra.cli import diagnosis
from tests.support import fakes
from tests.support.command import Hydra, in_turn

LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} \[")
SECRET = "made-up-anthropic-key"  # the environment's (tests/support/command.py)


def parsed(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def events_named(lines: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == event]


# --- what it tells ---------------------------------------------------------------------------


@pytest.mark.slow
def test_v_tells_what_was_decided_and_spawned_by_run_lane_and_attempt(hydra: Hydra) -> None:
    hydra.extra["HYDRA_LOG"] = str(hydra.scratch / "hydra.log")
    in_turn(hydra, [fakes.signal_self(11)], [fakes.edit("a.txt", SECRET), fakes.finish()])
    race = hydra.race("-a", "claude", "--retry", "1", "-v", "--check", f"test {SECRET}")
    run = race.document["run"]
    whose = f"run={run} lane=claude attempt="
    shown = [line for line in race.stderr.splitlines() if LINE.match(line)]
    assert any("spawned" in line and f"{whose}1 program=" in line for line in shown)
    assert any(
        "it is tried again" in line and f"{whose}1 after=no_terminal_event" in line
        for line in shown
    )
    (started,) = [line for line in shown if "agent is started" in line and f"{whose}2" in line]
    assert "confinement=" in started
    assert any("[checks.run]" in line and f"run={run} lane=_base" in line for line in shown)
    assert any("judged" in line and f"run={run} lane=claude rank=" in line for line in shown)
    assert not any("[git.runner]" in line or "environment=" in line for line in shown)

    # The file has everything, and what it says of whom; the run's own has it from the beginning.
    lines = parsed(hydra.scratch / "hydra.log")
    assert (hydra.scratch / "hydra.log").stat().st_mode & 0o777 == 0o600
    begun = {line["attempt"]: line for line in events_named(lines, "its agent is started")}
    assert set(begun) == {1, 2}
    assert {(line["run"], line["lane"]) for line in begun.values()} == {(run, "claude")}
    assert "ANTHROPIC_API_KEY" in begun[1]["environment"]
    spawned = [line for line in events_named(lines, "spawned") if line.get("attempt") == 2]
    assert any(line["argv"][0] == begun[2]["program"] for line in spawned)
    assert any(line["argv"][1] == "version" for line in events_named(lines, "git"))
    gits = [line for line in events_named(lines, "git") if line.get("lane") == "claude"]
    assert {line["attempt"] for line in gits} == {1, 2}
    assert (
        parsed(Path(race.document["folder"], "log.jsonl"))[: len(lines) // 2]
        == (lines[: len(lines) // 2])
    )
    for text in (*shown, json.dumps(lines), Path(race.document["folder"], "log.jsonl").read_text()):
        assert SECRET not in text
    assert "[redacted]" in json.dumps(events_named(lines, "check"))


@pytest.mark.slow
def test_without_it_nothing_is_said_and_structlog_is_not_imported(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    line = (sys.executable, "-X", "importtime", "-m", "hydra", "race", "Do it", "-a", "claude")
    done = hydra.execute(*line, "--check", "true", "-q")
    assert "hydra.log" in done.stderr
    assert "structlog" not in done.stderr
    assert "hydra.cli.diagnosis" not in done.stderr
    assert list(hydra.state.glob("*/runs/*/events.jsonl"))
    assert list(hydra.state.glob("*/runs/*/log.jsonl")) == []


# --- what goes wrong with it -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fifo", "/dev/full"])
def test_a_file_that_takes_nothing_is_one_warning(hydra: Hydra, name: str) -> None:
    os.mkfifo(hydra.scratch / "fifo")
    hydra.extra["HYDRA_LOG"] = str(hydra.scratch / name)
    hydra.agent("claude", [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--no-check")
    assert race.lane("claude")["status"] == "completed"
    warnings = [line for line in race.stderr.splitlines() if "cannot be written" in line]
    assert len(warnings) == 1, race.stderr
    assert warnings[0].startswith(f"hydra: the log {hydra.scratch / name} cannot be written: ")


@pytest.mark.slow
def test_a_stderr_that_nobody_reads_holds_nothing_up(hydra: Hydra) -> None:
    hydra.extra["HYDRA_LOG"] = str(hydra.scratch / "hydra.log")
    hydra.agent("claude", [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    inlet, outlet = os.pipe()
    os.set_blocking(outlet, False)
    with suppress(BlockingIOError):
        while os.write(outlet, bytes(65536)):
            pass
    os.set_blocking(outlet, True)
    streams = {"stdout": subprocess.DEVNULL, "stderr": outlet}
    process = hydra.start("race", "Do it", "-a", "claude", "--no-check", "-q", "-v", **streams)
    try:
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(outlet)
        os.close(inlet)
    assert events_named(parsed(hydra.scratch / "hydra.log"), "lane ended")


# --- one line, whatever somebody says --------------------------------------------------------


class Unsayable:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_a_line_is_json_whatever_is_in_it_and_has_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "hydra.log"
    diagnosed = diagnosis.start(0, str(file), {"MY_TOKEN": "hunter2-hunter2", "LANG": "C"})
    room = log.get_logger("hydra.git.runner")
    room.info("first", path=Path("/x"), raw=b"\xff\n", none=None, some=(1, 2.5), more={"late": 1})
    room.debug("second", argv=["a", "--key=hunter2-hunter2"], surrogate="\udc80")
    room.warning("third", it=Unsayable())
    log.hide(["another-secret", ""])
    try:
        raise ValueError("another-secret")
    except ValueError:
        room.warning("fourth", exc_info=True)
    logging.getLogger("git.cmd").warning("%s is slow", "hunter2-hunter2")
    logging.getLogger("trio").info("chatter")
    diagnosed.stop()
    first, second, third, fourth, fifth = parsed(file)
    assert first["logger"] == "git.runner"
    assert (first["path"], first["some"], first["late"]) == ("/x", [1, 2.5], 1)
    assert "none" not in first
    assert second["argv"] == ["a", "--key=[redacted]"]
    assert (third["event"], third["unsaid"]) == ("third", "RuntimeError")
    assert fourth["exception"].splitlines()[-1] == "ValueError: [redacted]"
    assert (fifth["logger"], fifth["event"]) == ("git.cmd", "[redacted] is slow")

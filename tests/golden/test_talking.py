"""Agents that are talked to, as `hydra race` runs them: what is said, what is kept, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support import talkers
from tests.support.command import Hydra, Race
from tests.support.processes import namespaces_work, running, wait_until
from tests.support.talkers import lane_file, sent, talk

MODES = [pytest.param((), id="confined"), pytest.param(("open",), id="open")]


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    return talkers.placed(scratch, repo)


def acts(race: Race) -> list[str]:
    return [row["act"] for row in sent(race)]


def agents_events(hydra: Hydra) -> list[tuple[str, str, object]]:
    return [(e["kind"], e["sub"], e["data"]) for e in hydra.events() if e["source"] == "agent"]


@pytest.mark.slow
def test_it_asks_is_answered_and_goes_when_its_stdin_ends(hydra: Hydra) -> None:
    race = talk(hydra, "write a.txt hello\nask one\nask two")
    lane = race.lane("talker")
    assert acts(race) == ["write", "write", "write", "close_input"]
    prompt, row, two = (json.loads(act["text"]) for act in sent(race)[:3])
    assert (prompt["prompt"][:17], row, two) == (
        "write a.txt hello",
        {"answer": "one"},
        {"answer": "two"},
    )
    texts = [e["data"]["text"] for e in hydra.events() if e["kind"] == "message"]
    assert texts == ["heard {'answer': 'one'}", "heard {'answer': 'two'}"]
    # It went by itself, and with an error: nobody had said that it was done.
    assert (lane["status"], lane["error"]["reason"]) == ("failed", "exit_code")


@pytest.mark.slow
def test_its_server_is_called_and_it_is_sent_away_once_it_is_done(hydra: Hydra) -> None:
    race = talk(hydra, "leak it\nserve x")
    lane = race.lane("talker")
    assert (lane["status"], lane["error"], race.code) == ("completed", None, 0)
    assert lane["exit"]["code"] == 5
    assert acts(race) == ["write", "call", "call", "finish"]
    stopping = [e["data"] for e in hydra.events() if e["kind"] == "stopping"]
    assert [row["reason"] for row in stopping] == ["finished"]
    shown = hydra.run("diff", "talker").stdout
    assert "+served" in shown
    # Its connections were closed before it was told to go.
    assert "+True" in shown
    # A secret made for it stands nowhere in the record.
    assert b"my password is [redacted]" in lane_file(race, "raw.jsonl")
    assert b"Bearer" not in lane_file(race, "sent.jsonl")
    assert b"TALKER_PASSWORD" not in Path(race.document["folder"], "plan.json").read_bytes()


@pytest.mark.slow
def test_the_record_alone_gives_the_same_events(hydra: Hydra) -> None:
    """Also where an adapter wants nonsense done: that costs a warning."""
    race = talk(hydra, "write a.txt hello\nask one\nconfuse me\nserve x")
    adapter = talkers.adapter("talker", hydra.scratch / "site")
    again = talkers.replayed(adapter, lane_file(race, "raw.jsonl"))
    seen = [event for event in agents_events(hydra) if event[0] != "completed"]
    assert [(e.kind, e.sub, e.data) for e in again] == seen
    assert len(seen) > 5
    lane = race.lane("talker")
    assert lane["status"] == "completed"
    assert any("str is no act" in warning for warning in lane["warnings"])


# --- ended from outside ----------------------------------------------------------------------


def begun(hydra: Hydra, task: str, *args: str) -> subprocess.Popen[str]:
    """A race that has come to where its agent says `reached`."""
    process = hydra.start("race", task, "-q", "-a", "talker", *talkers.ARGS, *args)

    def reached() -> bool:
        # Not the folder with a dot before its name: it is still being made, and will be renamed.
        files = hydra.state.glob("*/runs/[!.]*/events.jsonl")
        return any(b'"reached"' in file.read_bytes() for file in files)

    assert wait_until(lambda: reached() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def unconfined(hydra: Hydra, mode: tuple[str, ...]) -> None:
    if mode:
        broken = hydra.scratch / "broken"
        broken.mkdir()
        (broken / "bwrap").write_text("#!/bin/sh\nexit 1\n")
        (broken / "bwrap").chmod(0o755)
        hydra.path.insert(0, broken)
    elif not namespaces_work():
        pytest.skip("bwrap makes no PID namespace here")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", ["hang it", pytest.param("serve hold", marks=pytest.mark.full)])
def test_nothing_is_left_of_a_conversation_whose_hydra_is_killed(
    hydra: Hydra, task: str, mode: tuple[str, ...]
) -> None:
    unconfined(hydra, mode)
    process = begun(hydra, task)
    assert running(str(hydra.scratch / "programs"))
    process.kill()
    process.communicate()
    assert wait_until(lambda: not running(str(hydra.scratch), keepers=True))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "task", [pytest.param("write a.txt x\nhang it", marks=pytest.mark.full), "serve hold"]
)
def test_an_interrupt_ends_it_in_order_and_keeps_its_patch(
    hydra: Hydra, task: str, mode: tuple[str, ...]
) -> None:
    unconfined(hydra, mode)
    process = begun(hydra, task)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert running(str(hydra.scratch), keepers=True) == []
    (ended,) = [e["data"] for e in hydra.events() if e["kind"] == "lane_ended"]
    assert ended["status"] == "interrupted"
    assert "+" in hydra.run("diff", "talker").stdout

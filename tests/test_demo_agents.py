"""The scripted agents behave as the real CLIs do: wire formats, probes, signals, processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hydra.commands.demo import race, repository
from hydra.commands.demo.script import Step
from hydra.paths import fixtures
from hydra.race.plan import SUBJECT, title
from tests.conftest import git
from tests.support import fakes
from tests.support.command import completed

LINES: Mapping[str, tuple[str, ...]] = {
    "claude": ("-p", "--output-format", "stream-json", "--verbose"),
    "codex": ("exec", "--json", "-"),
    "cursor-agent": ("-p", "--output-format", "stream-json", "--trust", "--force"),
}
AGENTS = tuple(LINES)

WORK: Sequence[Step] = (
    fakes.say("I'll look."),
    fakes.think("A pager."),
    fakes.edit("new/file.txt", "one\n"),
    fakes.replace("new/file.txt", "one", "two"),
    fakes.shell("sh", "-c", "cat new/file.txt; exit 3"),
    fakes.edit("gone.txt", ""),
    fakes.delete("gone.txt"),
    fakes.finish("Done."),
)


@pytest.fixture
def work(scratch: Path) -> Path:
    """The folder that the agent works in."""
    folder = scratch / "work"
    folder.mkdir()
    return folder


def run(bin_folder: Path, agent: str, work: Path, *args: str) -> tuple[int, str, str]:
    """Of a scripted agent with nothing of the test's environment: only what an allowlist names."""
    argv = [str(bin_folder / agent), *(args or LINES[agent])]
    environ = {"PATH": os.environ["PATH"], "IS_SANDBOX": "1"}
    done = completed(argv, cwd=work, env=environ, input="Fix it")
    return done.returncode, done.stdout, done.stderr


def events(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.split("\n") if line]


# Wire formats


def signature(event: Mapping[str, Any]) -> tuple[str, ...]:
    """What kind of event it is: its types, down to the item or the content block."""
    lines = [str(event.get("type")), str(event.get("subtype", ""))]
    item, message, call = (event.get(name) or {} for name in ("item", "message", "tool_call"))
    lines.append(str(item.get("type", "")))
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        lines += [str(block["type"]) for block in message["content"]]
    return (*lines, *call)


def keys(value: object, where: str = "") -> set[str]:
    """Every key of an event by its whole path; what a tool was given is left to the model."""
    if isinstance(value, list):
        return {key for inner in value for key in keys(inner, where)}
    if not isinstance(value, dict) or where.endswith((".input", ".tool_input")):
        return set()
    names: set[str] = set()
    for name, inner in value.items():
        path = f"{where}.{'MODEL' if where.endswith('.modelUsage') else name}"
        names |= {path} | keys(inner, path)
    return names


def recorded(agent: str) -> dict[tuple[str, ...], set[str]]:
    """Of every kind of event in the recorded streams of `agent`: all keys seen in it."""
    rows: dict[tuple[str, ...], set[str]] = {}
    for path in sorted((fixtures() / "adapters" / agent).rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            try:
                event = json.loads(line)
            except ValueError:
                continue  # some recordings are of broken streams
            if isinstance(event, dict):
                rows.setdefault(signature(event), set()).update(keys(event))
    return rows


@pytest.mark.parametrize("agent", AGENTS)
def test_every_key_of_a_scripted_event_was_seen_in_a_real_one(
    agent: str, scratch: Path, work: Path
) -> None:
    real = recorded(agent)
    _, out, _ = run(fakes.place(scratch, agent, WORK), agent, work)
    compared = [event for event in events(out) if signature(event) in real]
    made_up = {
        (signature(event), key)
        for event in compared
        for key in keys(event) - real[signature(event)]
    }
    assert made_up == set()
    assert len({signature(event) for event in compared}) >= 5


# Lines the real CLIs refuse


@pytest.mark.parametrize(
    ("agent", "args", "code", "says"),
    [
        ("claude", ("-p", "--bogus"), 1, "error: unknown option '--bogus'"),
        ("claude", ("-p", "--output-format", "stream-json"), 1, "requires --verbose"),
        ("claude", ("--verbose",), 1, "Input must be provided"),
        ("codex", ("exec", "--json", "--full-auto"), 2, "unexpected argument '--full-auto' found"),
        ("codex", ("--model", "x"), 1, "stdin is not a terminal"),
        ("cursor-agent", ("-p", "--force"), 1, "--trust"),
    ],
)
def test_a_line_that_the_real_cli_refuses_is_refused(
    agent: str, args: tuple[str, ...], code: int, says: str, scratch: Path, work: Path
) -> None:
    got, out, err = run(fakes.place(scratch, agent, WORK), agent, work, *args)
    assert (got, out, says in err) == (code, "", True)


# The demo


def unittest_of(folder: Path) -> int:
    argv = [sys.executable, "-m", "unittest", "-q"]
    return subprocess.run(argv, cwd=folder, capture_output=True).returncode


def test_the_repository_is_always_the_same_and_its_test_fails(scratch: Path) -> None:
    first = repository.make(scratch / "one")
    assert first == repository.make(scratch / "two")
    assert unittest_of(scratch / "one") == 1
    assert git(scratch / "one", "status", "--porcelain") == ""  # what tests leave is ignored
    subject = repository.TASK.splitlines()[0]
    assert title(repository.TASK) == subject
    assert len(subject) <= SUBJECT


def test_the_demo_has_one_right_patch_another_right_patch_and_one_that_moves_the_goal(
    scratch: Path,
) -> None:
    demo = race.prepare(scratch)
    without_pauses(demo)
    environ = demo.environment({"PATH": os.environ["PATH"], "OPENAI_API_KEY": "made-up"})
    assert "OPENAI_API_KEY" not in environ
    for agent in demo.agents:
        lane = scratch / "lanes" / agent
        shutil.copytree(demo.repository, lane)
        line = [str(demo.bin_folder / agent), *LINES[agent]]
        done = subprocess.run(
            line, cwd=lane, input=demo.task.encode(), env=environ, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        assert unittest_of(lane) == 0
    lanes = scratch / "lanes"
    for agent, right in (("codex", True), ("cursor-agent", False)):
        shutil.copy(lanes / "claude" / "test_pager.py", lanes / agent)
        assert (unittest_of(lanes / agent) == 0) is right


def script_of(program: Path) -> dict[str, Any]:
    """What a scripted agent does, behind the two lines that a shell reads of it."""
    script: dict[str, Any] = json.loads(program.read_text().split("\n", 2)[2])
    return script


def without_pauses(demo: race.Demo) -> None:
    for path in demo.bin_folder.iterdir():
        script = script_of(path)
        script["steps"] = [step for step in script["steps"] if "pause" not in step]
        head = path.read_text().split("\n", 2)[:2]
        path.write_text("\n".join((*head, json.dumps(script))))


def test_the_demo_lies_where_hydra_keeps_state_and_is_watched_for_some_seconds(
    scratch: Path,
) -> None:
    folder = race.new_folder()
    try:
        assert not folder.is_relative_to("/tmp")
        assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        folder.rmdir()
    demo = race.prepare(scratch)
    assert demo.removal == f"rm -rf {scratch}"
    assert demo.command("diff", "claude") == f"{scratch}/hydra diff claude"
    for agent in demo.agents:
        steps = script_of(demo.bin_folder / agent)["steps"]
        assert 1.5 < sum(step.get("pause", 0) for step in steps) < 3.5

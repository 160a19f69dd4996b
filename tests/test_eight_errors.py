"""Each kind of the taxonomy brought about for real, with its four fields, for eyes and programs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra.errors import KINDS
from tests.support import fakes
from tests.support.command import Hydra, Race

GOOD = [fakes.edit("good.txt", "well done\n"), fakes.finish("done")]


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    item = Hydra(scratch, repo)
    item.agent("codex", GOOD)
    item.agent("claude", GOOD)
    return item


def binary_missing(hydra: Hydra) -> None:
    (hydra.home / "hydra.toml").write_text('[agents.claude]\npath = "/nowhere/claude"\n')


def auth_missing(hydra: Hydra) -> None:
    hydra.extra["ANTHROPIC_API_KEY"] = ""
    hydra.agent("claude", GOOD, signed_in=False)


def unsupported_version(hydra: Hydra) -> None:
    hydra.agent("codex", GOOD, version="0.40.0")


def unsupported_flag(hydra: Hydra) -> None:
    text = "Usage: claude [options]\n\nOptions:\n  -p, --print   Print and exit\n"
    hydra.agent("claude", GOOD, help_texts={"--help": text})


def stream_parse_error(hydra: Hydra) -> None:
    garbage = [fakes.emit("this is no JSON at all\n") for _ in range(3)]
    hydra.agent("claude", [*garbage, fakes.leave(0)])


def timed_out(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.say("I think"), fakes.hang()])


CASES: dict[str, tuple[Callable[[Hydra], None], str, tuple[str, ...]]] = {
    "BinaryMissing": (binary_missing, "claude", ()),
    "AuthMissing": (auth_missing, "claude", ()),
    "UnsupportedVersion": (unsupported_version, "codex", ()),
    "UnsupportedFlag": (unsupported_flag, "claude", ()),
    "StreamParseError": (stream_parse_error, "claude", ()),
    "TimedOut": (timed_out, "claude", ("--idle-timeout", "3s")),
}


def check(race: Race, kind: str, victim: str) -> Mapping[str, Any]:
    """The four fields are there, and the neighbour was not touched by it."""
    lane = race.lane(victim)
    error: Mapping[str, Any] = lane["error"]
    assert error is not None, lane
    assert error["kind"] == kind, error
    assert error["adapter"] == victim
    assert error["command"], error
    assert isinstance(error["stderr"], str)
    assert error["hint"], error
    assert error["message"]
    assert not lane["usable"]
    neighbour = race.lane("codex" if victim == "claude" else "claude")
    assert neighbour["status"] == "completed", neighbour
    assert neighbour["usable"]
    assert race.code == 1
    return error


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "TimedOut")) for kind in CASES]
)
def test_each_kind_with_its_four_fields(hydra: Hydra, kind: str) -> None:
    bring_about, victim, options = CASES[kind]
    bring_about(hydra)
    race = hydra.race("-a", "claude", "-a", "codex", *options)
    shown_on_a_terminal(hydra, check(race, kind, victim))


def shown_on_a_terminal(hydra: Hydra, error: Mapping[str, Any]) -> None:
    """The same fields and next step, as `hydra race` and `hydra runs show` print them."""
    shown = hydra.run("runs", "show").stdout
    assert f"why      {error['message'][:20]}" in shown  # its kind is for programs
    assert f"adapter  {error['adapter']}" in shown
    assert "command  " in shown
    assert f"next     {error['hint'][:20]}" in shown


@pytest.mark.slow
def test_spawn_failed_is_said_with_what_the_system_said(hydra: Hydra) -> None:
    # Its probes are answered; then the interpreter that it names goes, as in an upgrade.
    program = hydra.path[0] / "claude"
    interpreter = program.with_name("own-sh")
    shutil.copy("/bin/sh", interpreter)
    program.write_text(program.read_text().replace("#!/bin/sh", f"#!{interpreter}", 1))
    gate = fakes.Barrier(hydra.scratch, "hooked")
    waits = f"echo . > {gate.path}; until [ -e {gate.path.parent}/open ]; do sleep 0.05; done"
    (hydra.home / "hydra.toml").write_text(f"[hooks]\npre_run = ['{waits}']\n")
    begun = hydra.start("race", "Do it", "--json", "-a", "claude", "-a", "codex")
    gate.wait()
    interpreter.unlink()
    gate.open()
    printed, stderr = begun.communicate(timeout=60)
    race = Race(begun.returncode, json.loads(printed), stderr)
    error = check(race, "SpawnFailed", "claude")
    assert error["reason"] == "exec"
    shown_on_a_terminal(hydra, error)
    assert any(event["kind"] == "lane_opened" for event in hydra.events())


def test_no_kind_is_left_out() -> None:
    assert set(KINDS) == {*CASES, "SpawnFailed", "Interrupted", "AgentFailed"}

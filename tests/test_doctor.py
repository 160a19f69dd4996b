"""`hydra doctor` as a person meets it, with made-up programs of every agent's name on PATH."""

from __future__ import annotations

import ctypes
import json
import os
import re
import struct
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.adapters.folders import folders_of, place_of
from hydra.model import Tier
from hydra.reporters.text import width
from tests.support import fakes
from tests.support.command import Hydra

ALLOWED = "--allow-experimental-adapters"
EXPERIMENTAL = [one for one in registry.everyone() if one.descriptor.tier is Tier.EXPERIMENTAL]
NAMES = sorted(
    {name for one in EXPERIMENTAL for name in one.descriptor.binaries}
    | {name for one in EXPERIMENTAL for name in one.descriptor.generic_binaries}
)


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish("done")])
    return hydra


class Marks:
    """Programs that leave a mark when they are started."""

    def __init__(self, hydra: Hydra) -> None:
        self._fifo = fakes.Fifo(hydra.scratch / "marks")
        self._bin = hydra.scratch / "fake"
        self._bin.mkdir()
        hydra.path.append(self._bin)

    def program(self, name: str, body: str = "echo nonsense") -> Path:
        path = self._bin / name
        path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"{name} $*\" > {self._fifo.path}\n{body}\n")
        path.chmod(0o755)
        return path

    def taken(self) -> list[str]:
        found = []
        while (line := self._fifo.take(b"\n", 0)) is not None:
            found.append(line.decode())
        return found

    def close(self) -> None:
        self._fifo.close()


@pytest.fixture
def marks(hydra: Hydra) -> Iterator[Marks]:
    marks = Marks(hydra)
    yield marks
    marks.close()


def health(hydra: Hydra, *words: str) -> dict[str, dict[str, Any]]:
    told = hydra.run("doctor", "--json", *words, timeout=120)
    assert "Traceback" not in told.stderr
    assert told.returncode == 0, told.stderr
    return {one["key"]: one for one in json.loads(told.stdout)["agents"]}


# --- who is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("doctor",), ("agents",), ("race", "x", "--dry-run")])
def test_without_the_flag_no_experimental_program_is_started(
    hydra: Hydra, marks: Marks, words: tuple[str, ...]
) -> None:
    for name in NAMES:
        if name != "claude":
            marks.program(name)
    told = hydra.run(*words)
    assert told.returncode == 0, told.stderr
    assert marks.taken() == []


def test_with_it_each_program_is_asked_each_question_once(hydra: Hydra, marks: Marks) -> None:
    for name in NAMES:
        if name != "claude":
            marks.program(name)
    told = health(hydra, ALLOWED)
    asked = Counter(marks.taken())
    assert {line.split()[0] for line in asked} == set(NAMES) - {"claude"}
    assert {line for line, times in asked.items() if times > 1} == set()
    assert told["claude"]["health"] == "ready"
    states = {told[one.key()]["health"] for one in EXPERIMENTAL}
    assert states <= {"not found", "broken", "sign-in needed", "not run", "ready"}


def test_what_is_remembered_is_not_asked_again_until_it_is_wanted(
    hydra: Hydra, marks: Marks
) -> None:
    program = marks.program("gemini", "echo 0.61.0; echo Usage: gemini")
    health(hydra, ALLOWED)
    assert sorted(marks.taken()) == ["gemini --help", "gemini --version"]  # gemini-acp's as well
    health(hydra, ALLOWED)
    assert marks.taken() == []
    assert hydra.run("doctor", ALLOWED, "--fresh").returncode == 0
    assert len(marks.taken()) == 2
    program.write_text(program.read_text() + "# an update\n")
    health(hydra, ALLOWED)
    assert len(marks.taken()) == 2


def test_a_sign_in_is_asked_again_when_a_key_is_set(hydra: Hydra, marks: Marks) -> None:
    body = 'case "$1" in login) exit 1;; esac; echo codex-cli 0.169.0'
    marks.program("codex", body)
    hydra.extra["CODEX_API_KEY"] = ""
    asked = "codex login status"
    health(hydra)
    assert asked in marks.taken()
    health(hydra)
    assert asked not in marks.taken()
    (hydra.home / ".codex").mkdir()
    (hydra.home / ".codex" / "auth.json").write_text("{}")
    assert health(hydra)["codex"]["found"]["signed_in"] == "seems so"
    assert asked in marks.taken()


# --- what is broken ------------------------------------------------------------------------------


BROKEN = {
    "exit": "exit 1",
    "garbage": "printf '\\377\\376\\033[2J\\000%s' x",
    "kills itself": "kill -9 $$",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_experimental_agent_is_told_and_all_else_goes_on(
    hydra: Hydra, marks: Marks, how: str
) -> None:
    marks.program("gemini", BROKEN[how])
    told = health(hydra, ALLOWED)
    assert told["gemini"]["health"] in ("broken", "not found")
    assert told["gemini"]["next"]
    assert told["claude"]["health"] == "ready"
    shown = hydra.run("doctor", ALLOWED)
    assert shown.returncode == 0
    assert "\033" not in shown.stdout
    race = hydra.run("race", "Do it", "-a", "claude", "-a", "gemini", ALLOWED)
    assert race.returncode == 0, race.stderr
    assert "gemini" in race.stderr + race.stdout
    (result,) = hydra.state.glob("*/runs/*/result.json")
    lanes = {lane["lane"]: lane for lane in json.loads(result.read_text())["lanes"]}
    assert (lanes["claude"]["usable"], lanes["gemini"]["status"]) == (True, "not_started")
    assert lanes["gemini"]["error"]["message"].split("`")[0] in race.stderr + race.stdout


@pytest.mark.slow
def test_one_that_hangs_holds_nobody_up_but_itself(hydra: Hydra, marks: Marks) -> None:
    marks.program("cursor-agent", "exec sleep 600")  # its limit is 10 s
    help_hangs = 'case "$1" in --help) exec sleep 600;; esac; echo codex-cli 0.169.0'
    marks.program("codex", help_hangs)
    for number in range(3):
        marks.program(("qwen", "droid", "omp")[number], "exit 1")
    began = time.monotonic()
    told = health(hydra, ALLOWED)
    assert told["cursor-agent"]["health"] == "broken"
    assert "did not answer within 10 s" in told["cursor-agent"]["why"]
    assert told["codex"]["why"].endswith("did not answer within 10 s")  # no flag "is gone"
    assert time.monotonic() - began < 40
    assert told["claude"]["health"] == "ready"
    assert fakes.left("cursor-agent") == []


# --- what the last races said --------------------------------------------------------------------


def test_a_race_that_was_limited_is_seen_by_doctor(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.fail("rate_limit")])
    assert hydra.run("race", "Do it", "-a", "claude", "-q").returncode == 1
    told = health(hydra)["claude"]
    assert (told["health"], told["found"]["ready"]) == ("limited", True)
    assert "limited: Claude Code" in hydra.run("doctor").stdout
    assert "limited" in hydra.run("agents").stdout
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish("done")])
    assert hydra.run("race", "Do it", "-a", "claude", "-q").returncode == 0
    assert health(hydra)["claude"]["health"] == "ready"


# --- how it looks --------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_it_fits_and_breaks_no_word(hydra: Hydra, marks: Marks, columns: int) -> None:
    for name in ("gemini", "cline", "qwen"):
        marks.program(name, "exit 1")
    hydra.extra["COLUMNS"] = str(columns)
    for words in (("doctor",), ("doctor", ALLOWED)):
        shown = hydra.run(*words).stdout
        assert max(map(width, shown.splitlines())) <= columns, shown
        whole = re.sub(r"/\n +", "/", shown)  # a path may go on after a slash
        some = (ALLOWED, "Experimental agents: ") if len(words) == 1 else ("gemini", "opencode-acp")
        for word in some:
            assert word in whole, (word, shown)
        for internal in ("force_edit_mode", "json_stream", " of 25", "FAIL  codex"):
            assert internal not in shown
    assert len(hydra.run("doctor").stdout.splitlines()) < 25


def test_json_has_health_and_next_for_each(hydra: Hydra) -> None:
    told = health(hydra)
    assert set(told) == set(registry.OWN)
    assert {told[one.key()]["health"] for one in EXPERIMENTAL} == {"not probed", "not run"}
    for one in told.values():
        assert one["next"]
        assert one["until"] is None


# --- nobody's credentials are opened -------------------------------------------------------------


class Watched:
    """Files of which every opening and reading is noticed, by whatever process (inotify)."""

    _OPENED, _READ = 0x20, 0x1

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            pytest.skip("no inotify here")
        self._names: dict[int, Path] = {}

    def add(self, path: Path) -> None:
        number = self._libc.inotify_add_watch(
            self._fd, os.fsencode(path), self._OPENED | self._READ
        )
        assert number > 0, path
        self._names[number] = path

    def seen(self) -> set[Path]:
        found = set()
        try:
            while data := os.read(self._fd, 65536):
                while data:
                    number, _, _, size = struct.unpack_from("iIII", data)
                    found.add(self._names[number])
                    data = data[16 + size :]
        except BlockingIOError:
            return found
        return found


def test_credentials_are_never_opened(hydra: Hydra, marks: Marks) -> None:
    for name in NAMES:
        if name != "claude":
            marks.program(name, "exit 0")
    marks.program("codex", "exit 0")
    watched, made = Watched(), []
    for adapter in registry.everyone():
        for folder in folders_of(adapter.descriptor):
            for name in folder.credentials:
                path = place_of(folder, {}, hydra.home) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("made-up")
                path.chmod(0)
                made.append(path)
    assert len(set(made)) > 10
    for path in set(made):
        watched.add(path)
    assert watched.seen() == set()
    for words in (("doctor", ALLOWED), ("doctor", "--json"), ("agents", ALLOWED)):
        assert "Traceback" not in hydra.run(*words).stderr
        assert watched.seen() == set(), words
    made[0].chmod(0o600)
    made[0].read_text()
    assert watched.seen() == {made[0]}  # it would have been seen


def test_the_view_is_the_one_that_a_lane_has(hydra: Hydra) -> None:
    own, moved = hydra.repo / "venv", hydra.scratch / "moved"
    for folder in (own, moved):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "tool").write_text("#!/bin/sh\n")
        (folder / "bin" / "tool").chmod(0o755)
    (own / "pyvenv.cfg").write_text("home = /usr/bin\n")
    hydra.path += [own / "bin", moved / "bin"]
    hydra.extra["CODEX_HOME"] = str(moved)
    ran = hydra.run("doctor", "--view", "--json", timeout=120)
    shown = [Path(row["path"]) for row in json.loads(ran.stdout)["shown"]]
    # The checkout's own environment is for agents; another agent's settings are for nobody.
    assert any((own / "bin").is_relative_to(place) for place in shown)
    assert not any((moved / "bin" / "tool").is_relative_to(place) for place in shown)

"""`hydra doctor` as a person meets it, with made-up programs of every agent's name on PATH."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import aider, registry
from hydra.adapters.config_dirs import folders_of, place_of
from hydra.records.agent import Tier
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import namespaces_work, token

needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")
ALLOWED = "--allow-experimental-adapters"
EXPERIMENTAL = [
    adapter for adapter in registry.everyone() if adapter.descriptor.tier is Tier.EXPERIMENTAL
]
NAMES = sorted(
    {
        name
        for adapter in EXPERIMENTAL
        for name in (*adapter.descriptor.binaries, *adapter.descriptor.generic_binaries)
        if name != "claude"
    }
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
        names = []
        while (line := self._fifo.take(b"\n", 0)) is not None:
            names.append(line.decode())
        return names

    def close(self) -> None:
        self._fifo.close()


@pytest.fixture
def marks(hydra: Hydra) -> Iterator[Marks]:
    marks = Marks(hydra)
    yield marks
    marks.close()


def health(hydra: Hydra, *args: str, code: int = 0) -> dict[str, dict[str, Any]]:
    process = hydra.run("doctor", "--json", *args, timeout=120)
    assert "Traceback" not in process.stderr
    assert process.returncode == code, process.stderr
    return {load["key"]: load for load in json.loads(process.stdout)["agents"]}


# --- who is asked --------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_the_flag_no_experimental_program_is_started(hydra: Hydra, marks: Marks) -> None:
    for name in NAMES:
        marks.program(name)
    documents = health(hydra)
    assert set(documents) == set(registry.OWN)
    assert {documents[adapter.key()]["health"] for adapter in EXPERIMENTAL} == {"not probed"}
    assert all(row["next"] for row in documents.values())
    for terms in (("agents",), ("race", "x", "--dry-run")):
        assert hydra.run(*terms).returncode == 0
    assert marks.taken() == []
    # With it each is asked each question once.
    documents = health(hydra, ALLOWED)
    asked = Counter(marks.taken())
    assert {line.split()[0] for line in asked} == set(NAMES)
    assert {line for line, times in asked.items() if times > 1} == set()
    assert documents["claude"]["health"] == "ready"
    states = {documents[adapter.key()]["health"] for adapter in EXPERIMENTAL}
    assert states <= {"not found", "broken", "sign-in needed", "ready"}


@pytest.mark.slow
def test_what_is_remembered_is_not_asked_again_until_it_is_wanted(
    hydra: Hydra, marks: Marks
) -> None:
    program = marks.program("gemini", "echo 0.61.0; echo Usage: gemini")
    marks.program("codex", 'case "$1" in login) exit 1;; esac; echo codex-cli 0.169.0')
    hydra.extra["CODEX_API_KEY"] = ""
    asked = ["gemini --help", "gemini --version"]

    def again(*args: str) -> list[str]:
        assert health(hydra, ALLOWED, *args)["codex"]
        return sorted(line for line in marks.taken() if "gemini" in line or "login" in line)

    assert again() == ["codex login status", *asked]
    assert again() == []
    assert again("--fresh") == ["codex login status", *asked]
    program.write_text(program.read_text() + "# an update\n")
    (hydra.home / ".codex").mkdir()
    (hydra.home / ".codex" / "auth.json").write_text("{}")  # a sign-in, when a key is set
    assert again() == ["codex login status", *asked]
    assert health(hydra)["codex"]["found"]["signed_in"] == "seems so"


@pytest.mark.slow
def test_what_hangs_on_an_agents_settings_is_asked_again_when_they_change(
    hydra: Hydra, marks: Marks
) -> None:
    """A model of its own, by a variable or in a file of HOME, named and taken away."""
    settings = hydra.home / ".aider.conf.yml"
    flags = " ".join(flag.name for flag in aider.ADAPTER.table)
    marks.program(
        "aider",
        f'model=${{AIDER_MODEL:-$(cat "$HOME/{settings.name}" 2>/dev/null)}}\n'
        'case "$*" in *--list-models*) echo "  - model: ${model:-None}";; --help) '
        f'echo "aider is AI pair programming"; printf "  %s\\n" {flags};; '
        "*) echo aider 0.86.2;; esac",
    )

    def refusal() -> str:
        process = hydra.run("race", "x", "-a", "aider", "--dry-run", ALLOWED)
        return process.stderr if process.returncode else ""

    assert "no model of its own" in refusal()
    hydra.extra["AIDER_MODEL"] = "m"
    assert refusal() == ""
    hydra.extra["AIDER_MODEL"] = ""
    settings.write_text("m\n")
    assert refusal() == ""
    marks.taken()
    assert refusal() == ""
    assert marks.taken() == []  # nothing has changed
    settings.unlink()
    assert "no model of its own" in refusal()


@pytest.mark.slow
def test_of_an_agent_that_is_not_here_no_capability_is_denied(hydra: Hydra, marks: Marks) -> None:
    """Nor of one whose name another program has, nor of one that gave no answer."""
    marks.program("codex", "kill -9 $$")
    marks.program("pi", "case $1 in --version) echo 3.14.15;; *) echo Usage: pi DIGITS;; esac")
    # A folder that no variable moves sets none: not even one without a name.
    marks.program("aider", "tr '\\0' '\\n' </proc/$$/environ | grep -q ^= || echo aider 0.86.2")
    agents = json.loads(hydra.run("agents", "--json", ALLOWED).stdout)["agents"]
    rows = {agent["key"]: agent["found"] for agent in agents if agent["found"]}
    for key in ("codex", "pi", "gemini"):
        assert {item["present"] for item in rows[key]["capabilities"].values()} == {None}
    assert {item["present"] for item in rows["claude"]["capabilities"].values()} == {True}
    lines = hydra.run("agents", "gemini", ALLOWED).stdout.partition("capabilities\n")[2].split("\n")
    assert {line.split()[1] for line in lines if line} == {"?"}
    assert rows["pi"]["error"]["reason"] == "not_it"  # a bare version proves nothing
    assert "pi is not pi: neither" in rows["pi"]["error"]["message"]
    if namespaces_work():
        assert (rows["aider"]["version"], (hydra.home / ".aider").exists()) == ("0.86.2", False)


@pytest.mark.slow
@needs_bwrap
def test_what_an_agent_is_shown_is_named_and_counts_for_what_is_remembered(hydra: Hydra) -> None:
    (hydra.home / "hydra.toml").write_text("")
    hydra.extra["ANTHROPIC_API_KEY"] = ""
    program = hydra.agent("claude", [fakes.finish("done")])
    script = hydra.home / "work/launch/agent.py"
    script.parent.mkdir(parents=True)
    script.write_text(
        f"import os, sys\nos.execv({str(program)!r}, [{str(program)!r}, *sys.argv[1:]])\n"
    )
    launcher = hydra.scratch / "fake" / "claude"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nfile={script}\nexec python3 "$file" "$@"\n')
    launcher.chmod(0o755)
    hydra.path[:] = [launcher.parent]
    agents = hydra.scratch / "agents"
    hydra.extra["HYDRA_SHOW"] = str(agents)
    document = health(hydra, code=4)["claude"]
    assert document["health"] == "broken"
    assert document["next"].startswith('[confine] show = ["~/work"] in ~/hydra.toml: ')
    hydra.extra["HYDRA_SHOW"] = f"{agents}:~/work"
    document = health(hydra)["claude"]
    assert document["health"] == "ready", document


# --- what is broken ------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_broken_or_hangs_is_told_and_holds_up_nobody_but_itself(
    hydra: Hydra, marks: Marks
) -> None:
    mark = token()
    marks.program("cursor-agent", f"exec sleep {mark}")  # its limit is 10 s
    help_hangs = f'case "$1" in --help) exec sleep {mark};; esac; echo codex-cli 0.169.0'
    marks.program("codex", help_hangs)
    marks.program("cline", "exit 1")
    marks.program("gemini", "printf '\\377\\376\\033[2J\\000%s' x")
    marks.program("qwen", "kill -9 $$")
    began = time.monotonic()
    documents = health(hydra, ALLOWED)
    assert time.monotonic() - began < 40
    assert fakes.left(mark) == []
    assert documents["claude"]["health"] == "ready"
    assert documents["cursor-agent"]["health"] == "broken"
    for key in ("cursor-agent", "codex"):  # no flag "is gone"
        assert documents[key]["why"].endswith("did not answer within 10 s")
    broken = ("cline", "gemini", "qwen")
    for name in broken:
        assert documents[name]["health"] in ("broken", "not found")
        assert documents[name]["next"]
    named = [term for name in ("claude", *broken) for term in ("-a", name)]
    race = hydra.run("race", "Do it", *named, ALLOWED)
    assert race.returncode == 1, race.stderr
    (result,) = hydra.state.glob("*/runs/*/result.json")
    lanes = {lane["lane"]: lane for lane in json.loads(result.read_text())["lanes"]}
    assert lanes["claude"]["usable"]
    for name in broken:
        assert lanes[name]["status"] == "not_started"
        assert lanes[name]["error"]["message"].split("`")[0] in race.stderr + race.stdout


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
        paths = set()
        try:
            while data := os.read(self._fd, 65536):
                while data:
                    number, _, _, size = struct.unpack_from("iIII", data)
                    paths.add(self._names[number])
                    data = data[16 + size :]
        except BlockingIOError:
            return paths
        return paths


@pytest.mark.slow
def test_credentials_are_never_opened(hydra: Hydra, marks: Marks) -> None:
    for name in (*NAMES, "codex"):
        marks.program(name, "exit 0")
    watched, paths = Watched(), []
    for adapter in registry.everyone():
        for folder in folders_of(adapter.descriptor):
            for name in folder.credentials:
                path = place_of(folder, {}, hydra.home) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("made-up")
                path.chmod(0)
                paths.append(path)
    assert len(set(paths)) > 10
    for path in set(paths):
        watched.add(path)
    assert watched.seen() == set()
    for pair in (("doctor", ALLOWED), ("agents", "--json")):
        assert "Traceback" not in hydra.run(*pair).stderr
        assert watched.seen() == set(), pair
    paths[0].chmod(0o600)
    paths[0].read_text()
    assert watched.seen() == {paths[0]}  # it would have been seen

"""A scratch world for one live test: an account, a HOME, a repository, and `hydra` as a program.

HYDRA_LIVE_BIN     the folder of the real `claude` and `codex` (without it the tests are skipped)
HYDRA_LIVE_PYTHON  a Python that has Hydra installed and that an ordinary user may run, too
HYDRA_LIVE_STRICT  1: what cannot be run here fails instead of being skipped (.ci/run as root)
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hydra.conformance.server import ModelServer
from tests.live.leftovers import end, leftovers

BIN = Path(os.environ.get("HYDRA_LIVE_BIN", "/nonexistent"))
PYTHON = Path(os.environ.get("HYDRA_LIVE_PYTHON", sys.executable))
STRICT = os.environ.get("HYDRA_LIVE_STRICT") == "1"

AGENTS = ("claude", "codex")
ORDINARY_UID = 65534
CLAUDE_KEY = "sk-ant-made-up-claude-0123456789"
CODEX_KEY = "sk-made-up-codex-0123456789"
LONGEST_RACE = 180.0


def unmet(reason: str) -> None:
    """Skip this test and say why; under HYDRA_LIVE_STRICT fail."""
    if STRICT:
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True, slots=True)
class Race:
    """One `hydra race --json` that has ended."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def document(self) -> dict[str, Any]:
        """The `--json` document."""
        try:
            data = json.loads(self.stdout)
        except ValueError:
            pytest.fail(f"no JSON document on stdout\n{self}")
        assert isinstance(data, dict), str(self)
        return data

    def lane(self, name: str) -> dict[str, Any]:
        """One lane of the document."""
        lanes = {lane["lane"]: lane for lane in self.document.get("lanes", ())}
        assert name in lanes, str(self)
        lane: dict[str, Any] = lanes[name]
        return lane

    def error(self, name: str) -> tuple[str, str]:
        """(status, error's kind or "") of a lane."""
        lane = self.lane(name)
        return lane["status"], lane["error"]["kind"] if lane["error"] else ""

    def __str__(self) -> str:
        return (
            f"exit {self.exit_code} after {self.seconds:.1f} s\n"
            f"--- stdout\n{self.stdout[-6000:]}\n--- stderr\n{self.stderr[-6000:]}"
        )


@dataclass(slots=True)
class Place:
    """Where one test happens. `uid` is the account that hydra runs as."""

    root: Path
    uid: int
    server: ModelServer
    variables: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """The scratch HOME."""
        return self.root / "home"

    @property
    def state(self) -> Path:
        """Hydra's state folder."""
        return self.root / "state"

    @property
    def repo(self) -> Path:
        """The user's repository."""
        return self.root / "shop"

    @property
    def environment(self) -> dict[str, str]:
        """All that hydra's process gets to see."""
        node = shutil.which("node")
        folders = [str(BIN), *([str(Path(node).parent)] if node else []), "/usr/bin", "/bin"]
        return {
            "PATH": ":".join(dict.fromkeys(folders)),
            "HOME": str(self.home),
            "HYDRA_STATE_DIR": str(self.state),
            "HYDRA_CACHE_DIR": str(self.root / "cache"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": CLAUDE_KEY,
            "CODEX_API_KEY": CODEX_KEY,
            **self.variables,
        }

    def hand_over(self) -> None:
        """Give the whole scratch folder to the account."""
        if self.uid == os.geteuid():
            return
        for folder, folders, files in os.walk(self.root):
            for name in (".", *folders, *files):
                os.chown(Path(folder, name), self.uid, self.uid, follow_symlinks=False)

    def start(self, *argv: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """A program as the account, in its own process group, its output in pipes."""
        other = self.uid != os.geteuid()
        account: Mapping[str, Any] = (
            {"user": self.uid, "group": self.uid, "extra_groups": []} if other else {}
        )
        process = subprocess.Popen(
            argv,
            cwd=cwd or self.repo,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            **account,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        """End what a failed test has left, and read its pipes to their end."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        end(leftovers(self.root, patience=0))
        for process in self.started:
            if process.stdout is not None and not process.stdout.closed:
                process.communicate(timeout=10)

    def run(self, *argv: str, cwd: Path | None = None, timeout: float = 60) -> str:
        """A program's stdout; it must exit 0."""
        process = self.start(*argv, cwd=cwd)
        stdout, stderr = self.finish(process, timeout)
        assert process.returncode == 0, f"{argv}: exit {process.returncode}\n{stdout}\n{stderr}"
        return stdout

    def finish(self, process: subprocess.Popen[str], timeout: float) -> tuple[str, str]:
        """Its whole output. What does not end in time is killed and fails the test."""
        try:
            return process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate(timeout=10)
            still = "\n".join(map(str, leftovers(self.root, patience=0)))
            pytest.fail(f"not ended in {timeout:g} s\n{stdout}\n{stderr}\nstill there:\n{still}")

    def git(self, *argv: str, cwd: Path | None = None) -> str:
        """git as the account."""
        return self.run("git", *argv, cwd=cwd).rstrip("\n")

    def hydra(self, *argv: str) -> str:
        """A hydra command's stdout; it must exit 0."""
        return self.run(hydra_program(), *argv)

    def race(self, *options: str, timeout: float = LONGEST_RACE) -> Race:
        """`hydra race` with both agents to its end."""
        started = time.monotonic()
        process = self.start_race(*options)
        stdout, stderr = self.finish(process, timeout)
        return Race(process.returncode, stdout, stderr, time.monotonic() - started)

    def start_race(self, *options: str) -> subprocess.Popen[str]:
        """`hydra race` with both agents, running."""
        both = [term for agent in AGENTS for term in ("-a", agent)]
        return self.start(hydra_program(), "race", "Do the task", *both, "--json", *options)

    def patch_files(self, lane: str) -> dict[str, str]:
        """Paths in a lane's patch, against its base, with git's letter for what happened."""
        patches = Path(self.hydra("runs", "path").strip()) / "patches.git"
        base = self.git("rev-parse", "HEAD")
        listed = self.git("diff", "--name-status", "--no-renames", base, lane, cwd=patches)
        rows = (line.split("\t") for line in listed.splitlines())
        return {path: letter for letter, path in rows}

    def assert_nothing_left(self) -> None:
        """No process of this place is still there."""
        items = leftovers(self.root)
        end(items)
        assert not items, "\n".join(map(str, items))


def hydra_program() -> str:
    """The `hydra` command that stands beside the chosen Python."""
    return str(PYTHON.parent / "hydra")

"""A project's clone with an environment of its own, at one commit after another."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fixes.releases import lay

Projects = Mapping[str, Mapping[str, Any]]


def _projects(name: str) -> Projects:
    projects: Projects = json.loads(Path(__file__).with_name(name).read_text())
    return projects


PROJECTS = _projects("projects.json")
"""By owner and name: where tests and sources lie, and what the tests need."""

GATING = _projects("gating.json")
"""What needs no clone: `releases` of a package, in their order, or our `own` history."""

OWN = Path(os.environ.get("HYDRA_HISTORY") or Path(__file__).parents[2])
"""Hydra's own repository; a copy without its history is told where that lies."""

NEWEST = "refs/newest"
"""What the clone stood at; HEAD is wherever the last race was."""

LIMIT = 120
"""Seconds for one run of tests."""

_ENDS = {"PASSED": True, "XPASS": True, "FAILED": False, "ERROR": False}
_LINE = re.compile(r"^(PASSED|XPASS|FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ends:
    """How tests ended, by id, and the seconds that they took."""

    tests: Mapping[str, bool]
    seconds: float

    @property
    def passed(self) -> set[str]:
        return {id for id, passed in self.tests.items() if passed}

    @property
    def failed(self) -> set[str]:
        return {id for id, passed in self.tests.items() if not passed}


class Checkout:
    """The work tree, whose `.venv` has the project installed editable."""

    def __init__(self, clones: Path, folder: Path, repository: str) -> None:
        self.repository = repository
        self.project = {**PROJECTS, **GATING}[repository]
        self.root = folder / repository.replace("/", "+")
        self._clones = clones

    def make(self) -> None:
        """Clones and installs, once."""
        if (self.root / ".venv").is_dir():
            return
        self.root.parent.mkdir(parents=True, exist_ok=True)
        clone = self._clone()
        subprocess.run(["git", "clone", "-q", clone, self.root], check=True)
        self.git("update-ref", NEWEST, "HEAD")
        with (self.root / ".git/info/exclude").open("a") as exclude:
            exclude.write(".venv/\n*.egg-info/\n__pycache__/\n.pytest_cache/\n_version.py\n")
        subprocess.run([sys.executable, "-m", "venv", self.root / ".venv"], check=True)
        if commit := self.project.get("installed_at"):
            self.at(commit)  # its entry points are of their time: a newer one names other modules
        needs = ["pytest==8.3.3", *self.project["install"]]
        self._pip("install", "-q", "-e", ".", *needs)

    def _clone(self) -> Path:
        if self.project.get("own"):
            return OWN
        if "releases" not in self.project:
            return _clone(self._clones, self.repository)
        laid = self._clones / self.repository.replace("/", "+")
        if not laid.is_dir():
            laid.parent.mkdir(parents=True, exist_ok=True)
            lay(laid.name.partition("+")[2], self.project["releases"], laid)
        return laid

    def _pip(self, *args: str) -> None:
        python = self.root / ".venv/bin/python"
        subprocess.run([python, "-m", "pip", *args], cwd=self.root, check=True)

    def git(self, *args: str) -> str:
        """What git prints. Raises `CalledProcessError`."""
        argv = ["git", "-C", str(self.root), *args]
        done = subprocess.run(argv, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape")

    def read(self, commit: str, path: str) -> str | None:
        """A file's text at a commit; None where it is not there, or is no text."""
        argv = ["git", "-C", str(self.root), "show", f"{commit}:{path}"]
        done = subprocess.run(argv, capture_output=True, check=False)
        try:
            return done.stdout.decode() if done.returncode == 0 else None
        except UnicodeDecodeError:
            return None

    def at(self, commit: str, files: Mapping[str, str | None] | None = None) -> None:
        """Stands at a commit, with some files changed; None deletes one."""
        self.git("checkout", "-q", "-f", "--detach", commit)
        self.git("clean", "-q", "-fd")
        for path, text in (files or {}).items():
            file = self.root / path
            if text is None:
                file.unlink(missing_ok=True)
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)

    def tests(self, paths: Sequence[str] = ()) -> Ends | None:
        """Runs these files of tests, or all; None where that comes to no end."""
        item = [".venv/bin/python", "-B", "-m", "pytest", "-q", "-rA", "--tb=no"]
        item += ["-p", "no:cacheprovider", *(paths or self.project["tests"])]
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent), "LANG": "C.UTF-8"}
        began = time.monotonic()
        try:
            done = subprocess.run(
                item, cwd=self.root, env=environ, capture_output=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode not in (0, 1, 2):
            return None
        text = done.stdout.decode("utf-8", "replace")
        ends = {id: _ENDS[item] for item, id in _LINE.findall(text)}
        return Ends(ends, time.monotonic() - began)


def _clone(clones: Path, repository: str) -> Path:
    name = repository.replace("/", "+")
    places = (clones / name / "repo", clones / name, clones / repository.split("/")[1])
    return next((path for path in places if path.is_dir()), places[1])

"""Lanes over a real repository, checked and then tried on each other, for the tests of trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from hydra.checks.cross.record import Trials
from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult
from hydra.checks.results import Status
from hydra.checks.round import CheckRun
from hydra.race.cross_test_phase import CrossTestInputs, run_cross_tests
from hydra.records.request import TrialCap
from tests.conftest import commit, git, write
from tests.support.checks import Bench

UNITTEST = "python3 -B -m unittest -v"

RIGHT = "def pages(n, size):\n    return -(-n // size)\n"
WRONG = "def pages(n, size):\n    return n // size + 1\n"

Patch = Mapping[str, str | None]


def cases(module: str, /, **tests: str) -> str:
    """A file of unittest cases: a statement each."""
    lines = [
        "import unittest",
        f"from {module} import *",
        "",
        "",
        "class Pages(unittest.TestCase):",
    ]
    for name, body in tests.items():
        lines += [f"    def test_{name}(self):", f"        {body}"]
    return "\n".join(lines) + "\n"


def pages(**tests: str) -> str:
    """The same for src.pager: what `pages` of two numbers is."""
    values = {name: f"self.assertEqual(pages{body})" for name, body in tests.items()}
    return cases("src.pager", **values)


BASE = pages(up="(3, 2), 2", even="(4, 2), 2")
"""On the base `up` fails and `even` passes."""


def with_tests(repo: Path, files: Patch | None = None) -> Path:
    """The repository with a package, its tests and `files`, committed."""
    write(repo, {"src/__init__.py": "", "test_pages.py": BASE, **(files or {})})
    commit(repo, "Tests")
    return repo


class Trying(Bench):
    """`commits` are the lanes' patches by name; `own` their checks, judged."""

    commits: dict[str, str]
    own: dict[str, tuple[CheckResult, ...]]

    async def check(self, lanes: Mapping[str, Patch | Callable[[Path], None]]) -> CrossTestInputs:
        """The base's checks and each lane's; a lane is its files, or what is done in its tree."""
        self.commits = {
            lane: self.commit(value) if isinstance(value, Mapping) else self.commit_change(value)
            for lane, value in lanes.items()
        }
        round = CheckRun(self.kit)
        await round.baseline(self.base, self.tell)
        self.own = {
            lane: await round.lane(lane, commit, self.tell, stop=trio.CancelScope())
            for lane, commit in self.commits.items()
        }
        return CrossTestInputs(
            context=self.kit,
            base=self.base,
            on_base=round.base,
            commits=self.commits,
            results=self.own,
        )

    async def tried(self, lanes: Mapping[str, Any], cap: TrialCap | None = None) -> Trials:
        """All trials of these lanes."""
        return await self.again(await self.check(lanes), cap)

    async def again(
        self,
        tried: CrossTestInputs,
        cap: TrialCap | None = None,
        stop: trio.CancelScope | None = None,
        parallel: int = 1,
    ) -> Trials:
        """The trials of lanes that were checked."""
        tried = replace(tried, parallel=parallel)
        return await run_cross_tests(
            tried, cap or TrialCap(), self.tell, stop or trio.CancelScope()
        )

    def commit_change(self, work: Callable[[Path], None]) -> str:
        """A patch made by `work` in the repository's own tree."""
        git(self.repo, "checkout", "-q", "--detach", "main")
        work(self.repo)
        commit(self.repo, "A patch")
        patch = git(self.repo, "rev-parse", "HEAD")
        git(self.repo, "checkout", "-q", "-f", "main")
        git(self.repo, "clean", "-qfdx")
        return patch

    @property
    def started(self) -> list[Mapping[str, object]]:
        """The trials that began, in their order."""
        return [data for kind, data in self.events if kind == "trial_started"]

    def leftovers(self) -> list[str]:
        """What still stands where grounds are made."""
        return [path.name for path in self.grounds.iterdir()] if self.grounds.exists() else []


def of(trials: Trials, kind: str, on: str, author: str = "", **more: object) -> Trial:
    """The one trial of that kind."""
    (trial,) = [
        item
        for item in trials.runs
        if (item.kind, item.on, item.author) == (kind, on, author)
        and all(getattr(item, name) == value for name, value in more.items())
    ]
    return trial


def ends(trial: Trial, *names: str) -> list[Status | None]:
    """How these tests ended, by the last parts of their ids."""
    texts = trial.result.tests.by_id if trial.result.tests else {}
    return [
        next((status for id, status in texts.items() if id.endswith(name)), None) for name in names
    ]

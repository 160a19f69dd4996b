"""A kit of checks over a real repository, for the tests of the room."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import trio

from hydra.checks.context import CheckContext
from hydra.checks.record import CheckResult
from hydra.checks.round import CheckRun, new_folder
from hydra.git import base_commit
from hydra.git import patches as patch_git
from hydra.paths import ground_dir
from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.trial import PROMISES
from hydra.process.sandbox.view import View
from hydra.records.plan import CheckPlan, Confinement, RacePlan
from hydra.records.request import Check, Limits, Permission
from hydra.redaction import Redactor
from tests.conftest import commit, git, write
from tests.support.processes import namespaces_work

BIN = Path(sys.prefix, "bin")
"""Where this interpreter's pytest is."""


def confinement() -> Confinement:
    """What works here."""
    if namespaces_work():
        program = str(shutil.which("bwrap"))
        return Confinement(kind="bwrap", program=program, promises=PROMISES)
    return Confinement(kind="none", reason="there is no bwrap here")


NOT_CONFINED = Confinement(kind="none", reason="a test of where nothing confines")


class Bench:
    """One run over one repository. `tell` keeps every event."""

    def __init__(
        self,
        scratch: Path,
        repo: Path,
        checks: Sequence[Check],
        *,
        setup: tuple[str, ...] = (),
        confined: Confinement | None = None,
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        network: str = "host",
        secrets: Sequence[str] = (),
    ) -> None:
        repository = base_commit.read(repo)
        self.repo = repo
        self.state = scratch / "state"
        self.run_folder = self.state / "shop" / "runs" / "r1"
        self.run_folder.mkdir(parents=True, exist_ok=True)
        self.patches = self.run_folder / "patches.git"
        self.base = base_commit.resolve(repository, "HEAD")
        if not self.patches.exists():
            patch_git.create(self.patches, repository, base=self.base)
        self.grounds = ground_dir(self.state, "r1", "x").parent
        self.events: list[tuple[str, Mapping[str, object]]] = []
        home = scratch / "home"
        home.mkdir(exist_ok=True)
        path = f"{BIN}{os.pathsep}/usr/local/bin:/usr/bin:/bin"
        self.kit = CheckContext(
            plan=RacePlan(
                run="r1",
                repository=repo,
                base=self.base,
                confinement=confined or confinement(),
                permission=Permission.FULL_AUTO,
                lanes=(),
                limits=limits or Limits(check=60),
                setup=setup,
                checking=CheckPlan(commands=tuple(checks), network=network),
            ),
            repository=repository,
            patches=self.patches,
            run_folder=self.run_folder,
            folder=new_folder(self.run_folder),
            state=self.state,
            home=home,
            environment={
                "PATH": path,
                "HOME": str(home),
                "LANG": "C.UTF-8",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # they take seconds, and no test needs them
                **(environment or {}),
            },
            redactor=Redactor(secrets),
            view=self.view,
        )

    def view(self) -> View:
        """As in a race, and what a test has laid into its scratch folder beside its own."""
        own = {self.repo, self.state, self.kit.home}
        scratch = self.state.parent
        return compute_view(
            self.kit.home,
            self.kit.environment,
            objects=self.kit.repository.objects,
            show=[str(path) for path in scratch.iterdir() if path not in own],
            guarded=(self.state,),
            repository=self.repo,
        )

    def tell(self, kind: str, data: Mapping[str, object]) -> None:
        """Keeps an event."""
        self.events.append((kind, data))

    def commit(self, files: Mapping[str, str | None], base: str = "HEAD") -> str:
        """A patch on the base: its commit, in the user's own objects as a landing's would be."""
        git(self.repo, "checkout", "-q", "--detach", base)
        write(self.repo, files)
        commit(self.repo, "A patch")
        patch = git(self.repo, "rev-parse", "HEAD")
        git(self.repo, "checkout", "-q", "main")
        return patch

    async def checked(self, commit: str, **document: Any) -> dict[str, CheckResult]:
        """The base's checks, then those of `commit`, by name."""
        round = CheckRun(self.kit)
        await round.baseline(self.base, self.tell)
        results = await round.lane(
            "claude", commit, self.tell, stop=document.pop("stop", trio.CancelScope()), **document
        )
        self.base_results = dict(round.base)
        return {result.check.name: result for result in results}

    def text(self, result: CheckResult) -> str:
        """The output kept of a check."""
        return (self.run_folder / result.output).read_text()

"""All that the checks of one run have in common; put together by the app, used here."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hydra.git.repository import Repository
from hydra.git.runner import OWNER, owner
from hydra.model import Check, Confinement, Limits
from hydra.sandbox import SandboxPolicy, View
from hydra.sandbox.variables import hidden_variables
from hydra.secrets import Redactor
from hydra.workspace import Ground, PrivateGround, private_ground
from hydra.workspace.dependencies import DependencySource

Tell = Callable[[str, Mapping[str, object]], None]
"""Puts one event into the race's one order: its kind and its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The checks and where they run.

    `run_folder` is the run's, `folder` the one in it that this round writes to. `ground(label)` is
    where a clean ground of that label goes: no lane's own. `environment` is the whole of what a
    check gets before its ground's own, without any agent's key.
    """

    checks: tuple[Check, ...]
    setup: tuple[str, ...]
    copies: tuple[str, ...]
    repository: Repository
    patches: Path
    run_folder: Path
    folder: Path
    ground: Callable[[str], Path]
    state: Path
    home: Path
    environment: Mapping[str, str]
    redactor: Redactor
    confinement: Confinement
    limits: Limits
    view: Callable[[], View]
    """What a check sees of HOME and the machine; asked where something confines it."""
    dependencies: DependencySource | None = None
    """What it has of the checkout beside its tree."""
    unrestricted: bool = False
    network: str = "host"

    def clean_ground(self, label: str, commit: str) -> PrivateGround:
        """A ground at `commit`, not opened yet. Its own record goes when it does.

        Its folder, which the checks' own variables name, says nothing of `label`: no patch is to
        know whether it is tried, or the base.
        """
        round = self.folder.name if self.folder.name.isdecimal() else "1"
        place = self.ground(f"_{round}-{secrets.token_hex(4)}")
        return private_ground(
            repository=self.repository,
            base=commit,
            lane=label,
            run_folder=place,
            ground=place,
            patches=self.patches,
            home=self.home,
            confined=self.confinement.holds,
            copies=self.copies,
            dependencies=self.dependencies,
            limits=self.limits,
            of_a_lane=True,
        )

    def policy(self, ground: Ground) -> SandboxPolicy:
        """The same as around a lane's agent, but that no agent's settings are seen."""
        return SandboxPolicy(
            state=self.state,
            view=self.view() if self.confinement.holds else View(home=self.home),
            home_folder=ground.home_folder,
            writable=ground.writable,
            cwd=ground.worktree,
            placement=ground.placement,
            unrestricted=self.unrestricted,
            private_network=self.network == "private" and self.confinement.holds,
        )

    def variables(self, ground: Ground) -> dict[str, str]:
        """A check's environment in `ground`."""
        passed = dict(self.environment)
        if self.confinement.holds and not self.unrestricted:
            for name in hidden_variables(passed, self.policy(ground)):
                del passed[name]
        return {**passed, **ground.environment, OWNER: owner}

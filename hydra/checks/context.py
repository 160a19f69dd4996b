"""All that the checks of one run have in common; put together by `race/check_kit.py`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hydra.checks.network import may_need_host
from hydra.checks.record import CheckResult
from hydra.git.background import Later
from hydra.git.base_commit import Repository
from hydra.git.runner import OWNER, owner
from hydra.paths import ground_dir
from hydra.process.sandbox.policy import SandboxPolicy, hidden_variables
from hydra.process.sandbox.view import View
from hydra.records.plan import RacePlan
from hydra.records.request import Check, Permission
from hydra.redaction import Redactor
from hydra.workspace.dependencies import DependencySource
from hydra.workspace.installs import EditableInstall
from hydra.workspace.interpreters import environment_of
from hydra.workspace.private import LaneWorkspace
from hydra.workspace.surplus import Surplus

_NPM = {"npm_config_update_notifier": "false"}
"""So that npm says nothing of its own newer version where a check fails."""

Tell = Callable[[str, Mapping[str, object]], None]
"""Puts one event into the race's one order: its kind and its data."""


class CheckContext(Struct, frozen=True, kw_only=True):
    """The checks of a plan and where they run.

    `run_folder` is the run's, `folder` the one in it that this round writes to. `environment` is
    the whole of what a check gets before its ground's own, without any agent's key.
    """

    plan: RacePlan
    repository: Repository
    patches: Path
    run_folder: Path
    folder: Path
    state: Path
    home: Path
    environment: Mapping[str, str]
    redactor: Redactor
    view: Callable[[], View]
    """What a check sees of HOME and the machine; asked where something confines it."""
    dependencies: DependencySource | None = None
    """What it has of the checkout beside its tree."""
    copies_installed: tuple[EditableInstall, ...] = ()
    """Packages of the checkout that its environments hold as a copy."""
    set_up_line: str = ""
    """What would bring all that its tests need, from the checkout's top."""
    ground: str = ""
    """One word for all that results may hang on beside the commit, the command and the network."""
    surplus: Later[Surplus] | None = None
    """What the checkout has and a check has not; None where nobody is told of it."""

    @property
    def place(self) -> str:
        """Where in the checkout one types what a sentence offers, "" for its top. Blocks."""
        return self.surplus.result().folder if self.surplus else ""

    def workspace_folder(self, label: str) -> Path:
        """Where a clean ground of that label goes: no lane's own."""
        return ground_dir(self.state, self.plan.run, label)

    def network_of(self, check: Check) -> str:
        """What `check` talks to: `private`, a network of its own, or `host`, the machine's: with
        `auto` that of those that need it."""
        own, named = self.plan.checking.network, self.plan.checking.on_host
        if own == "host" or not self.plan.confinement.holds:
            return "host"
        return "host" if own == "auto" and check.name in named else "private"

    def uses_host(self, checks: Iterable[Check]) -> bool:
        """Whether any of them talks to the machine's."""
        return any(self.network_of(check) == "host" for check in checks)

    def has_network_of(self, base: CheckResult) -> bool:
        """Whether `base` is a measure for a run here: `auto` goes by what the base has shown, but
        where it lacked what may be there by now."""
        own = self.plan.checking.network
        return not may_need_host(base) if own == "auto" else own == base.network

    def with_host(self, names: Iterable[str]) -> CheckContext:
        """The same, with the machine's network for these checks too."""
        named = dict.fromkeys((*self.plan.checking.on_host, *names))
        return replace(self, plan=self.plan.with_checks(on_host=tuple(named)))

    def with_only(self, check: Check) -> CheckContext:
        """The same, for that check alone, after the builds that stand before it."""
        before = self.plan.checks[: self.plan.checks.index(check)]
        checks = (*(other for other in before if other.kind == "build"), check)
        return replace(self, plan=self.plan.with_checks(commands=checks))

    def as_on_base(self, base: Mapping[str, CheckResult]) -> CheckContext:
        """The same, where `auto` leaves the network of each check to what the base's run had."""
        results = base.values() if self.plan.checking.network == "auto" else ()
        return self.with_host(result.check.name for result in results if result.network == "host")

    def clean_ground(self, label: str, commit: str) -> LaneWorkspace:
        """A ground at `commit`, not opened yet. Its own record goes when it does.

        Its folder, which the checks' own variables name, says nothing of `label`: no patch is to
        know whether it is tried, or the base.
        """
        round = self.folder.name if self.folder.name.isdecimal() else "1"
        place = self.workspace_folder(f"_{round}-{secrets.token_hex(4)}")
        return LaneWorkspace(
            repository=self.repository,
            base=commit,
            lane=label,
            run_folder=place,
            path=place,
            patches=self.patches,
            home=self.home,
            confined=self.plan.confinement.holds,
            copies=self.plan.copies,
            dependencies=self.dependencies,
            python_path=self.plan.python_path,
            limits=self.plan.limits,
            of_a_lane=True,
        )

    def policy(self, workspace: LaneWorkspace, network: str = "host") -> SandboxPolicy:
        """The same as around a lane's agent, but that no agent's settings are seen, and that its
        network may be `private`."""
        return SandboxPolicy(
            state=self.state,
            view=self.view() if self.plan.confinement.holds else View(home=self.home),
            home_folder=workspace.home_folder,
            writable=workspace.writable,
            cwd=workspace.worktree,
            placement=workspace.placement,
            unrestricted=self.plan.permission is Permission.UNRESTRICTED,
            private_network=network == "private",
        )

    def variables(self, workspace: LaneWorkspace, command: str = "") -> dict[str, str]:
        """A check's environment in `workspace`; a set-up's without `command`."""
        passed = dict(self.environment)
        if self.plan.confined:
            for name in hidden_variables(passed, self.policy(workspace)):
                del passed[name]
        values = {**_NPM, **passed, **workspace.environment, OWNER: owner}
        top, place = workspace.worktree, workspace.placement.path or workspace.worktree
        environment = environment_of(command, (top, self.repository.root))
        if not environment:
            return values
        # As where a person has activated it: tests call the scripts of the project by name.
        own = os.path.normpath(place / environment)
        search = os.pathsep.join(filter(None, (f"{own}/bin", values.get("PATH"))))
        return {**values, "VIRTUAL_ENV": own, "PATH": search}

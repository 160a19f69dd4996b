"""Puts together what one lane's attempt works with, and tidies up after it."""

from __future__ import annotations

import os
import secrets as keys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path

from hydra import executables
from hydra.adapters.contract import Adapter, ConfigFolder
from hydra.adapters.environment import SHARED, matches, secret_values
from hydra.adapters.folders import folders_of, further, place_of
from hydra.bench import Bench
from hydra.config import Config
from hydra.git.repository import Repository
from hydra.git.runner import OWNER, owner
from hydra.model import Budget, BuiltCommand, Confinement, LanePlan, Limits, Outcome, RacePlan
from hydra.paths import ground_dir
from hydra.plan import patch_message
from hydra.sandbox import SandboxPolicy, View
from hydra.sandbox.places import secret_place, show_line
from hydra.sandbox.variables import hidden_variables
from hydra.secrets import Redactor, looks_secret
from hydra.store import RawSink, RunStore
from hydra.workspace import LANE_HOME, Ground, private_ground
from hydra.workspace.dependencies import DependencySource
from hydra.workspace.environments import variables
from hydra.workspace.interpreters import script_interpreter

__all__ = ["Bench", "Shop"]


RUN, LANE = "HYDRA_RUN", "HYDRA_LANE"
"""By which an agent and its set-up know where they are; no check does."""

_NOWHERE = Confinement(kind="none", reason="its agent runs elsewhere")
"""Of the carrier: it needs the user's keys and sockets, and runs nothing of a lane's here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Where benches are made: everything the lanes of one race have in common."""

    repository: Repository
    config: Config
    store: RunStore
    home: Path
    state: Path
    environ: Mapping[str, str]
    adapters: Mapping[str, Adapter]
    plan: RacePlan
    view: Callable[[], View]
    """What the lanes see of HOME and the machine; asked where something confines them."""
    dependencies: DependencySource | None = None
    """Where something confines the lanes: what they have of the checkout beside their tree."""
    patches: Path | None = None
    """Where the base is, if not in the record's own patches.git: no patch is taken then."""

    def bench(self, lane: LanePlan, attempt: int = 1) -> Bench:
        """One lane's bench for an attempt. Its ground is not opened yet."""
        assert lane.command is not None
        adapter = self.adapters[lane.lane.adapter]
        ground = self._ground(lane, adapter)
        limits = _with_budget(self.plan.limits, lane.budget)
        command = _with_fresh(lane.command)
        fresh = dict(command.dialogue[len(lane.command.dialogue) :])
        secrets = (*self._secrets(lane, adapter), *fresh.values())
        redactor = Redactor(secrets)
        policy = self._policy(ground, adapter, lane)
        environment = self._environment(lane, ground) | fresh
        passed = {name: self.environ[name] for name in lane.env_names}
        hidden = hidden_variables(passed, policy) if self._confines(lane) else {}
        environment = {name: value for name, value in environment.items() if name not in hidden}
        if lane.remote is not None:
            names = (*lane.env_names, *fresh)
            adapter, command = self._elsewhere(lane, attempt, adapter, command, ground, names)
            environment = {**self.environ, **fresh, OWNER: owner}
        return Bench(
            plan=lane,
            adapter=adapter,
            command=command,
            ground=ground,
            confinement=_NOWHERE if lane.remote else self.plan.confinement,
            walls=policy,
            limits=limits,
            environment=_of_agent(command, environment),
            setup_environment={
                name: value for name, value in environment.items() if value not in secrets
            },
            redactor=redactor,
            stdout=self.store.raw_sink(lane.lane.id, attempt, "stdout", limits.raw_bytes),
            stderr=self.store.raw_sink(lane.lane.id, attempt, "stderr", limits.stderr_bytes),
            sent=self._sent(lane, adapter, attempt),
            together=self.store.together,
            prompt_file=self.store.lane_folder(lane.lane.id) / "prompt.txt",
            remarks=tuple(starmap(self._not_passed_on, hidden.items())),
            setup=() if lane.remote else self.plan.setup,
            message=redactor.text(patch_message(self.plan, lane)),
            attempt=attempt,
        )

    def _elsewhere(
        self,
        lane: LanePlan,
        attempt: int,
        adapter: Adapter,
        command: BuiltCommand,
        ground: Ground,
        names: Sequence[str],
    ) -> tuple[Adapter, BuiltCommand]:
        """The carrier in the agent's place."""
        from hydra.remote.elsewhere import Elsewhere, Here, on_its_way  # few lanes are

        assert lane.remote is not None
        place = ground_dir(self.state, self.plan.run, lane.lane.id)
        carrying = on_its_way(
            command,
            remote=self.config.remotes[lane.remote.name],
            run=self.plan.run,
            lane=lane.lane.id,
            attempt=attempt,
            here=Here(ground.worktree, place / LANE_HOME, place / "tmp"),
            names=names,
            descriptor=adapter.descriptor,
            most=self.plan.limits.patch_bytes,
        )
        return Elsewhere(adapter, command), carrying

    def _sent(self, lane: LanePlan, adapter: Adapter, attempt: int) -> RawSink | None:
        if not adapter.descriptor.converses:
            return None
        return self.store.raw_sink(lane.lane.id, attempt, "sent", self.plan.limits.stderr_bytes)

    def _ground(self, lane: LanePlan, adapter: Adapter) -> Ground:
        descriptor = adapter.descriptor
        folders = () if lane.remote else self._folders(adapter)  # what is there has its own
        own = [(f, self.environ.get(f.variable)) for f in folders]
        return private_ground(
            repository=self.repository,
            base=self.plan.task.base,
            lane=lane.lane.id,
            run_folder=self.store.folder,
            ground=ground_dir(self.state, self.plan.run, lane.lane.id),
            patches=self.patches or self.store.patches,
            home=self.home,
            folders=own,
            confined=self.plan.confinement.holds and lane.remote is None,
            copies=self.plan.copies,
            litter=descriptor.litter,
            dependencies=self.dependencies if self._confines(lane) else None,
            python_path=() if lane.remote else self.plan.python_path,
            limits=self.plan.limits,
        )

    def _policy(self, ground: Ground, adapter: Adapter, lane: LanePlan) -> SandboxPolicy:
        return SandboxPolicy(
            state=self.state,
            view=self.view() if self._confines(lane) else View(home=self.home),
            home_folder=ground.home_folder,
            writable=ground.writable,
            binds=ground.binds,
            readonly=self._of_its_own(adapter, lane) if self._confines(lane) else (),
            covered=tuple(ground.worktree / name for name in adapter.descriptor.masked),
            cwd=ground.worktree,
            unrestricted=self.plan.permission == "unrestricted",
        )

    def _not_passed_on(self, name: str, path: Path) -> str:
        line = show_line(path, self.home)
        return f"{name} is not passed on: it names {path}, which is hidden; to show it: {line}"

    def _confines(self, lane: LanePlan) -> bool:
        return self.plan.confined and lane.remote is None

    def _of_its_own(self, adapter: Adapter, lane: LanePlan) -> tuple[Path, ...]:
        """What this lane alone sees: its agent where that lies in its own settings, and where it
        has unpacked itself."""
        from hydra.sandbox.discovery import own_installation

        assert lane.command is not None
        settings = [place_of(folder, self.environ, self.home) for folder in self._folders(adapter)]
        installed = own_installation(self.home, Path(lane.command.program), settings)
        unpacked = map(Path, self._own_places(lane).values())
        return (*installed, *unpacked, *self._files_named(lane))

    def _files_named(self, lane: LanePlan) -> Iterator[Path]:
        """Files that the agent's own variables name: the key of its own service, say."""
        for name in lane.env_names:
            path = Path(os.path.realpath(self.environ[name]))
            whole = self.environ[name].startswith("/") and not matches(name, SHARED)
            if whole and path.is_file() and not secret_place(path, self.home):
                yield path

    def _folders(self, adapter: Adapter) -> tuple[ConfigFolder, ...]:
        own = folders_of(adapter.descriptor)
        if not (named := self.config.agent(adapter.descriptor.key).folders):
            return own  # every other adapter would have to be loaded
        known = [folder for one in self.adapters.values() for folder in folders_of(one.descriptor)]
        return (*own, *further(named, known))

    def _environment(self, lane: LanePlan, ground: Ground) -> dict[str, str]:
        environment = {name: self.environ[name] for name in lane.env_names}
        # The worktree is a stranger's: `.` would have its node run in the agent's place. A lane
        # elsewhere runs ssh or docker here, which are Hydra's.
        if "PATH" in environment:
            search = executables.trusted_path if lane.remote else executables.absolute_path
            environment["PATH"] = search(environment["PATH"])
        environment.update(self._own_places(lane))
        environment.update(ground.environment)
        if self._confines(lane):  # the ground has them only once it is opened
            environment |= variables(self.repository.root / it for it in self.plan.dependencies)
        environment[OWNER] = owner
        environment |= {RUN: self.plan.run, LANE: lane.lane.id}
        if lane.command is not None:
            environment.update(lane.command.env)
        return environment

    def _own_places(self, lane: LanePlan) -> dict[str, str]:
        """Where the CLI has unpacked itself, say: a lane would do so again in its own cache."""
        found = {}
        for name, below in self.adapters[lane.lane.adapter].descriptor.own_places.items():
            paths = (self.home / path.replace("{version}", lane.version) for path in below)
            held = next((path for path in paths if path.is_dir()), None)
            if held is not None and name not in self.environ:
                found[name] = str(held)
        return found

    def _secrets(self, lane: LanePlan, adapter: Adapter) -> tuple[str, ...]:
        named = secret_values(adapter.descriptor, self.environ)
        guessed = (self.environ[name] for name in lane.env_names if looks_secret(name))
        return (*named, *guessed)

    def tidy(self, bench: Bench, outcome: Outcome) -> str:
        """Removes the lane's ground as `keep` says; never where its patch is not whole.

        One that stays has no sign-in in it, but for one that could not be given back. A sentence
        for that, and where something could not be removed.
        """
        if bench.ground.owes:
            return f"the sign-in that could not be given back stays beside {bench.ground.worktree}"
        last = max((outcome, *outcome.others), key=lambda one: one.attempt)
        # The ground is the last attempt's; the patch that is the lane's may be an earlier one's.
        if self.plan.keeps_ground(outcome) or self.plan.keeps_ground(last):
            try:
                bench.ground.forget()
            except OSError as error:
                return f"the copies of its settings could not be removed: {error}"
            return ""
        try:
            bench.ground.remove()
        except OSError as error:
            return f"its worktree could not be removed: {error}"
        with suppress(OSError):
            # The last lane's ground takes the race's own folder along.
            ground_dir(self.state, self.plan.run, bench.plan.lane.id).parent.rmdir()
        return ""


def _of_agent(command: BuiltCommand, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Without PYTHONPATH for an agent that is itself a script of Python's: it would import the
    lane's modules in place of its own."""
    if "PYTHONPATH" not in environment or not script_interpreter(command.program):
        return environment
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}


def _with_budget(limits: Limits, budget: Budget) -> Limits:
    """The clock's part of a budget is one more total limit."""
    if budget.seconds is None:
        return limits
    return replace(limits, total=min(limits.total, budget.seconds))


def _with_fresh(command: BuiltCommand) -> BuiltCommand:
    """`command` with a secret of this attempt alone for each name in its `fresh`."""
    made = tuple((name, keys.token_urlsafe(24)) for name in command.fresh)
    return replace(command, dialogue=(*command.dialogue, *made))

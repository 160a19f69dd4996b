"""What one attempt works with, how it tells, and the race's hold on it."""

from __future__ import annotations

import math
import os
import secrets as keys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Protocol, cast

import trio
from msgspec import Struct
from msgspec.structs import replace

from hydra import executables
from hydra.adapters.config_dirs import folders_of, further, place_of
from hydra.adapters.contract import Adapter, ConfigFolder
from hydra.adapters.environment import SHARED, matches, secret_values
from hydra.errors import Failure
from hydra.git.runner import OWNER, owner
from hydra.log import get_logger, hide
from hydra.paths import ground_dir
from hydra.process.control import ProcessControl
from hydra.process.sandbox.places import secret_place, show_line
from hydra.process.sandbox.policy import SandboxPolicy, hidden_in_worktree, hidden_variables
from hydra.process.sandbox.view import View
from hydra.process.sink import RawSink
from hydra.race.command_context import RunContext
from hydra.race.plan import patch_message
from hydra.race.policy import keeps_ground
from hydra.records.agent import BuiltCommand
from hydra.records.events import Raw
from hydra.records.outcome import Outcome
from hydra.records.plan import Confinement, LanePlan, RacePlan
from hydra.records.request import Limits
from hydra.records.store.writer import RunStore
from hydra.redaction import Redactor, secret_variables
from hydra.workspace.environments import variables
from hydra.workspace.interpreters import script_interpreter
from hydra.workspace.names import LANE_HOME
from hydra.workspace.private import LaneWorkspace

_log = get_logger(__name__)


class Emit(Protocol):
    """Puts one event of this attempt into the race's one order."""

    def __call__(
        self,
        kind: str,
        sub: str = "",
        data: Mapping[str, object] | None = None,
        *,
        source: str = "hydra",
        raw: Raw | None = None,
        recorded: bool = True,
    ) -> None:
        """One event. One that is not recorded counts for the lane's budget all the same."""


class AttemptContext(Struct, frozen=True, kw_only=True):
    """All that one attempt works with; a `ContextFactory` puts it together."""

    run: str
    lane_plan: LanePlan
    adapter: Adapter
    command: BuiltCommand
    workspace: LaneWorkspace
    confinement: Confinement
    unplaced_policy: SandboxPolicy
    """Its policy, but for where its ground stands, which is known once that is open."""
    limits: Limits
    environment: Mapping[str, str]
    setup_environment: Mapping[str, str]
    """The same without the agent's keys: a set-up is the repository's, or the user's, not its."""
    redactor: Redactor
    stdout: RawSink
    stderr: RawSink
    prompt_file: Path
    sent: RawSink | None = None
    """Of an agent that is talked to: what Hydra says to it."""
    batch: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within it the record may hold events back, to write them at once."""
    remarks: tuple[str, ...] = ()
    """Of its environment: what is not passed on."""
    setup: tuple[str, ...] = ()
    commit_message: str = ""
    attempt: int = 1

    @property
    def shown(self) -> tuple[str, ...]:
        """The agent's own command for eyes and records, without secrets."""
        return tuple(map(self.redactor.text, self.lane_plan.argv or self.command.argv))

    @property
    def sandbox_policy(self) -> SandboxPolicy:
        """What its commands may see and write."""
        return replace(self.unplaced_policy, placement=self.workspace.placement)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person is told before the agent runs; the ground's own once it is open."""
        return (
            *self.lane_plan.warnings,
            *self.command.warnings,
            *self.remarks,
            *self.workspace.notes,
        )

    def hidden(self) -> Iterator[str]:
        """What of the repository is out of the agent's sight, as it starts, in sentences."""
        if self.confinement.holds:
            label, top = self.adapter.descriptor.label, self.workspace.worktree
            for place in hidden_in_worktree(self.sandbox_policy):
                name = self.redactor.text(str(place.relative_to(top)))
                yield f"hidden from {label}, which would run or obey it: the repository's {name}"

    def close(self) -> None:
        """Ends the raw files, which may take a copy of their tails: it blocks."""
        for sink in (self.stdout, self.stderr, self.sent):
            if sink is not None:
                sink.close()

    def failure(self, kind: str, reason: str, message: str, hint: str = "") -> Failure:
        """Why this attempt came to nothing before its agent had any part in it."""
        return Failure(
            kind=kind,
            reason=reason,
            message=message,
            adapter=self.adapter.descriptor.key,
            command=self.shown,
            hint=hint or "run `hydra doctor`; the run's folder has what was recorded",
        )


@dataclass
class AttemptControl:
    """The race's hold on one attempt: it can be told to stop before its agent even runs."""

    process_control: ProcessControl = field(default_factory=ProcessControl)
    stop_reason: str = ""
    setting_up: trio.CancelScope = field(default_factory=trio.CancelScope)
    taking_patch: trio.CancelScope = field(default_factory=lambda: trio.CancelScope(shield=True))
    checking: trio.CancelScope = field(default_factory=trio.CancelScope)
    waiting: trio.CancelScope = field(default_factory=trio.CancelScope)
    """Of a lane that will be tried again."""
    patch_grace: float = math.inf
    """Seconds that a patch may take once the lane was told to stop."""

    def stop(self, reason: str, graces: tuple[float, float] | None = None) -> None:
        """Ends the agent by the ladder INT, TERM, KILL, its checks at once; its patch is still
        taken."""
        self.stop_reason = self.stop_reason or reason
        self.waiting.cancel()
        self.setting_up.cancel()
        self.checking.cancel()
        self.process_control.stop(reason, graces=graces)
        self.hurry()

    def stop_agent(self, reason: str) -> None:
        """Ends the agent alone by the ladder: its patch is taken and checked as any other."""
        self.process_control.stop(reason)

    def hurry(self) -> None:
        """Where the lane was told to stop, its patch has only so long from now."""
        if self.stop_reason:
            deadline = trio.current_time() + self.patch_grace
            self.taking_patch.deadline = min(self.taking_patch.deadline, deadline)

    def kill(self, reason: str) -> None:
        """Ends it at once; its patch is left to recovery."""
        self.stop_reason = self.stop_reason or reason
        self.waiting.cancel()
        self.setting_up.cancel()
        self.checking.cancel()
        self.taking_patch.cancel()
        self.process_control.kill(reason)


# ---- Puts together what one lane's attempt works with, and tidies up after it.

RUN, LANE = "HYDRA_RUN", "HYDRA_LANE"
"""By which an agent and its set-up know where they are; no check does."""

_NOWHERE = Confinement(kind="none", reason="its agent runs elsewhere")
"""Of the carrier: it needs the user's keys and sockets, and runs nothing of a lane's here."""


class ContextFactory(Struct, frozen=True, kw_only=True):
    """Where contexts are made: everything the lanes of one race have in common."""

    around: RunContext
    store: RunStore
    plan: RacePlan
    patches: Path | None = None
    """Where the base is, if not in the record's own patches.git: no patch is taken then."""

    def create(self, lane: LanePlan, attempt: int = 1) -> AttemptContext:
        """One lane's context for an attempt. Its workspace is not opened yet."""
        assert lane.built is not None
        adapter = self.around.adapters[lane.adapter]
        workspace = self._open_workspace(lane, adapter)
        limits = self.plan.limits
        if lane.budget.seconds is not None:  # the clock's part of a budget is one more total limit
            limits = replace(limits, total=min(limits.total, lane.budget.seconds))
        # A secret of this attempt alone.
        fresh = {name: keys.token_urlsafe(24) for name in lane.built.per_attempt_secrets}
        params = (*lane.built.session_params, *fresh.items())
        command = replace(lane.built, session_params=params)
        secrets = (*self._secrets(lane, adapter), *fresh.values())
        redactor = Redactor(secrets)
        hide(secrets)
        policy = self._policy(workspace, adapter, lane)
        environment = self._environment(lane, workspace) | fresh
        passed = {name: self.around.environ[name] for name in lane.env_names}
        withheld = hidden_variables(passed, policy) if self._confines(lane) else {}
        environment = {name: value for name, value in environment.items() if name not in withheld}
        _log.debug("environment", names=sorted(environment), not_passed_on=sorted(withheld))
        if lane.remote is not None:
            names = (*lane.env_names, *fresh)
            adapter, command = self._elsewhere(lane, attempt, adapter, command, workspace, names)
            environment = {**self.around.environ, **fresh, OWNER: owner}
        return AttemptContext(
            run=self.plan.run,
            lane_plan=lane,
            adapter=adapter,
            command=command,
            workspace=workspace,
            confinement=_NOWHERE if lane.remote else self.plan.confinement,
            unplaced_policy=policy,
            limits=limits,
            environment=_of_agent(command, environment),
            setup_environment={
                name: value for name, value in environment.items() if value not in secrets
            },
            redactor=redactor,
            stdout=self._sink(lane, attempt, "raw.jsonl", limits.raw_bytes),
            stderr=self._sink(lane, attempt, "stderr.txt", limits.stderr_bytes),
            sent=self._sink(lane, attempt, "sent.jsonl", limits.stderr_bytes)
            if adapter.descriptor.interactive
            else None,
            batch=self.store.together,
            prompt_file=self.store.lane_folder(lane.id) / "prompt.txt",
            remarks=tuple(starmap(self._not_passed_on, withheld.items())),
            setup=() if lane.remote else self.plan.setup,
            commit_message=redactor.text(patch_message(self.plan, lane)),
            attempt=attempt,
        )

    def _sink(self, lane: LanePlan, attempt: int, name: str, limit: int) -> RawSink:
        """Of one attempt's output: `raw.jsonl`, of the second `raw.2.jsonl`."""
        name = name if attempt == 1 else name.replace(".", f".{attempt}.")
        return RawSink(self.store.lane_folder(lane.id) / name, limit)

    def _elsewhere(
        self,
        lane: LanePlan,
        attempt: int,
        adapter: Adapter,
        command: BuiltCommand,
        workspace: LaneWorkspace,
        names: Sequence[str],
    ) -> tuple[Adapter, BuiltCommand]:
        """The carrier in the agent's place."""
        # Few lanes are.
        from hydra.adapters.remote.executor import RemoteAdapter, on_its_way

        assert lane.remote is not None
        place = ground_dir(self.around.state, self.plan.run, lane.id)
        carrying = on_its_way(
            command,
            remote=self.around.config.remotes[lane.remote.name],
            run=self.plan.run,
            lane=lane.id,
            attempt=attempt,
            worktree=workspace.worktree,
            home=place / LANE_HOME,
            scratch=place / "tmp",
            names=names,
            descriptor=adapter.descriptor,
            most=self.plan.limits.patch_bytes,
        )
        return cast("Adapter", RemoteAdapter(adapter, command)), carrying

    def _open_workspace(self, lane: LanePlan, adapter: Adapter) -> LaneWorkspace:
        descriptor = adapter.descriptor
        folders = () if lane.remote else self._folders(adapter)  # what is there has its own
        folder_overrides = [(f, self.around.environ.get(f.variable)) for f in folders]
        return LaneWorkspace(
            repository=self.around.repository,
            base=self.plan.base,
            lane=lane.id,
            run_folder=self.store.folder,
            path=ground_dir(self.around.state, self.plan.run, lane.id),
            patches=self.patches or self.store.patches,
            home=self.around.home,
            folders=folder_overrides,
            confined=self.plan.confinement.holds and lane.remote is None,
            copies=self.plan.copies,
            # Else that sandbox is all that keeps it off the network, or in its lane.
            commits=self._confines(lane) and self.plan.network is not False,
            litter=descriptor.generated_files,
            dependencies=self.around.dependencies if self._confines(lane) else None,
            python_path=() if lane.remote else self.plan.python_path,
            limits=self.plan.limits,
        )

    def _policy(self, workspace: LaneWorkspace, adapter: Adapter, lane: LanePlan) -> SandboxPolicy:
        return SandboxPolicy(
            state=self.around.state,
            view=self.around.view() if self._confines(lane) else View(home=self.around.home),
            home_folder=workspace.home_folder,
            writable=workspace.writable,
            binds=workspace.binds,
            readonly=self._of_its_own(adapter, lane) if self._confines(lane) else (),
            covered=tuple(workspace.worktree / name for name in adapter.descriptor.hidden_paths),
            cwd=workspace.worktree,
            unrestricted=self.plan.permission == "unrestricted",
        )

    def _not_passed_on(self, name: str, path: Path) -> str:
        line = show_line(path, self.around.home)
        return f"{name} is not passed on: it names {path}, which is hidden; to show it: {line}"

    def _confines(self, lane: LanePlan) -> bool:
        return self.plan.confined and lane.remote is None

    def _of_its_own(self, adapter: Adapter, lane: LanePlan) -> tuple[Path, ...]:
        """What this lane alone sees: its agent where that lies in its own settings, and where it
        has unpacked itself."""
        from hydra.process.sandbox.discovery import own_installation

        assert lane.built is not None
        settings = [
            place_of(folder, self.around.environ, self.around.home)
            for folder in self._folders(adapter)
        ]
        installed = own_installation(self.around.home, Path(lane.built.program), settings)
        unpacked = map(Path, self._own_places(lane).values())
        return (*installed, *unpacked, *self._files_named(lane))

    def _files_named(self, lane: LanePlan) -> Iterator[Path]:
        """Files that the agent's own variables name: the key of its own service, say."""
        for name in lane.env_names:
            path = Path(os.path.realpath(self.around.environ[name]))
            whole = self.around.environ[name].startswith("/") and not matches(name, SHARED)
            if whole and path.is_file() and not secret_place(path, self.around.home):
                yield path

    def _folders(self, adapter: Adapter) -> tuple[ConfigFolder, ...]:
        own = folders_of(adapter.descriptor)
        if not (named := self.around.config.agent(adapter.descriptor.key).folders):
            return own  # every other adapter would have to be loaded
        folders = [
            folder
            for adapter in self.around.adapters.values()
            for folder in folders_of(adapter.descriptor)
        ]
        return (*own, *further(named, folders))

    def _environment(self, lane: LanePlan, workspace: LaneWorkspace) -> dict[str, str]:
        environment = {name: self.around.environ[name] for name in lane.env_names}
        # The worktree is a stranger's: `.` would have its node run in the agent's place. A lane
        # elsewhere runs ssh or docker here, which are Hydra's.
        if "PATH" in environment:
            search = executables.trusted_path if lane.remote else executables.absolute_path
            environment["PATH"] = search(environment["PATH"])
        environment.update(self._own_places(lane))
        environment.update(workspace.environment)
        if self._confines(lane):  # the ground has them only once it is opened
            environment |= variables(
                self.around.repository.root / dependency for dependency in self.plan.dependencies
            )
        environment[OWNER] = owner
        environment |= {RUN: self.plan.run, LANE: lane.id}
        if lane.built is not None:
            environment.update(lane.built.env)
        return environment

    def _own_places(self, lane: LanePlan) -> dict[str, str]:
        """Where the CLI has unpacked itself, say: a lane would do so again in its own cache."""
        values = {}
        for name, below in self.around.adapters[lane.adapter].descriptor.data_dirs.items():
            paths = (self.around.home / path.replace("{version}", lane.version) for path in below)
            folder = next((path for path in paths if path.is_dir()), None)
            if folder is not None and name not in self.around.environ:
                values[name] = str(folder)
        return values

    def _secrets(self, lane: LanePlan, adapter: Adapter) -> tuple[str, ...]:
        named = secret_values(adapter.descriptor, self.around.environ)
        passed = {name: self.around.environ[name] for name in lane.env_names}
        return (*named, *secret_variables(passed))

    def clean_up(self, context: AttemptContext, outcome: Outcome) -> str:
        """Removes the lane's ground as `keep` says; never where its patch is not whole.

        One that stays has no sign-in in it, but for one that could not be given back. A sentence
        for that, and where something could not be removed.
        """
        if context.workspace.unsynced_credentials:
            worktree = context.workspace.worktree
            return f"the sign-in that could not be given back stays beside {worktree}"
        # The ground is the last attempt's; the patch that is the lane's may be an earlier one's.
        if keeps_ground(self.plan, outcome) or keeps_ground(self.plan, outcome.last):
            _log.debug("its ground stays", keep=self.plan.keep)
            try:
                context.workspace.remove_secrets(but=context.adapter.descriptor.side_files)
            except OSError as error:
                return f"the copies of its settings could not be removed: {error}"
            return ""
        try:
            context.workspace.remove()
        except OSError as error:
            return f"its worktree could not be removed: {error}"
        with suppress(OSError):
            # The last lane's ground takes the race's own folder along.
            ground_dir(self.around.state, self.plan.run, context.lane_plan.id).parent.rmdir()
        return ""


def _of_agent(command: BuiltCommand, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Without PYTHONPATH for an agent that is itself a script of Python's: it would import the
    lane's modules in place of its own."""
    if "PYTHONPATH" not in environment or not script_interpreter(command.program):
        return environment
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}

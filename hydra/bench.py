"""What one attempt works with, how it tells, and the race's hold on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import trio

from hydra.adapters.contract import Adapter
from hydra.errors import Failure
from hydra.events import Raw
from hydra.model import BuiltCommand, Confinement, LanePlan, Limits
from hydra.process import Control
from hydra.reading import Sink
from hydra.sandbox import SandboxPolicy, hidden_in_worktree
from hydra.secrets import Redactor
from hydra.workspace import Ground


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that one attempt works with; put together in `app/bench.py`."""

    plan: LanePlan
    adapter: Adapter
    command: BuiltCommand
    ground: Ground
    confinement: Confinement
    walls: SandboxPolicy
    """Its policy, but for where its ground stands, which is known once that is open."""
    limits: Limits
    environment: Mapping[str, str]
    setup_environment: Mapping[str, str]
    """The same without the agent's keys: a set-up is the repository's, or the user's, not its."""
    redactor: Redactor
    stdout: Sink
    stderr: Sink
    prompt_file: Path
    sent: Sink | None = None
    """Of an agent that is talked to: what Hydra says to it."""
    together: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within it the record may hold events back, to write them at once."""
    remarks: tuple[str, ...] = ()
    """Of its environment: what is not passed on."""
    setup: tuple[str, ...] = ()
    message: str = ""
    attempt: int = 1

    @property
    def shown(self) -> tuple[str, ...]:
        """The agent's own command for eyes and records, without secrets."""
        argv = self.command.argv if self.plan.command is None else self.plan.command.argv
        return tuple(map(self.redactor.text, argv))

    @property
    def policy(self) -> SandboxPolicy:
        """What its commands may see and write."""
        return replace(self.walls, placement=self.ground.placement)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person is told before the agent runs; the ground's own once it is open."""
        return (
            *self.plan.warnings,
            *self.command.warnings,
            *self.remarks,
            *self.ground.notes,
        )

    def hidden(self) -> Iterator[str]:
        """What of the repository is out of the agent's sight, as it starts, in sentences."""
        if self.confinement.holds:
            label, top = self.adapter.descriptor.label, self.ground.worktree
            for place in hidden_in_worktree(self.policy):
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
class Handle:
    """The race's hold on one attempt: it can be told to stop before its agent even runs."""

    control: Control = field(default_factory=Control)
    stopped: str = ""
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
        self.stopped = self.stopped or reason
        self.waiting.cancel()
        self.setting_up.cancel()
        self.checking.cancel()
        self.control.stop(reason, graces=graces)
        self.hurry()

    def stop_agent(self, reason: str) -> None:
        """Ends the agent alone by the ladder: its patch is taken and checked as any other."""
        self.control.stop(reason)

    def hurry(self) -> None:
        """Where the lane was told to stop, its patch has only so long from now."""
        if self.stopped:
            late = trio.current_time() + self.patch_grace
            self.taking_patch.deadline = min(self.taking_patch.deadline, late)

    def kill(self, reason: str) -> None:
        """Ends it at once; its patch is left to recovery."""
        self.stopped = self.stopped or reason
        self.waiting.cancel()
        self.setting_up.cancel()
        self.checking.cancel()
        self.taking_patch.cancel()
        self.control.kill(reason)

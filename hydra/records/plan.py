"""What is decided before anything runs: where, with what, under which limits."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from hydra.errors import Failure
from hydra.records.agent import BuiltCommand, Origin, Tier
from hydra.records.outcome import Outcome, Status
from hydra.records.request import Budget, Check, Lane, Limits, Permission, Retry, Task, TrialCap


class Confinement(NamedTuple):
    """How commands are confined on this machine, as tried and not as looked up.

    `kind` is `bwrap` or `none`; `reason` says why it is none, or else what this kernel leaves open;
    `promises` are the sentences that hold; `program` is bwrap's path; `mounters` are unshare, sh,
    mount and nsenter, where folders can be shown copy-on-write, and `refused_layers` says why they
    cannot. `refused_network` says why no command can have a network of its own, "" where it can.
    """

    kind: str
    program: str = ""
    reason: str = ""
    promises: tuple[str, ...] = ()
    mounters: tuple[str, ...] = ()
    refused_network: str = ""
    refused_layers: str = ""

    @property
    def holds(self) -> bool:
        """Whether anything confines."""
        return self.kind != "none"


class Rates(NamedTuple):
    """What a model's tokens cost, in dollars for a million. `cached` is of those read from a cache,
    None where they cost as any other; prompts over `longest` tokens (None: none is) have other
    prices. `read` is the day on which it was found in `source`, "" for unknown."""

    input: float
    output: float
    cached: float | None = None
    longest: int | None = None
    read: str = ""
    source: str = ""


class RemotePlace(NamedTuple):
    """Where a lane's agent runs but here: a remote's name and mode, what it is in a few words, and
    the folder that an attempt makes there."""

    name: str
    mode: str
    target: str
    folder: str


class LanePlan(Struct, frozen=True, kw_only=True):
    """One lane as it will run: the exact command, its environment by name, where it stands.

    `failure` is set when the lane is known not to start (its probe failed, a flag is gone);
    `command` is None only then. `env_names` are the names passed on from Hydra's own
    environment; values never enter a record. `permission` is what this lane really gets: less
    than the race's where nothing confines it.
    """

    lane: Lane
    label: str
    tier: Tier
    soft_sandbox: bool
    version: str
    worktree: Path
    permission: Permission
    command: BuiltCommand | None = None
    budget: Budget = field(default_factory=Budget)
    env_names: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: Failure | None = None
    third_party: Origin | None = None
    """Where its adapter comes from, if it is none of Hydra's own."""
    rates: Rates | None = None
    """Of the model that was named, where Hydra knows them."""
    remote: RemotePlace | None = None
    """Where its agent runs, and `command` holds, if that is not here."""


class RacePlan(Struct, frozen=True, kw_only=True):
    """All that is decided before anything runs; `--dry-run` prints it."""

    run: str
    task: Task
    lanes: tuple[LanePlan, ...]
    permission: Permission
    confinement: Confinement
    limits: Limits
    max_parallel: int = 4
    network: bool | None = None
    copies: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    """Ignored folders of the checkout that each lane has copy-on-write, from its top; environments
    outside the checkout by their whole paths."""
    python_path: tuple[str, ...] = ()
    """Folders of the checkout from which Python packages are installed, from its top: where nothing
    mounts a lane at its path, PYTHONPATH names each lane's own."""
    setup: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    checks_parallel: int = 1
    checks_network: str = "host"
    checks_on_host: tuple[str, ...] = ()
    """Checks that do not start without the machine's network, where the others have their own."""
    trials: TrialCap = field(default_factory=TrialCap)
    keep: str = "failed"
    retry: Retry = field(default_factory=Retry)
    left_out: tuple[Failure, ...] = ()
    """Why agents that are installed are not in it, though it names none."""
    warnings: tuple[str, ...] = ()

    @property
    def check_runs(self) -> int:
        """How often each check runs at the least: on the base, and on each patch."""
        return 1 + sum(1 for lane in self.lanes if lane.failure is None) if self.checks else 0

    @property
    def commands(self) -> tuple[str, ...]:
        """What its shells run: set-up and checks."""
        return (*self.setup, *(check.command for check in self.checks))

    @property
    def confined(self) -> bool:
        """Whether what runs is kept to its lane: with full access the walls stand open."""
        return self.confinement.holds and self.permission is not Permission.UNRESTRICTED

    @property
    def elsewhere(self) -> list[str]:
        """The lanes whose agents run on no ground of Hydra's: `far on gpubox over ssh`."""
        return [f"{lane.lane.id} on {lane.remote.target}" for lane in self.lanes if lane.remote]

    def keeps_ground(self, outcome: Outcome) -> bool:
        """Whether a lane's ground stays after this outcome: always while its patch is not whole."""
        patch = outcome.patch
        if outcome.status is Status.NOT_STARTED:
            return self.keep != "none"  # no agent has stood in it
        if self.keep == "all" or patch is None or patch.incomplete or patch.left_behind:
            return True
        in_order = outcome.status in (Status.COMPLETED, Status.NO_CHANGES)
        return self.keep == "failed" and not in_order

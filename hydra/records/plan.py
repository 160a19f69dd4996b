"""What is decided before anything runs: where, with what, under which limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, field
from msgspec.structs import force_setattr, replace

from hydra.errors import Failure
from hydra.records.agent import BuiltCommand, Origin, Tier
from hydra.records.codec import SCHEMA, DiskName, as_json
from hydra.records.request import Budget, Check, Effort, Limits, Permission, Retry, TrialCap


class Confinement(Struct, frozen=True, kw_only=True):
    """How commands are confined on this machine, as tried and not as looked up.

    `kind` is `bwrap` or `none`; `reason` says why it is none, or else what this kernel leaves open.
    What follows is not recorded: `mounters` are unshare, sh, mount and nsenter, where folders can
    be shown copy-on-write; what is refused says why it cannot be, "" where it can.
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


class Rates(Struct, frozen=True):
    """What a model's tokens cost, in dollars for a million. `cached` is of those read from a cache,
    None where they cost as any other; prompts over `longest` tokens (None: none is) have other
    prices. `read` is the day on which it was found in `source`, "" for unknown."""

    input: float
    output: float
    cached: float | None = None
    longest: int | None = None
    read: str = ""
    source: str = ""


class RemotePlace(Struct, frozen=True):
    """Where a lane's agent runs but here: a remote's name and mode, what it is in a few words, and
    the folder that an attempt makes there."""

    name: str
    mode: str
    target: str
    folder: str


class PlannedCommand(Struct, frozen=True, kw_only=True):
    """A lane's exact line as it may be shown: names of variables and files, and no value of any.
    `stdin`: whether the task is sent there."""

    argv: tuple[str, ...]
    cwd: Path
    stdin: bool = False
    files: tuple[Path, ...] = ()
    environment_set: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class LanePlan(Struct, frozen=True, kw_only=True):
    """One lane as it will run (docs/reference/json.md): what it is, the exact command, its
    environment by name. `failure` is set when it is known not to start; `command` is None only
    then. Values never enter a record, so `built`, what its adapter has made, does not."""

    id: DiskName = field(name="lane")
    adapter: str
    label: str
    model: str | None = None
    effort: Effort | None = None
    profile: str | None = None
    version: str
    tier: Tier
    third_party: bool = False
    origin: Origin | None = None
    sandbox: str
    permission: Permission
    worktree: Path
    remote: RemotePlace | None = None
    budget: Budget = Budget()
    command: PlannedCommand | None = None
    rates: Rates | None = None
    env_names: tuple[str, ...] = field(name="environment_passed", default=())
    failure: Failure | None = field(name="error", default=None)
    warnings: tuple[str, ...] = ()
    built: BuiltCommand | None = None

    def __post_init__(self) -> None:
        if isinstance(built := self.built, BuiltCommand):
            command = PlannedCommand(
                argv=built.argv,
                cwd=built.cwd,
                stdin=built.stdin is not None,
                files=tuple(path for path, _ in built.files),
                environment_set=tuple(sorted(name for name, _ in built.env)),
                dropped=built.dropped,
                warnings=built.warnings,
            )
            force_setattr(self, "command", command)

    @property
    def argv(self) -> tuple[str, ...]:
        """Its line; () where it has none."""
        return self.command.argv if self.command else ()


class CheckPlan(Struct, frozen=True, kw_only=True):
    """The checks of a race, and how they run. `on_host` do not start without the machine's network,
    where the others have their own."""

    commands: tuple[Check, ...] = ()
    parallel: int = 1
    tree: str = "clean"
    network: str = "host"
    on_host: tuple[str, ...] = ()
    trials: TrialCap = TrialCap()


class RacePlan(Struct, frozen=True, kw_only=True):
    """All that is decided before anything runs: it is plan.json, and `--dry-run` prints it
    (docs/reference/json.md). `view`, for a dry run alone, is what its lanes see of the machine;
    `prompt` is in memory alone, and in the manifest."""

    schema: int = SCHEMA
    kind: str = "plan"
    run: DiskName
    repository: Path
    base: DiskName
    base_name: str = ""
    title: str = ""
    confinement: Confinement
    permission: Permission
    network: bool | None = None
    left_out: tuple[Failure, ...] = ()
    promises: tuple[str, ...] = ()
    view: Mapping[str, Any] | None = None
    lanes: tuple[LanePlan, ...]
    max_parallel: int = 4
    limits: Limits
    copies: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    python_path: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    checking: CheckPlan = field(name="checks", default=CheckPlan())
    keep: str = "failed"
    retry: Retry = Retry()
    warnings: tuple[str, ...] = ()
    prompt: str = ""

    def document(self) -> dict[str, Any]:
        """It as JSON has it: without what is for this process alone."""
        memory = dict.fromkeys(("promises", "mounters", "refused_network", "refused_layers"), UNSET)
        document: dict[str, Any] = as_json(
            replace(
                self,
                confinement=replace(self.confinement, **memory),
                lanes=tuple(replace(lane, built=UNSET) for lane in self.lanes),
                prompt=UNSET,
            )
        )
        return document

    @property
    def checks(self) -> tuple[Check, ...]:
        """What is run on each patch."""
        return self.checking.commands

    def with_checks(self, notes: Iterable[str] = (), **changes: object) -> RacePlan:
        """The plan with its checks changed so, and a warning more for each of `notes`."""
        checking = replace(self.checking, **changes)
        return replace(self, checking=checking, warnings=(*self.warnings, *notes))

    @property
    def check_runs(self) -> int:
        """How often each check runs at the least: on the base, and on each patch."""
        return 1 + sum(1 for lane in self.lanes if lane.failure is None) if self.checks else 0

    @property
    def headline(self) -> dict[str, object]:
        """What a person is told of the race as it begins."""
        trials = self.checking.trials
        return {
            "lanes": [lane.id for lane in self.lanes],
            "base": self.base,
            "base_name": self.base_name,
            "confined": self.confined,
            "soft": [lane.id for lane in self.lanes if lane.sandbox == "soft"],
            "elsewhere": [
                f"{lane.id} on {lane.remote.target}" for lane in self.lanes if lane.remote
            ],
            "checks": [check.name for check in self.checks],
            "guessed": [check.command for check in self.checks if check.guessed],
            "check_runs": self.check_runs,
            "trial_time": trials.seconds if trials.runs else 0,
        }

    @property
    def commands(self) -> tuple[str, ...]:
        """What its shells run: set-up and checks."""
        return (*self.setup, *(check.command for check in self.checks))

    @property
    def confined(self) -> bool:
        """Whether what runs is kept to its lane: with full access the walls stand open."""
        return self.confinement.holds and self.permission is not Permission.UNRESTRICTED


def _head(plan: type[LanePlan | RacePlan], until: str) -> tuple[str, ...]:
    names = plan.__struct_encode_fields__
    return names[: names.index(until)]


RACE_HEAD, LANE_HEAD = _head(RacePlan, "promises"), _head(LanePlan, "budget")
"""What both plan.json and result.json say first of a race, and of a lane."""


class RaceManifest(Struct, frozen=True, kw_only=True):
    """manifest.json: who runs what of which task. By `process` and `owner` it is known what a dead
    Hydra has left; `settings_from` says where each setting came from. What is not known is ""."""

    schema: int = SCHEMA
    hydra: str = ""
    run: DiskName = ""
    started: float | None = None
    process: Mapping[str, Any] = {}
    owner: DiskName = ""
    argv: tuple[str, ...] = ()
    repository: DiskName = ""
    base: DiskName = ""
    base_name: str = ""
    head: DiskName = ""
    title: str = ""
    prompt: str = ""
    python: str = ""
    git: str = ""
    environment_names: tuple[str, ...] = ()
    settings_from: Mapping[str, str] = {}
    lanes: tuple[DiskName, ...] = ()

    @property
    def is_uncommitted(self) -> bool:
        """Whether its base is a commit of Hydra's own, of what was not committed as it began."""
        return self.head not in ("", self.base)

"""The records that travel between the rooms: frozen, typed, and without any I/O.

Times are seconds as floats unless a name says otherwise; paths are absolute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from hydra.errors import Failure


class Tier(StrEnum):
    """Whether an adapter runs by itself when its probes pass, or only by opt-in."""

    TIER1 = "tier1"
    EXPERIMENTAL = "experimental"


class Confidence(StrEnum):
    """How sure a claim about a CLI is (seed 004, section 3)."""

    VERIFIED = "verified"
    OBSERVED = "observed"
    UNKNOWN = "unknown"


class Permission(StrEnum):
    """What an agent may do without asking; each adapter maps it to its CLI's own modes."""

    PLAN = "plan"
    EDIT = "edit"
    FULL_AUTO = "full-auto"
    UNRESTRICTED = "unrestricted"
    DEFAULT = "default"
    """As the CLI does by itself: no word of Hydra's, and none of the user's own settings."""
    CONFIG = "config"
    """As the user's own settings of that CLI say."""


class Effort(StrEnum):
    """How hard a model is to think; each adapter maps it to its CLI's own words."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class Status(StrEnum):
    """The one outcome of an attempt."""

    COMPLETED = "completed"
    NO_CHANGES = "no_changes"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    NOT_STARTED = "not_started"


class SignIn(StrEnum):
    """What is known of an agent's sign-in."""

    SEEMS_SO = "seems so"
    CONFIRMED = "confirmed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a third party's adapter comes from: `module:NAME`, and the distribution that has it
    as an entry point, "" where the user's own hydra.toml (or a command line) names it."""

    spec: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        """`toy-adapter 1.0` where it is known, else `my_pkg:ADAPTER`."""
        return f"{self.distribution} {self.version}".strip() or self.spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The prompt, the repository and the base commit."""

    prompt: str
    repository: Path
    base: str
    base_name: str = ""
    title: str = ""


class Check(NamedTuple):
    """A command that is run on each patch. `name` is safe as a file name; `kind` is test, build or
    lint; `junit` names the results it writes, as a path or a glob from the worktree's top."""

    name: str
    command: str
    kind: str = "test"
    required: bool = True
    junit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One runner in a race. `id` is safe as a ref and a file name: `[a-z0-9][a-z0-9.-]{0,39}`."""

    id: str
    adapter: str
    model: str | None = None
    copy: int = 1
    effort: Effort | None = None
    profile: str = ""
    """The name under which hydra.toml has it, "" where the agent itself was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one lane may use up; None is no limit. `cost_usd` is in dollars, `seconds` on the clock.

    A turn is one answer of the model.
    """

    turns: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    tool_calls: int | None = None


RETRY_REASONS = ("rate_limit", "overloaded", "network", "crash")
"""What a lane can be tried again after, by the words of hydra.toml."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """`[retry]`: further tries of a lane at most, after which failures, seconds before the first
    (doubled for each further one) and at the longest, and whether a patch is no reason against."""

    times: int = 0
    on: tuple[str, ...] = ("rate_limit", "overloaded", "crash")
    wait: float = 10.0
    longest: float = 300.0
    with_patch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every limit of a race: seconds or bytes. Defaults are those of docs/configuration.md."""

    idle: float = 600
    tool: float = 1200
    total: float = 3600
    grace_int: float = 10
    grace_term: float = 5
    grace_patch: float = 30
    setup: float = 900
    check: float = 900
    check_bytes: int = 64 * 1024**2
    raw_bytes: int = 256 * 1024**2
    line_bytes: int = 4 * 1024**2
    stderr_bytes: int = 16 * 1024**2
    patch_file_bytes: int = 100 * 1000**2
    patch_bytes: int = 1000**3
    patch_untracked: int = 20_000
    disk_floor: int = 2 * 1024**3
    retention: float = 30 * 86400
    retention_bytes: int = 20 * 1000**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each dimension weighs in the score that is shown beside a verdict, in points."""

    build: float = 30
    test: float = 30
    lint: float = 15
    scope: float = 15
    speed: float = 10


class TrialCap(NamedTuple):
    """What the trials of one race may cost together: runs of a check, and seconds by the clock."""

    runs: int = 40
    seconds: float = 600.0


CAPABILITIES = (
    "json_stream",
    "plain_text",
    "force_edit_mode",
    "sandbox_controls",
    "approval_controls",
    "session_resume",
    "emits_usage",
)
"""The seed's CapabilitySet, by name (seed 004, section 3)."""


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing a CLI can do, how sure that is, and the CLI version in which it was seen."""

    present: bool
    confidence: Confidence = Confidence.UNKNOWN
    seen_in: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class CapabilitySet:
    """The seed's seven capabilities of one agent, as found on this machine."""

    json_stream: Capability = Capability(False)
    plain_text: Capability = Capability(False)
    force_edit_mode: Capability = Capability(False)
    sandbox_controls: Capability = Capability(False)
    approval_controls: Capability = Capability(False)
    session_resume: Capability = Capability(False)
    emits_usage: Capability = Capability(False)

    def items(self) -> list[tuple[str, Capability]]:
        """(name, capability) in the seed's order."""
        return [(name, getattr(self, name)) for name in CAPABILITIES]

    def without(self, name: str, note: str) -> CapabilitySet:
        """This set with `name` dropped, and why."""
        held: Capability = getattr(self, name)
        dropped = replace(held, present=False, note=note)
        return replace(self, **{name: dropped})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOutput:
    """What one probe of a CLI gave. `exit_code` is None when it did not end by itself."""

    name: str
    argv: tuple[str, ...]
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectResult:
    """One agent as it was found on this machine: the adapter's pure reading of its probes.

    `error` is set when the agent cannot race; `warnings` are sentences for a person. `flags` are
    the long options that the CLI's own help shows.
    """

    adapter: str
    binary: Path | None = None
    version: str = ""
    flags: frozenset[str] = frozenset()
    capabilities: CapabilitySet = field(default_factory=CapabilitySet)
    sign_in: SignIn = SignIn.UNKNOWN
    sign_in_detail: str = ""
    warnings: tuple[str, ...] = ()
    error: Failure | None = None

    @property
    def ready(self) -> bool:
        """Whether this agent can be raced."""
        return self.error is None and self.binary is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnRequest:
    """What a lane wants of its agent; an adapter turns it into a `BuiltCommand`.

    `confined`: Hydra's own confinement holds around the command. `network`: None leaves the
    agent's tools as the CLI itself has them. `instructions`: the repository's own instruction
    files at the base, relative to the worktree, for CLIs that must be told of them. `resume` is
    the id of a session of the CLI's own to go on with, as its stream named it; "" begins one;
    `fork` goes on with a copy of it. `home` is the lane's own folder beside its worktree: files
    that the CLI is to read or write lie there. `preface` stands before every prompt, by the CLI's
    own flag where it has one. What an adapter's descriptor maps nothing for is refused before it
    is asked.
    """

    prompt: str
    worktree: Path
    permission: Permission = Permission.FULL_AUTO
    model: str | None = None
    network: bool | None = None
    confined: bool = True
    as_root: bool = False
    instructions: tuple[str, ...] = ()
    extra_args: tuple[str, ...] = ()
    resume: str = ""
    fork: bool = False
    home: Path | None = None
    effort: Effort | None = None
    preface: str = ""
    budget: Budget = field(default_factory=Budget)
    service_tier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltCommand:
    """The exact line that an adapter wants run. The prompt travels as `stdin`, never in `args`.

    Where the CLI reads no stdin it travels in one of `files`: (path in the lane's home, bytes),
    written for its user alone before the start. In a conversation (`Descriptor.converses`) `stdin`
    is the prompt that the conversation sends, and `dialogue` what else it has to know; `fresh`
    names variables that Hydra gives a secret of this attempt alone, which then stands in both.
    `env` holds only what the adapter sets itself; `dropped` names the flags that were left out
    because the CLI's help no longer shows them, `warnings` say it in sentences. `expects` is what
    the CLI's session event should then say it applied, as (`permission` or `sandbox`, value).
    """

    program: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: Path
    stdin: bytes | None = None
    files: tuple[tuple[Path, bytes], ...] = ()
    dialogue: tuple[tuple[str, str], ...] = ()
    fresh: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    expects: tuple[tuple[str, str], ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.program, *self.args)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How commands are confined on this machine, as tried and not as looked up.

    `kind` is `bwrap` or `none`; `reason` says why it is none; `promises` are the sentences that
    hold; `program` is bwrap's path.
    """

    kind: str
    program: str = ""
    reason: str = ""
    promises: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether anything confines."""
        return self.kind != "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How an agent's process ended, and what it left running (killed since).

    Exactly one of `code` and `signal` is set, or neither when the keeper itself was lost.
    """

    code: int | None = None
    signal: int | None = None
    survivors: tuple[str, ...] = ()
    keeper_lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an attempt cost. None is unknown, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


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


class Estimate(NamedTuple):
    """What an attempt's tokens would cost by `Rates`, where its agent tells no cost."""

    cost_usd: float
    prices_of: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What a patch touches that deserves a look before it lands. `kind` is one of docs/landing.md;
    `path` is from the tree's top, "" where several are counted together."""

    kind: str
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """An attempt's work as a commit on the base, in the run's `patches.git`.

    `incomplete` says why something may be missing ("" when whole); `notes` name what deserves a
    look (a nested repository taken as files, a file left out for its size); `left_behind` counts
    the files, stashes and branches that the lane alone has, which is therefore kept; `remarks` what
    it touches that is not ordinary code. An empty patch has `files == 0` and `commit == base`.
    """

    commit: str
    base: str
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    incomplete: str = ""
    notes: tuple[str, ...] = ()
    left_behind: int = 0
    remarks: tuple[Remark, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the attempt changed nothing."""
        return self.files == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attempt ended: one status, the failure if any, the patch whatever the status."""

    lane: str
    attempt: int
    status: Status
    failure: Failure | None = None
    patch: Patch | None = None
    usage: Usage = Usage()
    exit: ExitStatus | None = None
    seconds: float = 0.0
    message: str = ""
    session: str = ""
    warnings: tuple[str, ...] = ()
    checks: tuple[Mapping[str, object], ...] = ()
    """What came of each check, as docs/json.md has it."""
    held_back: tuple[str, ...] = ()
    """Why a required check keeps it from being usable, a sentence each."""
    plan: str = ""
    """Where the plan that it ended on is kept, from the run's folder; "" where it made none."""
    others: tuple[Outcome, ...] = ()
    """The lane's other attempts, where it was tried more than once."""

    @property
    def usable(self) -> bool:
        """Completed, its patch whole and not empty, and no required check holds it back."""
        return (
            self.status is Status.COMPLETED
            and self.patch is not None
            and not self.patch.empty
            and not self.patch.incomplete
            and not self.held_back
        )


class Place(NamedTuple):
    """Where a lane's agent runs but here: a remote's name and mode, what it is in a few words, and
    the folder that an attempt makes there."""

    name: str
    mode: str
    target: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePlan:
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
    remote: Place | None = None
    """Where its agent runs, and `command` holds, if that is not here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RacePlan:
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
    setup: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    checks_parallel: int = 1
    checks_tree: str = "clean"
    checks_network: str = "host"
    trials: TrialCap = field(default_factory=TrialCap)
    keep: str = "failed"
    retry: Retry = field(default_factory=Retry)
    warnings: tuple[str, ...] = ()

    @property
    def elsewhere(self) -> list[str]:
        """The lanes whose agents run on no ground of Hydra's: `far on gpubox over ssh`."""
        return [f"{one.lane.id} on {one.remote.target}" for one in self.lanes if one.remote]

    def keeps_ground(self, outcome: Outcome) -> bool:
        """Whether a lane's ground stays after this outcome: always while its patch is not whole."""
        patch = outcome.patch
        if outcome.status is Status.NOT_STARTED:
            return self.keep != "none"  # no agent has stood in it
        if self.keep == "all" or patch is None or patch.incomplete or patch.left_behind:
            return True
        in_order = outcome.status in (Status.COMPLETED, Status.NO_CHANGES)
        return self.keep == "failed" and not in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceResult:
    """One race, ended: its lanes' outcomes in the order of the plan.

    `interrupted` is the number of the signal that ended it early, 0 for none.
    """

    run: str
    outcomes: tuple[Outcome, ...]
    seconds: float
    interrupted: int = 0
    folder: Path | None = None
    warnings: tuple[str, ...] = ()
    baseline: tuple[Mapping[str, object], ...] = ()
    """What came of each check on the base."""
    verdict: Mapping[str, object] | None = None
    """The verdict's document (docs/json.md); None where the race could not be judged."""

    @property
    def usable(self) -> bool:
        """Whether at least one lane is usable."""
        return any(outcome.usable for outcome in self.outcomes)

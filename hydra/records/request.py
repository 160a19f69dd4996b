"""What is asked of a race: the task, its lanes, what they may do and may use up."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


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


class Check(Struct, frozen=True):
    """A command that is run on each patch. `kind` is test, build or lint; `junit` names the results
    it writes, as a path or a glob from the worktree's top; `guessed`: nobody has named it."""

    name: str
    command: str
    kind: str = "test"
    required: bool = True
    junit: str = ""
    guessed: bool = False


class Lane(Struct, frozen=True, kw_only=True):
    """One runner in a race. `id` is safe as a ref and a file name: `[a-z0-9][a-z0-9.-]{0,39}`."""

    id: str
    adapter: str
    model: str | None = None
    effort: Effort | None = None
    profile: str = ""
    """The name under which hydra.toml has it, "" where the agent itself was named."""


class Budget(Struct, frozen=True, kw_only=True):
    """What one lane may use up; None is no limit. `cost_usd` is in dollars, `seconds` on the clock.

    A turn is one answer of the model.
    """

    turns: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    tool_calls: int | None = None


RETRY_REASONS = ("rate_limit", "overloaded", "network", "crash")
"""What a lane can be tried again after, by the words of hydra.toml."""


class Retry(Struct, frozen=True, kw_only=True):
    """`[retry]`: further tries of a lane at most, after which failures, seconds before the first
    (doubled for each further one) and at the longest, and whether a patch is no reason against."""

    times: int = 0
    on: tuple[str, ...] = ("rate_limit", "overloaded", "crash")
    wait: float = 10.0
    longest: float = 300.0
    with_patch: bool = False


class Limits(Struct, frozen=True, kw_only=True):
    """Every limit of a race: seconds or bytes. Defaults: docs/reference/configuration.md."""

    idle: float = 600
    tool: float = 1200
    background: float = 120
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


class TrialCap(Struct, frozen=True):
    """What the trials of one race may cost together: runs of a check, and seconds by the clock."""

    runs: int = 40
    seconds: float = 600.0

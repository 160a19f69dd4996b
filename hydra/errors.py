"""Every error Hydra raises on purpose, and the exit code each one ends with.

Two families. `HydraError` is what a person did or where they stand (bad flag, no commit yet):
one sentence, one next step, one exit code. `AgentError` is what went wrong with one agent: the
eight kinds of the seed's taxonomy (seed 004, section 8), each with adapter key, attempted
command, stderr excerpt and recovery hint. An agent's error ends its lane, never the race.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct, field

EXIT_OK = 0
EXIT_NO_USABLE_LANE = 1
EXIT_USAGE = 2
EXIT_REFUSED = 3
EXIT_NO_AGENT = 4
EXIT_LANDING = 5
EXIT_RECORD = 6
EXIT_EXHAUSTED = 71
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

STDERR_EXCERPT = 2000
"""Characters of an agent's stderr that a `Failure` keeps: its end, where the reason stands."""

NOT_INSTALLED = "not_installed"
"""Reason of a `BinaryMissing` where nothing by any of the agent's names is there."""


class HydraError(Exception):
    """Something a person can mend: `message` says what and why, `hint` what to do next.

    `failures` are what stands in the way of each agent, where that is the reason.
    """

    exit_code: ClassVar[int] = EXIT_USAGE

    def __init__(self, message: str, *, hint: str = "", failures: tuple[Failure, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.failures = failures


class UsageError(HydraError):
    """A wrong option, lane, run or task."""


class ConfigError(HydraError):
    """`hydra.toml` (or a HYDRA_ variable) says something Hydra cannot take."""


class Refused(HydraError):
    """Nothing was started: the repository, the disk or the confinement does not allow it."""

    exit_code = EXIT_REFUSED


class NoAgentReady(HydraError):
    """No adapter that was asked for can run here."""

    exit_code = EXIT_NO_AGENT


class LandingRefused(HydraError):
    """A patch was not landed, and nothing was touched: in the way, in conflict, or moved on.

    `paths` are what stands in the way, each with why: (path, reason).
    """

    exit_code = EXIT_LANDING

    def __init__(
        self, message: str, *, hint: str = "", paths: tuple[tuple[str, str], ...] = ()
    ) -> None:
        text = "".join(f"\n  {path}: {reason}" for path, reason in paths)
        super().__init__(message + text, hint=hint)
        self.paths = paths


class LandingInterrupted(LandingRefused):
    """Ctrl-C came while what was to be landed was still being checked."""

    exit_code = EXIT_INTERRUPTED


class LandingTerminated(LandingRefused):
    """The same by SIGTERM or SIGHUP."""

    exit_code = EXIT_TERMINATED


class RecordError(HydraError):
    """A run's record is incomplete, damaged, or written by a newer Hydra."""

    exit_code = EXIT_RECORD


class Exhausted(Refused):
    """The machine has run out of what Hydra needs: files, processes, memory, a disk (EX_OSERR)."""

    exit_code = EXIT_EXHAUSTED


class Failure(Struct, frozen=True, kw_only=True):
    """What went wrong with one agent, as data for records, tables and `--json`.

    `kind` is one of `KINDS`; `reason` narrows it in one lower_snake_case word (`rate_limit`,
    `context_overflow`, `budget`, `idle`, `total` ...); `numbers` are the reason's figures
    (`retry_after` in seconds, `limit` in seconds, tokens). `command` is the attempted argv
    without secrets; `stderr` the end of what the agent wrote there, at most `STDERR_EXCERPT`.
    """

    kind: str
    reason: str = ""
    message: str
    adapter: str = ""
    command: tuple[str, ...] = ()
    stderr: str = ""
    hint: str = ""
    numbers: Mapping[str, float | None] = field(default_factory=dict)


class AgentError(HydraError):
    """One agent could not do its work. Raised before a spawn, recorded after one.

    The class itself (kind `AgentFailed`) stands for what the seed has no word for: the CLI ran,
    was understood, and ended by its own failure; `reason` says which.
    """

    kind: ClassVar[str] = "AgentFailed"

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__

    def __init__(
        self,
        message: str,
        *,
        adapter: str,
        command: tuple[str, ...] = (),
        stderr: str = "",
        hint: str = "",
        reason: str = "",
        numbers: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.failure = Failure(
            kind=self.kind,
            message=message,
            adapter=adapter,
            command=command,
            stderr=stderr[-STDERR_EXCERPT:],
            hint=hint,
            reason=reason,
            numbers=dict(numbers or {}),
        )


class BinaryMissing(AgentError):
    """No program of that agent was found, or what was found is not it."""


class AuthMissing(AgentError):
    """The CLI is not signed in, or the service refused its key."""


class UnsupportedVersion(AgentError):
    """The installed version is known not to work."""


class UnsupportedFlag(AgentError):
    """A flag Hydra needs is gone from the CLI, or a capability was asked for in vain."""


class SpawnFailed(AgentError):
    """The program could not be started, or its confinement could not be made."""


KINDS = (
    *("BinaryMissing", "AuthMissing", "UnsupportedVersion", "UnsupportedFlag", "SpawnFailed"),
    *("StreamParseError", "TimedOut", "Interrupted", "AgentFailed"),
)
"""The seed's eight kinds, and `AgentFailed` for all that they have no word for. Three are of a
lane's end and never raised: the CLI's output could not be understood, or ended without its closing
event; no progress within the idle limit, or the total limit was reached; a person (Ctrl-C) or the
system (SIGTERM, SIGHUP) ended the race."""

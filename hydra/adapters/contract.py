"""The contract of an adapter (seed 004, section 2; descriptor fields from seed 000).

An adapter is a `Descriptor` (data), pure functions, and a sans-I/O `Parser`. It never runs
anything, never reads the environment or a file: `probe.py` runs its probes, `plan.py` asks for
its line, `attempt.py` feeds its parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hydra.events import AgentEvent
from hydra.model import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    DetectResult,
    ExitStatus,
    Origin,
    ProbeOutput,
    SpawnRequest,
    Tier,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question to a CLI: arguments after the program, and a limit in seconds.

    `confined` runs it inside the lanes' confinement (Codex's sandbox must nest there).
    """

    name: str
    args: tuple[str, ...]
    timeout: float = 10.0
    confined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFolder:
    """An agent's own settings folder, and how a lane gets a copy of it (decision 5).

    `variable` names the environment variable that moves it; `default` is relative to HOME.
    `credentials` are files in it that hold the sign-in (copied in, a refreshed one copied back);
    `copied` are the other names that come along (settings, skills, instructions), files or
    folders; nothing else does. `beside` are files in HOME itself that belong to it.
    """

    variable: str
    default: str
    credentials: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """One agent as data. `sandbox` is `hard` or `soft`; soft is marked wherever it is shown."""

    key: str
    label: str
    homepage: str
    tier: Tier
    binaries: tuple[str, ...]
    """Names to look for, in order; the configured path always comes first."""
    generic_binaries: tuple[str, ...] = ()
    """Names others use too: taken only when the version text proves what they are."""
    protocol: str = "stdin"
    stream_format: str = "json-lines"
    sandbox: str = "soft"
    install_hint: str = ""
    sign_in_hint: str = ""
    exit_codes: Mapping[int, str] = field(default_factory=dict)
    minimum_version: str = ""
    """Older ones get a warning."""
    broken_versions: Mapping[str, str] = field(default_factory=dict)
    """Version, or "<X" for all before X, to the reason: `UnsupportedVersion`."""
    live_input: bool = False
    confines_itself: bool = False
    """Whether its own sandbox keeps its tools to the worktree (its preflight has to pass)."""
    side_files: tuple[str, ...] = ()
    """Globs in its config folder whose newest match is handed to `Parser.end` by that name."""
    capabilities: CapabilitySet = field(default_factory=CapabilitySet)
    environment: tuple[str, ...] = ()
    """Names (a trailing * is a prefix) passed on from the user's environment: key, base URL."""
    environment_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further names, passed on only where the variable they stand under is set."""
    secret_environment: tuple[str, ...] = ()
    """Those whose values are secrets, to be redacted wherever they appear."""
    sign_in_environment: tuple[str, ...] = ()
    """A name set here means "seems signed in"."""
    config: ConfigFolder | None = None
    probes: tuple[Probe, ...] = ()
    instructions: tuple[str, ...] = ()
    """Repository files that its line must name, or they would not be read."""
    third_party: Origin | None = None
    """Set by Hydra alone, on what others have written; such an adapter is experimental."""


class Parser(Protocol):
    """Turns one agent's output into events. Sans-I/O; may keep state; never raises on input."""

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line without its newline, at most `Limits.line_bytes`."""

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        """Plain text instead, once JSON has failed repeatedly on this lane."""

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What only the end tells. `files`: side files, `stderr` (its last 64 KiB) among them.

        After it exactly one `completed` or terminal `failed` event has been given for the stream.
        """


class Adapter(Protocol):
    """One agent. A module's `ADAPTER` is an instance."""

    @property
    def descriptor(self) -> Descriptor:
        """The agent as data."""

    def key(self) -> str:
        """The name users type."""

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes' output: version, flags, capabilities, sign-in, or why it cannot run."""

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's capabilities, less those whose flags the help text no longer shows."""

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """The exact line for one lane. Raises `UnsupportedFlag` where a required flag is gone."""

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""


__all__ = [
    "Adapter",
    "AgentEvent",
    "BuiltCommand",
    "Capability",
    "CapabilitySet",
    "ConfigFolder",
    "Descriptor",
    "Origin",
    "Parser",
    "Probe",
]

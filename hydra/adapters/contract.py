"""The contract of an adapter (seed 004, section 2; descriptor fields from seed 000).

An adapter is a `Descriptor` (data), pure functions, and a sans-I/O `Parser`. It never runs
anything, never reads the environment or a file: `probe/` runs its probes, `lane_plan.py` asks for
its line, `attempt.py` feeds its parser.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from hydra.records.agent import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    Origin,
    ProbeOutput,
    ServerCall,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

KEY = re.compile(r"(?!\d+x)[a-z0-9][a-z0-9-]{0,39}")
"""What an agent can be called: safe as a ref and a file name, and not `2xclaude`."""


def names(text: str) -> tuple[str, ...]:
    """The names in a text, which stand between blanks."""
    return tuple(text.split())


class Probe(Struct, frozen=True, kw_only=True):
    """One question to a CLI: arguments after the program, and a limit in seconds, of which the time
    that it waits for a core does not count. The answer must not depend on who asks.

    `settings` says that it depends on the agent's own variables and settings files (aider's model).
    `confined` runs it inside the lanes' confinement (Codex's sandbox must nest there). `stderr`
    says that the answer may stand there, where stdout is empty (pi 0.73.1); `own_folder` that it
    writes to its settings folder even for that, and gets one of its own (droid 0.215.0).
    """

    name: str
    args: tuple[str, ...]
    timeout: float = 10.0
    confined: bool = False
    stderr: bool = False
    own_folder: bool = False
    settings: bool = False


def common_probes(*help: str, timeout: float = 10.0, stderr: bool = False) -> tuple[Probe, ...]:
    """`--version`, and the help text, which the words of `help` show."""
    return (
        Probe(name="version", args=("--version",), timeout=timeout, stderr=stderr),
        Probe(name="help", args=help or ("--help",), timeout=timeout, stderr=stderr),
    )


class TokenFields(Struct, frozen=True, kw_only=True):
    """Which fields of one credentials file (a JSON object) a lane may renew in the user's own.

    Nothing else of the lane's file ever reaches the user's: an agent can write what runs later into
    it. Name a field only if a file that the real CLI wrote has shown it, and never an address, a
    key of an API, a command, a list of scopes. A name may lead deeper, as `tokens.access_token`.
    """

    file: str
    """Its name in `ConfigFolder.credentials`."""
    entries: tuple[str, ...] = ("",)
    """The objects at its top that hold one sign-in each; "*" is each that the user's own has, ""
    the file itself."""
    kind: str = ""
    """What an entry's `type` must be, for one that has other kinds beside it."""
    access: str
    """The access token: every renewal brings another."""
    refresh: str = ""
    """The refresh token, where a renewal may bring another."""
    tokens: tuple[str, ...] = ()
    """Further tokens that it may bring: an ID token."""
    expiries: tuple[str, ...] = ()
    """Numbers since 1970: when the access token ends, then any others."""
    seconds: bool = False
    """Whether those are seconds; else milliseconds."""
    stamps: tuple[str, ...] = ()
    """When it was renewed, as `2026-11-23T05:48:33.142157382Z`."""
    account: tuple[str, ...] = ()
    """Names of the account: where the lane's says another, nothing goes back."""
    silent: bool = False
    """Whether the CLI may renew a token long before its end and print no word of the refusal that
    made it do so: then no clock tells a renewal from another's token."""


class PathTrust(NamedTuple):
    """Where an agent keeps what it may do in which folder: at `key` of `file`, by path (a table),
    or as a list of paths."""

    file: str
    key: str


class ConfigFolder(Struct, frozen=True, kw_only=True):
    """An agent's own settings folder, and how a lane gets a copy of it (decision 5).

    `variable` names the environment variable that moves it, "" for none; `default` is relative to
    HOME.
    `credentials` are files in it that hold the sign-in (copied in); of a renewed one the fields
    that `renewals` names go back, and nothing of a file that it does not name;
    `copied` are the other names that come along (settings, skills, instructions), files or
    folders, "." for all of it; nothing else does. `beside` are files in HOME itself that belong to
    it. `trust` says where it keeps its trust in folders: a lane stands at the user's own path, and
    gets none of what the user has granted to what is there.
    """

    variable: str
    default: str
    credentials: tuple[str, ...] = ()
    renewals: tuple[TokenFields, ...] = ()
    copied: tuple[str, ...] = ()
    home_files: tuple[str, ...] = ()
    trust: tuple[PathTrust, ...] = ()
    writable: PathTrust | None = None
    """Where it lists what its own sandbox lets it write besides: that one would hold a lane's .git
    read-only."""
    parent: bool = False
    """Whether the variable names the folder that `default` lies in (GEMINI_CLI_HOME)."""


PROTOCOLS = ("stdin", "file", "argv", "acp", "http")
"""How a prompt reaches a CLI: on its stdin; in a file of `BuiltCommand.files` that its line names;
as a word of its line, which every user of the machine can read; or in a conversation."""


class Descriptor(Struct, frozen=True, kw_only=True):
    """One agent as data. `sandbox` is `hard` or `soft`; soft is marked wherever it is shown."""

    key: str
    label: str
    homepage: str
    tier: Tier = Tier.EXPERIMENTAL
    binaries: tuple[str, ...]
    """Names to look for, in order; the configured path always comes first."""
    generic_binaries: tuple[str, ...] = ()
    """Names others use too: taken only when the version text proves what they are."""
    protocol: str = "stdin"
    """One of `PROTOCOLS`."""
    stream_format: str = "json-lines"
    """`text` is plain text, `json` one document at the end; any other is one JSON object a line."""
    sandbox: str = "soft"
    install_hint: str = ""
    sign_in_hint: str = ""
    exit_codes: Mapping[int, str] = field(default_factory=dict)
    minimum_version: str = ""
    """Older ones get a warning."""
    broken_versions: Mapping[str, str] = field(default_factory=dict)
    """Version, or "<X" for all before X, to the reason: `UnsupportedVersion`."""
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
    generated_files: tuple[str, ...] = ()
    """What it makes at the worktree's top for itself: not taken into a patch unless tracked."""
    instructions: tuple[str, ...] = ()
    """Repository files that its line must name, or they would not be read."""
    hidden_paths: tuple[str, ...] = ()
    """Paths of a repository that it would run, or take its orders from, and has no switch against:
    hidden from it wherever Hydra confines."""
    folders: tuple[ConfigFolder, ...] = ()
    """Further folders of its own, each handled as `config` is: sessions, data, caches."""
    network_switch: bool = False
    """Whether it has a switch that keeps its tools off the network."""
    forks: bool = False
    """Whether it can go on with a copy of a session."""
    modes: Mapping[Permission, str] = field(default_factory=dict)
    """Permissions in the CLI's own words; one that is not here is refused by name."""
    efforts: Mapping[Effort, str] = field(default_factory=dict)
    """Thinking efforts in the CLI's own words; none here: asking for one is refused by name."""
    budgets: tuple[str, ...] = ()
    """The parts of a `Budget` that the CLI keeps itself; Hydra watches over the others."""
    service_tiers: Mapping[str, str] = field(default_factory=dict)
    families: tuple[str, ...] = ()
    """Families of models that it takes (hydra/models); () for any: the provider is in the name."""
    data_dirs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Variables, each to places below HOME (`{version}` is the CLI's): a lane is told the first
    that is there, where the user has not set the variable. It is read there, never written."""
    stdin_pipe: bool = False
    """Whether its stdin must be a pipe: of a file there it reads nothing (cline 3.0.65)."""
    interactive: bool = False
    """Whether it is driven by a conversation: `conversation()` instead of a prompt on stdin."""
    tagline: str = ""
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


class Write(NamedTuple):
    """Bytes for the agent's stdin."""

    data: bytes


class CloseInput(NamedTuple):
    """Its stdin ends: there is nothing more to say."""


class Finish(NamedTuple):
    """The agent's work is done and it would not end by itself: Hydra ends it, in good order.

    Connections are closed, then its stdin; one that was written to by that has two seconds to go,
    then come INT, TERM and KILL. How it exits is no failure: what was said is the outcome.
    """


Act = Write | CloseInput | ServerCall | Finish


class Conversation(Parser, Protocol):
    """A parser that answers, for agents that are talked to (ACP, HTTP). Sans-I/O as well:
    `acts` is asked once before the first line, and again after every line."""

    def acts(self) -> Sequence[Act]:
        """What is to be done since it was last asked, in order."""


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

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """The exact line for one lane, of which `check_supported` has refused nothing. Raises
        `UnsupportedFlag` where a required flag is gone."""

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""


class Talker(Adapter, Protocol):
    """An adapter whose descriptor says `interactive`. Its `parser()` reads a recorded stream."""

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt, by what `build_command` gave."""

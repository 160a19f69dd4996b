"""What an agent is, as it was found here, and what is said between a lane and its adapter."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from hydra.errors import Failure
from hydra.records.request import Budget, Effort, Permission


class Tier(StrEnum):
    """Whether an adapter runs by itself when its probes pass, or only by opt-in."""

    TIER1 = "tier1"
    EXPERIMENTAL = "experimental"


class Confidence(StrEnum):
    """How sure a claim about a CLI is (seed 004, section 3)."""

    VERIFIED = "verified"
    OBSERVED = "observed"
    UNKNOWN = "unknown"


class SignIn(StrEnum):
    """What is known of an agent's sign-in."""

    SEEMS_SO = "seems so"
    CONFIRMED = "confirmed"
    MISSING = "missing"
    UNKNOWN = "unknown"


class Origin(Struct, frozen=True):
    """Where a third party's adapter comes from: `module:NAME`, and the distribution that has it
    as an entry point, None where the user's own hydra.toml (or a command line) names it."""

    spec: str = field(name="adapter")
    distribution: str | None = None
    version: str | None = None

    def __str__(self) -> str:
        """`toy-adapter 1.0` where it is known, else `my_pkg:ADAPTER`."""
        return " ".join(filter(None, (self.distribution, self.version))) or self.spec


class Capability(Struct, frozen=True):
    """One thing a CLI can do, how sure that is, and the CLI version in which it was seen.

    `present` is None where nothing here has told it: the CLI is not here, or did not answer.
    """

    present: bool | None
    confidence: Confidence = Confidence.UNKNOWN
    seen_in: str = ""
    note: str = ""


class CapabilitySet(Struct, frozen=True):
    """The seven capabilities of one agent (seed 004, section 3), as found on this machine."""

    json_stream: Capability = Capability(False)
    plain_text: Capability = Capability(False)
    force_edit_mode: Capability = Capability(False)
    sandbox_controls: Capability = Capability(False)
    approval_controls: Capability = Capability(False)
    session_resume: Capability = Capability(False)
    emits_usage: Capability = Capability(False)

    def items(self) -> list[tuple[str, Capability]]:
        """(name, capability) in the seed's order."""
        return [(name, getattr(self, name)) for name in self.__struct_fields__]


UNKNOWN_CAPABILITIES = CapabilitySet(*[Capability(None)] * 7)
"""Those of an agent of which nothing was found out."""

_CANNOT_EXECUTE = (126, 127)


class ProbeOutput(Struct, frozen=True, kw_only=True):
    """What one probe of a CLI gave. `exit_code` is None when it did not end by itself."""

    name: str = ""
    argv: tuple[str, ...]
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    seconds: float = 0.0

    @property
    def ran(self) -> bool:
        """Whether the program itself ended: started, and by no signal."""
        code = self.exit_code
        return code is not None and code >= 0 and code not in _CANNOT_EXECUTE

    @property
    def ending(self) -> tuple[str, str]:
        """How it failed, in words that go on after the command, and as a failure's reason."""
        if self.timed_out:
            return f"did not answer within {self.seconds:.0f} s", "probe_timeout"
        if self.exit_code is None or self.exit_code in _CANNOT_EXECUTE:
            return "cannot be started", "cannot_start"
        if self.exit_code < 0:
            return f"was ended by signal {-self.exit_code}", "probe_failed"
        return f"ended with exit {self.exit_code}", "probe_failed"


class DetectResult(Struct, frozen=True, kw_only=True):
    """One agent as it was found on this machine: the adapter's pure reading of its probes.

    `error` is set when the agent cannot race; `warnings` are sentences for a person. `flags` are
    the long options that the CLI's own help shows.
    """

    adapter: str
    binary: Path | None = None
    version: str = ""
    flags: frozenset[str] = frozenset()
    capabilities: CapabilitySet = UNKNOWN_CAPABILITIES
    sign_in: SignIn = SignIn.UNKNOWN
    sign_in_detail: str = ""
    warnings: tuple[str, ...] = ()
    error: Failure | None = None

    @property
    def ready(self) -> bool:
        """Whether this agent can be raced."""
        return self.error is None and self.binary is not None


class SpawnRequest(Struct, frozen=True, kw_only=True):
    """What a lane wants of its agent; an adapter turns it into a `BuiltCommand`. What its
    descriptor maps nothing for is refused before it is asked.

    `network` None leaves the agent's tools as the CLI has them. `confined`: Hydra's own confinement
    holds around the command; `masked`: it hides what the descriptor says it masks. `instructions`:
    the repository's own instruction files at the base, for CLIs that must be told of them. `resume`
    is a session's id, as the CLI's stream named it; `fork` goes on with a copy of it. `home` is the
    lane's own folder beside its worktree, for files of the CLI's. `preface` stands before every
    prompt. `background`: seconds that it may wait, once it has finished, for what it left running.
    """

    prompt: str
    worktree: Path
    permission: Permission = Permission.FULL_AUTO
    model: str | None = None
    network: bool | None = None
    confined: bool = True
    masked: bool = False
    as_root: bool = False
    instructions: tuple[str, ...] = ()
    extra_args: tuple[str, ...] = ()
    resume: str = ""
    fork: bool = False
    home: Path | None = None
    effort: Effort | None = None
    preface: str = ""
    budget: Budget = field(default_factory=Budget)
    background: float | None = None
    service_tier: str = ""


class BuiltCommand(Struct, frozen=True, kw_only=True):
    """The exact line that an adapter wants run. The prompt travels as `stdin`, or in one of `files`
    (path in the lane's home, bytes; for its user alone), never in `args`.

    `env` is what the adapter sets itself; `session_params` what a conversation has to know beside
    the prompt; `per_attempt_secrets` names variables that get a secret of this attempt alone, in
    both. `dropped` names the flags that the CLI's help no longer shows, `warnings` say it in
    sentences. `expected_settings` is what its session event should say it applied.
    """

    program: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: Path
    stdin: bytes | None = None
    files: tuple[tuple[Path, bytes], ...] = ()
    session_params: tuple[tuple[str, str], ...] = ()
    per_attempt_secrets: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    expected_settings: tuple[tuple[str, str], ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.program, *self.args)


class ServerCall(NamedTuple):
    """One HTTP request to the agent's own server on loopback: `http://127.0.0.1:PORT/...`.

    The answer comes back as a line of the stream: `{"hydra":"http","id":ID,"status":200,"body":
    ...}`, and where `events` is set (and the status is 2xx: its body is null then) each server-sent
    event as `{"hydra":"sse","id":ID,"data":...}`, with `event` where it has a type, one that is too
    long as `{"hydra":"sse_skipped","id":ID,"bytes":N}`, and the end of them as
    `{"hydra":"sse_end","id":ID}`. What is JSON stands there as JSON, anything else as text. A
    connection that fails or breaks off is `{"hydra":"http_failed","id":ID,"text":...}`. Calls do
    not wait for each other.
    """

    id: str
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    events: bool = False

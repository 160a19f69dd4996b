"""What an agent is, as it was found here, and what is said between a lane and its adapter."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

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
        return [(name, getattr(self, name)) for name in CAPABILITIES]

    def without(self, name: str, note: str) -> CapabilitySet:
        """This set with `name` dropped, and why."""
        capability: Capability = getattr(self, name)
        dropped = replace(capability, present=False, note=note)
        return replace(self, **{name: dropped})


CAPABILITIES = CapabilitySet.__struct_fields__

UNKNOWN_CAPABILITIES = CapabilitySet(**dict.fromkeys(CAPABILITIES, Capability(None)))
"""Those of an agent of which nothing was found out."""


_CANNOT_EXECUTE = (126, 127)


def has_run(exit_code: int | None) -> bool:
    """Whether a program ended by itself: it was started, and no signal ended it."""
    return exit_code is not None and exit_code >= 0 and exit_code not in _CANNOT_EXECUTE


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
        return has_run(self.exit_code)

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
    """What a lane wants of its agent; an adapter turns it into a `BuiltCommand`.

    `confined`: Hydra's own confinement holds around the command; `masked`: it hides what the
    adapter's descriptor says it masks. `network`: None leaves the
    agent's tools as the CLI itself has them. `instructions`: the repository's own instruction
    files at the base, relative to the worktree, for CLIs that must be told of them. `resume` is
    the id of a session of the CLI's own to go on with, as its stream named it; "" begins one;
    `fork` goes on with a copy of it. `home` is the lane's own folder beside its worktree: files
    that the CLI is to read or write lie there. `preface` stands before every prompt, by the CLI's
    own flag where it has one. `background`: seconds that it may wait, once it has finished, for
    what it left running; None for as long as it does by itself. What an adapter's descriptor maps
    nothing for is refused before it is asked.
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
    """The exact line that an adapter wants run. The prompt travels as `stdin`, never in `args`.

    Where the CLI reads no stdin it travels in one of `files`: (path in the lane's home, bytes),
    written for its user alone before the start. In a conversation (`Descriptor.interactive`)
    `stdin` is the prompt that the conversation sends, and `session_params` what else it has to
    know; `per_attempt_secrets` names variables that Hydra gives a secret of this attempt alone,
    which then stands in both.
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
    session_params: tuple[tuple[str, str], ...] = ()
    per_attempt_secrets: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    expected_settings: tuple[tuple[str, str], ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.program, *self.args)

"""Agents that Hydra knows of and does not run, as a table: each with why.

They are found, named and refused in words: nothing is guessed of a stream that nobody has seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hydra.adapters.contract import Descriptor, Extensions, InstallMethod, Parser, Probe, Sessions
from hydra.adapters.detection import AgentIdentity, ProbeReading, read
from hydra.adapters.json_stream import JsonStream, Object, unknown
from hydra.errors import UnsupportedFlag
from hydra.records.agent import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    ProbeOutput,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

NEXT_STEP = "race another agent: `hydra agents` lists them"

PROBES = (
    Probe(name="version", args=("--version",), timeout=30),
    Probe(name="help", args=("--help",), timeout=30),
)


@dataclass(frozen=True, slots=True)
class Unrunnable:
    """An adapter that finds its CLI and refuses to run it."""

    descriptor: Descriptor
    identity: AgentIdentity

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Which program it is, and always the error that says why Hydra does not run it."""
        reading = ProbeReading(
            descriptor=self.descriptor,
            identity=self.identity,
            table=(),
            binary=binary,
            probes=probes,
        )
        return read(reading, extra=(self._refused((binary, "--version")),))

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """None: nobody has seen it do anything."""
        return self.descriptor.capabilities

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """Always raises `UnsupportedFlag`, with why."""
        raise self._refused()

    def parser(self) -> Parser:
        """One that knows no type of line."""
        return Unread()

    def _refused(self, command: tuple[str, ...] = ()) -> UnsupportedFlag:
        return UnsupportedFlag(
            f"Hydra does not run {self.descriptor.label}: {self.descriptor.unrunnable}",
            adapter=self.key(),
            command=command,
            hint=NEXT_STEP,
            reason="unrunnable",
        )


class Unread(JsonStream):
    """A stream that nobody has recorded: every line of it is unknown."""

    label = "an agent that Hydra does not run"

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        return unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """Nothing."""
        return []


AMP = Unrunnable(
    Descriptor(
        key="amp",
        label="Amp",
        homepage="https://ampcode.com/manual",
        tier=Tier.EXPERIMENTAL,
        binaries=("amp",),
        stream_format="stream-json",
        install_hint="npm install -g @ampcode/cli",
        sign_in_hint="run `amp login`, or set AMP_API_KEY",
        exit_codes={0: "unknown", 1: "its server could not be reached"},
        environment=("AMP_API_KEY", "AMP_URL", "AMP_SETTINGS_FILE"),
        secret_environment=("AMP_API_KEY",),
        sign_in_environment=("AMP_API_KEY",),
        probes=PROBES,
        unrunnable="it works only signed in to ampcode.com, so no run of it could be tried",
        tagline="a coding agent of ampcode.com's service",
        installs=(InstallMethod("all", "npm", "npm install -g @ampcode/cli"),),
        sessions=Sessions("ampcode.com (threads)", "on its server"),
        extensions=Extensions(
            formats=("mcp-server", "skill-directory", "plugin"),
            mcp="--mcp-config and its settings; `amp mcp approve` allows a repository's own",
        ),
        platforms={"linux": "not run", "macos": "not run", "windows": "not run"},
    ),
    AgentIdentity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*) \(released ", re.MULTILINE),
        help=re.compile(r"^Amp CLI", re.MULTILINE),
    ),
)

REMOTE_CONTROL = Unrunnable(
    Descriptor(
        key="claude-remote-control",
        label="Claude Remote Control",
        homepage="https://code.claude.com/docs",
        tier=Tier.EXPERIMENTAL,
        binaries=("claude",),
        stream_format="stream-json",
        install_hint="npm install -g @anthropic-ai/claude-code",
        sign_in_hint="run `claude` once and sign in with /login",
        exit_codes={0: "unknown"},
        probes=PROBES,
        unrunnable="it is led from claude.ai and takes no task of Hydra's; claude itself can race",
        tagline="Claude Code, led from claude.ai or its app",
        platforms={"linux": "not run", "macos": "not run", "windows": "not run"},
    ),
    AgentIdentity(
        version=re.compile(r"^(\d+(?:\.\d+)+\S*) \(Claude Code\)", re.MULTILINE),
        help=re.compile(r"Claude Code"),
    ),
)

AMUX = Unrunnable(
    Descriptor(
        key="agent-mux-remote",
        label="agent-mux (remote)",
        homepage="not known here",
        tier=Tier.EXPERIMENTAL,
        binaries=("amux",),
        install_hint="see its own pages",
        sign_in_hint="each agent behind it signs in by itself",
        exit_codes={0: "unknown"},
        probes=PROBES,
        unrunnable="it starts agents elsewhere, whose work would not be in the lane's worktree",
        tagline="another orchestrator, in a container or on another machine",
        platforms={"linux": "not run", "macos": "not run", "windows": "not run"},
    ),
    AgentIdentity(
        version=re.compile(r"^(?:amux|agent-mux)\D{0,9}(\d+(?:\.\d+)+\S*)", re.MULTILINE),
        help=re.compile(r"agent-mux|amux run"),
    ),
)

ADAPTERS = (AMP, REMOTE_CONTROL, AMUX)
"""In the order in which they are listed, after all that can run."""

"""omp (oh-my-pi): its line, and how its answers are read. Seen in 18.2.3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.flags import Flag, Line, without_lost
from hydra.adapters.omp_descriptor import DESCRIPTOR, MODES
from hydra.adapters.pi_family import preface_file
from hydra.adapters.pi_stream import PiStream
from hydra.adapters.prompts import as_stdin
from hydra.errors import UnsupportedFlag
from hydra.model import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    Permission,
    ProbeOutput,
    SpawnRequest,
)

PRINT = Flag(
    name="--print", purpose="to run without a terminal", required=True, drops=("plain_text",)
)
MODE = Flag(
    name="--mode",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
CONFIG = Flag(
    name="--config",
    purpose="to keep the repository's own hooks, tools and MCP commands from running",
    required=True,
)
NO_EXTENSIONS = Flag(
    name="--no-extensions",
    purpose="to keep the repository's own extensions from running",
    required=True,
)
NO_LSP = Flag(
    name="--no-lsp",
    purpose="to keep the repository's own language servers from running",
    required=True,
)
NO_TITLE = Flag(name="--no-title", purpose="to ask a model for the task alone")
NO_PTY = Flag(name="--no-pty", purpose="to run commands without a terminal")
APPROVAL = Flag(
    name="--approval-mode",
    purpose="to say what it may do",
    drops=("approval_controls", "force_edit_mode"),
)
MODEL = Flag(name="--model", purpose="to choose a model")
THINKING = Flag(name="--thinking", purpose="to say how hard it thinks")
PREFACE = Flag(name="--append-system-prompt", purpose="for the preface")
RESUME = Flag(name="--resume", purpose="to go on later", drops=("session_resume",))

TABLE = (
    PRINT,
    MODE,
    CONFIG,
    NO_EXTENSIONS,
    NO_LSP,
    NO_TITLE,
    NO_PTY,
    APPROVAL,
    MODEL,
    THINKING,
    PREFACE,
    RESUME,
)

ENVIRONMENT = (("PI_NO_PTY", "1"),)

OVERLAY = b"""\
# Written by Hydra for this lane: what a repository may not do to it.
mcp:
  enableProjectConfig: false
disabledProviders:
  - native
  - claude
  - claude-plugins
  - codex
  - cursor
  - gemini
  - opencode
  - vscode
  - windsurf
  - cline
  - mcp-json
  - agent-plugins
  - omp-plugins
  - ssh
startup:
  checkUpdate: false
marketplace:
  autoUpdate: "off"
dev:
  autoqa: false
bash:
  direnv: "off"
"""
"""Laid over the user's settings and the repository's: without it hooks, tools and MCP commands of
eight formats run from the repository (18.2.3). AGENTS.md is read all the same."""

PROMPT_BYTES = 10_000_000


class Omp:
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^omp/(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"^omp v\d|Oh My Pi"),
    )

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version` and `help`."""
        return read(
            Reading(
                descriptor=self.descriptor,
                identity=self.identity,
                table=TABLE,
                binary=binary,
                probes=probes,
            )
        )

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, TABLE, flags)

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`omp --print --mode json --config OVERLAY ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a flag that was asked for is gone, where a session is to be
        forked, and where the network is to be off.
        """
        self._check(request)
        line = Line(
            self.key(), self.descriptor.label, found.flags, hint=self.descriptor.install_hint
        )
        state = (request.home or request.worktree.parent / "home") / "state"
        overlay = state / "omp" / "lane.yml"
        line.add(PRINT)
        line.add(MODE, MODE.name, "json")
        line.add(CONFIG, CONFIG.name, str(overlay))
        for flag in (NO_EXTENSIONS, NO_LSP, NO_TITLE, NO_PTY):
            line.add(flag)
        if request.permission is not Permission.CONFIG:
            _needed(line, APPROVAL, MODES[request.permission])
        files = self._further(line, request)
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            # Its logs and sockets lie beside its settings, where a lane may not write; where this
            # folder has one called omp they lie in there.
            env=(*ENVIRONMENT, ("XDG_STATE_HOME", str(state))),
            cwd=request.worktree,
            stdin=as_stdin(request.prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=((overlay, OVERLAY), *files),
            dropped=tuple(line.dropped),
            warnings=tuple(line.warnings),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return PiStream(self.descriptor.label)

    def _check(self, request: SpawnRequest) -> None:
        if request.network is False:
            raise UnsupportedFlag(
                "omp has no switch that keeps its tools off the network",
                adapter=self.key(),
                hint="race it without --no-network",
                reason="capability",
            )
        if request.fork:
            raise UnsupportedFlag(
                "omp shows no flag that goes on with a copy of a session",
                adapter=self.key(),
                hint="go on with the session itself",
                reason="capability",
            )

    def _further(self, line: Line, request: SpawnRequest) -> tuple[tuple[Path, bytes], ...]:
        """Model, effort, preface and session; gives the files that the line names."""
        if request.model:
            _needed(line, MODEL, request.model)
        if request.effort:
            _needed(line, THINKING, self.descriptor.efforts[request.effort])
        files = preface_file(request)
        for path, _ in files:
            _needed(line, PREFACE, str(path))
        if request.resume:
            line.add_session(RESUME, request.resume)
        return files


def _needed(line: Line, flag: Flag, value: str) -> None:
    """`--flag value`. Raises `UnsupportedFlag` where it is gone: it was asked for."""
    if not line.add(flag, flag.name, value):
        raise line.gone(flag.name, flag.purpose)


ADAPTER = Omp()

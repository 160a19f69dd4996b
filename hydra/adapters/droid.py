"""Factory's droid: its line, and how its answers are read. Seen in 0.215.0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.droid_descriptor import DESCRIPTOR, MODES
from hydra.adapters.droid_stream import DroidStream
from hydra.adapters.flags import Flag, Line, without_lost
from hydra.adapters.pi_family import preface_file
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

FORMAT = Flag(
    name="--output-format",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "plain_text", "emits_usage"),
)
CWD = Flag(name="--cwd", purpose="to name the worktree, where it is started anyway")
AUTO = Flag(
    name="--auto",
    purpose="to change files without asking",
    drops=("approval_controls", "force_edit_mode"),
)
UNSAFE = Flag(name="--skip-permissions-unsafe", purpose="for --unsafe-full-access")
ONLY_TOOLS = Flag(name="--only-tools", purpose="for --permission plan")
REMOVE_TOOLS = Flag(name="--remove-tools", purpose="to keep it from running commands")
MODEL = Flag(name="--model", purpose="to choose a model")
EFFORT = Flag(name="--reasoning-effort", purpose="to say how hard it thinks")
PREFACE = Flag(name="--append-system-prompt-file", purpose="for the preface")
SESSION = Flag(name="--session-id", purpose="to go on later", drops=("session_resume",))
FORK = Flag(name="--fork", purpose="to go on with a copy of a session")

TABLE = (
    FORMAT,
    CWD,
    AUTO,
    UNSAFE,
    ONLY_TOOLS,
    REMOVE_TOOLS,
    MODEL,
    EFFORT,
    PREFACE,
    SESSION,
    FORK,
)

ENVIRONMENT = (
    ("FACTORY_OTEL_ENABLED", "false"),
    ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
)

SETTINGS = b"""\
{"hooks": {"hooksDisabled": true}, "mcpPolicy": {"enabled": true, "allowlist": []}}
"""
"""Laid over the user's settings and the repository's: a repository's .factory/settings.json has
hooks, and its .factory/mcp.json servers, that are run without it (0.215.0)."""

PROMPT_BYTES = 10_000_000


class Droid:
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"droid exec", re.IGNORECASE),
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
        """`droid exec --output-format stream-json --cwd WORKTREE ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a flag that was asked for is gone, for `default` and
        `config`, and where the network is to be off.
        """
        self._check(request)
        line = Line(
            self.key(), self.descriptor.label, found.flags, hint=self.descriptor.install_hint
        )
        settings = (request.home or request.worktree.parent / "home") / "droid.json"
        line.args.append("exec")
        line.add(FORMAT, FORMAT.name, "stream-json")
        line.add(CWD, CWD.name, str(request.worktree))
        _permit(line, request.permission)
        files = self._further(line, request)
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            env=(*ENVIRONMENT, ("FACTORY_RUNTIME_SETTINGS_PATH", str(settings))),
            cwd=request.worktree,
            stdin=as_stdin(request.prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=((settings, SETTINGS), *files),
            dropped=tuple(line.dropped),
            warnings=tuple(line.warnings),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return DroidStream()

    def _check(self, request: SpawnRequest) -> None:
        if request.network is False:
            raise UnsupportedFlag(
                "droid has no switch that keeps its tools off the network",
                adapter=self.key(),
                hint="race it without --no-network",
                reason="capability",
            )
        if request.permission not in MODES:
            raise UnsupportedFlag(
                f"droid has nothing that would be --permission {request.permission.value}",
                adapter=self.key(),
                hint="what it does by itself runs commands unasked: take plan, edit or full-auto",
                reason="capability",
            )

    def _further(self, line: Line, request: SpawnRequest) -> tuple[tuple[Path, bytes], ...]:
        """Model, effort, preface and session; gives the files that the line names."""
        if request.model:
            _needed(line, MODEL, request.model)
        if request.effort:
            _needed(line, EFFORT, self.descriptor.efforts[request.effort])
        files = preface_file(request)
        for path, _ in files:
            _needed(line, PREFACE, str(path))
        if request.resume:
            line.add_session(FORK if request.fork else SESSION, request.resume)
        return files


def _permit(line: Line, permission: Permission) -> None:
    """The tools it has, and up to which risk it uses them unasked."""
    if permission is Permission.PLAN:
        _needed(line, ONLY_TOOLS, "Read,LS,Grep,Glob")
    elif permission is Permission.EDIT:
        _needed(line, AUTO, "low")
        _needed(line, REMOVE_TOOLS, "Execute,Script")
    elif permission is Permission.FULL_AUTO:
        _needed(line, AUTO, "high")
    elif not line.add(UNSAFE):
        raise line.gone(UNSAFE.name, UNSAFE.purpose)


def _needed(line: Line, flag: Flag, value: str) -> None:
    """`--flag value`. Raises `UnsupportedFlag` where it is gone: it was asked for."""
    if not line.add(flag, flag.name, value):
        raise line.gone(flag.name, flag.purpose)


ADAPTER = Droid()

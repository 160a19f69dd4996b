"""Google's Gemini CLI, experimental: its descriptor and its line. Seen in 0.61.0."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.flags import Flag, Line, without_lost
from hydra.adapters.gemini_descriptor import DESCRIPTOR, DOTENV, MODES
from hydra.adapters.prompts import as_stdin, prefaced
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
    drops=("json_stream", "emits_usage"),
)
TRUST = Flag(
    name="--skip-trust",
    purpose="to work in a folder that nobody approved, without the repository's own settings",
    required=True,
)
MODE = Flag(
    name="--approval-mode",
    purpose="to say what it may do",
    drops=("approval_controls", "force_edit_mode", "sandbox_controls"),
)
YOLO = Flag(name="--yolo", purpose="to work without asking")
MODEL = Flag(name="--model", purpose="to choose a model")
RESUME = Flag(name="--resume", purpose="to go on later", drops=("session_resume",))

TABLE = (FORMAT, TRUST, MODE, YOLO, MODEL, RESUME)

ENVIRONMENT = (
    # One process, which obeys signals; with the two that it makes by itself it obeys none.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    # Read before --skip-trust is: the repository's settings, hooks and MCP servers are left out,
    # also where the user trusts every folder. The flag then lets it work all the same.
    ("GEMINI_CLI_TRUST_WORKSPACE", "false"),
    ("GEMINI_TELEMETRY_ENABLED", "false"),
    ("NO_BROWSER", "true"),
)

PROMPT_BYTES = 8 * 1024**2
"""What it reads from stdin at most; it cuts off the rest without a word on stdout."""


class Gemini:
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"Gemini CLI"),
    )

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version` and `help`, whichever were run."""
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
        """`gemini --output-format stream-json --skip-trust ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, where the network is to be off, or
        where a copy of a session is to be gone on with (it has no switch for either).
        """
        if request.network is False or request.fork:
            raise self._cannot(request)
        line = Line(
            self.key(), self.descriptor.label, found.flags, hint=self.descriptor.install_hint
        )
        line.add_value(FORMAT, "stream-json")
        line.add(TRUST)
        _permission(line, request.permission)
        if request.model and not line.add(MODEL, MODEL.name, request.model):
            raise line.gone(MODEL.name, MODEL.purpose)
        if request.resume:
            line.add_session(RESUME, request.resume)
        _variables(line, request.instructions)
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            env=ENVIRONMENT,
            cwd=request.worktree,
            stdin=self._prompt(prefaced(request.preface, request.prompt)),
            dropped=tuple(line.dropped),
            warnings=tuple(line.warnings),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.gemini_stream import GeminiStream

        return GeminiStream()

    def _cannot(self, request: SpawnRequest) -> UnsupportedFlag:
        network = request.network is False
        text = "keeps its tools off the network" if network else "goes on with a copy of a session"
        hint = "race it without --no-network" if network else "go on with the session itself"
        return UnsupportedFlag(
            f"Gemini CLI has no switch that {text}",
            adapter=self.key(),
            hint=hint,
            reason="capability",
        )

    def _prompt(self, prompt: str) -> bytes:
        # One that starts with "/" may be a command of the repository's, with a shell line in it;
        # after a newline it is text.
        text = f"\n{prompt}" if prompt.startswith("/") else prompt
        return as_stdin(text, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes")


def _permission(line: Line, permission: Permission) -> None:
    if permission is Permission.CONFIG:
        return
    mode = MODES[permission]
    if MODE.name in line.found:
        line.add_value(MODE, mode)
    elif mode == "yolo" and line.add(YOLO):
        line.dropped.append(MODE.name)
    else:
        raise line.gone(f"{MODE.name} {mode}", MODE.purpose)


def _variables(line: Line, names: tuple[str, ...]) -> None:
    read = next((name for name in DOTENV if name in names), "")
    if read:
        line.warnings.append(
            f"Gemini CLI reads variables from the repository's {read}, a service's address among"
            " them: it has no switch against it"
        )


ADAPTER = Gemini()

"""Google's Gemini CLI, experimental: its descriptor and its line. Seen in 0.61.0."""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line
from hydra.adapters.gemini_descriptor import DESCRIPTOR, DOTENV, MODES
from hydra.adapters.prompts import as_stdin, no_command, prefaced
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

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


class Gemini(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"Gemini CLI"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`gemini --output-format stream-json --skip-trust ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, where the network is to be off, or
        where a copy of a session is to be gone on with (it has no switch for either).
        """
        self._check(request)
        line = self.line(found)
        line.add_value(FORMAT, "stream-json")
        line.add(TRUST)
        _permission(line, request.permission)
        if request.model:
            line.need(MODEL, request.model)
        if request.resume:
            line.add_session(RESUME, request.resume)
        _variables(line, request.instructions)
        prompt = no_command(prefaced(request.preface, request.prompt))
        return line.command(
            request,
            found,
            env=ENVIRONMENT,
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.gemini_stream import GeminiStream

        return GeminiStream()

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.fork:
            raise self.cannot(
                "Gemini CLI has no switch that goes on with a copy of a session",
                "go on with the session itself",
            )


def _permission(line: Line, permission: Permission) -> None:
    if permission is Permission.CONFIG:
        return
    mode = MODES[permission]
    line.add_mode(MODE, mode, YOLO if mode == "yolo" else None)


def _variables(line: Line, names: tuple[str, ...]) -> None:
    read = next((name for name in DOTENV if name in names), "")
    if read:
        line.warnings.append(
            f"Gemini CLI reads variables from the repository's {read}, a service's address among"
            " them: it has no switch against it"
        )


ADAPTER = Gemini()

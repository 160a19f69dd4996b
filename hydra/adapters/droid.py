"""Factory's droid: its line, and how its answers are read. Seen in 0.215.0."""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.droid_descriptor import DESCRIPTOR, MODES
from hydra.adapters.droid_stream import DroidStream
from hydra.adapters.flags import Flag, Line
from hydra.adapters.folders import lane_home
from hydra.adapters.prompts import Files, as_stdin
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

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


class Droid(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"droid exec", re.IGNORECASE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`droid exec --output-format stream-json --cwd WORKTREE ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a flag that was asked for is gone, for `default` and
        `config`, and where the network is to be off.
        """
        self._check(request)
        line = self.line(found)
        settings = lane_home(request) / "droid.json"
        line.args.append("exec")
        line.add(FORMAT, FORMAT.name, "stream-json")
        line.add(CWD, CWD.name, str(request.worktree))
        _permit(line, request.permission)
        files = self._further(line, request)
        return line.command(
            request,
            found,
            env=(*ENVIRONMENT, ("FACTORY_RUNTIME_SETTINGS_PATH", str(settings))),
            stdin=as_stdin(request.prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=((settings, SETTINGS), *files),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return DroidStream()

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.permission not in MODES:
            raise self.cannot(
                f"droid has nothing that would be --permission {request.permission.value}",
                "what it does by itself runs commands unasked: take plan, edit or full-auto",
            )

    def _further(self, line: Line, request: SpawnRequest) -> Files:
        """Model, effort, preface and session; gives the files that the line names."""
        if request.model:
            line.need(MODEL, request.model)
        if request.effort:
            line.need(EFFORT, self.descriptor.efforts[request.effort])
        files = line.add_preface(PREFACE, request)
        if request.resume:
            line.add_session(FORK if request.fork else SESSION, request.resume)
        return files


def _permit(line: Line, permission: Permission) -> None:
    """The tools it has, and up to which risk it uses them unasked."""
    if permission is Permission.PLAN:
        line.need(ONLY_TOOLS, "Read,LS,Grep,Glob")
    elif permission is Permission.EDIT:
        line.need(AUTO, "low")
        line.need(REMOVE_TOOLS, "Execute,Script")
    elif permission is Permission.FULL_AUTO:
        line.need(AUTO, "high")
    else:
        line.need(UNSAFE)


ADAPTER = Droid()

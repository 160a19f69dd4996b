"""Qwen Code, experimental: its descriptor and its line. Seen in 0.24.4."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line, Pairs
from hydra.adapters.folders import lane_home
from hydra.adapters.prompts import as_stdin, no_command, prefaced
from hydra.adapters.qwen_descriptor import DESCRIPTOR, MODES, OWN_SETTINGS
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

FORMAT = Flag(
    name="--output-format",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
MCP = Flag(
    name="--allowed-mcp-server-names",
    purpose="to keep the repository's own MCP commands from running",
    required=True,
)
MODE = Flag(
    name="--approval-mode",
    purpose="to say what it may do",
    drops=("approval_controls", "force_edit_mode"),
)
YOLO = Flag(name="--yolo", purpose="to work without asking")
EXCLUDED = Flag(
    name="--exclude-tools",
    purpose="to keep it in its worktree",
    drops=("sandbox_controls",),
    loss="it may open worktrees of its own or schedule work for after the race",
)
MODEL = Flag(name="--model", purpose="to choose a model")
RESUME = Flag(name="--resume", purpose="to go on later", drops=("session_resume",))
FORK = Flag(name="--fork-session", purpose="to go on with a copy of a session")
_ALONE = "Hydra alone watches over it"
TURNS = Flag(name="--max-session-turns", purpose="to keep the budget", loss=_ALONE)
SECONDS = Flag(name="--max-wall-time", purpose="to keep the budget", loss=_ALONE)
CALLS = Flag(name="--max-tool-calls", purpose="to keep the budget", loss=_ALONE)

TABLE = (FORMAT, MCP, MODE, YOLO, EXCLUDED, MODEL, RESUME, FORK, TURNS, SECONDS, CALLS)

TOOLS_EXCLUDED = "enter_worktree,exit_worktree,cron_create,loop_wakeup,send_message"
"""Tools that leave the worktree, or the race."""

NO_SERVER = "none-of-them"
"""A name that no MCP server has, as the only one that may start."""

SETTINGS = json.dumps(
    {
        "$version": 4,  # with another it would write the file anew
        "disableAllHooks": True,
        "general": {"enableAutoUpdate": False},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "tools": {"discoveryCommand": "", "callCommand": ""},
        "mcp": {"serverCommand": ""},
    }
)
"""Settings above all others, the repository's among them: of its commands none runs."""

ENVIRONMENT = (
    ("QWEN_CODE_NO_RELAUNCH", "true"),
    ("QWEN_CODE_DISABLE_CRON", "1"),
    ("QWEN_USAGE_STATISTICS_ENABLED", "false"),
    ("NO_BROWSER", "true"),
)

PROMPT_BYTES = 8 * 1024**2
"""What it reads from stdin at most; it cuts off the rest without a word on stdout."""


class Qwen(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"Qwen Code"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`qwen --output-format stream-json --allowed-mcp-server-names ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, or the network is to be off (it has
        no switch for it).
        """
        self.check_network(request)
        line = self.line(found)
        line.add_value(FORMAT, "stream-json")
        # Both are lists that go on to the next option.
        line.add(MCP, MCP.name, NO_SERVER)
        line.add(EXCLUDED, EXCLUDED.name, TOOLS_EXCLUDED)
        mode = _permission(line, request.permission)
        _further(line, request)
        settings = lane_home(request) / "qwen-settings.json"
        prompt = no_command(prefaced(request.preface, request.prompt))
        return line.command(
            request,
            found,
            env=_environment(settings, mode),
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=((settings, SETTINGS.encode()),),
            expects=() if mode is None else (("permission", mode),),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.qwen_stream import QwenStream

        return QwenStream()


def _environment(settings: Path, mode: str | None) -> Pairs:
    quiet = (("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1"),) if mode == "yolo" else ()
    return (("QWEN_CODE_SYSTEM_SETTINGS_PATH", str(settings)), *ENVIRONMENT, *quiet)


def _permission(line: Line, permission: Permission) -> str | None:
    if permission is Permission.CONFIG:
        return None
    mode = MODES[permission]
    line.add_mode(MODE, mode, YOLO if mode == "yolo" else None)
    return mode


def _further(line: Line, request: SpawnRequest) -> None:
    budget = request.budget
    if request.model:
        line.need(MODEL, request.model)
    if budget.turns:
        line.add(TURNS, TURNS.name, str(budget.turns))
    if budget.seconds:
        line.add(SECONDS, SECONDS.name, f"{math.ceil(budget.seconds)}s")
    if budget.tool_calls is not None:
        line.add(CALLS, CALLS.name, str(budget.tool_calls))
    if request.resume:
        line.add_session(RESUME, request.resume)
        if request.fork:
            line.need(FORK)
    named = [name for name in OWN_SETTINGS if name in request.instructions]
    if named:
        line.warnings.append(
            f"Qwen Code takes settings from the repository's {' and '.join(named)}, a service's"
            " address among them: it has no switch against it (its hooks and MCP servers are off)"
        )


ADAPTER = Qwen()

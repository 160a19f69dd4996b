"""Claude Code: its line, and how its answers are read. Seen in 2.1.330."""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.claude_descriptor import DESCRIPTOR, MODES
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line
from hydra.adapters.prompts import as_stdin, no_command, prefaced
from hydra.errors import UnsupportedFlag
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

PRINT = Flag(
    name="--print", purpose="to run without a terminal", required=True, drops=("plain_text",)
)
FORMAT = Flag(
    name="--output-format",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
VERBOSE = Flag(
    name="--verbose",
    purpose="with stream-json (it refuses to start without)",
    required=True,
    drops=("json_stream",),
)
SOURCES = Flag(
    name="--setting-sources",
    purpose="to keep the repository's own hooks and helpers from running",
    required=True,
)
STRICT_MCP = Flag(
    name="--strict-mcp-config",
    purpose="to keep the repository's own MCP commands from running",
    required=True,
)
MODE = Flag(
    name="--permission-mode",
    purpose="to say what it may do",
    drops=("approval_controls", "force_edit_mode"),
)
BYPASS = Flag(name="--dangerously-skip-permissions", purpose="to work without asking")
DISALLOWED = Flag(
    name="--disallowedTools",
    purpose="to keep it in its worktree",
    drops=("sandbox_controls",),
    loss="it may open worktrees of its own or schedule work for after the race",
)
INSTRUCTIONS = Flag(
    name="--append-system-prompt-file",
    purpose="to send the repository's instructions",
    loss="the repository's CLAUDE.md is not sent",
)
MODEL = Flag(name="--model", purpose="to choose a model")
RESUME = Flag(name="--resume", purpose="to go on later", drops=("session_resume",))
FORK = Flag(name="--fork-session", purpose="to go on with a copy of a session")
EFFORT = Flag(name="--effort", purpose="to say how hard it thinks")
COST = Flag(
    name="--max-budget-usd",
    purpose="to keep the budget",
    loss="Hydra alone watches over what it costs",
)

TABLE = (
    PRINT,
    FORMAT,
    VERBOSE,
    SOURCES,
    STRICT_MCP,
    MODE,
    BYPASS,
    DISALLOWED,
    INSTRUCTIONS,
    MODEL,
    RESUME,
    FORK,
    EFFORT,
    COST,
)

MANUAL = "manual"
"""What 2.1.330's help calls `default`; its stream still says `default`."""

TOOLS_DENIED = "EnterWorktree,ExitWorktree,CronCreate,ScheduleWakeup,SendMessage"
"""Tools that leave the worktree, or the race."""

ENVIRONMENT = (
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
    ("API_TIMEOUT_MS", "120000"),
)
"""No telemetry, no update in mid-race; four retries instead of ten (187 s on a bad key)."""

PROMPT_BYTES = 10_000_000
"""What it takes on stdin at most."""


class Claude(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+(?:\.\d+)+\S*) \(Claude Code\)", re.MULTILINE),
        help=re.compile(r"Claude Code"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`claude --print --output-format stream-json --verbose ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, where the network is to be off
        (it has no switch for it), or where it would refuse to start as root.
        """
        self._check(request)
        line = self.line(found)
        line.add(PRINT)
        line.add_value(FORMAT, "stream-json")
        line.add(VERBOSE)
        line.add(SOURCES, SOURCES.name, "user")
        line.add(STRICT_MCP)
        # Variadic: it swallows what follows, so another flag always does.
        line.add(DISALLOWED, DISALLOWED.name, TOOLS_DENIED)
        mode = self._permission(line, request.permission)
        self._instructions(line, request.instructions)
        if request.model:
            line.need(MODEL, request.model)
        self._further(line, request)
        prompt = no_command(prefaced(request.preface, request.prompt))
        return line.command(
            request,
            found,
            env=(*ENVIRONMENT, *((("IS_SANDBOX", "1"),) if _needs_consent(request) else ())),
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            expects=() if mode is None else (("permission", mode),),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.claude_stream import ClaudeStream

        return ClaudeStream()

    def _check(self, request: SpawnRequest) -> None:
        if request.network is False:
            raise self.cannot(
                "Claude Code has no switch that keeps its tools off the network",
                "race it without --no-network, or race codex alone",
            )
        if request.as_root and _bypasses(request) and not _needs_consent(request):
            raise UnsupportedFlag(
                "Claude Code refuses to work without asking as root where nothing confines it",
                adapter=self.key(),
                hint="install bubblewrap, run as an ordinary user, or use --permission edit",
                reason="root",
            )

    def _further(self, line: Line, request: SpawnRequest) -> None:
        if request.effort:
            line.need(EFFORT, request.effort)
        if request.budget.turns:
            # Not in its help, and kept all the same (2.1.197, 2.1.330).
            line.args += ("--max-turns", str(request.budget.turns))
        if request.budget.cost_usd:
            line.add(COST, COST.name, f"{request.budget.cost_usd:g}")
        if request.resume:
            line.add_session(RESUME, request.resume)
            if request.fork:
                line.need(FORK)

    def _permission(self, line: Line, permission: Permission) -> str | None:
        if permission is Permission.CONFIG:
            return None
        mode = MODES[permission]
        if mode == "default" and f"{MODE.name}={MANUAL}" in line.found:
            line.add_value(MODE, MANUAL)
        else:
            line.add_mode(MODE, mode, BYPASS if mode == "bypassPermissions" else None)
        return mode

    def _instructions(self, line: Line, names: tuple[str, ...]) -> None:
        if not names:
            return
        first, *others = names
        line.add(INSTRUCTIONS, INSTRUCTIONS.name, first)
        # AGENTS.md is what Claude Code itself reads only where there is no CLAUDE.md.
        for name in others:
            if name.endswith("CLAUDE.md"):
                line.warnings.append(f"only {first} is sent to Claude Code, not {name}")


def _bypasses(request: SpawnRequest) -> bool:
    return MODES[request.permission] == "bypassPermissions"


def _needs_consent(request: SpawnRequest) -> bool:
    """As root it bypasses only where it is told that it stands in a sandbox (2.1.330)."""
    asked = request.confined or request.permission is Permission.UNRESTRICTED
    return request.as_root and _bypasses(request) and asked


ADAPTER = Claude()

"""Qwen Code, experimental: its descriptor and its line. Seen in 0.24.4."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.claude import ClaudeStream
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, TokenFields, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.failures import failure
from hydra.adapters.json_fields import Object, mapping, string
from hydra.adapters.json_stream import stderr_of, tokens
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission

# ---- Qwen Code as data: what it is, where its settings are, how it signs in. Seen in 0.24.4.

MODES = {
    Permission.PLAN: "plan",
    Permission.EDIT: "auto-edit",
    Permission.FULL_AUTO: "yolo",
    Permission.UNRESTRICTED: "yolo",
    Permission.DEFAULT: "default",
    Permission.CONFIG: "as its settings say",
}

OWN_SETTINGS = (".qwen/settings.json", ".qwen/.env", ".env")
"""What it takes from the repository, and no switch keeps out."""

KEYS = names(
    "OPENAI_API_KEY DASHSCOPE_API_KEY BAILIAN_CODING_PLAN_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY"
)

DESCRIPTOR = Descriptor(
    key="qwen",
    label="Qwen Code",
    homepage="https://qwenlm.github.io/qwen-code-docs",
    binaries=("qwen",),
    stream_format="stream-json",
    install_hint="npm install -g @qwen-code/qwen-code (needs Node 22)",
    sign_in_hint="run `qwen` once and sign in with /auth, or set OPENAI_API_KEY",
    exit_codes={
        0: "done, or denied: the stream tells which",
        1: "an API error, no sign-in, or a bad command line",
        53: "its limit of turns was reached",
        55: "its limit of time or of tool calls was reached",
        130: "stopped by SIGINT",
        143: "stopped by SIGTERM",
    },
    minimum_version="0.24.4",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="auto-edit, yolo"),
        sandbox_controls=Capability(True, note="by approval mode and lists of tools"),
        approval_controls=Capability(True, note="--approval-mode"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens, no cost"),
    ),
    environment=(
        *names("QWEN_HOME"),
        *KEYS,
        *names(
            "OPENAI_BASE_URL OPENAI_MODEL QWEN_MODEL ANTHROPIC_BASE_URL ANTHROPIC_MODEL"
            " GEMINI_MODEL QWEN_DEFAULT_AUTH_TYPE"
        ),
    ),
    secret_environment=KEYS,
    sign_in_environment=KEYS,
    config=ConfigFolder(
        variable="QWEN_HOME",
        default=".qwen",
        credentials=("oauth_creds.json", ".env"),
        # As 0.24.4 wrote it. resource_url is an address, so it is none of them.
        renewals=(
            TokenFields(
                file="oauth_creds.json",
                access="access_token",
                refresh="refresh_token",
                expiries=("expiry_date",),
                silent=True,
            ),
        ),
        copied=names(
            "settings.json QWEN.md AGENTS.md commands skills agents output-language.md"
            " installation_id"
        ),
    ),
    probes=common_probes(timeout=20),
    forks=True,
    modes=MODES,
    budgets=("turns", "seconds", "tool_calls"),
    tagline="Alibaba's coding agent",
    # Not for its line: where the repository has one, the lane is told what it does.
    instructions=OWN_SETTINGS,
)

FORMAT = required("--output-format", "to read what it does", "json_stream", "emits_usage")
MCP = required(
    "--allowed-mcp-server-names", "to keep the repository's own MCP commands from running"
)
MODE = Flag(
    "--approval-mode", "to say what it may do", drops=("approval_controls", "force_edit_mode")
)
YOLO = Flag("--yolo", "to work without asking")
EXCLUDED = Flag(
    "--exclude-tools",
    "to keep it in its worktree",
    drops=("sandbox_controls",),
    loss="it may open worktrees of its own or schedule work for after the race",
)
MODEL = Flag("--model", "to choose a model")
RESUME = Flag("--resume", "to go on later", drops=("session_resume",))
FORK = Flag("--fork-session", "to go on with a copy of a session")
_ALONE = "Hydra alone watches over it"
TURNS = Flag("--max-session-turns", "to keep the budget", loss=_ALONE)
SECONDS = Flag("--max-wall-time", "to keep the budget", loss=_ALONE)
CALLS = Flag("--max-tool-calls", "to keep the budget", loss=_ALONE)

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

# ---- Qwen Code's `stream-json`: Claude Code's shape, with its own tools, errors and limits.
#
# Seen in 0.24.4.

_VERBS = {"write_file": "Write", "edit": "Edit", "read_file": "Read"}
_DECLINED = re.compile(r"requires permission to use .{1,200} declined")
_API_ERROR = "[API Error: "
_NO_SIGN_IN = "No auth type is selected"
_LIMITS = (
    ("max_turns", re.compile(r"^Reached max session turns.*$", re.M)),
    ("budget", re.compile(r"^Run aborted: [a-z-]{1,40} budget of (\d{1,15})s? exceeded.*$", re.M)),
)
"""Where a limit of its own ends it there is no `result`: the reason is on stderr alone."""
_LIMITED = (53, 55)


class QwenStream(ClaudeStream):
    """One attempt's stream."""

    label = "Qwen Code"
    edits = frozenset({"edit", "write_file", "notebook_edit"})

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The `result` as the ending; without one the limit that ended it."""
        if self._result is None:
            return _limit(exit, stderr_of(files))
        if self._result.get("is_error") is True:
            return [_failure(string(mapping(self._result, "error"), "message"))]
        return super().finish(exit, files)

    def _init(self, line: Object) -> list[AgentEvent]:
        document = {**line, "claude_code_version": string(line, "qwen_code_version")}
        return super()._init({**document, "permissionMode": string(line, "permission_mode")})

    def _block(self, block: Object) -> list[AgentEvent]:
        if string(block, "text").startswith(_API_ERROR):
            # Its `result` says the same; here it stands as if the model had said it.
            return build.notice("error", string(block, "text"))
        return super()._block(block)

    def _call(self, id: str, name: str, summary: str) -> list[AgentEvent]:
        if name in _VERBS and summary.startswith(name):
            summary = _VERBS[name] + summary.removeprefix(name)
        return super()._call(id, name, summary)

    def _answer(self, id: str, *, ok: bool, summary: str, denied: bool = False) -> list[AgentEvent]:
        refused = denied or (not ok and _DECLINED.search(summary[:1000]) is not None)
        return super()._answer(id, ok=ok, summary=_output(summary), denied=refused)

    def _take_result(self, line: Object) -> list[AgentEvent]:
        self._hold(line)
        usage = mapping(line, "usage")
        # Cache reads are in `input_tokens` here.
        events = tokens(usage, "input_tokens", "output_tokens", "cache_read_input_tokens")
        return [*events, *self.closing()]


def _failure(text: str) -> AgentEvent:
    if text.startswith(_NO_SIGN_IN):
        return build.failed("AuthMissing", "sign_in", text)
    return failure(text.removeprefix(_API_ERROR).removesuffix("]"))


def _limit(exit: ExitStatus, stderr: str) -> list[AgentEvent]:
    if exit.code not in _LIMITED:
        return []
    for reason, pattern in _LIMITS:
        match = pattern.search(stderr)
        if match:
            numbers = {"limit": float(match[1])} if match.groups() else {}
            return [build.failed("AgentFailed", reason, match[0], numbers)]
    return []


def _output(text: str) -> str:
    """What a shell command printed, out of the report that stands for it."""
    if not text.startswith("Command: "):
        return text
    return text.partition("\nOutput: ")[2] or text


class Qwen(CliAdapter):
    """`qwen --output-format stream-json --allowed-mcp-server-names ...`, the prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(re.compile(r"(?m)^(\d+\.\d+\.\d+\S*)\s*$"), re.compile(r"Qwen Code"))
    table = named_flags(globals())
    stream = QwenStream
    has_commands = True
    # It cuts off the rest without a word on stdout.
    prompt_limit = (8 * 1024**2, "bytes")

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        settings = lane_home(request) / "qwen-settings.json"
        line.files.append((settings, SETTINGS.encode()))
        line.env += (("QWEN_CODE_SYSTEM_SETTINGS_PATH", str(settings)), *ENVIRONMENT)
        line.add_value(FORMAT, "stream-json")
        # Both are lists that go on to the next option.
        line.add(MCP, MCP.name, NO_SERVER)
        line.add(EXCLUDED, EXCLUDED.name, TOOLS_EXCLUDED)
        if request.permission is not Permission.CONFIG:
            mode = MODES[request.permission]
            line.add_mode(MODE, mode, YOLO if mode == "yolo" else None)
            line.expected.append(("permission", mode))
            if mode == "yolo":
                line.env.append(("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1"))
        line.need(MODEL, request.model)
        budget = request.budget
        if budget.turns:
            line.add(TURNS, TURNS.name, str(budget.turns))
        if budget.seconds:
            line.add(SECONDS, SECONDS.name, f"{math.ceil(budget.seconds)}s")
        if budget.tool_calls is not None:
            line.add(CALLS, CALLS.name, str(budget.tool_calls))
        line.add_session(RESUME, request.resume)
        if request.fork:
            line.need(FORK)
        if named := [name for name in OWN_SETTINGS if name in request.instructions]:
            line.warnings.append(
                f"Qwen Code takes settings from the repository's {' and '.join(named)}, a service's"
                " address among them: it has no switch against it (its hooks and MCP servers are"
                " off)"
            )


ADAPTER = Qwen()

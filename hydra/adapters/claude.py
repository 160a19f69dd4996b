"""Claude Code: its line, and how its answers are read. Seen in 2.1.330."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.contract import ConfigFolder, Descriptor, PathTrust, Probe, TokenFields, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.json_fields import Object, first, integer, mapping, number, objects, string
from hydra.adapters.json_stream import JsonStream, RecentIds, summary, unknown
from hydra.errors import UnsupportedFlag
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest, Tier
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- Claude Code as data: what it is, where its settings are, how it signs in. Seen in 2.1.330.

MODES = {
    Permission.PLAN: "plan",
    Permission.EDIT: "acceptEdits",
    Permission.FULL_AUTO: "bypassPermissions",
    Permission.UNRESTRICTED: "bypassPermissions",
    Permission.DEFAULT: "default",
    Permission.CONFIG: "as its settings say",
}

DESCRIPTOR = Descriptor(
    key="claude",
    label="Claude Code",
    homepage="https://code.claude.com/docs",
    tier=Tier.TIER1,
    binaries=("claude",),
    stream_format="stream-json",
    sandbox="hard",
    install_hint="npm install -g @anthropic-ai/claude-code",
    sign_in_hint="run `claude` once and sign in with /login, or set ANTHROPIC_API_KEY",
    exit_codes={
        0: "done, denied, or stopped by SIGINT: the stream tells which",
        1: "an API error, a limit of its own, no sign-in, or a bad command line",
        143: "stopped by SIGTERM",
    },
    minimum_version="2.1.197",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json, with --verbose"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="acceptEdits, bypassPermissions"),
        sandbox_controls=Capability(True, note="by lists of tools; no file system sandbox by flag"),
        approval_controls=Capability(True),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens and list price"),
    ),
    environment=("ANTHROPIC_*", "CLAUDE_CODE_*", "CLAUDE_CONFIG_DIR"),
    # A cloud's keys open far more than a model: only for who reaches Claude through that cloud.
    environment_if={
        "CLAUDE_CODE_USE_BEDROCK": names(
            "AWS_REGION AWS_PROFILE AWS_BEARER_TOKEN_BEDROCK AWS_ACCESS_KEY_ID"
            " AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN"
        ),
        "CLAUDE_CODE_USE_VERTEX": ("CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),
    },
    secret_environment=names(
        "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_FOUNDRY_API_KEY"
        " ANTHROPIC_CUSTOM_HEADERS CLAUDE_CODE_OAUTH_TOKEN AWS_BEARER_TOKEN_BEDROCK"
        " AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN"
    ),
    sign_in_environment=names(
        "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK"
        " CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY"
    ),
    config=ConfigFolder(
        variable="CLAUDE_CONFIG_DIR",
        default=".claude",
        credentials=(".credentials.json",),
        # As 2.1.330 wrote it, after an expired token and after one that was refused (401).
        renewals=(
            TokenFields(
                file=".credentials.json",
                entries=("claudeAiOauth",),
                access="accessToken",
                refresh="refreshToken",
                expiries=("expiresAt", "refreshTokenExpiresAt"),
                account=("accountUuid", "organizationUuid"),
            ),
        ),
        copied=names("settings.json CLAUDE.md rules skills commands agents plugins output-styles"),
        home_files=(".claude.json",),
        trust=(PathTrust(".claude.json", "projects"),),
    ),
    probes=(
        Probe(name="version", args=("--version",)),
        Probe(name="help", args=("--help",)),
        Probe(name="sign_in", args=("auth", "status")),
    ),
    modes=MODES,
    forks=True,
    efforts={effort: effort.value for effort in Effort},
    budgets=("turns", "cost_usd"),
    families=("claude",),
    tagline="Anthropic's coding agent",
    # Only one can be sent (the last --append-system-prompt-file wins), so the first that exists.
    instructions=("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"),
)

PRINT = required("--print", "to run without a terminal", "plain_text")
FORMAT = required("--output-format", "to read what it does", "json_stream", "emits_usage")
VERBOSE = required("--verbose", "with stream-json (it refuses to start without)", "json_stream")
SOURCES = required(
    "--setting-sources", "to keep the repository's own hooks and helpers from running"
)
STRICT_MCP = required(
    "--strict-mcp-config", "to keep the repository's own MCP commands from running"
)
MODE = Flag(
    "--permission-mode", "to say what it may do", drops=("approval_controls", "force_edit_mode")
)
BYPASS = Flag("--dangerously-skip-permissions", "to work without asking")
DISALLOWED = Flag(
    "--disallowedTools",
    "to keep it in its worktree",
    drops=("sandbox_controls",),
    loss="it may open worktrees of its own or schedule work for after the race",
)
INSTRUCTIONS = Flag(
    "--append-system-prompt-file",
    "to send the repository's instructions",
    loss="the repository's CLAUDE.md is not sent",
)
MODEL = Flag("--model", "to choose a model")
RESUME = Flag("--resume", "to go on later", drops=("session_resume",))
FORK = Flag("--fork-session", "to go on with a copy of a session")
EFFORT = Flag("--effort", "to say how hard it thinks")
COST = Flag("--max-budget-usd", "to keep the budget", loss="Hydra alone watches over what it costs")

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

# ---- Claude Code's `result`: what it cost, and which failure it was. Seen in 2.1.330.

REFUSED = (401, 403)
"""The HTTP statuses of a refused key."""

_SIGNED_OUT = re.compile(r"not logged in|invalid api key|oauth token|please run /login", re.I)
_TOKENS = re.compile(r"(\d{1,15}) tokens \(limit (\d{1,15})\)|(\d{1,15}) tokens > (\d{1,15}) max")


def totals(result: Object) -> dict[str, float | None]:
    """Totals of the session so far: `modelUsage` is cumulative, `usage` is of the last turn."""
    models = [model for model in mapping(result, "modelUsage").values() if isinstance(model, dict)]
    usage = [mapping(result, "usage")]
    count, written, read, out = (
        _sum(models or usage, key)
        for key in names(
            "inputTokens cacheCreationInputTokens cacheReadInputTokens outputTokens"
            if models
            else "input_tokens cache_creation_input_tokens cache_read_input_tokens output_tokens"
        )
    )
    total = None if count is None else count + (written or 0) + (read or 0)
    return {
        "input_tokens": total,
        "output_tokens": out,
        "cached_tokens": read,
        "cost_usd": number(result, "total_cost_usd"),
    }


def _sum(models: Sequence[Object], key: str) -> int | None:
    numbers = [value for model in models if (value := integer(model, key)) is not None]
    return sum(numbers) if numbers else None


def failure(api_error: Object, result: Object, retry_after: float | None) -> AgentEvent:
    """Which failure it was: by its own words first, then by the HTTP status."""
    message = _message(result) or _said_last(api_error)
    if _aborted(result):
        return build.failed("Interrupted", "interrupted", "it was interrupted")
    status = integer(result, "api_error_status") or integer(api_error, "api_error_status")
    term, ended = string(api_error, "error"), string(result, "terminal_reason")
    lost = string(result, "api_error") or string(api_error, "api_error")
    error, reason = _reason(term, status, (string(result, "subtype"), ended, lost), message)
    numbers = by_status(status)
    if reason == "rate_limit" and retry_after is not None:
        numbers["retry_after"] = retry_after
    if reason == "context_overflow":
        numbers |= _overflow(message)
    if reason in ("max_turns", "budget"):
        numbers |= _limit(message)
    return build.failed(error, reason, message, numbers)


def _message(result: Object) -> str:
    errors = result.get("errors")
    lines = [text for text in errors if isinstance(text, str)] if isinstance(errors, list) else []
    return string(result, "result") or "; ".join(lines)


def _aborted(result: Object) -> bool:
    return string(result, "terminal_reason").startswith("aborted")


def _reason(
    term: str, status: int | None, ended: tuple[str, str, str], message: str
) -> tuple[str, str]:
    if term == "authentication_failed" or status in REFUSED or _SIGNED_OUT.search(message):
        return "AuthMissing", "sign_in"
    named = {
        "error_max_turns": "max_turns",
        "error_max_budget_usd": "budget",
        "prompt_too_long": "context_overflow",
        "rate_limit": "rate_limit",
        "billing_error": "quota",
        "model_not_found": "model",
        "connection_failed": "network",
        "server_error": "overloaded",
        "overloaded": "overloaded",
    }
    for key in (*ended, term):
        if key in named:
            return "AgentFailed", named[key]
    values = {429: "rate_limit", 404: "model", 529: "overloaded"}
    return "AgentFailed", values.get(status or 0, "agent_error")


def by_status(status: int | None) -> dict[str, float]:
    """The HTTP status as a failure's figure, where there was one."""
    return {} if status is None else {"status": status}


def _overflow(message: str) -> dict[str, float]:
    match = _TOKENS.search(message)
    if match is None:
        return {}
    tokens, limit = (float(n) for n in match.groups() if n)
    return {"tokens": tokens, "limit": limit}


def _limit(message: str) -> dict[str, float]:
    match = re.search(r"\(\$?(\d{1,20}(?:\.\d{1,20})?)\)", message)
    return {"limit": float(match[1])} if match else {}


def _said_last(line: Object) -> str:
    return " ".join(string(block, "text") for block in objects(mapping(line, "message"), "content"))


# ---- Claude Code's `stream-json`, read as events. Seen in 2.1.330.

_TARGETS = ("file_path", "notebook_path", "path", "pattern", "url", "query", "description", "skill")
_TASK_OVER = frozenset({"completed", "failed", "killed", "stopped", "cancelled"})
_NOTICES = names(
    "status informational background_tasks_changed task_started task_progress task_updated"
    " task_notification hook_started hook_progress hook_response ui_invalidate"
    " compact_boundary local_command_output thinking_tokens"
)
_NOTICE_TYPES = names(
    "stream_event rate_limit_event conversation_reset control_response control_request"
    " tool_progress tool_use_summary auth_status prompt_suggestion"
)


class ClaudeStream(JsonStream):
    """One attempt's stream. A `result` is held until the end: background tasks bring more."""

    label = "Claude Code"
    edits = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._has_key = False
        self._session: AgentEvent | None = None
        self._seen = RecentIds()
        self._abouts = RecentIds()
        self._denied = RecentIds()
        self._retry_after: float | None = None
        self._api_error: Object = {}
        self._result: Object | None = None
        self._spoke = False
        self._after = ""
        self._readers = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._take_result,
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line; a line whose uuid was there before is dropped."""
        kind, mark = string(line, "type"), string(line, "uuid")
        if mark:
            if mark in self._seen:
                return []
            self._seen.add(mark)
        if kind in _NOTICE_TYPES:
            return build.notice(kind)
        return super().take(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The last `result` as the ending, else the API error that came before it could."""
        if self._result is None:
            return [failure(self._api_error, {}, None)] if self._api_error else []
        result = self._result
        if result.get("is_error") is True or string(result, "subtype").startswith("error"):
            return [failure(self._api_error, result, self._retry_after)]
        if integer(result, "num_turns") == 0:
            text = "the prompt was taken as one of its own commands; the model was never asked"
            return [build.failed("AgentFailed", "not_asked", text)]
        self._tools.denials = self._denials(result)
        turns = integer(result, "num_turns")
        return self._done(string(result, "result"), turns=turns, after=self._after)

    # system lines

    def _system(self, line: Object) -> list[AgentEvent]:
        sub = string(line, "subtype")
        if sub == "init":
            return self._init(line)
        if sub == "api_retry":
            return self._retry(line)
        if sub == "permission_denied":
            self._denied.add(string(line, "tool_use_id"), string(line, "tool_name"))
            return build.notice(f"system/{sub}", string(line, "message"))
        if sub.startswith("task_"):
            return self._task(sub, line)
        if sub in _NOTICES:
            text = first(line, ("content", "message", "status"))
            return build.notice(f"system/{sub}", text)
        return unknown(line)

    def _init(self, line: Object) -> list[AgentEvent]:
        self._root = string(line, "cwd") or self._root
        self._has_key = string(line, "apiKeySource") not in ("", "none")
        event = build.session(
            session=string(line, "session_id"),
            model=string(line, "model"),
            permission=string(line, "permissionMode"),
            version=string(line, "claude_code_version"),
        )
        # Each turn that a background task starts has an init: after a result it tells of more.
        if event == self._session and self._result is None:
            return []
        self._session = event
        return [event]

    def _retry(self, line: Object) -> list[AgentEvent]:
        status = integer(line, "error_status")
        why = string(line, "error")
        attempt = integer(line, "attempt")
        refused = status in REFUSED or why == "authentication_failed"
        # Ten retries would take three minutes, and no key gets better by waiting; a login's
        # token is renewed after its first refusal.
        if refused and (self._has_key or (attempt or 2) > 1):
            text = f"the service refused its key (HTTP {status})" if status else why
            return [build.failed("AuthMissing", "sign_in", text, by_status(status))]
        delay = number(line, "retry_delay_ms")
        self._retry_after = None if delay is None else delay / 1000
        return [
            build.progress(
                "retry",
                attempt=attempt,
                of=integer(line, "max_retries"),
                status=status,
                retry_after=self._retry_after,
                text=why,
            )
        ]

    def _task(self, sub: str, line: Object) -> list[AgentEvent]:
        """A task in the background is an open tool, also one that is put there later: the CLI waits
        for it, silently."""
        id, patch = string(line, "task_id"), mapping(line, "patch")
        status = string(line, "status") or string(patch, "status")
        if sub == "task_started":
            # The command that was put there, where it is known; the description is the model's.
            about = self._abouts.label(string(line, "tool_use_id"))
            self._abouts.add(id, about or string(line, "description"))
        if True in (line.get("is_backgrounded"), patch.get("is_backgrounded")):
            return self._call(id, "Background", self._abouts.label(id))
        if status in _TASK_OVER and self._tools.name(id):
            text = string(line, "summary") or status
            return self._answer(id, ok=status == "completed", summary=text)
        return build.notice(f"system/{sub}", string(line, "description"))

    # messages

    def _assistant(self, line: Object) -> list[AgentEvent]:
        self._spoke = True
        if string(line, "error"):
            self._api_error = line
        events: list[AgentEvent] = []
        for block in objects(mapping(line, "message"), "content"):
            events += self._block(block)
        return events

    def _block(self, block: Object) -> list[AgentEvent]:
        kind = string(block, "type")
        if kind == "text":
            return build.message(string(block, "text"))
        if kind == "thinking":
            return build.message(string(block, "thinking"), "thinking")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            name = string(block, "name")
            about = summary(name, mapping(block, "input"), _TARGETS, self._root)
            self._abouts.add(string(block, "id"), build.one_line(about))
            return self._call(string(block, "id"), name, about)
        return []

    def _user(self, line: Object) -> list[AgentEvent]:
        refused = {
            string(meta, "id")
            for meta in objects(line, "tool_result_meta")
            if string(mapping(meta, "permission_decision"), "decision") == "reject"
        }
        events: list[AgentEvent] = []
        for block in objects(mapping(line, "message"), "content"):
            if string(block, "type") != "tool_result":
                continue
            id = string(block, "tool_use_id")
            denied = id in refused or id in self._denied
            ok = block.get("is_error") is not True
            events += self._answer(id, ok=ok, summary=_text(block.get("content")), denied=denied)
        return events

    def _call(self, id: str, name: str, summary: str) -> list[AgentEvent]:
        return self._tools.call(id, name, summary)

    def _answer(self, id: str, *, ok: bool, summary: str, denied: bool = False) -> list[AgentEvent]:
        name = self._tools.name(id)
        if denied and id not in self._denied:
            self._denied.add(id, name)
        return self._tools.answer(id, name, summary, ok=ok, denied=denied)

    # the end

    def _take_result(self, line: Object) -> list[AgentEvent]:
        self._hold(line)
        if line.get("is_error") is not True:
            self._api_error = {}
        return [*build.usage(**totals(line)), *self.closing()]

    def _hold(self, result: Object) -> None:
        """The result that counts. After a success, one of no turn (a task's end that it could not
        be told of, a signal) says nothing of the work."""
        empty = not (integer(result, "num_turns") and self._spoke) or _aborted(result)
        if self._result is not None and _succeeded(self._result) and empty:
            self._after = "" if _succeeded(result) else _message(result) or build.NO_REASON
            return
        self._result, self._spoke, self._after = result, False, ""

    def _denials(self, result: Object) -> list[str]:
        lines = [string(denial, "tool_name") for denial in objects(result, "permission_denials")]
        return [name for name in lines or self._denied.labels() if name]


def _succeeded(result: Object) -> bool:
    is_error = result.get("is_error") is True or string(result, "subtype").startswith("error")
    return not is_error and integer(result, "num_turns") != 0


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = objects({"content": content}, "content")
    return "\n".join(string(block, "text") for block in blocks)


class Claude(CliAdapter):
    """`claude --print --output-format stream-json --verbose ...`, the prompt on stdin. Refused
    where it would refuse to start as root."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^(\d+(?:\.\d+)+\S*) \(Claude Code\)"), re.compile(r"Claude Code")
    )
    table = named_flags(globals())
    stream = ClaudeStream
    has_commands = True

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.env += ENVIRONMENT
        if request.background is not None:
            # After its result, for what it left in the background; by itself it waits 600 s.
            wait = f"{request.background * 1000:.0f}"
            line.env.append(("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", wait))
        self._consent(line, request)
        line.add(PRINT)
        line.add_value(FORMAT, "stream-json")
        line.add(VERBOSE)
        line.add(SOURCES, SOURCES.name, "user")
        line.add(STRICT_MCP)
        # Variadic: it swallows what follows, so another flag always does.
        line.add(DISALLOWED, DISALLOWED.name, TOOLS_DENIED)
        self._permission(line, request.permission)
        self._instructions(line, request.instructions)
        line.need(MODEL, request.model)
        line.need(EFFORT, request.effort)
        if request.budget.turns:
            # Not in its help, and kept all the same (2.1.197, 2.1.330).
            line.args += ("--max-turns", str(request.budget.turns))
        if request.budget.cost_usd:
            line.add(COST, COST.name, f"{request.budget.cost_usd:g}")
        line.add_session(RESUME, request.resume)
        if request.fork:
            line.need(FORK)

    def _consent(self, line: CommandBuilder, request: SpawnRequest) -> None:
        """As root it bypasses only where it is told that it stands in a sandbox (2.1.330)."""
        if not request.as_root or MODES[request.permission] != "bypassPermissions":
            return
        if not request.confined and request.permission is not Permission.UNRESTRICTED:
            raise UnsupportedFlag(
                "Claude Code refuses to work without asking as root where nothing confines it",
                adapter=self.key(),
                hint="install bubblewrap, run as an ordinary user, or use --permission edit",
                reason="root",
            )
        line.env.append(("IS_SANDBOX", "1"))

    def _permission(self, line: CommandBuilder, permission: Permission) -> None:
        if permission is Permission.CONFIG:
            return
        mode = MODES[permission]
        if mode == "default" and f"{MODE.name}={MANUAL}" in line.options:
            line.add_value(MODE, MANUAL)
        else:
            line.add_mode(MODE, mode, BYPASS if mode == "bypassPermissions" else None)
        line.expected.append(("permission", mode))

    def _instructions(self, line: CommandBuilder, names: tuple[str, ...]) -> None:
        if not names:
            return
        first, *others = names
        line.add(INSTRUCTIONS, INSTRUCTIONS.name, first)
        # AGENTS.md is what Claude Code itself reads only where there is no CLAUDE.md.
        for name in others:
            if name.endswith("CLAUDE.md"):
                line.warnings.append(f"only {first} is sent to Claude Code, not {name}")


ADAPTER = Claude()

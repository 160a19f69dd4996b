"""Cursor's agent CLI, experimental: closed, in no registry, read about and never run here.

Everything below comes from its documentation and from issues of its users, so no claim is
better than `observed`. No run has shown its flags to work, and each lane says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.contract import ConfigFolder, Descriptor, Probe
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.json_fields import Object, first, integer, mapping, objects, string
from hydra.adapters.json_stream import JsonStream, stderr_of, tokens, unknown
from hydra.records.agent import Capability, CapabilitySet, Confidence, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission

_DOCUMENTED = "documentation, 2026"


def _read(note: str = "", *, sure: bool = True) -> Capability:
    confidence = Confidence.OBSERVED if sure else Confidence.UNKNOWN
    return Capability(True, confidence, _DOCUMENTED, note)


DESCRIPTOR = Descriptor(
    key="cursor-agent",
    label="Cursor Agent",
    homepage="https://docs.cursor.com/en/cli/headless",
    binaries=("cursor-agent",),
    # `cursor` is the editor's launcher on most machines; `agent` may be anything.
    generic_binaries=("cursor", "agent"),
    stream_format="stream-json",
    install_hint="curl https://cursor.com/install -fsS | bash",
    sign_in_hint="run `cursor-agent login`, or set CURSOR_API_KEY",
    exit_codes={0: "it ended by itself: the stream tells how", 1: "it failed; stderr says why"},
    capabilities=CapabilitySet(
        json_stream=_read(),
        plain_text=_read(),
        force_edit_mode=_read("--force"),
        sandbox_controls=_read("--sandbox enabled or disabled", sure=False),
        approval_controls=_read("--force, or its own configuration", sure=False),
        session_resume=_read("an unknown id starts a new chat, exit 0"),
        emits_usage=_read("in builds of 2026", sure=False),
    ),
    environment=("CURSOR_API_KEY", "CURSOR_CONFIG_DIR"),
    secret_environment=("CURSOR_API_KEY",),
    sign_in_environment=("CURSOR_API_KEY",),
    config=ConfigFolder(
        variable="CURSOR_CONFIG_DIR",
        default=".cursor",
        credentials=("auth.json",),
        copied=("cli-config.json", "rules"),
    ),
    probes=(
        Probe(name="version", args=("--version",)),
        Probe(name="help", args=("--help",)),
        Probe(name="sign_in", args=("status",)),
    ),
    modes={
        Permission.PLAN: "plan",
        Permission.EDIT: "--force",
        Permission.FULL_AUTO: "--force",
        Permission.UNRESTRICTED: "--force",
        Permission.DEFAULT: "without --force: it proposes",
        Permission.CONFIG: "without --force: as its settings allow",
    },
    tagline="the agent of the Cursor editor, in a terminal",
)

PRINT = required("--print", "to run without a terminal", "plain_text")
FORMAT = required("--output-format", "to read what it does", "json_stream", "emits_usage")
TRUST = Flag(
    "--trust",
    "for a folder that nobody has approved yet",
    loss="it may refuse to work in a folder that was never approved",
)
FORCE = Flag(
    "--force",
    "to change files without asking",
    drops=("force_edit_mode", "approval_controls"),
    loss="it may propose changes and make none",
)
WORKSPACE = Flag("--workspace", "to name the worktree, where it is started anyway")
MODEL = Flag("--model", "to choose a model")
RESUME = Flag("--resume", "to go on later", drops=("session_resume",))
MODE = Flag("--mode", "for --permission plan")

READ_ABOUT = "no run of Cursor Agent was possible: its flags are read about, and may not work"
NEW_CHAT = "Cursor Agent begins a new chat without a word where it does not know the session"

# ---- Cursor's `stream-json`, as its documentation shows it; never seen in a run of the real CLI.

_CALL = "ToolCall"
_REMEMBERED = 64 * 1024
"""Characters of what was said, in deltas or whole."""

_REFUSALS = ("rejected", "permissionDenied")
_VERBS = {"shell": "$", "edit": "Edit", "write": "Write", "delete": "Delete", "read": "Read"}
_FAILURES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("AuthMissing", "sign_in", re.compile(r"authenticat|not logged in|api key|login", re.I)),
    ("AgentFailed", "rate_limit", re.compile(r"rate limit|usage limit|\b429\b", re.I)),
    ("AgentFailed", "context_overflow", re.compile(r"context window|too long", re.I)),
    ("AgentFailed", "not_trusted", re.compile(r"workspace trust|not trusted", re.I)),
    (
        "AgentFailed",
        "model",
        re.compile(r"^(?>.*?\bmodel\b).*(?:not|unknown|invalid)", re.I | re.M),
    ),
)


class CursorStream(JsonStream):
    """One attempt's stream. Its `result` ends it, whether the process exits or not."""

    label = "Cursor Agent"
    edits = frozenset({"edit", "write", "delete"})

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._thinking = ""
        self._text = ""
        self._readers = {
            "system": self._system,
            "user": lambda line: build.notice("user"),
            "assistant": self._assistant,
            "thinking": self._think,
            "tool_call": self._tool,
            "result": self._result,
        }

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """Without a `result` it fails in words on stderr."""
        if exit.code in (0, None):
            return []
        stderr = stderr_of(files)
        text = next((line for line in reversed(stderr.splitlines()) if line.strip()), "")
        return [_failure(text)] if text.lower().startswith("error: ") else []

    def _system(self, line: Object) -> list[AgentEvent]:
        if string(line, "subtype") != "init":
            return unknown(line)
        self._root = string(line, "cwd")
        return [
            build.session(
                session=string(line, "session_id"),
                model=string(line, "model"),
                permission=string(line, "permissionMode"),
            )
        ]

    def _assistant(self, line: Object) -> list[AgentEvent]:
        blocks = objects(mapping(line, "message"), "content")
        text = "".join(string(block, "text") for block in blocks)
        # With partial output each delta comes alone, then the whole once more, without a time.
        if "timestamp_ms" not in line and self._text and self._text.endswith(text):
            return []
        self._text = (self._text + text)[-_REMEMBERED:]
        return build.message(text)

    def _think(self, line: Object) -> list[AgentEvent]:
        if string(line, "subtype") == "delta":
            self._thinking = (self._thinking + string(line, "text"))[:_REMEMBERED]
            return build.notice("thinking")
        text = string(line, "text") or self._thinking
        self._thinking = ""
        return build.message(text, "thinking")

    def _tool(self, line: Object) -> list[AgentEvent]:
        id, calls = string(line, "call_id"), mapping(line, "tool_call")
        key = next((key for key in calls if key.endswith(_CALL)), "")
        name, call = key.removesuffix(_CALL) or "tool", mapping(calls, key)
        if self._tools.over(id):
            return []
        events = self._tools.call(id, name, self._summary(name, mapping(call, "args")))
        if string(line, "subtype") == "completed":
            events += self._answer(id, name, mapping(call, "result"))
        return events

    def _answer(self, id: str, name: str, result: Object) -> list[AgentEvent]:
        how = next(iter(result), "")
        document = mapping(result, how)
        denied = how in _REFUSALS
        code = integer(document, "exitCode")
        ok = how == "success" and code in (0, None)
        text = first(document, ("message", "error", "reason", "stdout", "stderr")) or how
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _summary(self, name: str, document: Object) -> str:
        target = first(document, ("command", "path", "pattern", "query", "url"))
        return f"{_VERBS.get(name, name)} {build.path(target, self._root)}".strip()

    def _result(self, line: Object) -> list[AgentEvent]:
        caches = ("cacheReadTokens", "cacheWriteTokens")  # taken to be none of its input (inferred)
        usage = mapping(line, "usage")
        events = tokens(usage, "inputTokens", "outputTokens", caches[0], beside=caches)
        text = string(line, "result")
        if line.get("is_error") is True or string(line, "subtype").startswith("error"):
            return [*events, _failure(text)]
        return [*events, *self._done(text)]


def _failure(text: str) -> AgentEvent:
    for kind, reason, pattern in _FAILURES:
        if pattern.search(text):
            return build.failed(kind, reason, text)
    return build.failed("AgentFailed", "agent_error", text)


class Cursor(CliAdapter):
    """`cursor-agent --print --output-format stream-json --trust --force`, prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^(20\d\d\.\d\d\.\d\d-[0-9a-f]{6,})\s*$"),
        re.compile(r"(?i)Cursor Agent|cursor-agent"),
    )
    table = named_flags(globals())
    stream = CursorStream
    prompt_limit = (1_000_000, "bytes")

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.warnings.append(READ_ABOUT)
        line.add(PRINT)
        line.add_value(FORMAT, "stream-json")
        line.add(TRUST)
        if request.permission is Permission.PLAN:
            line.need_words(MODE, MODE.name, "plan")
        elif request.permission not in (Permission.DEFAULT, Permission.CONFIG):
            line.add(FORCE)
        line.add(WORKSPACE, WORKSPACE.name, str(request.worktree))
        line.need(MODEL, request.model)
        line.add_session(RESUME, request.resume)
        if request.resume:
            line.warnings.append(NEW_CHAT)


ADAPTER = Cursor()

"""Claude Code's `stream-json`, read as events. Seen in 2.1.330."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.claude_errors import REFUSED, by_status, failure, totals
from hydra.adapters.jsonlines import Object, first, integer, mapping, number, objects, string
from hydra.adapters.stream import JsonStream, Recent, unknown
from hydra.adapters.tools import summary
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_TARGETS = ("file_path", "notebook_path", "path", "pattern", "url", "query", "description", "skill")
_TASK_OVER = frozenset({"completed", "failed", "killed", "stopped", "cancelled"})
_NOTICES = frozenset(
    {
        "status",
        "informational",
        "background_tasks_changed",
        "task_started",
        "task_progress",
        "task_updated",
        "task_notification",
        "hook_started",
        "hook_progress",
        "hook_response",
        "ui_invalidate",
        "compact_boundary",
        "local_command_output",
        "thinking_tokens",
    }
)
_NOTICE_TYPES = frozenset(
    {
        "stream_event",
        "rate_limit_event",
        "conversation_reset",
        "control_response",
        "control_request",
        "tool_progress",
        "tool_use_summary",
        "auth_status",
        "prompt_suggestion",
    }
)


class ClaudeStream(JsonStream):
    """One attempt's stream. A `result` is held until the end: background tasks bring more."""

    label = "Claude Code"
    edits = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
    """Its tools that change files."""

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._has_key = False
        self._session: AgentEvent | None = None
        self._seen = Recent()
        self._calls = Recent()
        self._answered = Recent()
        self._denied = Recent()
        self._failed_edits = 0
        self._retry_after: float | None = None
        self._api_error: Object = {}
        self._result: Object | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
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
            return [said.progress("notice", type=kind)]
        reader = self._readers.get(kind)
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The last `result` as the ending, else the API error that came before it could."""
        if self._result is None:
            return [failure(self._api_error, {}, None)] if self._api_error else []
        result = self._result
        if result.get("is_error") is True or string(result, "subtype").startswith("error"):
            return [failure(self._api_error, result, self._retry_after)]
        if integer(result, "num_turns") == 0:
            text = "the prompt was taken as one of its own commands; the model was never asked"
            return [said.failed("AgentFailed", "not_asked", text)]
        return [
            said.completed(
                string(result, "result"),
                turns=integer(result, "num_turns"),
                denials=self._denials(result),
                failed_items=self._failed_edits,
            )
        ]

    # system lines

    def _system(self, line: Object) -> list[AgentEvent]:
        sub = string(line, "subtype")
        if sub == "init":
            return self._init(line)
        if sub == "api_retry":
            return self._retry(line)
        if sub == "permission_denied":
            self._denied.add(string(line, "tool_use_id"), string(line, "tool_name"))
            return [said.progress("notice", type=f"system/{sub}", text=string(line, "message"))]
        if sub.startswith("task_"):
            return self._task(sub, line)
        if sub in _NOTICES:
            text = first(line, ("content", "message", "status"))
            return [said.progress("notice", type=f"system/{sub}", text=text)]
        return unknown(line)

    def _init(self, line: Object) -> list[AgentEvent]:
        self._root = string(line, "cwd") or self._root
        self._has_key = string(line, "apiKeySource") not in ("", "none")
        event = said.session(
            session=string(line, "session_id"),
            model=string(line, "model"),
            permission=string(line, "permissionMode"),
            version=string(line, "claude_code_version"),
        )
        if event == self._session:  # each turn that a background task starts has an init
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
            return [said.failed("AuthMissing", "sign_in", text, by_status(status))]
        delay = number(line, "retry_delay_ms")
        self._retry_after = None if delay is None else delay / 1000
        return [
            said.progress(
                "retry",
                attempt=attempt,
                of=integer(line, "max_retries"),
                status=status,
                retry_after=self._retry_after,
                text=why,
            )
        ]

    def _task(self, sub: str, line: Object) -> list[AgentEvent]:
        """A background task is an open tool: the CLI waits for it, silently."""
        id = string(line, "task_id")
        status = string(line, "status") or string(mapping(line, "patch"), "status")
        if sub == "task_started" and line.get("is_backgrounded") is True:
            return self._call(id, "Background", string(line, "description"))
        if status in _TASK_OVER and id in self._calls:
            text = string(line, "summary") or status
            return self._answer(id, ok=status == "completed", summary=text)
        return [said.progress("notice", type=f"system/{sub}", text=string(line, "description"))]

    # messages

    def _assistant(self, line: Object) -> list[AgentEvent]:
        if string(line, "error"):
            self._api_error = line
        events: list[AgentEvent] = []
        for block in objects(mapping(line, "message"), "content"):
            events += self._block(block)
        return events

    def _block(self, block: Object) -> list[AgentEvent]:
        kind = string(block, "type")
        if kind == "text":
            return said.message(string(block, "text"))
        if kind == "thinking":
            return said.message(string(block, "thinking"), "thinking")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            name = string(block, "name")
            about = summary(name, mapping(block, "input"), _TARGETS, self._root)
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
        if id in self._calls:
            return []
        self._calls.add(id, name)
        return [said.tool_call(id, name, summary)]

    def _answer(self, id: str, *, ok: bool, summary: str, denied: bool = False) -> list[AgentEvent]:
        if id in self._answered:
            return []
        self._answered.add(id)
        name = self._calls.word(id)
        if denied and id not in self._denied:
            self._denied.add(id, name)
        self._failed_edits += name in self.edits and not ok and not denied
        return [said.tool_result(id, ok, summary, denied)]

    # the end

    def _take_result(self, line: Object) -> list[AgentEvent]:
        self._result = line
        if line.get("is_error") is not True:
            self._api_error = {}
        return said.usage(**totals(line))

    def _denials(self, result: Object) -> list[str]:
        told = [string(denial, "tool_name") for denial in objects(result, "permission_denials")]
        return [name for name in told or self._denied.words() if name]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = objects({"content": content}, "content")
    return "\n".join(string(block, "text") for block in blocks)

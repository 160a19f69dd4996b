"""Codex's `exec --json`, read as events. Seen in 0.169.0."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.codex_descriptor import ROLLOUT
from hydra.adapters.codex_errors import Trouble, trouble
from hydra.adapters.jsonlines import Malformed, Object, decode, integer, mapping, objects, string
from hydra.adapters.stream import JsonStream, Recent, unknown
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_RETRY = re.compile(r"^Reconnecting\.\.\. (\d+)/(\d+) \((.*)\)$", re.DOTALL)
_STATUS = re.compile(r"\b(?:status:? )(\d{3})\b")
# The first place in a line alone: with each of them, a line of many would be searched for hours.
_NO_SANDBOX = re.compile(
    r"^bwrap: |^(?>.*?Landlock).*(?:not|fail)|^(?>.*?sandbox).*(?:EPERM|not permitted)", re.M
)
_REJECTED = re.compile(r"patch rejected: |rejected by user approval settings")
_NOT_APPLIED = re.compile(r"apply_patch verification failed")
_KINDS = {"add": "Add", "delete": "Delete", "update": "Edit"}


class CodexStream(JsonStream):
    """One attempt's stream. Its ending is held: some denials are told on stderr alone."""

    label = "Codex"

    def __init__(self) -> None:
        super().__init__()
        self._thread = ""
        self._opened = Recent()
        self._closed = Recent()
        self._before = Recent()
        self._retried = False
        self._denials: list[str] = []
        self._failed_items = 0
        self._worked = False
        self._no_sandbox = ""
        self._trouble: Trouble | None = None
        self._completed = False
        self._last_text = ""
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "thread.started": self._started,
            "turn.started": self._notice,
            "turn.completed": self._turn_completed,
            "turn.failed": self._turn_failed,
            "error": self._error,
            "item.started": self._item,
            "item.updated": self._item,
            "item.completed": self._item,
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        reader = self._readers.get(string(line, "type"))
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What it applied, from its own record; then its ending, with stderr's denials."""
        events = self._applied(files.get(ROLLOUT, b""))
        stderr = files.get("stderr", b"").decode("utf-8", "replace")
        if self._completed:
            return [*events, self._done(stderr)]
        seen = self._trouble or _fatal(stderr, exit)
        return [*events, seen.event()] if seen else events

    # the turn

    def _started(self, line: Object) -> list[AgentEvent]:
        self._thread = string(line, "thread_id")
        return [said.session(session=self._thread)]

    def _notice(self, line: Object) -> list[AgentEvent]:
        return [said.progress("notice", type=string(line, "type"))]

    def _turn_completed(self, line: Object) -> list[AgentEvent]:
        self._completed, self._trouble = True, None
        usage = mapping(line, "usage")
        return said.usage(
            input_tokens=integer(usage, "input_tokens"),
            output_tokens=integer(usage, "output_tokens"),
            cached_tokens=integer(usage, "cached_input_tokens"),
        )

    def _turn_failed(self, line: Object) -> list[AgentEvent]:
        self._completed = False
        self._trouble = trouble(string(mapping(line, "error"), "message"))
        return self._at_once(self._trouble)

    def _error(self, line: Object) -> list[AgentEvent]:
        """`error` alone ends nothing: the CLI may still be trying."""
        text = string(line, "message")
        match = _RETRY.match(text)
        seen = trouble(match[3] if match else text)
        refused = self._at_once(seen)
        if match is None:
            self._trouble = seen
            return refused or [said.progress("notice", type="error", text=text)]
        self._retried = True
        status = _STATUS.search(match[3])
        return refused or [
            said.progress(
                "retry",
                attempt=int(match[1][:9]),
                of=int(match[2][:9]),
                status=int(status[1]) if status else None,
                retry_after=seen.numbers.get("retry_after"),
                text=match[3],
            )
        ]

    def _at_once(self, seen: Trouble) -> list[AgentEvent]:
        """A refused sign-in ends the lane now, not after the CLI's own five retries."""
        return [seen.event()] if seen.kind == "AuthMissing" else []

    # items

    def _item(self, line: Object) -> list[AgentEvent]:
        item = mapping(line, "item")
        kind, id = string(item, "type"), string(item, "id")
        over = string(line, "type") == "item.completed"
        if over and id in self._closed:
            return []
        if kind in _TEXTS:
            return self._text(item, id) if over else []
        if kind in ("todo_list", "error"):
            return self._aside(item, kind, id if over else "")
        if kind not in _TOOLS:
            return unknown({"type": "item", "subtype": kind})
        events = []
        if id not in self._opened:
            self._opened.add(id)
            events.append(said.tool_call(id, _TOOLS[kind], _summary(kind, item)))
        if over:
            self._closed.add(id)
            events.append(self._closing(item, kind, id))
        return events

    def _text(self, item: Object, id: str) -> list[AgentEvent]:
        self._closed.add(id)
        text, sub = string(item, "text"), _TEXTS[string(item, "type")]
        # A stream that broke and was tried again says the same once more, under a new id.
        mark = f"{sub}:{hash(text)}"
        if self._retried and mark in self._before:
            return []
        self._before.add(mark)
        if not sub:
            self._last_text = text
        return said.message(text, sub)

    def _aside(self, item: Object, kind: str, id: str) -> list[AgentEvent]:
        if id:
            self._closed.add(id)
        done = [entry for entry in objects(item, "items") if entry.get("completed") is True]
        plan = f"{len(done)} of {len(objects(item, 'items'))} steps done"
        text = plan if kind == "todo_list" else string(item, "message")
        return [said.progress("notice", type=kind, text=text)]

    def _closing(self, item: Object, kind: str, id: str) -> AgentEvent:
        status, code = string(item, "status"), integer(item, "exit_code")
        output = string(item, "aggregated_output")
        denied = status == "declined"
        ok = status in ("completed", "") and code in (0, None)
        self._worked = self._worked or ok
        if not ok and _NO_SANDBOX.search(output):
            self._no_sandbox = said.one_line(output)
        if denied and len(self._denials) < Recent.LARGEST:
            self._denials.append(_TOOLS[kind])
        self._failed_items += kind == "file_change" and not ok and not denied
        failure = string(mapping(item, "error"), "message")
        summary = output or failure or (f"exit {code}" if code is not None else status)
        return said.tool_result(id, ok, summary, denied)

    # the end

    def _done(self, stderr: str) -> AgentEvent:
        if self._no_sandbox and not self._worked:
            # It changed nothing, says that it is done, and exits with 0.
            text = f"its own sandbox does not start: {self._no_sandbox}"
            return said.failed("SpawnFailed", "sandbox_broken", text)
        lines = stderr.splitlines()
        rejected = sum(1 for line in lines if _REJECTED.search(line))
        unapplied = sum(1 for line in lines if _NOT_APPLIED.search(line))
        return said.completed(
            self._last_text,
            denials=[*self._denials, *["apply_patch"] * rejected],
            failed_items=self._failed_items + unapplied,
        )

    def _applied(self, rollout: bytes) -> list[AgentEvent]:
        context: Object = {}
        for raw in rollout.split(b"\n"):
            if b'"turn_context"' in raw[:200]:
                try:
                    line = decode(raw) or {}
                except Malformed:
                    continue
                context = mapping(line, "payload") or context
        if not context or self._thread.encode() not in rollout:
            return []
        sandbox = string(mapping(context, "sandbox_policy"), "type")
        model = string(context, "model")
        return [said.session(session=self._thread, model=model, sandbox=sandbox)]


_TEXTS = {"agent_message": "", "reasoning": "thinking"}
_TOOLS = {
    "command_execution": "shell",
    "file_change": "apply_patch",
    "mcp_tool_call": "mcp",
    "web_search": "web_search",
    "collab_tool_call": "agent",
}


def _summary(kind: str, item: Object) -> str:
    if kind == "command_execution":
        return said.command(string(item, "command"))
    if kind == "file_change":
        return _changes(objects(item, "changes"))
    if kind == "mcp_tool_call":
        return f"{string(item, 'server')} {string(item, 'tool')}"
    if kind == "web_search":
        return f"Search {string(item, 'query')}"
    return string(item, "tool") or "agent"


def _changes(changes: list[Object]) -> str:
    if not changes:
        return "Edit"
    first = changes[0]
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return (
        f"{_KINDS.get(string(first, 'kind'), 'Edit')} {said.path(string(first, 'path'), '')}{more}"
    )


def _fatal(stderr: str, exit: ExitStatus) -> Trouble | None:
    """A last word on stderr, where the turn never started: `Error: ...` (exit 1)."""
    if exit.code != 1:
        return None
    told = [line for line in stderr.splitlines() if line.startswith("Error: ")]
    return trouble(told[-1].removeprefix("Error: ")) if told else None

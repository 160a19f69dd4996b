"""OpenCode's message parts and errors, read as events: the same over `run` and over `serve`.

A part is one piece of a message: a step, a text, a thought, a tool. `opencode run --format json`
gives a tool once, when it has ended; the server gives it as it goes on. Seen in 1.18.33.
"""

from __future__ import annotations

import re

from hydra.adapters import event_builders as build
from hydra.adapters.contract import names
from hydra.adapters.failures import failure as service_failure
from hydra.adapters.json_fields import Object, integer, mapping, number, string
from hydra.adapters.json_stream import JsonStream, RecentIds, summary
from hydra.records.events import AgentEvent

_TARGETS = ("filePath", "path", "pattern", "url", "query", "description", "name")
_VERBS = {"edit": "Edit", "write": "Write", "read": "Read", "multiedit": "Edit"}
_NOTICES = frozenset(
    {"patch", "snapshot", "compaction", "retry", "agent", "subtask", "file", "step-start"}
)

_REFUSED = re.compile(
    r"^The user (?:rejected permission|has specified a rule which prevents)", re.IGNORECASE
)
_UNAVAILABLE = re.compile(r"^Model tried to call unavailable tool '(\w{1,60})'")
_OWN = frozenset({"bash", "edit", "write", "apply_patch", "task", "webfetch", "websearch", "read"})
"""Tools that are always there but where its permissions take them away."""

OVERFLOW = "ContextOverflowError"


class PartsStream(JsonStream):
    """What one session says, by `run` as over `serve`."""

    edits = names("edit write patch apply_patch multiedit")

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._text = ""
        """What was said last."""
        self._reason = ""
        """Why the last step ended; "" while one goes on, or before the first."""
        self._error: Object | None = None
        self._overflowed = False
        self._acted = False
        """Whether a tool has ended since an overflow."""
        self._ids = RecentIds()
        self._totals = {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
        self._cost = 0.0

    def _part_events(self, part: Object) -> list[AgentEvent] | None:
        """One part as it now stands; None for a type that is not known."""
        kind = string(part, "type")
        if kind == "tool":
            return self._tool(part)
        if kind == "step-finish":
            return self._step(part)
        if kind in ("text", "reasoning"):
            return self._text_events(part, kind)
        if kind == "step-start":
            self._reason = ""
            return build.notice("turn")
        return build.notice(kind) if kind in _NOTICES else None

    def _last_step(self) -> list[AgentEvent]:
        """How the last step ended; a refused permission ends the run after the step that asked."""
        if self._reason == "stop" or (self._reason == "tool-calls" and self._tools.denials):
            return self._done(self._text)
        text = f"its last answer was cut off ({self._reason})"
        return [build.failed("AgentFailed", "agent_error", text)]

    def _failed(self, error: Object) -> list[AgentEvent]:
        """An overflow sums up what was said and goes on; one more, with no tool used between, would
        do so for ever."""
        self._error = error
        event = failure(error)
        if string(error, "name") == OVERFLOW:
            again = self._overflowed and not self._acted
            self._overflowed, self._acted = True, False
            return [event] if again else build.notice("compaction", "the conversation is too long")
        # No key gets better by waiting; of the others stderr may say more at the end.
        return [event] if event.data["error"] == "AuthMissing" else []

    def _text_events(self, part: Object, kind: str) -> list[AgentEvent]:
        # Over the server a text comes again with each piece of it, its end only with the last.
        id, text = string(part, "id"), string(part, "text")
        if id in self._ids or not mapping(part, "time").get("end"):
            return []
        self._ids.add(id)
        if kind == "reasoning":
            return build.message(text, "thinking")
        self._text = text or self._text
        return build.message(text)

    def _step(self, part: Object) -> list[AgentEvent]:
        id = string(part, "id")
        if id in self._ids:
            return []
        self._ids.add(id)
        self._reason = string(part, "reason") or "unknown"
        tokens = mapping(part, "tokens")
        cache = mapping(tokens, "cache")
        read, written = integer(cache, "read") or 0, integer(cache, "write") or 0
        # `input` is without what the cache gave, `output` without what was thought.
        self._totals["input_tokens"] += (integer(tokens, "input") or 0) + read + written
        self._totals["cached_tokens"] += read
        self._totals["output_tokens"] += integer(tokens, "output") or 0
        self._totals["output_tokens"] += integer(tokens, "reasoning") or 0
        self._cost += number(part, "cost") or 0.0
        # 0 is what it says of a model whose price it does not know, too.
        return build.usage(**self._totals, cost_usd=self._cost or None)

    def _tool(self, part: Object) -> list[AgentEvent]:
        id, name = string(part, "callID"), string(part, "tool")
        state = mapping(part, "state")
        document, status = mapping(state, "input"), string(state, "status")
        if self._tools.over(id) or status == "pending":
            return []
        missing = _UNAVAILABLE.match(string(document, "error")) if name == "invalid" else None
        name = missing[1] if missing else name
        verb = _VERBS.get(name, name)
        about = name if missing else summary(verb, document, _TARGETS, self._root)
        events = self._tools.call(id, name, about)
        if status in ("completed", "error"):
            refused = missing is not None and name in _OWN
            events += self._answer(id, name, state, missing is not None, refused)
        return events

    def _answer(
        self, id: str, name: str, state: Object, missing: bool, refused: bool
    ) -> list[AgentEvent]:
        self._acted = True
        error = string(state, "error")
        denied = refused or bool(_REFUSED.match(error))
        code = integer(mapping(state, "metadata"), "exit")
        ok = string(state, "status") == "completed" and not missing and code in (0, None)
        text = error or string(state, "output") or string(state, "title")
        return self._tools.answer(id, name, text, ok=ok, denied=denied)


def failure(error: Object, log: str = "") -> AgentEvent:
    """Which failure an error is. `log` is what it wrote to stderr: of a model that nobody knows
    the error itself says no more than "Unexpected server error"."""
    name, data = string(error, "name"), mapping(error, "data")
    message = string(data, "message") or name
    if name == "MessageAbortedError":
        return build.failed("Interrupted", "interrupted", "it was interrupted")
    if name == "ProviderAuthError":
        return build.failed("AuthMissing", "sign_in", message)
    if name == OVERFLOW:
        value = service_failure(f"maximum context: {message}").data["numbers"]
        numbers = value if isinstance(value, dict) else {}
        return build.failed("AgentFailed", "context_overflow", message, numbers)
    if name == "UnknownError":
        message = _logged(log) or message
        if message.startswith("ProviderNoProviders"):
            text = "no model was named, in the race or in its own settings"
            return build.failed("AgentFailed", "model", text)
    return service_failure(message, integer(data, "statusCode"))


def _logged(log: str) -> str:
    """The error that its log names last."""
    _, text, rest = log.rpartition(' error="')
    return rest.partition('"')[0] if text else ""

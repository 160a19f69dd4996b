"""OpenCode's message parts and errors, read as events: the same over `run` and over `serve`.

A part is one piece of a message: a step, a text, a thought, a tool. `opencode run --format json`
gives a tool once, when it has ended; the server gives it as it goes on. Seen in 1.18.33.
"""

from __future__ import annotations

import re

from hydra.adapters import event_builders as build
from hydra.adapters.failures import failure as service_failure
from hydra.adapters.json_stream import (
    Object,
    RecentIds,
    Tools,
    integer,
    mapping,
    number,
    string,
    summary,
)
from hydra.records.events import AgentEvent

_EDITS = frozenset({"edit", "write", "patch", "apply_patch", "multiedit"})
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


class Parts:
    """What one session has said so far. Sans-I/O, and bounded."""

    def __init__(self) -> None:
        self.root = ""
        self.text = ""
        """What was said last."""
        self.reason = ""
        """Why the last step ended; "" while one goes on, or before the first."""
        self.tools = Tools(_EDITS)
        self.overflowed = False
        self._acted = False
        """Whether a tool has ended since an overflow."""
        self._steps = RecentIds()
        self._ids = RecentIds()
        self._totals = {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
        self._cost = 0.0

    def take(self, part: Object) -> list[AgentEvent] | None:
        """One part as it now stands; None for a type that is not known."""
        kind = string(part, "type")
        if kind == "tool":
            return self._tool(part)
        if kind == "step-finish":
            return self._step(part)
        if kind in ("text", "reasoning"):
            return self._text_events(part, kind)
        if kind == "step-start":
            self.reason = ""
            return build.notice("turn")
        if kind in _NOTICES:
            return build.notice(kind)
        return None

    def _text_events(self, part: Object, kind: str) -> list[AgentEvent]:
        # Over the server a text comes again with each piece of it, its end only with the last.
        id, text = string(part, "id"), string(part, "text")
        if id in self._ids or not mapping(part, "time").get("end"):
            return []
        self._ids.add(id)
        if kind == "reasoning":
            return build.message(text, "thinking")
        self.text = text or self.text
        return build.message(text)

    def _step(self, part: Object) -> list[AgentEvent]:
        id = string(part, "id")
        if id in self._steps:
            return []
        self._steps.add(id)
        self.reason = string(part, "reason") or "unknown"
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
        if self.tools.over(id) or status == "pending":
            return []
        missing = _UNAVAILABLE.match(string(document, "error")) if name == "invalid" else None
        name = missing[1] if missing else name
        verb = _VERBS.get(name, name)
        about = name if missing else summary(verb, document, _TARGETS, self.root)
        events = self.tools.call(id, name, about)
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
        return self.tools.answer(id, name, text, ok=ok, denied=denied)

    def overflow(self) -> bool:
        """The conversation is too long: it sums up what was said and goes on. Says whether that
        overflows as well, with no tool used between: then it would do so for ever."""
        again = self.overflowed and not self._acted
        self.overflowed, self._acted = True, False
        return again


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

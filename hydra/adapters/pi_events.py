"""The events of pi and of its family (omp), read as Hydra's. Seen in pi 0.73.1 and omp 18.2.3.

One session's, whichever way they come: `--mode json` (`pi_stream.py`), or `--mode rpc`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, integer, mapping, number, objects, string
from hydra.adapters.pi_words import summary, text_of, without_places
from hydra.adapters.service_errors import failure, status_of
from hydra.adapters.stream import Recent, unknown
from hydra.adapters.tools import Tools
from hydra.events import AgentEvent

_EDITS = frozenset({"edit", "write", "notebook", "ast_edit"})
_NOT_OFFERED = re.compile(r"^Tool \S{1,80} not found")
_REFUSED = re.compile(
    r"^(?:Error: )?Tool (?:call )?(?:\S{1,80} )?(?:is |was )?"
    r"(?:denied|blocked|rejected|not allowed)"
    r"|requires? (?:user )?approval|denied by (?:user|policy|approval)",
    re.IGNORECASE,
)
_SILENT = frozenset(
    {
        "agent_start",
        "turn_end",
        "message_update",
        "tool_execution_update",
        "tool_stream_update",
        "agent_settled",
        "advisor_cost_changed",
        "advisor_yielded",
        "config_warnings_changed",
        "model_changed",
        "queue_update",
        "session_info_changed",
        "session_title_changed",
        "available_commands_update",
        "todo_auto_clear",
    }
)
"""Nothing that a person needs to see: what they bring comes again, whole, in another event."""

_NOTICES: Mapping[str, str] = {
    "turn_start": "turn",
    "compaction_start": "compaction",
    "compaction_end": "compaction",
    "auto_compaction_start": "compaction",
    "auto_compaction_end": "compaction",
    "auto_retry_end": "retry_end",
    "retry_fallback_applied": "fallback",
    "retry_fallback_succeeded": "fallback",
    "thinking_level_changed": "thinking_level",
    "ttsr_triggered": "rule",
    "todo_reminder": "todo",
    "goal_updated": "goal",
    "irc_message": "irc",
    "notice": "notice",
    "extension_error": "extension",
    "extension_ui_request": "extension",
}
"""Event types that become a notice, and what it is called."""


class PiEvents:
    """One session's events. `settled` says that the agent has nothing left to do."""

    def __init__(self) -> None:
        self.settled = False
        self._root = ""
        self._id = ""
        self._model = ""
        self._tools = Tools(_EDITS)
        self._told = Recent()
        self._turns = 0
        self._totals: dict[str, float] = {}
        self._last: Object | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "session": self._session,
            "message_start": self._started,
            "message_end": self._message,
            "tool_execution_start": self._call,
            "tool_execution_end": self._answer,
            "auto_retry_start": self._retry,
            "agent_end": lambda line: [],
        }

    def read(self, line: Object) -> list[AgentEvent]:
        """One event of the session."""
        kind = string(line, "type")
        self._settle(kind, line)
        if reader := self._readers.get(kind):
            return reader(line)
        if kind in _SILENT:
            return []
        if kind in _NOTICES:
            text = first(line, ("errorMessage", "finalError", "message", "error", "reason"))
            return [said.progress("notice", type=_NOTICES[kind], text=text)]
        return unknown(line)

    def ending(self) -> AgentEvent | None:
        """How the session ended, once it is settled; None before that."""
        if not self.settled or self._last is None:
            return None
        stop, text = string(self._last, "stopReason"), text_of(self._last)
        if stop == "error":
            told = string(self._last, "errorMessage") or text
            return failure(without_places(told), integer(self._last, "errorStatus"))
        if stop == "aborted":
            told = string(self._last, "errorMessage") or "it was aborted"
            return said.failed("Interrupted", "interrupted", told)
        if stop == "toolUse":
            told = "it stopped before the model had seen what its tools answered"
            return said.failed("AgentFailed", "agent_error", told)
        return said.completed(
            text,
            turns=self._turns,
            denials=self._tools.denials,
            failed_items=self._tools.failed_edits,
        )

    @property
    def asked(self) -> bool:
        """Whether a model has answered anything, be it with an error."""
        return self._last is not None

    def _settle(self, kind: str, line: Object) -> None:
        # An agent_end that a retry follows says so in newer builds; in others the retry tells it.
        if kind == "agent_end":
            more = line.get("willRetry") is True or line.get("isTerminal") is False
            self.settled = not more
        elif kind == "agent_settled":
            self.settled = True
        elif kind in ("agent_start", "auto_retry_start"):
            self.settled = False

    # the session and its messages

    def _session(self, line: Object) -> list[AgentEvent]:
        self._root, self._id = string(line, "cwd"), string(line, "id")
        return [said.session(session=self._id)]

    def _started(self, line: Object) -> list[AgentEvent]:
        """The first answer names the model; the session's own header does not."""
        message = mapping(line, "message")
        names = [name for key in ("provider", "model") if (name := string(message, key))]
        model = "/".join(names)
        if string(message, "role") != "assistant" or not model or model == self._model:
            return []
        self._model = model
        return [said.session(session=self._id, model=model)]

    def _message(self, line: Object) -> list[AgentEvent]:
        message = mapping(line, "message")
        # An answer that was told already costs nothing again; a retry has another time.
        told = f"{string(message, 'responseId')[:100]} {number(message, 'timestamp')}"
        if string(message, "role") != "assistant" or told in self._told:
            return []
        if told != " None":
            self._told.add(told)
        self._last = message
        self._turns += 1
        events: list[AgentEvent] = []
        for block in objects(message, "content"):
            kind = string(block, "type")
            if kind == "thinking":
                events += said.message(string(block, "thinking"), "thinking")
            elif kind == "text":
                events += said.message(string(block, "text"))
            elif kind == "image":
                events.append(said.progress("notice", type="image"))
        if string(message, "stopReason") == "length":
            text = "its answer ended at the model's limit for one answer"
            events.append(said.progress("notice", type="length", text=text))
        return [*events, *self._usage(mapping(message, "usage"))]

    def _usage(self, usage: Object) -> list[AgentEvent]:
        """Totals of this call: each message tells its own, and `input` has no cache in it."""
        read, written = integer(usage, "cacheRead") or 0, integer(usage, "cacheWrite") or 0
        held, out = integer(usage, "input"), integer(usage, "output")
        if held is None or out is None or not held + read + written + out:
            return []
        cost = number(mapping(usage, "cost"), "total")
        told = {
            "input_tokens": held + read + written,
            "output_tokens": out,
            "cached_tokens": read,
            # A model without a price costs 0 here, which is not known to be so.
            **({"cost_usd": cost} if cost else {}),
        }
        for name, value in told.items():
            self._totals[name] = self._totals.get(name, 0) + value
        return said.usage(**self._totals)

    # tools, retries

    def _call(self, line: Object) -> list[AgentEvent]:
        id, name = string(line, "toolCallId"), string(line, "toolName") or "tool"
        return self._tools.call(id, name, summary(name, mapping(line, "args"), self._root))

    def _answer(self, line: Object) -> list[AgentEvent]:
        id, name = string(line, "toolCallId"), string(line, "toolName") or "tool"
        ok, text = line.get("isError") is not True, text_of(mapping(line, "result"))
        denied = not ok and bool(_NOT_OFFERED.match(text) or _REFUSED.search(text[:300]))
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _retry(self, line: Object) -> list[AgentEvent]:
        text, delay = string(line, "errorMessage"), number(line, "delayMs")
        return [
            said.progress(
                "retry",
                attempt=integer(line, "attempt"),
                of=integer(line, "maxAttempts"),
                status=status_of(text),
                retry_after=None if delay is None else delay / 1000,
                text=text,
            )
        ]

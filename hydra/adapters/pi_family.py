"""What pi and omp share: the providers whose keys they take, how a model is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.contract import names
from hydra.adapters.failures import failure, status_of
from hydra.adapters.json_fields import Object, first, integer, mapping, number, objects, string
from hydra.adapters.json_stream import JsonStream, RecentIds, Tools, stderr_of, unknown
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

KEYS = names(
    "ANTHROPIC_API_KEY ANTHROPIC_OAUTH_TOKEN OPENAI_API_KEY AZURE_OPENAI_API_KEY GEMINI_API_KEY"
    " GROQ_API_KEY CEREBRAS_API_KEY XAI_API_KEY OPENROUTER_API_KEY AI_GATEWAY_API_KEY ZAI_API_KEY"
    " MISTRAL_API_KEY MINIMAX_API_KEY OPENCODE_API_KEY COPILOT_GITHUB_TOKEN"
)
"""The providers' keys that both name in their help."""

AZURE = names(
    "AZURE_OPENAI_BASE_URL AZURE_OPENAI_RESOURCE_NAME AZURE_OPENAI_API_VERSION"
    " AZURE_OPENAI_DEPLOYMENT_NAME_MAP"
)
CLOUD_SECRETS = ("AWS_BEARER_TOKEN_BEDROCK", "GOOGLE_CLOUD_API_KEY")

# A cloud's keys open far more than a model: only for who has named what they reach it by.
CLOUDS: Mapping[str, tuple[str, ...]] = {
    "AWS_BEARER_TOKEN_BEDROCK": ("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"),
    "GOOGLE_CLOUD_API_KEY": (
        "GOOGLE_CLOUD_API_KEY",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
    ),
}


def split_model(model: str) -> tuple[str, str]:
    """`provider/id` as its two parts, at the first slash; no provider where none is named."""
    provider, slash, name = model.partition("/")
    return (provider, name) if slash and provider and name else ("", model)


# ---- `--mode json` of pi and omp: one event a line on stdout. Seen in pi 0.73.1 and omp 18.2.3.


class PiStream(JsonStream):
    """One attempt's `--mode json`. The ending is held until the process has ended: a retry may
    follow what looks like one, and exit 0 tells nothing of a refused key."""

    def __init__(self) -> None:
        super().__init__()
        self._events = PiEvents()

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        before = self._events.settled
        events = self._events.read(line)
        return [*events, *self.closing()] if self._events.settled and not before else events

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """As the session ended; where no model was asked at all, stderr says why."""
        ending = self._events.ending()
        if ending is not None:
            return [ending]
        stderr = stderr_of(files).strip()
        if self._events.has_prompted or not exit.code or exit.code > 127 or not stderr:
            return []
        event = failure(stderr)
        return [event] if self.understood and event.data["reason"] != "agent_error" else []


# ---- What a tool of pi's or omp's is about, and what a message or its answer says: one line each.

_TARGETS = ("path", "file_path", "pattern", "query", "url", "name", "description")
_HEADER = re.compile(r"\[?([^\]#\n]{1,300})")


def summary(name: str, document: Object, root: str) -> str:
    """`$ pytest -q`, or the tool and what it works on."""
    if string(document, "command"):
        return build.command(string(document, "command"))
    target = first(document, _TARGETS)
    if not target and string(document, "input"):
        # omp's edits name the file in the first line of a patch: [README.md#AD98].
        match = _HEADER.match(string(document, "input"))
        target = match[1] if match else ""
    verb = name[:1].upper() + name[1:]
    return f"{verb} {build.path(target, root)}" if target else verb


def text_of(holder: Object) -> str:
    """The text of a message or of a tool's result."""
    blocks = objects(holder, "content")
    texts = [string(block, "text") for block in blocks if string(block, "type") == "text"]
    return "\n".join(text for text in texts if text)


def without_places(text: str) -> str:
    """A message without the name of the dump that omp writes beside it."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("raw-http-request="))


# ---- The events of pi and of its family (omp), read as Hydra's. Seen in pi 0.73.1 and omp 18.2.3.

_EDITS = frozenset({"edit", "write", "notebook", "ast_edit"})
_NOT_OFFERED = re.compile(r"^Tool \S{1,80} not found")
_REFUSED = re.compile(
    r"^(?:Error: )?Tool (?:call )?(?:\S{1,80} )?(?:is |was )?"
    r"(?:denied|blocked|rejected|not allowed)"
    r"|requires? (?:user )?approval|denied by (?:user|policy|approval)",
    re.IGNORECASE,
)
_SILENT = names(
    "agent_start turn_end message_update tool_execution_update tool_stream_update"
    " agent_settled advisor_cost_changed advisor_yielded config_warnings_changed model_changed"
    " queue_update session_info_changed session_title_changed available_commands_update"
    " todo_auto_clear"
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
        self._ids = RecentIds()
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
            return build.notice(_NOTICES[kind], text)
        return unknown(line)

    def ending(self) -> AgentEvent | None:
        """How the session ended, once it is settled; None before that."""
        if not self.settled or self._last is None:
            return None
        stop, text = string(self._last, "stopReason"), text_of(self._last)
        if stop == "error":
            line = string(self._last, "errorMessage") or text
            return failure(without_places(line), integer(self._last, "errorStatus"))
        if stop == "aborted":
            line = string(self._last, "errorMessage") or "it was aborted"
            return build.failed("Interrupted", "interrupted", line)
        if stop == "toolUse":
            line = "it stopped before the model had seen what its tools answered"
            return build.failed("AgentFailed", "agent_error", line)
        return build.completed(
            text,
            turns=self._turns,
            denials=self._tools.denials,
            failed_items=self._tools.failed_edits,
        )

    @property
    def has_prompted(self) -> bool:
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
        return [build.session(session=self._id)]

    def _started(self, line: Object) -> list[AgentEvent]:
        """The first answer names the model; the session's own header does not."""
        message = mapping(line, "message")
        names = [name for key in ("provider", "model") if (name := string(message, key))]
        model = "/".join(names)
        if string(message, "role") != "assistant" or not model or model == self._model:
            return []
        self._model = model
        return [build.session(session=self._id, model=model)]

    def _message(self, line: Object) -> list[AgentEvent]:
        message = mapping(line, "message")
        # An answer that was told already costs nothing again; a retry has another time.
        value = f"{string(message, 'responseId')[:100]} {number(message, 'timestamp')}"
        if string(message, "role") != "assistant" or value in self._ids:
            return []
        if value != " None":
            self._ids.add(value)
        self._last = message
        self._turns += 1
        events: list[AgentEvent] = []
        for block in objects(message, "content"):
            kind = string(block, "type")
            if kind == "thinking":
                events += build.message(string(block, "thinking"), "thinking")
            elif kind == "text":
                events += build.message(string(block, "text"))
            elif kind == "image":
                events.append(build.progress("notice", type="image"))
        if string(message, "stopReason") == "length":
            text = "its answer ended at the model's limit for one answer"
            events.append(build.progress("notice", type="length", text=text))
        return [*events, *self._usage(mapping(message, "usage"))]

    def _usage(self, usage: Object) -> list[AgentEvent]:
        """Totals of this call: each message tells its own, and `input` has no cache in it."""
        read, written = integer(usage, "cacheRead") or 0, integer(usage, "cacheWrite") or 0
        count, out = integer(usage, "input"), integer(usage, "output")
        if count is None or out is None or not count + read + written + out:
            return []
        cost = number(mapping(usage, "cost"), "total")
        values = {
            "input_tokens": count + read + written,
            "output_tokens": out,
            "cached_tokens": read,
            # A model without a price costs 0 here, which is not known to be so.
            **({"cost_usd": cost} if cost else {}),
        }
        for name, value in values.items():
            self._totals[name] = self._totals.get(name, 0) + value
        return build.usage(**self._totals)

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
            build.progress(
                "retry",
                attempt=integer(line, "attempt"),
                of=integer(line, "maxAttempts"),
                status=status_of(text),
                retry_after=None if delay is None else delay / 1000,
                text=text,
            )
        ]

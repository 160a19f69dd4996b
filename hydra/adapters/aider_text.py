"""Aider's plain text, with its own record of events beside it. What the model says stands among
what aider says, unmarked: a model that writes `Applied edit to x` is believed here, and told
apart by the patch alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said, service_errors
from hydra.adapters.aider_line import EVENTS_FILE
from hydra.adapters.jsonlines import Malformed, Object, decode, integer, mapping, number, string
from hydra.adapters.stream import JsonStream
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_HELD = 64 * 1024
"""Characters of one message, and of an answer that is told at the end."""

_LINE = 4200
"""Characters of a line that may be one of aider's own."""

_RULES = ("-" * 14, "-" * 12)
_REASONS: Mapping[str, tuple[str, str]] = {
    "AuthenticationError": ("AuthMissing", "sign_in"),
    "PermissionDeniedError": ("AuthMissing", "sign_in"),
    "RateLimitError": ("AgentFailed", "rate_limit"),
    "RouterRateLimitError": ("AgentFailed", "rate_limit"),
    "NotFoundError": ("AgentFailed", "model"),
    "ContextWindowExceededError": ("AgentFailed", "context_overflow"),
    "BudgetExceededError": ("AgentFailed", "budget"),
    "APIConnectionError": ("AgentFailed", "network"),
    "Timeout": ("AgentFailed", "network"),
    "ServiceUnavailableError": ("AgentFailed", "overloaded"),
    "BadGatewayError": ("AgentFailed", "overloaded"),
}
"""What litellm's classes come to; any other is told by its words."""

_FORBIDDEN = re.compile(r"not allowed|forbidden|permission denied", re.IGNORECASE)
"""A 403, in a service's own words: litellm has no class for it."""

_DONE = "Completed --message-file"


class AiderText(JsonStream):
    """One attempt's output: known lines are events, what stands between them is said."""

    label = "Aider"

    def __init__(self) -> None:
        super().__init__()
        self._readers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Events]], ...] = (
            (re.compile(r"Aider v(\S{1,40})"), self._version),
            (re.compile(r"(?:Main m|M)odel: (\S{1,200}) with (\S+) edit format.*"), self._session),
            (re.compile(r"(Detected) dumb terminal.*"), self._notice),
            (re.compile(r"(Git repo|Repo-map|Weak model|Editor model): .*"), self._notice),
            (re.compile(r"(Added) .{1,4000} to the chat.*"), self._notice),
            (re.compile(r"► \*\*(THINKING|ANSWER)\*\*"), self._turned),
            (re.compile(r"Tokens: (\S+) sent, (?:.* )?(\S+) received\.(?: Cost.*)?"), self._tokens),
            (re.compile(r"Applied edit to (.{1,4000})"), self._applied),
            (re.compile(r"Did not apply edit to (.{1,4000}) \(--dry-run\)"), self._not_applied),
            (re.compile(r"(The LLM did not conform to the edit format\.)"), self._not_applied),
            (re.compile(r"Retrying in ([\d.]{1,10}) seconds\.\.\."), self._retry),
            (re.compile(r"litellm\.([A-Za-z]{1,60}): (.*)"), self._problem),
            (re.compile(r"(Model) (\S{1,200} has hit a token limit!)"), self._problem),
            (re.compile(r"(Empty response) (received from LLM.*)"), self._problem),
            (re.compile(r"(No LLM model) (was specified and no API keys.*)"), self._problem),
            (re.compile(r"(\^C)(?: again to exit|KeyboardInterrupt)"), self._notice),
            (re.compile(r"(HTTPSConnectionPool)\(host='raw\.github.*"), self._notice),
        )
        self._seen_version = self._model = ""
        self._thinking = False
        self._lines: list[str] = []
        self._size = 0
        self._said = self._answer = ""
        self._edits = self._unapplied = 0
        self._denials: list[str] = []
        self._wrong: tuple[str, str] | None = None
        self._reported = False

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line of text. Never raises."""
        text = line.decode("utf-8", "replace").strip("\x00\r\n")
        plain = text.strip()
        if not plain or plain in _RULES:
            return []
        self.understood += 1
        for pattern, reader in self._readers if len(plain) < _LINE else ():
            match = pattern.fullmatch(plain)
            if match:
                return [*self._paragraph(), *reader(match)]
        self._lines.append(text)
        self._size += len(text) + 1
        return self._paragraph() if self._size > _HELD else []

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The last paragraph, its exact figures, and how it ended."""
        events = self._paragraph()
        told = _Told(files.get(EVENTS_FILE, b""))
        events += said.usage(
            input_tokens=told.sent, output_tokens=told.received, cost_usd=told.cost
        )
        if self._wrong is not None:
            return [*events, _failure(*self._wrong)]
        if self._reported and (not told.any or told.reason == _DONE):
            left = 0 if self._edits else self._unapplied
            return [
                *events,
                said.completed(self._answer, denials=self._denials, failed_items=left),
            ]
        return events

    def _paragraph(self) -> list[AgentEvent]:
        """What was said since the last known line, as one message."""
        text, self._lines, self._size = "\n".join(self._lines), [], 0
        if text and not self._thinking:
            self._said = text
        return said.message(text, "thinking" if self._thinking else "")

    def _version(self, match: re.Match[str]) -> _Events:
        self._seen_version = match[1]
        return []

    def _session(self, match: re.Match[str]) -> _Events:
        if self._model:
            return said.message(match[0])
        self._model = match[1]
        return [said.session(model=match[1], version=self._seen_version)]

    def _notice(self, match: re.Match[str]) -> _Events:
        return [said.progress("notice", type=match[1].lower(), text=match[0])]

    def _turned(self, match: re.Match[str]) -> _Events:
        self._thinking = match[1] == "THINKING"
        return []

    def _tokens(self, match: re.Match[str]) -> _Events:
        self._reported, self._wrong, self._thinking = True, None, False
        self._answer = self._said
        return said.usage(input_tokens=_count(match[1]), output_tokens=_count(match[2]))

    def _applied(self, match: re.Match[str]) -> _Events:
        self._edits += 1
        id = f"edit-{self._edits}"
        call = said.tool_call(id, "edit", f"Edit {match[1]}")
        return [call, said.tool_result(id, True, match[1])]

    def _not_applied(self, match: re.Match[str]) -> _Events:
        self._unapplied += 1
        id, dry = f"unapplied-{self._unapplied}", match[0].endswith("(--dry-run)")
        if dry and len(self._denials) < 100:
            self._denials.append(f"Edit {match[1]}")
        call = said.tool_call(id, "edit", f"Edit {match[1]}" if dry else "Edit")
        return [call, said.tool_result(id, False, match[0], denied=dry)]

    def _retry(self, match: re.Match[str]) -> _Events:
        text = self._wrong[1] if self._wrong else ""
        self._wrong = None
        return [said.progress("retry", seconds=float(_number(match[1])), text=text)]

    def _problem(self, match: re.Match[str]) -> _Events:
        self._wrong = (match[1], match[0].removeprefix("litellm."))
        return [said.progress("notice", type="error", text=match[0])]


_Events = list[AgentEvent]


class _Told:
    """What its own record of events says: exact figures of every message, and why it ended."""

    def __init__(self, data: bytes) -> None:
        self.sent: int | None = None
        self.received: int | None = None
        self.cost: float | None = None
        self.reason = ""
        self.any = False
        for line in data.splitlines():
            try:
                event = decode(line)
            except Malformed:
                continue
            if event is not None:
                self._take(event)

    def _take(self, event: Object) -> None:
        self.any = True
        what = mapping(event, "properties")
        if string(event, "event") == "exit":
            self.reason = string(what, "reason")
        if string(event, "event") != "message_send":
            return
        self.reason = ""
        self.sent = (self.sent or 0) + (integer(what, "prompt_tokens") or 0)
        self.received = (self.received or 0) + (integer(what, "completion_tokens") or 0)
        # 0 is what it says of a model whose price it does not know.
        self.cost = number(what, "total_cost") or self.cost


def _failure(name: str, text: str) -> AgentEvent:
    if name == "Model":
        return said.failed("AgentFailed", "context_overflow", text)
    if name == "No LLM model":
        return said.failed("AuthMissing", "sign_in", text)
    if name == "InternalServerError" and "Connection error" in text:
        return said.failed("AgentFailed", "network", text)
    if name == "APIError" and _FORBIDDEN.search(text):
        return said.failed("AuthMissing", "sign_in", text)
    known = _REASONS.get(name)
    return said.failed(*known, text) if known else service_errors.failure(text)


def _count(text: str) -> int | None:
    """`780`, `4.8k` or `12k`: rounded, as aider says it."""
    thousands = text.endswith("k")
    value = _number(text.removesuffix("k"))
    return int(value * 1000) if thousands else int(value)


def _number(text: str) -> float:
    try:
        value = float(text[:12])
    except ValueError:
        return 0.0
    return value if 0 <= value < 1e12 else 0.0

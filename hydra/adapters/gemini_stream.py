"""Gemini CLI's `stream-json`, read as events, and which failure it was. Seen in 0.61.0."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, integer, mapping, string
from hydra.adapters.stream import JsonStream, unknown
from hydra.adapters.tools import Tools
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_EDITS = frozenset({"write_file", "replace"})
_VERBS = {"write_file": "Write", "replace": "Edit", "read_file": "Read"}
_TARGETS = ("file_path", "absolute_path", "dir_path", "path", "pattern", "query", "prompt", "name")
_MODES = frozenset({"run_shell_command", "write_file", "replace", "web_fetch"})
"""Tools that it does not offer at all where its approval mode does not allow them."""

_REFUSED = ("Access denied: plan path", "Path not in workspace:")
_CODE = re.compile(r'"code": ?(\d{3})\b')
_TOKENS = re.compile(r"count \((?P<tokens>\d{1,15})\) exceeds [a-z ]{1,50}\((?P<limit>\d{1,15})\)")
_STATUS = {401: "sign_in", 403: "sign_in", 404: "model", 429: "rate_limit"}
_WORDS = (
    (
        "sign_in",
        re.compile(
            r"API.key.not.valid|API_KEY_INVALID|UNAUTHENTICATED",
            re.I,
        ),
    ),
    (
        "context_overflow",
        re.compile(r"exceeds the maximum number of tokens", re.I),
    ),
    ("quota", re.compile(r"exhausted your (?:daily )?(?:quota|capacity)", re.I)),
    ("rate_limit", re.compile(r"RESOURCE_EXHAUSTED|rate limit|current quota", re.I)),
    ("model", re.compile(r"model is not found|model[^\n]{0,200} (?:not found|not exist)", re.I)),
    ("overloaded", re.compile(r"overloaded|internal error|UNAVAILABLE|high demand", re.I)),
    ("network", re.compile(r"fetch failed|ECONN|ENOTFOUND|socket hang up|terminated", re.I)),
    ("max_turns", re.compile(r"max(?:imum)? session turns", re.I)),
)
_TYPES = {"FatalTurnLimitedError": "max_turns", "FatalAuthenticationError": "sign_in"}
_NO_SIGN_IN = re.compile(
    r"^.*(?:set an Auth method|Invalid auth method|GEMINI_API_KEY environment|authenticat).*$",
    re.I | re.M,
)
_LONGEST = 20_000
"""Characters of an error's text in which its reason is looked for."""


class GeminiStream(JsonStream):
    """One attempt's stream. A message comes in pieces and is told whole, once something else
    comes; the `result` is held until the process has ended."""

    label = "Gemini CLI"

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []
        self._held = 0
        self._last = ""
        self._tools = Tools(_EDITS)
        self._error = ""
        self._result: Object | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "init": self._init,
            "tool_use": self._call,
            "tool_result": self._answer,
            "error": self._notice,
            "result": self._end,
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind = string(line, "type")
        if kind == "message":
            return self._message(line)
        reader = self._readers.get(kind)
        return [*self._whole(), *reader(line)] if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The `result` as the ending; without one, what it said of its sign-in on stderr."""
        events = self._whole()
        if self._result is None:
            return [*events, *self._not_signed_in(files)]
        error = mapping(self._result, "error")
        if string(self._result, "status") != "success" or self._error:
            told = string(error, "message") or self._error
            return [*events, failure(told, string(error, "type"))]
        denials = [name for name in self._tools.denials if name]
        done = said.completed(self._last, denials=denials, failed_items=self._tools.failed_edits)
        return [*events, done]

    def _init(self, line: Object) -> list[AgentEvent]:
        return [said.session(session=string(line, "session_id"), model=string(line, "model"))]

    def _message(self, line: Object) -> list[AgentEvent]:
        if string(line, "role") != "assistant":
            return [*self._whole(), said.progress("notice", type="message/user")]
        before = [] if line.get("delta") is True else self._whole()
        text = string(line, "content")
        if self._held < said.WHOLE:
            self._pieces.append(text)
            self._held += len(text)
        return before

    def _whole(self) -> list[AgentEvent]:
        """The message whose pieces have come so far."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if text.strip():
            self._last = text
        return said.message(text)

    def _call(self, line: Object) -> list[AgentEvent]:
        id, name = string(line, "tool_id"), string(line, "tool_name")
        return self._tools.call(id, name, _summary(name, mapping(line, "parameters")))

    def _answer(self, line: Object) -> list[AgentEvent]:
        id, error = string(line, "tool_id"), mapping(line, "error")
        name = self._tools.name(id)
        ok = string(line, "status") == "success" and not error
        text = string(line, "output") or string(error, "message")
        denied = not ok and _is_denial(name, string(error, "type"), text)
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _notice(self, line: Object) -> list[AgentEvent]:
        text = string(line, "message")
        if string(line, "severity") == "error":
            self._error = text[:_LONGEST] or "no reason was given"
        return [said.progress("notice", type="error", text=text)]

    def _end(self, line: Object) -> list[AgentEvent]:
        self._result = line
        return said.usage(**_usage(mapping(line, "stats")))

    def _not_signed_in(self, files: Mapping[str, bytes]) -> list[AgentEvent]:
        if self.understood:
            return []
        match = _NO_SIGN_IN.search(files.get("stderr", b"").decode("utf-8", "replace"))
        return [said.failed("AuthMissing", "sign_in", match[0])] if match else []


def _summary(name: str, given: Object) -> str:
    if string(given, "command"):
        return said.command(string(given, "command"))
    target = first(given, _TARGETS)
    return f"{_VERBS.get(name, name)} {said.path(target, '')}" if target else name


def _is_denial(name: str, kind: str, text: str) -> bool:
    if kind in ("policy_violation", "path_not_in_workspace"):
        return True
    absent = kind == "tool_not_registered" and name in _MODES
    return absent or text.startswith(_REFUSED)


def _usage(stats: Object) -> dict[str, float | None]:
    """Cache reads are in `input_tokens`; thinking is in `total_tokens` alone."""
    held, out = integer(stats, "input_tokens"), integer(stats, "output_tokens")
    total = integer(stats, "total_tokens")
    if held is not None and out is not None and total is not None:
        out = max(out, total - held)
    return {"input_tokens": held, "output_tokens": out, "cached_tokens": integer(stats, "cached")}


def failure(text: str, kind: str = "") -> AgentEvent:
    """Which failure it was: by the type of the error, its HTTP status, then its words."""
    text = text[:_LONGEST]
    if kind == "FatalCancellationError":
        return said.failed("Interrupted", "interrupted", "it was interrupted")
    found = _CODE.search(text)
    status = int(found[1]) if found else 0
    by_word = next((reason for reason, words in _WORDS if words.search(text)), "")
    # A wrong key is a 400, and so is a conversation that is too long; a spent quota is a 429.
    reason = _TYPES.get(kind) or (by_word if by_word == "quota" else _STATUS.get(status)) or by_word
    if not reason:
        reason = "overloaded" if status >= 500 else "agent_error"
    numbers: dict[str, float] = {"status": status} if status else {}
    if tokens := _TOKENS.search(text):
        numbers |= {name: float(told) for name, told in tokens.groupdict().items()}
    error = "AuthMissing" if reason == "sign_in" else "AgentFailed"
    return said.failed(error, reason, _plain(text), numbers)


def _plain(text: str) -> str:
    """The service's own sentence out of `[API Error: {"error": {... "message": "..."}}]`."""
    inner = re.search(r'"message": ?"((?:[^"\\]|\\.){1,2000})"', text)
    return inner[1] if inner else text

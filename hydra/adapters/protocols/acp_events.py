"""Tool calls of the Agent Client Protocol as events: each told once, and answered once.

A call grows over several updates: often its first one names no more than a kind, and what it is
about (a path, a command) comes with the next. It is told once that is known.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from hydra.adapters import event_builders as build
from hydra.adapters import failures
from hydra.adapters.contract import Act, Write
from hydra.adapters.json_fields import Object, first, integer, mapping, number, objects, string
from hydra.adapters.json_stream import RecentIds, Tools
from hydra.adapters.protocols import acp_session
from hydra.adapters.protocols.acp_session import CHANGING, PATHS, AcpDialect, Offers, paths, short
from hydra.records.events import AgentEvent
from hydra.records.request import Permission

_OPEN = 1000
"""Calls that are held while they are open."""
_TEXT = 2000
_VERBS = {"edit": "Edit", "delete": "Delete", "move": "Move", "read": "Read"}
_COMMANDS = ("command", "cmd", "script")
_NAMED = (*PATHS, "pattern", "query", "url", "prompt", "description")
_TITLED = re.compile(r"^(?:\$|terminal:|Terminal:) +")
_REFUSED = re.compile(
    r"plan mode|rejected by user|user (?:rejected|refused)|permission (?:denied|to use)|was blocked"
    r"|cancell?ed by the user|prevents you from using|access denied: plan|not allowed in this mode",
    re.IGNORECASE,
)
"""What a failed call says that the agent's own rules, or Hydra's answer, have refused."""
_ABSENT = re.compile(r"tried to call unavailable tool")
"""What opencode tells as completed: its rules have taken the tool away."""


@dataclass(slots=True)
class _Call:
    """What is known of a call so far."""

    name: str = ""
    kind: str = ""
    title: str = ""
    target: str = ""
    path: str = ""
    announced: bool = False


class SessionTools(Tools):
    """The calls of one session. `root` is the worktree, to shorten paths with."""

    def __init__(self, root: str = "") -> None:
        super().__init__(())
        self.root = root
        self._open: OrderedDict[str, _Call] = OrderedDict()

    def update(self, line: Object) -> list[AgentEvent]:
        """A `tool_call` or a `tool_call_update`."""
        id = string(line, "toolCallId")[: RecentIds.LONGEST]
        if not id or self.over(id):
            return []
        call = self._merged(id, line)
        waits = string(line, "status") == "pending" and "rawInput" in line and not call.target
        events = [] if waits else self._tell(id, call)
        over = string(line, "status") in ("completed", "failed")
        return [*events, *self._close(id, line)] if over else events

    def on_permission(self, line: Object) -> tuple[str, str, list[AgentEvent]]:
        """A call that waits for a permission: its id, its kind, and the event that tells it.

        Hermes gives the question an id of its own: it belongs to the open call on the same path.
        """
        id = string(line, "toolCallId")[: RecentIds.LONGEST] or "?"
        kind, named = string(line, "kind"), next(iter(paths(line)), "")
        if id not in self._open and named:
            for other, call in self._open.items():
                if call.path == named and call.kind == kind:
                    return other, kind, self._tell(other, call)
        if self.over(id):
            return id, kind, []
        call = self._merged(id, line)
        return id, call.kind, self._tell(id, call)

    def deny(self, id: str) -> list[AgentEvent]:
        """Hydra's answer was no: some agents say nothing more of such a call."""
        call = self._open.pop(id, None)
        if call is None:
            return []
        return self.answer(id, _called(call), "Hydra did not allow it", ok=False, denied=True)

    def settle(self) -> list[AgentEvent]:
        """The agent goes on, or is done: what it has not told the end of is over."""
        events = []
        for id, call in self._open.items():
            ended = self.answer(id, "", "", ok=True)
            events += ended if call.announced else []
        self._open.clear()
        return events

    def _merged(self, id: str, line: Object) -> _Call:
        call = self._open.setdefault(id, _Call())
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        call.kind = string(line, "kind")[:40] or call.kind
        call.name = _name(line) or call.name
        call.title = string(line, "title")[:_TEXT] or call.title
        call.path = next(iter(paths(line)), "")[:_TEXT] or call.path
        call.target = _target(line, call.kind)[:_TEXT] or call.target
        return call

    def _tell(self, id: str, call: _Call) -> list[AgentEvent]:
        if call.announced:
            return []
        call.announced = True
        return [build.tool_call(id, _called(call), self._summary(call))]

    def _summary(self, call: _Call) -> str:
        if call.kind == "execute":
            return build.command(call.target or _TITLED.sub("", call.title))
        if call.kind in _VERBS and call.path:
            return f"{_VERBS[call.kind]} {build.path(call.path, self.root)}"
        return call.title or call.name or call.kind

    def _close(self, id: str, line: Object) -> list[AgentEvent]:
        call = self._open.pop(id)
        text, failed = _answer(line), string(line, "status") == "failed"
        absent = _ABSENT.search(text[:_TEXT])
        denied = bool(absent or (failed and _REFUSED.search(text[:_TEXT])))
        ok = not failed and not absent and _exit_code(line) in (0, None)
        self.failed_edits += call.kind in CHANGING and not ok and not denied
        return self.answer(id, _called(call), text, ok=ok, denied=denied)


def _called(call: _Call) -> str:
    return call.name or call.kind or "tool"


def _name(line: Object) -> str:
    """The tool's own name: beside the kind, where agents put it."""
    meta = mapping(line, "_meta")
    named = string(line, "name") or string(meta, "toolName")
    return (named or string(mapping(meta, "claudeCode"), "toolName"))[:80]


def _target(line: Object, kind: str) -> str:
    """What the call is about; "" where this update does not say it."""
    raw = mapping(line, "rawInput")
    if kind == "execute":
        text = next((text for text in _texts(line) if text.startswith("$ ")), "")
        return first(raw, _COMMANDS) or text.removeprefix("$ ")
    return first(raw, _NAMED) or next(iter(paths(line)), "")


def _texts(line: Object) -> list[str]:
    return [
        text
        for block in objects(line, "content")
        if (text := string(mapping(block, "content"), "text"))
    ]


def _answer(line: Object) -> str:
    """What came of it, in words."""
    texts = [text for text in _texts(line) if not text.startswith("$ ")]
    if texts:
        return texts[-1].removeprefix("```\n")
    out = line.get("rawOutput")
    if isinstance(out, str):
        return out
    return first(mapping(line, "rawOutput"), ("output", "message", "content", "error"))


def _exit_code(line: Object) -> int | None:
    """A command's, where it is told: every agent has another place for it."""
    out, meta = mapping(line, "rawOutput"), mapping(line, "_meta")
    for holder, key in (
        (out, "exit_code"),
        (mapping(out, "metadata"), "exit"),
        (mapping(out, "details"), "exitCode"),
        (mapping(meta, "terminal_exit"), "exit_code"),
        *((part, "exitCode") for part in objects(out, "contents")[:1]),
    ):
        if (code := integer(holder, key)) is not None:
            return code
    return None


# ---- How a prompt of the Agent Client Protocol ended: its stop reason, or the error in its place.

AUTH_REQUIRED = -32000
_HTTP = range(400, 600)
_HTTP_STATUS = re.compile(r"\bHTTP ([45]\d\d)\b")

_STOPS = {
    "max_tokens": ("AgentFailed", "max_tokens", "the model's answer was cut at its longest"),
    "max_turn_requests": ("AgentFailed", "max_turns", "it made as many requests as it may"),
    "refusal": ("AgentFailed", "refusal", "the model refused to go on"),
    "cancelled": ("Interrupted", "cancelled", "it was cancelled"),
}


def stopped(reason: str) -> AgentEvent:
    """The failure that a stop reason other than `end_turn` means."""
    kind, term, text = _STOPS.get(
        reason, ("AgentFailed", "agent_error", f"it stopped for a reason nobody knows: {reason!r}")
    )
    return build.failed(kind, term, text)


def failure(code: int, message: str) -> AgentEvent:
    """An error in the place of an answer. Its code may be an HTTP status (Gemini)."""
    if code == AUTH_REQUIRED:
        return build.failed("AuthMissing", "sign_in", message or "it wants a sign-in")
    # `Internal error: ...` is JSON-RPC's own word, and hides a status that follows.
    text = message.removeprefix("Internal error").lstrip(": ") or message
    named = _HTTP_STATUS.search(text[:1000])
    status = int(named[1]) if named else None
    return failures.failure(text, code if code in _HTTP else status)


def no_sign_in(documents: Iterable[Object], said_no: str) -> AgentEvent:
    """It wants a sign-in, and none of those it offers can be done without a person."""
    names = ", ".join(string(row, "name") or string(row, "id") for row in documents)
    text = f"it wants a sign-in, and has {names or 'no way that it names'}"
    return build.failed("AuthMissing", "sign_in", f"{text} ({said_no})" if said_no else text)


def methods(answer: Object) -> list[Object]:
    """The ways to sign in that `initialize` names."""
    return objects(answer, "authMethods")[:20]


# ---- What an agent says over the Agent Client Protocol, and what it used: chunks into messages,
# plans into lines, totals into Hydra's.

_PIECE = 4000
"""Characters of thinking after which it is told: it may go on for longer than the idle limit."""
_LONGEST = build.WHOLE
_ENTRIES = 200
_BOXES = {"completed": "[x]", "in_progress": "[>]"}
_NO_HEADING = re.compile(r"^\*{4}\n")
"""Gemini writes a heading of no words before each piece of thinking that has none."""


class Speech:
    """Chunks joined into messages: a chunk of another message, or of another kind, ends one."""

    def __init__(self) -> None:
        self.last = ""
        """The last message that was told whole."""
        self._kind = ""
        self._id = ""
        self._parts: list[str] = []
        self._length = 0

    def add(self, kind: str, id: str, text: str) -> list[AgentEvent]:
        """A chunk; `kind` is "" or "thinking"."""
        if kind:
            text = _NO_HEADING.sub("", text)
        if not text:
            return []
        new = self._parts and (kind != self._kind or (id and self._id and id != self._id))
        events = self.flush() if new else []
        self._kind, self._id = kind, id or self._id
        self._parts.append(text)
        self._length += len(text)
        full = self._length > (_PIECE if kind else _LONGEST)
        return [*events, *self.flush()] if full else events

    def flush(self) -> list[AgentEvent]:
        """What was said since, as one message."""
        text = "".join(self._parts).strip()
        kind = self._kind
        self._kind = self._id = ""
        self._parts, self._length = [], 0
        if kind:
            return build.message(text, kind)
        self.last = text or self.last
        return build.message(text)


def plan(update: Object) -> str:
    """A plan's entries, a line each."""
    return "\n".join(
        f"- {_BOXES.get(string(entry, 'status'), '[ ]')} {build.one_line(text)}"
        for entry in objects(update, "entries")[:_ENTRIES]
        if (text := string(entry, "content"))
    )


_LAST_STEP = ("OpenCode",)
"""Agents whose answer to the prompt tells what its last step used, and not the whole."""


@dataclass(slots=True)
class SessionUsage:
    """What a session used: told with each answer of the model (qwen), else in the answer to the
    prompt, there in its `_meta` where it is not in its place (gemini)."""

    input: int = 0
    output: int = 0
    cached: int = 0
    last: Object | None = None

    def chunk(self, update: Object) -> list[AgentEvent]:
        """Totals so far, where they come in pieces."""
        meta = mapping(update, "_meta")
        used = mapping(meta, "usage")
        if not used or meta == self.last:  # said once more
            return []
        self.last = meta
        totals = _totals(used)
        self.input += totals["input_tokens"] or 0
        self.output += totals["output_tokens"] or 0
        self.cached += totals["cached_tokens"] or 0
        return build.usage(
            input_tokens=self.input, output_tokens=self.output, cached_tokens=self.cached
        )

    def answer(self, result: Object) -> list[AgentEvent]:
        """Totals of the whole prompt."""
        if used := mapping(result, "usage"):
            return build.usage(**_totals(used))
        count = mapping(mapping(mapping(result, "_meta"), "quota"), "token_count")
        return build.usage(
            input_tokens=integer(count, "input_tokens"),
            output_tokens=integer(count, "output_tokens"),
        )

    def cost(self, update: Object) -> list[AgentEvent]:
        """Dollars so far, from a `usage_update`."""
        cost = mapping(update, "cost")
        amount = number(cost, "amount") if string(cost, "currency") == "USD" else None
        return build.usage(cost_usd=amount)


def _totals(usage: Object) -> dict[str, int | None]:
    """In Hydra's terms: what was read from a cache is part of the input.

    Agents differ in whether it is part of `inputTokens`: the sum tells.
    """
    count, out = integer(usage, "inputTokens"), integer(usage, "outputTokens")
    read, written = integer(usage, "cachedReadTokens"), integer(usage, "cachedWriteTokens") or 0
    total, aside = integer(usage, "totalTokens"), (read or 0) + written
    if count is not None and total is not None and total >= count + (out or 0) + aside:
        count += aside
    return {"input_tokens": count, "output_tokens": out, "cached_tokens": read}


# ---- One prompt of the Agent Client Protocol as it is worked on: the agent's updates as events.

_QUIET = ("config_option_update", "available_commands_update", "session_info_update")
_REASON = 4000
"""Characters that are kept of why a turn broke off."""
_TROUBLE = re.compile(
    r"^(?:[45]\d\d (?=[A-Z{])|HTTP [45]\d\d: |API call failed|Error: |Context length exceeded \("
    r"|E(?:CONN|PIPE|TIMEDOUT|NOTFOUND)[A-Z]*: )"
)
"""How a failure of the model's service begins that is told as a message, behind which the agent
says that it is done (copilot, hermes, omp)."""
_RETRY = re.compile(r"^Info: Request failed")
"""How a try is told that failed (copilot)."""
_NOTICE = re.compile(r"^(?:\[MODE_UPDATE\] |Info: (?:/|Operation cancelled))")
"""What else is told as a message and is none of the model's (gemini, copilot)."""


class PromptTurn:
    """What the agent says, does and asks, from the prompt to its answer."""

    def __init__(self, dialect: AcpDialect, root: str, masked: bool) -> None:
        self._dialect, self._root, self._masked = dialect, root, masked
        self._speech, self._tools = Speech(), SessionTools(root)
        self._spent = SessionUsage()
        self.agent = ""
        """Its name, where it tells it."""
        self._plan = ""
        self._trouble = ""
        self._broken = False

    def on_permission(self, line: Object, permission: Permission) -> tuple[Act, list[AgentEvent]]:
        """A request of the agent's: the answer to it, and what there is to tell."""
        method, params = string(line, "method"), mapping(line, "params")
        if method != "session/request_permission":
            error = {"code": acp_session.METHOD_NOT_FOUND, "message": "Hydra does not offer this"}
            answer = acp_session.encoded(id=line.get("id"), error=error)
            return Write(answer), build.notice("not_offered", method)
        call = mapping(params, "toolCall")
        events = self._speech.flush()
        id, kind, agent_events = self._tools.on_permission(call)
        allowed = acp_session.allows(permission, call, kind, self._root, masked=self._masked)
        self._plan = string(mapping(call, "rawInput"), "plan") or self._plan
        denied = [] if allowed else self._tools.deny(id)
        outcome = acp_session.outcome(params, allowed)
        answer = acp_session.encoded(id=line.get("id"), result=outcome)
        return Write(answer), [*events, *agent_events, *denied]

    def updated(self, update: Object, offers: Offers) -> list[AgentEvent]:
        """A `session/update`."""
        kind = string(update, "sessionUpdate")
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            return self._chunk(kind, update)
        if kind in ("tool_call", "tool_call_update"):
            self._trouble = ""
            return [*self._speech.flush(), *self._tools.update(update)]
        if kind == "plan":
            self._plan = plan(update)
            return [*self._speech.flush(), build.progress("notice", type="plan", text=self._plan)]
        if kind == "current_mode_update":
            return [build.session(permission=short(string(update, "currentModeId")))]
        if kind == "usage_update":
            return self._spent.cost(update)
        if kind in _QUIET:
            offers.take(update)
            self._status(update)
            return build.notice(kind, string(update, "title"))
        return [build.progress("unknown", type=f"session/update/{kind[:60]}")]

    def answered(self, answer: Object) -> list[AgentEvent]:
        """The prompt was answered: what was still to tell, what it used, and the ending."""
        reason, tools = string(answer, "stopReason"), self._tools
        used = [] if self.agent in _LAST_STEP else self._spent.answer(answer)
        events = [*self.rest(), *used]
        if reason == "end_turn" and (self._trouble or self._broken):
            text = self._trouble or "its turn broke off, and it does not say why"
            return [*events, failure(0, text.strip())]
        if reason == "end_turn" or (reason == "cancelled" and tools.denials):
            text = self._speech.last or self._plan
            done = build.completed(text, denials=tools.denials, failed_items=tools.failed_edits)
            return [*events, done]
        return [*events, stopped(reason)]

    def rest(self) -> list[AgentEvent]:
        """What was said and not told yet, and the calls whose end will not be told any more."""
        return [*self._speech.flush(), *self._tools.settle()]

    def _status(self, update: Object) -> None:
        own = mapping(mapping(update, "_meta"), "codex")
        if status := string(mapping(own, "threadStatus"), "type"):
            self._broken = status == "systemError"

    def _chunk(self, kind: str, update: Object) -> list[AgentEvent]:
        text, id = string(mapping(update, "content"), "text"), string(update, "messageId")
        events = self._spent.chunk(update)
        if not text:  # behind the words of an answer, what it used
            return [*self._speech.flush(), *events] if events else []
        if self._dialect.forgets:
            events += self._tools.settle()
        if kind == "agent_thought_chunk":
            return [*events, *self._speech.add("thinking", id, text)]
        for pattern, sub in ((_RETRY, "retry"), (_NOTICE, "notice")):
            if pattern.search(text):
                return [*events, *self._speech.flush(), build.progress(sub, text=text)]
        if self._broken:  # what it says now is why
            self._trouble = (self._trouble + text)[:_REASON]
            return [*events, *self._speech.add("", id, text)]
        self._trouble = text if _TROUBLE.search(text) else ""
        if self._trouble:
            events += self._speech.flush()
        return [*events, *self._speech.add("", id, text)]

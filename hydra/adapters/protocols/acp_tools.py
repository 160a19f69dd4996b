"""Tool calls of the Agent Client Protocol as events: each told once, and answered once.

A call grows over several updates: often its first one names no more than a kind, and what it is
about (a path, a command) comes with the next. It is told once that is known.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, integer, mapping, objects, string
from hydra.adapters.protocols.acp_permissions import CHANGING, PATHS, paths
from hydra.adapters.stream import Recent
from hydra.events import AgentEvent

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
    told: bool = False


@dataclass(slots=True)
class Tools:
    """The calls of one session. `root` is the worktree, to shorten paths with."""

    root: str = ""
    denials: list[str] = field(default_factory=list)
    failed_items: int = 0
    _open: OrderedDict[str, _Call] = field(default_factory=OrderedDict)
    _closed: Recent = field(default_factory=Recent)

    def update(self, line: Object) -> list[AgentEvent]:
        """A `tool_call` or a `tool_call_update`."""
        id = string(line, "toolCallId")[: Recent.LONGEST]
        if not id or id in self._closed:
            return []
        call = self._merged(id, line)
        status = string(line, "status")
        over = status in ("completed", "failed")
        waits = status == "pending" and "rawInput" in line and not call.target
        events = [] if waits else self._tell(id, call)
        return [*events, self._close(id, call, line, status)] if over else events

    def asked(self, line: Object) -> tuple[str, str, list[AgentEvent]]:
        """A call that waits for a permission: its id, its kind, and the event that tells it.

        Hermes gives the question an id of its own: it belongs to the open call on the same path.
        """
        id = string(line, "toolCallId")[: Recent.LONGEST] or "?"
        kind, named = string(line, "kind"), next(iter(paths(line)), "")
        if id not in self._open and named:
            for other, call in self._open.items():
                if call.path == named and call.kind == kind:
                    return other, kind, self._tell(other, call)
        if id in self._closed:
            return id, kind, []
        call = self._merged(id, line)
        return id, call.kind, self._tell(id, call)

    def deny(self, id: str) -> list[AgentEvent]:
        """Hydra's answer was no: some agents say nothing more of such a call."""
        call = self._open.pop(id, None)
        if call is None:
            return []
        self._closed.add(id)
        self._denied(call)
        return [said.tool_result(id, False, "Hydra did not allow it", denied=True)]

    def settle(self) -> list[AgentEvent]:
        """The agent goes on, or is done: what it has not told the end of is over."""
        events = []
        for id, call in self._open.items():
            self._closed.add(id)
            if call.told:
                events.append(said.tool_result(id, True, ""))
        self._open.clear()
        return events

    def _merged(self, id: str, line: Object) -> _Call:
        call = self._open.get(id)
        if call is None:
            call = self._open[id] = _Call()
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)
        call.kind = string(line, "kind")[:40] or call.kind
        call.name = _name(line) or call.name
        call.title = string(line, "title")[:_TEXT] or call.title
        call.path = next(iter(paths(line)), "")[:_TEXT] or call.path
        call.target = _target(line, call.kind)[:_TEXT] or call.target
        return call

    def _tell(self, id: str, call: _Call) -> list[AgentEvent]:
        if call.told:
            return []
        call.told = True
        return [said.tool_call(id, call.name or call.kind or "tool", self._summary(call))]

    def _summary(self, call: _Call) -> str:
        if call.kind == "execute":
            return said.command(call.target or _TITLED.sub("", call.title))
        if call.kind in _VERBS and call.path:
            return f"{_VERBS[call.kind]} {said.path(call.path, self.root)}"
        return call.title or call.name or call.kind

    def _close(self, id: str, call: _Call, line: Object, status: str) -> AgentEvent:
        self._open.pop(id, None)
        self._closed.add(id)
        code = _exit_code(line)
        ok = status == "completed" and code in (0, None)
        text = _answer(line)
        absent = _ABSENT.search(text[:_TEXT])
        denied = bool(absent or (status == "failed" and _REFUSED.search(text[:_TEXT])))
        ok = ok and not absent
        if denied:
            self._denied(call)
        elif not ok and call.kind in CHANGING:
            self.failed_items += 1
        return said.tool_result(id, ok, text, denied)

    def _denied(self, call: _Call) -> None:
        if len(self.denials) < Recent.LARGEST:
            self.denials.append((call.name or call.kind or "tool")[: Recent.LONGEST])


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

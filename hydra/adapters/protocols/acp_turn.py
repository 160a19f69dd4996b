"""One prompt of the Agent Client Protocol as it is worked on: the agent's updates as events."""

from __future__ import annotations

from hydra.adapters import said
from hydra.adapters.contract import Act, Write
from hydra.adapters.jsonlines import Object, mapping, string
from hydra.adapters.protocols import acp_endings, acp_permissions, jsonrpc
from hydra.adapters.protocols.acp_manner import Manner
from hydra.adapters.protocols.acp_offers import Offers, short
from hydra.adapters.protocols.acp_said import Speech, Spent, plan
from hydra.adapters.protocols.acp_tools import Tools
from hydra.adapters.protocols.jsonrpc import Fault
from hydra.events import AgentEvent
from hydra.model import Permission

_QUIET = ("config_option_update", "available_commands_update", "session_info_update")
_REASON = 4000
"""Characters that are kept of why a turn broke off."""


class Turn:
    """What the agent says, does and asks, from the prompt to its answer."""

    def __init__(self, manner: Manner, root: str) -> None:
        self._manner, self._root = manner, root
        self._speech, self._tools = Speech(), Tools(root)
        self._spent = Spent(manner.usage)
        self._plan = ""
        self._trouble = ""
        self._broken = False

    def asked(self, line: Object, permission: Permission) -> tuple[Act, list[AgentEvent]]:
        """A request of the agent's: the answer to it, and what there is to tell."""
        method, params = string(line, "method"), mapping(line, "params")
        if method != "session/request_permission":
            answer = jsonrpc.refusal(line, jsonrpc.METHOD_NOT_FOUND, "Hydra does not offer this")
            return Write(answer), [said.progress("notice", type="not_offered", text=method)]
        call = mapping(params, "toolCall")
        events = self._speech.flush()
        id, kind, told = self._tools.asked(call)
        allowed = acp_permissions.allows(permission, call, kind, self._root)
        self._plan = string(mapping(call, "rawInput"), "plan") or self._plan
        denied = [] if allowed else self._tools.deny(id)
        answer = jsonrpc.result(line, acp_permissions.outcome(params, allowed))
        return Write(answer), [*events, *told, *denied]

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
            return [*self._speech.flush(), said.progress("notice", type="plan", text=self._plan)]
        if kind == "current_mode_update":
            return [said.session(permission=short(string(update, "currentModeId")))]
        if kind == "usage_update":
            return self._spent.cost(update)
        if kind in _QUIET:
            offers.take(update)
            self._status(update)
            return [said.progress("notice", type=kind, text=string(update, "title"))]
        return [said.progress("unknown", type=f"session/update/{kind[:60]}")]

    def answered(self, answer: Object) -> list[AgentEvent]:
        """The prompt was answered: what was still to tell, what it used, and the ending."""
        reason, tools = string(answer, "stopReason"), self._tools
        events = [*self.rest(), *self._spent.answer(answer)]
        if reason == "end_turn" and (self._trouble or self._broken):
            text = self._trouble or "its turn broke off, and it does not say why"
            return [*events, acp_endings.failure(Fault(0, text.strip()))]
        if reason == "end_turn" or (reason == "cancelled" and tools.denials):
            text = self._speech.last or self._plan
            done = said.completed(text, denials=tools.denials, failed_items=tools.failed_items)
            return [*events, done]
        return [*events, acp_endings.stopped(reason)]

    def rest(self) -> list[AgentEvent]:
        """What was said and not told yet, and the calls whose end will not be told any more."""
        return [*self._speech.flush(), *self._tools.settle()]

    def _status(self, update: Object) -> None:
        own = mapping(mapping(update, "_meta"), self._manner.meta) if self._manner.meta else {}
        if status := string(mapping(own, "threadStatus"), "type"):
            self._broken = status == "systemError"

    def _chunk(self, kind: str, update: Object) -> list[AgentEvent]:
        text, id = string(mapping(update, "content"), "text"), string(update, "messageId")
        events, manner = self._spent.chunk(update), self._manner
        if not text:  # behind the words of an answer, what it used
            return [*self._speech.flush(), *events] if events else []
        if manner.forgets:
            events += self._tools.settle()
        if kind == "agent_thought_chunk":
            return [*events, *self._speech.add("thinking", id, text)]
        for pattern, sub in ((manner.retry, "retry"), (manner.notice, "notice")):
            if pattern and pattern.search(text):
                return [*events, *self._speech.flush(), said.progress(sub, text=text)]
        if self._broken:  # what it says now is why
            self._trouble = (self._trouble + text)[:_REASON]
            return [*events, *self._speech.add("", id, text)]
        self._trouble = text if manner.trouble and manner.trouble.search(text) else ""
        if self._trouble:
            events += self._speech.flush()
        return [*events, *self._speech.add("", id, text)]

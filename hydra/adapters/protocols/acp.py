"""A conversation in the Agent Client Protocol, version 1: JSON-RPC over stdio, sans-I/O.

initialize, a sign-in where one is wanted that needs no browser, a session, what was asked for of
it (mode, model, effort), the prompt; then the agent's updates as events, and the answers to what
it asks, until the prompt is answered.

Of what a client can offer, nothing is offered: no `fs`, no `terminal`. What an agent does, its own
tools do, inside the lane's confinement; Hydra runs and reads nothing on its behalf outside of it.

Ids are texts that say what they were given for (`session/set_mode:mode#plan`), so that a recorded
stream, which has the agent's side alone, can be read by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydra.adapters import event_builders as build
from hydra.adapters.contract import Act, CloseInput, Finish, Write
from hydra.adapters.json_fields import Object, integer, mapping, string
from hydra.adapters.json_stream import JsonStream, RecentIds, unknown
from hydra.adapters.protocols import acp_events, acp_session
from hydra.adapters.protocols.acp_events import PromptTurn
from hydra.adapters.protocols.acp_session import (
    EFFORT,
    MODE,
    MODEL,
    SIGN_INS,
    VERSION,
    AcpDialect,
    AcpRequest,
    AcpSetting,
    Offers,
    introduction,
    short,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission

COMMANDED = "The task is:\n"
_OPENINGS = ("session/new", "session/load", "session/resume", "session/fork")


class AcpConversation(JsonStream):
    """One attempt. Without a `wish` it is the parser of a recorded stream: what it would say is
    not asked for, and the ids in the stream tell what was wanted."""

    def __init__(self, dialect: AcpDialect, wish: AcpRequest | None = None) -> None:
        super().__init__()
        self.label = dialect.label
        self._dialect, self._wish = dialect, wish or AcpRequest()
        self._permission = self._wish.permission or Permission.FULL_AUTO
        self._live = wish is not None
        self._acts: list[Act] = []
        self._agent: Object = {}
        self._to_try = list(SIGN_INS)
        self._said_no = ""
        self._session = ""
        self._offers = Offers()
        self._settings: list[AcpSetting] = []
        self._turn = PromptTurn(dialect, self._wish.root, bool(self._wish.masked))
        self._answered = RecentIds()
        self._readers = {
            "result": self._result,
            "error": self._error,
            "request": self._request,
            "notification": self._notification,
        }
        if self._live:
            self._ask("initialize", introduction(), tag=self._permission)

    def acts(self) -> Sequence[Act]:
        """What is to be said since it was last asked."""
        values, self._acts = self._acts, []
        return values

    def take(self, line: Object) -> list[AgentEvent]:
        """One message of the agent's."""
        kind = acp_session.message_kind(line)
        if kind in ("result", "error"):
            if string(line, "id") in self._answered:
                return []
            self._answered.add(string(line, "id"))
        return self._readers[kind](line) if kind else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What was said last; without an answer to the prompt there is no ending."""
        return self._turn.rest()

    # asking

    def _ask(self, method: str, params: Object, what: str = "", tag: str = "") -> None:
        id = method + (f":{what}" if what else "") + (f"#{tag}" if tag else "")
        self._acts.append(Write(acp_session.encoded(id=id, method=method, params=params)))

    def _open(self, again: str = "") -> None:
        able = mapping(mapping(self._agent, "agentCapabilities"), "sessionCapabilities")
        params: dict[str, object] = {"cwd": self._wish.root, "mcpServers": []}
        method = "session/new"
        if self._wish.resume:
            params = {"sessionId": self._wish.resume, **params}
            method = "session/resume" if "resume" in able else "session/load"
        if self._wish.fork:
            method = "session/fork"
        self._ask(method, params, again)

    def _set_next(self) -> None:
        """The next thing that was asked for; behind the last of them the prompt."""
        if self._settings:
            setting = self._settings.pop(0)
            params = {"sessionId": self._session, **setting.params}
            self._ask(setting.method, params, setting.what, setting.value)
            return
        # What begins with "/" would be the agent's own command, also behind white space, and for
        # Claude Code in a second block of text.
        task = COMMANDED if self._wish.prompt.lstrip().startswith("/") else ""
        prompt = [{"type": "text", "text": task + self._wish.prompt}]
        self._ask("session/prompt", {"sessionId": self._session, "prompt": prompt})

    def _over(self, *events: AgentEvent) -> list[AgentEvent]:
        # The end of its stdin ends most of them; to the others the second says it again, later.
        self._acts += [CloseInput(), Finish()]
        return [*self._turn.rest(), *events]

    # answers

    def _result(self, line: Object) -> list[AgentEvent]:
        method, what, tag = _parts(string(line, "id"))
        answer = mapping(line, "result")
        if method == "initialize":
            return self._initialized(answer, tag)
        if method == "authenticate":
            self._open(f"behind-{tag}")
            return build.notice("signed_in", tag)
        if method in _OPENINGS:
            return self._opened(answer)
        if method == "session/prompt":
            return self._over(*self._turn.answered(answer))
        return self._set(answer, what, tag) if what in (MODE, MODEL, EFFORT) else unknown(line)

    def _initialized(self, answer: Object, tag: str) -> list[AgentEvent]:
        self._agent = answer
        if not self._live and tag in tuple(Permission):
            self._permission = Permission(tag)
        self._turn.agent = string(mapping(answer, "agentInfo"), "name")
        spoken = integer(answer, "protocolVersion")
        if spoken != VERSION:
            text = f"it speaks version {spoken} of the protocol, Hydra {VERSION}"
            return self._over(build.failed("UnsupportedVersion", "protocol", text))
        lacks = self._lacks(mapping(answer, "agentCapabilities"))
        if lacks:
            return self._over(build.failed("UnsupportedFlag", "capability", lacks))
        self._open()
        return []

    def _lacks(self, able: Object) -> str:
        sessions = mapping(able, "sessionCapabilities")
        if self._wish.fork and "fork" not in sessions:
            return "it offers no copy of a session (session/fork)"
        if self._wish.resume and "resume" not in sessions and able.get("loadSession") is not True:
            return "it offers no way to go on with a session (session/load)"
        return ""

    def _opened(self, answer: Object) -> list[AgentEvent]:
        self._session = string(answer, "sessionId") or self._wish.resume or "?"
        self._offers.take(answer)
        model = self._offers[MODEL]
        event = build.session(
            session="" if self._session == "?" else self._session,
            model=model.current if model else "",
            version=string(mapping(self._agent, "agentInfo"), "version"),
        )
        return [event, *(self._choose() if self._live else ())]

    def _choose(self) -> list[AgentEvent]:
        """What is to be set, in the order in which one may change what the next offers."""
        events, wish = [], self._wish
        if wish.model:
            setting = self._offers.setting(MODEL, [wish.model], raw=True)
            if setting is None:
                text = f"it has no model {wish.model} to choose in a session"
                return self._over(build.failed("AgentFailed", "model", text))
            self._settings.append(setting)
        modes = self._dialect.modes.get(self._permission, ())
        mode = self._offers.setting(MODE, modes)
        if mode is not None:
            self._settings.append(mode)
        elif self._permission is Permission.PLAN:
            text = "it offers no mode for --permission plan in this session"
            return self._over(build.failed("UnsupportedFlag", "capability", text))
        if wish.effort:
            efforts = (wish.effort, "xhigh") if wish.effort == "max" else (wish.effort,)
            setting = self._offers.setting(EFFORT, efforts)
            if setting is None:
                events.append(build.session(effort="its own"))
            else:
                self._settings.append(setting)
        self._set_next()
        return events

    def _set(self, answer: Object, what: str, tag: str) -> list[AgentEvent]:
        """Something was set: told as it is read back, where the answer says it."""
        self._offers.take(answer)
        choice = self._offers[what]
        text = choice.current if choice and choice.option and answer.get("configOptions") else tag
        if self._live:
            self._set_next()
        name = {MODE: "permission"}.get(what, what)
        return [build.session(**{"session": self._known_session(), name: short(text)})]

    def _known_session(self) -> str:
        return "" if self._session == "?" else self._session

    def _error(self, line: Object) -> list[AgentEvent]:
        method, what, tag = _parts(string(line, "id"))
        code, reply = acp_session.fault(line)
        if method in _OPENINGS and code == acp_events.AUTH_REQUIRED:
            return self._sign_in()
        if method == "authenticate":
            self._said_no = reply
            return self._sign_in()
        setting = method not in _OPENINGS and what
        if setting and not (what == MODEL or self._permission is Permission.PLAN):
            if self._live:
                self._set_next()
            text = f"{what} {tag} was refused: {reply}"
            return build.notice("not_set", text)
        if what == MODEL:
            text = f"it does not take the model {tag}: {reply}"
            return self._over(build.failed("AgentFailed", "model", text))
        return self._over(acp_events.failure(code, reply))

    def _sign_in(self) -> list[AgentEvent]:
        documents = acp_events.methods(self._agent)
        ids = [string(row, "id") for row in documents]
        while self._to_try:
            method = self._to_try.pop(0)
            if method in ids:
                self._ask("authenticate", {"methodId": method}, tag=method)
                return []
        return self._over(acp_events.no_sign_in(documents, self._said_no))

    # what it asks and tells

    def _request(self, line: Object) -> list[AgentEvent]:
        act, events = self._turn.on_permission(line, self._permission)
        self._acts.append(act)
        return events

    def _notification(self, line: Object) -> list[AgentEvent]:
        method = string(line, "method")
        if method != "session/update":
            # By the specification whatever begins so is an agent's own; some leave the sign out.
            own = method.startswith("_") or not method.startswith(("session/", "$/"))
            return [build.progress("notice" if own else "unknown", type=method[:80])]
        update = mapping(mapping(line, "params"), "update")
        if self._agent and not self._session:  # an old session is told again before it is open
            return build.notice(string(update, "sessionUpdate")[:80])
        return self._turn.updated(update, self._offers)


def _parts(id: str) -> tuple[str, str, str]:
    """Method, what it was for, and its value, of an id that Hydra has given."""
    front, _, tag = id.partition("#")
    method, _, what = front.partition(":")
    return method, what, tag

"""The Agent Client Protocol as it is spoken: what Hydra asks, answers and understands, on made-up
agents. What real ones wrote is replayed by the contract suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import acp
from hydra.adapters.contract import CloseInput, Finish, Write
from hydra.adapters.protocols.acp import AcpConversation
from hydra.adapters.protocols.acp_session import AcpDialect, AcpRequest, allows
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

ROOT = "/lane/shop"
MODES = {"availableModes": [{"id": "default"}, {"id": "plan"}], "currentModeId": "default"}
CAPABLE = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
FULL = Permission.FULL_AUTO


class Meeting:
    """A conversation and what a made-up agent says in it."""

    def __init__(self, dialect: AcpDialect | None = None, **wish: Any) -> None:
        modes = {Permission.PLAN: ("plan",)}
        wish = {"root": ROOT, "prompt": "Do it", "permission": FULL} | wish
        self.talk = AcpConversation(
            dialect or AcpDialect(label="X", modes=modes), AcpRequest(**wish)
        )
        self.events: list[AgentEvent] = []
        self.sent: list[dict[str, Any]] = []
        self.ends: list[object] = []
        self._gather()

    def hear(self, **message: Any) -> list[AgentEvent]:
        """One message of the agent's, and the events it makes."""
        events = self.talk.parse_line(json.dumps({"jsonrpc": "2.0", **message}).encode())
        self.events += events
        self._gather()
        return events

    def answer(self, **result: Any) -> list[AgentEvent]:
        """The answer to what was asked last."""
        return self.hear(id=self.sent[-1]["id"], result=result)

    def refuse(self, code: int, message: str) -> list[AgentEvent]:
        """An error in its place."""
        return self.hear(id=self.sent[-1]["id"], error={"code": code, "message": message})

    def update(self, update_kind: str, /, **fields: Any) -> list[AgentEvent]:
        """A `session/update`."""
        update = {"sessionUpdate": update_kind, **fields}
        return self.hear(method="session/update", params={"sessionId": "s", "update": update})

    def says(self, text: str, kind: str = "message", id: str = "") -> list[AgentEvent]:
        """A chunk."""
        fields = {"messageId": id} if id else {}
        return self.update(f"agent_{kind}_chunk", content={"type": "text", "text": text}, **fields)

    def opened(self, **session: Any) -> Meeting:
        """As far as an open session."""
        self.answer(**CAPABLE)
        self.answer(sessionId="s", **session)
        return self

    def _gather(self) -> None:
        for act in self.talk.acts():
            if isinstance(act, Write):
                assert act.data.endswith(b"\n")
                assert act.data.count(b"\n") == 1
                self.sent.append(json.loads(act.data))
            else:
                self.ends.append(act)

    @property
    def ending(self) -> AgentEvent:
        """The one closing event."""
        (agent_event,) = [event for event in self.events if event.kind in ("completed", "failed")]
        return agent_event


def asks(kind: str, path: str = "", id: str = "t1", **fields: Any) -> dict[str, Any]:
    """A request for a permission."""
    options = [
        {"optionId": "always", "kind": "allow_always"},
        {"optionId": "yes", "kind": "allow_once"},
        {"optionId": "no", "kind": "reject_once"},
    ]
    where = [{"path": path}] if path else []
    call = {"toolCallId": id, "kind": kind, "title": "x", "locations": where, **fields}
    params = {"sessionId": "s", "toolCall": call, "options": options}
    return {"id": 7, "method": "session/request_permission", "params": params}


def test_from_hello_to_goodbye() -> None:
    meeting = Meeting()
    hello = meeting.sent[0]
    assert hello["method"] == "initialize"
    assert hello["params"]["protocolVersion"] == 1
    assert hello["params"]["clientCapabilities"] == {}  # neither files nor a terminal
    meeting.answer(**CAPABLE)
    assert meeting.sent[-1]["params"] == {"cwd": ROOT, "mcpServers": []}
    meeting.answer(sessionId="s")
    assert meeting.sent[-1]["method"] == "session/prompt"
    assert meeting.sent[-1]["params"]["prompt"] == [{"type": "text", "text": "Do it"}]
    assert meeting.ends == []
    meeting.says("All ")
    meeting.says("done.")
    meeting.answer(stopReason="end_turn", usage={"inputTokens": 5, "outputTokens": 2})
    assert meeting.ending.data["text"] == "All done."
    assert meeting.ends == [CloseInput(), Finish()]
    assert meeting.talk.end(ExitStatus(code=0), {}) == []


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "craft/anything"])
def test_nothing_is_done_outside_on_an_agents_behalf(method: str) -> None:
    meeting = Meeting().opened()
    meeting.hear(id=3, method=method, params={"path": "/etc/passwd"})
    assert meeting.sent[-1]["id"] == 3
    assert meeting.sent[-1]["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("permission", "kind", "path", "allowed"),
    [
        (Permission.FULL_AUTO, "execute", "", True),
        (Permission.UNRESTRICTED, "other", "", True),
        (Permission.EDIT, "edit", f"{ROOT}/a.txt", True),
        (Permission.EDIT, "edit", "src/a.txt", True),
        (Permission.EDIT, "edit", f"{ROOT}/../other/a.txt", False),
        (Permission.EDIT, "edit", f"{ROOT}-2/a.txt", False),
        (Permission.EDIT, "delete", "/home/user/a.txt", False),
        (Permission.EDIT, "edit", "", False),
        (Permission.EDIT, "execute", f"{ROOT}/a.txt", False),
        (Permission.EDIT, "fetch", "", False),
        (Permission.EDIT, "switch_mode", "", False),
        (Permission.EDIT, "read", "/etc/hosts", True),
        (Permission.PLAN, "read", f"{ROOT}/a.txt", True),
        (Permission.PLAN, "edit", f"{ROOT}/a.txt", False),
        (Permission.PLAN, "execute", "", False),
    ],
)
def test_a_permission_is_given_by_the_lanes_own(
    permission: Permission, kind: str, path: str, allowed: bool
) -> None:
    call = asks(kind, path)["params"]["toolCall"]
    assert allows(permission, call, kind, ROOT) is allowed
    meeting = Meeting(permission=permission).opened(modes=MODES)
    if permission is Permission.PLAN:
        meeting.answer()
    meeting.hear(**asks(kind, path))
    chosen = {"outcome": "selected", "optionId": "yes" if allowed else "no"}
    assert meeting.sent[-1]["result"]["outcome"] == chosen
    denied = [event for event in meeting.events if event.data.get("denied")]
    assert len(denied) == (not allowed)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("out/stolen.txt", False),
        ("alias.txt", False),
        ("out/../kept.txt", False),  # of the folder that the link leads to
        ("inner/kept.txt", True),
        ("src/new/file.txt", True),
        ("a\0", False),
    ],
)
def test_no_link_of_the_repositorys_leads_an_edit_out_of_it(
    tmp_path: Path, path: str, allowed: bool
) -> None:
    """Where nothing confines, Hydra's answer is the only wall. The worktree's own path may be one
    by a link too."""
    whole = tmp_path / "whole"
    (whole / "src").mkdir(parents=True)
    (whole / "out").symlink_to(tmp_path)
    (whole / "alias.txt").symlink_to(tmp_path / "not-yet.txt")
    (whole / "inner").symlink_to("src")
    (tmp_path / "shop").symlink_to(whole)
    for root in (whole, tmp_path / "shop"):
        for name in (path, f"{root}/{path}"):
            assert edits(root, name) is allowed
            assert edits(root, name, masked=True) is True


def edits(root: Path, path: str, **options: Any) -> bool:
    """Whether an agent's edit of that path is allowed, by a conversation as a race has it."""
    agent = acp.AnyAgent()
    request = SpawnRequest(prompt="x", worktree=root, permission=Permission.EDIT, **options)
    command = agent.build_command(request, DetectResult(adapter="acp"))
    talk = agent.conversation(command)
    talk.parse_line(json.dumps({"jsonrpc": "2.0", **asks("edit", path)}).encode())
    (*_, act) = talk.acts()
    assert isinstance(act, Write)
    return bool(json.loads(act.data)["result"]["outcome"]["optionId"] == "yes")


def test_a_question_without_a_no_is_cancelled() -> None:
    meeting = Meeting(permission=Permission.EDIT).opened()
    question = asks("execute")
    question["params"]["options"] = []
    meeting.hear(**question)
    assert meeting.sent[-1]["result"]["outcome"] == {"outcome": "cancelled"}


def test_a_denied_turn_that_is_then_cancelled_is_no_interrupt() -> None:
    meeting = Meeting(permission=Permission.EDIT).opened()
    meeting.hear(**asks("execute", title="rm -rf /"))
    meeting.sent[-1] = {"id": "session/prompt"}
    meeting.answer(stopReason="cancelled")
    assert meeting.ending.kind == "completed"
    assert meeting.ending.data["denials"] == ["execute"]


OPTIONS = [
    {
        "id": "m",
        "category": "model",
        "currentValue": "a/small",
        "options": [{"group": "g", "options": [{"value": "a/small"}, {"value": "a/big"}]}],
    },
    {
        "id": "how",
        "category": "mode",
        "currentValue": "https://x/modes#agent",
        "options": [{"value": "https://x/modes#agent"}, {"value": "https://x/modes#plan"}],
    },
    {
        "id": "effort",
        "category": "thought_level",
        "currentValue": "low",
        "options": [{"value": "low"}, {"value": "xhigh"}],
    },
]


def test_what_is_asked_for_is_set_and_told_as_it_is_read_back() -> None:
    meeting = Meeting(permission=Permission.PLAN, model="big", effort="max")
    meeting.opened(configOptions=OPTIONS, modes=MODES)
    documents = []
    for option, value in (("m", "a/big"), ("how", "https://x/modes#plan"), ("effort", "xhigh")):
        assert meeting.sent[-1]["method"] == "session/set_config_option"
        document = meeting.sent[-1]["params"]
        assert (document["configId"], document["value"]) == (option, value)
        changed = [o | ({"currentValue": value} if o["id"] == option else {}) for o in OPTIONS]
        documents += [event.data for event in meeting.answer(configOptions=changed)]
    assert meeting.sent[-1]["method"] == "session/prompt"
    assert [{k: v for k, v in row.items() if k != "session"} for row in documents] == [
        {"model": "a/big"},
        {"permission": "plan"},
        {"effort": "xhigh"},
    ]


def test_an_agent_that_keeps_its_own_mode_is_told_as_it_is() -> None:
    meeting = Meeting(permission=Permission.PLAN).opened(configOptions=OPTIONS)
    (event,) = meeting.answer(configOptions=OPTIONS)
    assert event.data["permission"] == "agent"


def test_modes_and_models_of_the_older_form() -> None:
    models = {"availableModels": [{"modelId": "p:stub", "name": "stub"}], "currentModelId": "x"}
    meeting = Meeting(permission=Permission.PLAN, model="stub")
    meeting.opened(modes=MODES, models=models)
    assert meeting.sent[-1]["method"] == "session/set_model"
    assert meeting.sent[-1]["params"] == {"sessionId": "s", "modelId": "p:stub"}
    assert meeting.answer()[0].data["model"] == "p:stub"
    assert meeting.sent[-1]["params"] == {"sessionId": "s", "modeId": "plan"}


def test_without_a_plan_mode_there_is_no_plan() -> None:
    meeting = Meeting(permission=Permission.PLAN).opened()
    assert (meeting.ending.data["error"], meeting.ending.data["reason"]) == (
        "UnsupportedFlag",
        "capability",
    )
    assert all(row["method"] != "session/prompt" for row in meeting.sent)
    refused = Meeting(permission=Permission.PLAN).opened(modes=MODES)
    refused.refuse(-32602, "not here")
    assert refused.ending.kind == "failed"


def test_a_model_that_is_not_taken_ends_it() -> None:
    assert Meeting(model="big").opened().ending.data["reason"] == "model"
    meeting = Meeting(model="huge").opened(configOptions=OPTIONS)
    assert meeting.sent[-1]["params"]["value"] == "huge"  # it may know more than it lists
    meeting.refuse(-32602, "unknown value")
    assert meeting.ending.data["reason"] == "model"


def test_an_effort_that_is_not_offered_is_told() -> None:
    meeting = Meeting(effort="high").opened()
    assert [e.data for e in meeting.events if "effort" in e.data] == [{"effort": "its own"}]
    assert meeting.sent[-1]["method"] == "session/prompt"


def test_a_sign_in_that_needs_nobody_is_done() -> None:
    meeting = Meeting()
    meeting.answer(**CAPABLE, authMethods=[{"id": "web", "name": "Browser"}, {"id": "api-key"}])
    meeting.refuse(-32000, "Authentication required")
    assert meeting.sent[-1]["params"] == {"methodId": "api-key"}
    meeting.answer()
    assert meeting.sent[-1]["method"] == "session/new"
    meeting.refuse(-32000, "Authentication required")
    assert (meeting.ending.data["error"], meeting.ending.data["reason"]) == (
        "AuthMissing",
        "sign_in",
    )
    assert "Browser" in str(meeting.ending.data["message"])
    assert sum(row["method"] == "authenticate" for row in meeting.sent) == 1


@pytest.mark.parametrize(
    ("stop", "error", "reason"),
    [
        ("max_tokens", "AgentFailed", "max_tokens"),
        ("max_turn_requests", "AgentFailed", "max_turns"),
        ("refusal", "AgentFailed", "refusal"),
        ("cancelled", "Interrupted", "cancelled"),
        ("something_new", "AgentFailed", "agent_error"),
    ],
)
def test_every_other_stop_is_a_failure(stop: str, error: str, reason: str) -> None:
    meeting = Meeting().opened()
    meeting.answer(stopReason=stop)
    assert (meeting.ending.data["error"], meeting.ending.data["reason"]) == (error, reason)


@pytest.mark.parametrize(
    ("code", "message", "data", "error", "reason"),
    [
        (-32000, "Authentication required", None, "AuthMissing", "sign_in"),
        (401, '{"error":{"code":401}}', None, "AuthMissing", "sign_in"),
        (-32603, "Internal error", {"details": "401 Incorrect API key"}, "AuthMissing", "sign_in"),
        (-32603, "Internal error: Incorrect API key provided.", None, "AuthMissing", "sign_in"),
        (429, "slow down", None, "AgentFailed", "rate_limit"),
        (-32603, "Internal error", None, "AgentFailed", "agent_error"),
    ],
)
def test_an_error_in_place_of_the_answer(
    code: int, message: str, data: object, error: str, reason: str
) -> None:
    meeting = Meeting().opened()
    document = {"code": code, "message": message, "data": data}
    meeting.hear(id=meeting.sent[-1]["id"], error=document)
    assert (meeting.ending.data["error"], meeting.ending.data["reason"]) == (error, reason)


@pytest.mark.parametrize(
    "text",
    [
        "Error: Authentication failed with provider (HTTP 401).",
        "401 Incorrect API key provided.",
        "HTTP 401: Incorrect API key provided.",
    ],
)
def test_a_refused_key_that_is_told_as_a_message_is_none_that_is_done(text: str) -> None:
    meeting = Meeting().opened()
    meeting.says(text)
    meeting.answer(stopReason="end_turn")
    assert meeting.ending.data["error"] == "AuthMissing"
    late = Meeting().opened()
    late.says(text)
    late.says("But then it went well.")
    late.answer(stopReason="end_turn")
    assert late.ending.kind == "completed"


def test_a_number_at_the_head_of_an_answer_is_no_refused_key() -> None:
    meeting = Meeting().opened()
    meeting.says("404 pages were missing, and are there now.")
    meeting.answer(stopReason="end_turn")
    assert meeting.ending.kind == "completed"


def test_a_connection_that_broke_off_is_none_that_is_done() -> None:
    meeting = Meeting().opened()
    meeting.says("Half of an answer that b", id="a")
    meeting.says("ECONNRESET: The socket connection was closed unexpectedly.", id="b")
    meeting.answer(stopReason="end_turn")
    assert (meeting.ending.kind, meeting.ending.data["reason"]) == ("failed", "network")


def test_a_conversation_that_is_too_long_is_none_that_is_done() -> None:
    meeting = Meeting().opened()
    meeting.says("Context length exceeded (249 tokens). Cannot compress further.")
    meeting.answer(stopReason="end_turn")
    ending = meeting.ending
    assert (ending.kind, ending.data["reason"]) == ("failed", "context_overflow")


def thread(meeting: Meeting, status: str) -> None:
    rows = {"codex": {"threadStatus": {"type": status}}}
    meeting.update("session_info_update", _meta=rows)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("We are currently experiencing high demand, ", "which may cause errors."), "overloaded"),
        (("stream disconnected before completion: Transport error",), "network"),
        ((), "agent_error"),
    ],
)
def test_a_turn_of_codex_that_broke_off_is_none_that_is_done(
    lines: tuple[str, ...], reason: str
) -> None:
    meeting = Meeting().opened()
    thread(meeting, "active")
    meeting.says("Now I look.")
    thread(meeting, "systemError")
    for text in lines:
        meeting.says(text)
    meeting.answer(stopReason="end_turn")
    assert (meeting.ending.kind, meeting.ending.data["reason"]) == ("failed", reason)
    assert "".join(lines) in str(meeting.ending.data["message"])


def test_a_turn_of_codex_that_went_on_is_done() -> None:
    meeting = Meeting().opened()
    for status in ("active", "systemError", "active"):
        thread(meeting, status)
    meeting.says("Done.")
    thread(meeting, "idle")
    meeting.answer(stopReason="end_turn")
    assert meeting.ending.kind == "completed"


def test_chunks_become_messages() -> None:
    meeting = Meeting().opened()
    meeting.says("I ", "thought", "a")
    meeting.says("think.", "thought", "a")
    meeting.says("One", id="b")
    meeting.says(" message.", id="b")
    meeting.says("Another.", id="c")
    meeting.update("tool_call", toolCallId="t", title="x", kind="other", status="in_progress")
    pairs = [(e.sub, e.data["text"]) for e in meeting.events if e.kind == "message"]
    assert pairs == [("thinking", "I think."), ("", "One message."), ("", "Another.")]


def test_long_thinking_is_told_on_the_way() -> None:
    meeting = Meeting().opened()
    for _ in range(100):
        meeting.says("x" * 100, "thought")
    assert len([e for e in meeting.events if e.sub == "thinking"]) >= 2


def test_a_call_is_told_once_it_is_known_and_answered_once() -> None:
    meeting = Meeting().opened()
    call: Mapping[str, Any] = {"toolCallId": "t", "kind": "edit", "title": "Edit"}
    assert meeting.update("tool_call", **call, status="pending", rawInput={}) == []
    where = {"locations": [{"path": f"{ROOT}/src/a.py"}], "rawInput": {"path": "src/a.py"}}
    (event,) = meeting.update("tool_call_update", toolCallId="t", **where)
    assert event.data["summary"] == "Edit src/a.py"
    failed = {"toolCallId": "t", "status": "failed", "rawOutput": "no such text"}
    (result,) = meeting.update("tool_call_update", **failed)
    assert (result.data["ok"], result.data["summary"]) == (False, "no such text")
    assert meeting.update("tool_call_update", **failed) == []
    meeting.answer(stopReason="end_turn")
    assert meeting.ending.data["failed_items"] == 1


def test_a_command_that_exits_badly_has_failed() -> None:
    meeting = Meeting().opened()
    meeting.update("tool_call", toolCallId="t", kind="execute", title="false", status="in_progress")
    out = {"metadata": {"exit": 1}}
    done = {"toolCallId": "t", "status": "completed", "rawOutput": out}
    (result,) = meeting.update("tool_call_update", **done)
    assert result.data["ok"] is False


def test_a_plan_that_it_ends_on_is_its_result() -> None:
    meeting = Meeting().opened()
    entries = [{"content": "Look", "status": "completed"}, {"content": "Write"}]
    (event,) = meeting.update("plan", entries=entries)
    assert (event.sub, event.data["type"]) == ("notice", "plan")
    meeting.answer(stopReason="end_turn")
    assert meeting.ending.data["text"] == "- [x] Look\n- [ ] Write"


def test_an_old_session_is_gone_on_with_and_not_told_again() -> None:
    meeting = Meeting(resume="old-1")
    meeting.answer(**CAPABLE)
    assert meeting.sent[-1]["method"] == "session/load"
    assert meeting.sent[-1]["params"]["sessionId"] == "old-1"
    events = [*meeting.says("what it said before"), *meeting.update("tool_call", toolCallId="t")]
    assert {event.kind for event in events} == {"progress"}
    (event,) = meeting.answer()
    assert event.data["session"] == "old-1"
    newer = Meeting(resume="old-1")
    newer.answer(protocolVersion=1, agentCapabilities={"sessionCapabilities": {"resume": {}}})
    assert newer.sent[-1]["method"] == "session/resume"
    unable = Meeting(resume="old-1")
    unable.answer(protocolVersion=1, agentCapabilities={})
    assert unable.ending.data["error"] == "UnsupportedFlag"


@pytest.mark.parametrize(
    ("usage", "number"),
    [
        ({"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 4, "totalTokens": 15}, 10),
        ({"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 4, "totalTokens": 19}, 14),
    ],
)
def test_what_came_from_a_cache_is_part_of_the_input(usage: dict[str, int], number: int) -> None:
    meeting = Meeting().opened()
    meeting.answer(stopReason="end_turn", usage=usage)
    (event,) = [event for event in meeting.events if event.kind == "usage"]
    assert event.data == {"input_tokens": number, "output_tokens": 5, "cached_tokens": 4}


def test_what_the_last_step_used_is_not_told_as_the_whole() -> None:
    """OpenCode's answer has no more: unknown is told as unknown."""
    meeting = Meeting()
    meeting.answer(**CAPABLE, agentInfo={"name": "OpenCode"})
    meeting.answer(sessionId="s")
    meeting.answer(stopReason="end_turn", usage={"inputTokens": 1200, "outputTokens": 80})
    assert [event for event in meeting.events if event.kind == "usage"] == []


def test_what_stands_beside_the_answer_is_what_was_used() -> None:
    """Gemini's place for it."""
    meeting = Meeting().opened()
    quota = {"quota": {"token_count": {"input_tokens": 7, "output_tokens": 2}}}
    meeting.answer(stopReason="end_turn", _meta=quota)
    (event,) = [event for event in meeting.events if event.kind == "usage"]
    assert event.data == {"input_tokens": 7, "output_tokens": 2}


def test_another_version_of_the_protocol_is_refused() -> None:
    meeting = Meeting()
    meeting.answer(protocolVersion=2)
    assert meeting.ending.data["error"] == "UnsupportedVersion"


def test_a_process_that_ends_without_an_answer_has_failed() -> None:
    meeting = Meeting().opened()
    meeting.says("I am about to")
    events = meeting.talk.end(ExitStatus(code=0), {})
    assert [event.kind for event in events] == ["message", "failed"]


def test_a_recorded_stream_tells_what_was_denied() -> None:
    meeting = Meeting(permission=Permission.EDIT)
    lines = [{"id": meeting.sent[0]["id"], "result": CAPABLE}]
    lines.append({"id": "session/new", "result": {"sessionId": "s"}})
    lines.append(asks("execute"))
    parser = AcpConversation(AcpDialect(label="X"))
    events = [event for line in lines for event in parser.parse_line(json.dumps(line).encode())]
    assert any(event.data.get("denied") for event in events)


@pytest.mark.parametrize("agent", acp.ADAPTERS, ids=lambda agent: agent.key())
def test_each_row_builds_a_conversation(agent: Any) -> None:
    result = DetectResult(
        adapter=agent.key(),
        binary=Path("/opt/x") / agent.descriptor.binaries[0],
        flags=frozenset(flag.name for flag in agent.table),
    )
    effort = Effort.HIGH if agent.descriptor.efforts else None
    request = SpawnRequest(
        prompt="/clear", worktree=Path(ROOT), model="m", effort=effort, preface="Be brief."
    )
    command = agent.build_command(request, result)
    assert command.stdin == b"Be brief.\n\n/clear"
    talk = agent.conversation(command)
    (hello,) = talk.acts()
    assert b'"initialize' in hello.data
    assert [event.kind for event in talk.end(ExitStatus(code=1), {})] == ["failed"]


def test_a_prompt_that_begins_with_a_slash_is_no_command() -> None:
    meeting = Meeting(prompt="\n/clear").opened()
    (block,) = meeting.sent[-1]["params"]["prompt"]
    assert not block["text"].lstrip().startswith("/")
    assert block["text"].endswith("\n/clear")

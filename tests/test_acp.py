"""The Agent Client Protocol: what Hydra says and allows, on a made-up agent. What is understood of
one is in `made.json` and the recordings of fixtures/adapters/acp."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import acp
from hydra.adapters.contract import CloseInput, Finish, Write
from hydra.adapters.protocols.acp import AcpConversation
from hydra.adapters.protocols.acp_session import AcpDialect, AcpRequest
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

ROOT = "/lane/shop"
MODES = {"availableModes": [{"id": "default"}, {"id": "plan"}], "currentModeId": "default"}
CAPABLE = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
FULL, EDIT, PLAN = Permission.FULL_AUTO, Permission.EDIT, Permission.PLAN


class Meeting:
    """A conversation and what a made-up agent says in it."""

    def __init__(self, **wish: Any) -> None:
        dialect = AcpDialect(label="X", modes={PLAN: ("plan",)})
        request = {"root": ROOT, "prompt": "Do it", "permission": FULL} | wish
        self.talk = AcpConversation(dialect, AcpRequest(**request))
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
    def params(self) -> Any:
        """Of what was sent last."""
        return self.sent[-1]["params"]

    @property
    def ending(self) -> tuple[object, object]:
        """Why it failed, or ("", "")."""
        (event,) = [event for event in self.events if event.kind in ("completed", "failed")]
        return event.data.get("error", ""), event.data.get("reason", "")


def asks(kind: str, path: str = "", **fields: Any) -> dict[str, Any]:
    """A request for a permission."""
    kinds = {"always": "allow_always", "yes": "allow_once", "no": "reject_once"}
    call = {"toolCallId": "t1", "kind": kind, "title": "x", **fields}
    call["locations"] = [{"path": path}] if path else []
    rows = [{"optionId": id, "kind": kind} for id, kind in kinds.items()]
    params = {"sessionId": "s", "toolCall": call, "options": rows}
    return {"id": 7, "method": "session/request_permission", "params": params}


def test_from_hello_to_goodbye() -> None:
    meeting = Meeting()
    assert (meeting.sent[0]["method"], meeting.params["protocolVersion"]) == ("initialize", 1)
    assert meeting.params["clientCapabilities"] == {}  # neither files nor a terminal
    meeting.answer(**CAPABLE)
    assert meeting.params == {"cwd": ROOT, "mcpServers": []}
    meeting.answer(sessionId="s")
    assert meeting.sent[-1]["method"] == "session/prompt"
    assert meeting.params["prompt"] == [{"type": "text", "text": "Do it"}]
    assert meeting.ends == []
    meeting.answer(stopReason="end_turn")
    assert (meeting.ending, meeting.ends) == (("", ""), [CloseInput(), Finish()])
    assert meeting.talk.end(ExitStatus(code=0), {}) == []


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "craft/anything"])
def test_nothing_is_done_outside_on_an_agents_behalf(method: str) -> None:
    meeting = Meeting().opened()
    meeting.hear(id=3, method=method, params={"path": "/etc/passwd"})
    assert (meeting.sent[-1]["id"], meeting.sent[-1]["error"]["code"]) == (3, -32601)


@pytest.mark.parametrize(
    ("permission", "kind", "path", "allowed"),
    [
        (FULL, "execute", "", True),
        (Permission.UNRESTRICTED, "other", "", True),
        (EDIT, "edit", f"{ROOT}/a.txt", True),
        (EDIT, "edit", f"{ROOT}/../other/a.txt", False),
        (EDIT, "edit", f"{ROOT}-2/a.txt", False),
        (EDIT, "delete", "/home/user/a.txt", False),
        (EDIT, "edit", "", False),
        (EDIT, "execute", f"{ROOT}/a.txt", False),
        (EDIT, "fetch", "", False),
        (EDIT, "switch_mode", "", False),
        (EDIT, "read", "/etc/hosts", True),
        (PLAN, "read", f"{ROOT}/a.txt", True),
        (PLAN, "edit", f"{ROOT}/a.txt", False),
        (PLAN, "execute", "", False),
    ],
)
def test_a_permission_is_given_by_the_lanes_own(
    permission: Permission, kind: str, path: str, allowed: bool
) -> None:
    meeting = Meeting(permission=permission).opened(modes=MODES)
    if permission is PLAN:
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
    request = SpawnRequest(prompt="x", worktree=root, permission=EDIT, **options)
    talk = agent.conversation(agent.build_command(request, DetectResult(adapter="acp")))
    talk.parse_line(json.dumps({"jsonrpc": "2.0", **asks("edit", path)}).encode())
    (*_, act) = talk.acts()
    assert isinstance(act, Write)
    return bool(json.loads(act.data)["result"]["outcome"]["optionId"] == "yes")


def test_a_question_without_a_no_is_cancelled_and_that_is_no_interrupt() -> None:
    meeting = Meeting(permission=EDIT).opened()
    prompt = meeting.sent[-1]["id"]
    question = asks("execute")
    question["params"]["options"] = []
    meeting.hear(**question)
    assert meeting.sent[-1]["result"]["outcome"] == {"outcome": "cancelled"}
    meeting.hear(id=prompt, result={"stopReason": "cancelled"})
    assert meeting.ending == ("", "")


def option(id: str, category: str, *values: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [{"value": value} for value in values]
    return {"id": id, "category": category, "currentValue": values[0], "options": rows}


OPTIONS = [
    option("m", "model", "a/small", "a/big"),
    option("how", "mode", "https://x/modes#agent", "https://x/modes#plan"),
    option("effort", "thought_level", "low", "xhigh"),
]
OPTIONS[0]["options"] = [{"group": "g", "options": OPTIONS[0]["options"]}]


def test_what_is_asked_for_is_set_in_order_and_told_as_it_is_read_back() -> None:
    meeting = Meeting(permission=PLAN, model="big", effort="max")
    meeting.opened(configOptions=OPTIONS, modes=MODES)
    documents = []
    for id, value in (("m", "a/big"), ("how", "https://x/modes#plan"), ("effort", "xhigh")):
        assert meeting.sent[-1]["method"] == "session/set_config_option"
        assert (meeting.params["configId"], meeting.params["value"]) == (id, value)
        changed = [o | ({"currentValue": value} if o["id"] == id else {}) for o in OPTIONS]
        documents += [dict(event.data) for event in meeting.answer(configOptions=changed)]
    assert meeting.sent[-1]["method"] == "session/prompt"
    session = {"session": "s"}
    told = ({"model": "a/big"}, {"permission": "plan"}, {"effort": "xhigh"})
    assert documents == [session | row for row in told]
    stubborn = Meeting(permission=PLAN).opened(configOptions=OPTIONS)
    assert stubborn.answer(configOptions=OPTIONS)[0].data["permission"] == "agent"


def test_modes_and_models_of_the_older_form() -> None:
    models = {"availableModels": [{"modelId": "p:stub", "name": "stub"}], "currentModelId": "x"}
    meeting = Meeting(permission=PLAN, model="stub").opened(modes=MODES, models=models)
    assert meeting.sent[-1]["method"] == "session/set_model"
    assert meeting.params == {"sessionId": "s", "modelId": "p:stub"}
    assert meeting.answer()[0].data["model"] == "p:stub"
    assert meeting.params == {"sessionId": "s", "modeId": "plan"}


def test_without_a_plan_mode_there_is_no_plan_and_a_model_that_is_not_taken_ends_it() -> None:
    meeting = Meeting(permission=PLAN).opened()
    assert meeting.ending == ("UnsupportedFlag", "capability")
    assert all(row["method"] != "session/prompt" for row in meeting.sent)
    refused = Meeting(permission=PLAN).opened(modes=MODES)
    refused.refuse(-32602, "not here")
    assert refused.ending != ("", "")
    assert Meeting(model="big").opened().ending == ("AgentFailed", "model")
    unknown = Meeting(model="huge").opened(configOptions=OPTIONS)
    assert unknown.params["value"] == "huge"  # it may know more than it lists
    unknown.refuse(-32602, "unknown value")
    assert unknown.ending == ("AgentFailed", "model")
    without = Meeting(effort="high").opened()
    assert [e.data for e in without.events if "effort" in e.data] == [{"effort": "its own"}]
    assert without.sent[-1]["method"] == "session/prompt"


def test_a_sign_in_that_needs_nobody_is_done() -> None:
    meeting = Meeting()
    meeting.answer(**CAPABLE, authMethods=[{"id": "web", "name": "Browser"}, {"id": "api-key"}])
    meeting.refuse(-32000, "Authentication required")
    assert meeting.params == {"methodId": "api-key"}
    meeting.answer()
    assert meeting.sent[-1]["method"] == "session/new"
    meeting.refuse(-32000, "Authentication required")
    assert meeting.ending == ("AuthMissing", "sign_in")
    assert "Browser" in str(meeting.events[-1].data["message"])
    assert sum(row["method"] == "authenticate" for row in meeting.sent) == 1


def test_an_old_session_is_gone_on_with() -> None:
    meeting = Meeting(resume="old-1")
    meeting.answer(**CAPABLE)
    assert (meeting.sent[-1]["method"], meeting.params["sessionId"]) == ("session/load", "old-1")
    assert meeting.answer()[0].data["session"] == "old-1"
    newer = Meeting(resume="old-1")
    newer.answer(protocolVersion=1, agentCapabilities={"sessionCapabilities": {"resume": {}}})
    assert newer.sent[-1]["method"] == "session/resume"
    unable = Meeting(resume="old-1")
    unable.answer(protocolVersion=1, agentCapabilities={})
    assert unable.ending[0] == "UnsupportedFlag"


@pytest.mark.parametrize("agent", acp.ADAPTERS, ids=lambda agent: agent.key())
def test_each_row_builds_a_conversation(agent: Any) -> None:
    result = DetectResult(
        adapter=agent.key(),
        binary=Path("/opt/x") / agent.descriptor.binaries[0],
        flags=frozenset(flag.name for flag in agent.table),
    )
    effort = Effort.HIGH if agent.descriptor.efforts else None
    more: dict[str, Any] = {"model": "m", "effort": effort, "preface": "Be brief."}
    command = agent.build_command(
        SpawnRequest(prompt="/clear", worktree=Path(ROOT), **more), result
    )
    assert command.stdin == b"Be brief.\n\n/clear"
    talk = agent.conversation(command)
    (hello,) = talk.acts()
    assert b'"initialize' in hello.data
    assert [event.kind for event in talk.end(ExitStatus(code=1), {})] == ["failed"]


def test_a_prompt_that_begins_with_a_slash_is_no_command() -> None:
    (block,) = Meeting(prompt="\n/clear").opened().params["prompt"]
    assert not block["text"].lstrip().startswith("/")
    assert block["text"].endswith("\n/clear")

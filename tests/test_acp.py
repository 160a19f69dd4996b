"""The Agent Client Protocol: what Hydra says and allows, on a made-up agent. What is understood of
one is in `made.json` and the recordings of fixtures/adapters/acp."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra import __version__
from hydra.adapters import acp
from hydra.adapters.contract import Write
from hydra.adapters.protocols.acp import AcpConversation
from hydra.adapters.protocols.acp_session import AcpDialect, AcpRequest
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.request import Permission
from tests.support.golden_text import approved, section

ROOT = "/lane/shop"
MODES = {"availableModes": [{"id": "default"}, {"id": "plan"}], "currentModeId": "default"}
CAPABLE: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
SESSION: dict[str, Any] = {"sessionId": "s"}
Answer = dict[str, Any] | tuple[int, str]
FULL, EDIT, PLAN = Permission.FULL_AUTO, Permission.EDIT, Permission.PLAN


class Meeting:
    """A conversation, what a made-up agent says in it, and a log of both."""

    def __init__(self, **wish: Any) -> None:
        dialect = AcpDialect(label="X", modes={PLAN: ("plan",)})
        request = {"root": ROOT, "prompt": "Do it", "permission": FULL} | wish
        self.talk = AcpConversation(dialect, AcpRequest(**request))
        self.sent: list[dict[str, Any]] = []
        self.log: list[str] = []
        self._gather()

    def hear(self, **message: Any) -> list[AgentEvent]:
        """One message of the agent's, and the events it makes."""
        events = self.talk.parse_line(json.dumps({"jsonrpc": "2.0", **message}).encode())
        self.log += [f"  {e.kind} {e.sub} {json.dumps(dict(e.data))}" for e in events]
        self._gather()
        return events

    def answer(self, answer: Answer) -> list[AgentEvent]:
        """The answer to what was asked last, or an error in its place: a code and a text."""
        id = self.sent[-1]["id"]
        if isinstance(answer, dict):
            return self.hear(id=id, result=answer)
        return self.hear(id=id, error={"code": answer[0], "message": answer[1]})

    def opened(self, **session: Any) -> Meeting:
        """As far as an open session."""
        self.answer(CAPABLE)
        self.answer(SESSION | session)
        return self

    def _gather(self) -> None:
        for act in self.talk.acts():
            if isinstance(act, Write):
                assert (act.data.endswith(b"\n"), act.data.count(b"\n")) == (True, 1)
                self.sent.append(json.loads(act.data))
                params = self.sent[-1].get("params")
                self.log.append(f"> {self.sent[-1].get('method')} {json.dumps(params)}")
            else:
                self.log.append(f"> {type(act).__name__}")


def asks(kind: str, path: str = "", **fields: Any) -> dict[str, Any]:
    """A request for a permission."""
    kinds = {"always": "allow_always", "yes": "allow_once", "no": "reject_once"}
    call = {"toolCallId": "t1", "kind": kind, "title": "x", **fields}
    call["locations"] = [{"path": path}] if path else []
    rows = [{"optionId": id, "kind": kind} for id, kind in kinds.items()]
    params = {"sessionId": "s", "toolCall": call, "options": rows}
    return {"id": 7, "method": "session/request_permission", "params": params}


def option(id: str, category: str, *values: str, current: str = "") -> dict[str, Any]:
    rows: list[dict[str, Any]] = [{"value": value} for value in values]
    held = rows if id != "m" else [{"group": "g", "options": rows}]
    now = {"currentValue": current or values[0]}
    return {"id": id, "category": category, "options": held, **now}


def offered(**current: str) -> dict[str, Any]:
    rows = {
        "m": ("model", "a/small", "a/big"),
        "how": ("mode", "https://x/modes#agent", "https://x/modes#plan"),
        "effort": ("thought_level", "low", "xhigh"),
    }
    options = [option(id, *row, current=current.get(id, "")) for id, row in rows.items()]
    return {"configOptions": options}


MODELS = {"availableModels": [{"modelId": "p:stub", "name": "stub"}], "currentModelId": "x"}
WAYS = [{"id": "web", "name": "Browser"}, {"id": "api-key"}]
SIGNED_OUT = (-32000, "Authentication required")
RESUMES: dict[str, Any] = {"sessionCapabilities": {"resume": {}}}
PLAN_MODE = "https://x/modes#plan"
MEETINGS: dict[str, tuple[dict[str, Any], list[Answer]]] = {
    "from hello to goodbye": ({}, [CAPABLE, SESSION, {"stopReason": "end_turn"}]),
    "a model, a mode and an effort": (
        {"permission": PLAN, "model": "big", "effort": "max"},
        [
            *(CAPABLE, SESSION | offered() | {"modes": MODES}, offered(m="a/big")),
            offered(m="a/big", how=PLAN_MODE),
            offered(m="a/big", how=PLAN_MODE, effort="xhigh"),
        ],
    ),
    "a mode that it does not take": (
        {"permission": PLAN},
        [CAPABLE, SESSION | offered(), offered()],
    ),
    "modes and models of the older form": (
        {"permission": PLAN, "model": "stub"},
        [CAPABLE, SESSION | {"modes": MODES, "models": MODELS}, {}, {}],
    ),
    "no plan mode": ({"permission": PLAN}, [CAPABLE, SESSION]),
    "a plan mode that is refused": (
        {"permission": PLAN},
        [CAPABLE, SESSION | {"modes": MODES}, (-32602, "not here")],
    ),
    "no models": ({"model": "big"}, [CAPABLE, SESSION]),
    "a model that is refused": (
        {"model": "huge"},  # it may know more than it lists
        [CAPABLE, SESSION | offered(), (-32602, "unknown value")],
    ),
    "no efforts": ({"effort": "high"}, [CAPABLE, SESSION]),
    "a sign-in that needs nobody": (
        {},
        [CAPABLE | {"authMethods": WAYS}, SIGNED_OUT, {}, SIGNED_OUT],
    ),
    "an old session": ({"resume": "old-1"}, [CAPABLE, {}]),
    "an old session, newer": (
        {"resume": "old-1"},
        [{"protocolVersion": 1, "agentCapabilities": RESUMES}],
    ),
    "no old sessions": (
        {"resume": "old-1"},
        [{"protocolVersion": 1, "agentCapabilities": {}}],
    ),
    "a prompt with a slash": ({"prompt": "\n/clear"}, [CAPABLE, SESSION]),
}


def test_what_is_said_in_a_meeting_as_approved() -> None:
    text = ""
    for name, (wish, answers) in MEETINGS.items():
        meeting = Meeting(**wish)
        for answer in answers:
            meeting.answer(answer)
        text += section(name, "\n".join(meeting.log))
    approved("acp.txt", text.replace(f'"version": "{__version__}"', '"version": "0"'))


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
        meeting.answer({})
    events = meeting.hear(**asks(kind, path))
    chosen = {"outcome": "selected", "optionId": "yes" if allowed else "no"}
    assert meeting.sent[-1]["result"]["outcome"] == chosen
    denied = [event for event in events if event.data.get("denied")]
    assert len(denied) == (not allowed)


PATHS = {
    **{"out/stolen.txt": False, "alias.txt": False, "a\0": False},
    "out/../kept.txt": False,  # of the folder that the link leads to
    **{"inner/kept.txt": True, "src/new/file.txt": True},
}


def test_no_link_of_the_repositorys_leads_an_edit_out_of_it(tmp_path: Path) -> None:
    """Where nothing confines, Hydra's answer is the only wall. The worktree's own path may be one
    by a link too."""
    whole = tmp_path / "whole"
    (whole / "src").mkdir(parents=True)
    (whole / "out").symlink_to(tmp_path)
    (whole / "alias.txt").symlink_to(tmp_path / "not-yet.txt")
    (whole / "inner").symlink_to("src")
    (tmp_path / "shop").symlink_to(whole)
    for root in (whole, tmp_path / "shop"):
        for path, allowed in PATHS.items():
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
    events = meeting.hear(id=prompt, result={"stopReason": "cancelled"})
    assert [event.kind for event in events][-1] == "completed"

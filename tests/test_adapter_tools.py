"""Tool calls and their answers: each told once, counted, and said in one line."""

from __future__ import annotations

import pytest

from hydra.adapters.json_fields import Object
from hydra.adapters.json_stream import RecentIds, Tools, summary

TARGETS = ("path", "pattern")


def test_a_call_and_its_answer_are_told_once() -> None:
    tools = Tools({"write"})
    assert [event.kind for event in tools.call("1", "read", "Read a.txt")] == ["tool_call"]
    assert tools.call("1", "read", "Read a.txt") == []
    assert (tools.name("1"), tools.name("2"), tools.over("1")) == ("read", "", False)
    [agent_event] = tools.answer("1", "read", "three lines", ok=True)
    assert agent_event.data == {"id": "1", "ok": True, "summary": "three lines"}
    assert tools.over("1")
    assert tools.answer("1", "read", "again", ok=False, denied=True) == []
    assert (tools.denials, tools.failed_edits) == ([], 0)


def test_what_was_refused_is_no_failed_edit() -> None:
    tools = Tools({"write"})
    tools.answer("1", "write", "no", ok=False, denied=True)
    tools.answer("2", "write", "disk full", ok=False)
    tools.answer("3", "read", "no such file", ok=False)
    assert (tools.denials, tools.failed_edits) == (["write"], 1)


def test_denials_are_bounded() -> None:
    tools = Tools(())
    for number in range(RecentIds.LARGEST + 5):
        tools.answer(str(number), "x" * 1000, "no", ok=False, denied=True)
    assert len(tools.denials) == RecentIds.LARGEST
    assert {len(name) for name in tools.denials} == {RecentIds.LONGEST}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"command": "bash -lc 'pytest -q'", "path": "/lane/a.py"}, "$ pytest -q"),
        ({"path": "/lane/a.py", "pattern": "x"}, "Read a.py"),
        ({"pattern": "x"}, "Read x"),
        ({"command": 1, "path": None}, "Read"),
    ],
)
def test_what_a_call_is_about(document: Object, text: str) -> None:
    assert summary("Read", document, TARGETS, "/lane") == text

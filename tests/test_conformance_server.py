"""The scripted model server, spoken to as the CLIs speak to it; the real ones are in tests/live."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any

import pytest

from hydra.conformance.codex_tools import item_for
from hydra.conformance.script import FAULTS, Script, load, names, parse
from hydra.conformance.server import ModelServer, serve
from hydra.errors import ConfigError

KEY = "sk-made-up-0123456789"
CLAUDE_TOOLS = [
    {"name": "Bash", "input_schema": {"properties": {"command": {}, "description": {}}}},
    {"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}},
]


def claude_body(*results: str, stream: bool = True, tools: Any = CLAUDE_TOOLS) -> dict[str, Any]:
    answers = [{"type": "tool_result", "tool_use_id": name, "content": "ok"} for name in results]
    system = "# Environment\n - Primary working directory: /lane/shop\n - Platform: linux"
    return {
        "model": "claude-x",
        "stream": stream,
        "tools": tools,
        "system": [{"type": "text", "text": system}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "task"}, *answers]}],
    }


def ask(
    server: ModelServer,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=timeout)
    sent = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, **(headers or {})}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read()
    finally:
        connection.close()


def script(*turns: Mapping[str, Any]) -> Script:
    return parse("test", {"about": "a test", "turn": list(turns)})


WRITE = {"tool": [{"kind": "write_file", "path": "a-{agent}.txt", "text": "by {agent}\n"}]}


@pytest.mark.parametrize("name", names())
def test_every_script_of_hydra_loads_and_says_what_it_is(name: str) -> None:
    loaded = load(name)
    assert loaded.about
    assert loaded.turns


def test_every_fault_has_a_script() -> None:
    used = {turn.fault.kind for name in names() for turn in load(name).turns if turn.fault}
    assert used == set(FAULTS)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "at least one"),
        ({"turn": [{"sya": "x"}]}, "unknown field `sya`"),
        ({"turn": [{}]}, "neither says nor does"),
        ({"turn": [{"tool": [{"kind": "dance"}]}]}, "tool 'dance' is unknown"),
        ({"turn": [{"tool": [{"kind": "shell"}]}]}, "shell needs command"),
        ({"turn": [{"fault": {"kind": "flood"}}]}, "fault 'flood' is unknown"),
        ({"turn": [{"say": "x", "fault": {"kind": "hang"}}]}, "nothing is said"),
        ({"turn": [{"fault": {"kind": "stall"}}]}, "neither says nor does"),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse("wrong", data)


def test_an_unknown_script_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no script nope") as error:
        load("nope")
    assert "edit" in error.value.hint


def test_codex_tools_follow_what_the_model_is_offered() -> None:
    [write] = script(WRITE).for_agent("codex", {"agent": "codex"}).turns[0].tools
    plain = item_for(write, {"exec_command": frozenset({"cmd"}), "apply_patch": frozenset()})
    assert (plain["type"], plain["name"]) == ("custom_tool_call", "apply_patch")
    shell_only = item_for(write, {"exec_command": frozenset({"cmd"})})
    assert json.loads(shell_only["arguments"])["cmd"].startswith("apply_patch <<'HYDRA_PATCH'\n")
    old = item_for(write, {"shell": frozenset({"command"})})
    assert json.loads(old["arguments"])["command"][:2] == ["bash", "-lc"]


def test_side_requests_never_take_a_turn() -> None:
    with serve("unauthorized") as server:
        status, _, raw = ask(server, "/v1/messages", claude_body(tools=[], stream=False))
        assert (status, json.loads(raw)["stop_reason"]) == (200, "end_turn")
        status, _, raw = ask(server, "/v1/messages/count_tokens", claude_body())
        assert json.loads(raw)["input_tokens"] > 0
        for method, path in (("HEAD", "/api/hello"), ("GET", "/v1/models"), ("HEAD", "/")):
            assert ask(server, path, method=method)[0] == 200
        assert ask(server, "/elsewhere", method="GET")[0] == 404
        upgrade = {"upgrade": "websocket", "connection": "upgrade"}
        assert ask(server, "/v1/responses", method="GET", headers=upgrade)[0] == 426
        assert {request.answer for request in server.requests} == {
            "side", "count", "probe", "models", "not found", "no websocket",
        }  # fmt: skip


def test_requests_are_logged_without_keys() -> None:
    with serve("nothing") as server:
        body = claude_body()
        body["messages"].append({"role": "user", "content": f"env says {KEY}"})
        ask(server, f"/v1/messages?key={KEY}", body)
        [request] = server.requests
        assert "task" in server.sent("claude")
        assert server.sent("codex") == ""
    assert KEY not in request.body + request.path + str(request.headers)
    assert request.headers["x-api-key"] == request.headers["authorization"] == "[scrubbed]"
    assert (request.answer, request.place) == ("turn", 0)


def test_the_server_is_on_loopback_only() -> None:
    with serve("nothing") as server:
        assert server.server_address[0] == "127.0.0.1"

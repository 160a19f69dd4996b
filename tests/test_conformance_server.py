"""The scripted model server, spoken to as the CLIs speak to it; the real ones are in tests/live."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any

import pytest

from hydra.conformance.codex_tools import item_for, unfinished_call
from hydra.conformance.script import FAULTS, Script, load, names, parse
from hydra.conformance.server import ModelServer, serve
from hydra.errors import ConfigError
from tests.support.processes import wait_until

KEY = "sk-made-up-0123456789"
CLAUDE_TOOLS = [
    {"name": "Bash", "input_schema": {"properties": {"command": {}, "description": {}}}},
    {"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}},
]
CODE_MODE = {
    "type": "namespace",
    "name": "functions",
    "tools": [{"type": "custom", "name": "exec"}],
}


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


def codex_body(*results: str, output: str = "ok") -> dict[str, Any]:
    where = {"type": "input_text", "text": "<environment_context>\n<cwd>/lane/shop</cwd>"}
    answers = [
        {"type": "custom_tool_call_output", "call_id": name, "output": output} for name in results
    ]
    return {
        "model": "gpt-x",
        "stream": True,
        "input": [
            {"type": "additional_tools", "tools": [CODE_MODE]},
            {"type": "message", "role": "user", "content": [where]},
            *answers,
        ],
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


def events(raw: bytes) -> list[dict[str, Any]]:
    lines = raw.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def claude_tool(raw: bytes) -> tuple[str, str, dict[str, Any]]:
    """(id, name, input) of the one tool use in a stream."""
    start = next(
        event["content_block"]
        for event in events(raw)
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use"
    )
    parts = [event["delta"].get("partial_json", "") for event in events(raw) if "delta" in event]
    return start["id"], start["name"], json.loads("".join(parts))


def codex_items(raw: bytes) -> list[dict[str, Any]]:
    return [e["item"] for e in events(raw) if e["type"] == "response.output_item.done"]


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


def test_claude_gets_the_turn_after_its_last_tool_result_however_often_it_asks() -> None:
    with serve(script(WRITE, {"say": "Done."})) as server:
        for _ in range(2):
            status, headers, raw = ask(server, "/v1/messages?beta=true", claude_body())
            identifier, name, document = claude_tool(raw)
            assert (status, headers["content-type"]) == (200, "text/event-stream")
            assert name == "Write"
            assert document == {"file_path": "/lane/shop/a-claude.txt", "content": "by claude\n"}
        _, _, raw = ask(server, "/v1/messages", claude_body(identifier))
        documents = [event["delta"].get("text", "") for event in events(raw) if "delta" in event]
        assert "".join(documents) == "Done."
        assert [event["type"] for event in events(raw)][-1] == "message_stop"


def test_codex_gets_the_same_script_as_code_for_its_exec_tool() -> None:
    with serve(script(WRITE, {"think": "Hm.", "say": "Done."})) as server:
        _, _, raw = ask(server, "/v1/responses", codex_body())
        [call] = codex_items(raw)
        assert (call["type"], call["name"]) == ("custom_tool_call", "exec")
        assert "*** Add File: a-codex.txt\\n+by codex\\n" in call["input"]
        _, _, raw = ask(server, "/v1/responses", codex_body(call["call_id"]))
        thought, document = codex_items(raw)
        assert thought["summary"][0]["text"] == "Hm."
        assert document["content"][0]["text"] == "Done."
        assert events(raw)[-1]["response"]["usage"]["input_tokens"] == 1200


def test_a_tool_that_still_runs_is_waited_for_and_the_turn_stays() -> None:
    waits = {"tool": [{"kind": "shell", "command": "sleep 600"}]}
    running = "Script running with cell ID 7\nWall time 30 s"
    with serve(script(waits, {"say": "Done."})) as server:
        _, _, raw = ask(server, "/v1/responses", codex_body())
        [first] = codex_items(raw)
        _, _, raw = ask(server, "/v1/responses", codex_body(first["call_id"], output=running))
        [wait] = codex_items(raw)
        assert (wait["name"], json.loads(wait["arguments"])["cell_id"]) == ("wait", "7")
        assert wait["call_id"] != first["call_id"]
        _, _, raw = ask(server, "/v1/responses", codex_body(first["call_id"], wait["call_id"]))
        assert codex_items(raw)[0]["content"][0]["text"] == "Done."
    session = unfinished_call({"output": "Process running with session ID 41"})
    assert session is not None
    assert session.arguments["input"]["session_id"] == 41


def test_codex_tools_follow_what_the_model_is_offered() -> None:
    [write] = script(WRITE).for_agent("codex", {"agent": "codex"}).turns[0].tools
    plain = item_for(write, {"exec_command": frozenset({"cmd"}), "apply_patch": frozenset()})
    assert (plain["type"], plain["name"]) == ("custom_tool_call", "apply_patch")
    shell_only = item_for(write, {"exec_command": frozenset({"cmd"})})
    assert json.loads(shell_only["arguments"])["cmd"].startswith("apply_patch <<'HYDRA_PATCH'\n")
    old = item_for(write, {"shell": frozenset({"command"})})
    assert json.loads(old["arguments"])["command"][:2] == ["bash", "-lc"]


def test_one_turn_may_hold_several_tools_and_one_agent_only_turns() -> None:
    both = {"tool": [{"kind": "shell", "command": "one"}, {"kind": "shell", "command": "two"}]}
    with serve(script({"say": "only codex", "agent": "codex"}, both)) as server:
        _, _, raw = ask(server, "/v1/messages", claude_body(stream=False))
        commands = [block["input"]["command"] for block in json.loads(raw)["content"]]
        assert commands == ["one", "two"]
        _, _, raw = ask(server, "/v1/responses", codex_body())
        assert codex_items(raw)[0]["content"][0]["text"] == "only codex"


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


@pytest.mark.parametrize(
    ("name", "status", "claude_type"),
    [
        ("unauthorized", 401, "authentication_error"),
        ("forbidden", 403, "permission_error"),
        ("no_model", 404, "not_found_error"),
        ("rate_limit", 429, "rate_limit_error"),
        ("server_error", 500, "api_error"),
        ("overloaded", 529, "overloaded_error"),
    ],
)
def test_errors_have_each_services_own_shape(name: str, status: int, claude_type: str) -> None:
    with serve(name) as server:
        got, headers, raw = ask(server, "/v1/messages", claude_body())
        assert (got, json.loads(raw)["error"]["type"]) == (status, claude_type)
        assert headers.get("retry-after") == ("30" if name == "rate_limit" else None)
        got, _, raw = ask(server, "/v1/responses", codex_body())
        assert (got, bool(json.loads(raw)["error"]["message"])) == (status, True)


def test_overflow_says_what_each_cli_looks_for() -> None:
    with serve("overflow") as server:
        status, _, raw = ask(server, "/v1/messages", claude_body())
        assert status == 400
        assert "prompt is too long" in json.loads(raw)["error"]["message"]
        status, _, raw = ask(server, "/v1/responses", codex_body())
        assert events(raw)[-1]["response"]["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize(
    ("path", "body"), [("messages", claude_body()), ("responses", codex_body())]
)
def test_a_broken_stream_ends_in_the_middle(path: str, body: dict[str, Any]) -> None:
    with serve("garbage") as server:
        raw = ask(server, f"/v1/{path}", body)[2]
        assert b"\xff\xfe" in raw
        assert b"message_stop" not in raw
        assert b"response.completed" not in raw
    with serve("malformed") as server, pytest.raises(json.JSONDecodeError):
        events(ask(server, f"/v1/{path}", body)[2])
    with serve("error_event") as server:
        assert events(ask(server, f"/v1/{path}", body)[2])[-1]["type"] in (
            "error", "response.failed",
        )  # fmt: skip
    cut = (http.client.IncompleteRead, ConnectionResetError)
    with serve("drop_mid_stream") as server, pytest.raises(cut):
        ask(server, f"/v1/{path}", body)


def test_without_streaming_there_is_no_stream_to_break() -> None:
    with serve("garbage") as server:
        raw = ask(server, "/v1/messages", claude_body(stream=False))[2]
        assert json.loads(raw)["stop_reason"] == "end_turn"


def test_a_dropped_connection_gives_no_byte() -> None:
    with serve("drop") as server, pytest.raises((ConnectionError, http.client.BadStatusLine)):
        ask(server, "/v1/messages", claude_body())


@pytest.mark.parametrize("name", ["hang", "stall"])
def test_silence_lasts_until_the_client_goes_and_ends_with_the_server(name: str) -> None:
    with serve(name) as server:
        with pytest.raises(TimeoutError):
            ask(server, "/v1/messages", claude_body(), timeout=0.3)
        # The request may be entered after the client has lost patience.
        assert wait_until(lambda: server.requests)
        assert [request.answer for request in server.requests] == [f"fault:{name}"]


def test_a_fault_that_passes_is_counted_by_conversation() -> None:
    with serve("server_error_once") as server:
        for conversation in ("one", "two"):
            headers = {"x-claude-code-session-id": conversation}
            first, _, _ = ask(server, "/v1/messages", claude_body(), headers=headers)
            second, _, raw = ask(server, "/v1/messages", claude_body(), headers=headers)
            assert (first, second, claude_tool(raw)[1]) == (500, 200, "Write")


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

"""The scripted model server, spoken to as the CLIs speak to it; the real ones are in tests/live."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import pytest

from hydra.conformance.codex_tools import item_for
from hydra.conformance.routes import route
from hydra.conformance.script import FAULTS, Script, ScriptTool, load, names, parse
from hydra.conformance.server import ModelServer, serve
from tests.support.golden_text import approved, section
from tests.support.offers import FOLDER, OFFERS

KEY = "sk-made-up-0123456789"
CHAT = "/agent/qwen/v1/chat/completions"
GEMINI = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
WHOLE = "/v1beta/models/gemini-x:generateContent"
WRITE = {"tool": [{"kind": "write_file", "path": "a-{agent}.txt", "text": "by {agent}\n"}]}
DONE = {"think": "Hm.", "say": "Done, and this is a longer sentence."}


def script(*turns: Mapping[str, Any]) -> Script:
    return parse("test", {"about": "a test", "turn": list(turns)})


def ask(
    server: ModelServer,
    path: str,
    body: Mapping[str, Any] | bytes | None = None,
    method: str = "",
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    where = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    with closing(where) as connection:
        sent = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, **headers}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, data, sent)
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read()


# --- what CLIs send, shortened -------------------------------------------------------------------


def claude(*results: str, **more: Any) -> dict[str, Any]:
    answers = [{"type": "tool_result", "tool_use_id": name, "content": "ok"} for name in results]
    names = {"Bash": ("command", "description"), "Write": ("file_path", "content")}
    tools = [
        {"name": name, "input_schema": {"properties": {key: {} for key in keys}}}
        for name, keys in names.items()
    ]
    system = f"# Environment\n - Primary working directory: {FOLDER}\n - Platform: linux"
    content = [{"type": "text", "text": "the task"}, *answers]
    head: dict[str, Any] = {"model": "claude-x", "stream": True, "tools": tools}
    head["system"] = [{"type": "text", "text": system}]
    return head | {"messages": [{"role": "user", "content": content}], **more}


def codex(*results: str, output: str = "ok", **more: Any) -> dict[str, Any]:
    text = {"type": "input_text", "text": f"<cwd>{FOLDER}</cwd>"}
    items: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": [text]}]
    answers = ({"type": "function_call_output", "call_id": n, "output": output} for n in results)
    parameters: dict[str, Any] = {"properties": {"cmd": {}, "session_id": {}}}
    shell = {"type": "function", "name": "exec_command", "parameters": parameters}
    return {"model": "gpt-x", "stream": True, "input": [*items, *answers], "tools": [shell], **more}


def chat(*results: str, agent: str = "qwen", **more: Any) -> dict[str, Any]:
    offer = OFFERS[agent]
    functions = [{"name": name, "parameters": p} for name, p in offer.schemas().items()]
    messages = [
        {"role": "system", "content": f"You help.\n{offer.folder}"},
        {"role": "user", "content": [{"type": "text", "text": "the task"}]},
        *({"role": "tool", "tool_call_id": name, "content": "ok"} for name in results),
    ]
    tools = [{"type": "function", "function": function} for function in functions]
    return {"model": "stub-model", "stream": True, "messages": messages, "tools": tools, **more}


def gemini(*results: str, **more: Any) -> dict[str, Any]:
    schemas = OFFERS["gemini"].schemas()
    functions = [{"name": n, "parametersJsonSchema": schema} for n, schema in schemas.items()]
    rows: list[list[dict[str, Any]]] = [[{"text": OFFERS["gemini"].folder}, {"text": "the task"}]]
    for name in results:
        answer = {"name": "write_file", "id": name, "response": {"output": "ok"}}
        rows.append([{"functionResponse": answer}])
    contents = [{"role": "user", "parts": parts} for parts in rows]
    return {"contents": contents, "tools": [{"functionDeclarations": functions}], **more}


Body = Callable[..., dict[str, Any]]
DIALECTS: dict[str, Body] = {
    "/v1/messages": claude,
    "/v1/responses": codex,
    CHAT: chat,
    GEMINI: gemini,
}


# --- scripts -------------------------------------------------------------------------------------


def test_every_script_says_what_it_is_and_every_fault_has_one() -> None:
    scripts = [load(name) for name in names()]
    assert all(item.about and item.turns for item in scripts)
    used = {turn.fault.kind for item in scripts for turn in item.turns if turn.fault}
    assert used == set(FAULTS)


# --- turns ---------------------------------------------------------------------------------------


def exchange(server: ModelServer, title: str, path: str, *args: Any, **headers: Any) -> str:
    """A request and the whole of its answer; what is counted by process has no number."""
    status, seen, raw = ask(server, path, *args, **headers)
    kept = {name: seen[name] for name in ("content-type", "retry-after") if name in seen}
    text = re.sub(r'hydra([_-])\d+"', r'hydra\1N"', raw.decode())
    return section(f"{title}: {path}", f"{status} {kept}\n{text}")


def called(text: str) -> str:
    """The id of the last call in an answer."""
    return str(re.findall(r'"([\w-]*hydra_?\d+n\d+)"', text)[-1])


def test_each_dialect_answers_as_its_service_does_as_approved() -> None:
    text = ""
    with serve(script(WRITE, DONE)) as server:
        for path, body in DIALECTS.items():
            first = exchange(server, "a turn", path, body())
            assert exchange(server, "a turn", path, body()) == first  # however often it asks
            text += first + exchange(server, "the next", path, body(called(first)))
            if body is codex:
                waits = "Process running with session ID 7"
                text += exchange(server, "a wait", path, codex(called(first), output=waits))
        text += exchange(server, "in one piece", WHOLE, gemini())
        for path, body in list(DIALECTS.items())[:3]:
            text += exchange(server, "in one piece", path, body(stream=False))
    approved("model-server.txt", text)


FAULTS_OF_SERVICES = (
    "unauthorized",
    "forbidden",
    "no_model",
    "rate_limit",
    "server_error",
    "overflow",
)


def test_errors_have_each_services_own_shape_as_approved() -> None:
    text = ""
    for name in FAULTS_OF_SERVICES:
        with serve(name) as server:
            for path, body in DIALECTS.items():
                text += exchange(server, name, path, body())
    approved("model-server-errors.txt", text)


@pytest.mark.parametrize("change", [lambda name: name.replace("_", ""), lambda name: f"x__{name}"])
def test_an_id_that_an_agent_has_changed_still_says_its_turn(change: Any) -> None:
    turns = [{"tool": [{"kind": "shell", "command": str(n)}] * 2} for n in range(12)]
    with serve(script(*turns, DONE)) as server:
        done: list[str] = []
        for place in range(12):
            raw = json.loads(ask(server, CHAT, chat(*done, stream=False))[2])
            rows = raw["choices"][0]["message"]["tool_calls"]
            assert json.loads(rows[0]["function"]["arguments"])["command"] == str(place)
            done += [change(row["id"]) for row in rows]


def test_the_path_says_which_agent_asks_in_every_dialect_and_a_turn_may_be_for_one() -> None:
    asks: dict[str, tuple[dict[str, Any], str]] = {
        "/v1/messages": (claude(), "claude"),
        "/agent/claude-2/v1/messages": (claude(), "claude-2"),
        "/v1/responses": (codex(), "codex"),
        "/v1/chat/completions": (chat(), "chat"),
        CHAT: (chat(), "qwen"),
        WHOLE: (gemini(), "gemini"),
        f"/agent/other{WHOLE}": (gemini(), "other"),
    }
    mine = {"say": "only qwen's", "agent": "qwen"}
    with serve(script(mine, {"say": "I am {agent}."})) as server:
        for path, (body, agent) in asks.items():
            text = "only qwen's" if agent == "qwen" else f"I am {agent}."
            assert text.encode() in ask(server, path, {**body, "stream": False})[2]
            assert server.requests[-1].agent == agent
        assert ("the task" in server.sent("qwen"), server.sent("nobody")) == (True, "")
    assert route("/agent/qwen/v1/telemetry").dialect is None
    assert route("/agent/qwen").agent == ""
    assert route("/chat/completions?x=/v1/messages").agent == "chat"


# --- beside the script ---------------------------------------------------------------------------


def test_what_stands_beside_the_task_takes_no_turn_as_approved() -> None:
    properties = {"reasoning": {"type": "string"}, "next": {"enum": ["user", "model"]}}
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    memory = {"role": "system", "content": "You are the managed memory extraction subagent."}
    wants = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    count = "/agent/gemini/v1beta/models/gemini-x:countTokens"
    text = ""
    with serve("unauthorized") as server:
        for title, path, body in (
            ("a title", CHAT, chat(tools=[], stream=False)),
            ("JSON", CHAT, chat(tools=[], stream=False, response_format=form)),
            ("JSON", WHOLE, gemini(tools=[], generationConfig=wants)),
            ("a memory", CHAT, chat(messages=[memory], stream=False)),
            ("a title", "/v1/messages", claude(tools=[], stream=False)),
            ("a count", "/v1/messages/count_tokens", claude()),
            ("a count", count, gemini()),
            *(("models", path, None) for path in ("/v1/models", "/v1beta/models")),
            ("a model", "/agent/hermes/v1/models/stub-model", None),
            ("elsewhere", "/elsewhere", None),
            ("no request", CHAT, b"[]"),
            ("nonsense", CHAT, b"nonsense"),
        ):
            text += exchange(server, title, path, body)
        for path in ("/api/hello", "/"):
            text += exchange(server, "a look", path, None, "HEAD")
        upgrade: Any = {"upgrade": "websocket", "connection": "upgrade"}
        text += exchange(server, "a WebSocket", "/v1/responses", **upgrade)
        answers = sorted({request.answer for request in server.requests})
    approved("model-server-beside.txt", text + section("logged as", "\n".join(answers)))


def test_requests_are_logged_without_keys_on_loopback_only() -> None:
    with serve("nothing") as server:
        assert server.server_address[0] == "127.0.0.1"
        body = claude()
        body["messages"].append({"role": "user", "content": f"env says {KEY}"})
        ask(server, f"/v1/messages?key={KEY}", body)
        [request] = server.requests
        assert "task" in server.sent("claude")
    assert KEY not in request.body + request.path + str(request.headers)
    assert request.headers["x-api-key"] == request.headers["authorization"] == "[scrubbed]"
    assert (request.answer, request.place) == ("turn", 0)


# --- tools ---------------------------------------------------------------------------------------

FILES = {
    "read_file": {"path": "a b.txt"},
    "write_file": {"path": "a b.txt", "text": "one {old}\n"},
    "edit_file": {"path": "a b.txt", "old": "one {new}", "new": "two"},
    "shell": {"command": "make"},
}


def tool(kind: str, **arguments: Any) -> ScriptTool:
    return ScriptTool(kind=kind, arguments=arguments or FILES[kind])


def test_each_agent_gets_its_own_tools_with_its_own_arguments() -> None:
    item = script({"tool": [{"kind": kind, **arguments} for kind, arguments in FILES.items()]})
    lines = []
    with serve(item) as server:
        for agent in sorted(OFFERS):
            if agent == "gemini":
                raw = json.loads(ask(server, WHOLE, gemini())[2])
                rows = raw["candidates"][0]["content"]["parts"]
                called = [
                    (row["functionCall"]["name"], row["functionCall"]["args"]) for row in rows
                ]
            else:
                path = f"/agent/{agent}/v1/chat/completions"
                raw = json.loads(ask(server, path, chat(agent=agent, stream=False))[2])
                rows = [row["function"] for row in raw["choices"][0]["message"]["tool_calls"]]
                called = [(row["name"], json.loads(row["arguments"])) for row in rows]
            for kind, (name, arguments) in zip(FILES, called, strict=True):
                lines.append(f"{agent} {kind}: {name} {json.dumps(arguments)}\n")
    approved("own-tools.txt", "".join(lines))


def test_codex_tools_follow_what_the_model_is_offered() -> None:
    [write] = script(WRITE).for_agent("codex", {"agent": "codex"}).turns[0].tools
    plain = item_for(write, {"exec_command": frozenset({"cmd"}), "apply_patch": frozenset()})
    assert (plain["type"], plain["name"]) == ("custom_tool_call", "apply_patch")
    shell_only = item_for(write, {"exec_command": frozenset({"cmd"})})
    assert json.loads(shell_only["arguments"])["cmd"].startswith("apply_patch <<'HYDRA_PATCH'\n")
    old = item_for(write, {"shell": frozenset({"command"})})
    assert json.loads(old["arguments"])["command"][:2] == ["bash", "-lc"]


def test_edits_that_are_read_from_what_is_said_need_no_tool() -> None:
    """aider's: its first messages are examples, and no id says which turn was played."""

    def said(*before: str, words: str = "Use the *file listing* format.") -> str:
        rows = [("system", words), ("user", "an example"), ("assistant", "a.txt")]
        rows += [*(("assistant", text) for text in before), ("user", "the task")]
        body = {"messages": [{"role": role, "content": text} for role, text in rows]}
        status, _, raw = ask(server, "/agent/aider/v1/chat/completions", body)
        return str(json.loads(raw)["choices"][0]["message"]["content"]) if status == 200 else ""

    error = {"fault": {"kind": "status", "status": 500, "times": 1}}
    with serve(script({"say": "new.txt\n```\nby {agent}\n```"}, error, {"say": "Two."})) as server:
        first = said(words="Every *SEARCH/REPLACE block* must use this.")
        assert first == "new.txt\n```\nby aider\n```"
        assert [said(f"{first}\n") for _ in range(2)] == ["", "Two."]
        assert said(first, "Two.") == "The script has ended."
        assert said(words="Summarize it: SEARCH and REPLACE.") == "A short title"
        assert server.requests[-1].answer == "side"

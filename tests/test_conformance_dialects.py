"""Chat completions and Gemini, spoken to as the CLIs do, and the agent that a path names."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any

import pytest

from hydra.conformance.routes import route
from hydra.conformance.script import Script, parse
from hydra.conformance.server import ModelServer, serve
from tests.support.offers import FOLDER, OFFERS

CHAT = "/agent/qwen/v1/chat/completions"
GEMINI = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
WHOLE = "/v1beta/models/gemini-x:generateContent"
WRITE = {"tool": [{"kind": "write_file", "path": "a-{agent}.txt", "text": "by {agent}\n"}]}
DONE = {"think": "Hm.", "say": "Done, and this is a longer sentence."}


def script(*turns: Mapping[str, Any]) -> Script:
    return parse("test", {"about": "a test", "turn": list(turns)})


def ask(
    server: ModelServer, path: str, body: Mapping[str, Any] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    try:
        connection.request("GET" if body is None else "POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read()
    finally:
        connection.close()


def chat(*results: str, stream: bool = True, task: str = "the task", **more: Any) -> dict[str, Any]:
    schemas = OFFERS["qwen"].schemas()
    functions = [{"name": name, "parameters": schema} for name, schema in schemas.items()]
    return {
        "model": "stub-model",
        "stream": stream,
        "messages": [
            {"role": "system", "content": OFFERS["qwen"].folder},
            {"role": "user", "content": task},
            *({"role": "tool", "tool_call_id": name, "content": "ok"} for name in results),
        ],
        "tools": [{"type": "function", "function": function} for function in functions],
        **more,
    }


def gemini(*results: str, **more: Any) -> dict[str, Any]:
    schemas = OFFERS["gemini"].schemas()
    functions = [{"name": n, "parametersJsonSchema": schema} for n, schema in schemas.items()]
    answers = [
        {"functionResponse": {"name": "write_file", "id": name, "response": {"output": "ok"}}}
        for name in results
    ]
    task = {"role": "user", "parts": [{"text": OFFERS["gemini"].folder}, {"text": "the task"}]}
    return {
        "contents": [task, *({"role": "user", "parts": [answer]} for answer in answers)],
        "tools": [{"functionDeclarations": functions}],
        **more,
    }


def events(raw: bytes) -> list[dict[str, Any]]:
    lines = raw.decode().split("\n")
    data = [line[6:].strip() for line in lines if line.startswith("data: ")]
    return [json.loads(text) for text in data if text != "[DONE]"]


def deltas(raw: bytes) -> list[dict[str, Any]]:
    return [choice["delta"] for event in events(raw) for choice in event["choices"]]


def parts(raw: bytes) -> list[dict[str, Any]]:
    return [part for event in events(raw) for part in event["candidates"][0]["content"]["parts"]]


def test_chat_gets_the_turn_after_its_last_tool_result_however_often_it_asks() -> None:
    with serve(script(WRITE, DONE)) as server:
        for _ in range(2):
            status, headers, raw = ask(server, CHAT, chat())
            [call] = [d["tool_calls"][0] for d in deltas(raw) if "tool_calls" in d]
            assert (status, headers["content-type"]) == (200, "text/event-stream")
            assert json.loads(call["function"]["arguments"]) == {
                "file_path": f"{FOLDER}/a-qwen.txt",
                "content": "by qwen\n",
            }
        raw = ask(server, CHAT, chat(call["id"]))[2]
        assert "".join(d.get("reasoning_content", "") for d in deltas(raw)) == "Hm."
        assert "".join(d.get("content", "") for d in deltas(raw)) == DONE["say"]
        assert raw.endswith(b"data: [DONE]\n\n")
        ended = [c["finish_reason"] for event in events(raw) for c in event["choices"]]
        assert ended == [None] * (len(ended) - 1) + ["stop"]
        usage = events(raw)[-1]["usage"]
        assert (usage["prompt_tokens"], usage["completion_tokens"]) == (1200, 80)


@pytest.mark.parametrize("change", [lambda name: name.replace("_", ""), lambda name: f"x__{name}"])
def test_an_id_that_an_agent_has_changed_still_says_its_turn(change: Any) -> None:
    turns = [{"tool": [{"kind": "shell", "command": str(n)}] * 2} for n in range(12)]
    with serve(script(*turns, DONE)) as server:
        done: list[str] = []
        for place in range(12):
            raw = ask(server, CHAT, chat(*done))[2]
            calls = [d["tool_calls"][0] for d in deltas(raw) if "tool_calls" in d]
            assert json.loads(calls[0]["function"]["arguments"])["command"] == str(place)
            done += [change(call["id"]) for call in calls]


def test_gemini_gets_thoughts_calls_and_usage_as_its_service_sends_them() -> None:
    with serve(script(WRITE, DONE)) as server:
        status, headers, raw = ask(server, GEMINI, gemini())
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        [call] = [part["functionCall"] for part in parts(raw) if "functionCall" in part]
        assert (call["name"], call["args"]["content"]) == ("write_file", "by gemini\n")
        raw = ask(server, GEMINI, gemini(call["id"]))[2]
        assert "".join(part["text"] for part in parts(raw) if part.get("thought")) == "Hm."
        assert "".join(p["text"] for p in parts(raw) if not p.get("thought")) == DONE["say"]
        last = events(raw)[-1]
        assert last["candidates"][0]["finishReason"] == "STOP"
        assert last["usageMetadata"]["promptTokenCount"] == 1200
        assert last["modelVersion"] == "gemini-x"
        whole = json.loads(ask(server, WHOLE, gemini(call["id"]))[2])
        thought, document = whole["candidates"][0]["content"]["parts"]
        assert (thought["thought"], document["text"]) == (True, DONE["say"])
        assert whole["usageMetadata"]["totalTokenCount"] == 1280


def test_the_path_says_which_agent_asks_in_every_dialect() -> None:
    bash = {"name": "Bash", "input_schema": {"properties": {"command": {}}}}
    messages = {"model": "m", "tools": [bash], "messages": [{"role": "user", "content": "x"}]}
    responses = {"input": [], "tools": [{"type": "function", "name": "exec_command"}]}
    asks: dict[str, tuple[dict[str, Any], str]] = {
        "/v1/messages": (messages, "claude"),
        "/agent/claude-2/v1/messages": (messages, "claude-2"),
        "/v1/responses": (responses, "codex"),
        "/agent/codex-2/v1/responses": (responses, "codex-2"),
        "/v1/chat/completions": (chat(), "chat"),
        CHAT: (chat(), "qwen"),
        WHOLE: (gemini(), "gemini"),
        f"/agent/other{WHOLE}": (gemini(), "other"),
    }
    with serve(script({"say": "I am {agent}."})) as server:
        for path, (body, agent) in asks.items():
            assert f"I am {agent}.".encode() in ask(server, path, {**body, "stream": False})[2]
            assert server.requests[-1].agent == agent
        assert "the task" in server.sent("qwen")
        assert server.sent("nobody") == ""


def test_turns_and_tools_of_one_agent_are_for_the_agent_that_the_path_names() -> None:
    with serve(script({"say": "only qwen", "agent": "qwen"}, {"say": "all"})) as server:
        for agent, output in (("qwen", b"only qwen"), ("pi", b'"all"')):
            path = f"/agent/{agent}/v1/chat/completions"
            assert output in ask(server, path, chat(stream=False))[2]


def test_side_requests_take_no_turn_and_get_the_json_that_they_want() -> None:
    schema = {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "next": {"enum": ["user", "model"]}},
        "required": ["reasoning", "next"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    memory = {"role": "system", "content": "You are the managed memory extraction subagent."}
    with serve("unauthorized") as server:
        side = chat(tools=[], stream=False)
        assert "A short title" in ask(server, CHAT, side)[2].decode()
        document = json.loads(ask(server, CHAT, {**side, "response_format": form})[2])
        assert json.loads(document["choices"][0]["message"]["content"])["next"] == "user"
        wants = {"responseMimeType": "application/json", "responseJsonSchema": schema}
        body = gemini(tools=[], generationConfig=wants)
        [part] = json.loads(ask(server, WHOLE, body)[2])["candidates"][0]["content"]["parts"]
        assert json.loads(part["text"]) == {"reasoning": "scripted", "next": "user"}
        assert ask(server, CHAT, chat(messages=[memory]))[0] == 200
        assert {request.answer for request in server.requests} == {"side"}


def test_models_and_counts_are_answered_beside_the_script() -> None:
    with serve("unauthorized") as server:
        for path in ("/v1/models", "/agent/qwen/v1/models", "/v1beta/models"):
            status, _, raw = ask(server, path)
            assert (status, json.loads(raw)["object"]) == (200, "list")
        row = json.loads(ask(server, "/agent/hermes/v1/models/stub-model")[2])
        assert (row["id"], row["object"]) == ("stub-model", "model")
        count = "/agent/gemini/v1beta/models/gemini-x:countTokens"
        assert json.loads(ask(server, count, gemini())[2])["totalTokens"] > 0
        answers = {request.answer for request in server.requests}
        assert answers == {"models", "count"}


@pytest.mark.parametrize(
    ("name", "status", "code", "term"),
    [
        ("unauthorized", 401, "invalid_api_key", "UNAUTHENTICATED"),
        ("forbidden", 403, "forbidden", "PERMISSION_DENIED"),
        ("no_model", 404, "model_not_found", "NOT_FOUND"),
        ("rate_limit", 429, "rate_limit_exceeded", "RESOURCE_EXHAUSTED"),
        ("server_error", 500, "server_error", "INTERNAL"),
    ],
)
def test_errors_have_each_services_own_shape(name: str, status: int, code: str, term: str) -> None:
    with serve(name) as server:
        got, headers, raw = ask(server, CHAT, chat())
        assert (got, json.loads(raw)["error"]["code"]) == (status, code)
        assert headers.get("retry-after") == ("30" if name == "rate_limit" else None)
        got, _, raw = ask(server, GEMINI, gemini())
        error = json.loads(raw)["error"]
        assert (got, error["code"], error["status"]) == (status, status, term)
        delays = [detail["retryDelay"] for detail in error.get("details", ())]
        assert delays == (["30s"] if name == "rate_limit" else [])


def test_overflow_says_what_each_service_says() -> None:
    with serve("overflow") as server:
        status, _, raw = ask(server, CHAT, chat())
        assert (status, json.loads(raw)["error"]["code"]) == (400, "context_length_exceeded")
        status, _, raw = ask(server, GEMINI, gemini())
        assert (status, json.loads(raw)["error"]["status"]) == (400, "INVALID_ARGUMENT")
        assert b"exceeds the maximum number of tokens" in raw


@pytest.mark.parametrize("body", [b"[]", b"nonsense"])
def test_a_body_that_is_no_request_is_refused(body: bytes) -> None:
    with serve("edit") as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        connection.request("POST", CHAT, body)
        assert connection.getresponse().status == 400
        connection.close()


def test_a_path_beside_the_known_ones_has_no_dialect() -> None:
    assert route("/agent/qwen/v1/telemetry").dialect is None
    assert route("/agent/qwen").agent == ""
    assert route("/chat/completions?x=/v1/messages").agent == "chat"


def test_edits_that_are_read_from_what_is_said_need_no_tool() -> None:
    """aider's: its first messages are examples, and no id says which turn was played."""

    def said(*before: str, words: str = "Use the *file listing* format.") -> str:
        messages = [
            {"role": "system", "content": words},
            {"role": "user", "content": "an example"},
            {"role": "assistant", "content": "a.txt"},
            *({"role": "assistant", "content": text} for text in before),
            {"role": "user", "content": "the task"},
        ]
        status, _, raw = ask(server, "/agent/aider/v1/chat/completions", {"messages": messages})
        return str(json.loads(raw)["choices"][0]["message"]["content"]) if status == 200 else ""

    error = {"fault": {"kind": "status", "status": 500, "times": 1}}
    with serve(script({"say": "new.txt\n```\nby {agent}\n```"}, error, {"say": "Two."})) as server:
        first = said(words="Every *SEARCH/REPLACE block* must use this.")
        assert first == "new.txt\n```\nby aider\n```"
        assert [said(f"{first}\n") for _ in range(2)] == ["", "Two."]
        assert said(first, "Two.") == "The script has ended."
        assert said(words="Summarize it: SEARCH and REPLACE.") == "A short title"
        assert server.requests[-1].answer == "side"

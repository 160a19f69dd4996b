"""The OpenAI chat completions wire format, which most agent CLIs speak."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from hydra.conformance import request_texts
from hydra.conformance.dialect import ModelRequest, call_id, pieces, place_of
from hydra.conformance.script import ModelFault, ModelTurn
from hydra.conformance.tool_mapping import own_call

_ERRORS = {
    400: ("invalid_request_error", "invalid_request", "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("permission_error", "forbidden", "You are not allowed to use this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
}
_USUAL = ("server_error", "server_error", "The server had an error.")
_TOO_LONG = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "213462 tokens. Please reduce the length of the messages."
)
_BESIDE = ("memory extraction subagent",)
"""Words of the instructions whose request is beside the task though it offers tools (qwen)."""

_AS_TEXT = ("SEARCH/REPLACE", "*file listing*")
"""Words of the instructions whose request is the task though it offers none (aider)."""

_numbers = itertools.count(1)


class ChatCompletions:
    """The agents that speak it say who they are in the base URL: `/agent/NAME/v1`."""

    agent = "chat"

    def read(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> ModelRequest:
        """A request without tools is a side request, unless it wants its edits as text."""
        messages = [item for item in body.get("messages", ()) if isinstance(item, Mapping)]
        results = [item for item in messages if item.get("role") == "tool"]
        spoken = [text for item in messages for text in request_texts.texts(item.get("content"))]
        tasks = [_text(item) for item in messages if item.get("role") == "user"] or [""]
        cwd = request_texts.folder("\n".join(spoken))
        schemas = dict(_schema(tool) for tool in body.get("tools") or ())
        instructions = "".join(spoken[:1])
        as_text = not schemas and any(text in instructions for text in _AS_TEXT)
        lines = [_text(item) for item in messages if item.get("role") == "assistant"]
        return ModelRequest(
            # aider's first messages are examples, and its task is the last.
            conversation=request_texts.conversation(cwd, tasks[-1 if as_text else 0]),
            model=str(body.get("model", "")),
            cwd=cwd,
            answered=max((place_of(str(item.get("tool_call_id"))) for item in results), default=-1),
            results=len(results),
            stream=bool(body.get("stream")),
            side=not (schemas or as_text) or any(text in instructions for text in _BESIDE),
            schemas=schemas,
            wants=_answer_schema(body.get("response_format")),
            lines=tuple(lines) if as_text else (),
        )

    def events(self, turn: ModelTurn, request: ModelRequest, place: int) -> list[bytes]:
        """A chunk for each piece of what is thought and said, one a tool, the usage, [DONE]."""
        whole = self.document(turn, request, place)
        message = whole["choices"][0]["message"]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": part} for part in pieces(turn.think)]
        deltas += [{"content": part} for part in pieces(message["content"] or "")]
        for number, call in enumerate(message.get("tool_calls", ())):
            deltas.append({"tool_calls": [{"index": number, **call}]})
        choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
        ended = [{"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}]
        head = {**whole, "object": "chat.completion.chunk"}
        del head["usage"]
        sent = [_data({**head, "choices": choice}) for choice in (*choices, ended)]
        usage = _data({**head, "choices": [], "usage": whole["usage"]})
        return [*sent, usage, b"data: [DONE]\n\n"]

    def document(self, turn: ModelTurn, request: ModelRequest, place: int) -> dict[str, Any]:
        """The turn as one completion."""
        message: dict[str, Any] = {"role": "assistant", "content": turn.say or None}
        if turn.think:
            message["reasoning_content"] = turn.think
        if turn.tools:
            message["tool_calls"] = _calls(turn, request, place)
        elif not turn.say:
            message["content"] = ""
        ended = "tool_calls" if turn.tools else "stop"
        return {
            "id": f"chatcmpl-hydra-{next(_numbers)}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.model,
            "choices": [{"index": 0, "message": message, "finish_reason": ended}],
            "usage": {
                "prompt_tokens": turn.input_tokens,
                "completion_tokens": turn.output_tokens,
                "total_tokens": turn.input_tokens + turn.output_tokens,
                "prompt_tokens_details": {"cached_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def error(self, fault: ModelFault) -> dict[str, Any]:
        """The service's error body, its code by the status unless the fault names one."""
        kind, code, message = _ERRORS.get(fault.status, _USUAL)
        return _error(kind, fault.error or code, fault.message or message)

    def error_event(self, fault: ModelFault) -> bytes:
        """A chunk that is an error, in the middle of a stream."""
        kind, code, message = _USUAL
        return _data(_error(kind, fault.error or code, fault.message or message))

    def overflow(self, request: ModelRequest) -> tuple[int, list[bytes]]:
        """A 400 with the service's own code and sentence."""
        body = _error("invalid_request_error", "context_length_exceeded", _TOO_LONG)
        return 400, [json.dumps(body).encode()]


def _data(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _error(kind: str, code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _text(message: Mapping[str, Any]) -> str:
    return "\n".join(request_texts.texts(message.get("content")))


def _schema(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    own = tool.get("function") or tool.get("custom") or tool
    return str(own.get("name", "")), own.get("parameters") or {}


def _answer_schema(form: Any) -> Mapping[str, Any] | None:
    """The schema of the JSON that is to be answered, where it is not text."""
    if not isinstance(form, Mapping) or form.get("type") not in ("json_schema", "json_object"):
        return None
    return dict((form.get("json_schema") or {}).get("schema") or {"type": "object"})


def _calls(turn: ModelTurn, request: ModelRequest, place: int) -> list[dict[str, Any]]:
    calls = []
    for number, tool in enumerate(turn.tools):
        name, document = own_call(tool, request.schemas, request.cwd)
        function = {"name": name, "arguments": json.dumps(document)}
        identifier = call_id("call_", place, number)
        calls.append({"id": identifier, "type": "function", "function": function})
    return calls

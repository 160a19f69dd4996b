"""The OpenAI Responses wire format, as Codex 0.169.0 uses it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from hydra.conformance.codex_tools import item_for, offered_tools, unfinished_call
from hydra.conformance.dialect import ModelRequest, call_id, pieces, place_of, sse
from hydra.conformance.script import ModelFault, ModelTurn

_CWD = re.compile(r"<cwd>([^<]+)</cwd>")
_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("permission_error", "forbidden", "You are not allowed to use this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
}
_response_numbers = itertools.count(1)


class OpenAIResponses:
    """Codex's side of the conversation."""

    agent = "codex"

    def read(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> ModelRequest:
        """Code mode offers its tools in an `additional_tools` input item, others in `tools`."""
        items = [item for item in body.get("input", ()) if isinstance(item, Mapping)]
        results = [item for item in items if str(item.get("type", "")).endswith("call_output")]
        rows = offered_tools(body.get("tools", ()), items)
        match = _CWD.search("\n".join(_texts(items)))
        return ModelRequest(
            conversation=headers.get("thread-id", ""),
            model=str(body.get("model", "")),
            cwd=match[1] if match else "",
            answered=max((place_of(str(item.get("call_id"))) for item in results), default=-1),
            results=len(results),
            stream=bool(body.get("stream")),
            side=not rows,
            tools=rows,
            unfinished=unfinished_call(results[-1]) if results else None,
        )

    def events(self, turn: ModelTurn, request: ModelRequest, place: int) -> list[bytes]:
        """response.created, each output item, response.completed with the usage."""
        whole = self.document(turn, request, place)
        start = {"id": whole["id"], "object": "response", "status": "in_progress"}
        return [
            sse({"type": "response.created", "response": start}),
            *(event for n, item in enumerate(whole["output"]) for event in _item(n, item)),
            sse({"type": "response.completed", "response": whole}),
        ]

    def document(self, turn: ModelTurn, request: ModelRequest, place: int) -> dict[str, Any]:
        """The turn as one response."""
        return {
            "id": f"resp_hydra_{next(_response_numbers)}",
            "object": "response",
            "status": "completed",
            "model": request.model,
            "output": _output(turn, request, place),
            "usage": {
                "input_tokens": turn.input_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": turn.output_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": turn.input_tokens + turn.output_tokens,
            },
        }

    def error(self, fault: ModelFault) -> dict[str, Any]:
        """The service's error body, its code by the status unless the fault names one."""
        usual = ("server_error", "server_error", "The server had an error.")
        kind, code, message = _ERRORS.get(fault.status, usual)
        code = fault.error or code
        return {"error": {"type": kind, "code": code, "message": fault.message or message}}

    def error_event(self, fault: ModelFault) -> bytes:
        """`response.failed` in the middle of a stream."""
        return _failed(fault.error or "server_error", fault.message or "The server had an error.")

    def overflow(self, request: ModelRequest) -> tuple[int, list[bytes]]:
        """A stream that fails with the code Codex looks for."""
        message = "Your input exceeds the context window of this model."
        return 200, [_failed("context_length_exceeded", message)]


def _failed(code: str, message: str) -> bytes:
    response = {"id": f"resp_hydra_{next(_response_numbers)}", "status": "failed"}
    error = {"code": code, "message": message}
    return sse({"type": "response.failed", "response": {**response, "error": error}})


def _texts(items: list[Mapping[str, Any]]) -> list[str]:
    return [
        part["text"]
        for item in items
        if isinstance(item.get("content"), list)
        for part in item["content"]
        if isinstance(part.get("text"), str)
    ]


def _output(turn: ModelTurn, request: ModelRequest, place: int) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if turn.think:
        summary = [{"type": "summary_text", "text": turn.think}]
        output.append({"type": "reasoning", "id": f"rs_{place}", "summary": summary})
    if turn.say or not (turn.think or turn.tools):
        content = [{"type": "output_text", "text": turn.say, "annotations": []}]
        values = {"type": "message", "id": f"msg_{place}", "role": "assistant"}
        output.append({**values, "status": "completed", "content": content})
    for number, tool in enumerate(turn.tools):
        # A wait for an unfinished tool belongs to the same turn and needs an id of its own.
        identifier = call_id("call_", place, number + 100 * request.results)
        output.append({**item_for(tool, request.tools or {}), "call_id": identifier})
    return output


def _item(index: int, item: Mapping[str, Any]) -> list[bytes]:
    place = {"output_index": index}
    done = sse({"type": "response.output_item.done", **place, "item": item})
    if item["type"] != "message":
        return [done]
    text = item["content"][0]["text"]
    delta = {"type": "response.output_text.delta", **place, "item_id": item["id"]}
    added = {"type": "response.output_item.added", **place, "item": {**item, "content": []}}
    return [sse(added), *(sse({**delta, "delta": part}) for part in pieces(text)), done]

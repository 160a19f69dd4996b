"""The Anthropic Messages wire format, as Claude Code 2.1.330 uses it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

from hydra.conformance.dialect import ModelRequest, call_id, pieces, place_of, sse
from hydra.conformance.script import ModelFault, ModelTurn
from hydra.conformance.tool_mapping import own_call

_CWD = re.compile(r"Primary working directory: ([^\n]+)")
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_message_numbers = itertools.count(1)


class AnthropicMessages:
    """Claude Code's side of the conversation."""

    agent = "claude"

    def read(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> ModelRequest:
        """A request without tools is a side request: a title, a summary, a quota check."""
        results = [
            block["tool_use_id"]
            for message in body.get("messages", ())
            if isinstance(message.get("content"), list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        ]
        match = _CWD.search(_text(body))
        return ModelRequest(
            conversation=headers.get("x-claude-code-session-id", ""),
            model=str(body.get("model", "")),
            cwd=match[1].strip() if match else "",
            answered=max(map(place_of, results), default=-1),
            results=len(results),
            stream=bool(body.get("stream")),
            side=not body.get("tools"),
            schemas={
                tool.get("name", ""): tool.get("input_schema", {}) for tool in body.get("tools", ())
            },
        )

    def events(self, turn: ModelTurn, request: ModelRequest, place: int) -> list[bytes]:
        """message_start, each content block, message_delta, message_stop."""
        whole = self.document(turn, request, place)
        start = {**whole, "content": [], "stop_reason": None}
        start["usage"] = {**whole["usage"], "output_tokens": 1}
        stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        return [
            sse({"type": "message_start", "message": start}),
            *(event for n, block in enumerate(whole["content"]) for event in _block(n, block)),
            sse({"type": "message_delta", "delta": stop, "usage": whole["usage"]}),
            sse({"type": "message_stop"}),
        ]

    def document(self, turn: ModelTurn, request: ModelRequest, place: int) -> dict[str, Any]:
        """The turn as one message."""
        return {
            "id": f"msg_hydra_{next(_message_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": list(_content(turn, request, place)),
            "stop_reason": "tool_use" if turn.tools else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": turn.input_tokens,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": turn.output_tokens,
            },
        }

    def error(self, fault: ModelFault) -> dict[str, Any]:
        """The service's error body, its type by the status unless the fault names one."""
        kind = fault.error or _ERROR_TYPES.get(fault.status, "api_error")
        message = fault.message or kind.replace("_", " ")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def error_event(self, fault: ModelFault) -> bytes:
        """`event: error` in the middle of a stream, as an overloaded service sends it."""
        kind = fault.error or "overloaded_error"
        error = {"type": kind, "message": fault.message or "Overloaded"}
        return sse({"type": "error", "error": error})

    def overflow(self, request: ModelRequest) -> tuple[int, list[bytes]]:
        """A 400 with the service's own sentence, which Claude Code looks for."""
        message = "prompt is too long: 213462 tokens > 200000 maximum"
        error = {"type": "invalid_request_error", "message": message}
        return 400, [json.dumps({"type": "error", "error": error}).encode()]


def _text(body: Mapping[str, Any]) -> str:
    # The folder is named in a system block or a system message; decode so that \n is a newline.
    texts: list[str] = []
    for part in (body.get("system"), *(m.get("content") for m in body.get("messages", ()))):
        blocks = part if isinstance(part, list) else [{"text": part}]
        texts += [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    return "\n".join(texts)


def _content(turn: ModelTurn, request: ModelRequest, place: int) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if turn.think:
        content.append({"type": "thinking", "thinking": turn.think, "signature": "aHlkcmE="})
    if turn.say or not (turn.think or turn.tools):
        content.append({"type": "text", "text": turn.say})
    for number, tool in enumerate(turn.tools):
        name, arguments = own_call(tool, request.schemas, request.cwd)
        use = {"type": "tool_use", "id": call_id("toolu_", place, number)}
        content.append({**use, "name": name, "input": arguments})
    return content


def _block(index: int, block: Mapping[str, Any]) -> list[bytes]:
    start: dict[str, Any]
    if block["type"] == "thinking":
        start = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif block["type"] == "text":
        start = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
    else:
        start = {**block, "input": {}}
        parts = pieces(json.dumps(block["input"]), 512)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    return [
        sse({"type": "content_block_start", "index": index, "content_block": start}),
        *(sse({"type": "content_block_delta", "index": index, "delta": d}) for d in deltas),
        sse({"type": "content_block_stop", "index": index}),
    ]

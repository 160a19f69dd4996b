"""The Gemini wire format (`v1beta`, generateContent), as gemini-cli uses it."""

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
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "Permission denied on resource."),
    404: ("NOT_FOUND", "The model is not found for API version v1beta."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "The deadline expired before the operation could complete."),
}
_TOO_LONG = (
    "The input token count (1213462) exceeds the maximum number of tokens allowed (1048576)."
)
_numbers = itertools.count(1)


class GeminiDialect:
    """gemini-cli's side of the conversation. The model and streaming are in the path."""

    agent = "gemini"

    def read(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> ModelRequest:
        """Results are functionResponse parts. A request without functions is a side request."""
        turns = [item for item in body.get("contents", ()) if isinstance(item, Mapping)]
        parts = [part for item in turns for part in item.get("parts", ())]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        system = (body.get("systemInstruction") or {}).get("parts", ())
        cwd = request_texts.folder("\n".join(request_texts.texts([*system, *parts])))
        schemas = {name: schema for tool in body.get("tools") or () for name, schema in _own(tool)}
        config = body.get("generationConfig") or {}
        first = "\n".join(request_texts.texts(turns[0].get("parts", ()))) if turns else ""
        return ModelRequest(
            conversation=request_texts.conversation(cwd, first),
            model=str(body.get("model", "")),
            cwd=cwd,
            answered=max((place_of(str(item.get("id"))) for item in results), default=-1),
            results=len(results),
            stream=bool(body.get("stream")),
            side=not schemas,
            schemas=schemas,
            wants=config.get("responseJsonSchema") or config.get("responseSchema"),
        )

    def events(self, turn: ModelTurn, request: ModelRequest, place: int) -> list[bytes]:
        """A chunk for each piece of text, one for the calls, the usage in the last."""
        whole = self.document(turn, request, place)
        parts: list[dict[str, Any]] = []
        parts += [{"text": part, "thought": True} for part in pieces(turn.think)]
        parts += [{"text": part} for part in pieces(turn.say)]
        parts += [part for part in whole["candidates"][0]["content"]["parts"] if "text" not in part]
        head = {key: whole[key] for key in ("modelVersion", "responseId")}
        sent = [{"candidates": [_candidate([part])], **head} for part in parts]
        last = {"candidates": [{**_candidate([{"text": ""}]), "finishReason": "STOP"}]}
        return [_data(row) for row in (*sent, {**whole, **last})]

    def document(self, turn: ModelTurn, request: ModelRequest, place: int) -> dict[str, Any]:
        """The turn as one response."""
        parts = [{"text": turn.think, "thought": True}] if turn.think else []
        if turn.say or not (turn.think or turn.tools):
            parts.append({"text": turn.say})
        for number, tool in enumerate(turn.tools):
            name, document = own_call(tool, request.schemas, request.cwd)
            call = {"id": call_id("", place, number), "name": name, "args": document}
            parts.append({"functionCall": call})
        return {
            "candidates": [{**_candidate(parts), "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": turn.input_tokens,
                "candidatesTokenCount": turn.output_tokens,
                "totalTokenCount": turn.input_tokens + turn.output_tokens,
            },
            "modelVersion": request.model,
            "responseId": f"hydra-{next(_numbers)}",
        }

    def error(self, fault: ModelFault) -> dict[str, Any]:
        """The service's error body; when to come back is in it as well as in the header."""
        body = _error(fault.status, fault)
        if fault.retry_after is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            values = {"@type": kind, "retryDelay": f"{fault.retry_after:g}s"}
            body["error"]["details"] = [values]
        return body

    def error_event(self, fault: ModelFault) -> bytes:
        """A chunk that is an error, in the middle of a stream."""
        return _data(_error(503, fault))

    def overflow(self, request: ModelRequest) -> tuple[int, list[bytes]]:
        """A 400 with the service's own sentence."""
        fault = ModelFault(kind="overflow", status=400, message=_TOO_LONG)
        return 400, [json.dumps(_error(400, fault)).encode()]


def _error(status: int, fault: ModelFault) -> dict[str, Any]:
    term, message = _ERRORS.get(status, ("UNKNOWN", "An unknown error has occurred."))
    document = {"code": status, "message": fault.message or message, "status": fault.error or term}
    return {"error": document}


def _candidate(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"content": {"parts": parts, "role": "model"}, "index": 0}


def _data(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\r\n\r\n".encode()


def _own(tool: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    functions = tool.get("functionDeclarations") or tool.get("function_declarations") or ()
    return [
        (
            str(function["name"]),
            function.get("parametersJsonSchema") or function.get("parameters") or {},
        )
        for function in functions
    ]

"""Which path asks for what, in whose words, and for which agent.

Several agents share a wire format, so one may say who it is: `/agent/NAME` before any path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from hydra.conformance.anthropic_messages import AnthropicMessages
from hydra.conformance.chat_completions import ChatCompletions
from hydra.conformance.dialect import Dialect
from hydra.conformance.gemini import GeminiDialect
from hydra.conformance.openai_responses import OpenAIResponses

DIALECTS: Mapping[str, Dialect] = {
    "/messages": AnthropicMessages(),
    "/responses": OpenAIResponses(),
    "/chat/completions": ChatCompletions(),
}
"""The paths, after `/v1`, that ask for a model's turn, and who speaks there."""

GEMINI: Dialect = GeminiDialect()

_AGENT = re.compile(r"^/agent/([^/]+)(?=/|$)")
_VERSION = re.compile(r"^(/v1(?:beta|alpha)?)(?=/)")
_METHOD = re.compile(r"^/models/([^/]+):(\w+)$")


class Route(Struct, frozen=True, kw_only=True):
    """A path, read. `path` is without the agent and the version. `agent` is "" for no dialect.

    `counts` asks how many tokens a request has. `given` is what the path says of the request
    (Gemini's model, and whether it streams).
    """

    path: str
    agent: str = ""
    dialect: Dialect | None = None
    counts: bool = False
    stated: Mapping[str, Any] = field(default_factory=dict)


def route(target: str) -> Route:
    """The path of a request's target (`/agent/qwen/v1/chat/completions?x=y`)."""
    path = target.partition("?")[0].rstrip("/")
    named = _AGENT.match(path)
    path = path[named.end() :] if named else path
    path = _VERSION.sub("", path)
    counts = path.endswith("/count_tokens")
    document: dict[str, Any] = {}
    if method := _METHOD.match(path):
        dialect: Dialect | None = GEMINI
        counts = method[2] == "countTokens"
        document = {"model": method[1], "stream": method[2] == "streamGenerateContent"}
    else:
        dialect = DIALECTS.get(path.removesuffix("/count_tokens"))
    agent = "" if dialect is None else named[1] if named else dialect.agent
    return Route(path=path, agent=agent, dialect=dialect, counts=counts, stated=document)


def models(path: str) -> dict[str, Any]:
    """The list of models, which is empty, or the one that a path names (`/models/M`)."""
    name = path.removeprefix("/models").strip("/")
    if not name:
        return {"object": "list", "data": [], "models": []}
    return {
        "id": name,
        "object": "model",
        "created": 1_700_000_000,
        "owned_by": "hydra",
        "name": f"models/{name}",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
    }

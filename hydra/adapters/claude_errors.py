"""Claude Code's `result`: what it cost, and which failure it was. Seen in 2.1.330."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, integer, mapping, number, objects, string
from hydra.events import AgentEvent

REFUSED = (401, 403)
"""The HTTP statuses of a refused key."""

_SIGNED_OUT = re.compile(r"not logged in|invalid api key|oauth token|please run /login", re.I)
_TOKENS = re.compile(r"(\d{1,15}) tokens \(limit (\d{1,15})\)|(\d{1,15}) tokens > (\d{1,15}) max")


def totals(result: Object) -> dict[str, float | None]:
    """Totals of the session so far: `modelUsage` is cumulative, `usage` is of the last turn."""
    models = [model for model in mapping(result, "modelUsage").values() if isinstance(model, dict)]
    if models:
        held, written, read, out = (
            _sum(models, key)
            for key in (
                "inputTokens",
                "cacheCreationInputTokens",
                "cacheReadInputTokens",
                "outputTokens",
            )
        )
    else:
        usage = mapping(result, "usage")
        held, written, read, out = (
            integer(usage, key)
            for key in (
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
                "output_tokens",
            )
        )
    total = None if held is None else held + (written or 0) + (read or 0)
    return {
        "input_tokens": total,
        "output_tokens": out,
        "cached_tokens": read,
        "cost_usd": number(result, "total_cost_usd"),
    }


def _sum(models: Sequence[Object], key: str) -> int | None:
    known = [value for model in models if (value := integer(model, key)) is not None]
    return sum(known) if known else None


def failure(api_error: Object, result: Object, retry_after: float | None) -> AgentEvent:
    """Which failure it was: by its own words first, then by the HTTP status."""
    errors = result.get("errors")
    told = [text for text in errors if isinstance(text, str)] if isinstance(errors, list) else []
    message = string(result, "result") or "; ".join(told) or _said_last(api_error)
    if string(result, "terminal_reason").startswith("aborted"):
        return said.failed("Interrupted", "interrupted", "it was interrupted")
    status = integer(result, "api_error_status") or integer(api_error, "api_error_status")
    word, ended = string(api_error, "error"), string(result, "terminal_reason")
    lost = string(result, "api_error") or string(api_error, "api_error")
    error, reason = _reason(word, status, (string(result, "subtype"), ended, lost), message)
    numbers = by_status(status)
    if reason == "rate_limit" and retry_after is not None:
        numbers["retry_after"] = retry_after
    if reason == "context_overflow":
        numbers |= _overflow(message)
    if reason in ("max_turns", "budget"):
        numbers |= _limit(message)
    return said.failed(error, reason, message, numbers)


def _reason(
    word: str, status: int | None, ended: tuple[str, str, str], message: str
) -> tuple[str, str]:
    if word == "authentication_failed" or status in REFUSED or _SIGNED_OUT.search(message):
        return "AuthMissing", "sign_in"
    named = {
        "error_max_turns": "max_turns",
        "error_max_budget_usd": "budget",
        "prompt_too_long": "context_overflow",
        "rate_limit": "rate_limit",
        "billing_error": "quota",
        "model_not_found": "model",
        "connection_failed": "network",
        "server_error": "overloaded",
        "overloaded": "overloaded",
    }
    for key in (*ended, word):
        if key in named:
            return "AgentFailed", named[key]
    known = {429: "rate_limit", 404: "model", 529: "overloaded"}
    return "AgentFailed", known.get(status or 0, "agent_error")


def by_status(status: int | None) -> dict[str, float]:
    """The HTTP status as a failure's figure, where there was one."""
    return {} if status is None else {"status": status}


def _overflow(message: str) -> dict[str, float]:
    match = _TOKENS.search(message)
    if match is None:
        return {}
    tokens, limit = (float(n) for n in match.groups() if n)
    return {"tokens": tokens, "limit": limit}


def _limit(message: str) -> dict[str, float]:
    match = re.search(r"\(\$?(\d{1,20}(?:\.\d{1,20})?)\)", message)
    return {"limit": float(match[1])} if match else {}


def _said_last(line: Object) -> str:
    return " ".join(string(block, "text") for block in objects(mapping(line, "message"), "content"))

"""Which failure a model service's error is, by its HTTP status and its words.

For CLIs that hand the service's own message on (pi, omp, droid): `401 Incorrect API key provided.`
"""

from __future__ import annotations

import re

from hydra.adapters import said
from hydra.events import AgentEvent

SIGNED_OUT = (401, 403)
"""The HTTP statuses of a refused key."""

_READ = 4000
"""Characters of a message that are looked at."""

_STATUS = re.compile(
    r"^\W{0,3}(?:(?:api|http|error|status|code)\W{1,3}){0,3}([45]\d\d)\b"
    r"|\bHTTP ([45]\d\d)\b"
    r"""|["'](?:status|statusCode|code)["']\s{0,3}:\s{0,3}([45]\d\d)\b""",
    re.IGNORECASE,
)
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "context_overflow",
        re.compile(
            r"context.?length|context.?window|prompt is too long|input is too long"
            r"|too many (?:input )?tokens|maximum context|request_too_large",
            re.I,
        ),
    ),
    ("quota", re.compile(r"insufficient.?quota|exceeded your.{0,20}quota|billing|credit", re.I)),
    (
        "sign_in",
        re.compile(
            r"no api key|api.?key.{0,40}(?:invalid|incorrect|expired|not (?:found|valid))"
            r"|(?:invalid|incorrect|missing).{0,10}api.?key|authenticat|unauthori[sz]ed"
            r"|not logged in|log ?in (?:to|again|first)|sign in",
            re.I,
        ),
    ),
    ("rate_limit", re.compile(r"rate.?limit|too many requests", re.I)),
    (
        "overloaded",
        re.compile(
            r"overloaded|service.?unavailable|internal.?server.?error|provider internal error"
            r"|experiencing high demand|last error: 5\d\d\b",
            re.I,
        ),
    ),
    (
        "model",
        re.compile(
            r"model.{0,80}(?:not found|not exist|not available|not supported|unknown|invalid)"
            r"|(?:unknown|invalid|unsupported|no such|no) model",
            re.I,
        ),
    ),
    (
        "network",
        re.compile(
            r"terminated|fetch failed|econn|enotfound|socket|hang up|network|connection"
            r"|timed? ?out|premature|reset by peer|stream (?:ended|closed|disconnected)"
            r"|ended without",
            re.I,
        ),
    ),
)
_BY_STATUS = {402: "quota", 404: "model", 408: "network", 429: "rate_limit"}
_TOKENS = re.compile(r"(?:resulted in|requested|is too long:) (\d{1,15})")
_LIMIT = re.compile(r"(?:context length is|limit (?:is|of)|>) (\d{1,15})")


def status_of(text: str) -> int | None:
    """The HTTP status that a message begins with, or names as HTTP's or as a JSON field."""
    match = _STATUS.search(text[:_READ])
    return int(next(filter(None, match.groups()))) if match else None


def failure(text: str, status: int | None = None) -> AgentEvent:
    """The `failed` event for a service's message. `status` where the CLI tells it by itself."""
    status = status_of(text) if status is None else status
    reason = _reason(text[:_READ], status)
    numbers: dict[str, float] = {} if status is None else {"status": status}
    if reason == "context_overflow":
        numbers |= _overflow(text[:_READ])
    kind = "AuthMissing" if reason == "sign_in" else "AgentFailed"
    return said.failed(kind, reason, text, numbers)


def _reason(text: str, status: int | None) -> str:
    words = next((name for name, pattern in _WORDS if pattern.search(text)), "")
    if words in ("context_overflow", "quota"):
        return words
    if status in SIGNED_OUT:
        return "sign_in"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and status >= 500:
        return "overloaded"
    return words or "agent_error"


def _overflow(text: str) -> dict[str, float]:
    found = {"tokens": _TOKENS.search(text), "limit": _LIMIT.search(text)}
    return {name: float(match[1]) for name, match in found.items() if match}

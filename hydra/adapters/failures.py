"""Why a stream ended without its closing event: read from the exit and from stderr.

stderr is only believed where the CLI wrote it about its own command line or sign-in and nothing
of its stream was understood before; otherwise it is noise (Codex logs there all the time).
"""

from __future__ import annotations

import re

from msgspec import Struct

from hydra.adapters import event_builders as build
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

_USAGE = (
    # commander (Claude Code 2.1.330)
    re.compile(r"error: unknown option '(?P<flag>[^']+)'"),
    re.compile(
        r"error: option '(?P<flag>--?[\w-]++)[^']*+' argument '(?P<value>[^']*)' is invalid"
    ),
    # clap (Codex 0.169.0)
    re.compile(r"error: unexpected argument '(?P<flag>[^']+)' found"),
    re.compile(r"error: invalid value '(?P<value>[^']*)' for '(?P<flag>--?[\w-]+)"),
    # yargs (Gemini CLI 0.61.0, Qwen Code 0.24.4)
    re.compile(r"^Unknown arguments?: (?P<flag>[\w-]+)", re.MULTILINE),
    re.compile(r'^ *Argument: (?P<flag>[\w-]{1,80}), Given: "(?P<value>[^"]*)"', re.MULTILINE),
)
_SIGNED_OUT = re.compile(
    r"^.*(?:not logged in|please run /login|authentication required|please log ?in|sign in again"
    r"|missing environment variable|invalid api key).*$",
    re.IGNORECASE | re.MULTILINE,
)
_NO_MODEL = re.compile(
    # pi 0.73.1 and omp 18.2.3, before the first line of their streams
    r'^(?:Error: )?(?:Unknown provider "[^"\n]{1,4000}"\.|Model "[^"\n]{1,4000}" not found\b).*$',
    re.MULTILINE,
)
_STOPPED = {1: "SIGHUP", 2: "SIGINT", 15: "SIGTERM"}
_KILLED = 9


class UnclosedStream(Struct, frozen=True, kw_only=True):
    """A stream without an ending: how its process ended and how much was understood."""

    label: str
    exit: ExitStatus
    stderr: str
    understood: int
    malformed: int


def explain(seen: UnclosedStream) -> AgentEvent:
    """The one `failed` event for it."""
    event = None if seen.understood else _own_words(seen.stderr)
    return event or _signal(seen) or _broken_off(seen)


def usage_error(stderr: str) -> AgentEvent | None:
    """`UnsupportedFlag` where the CLI refused its own command line, naming the flag."""
    for pattern in _USAGE:
        match = pattern.search(stderr)
        if match:
            named = match.groupdict()
            what = f"{named['flag']} {named['value']}" if named.get("value") else named["flag"]
            return build.failed("UnsupportedFlag", "usage", f"it does not take {what}")
    return None


def signed_out(text: str) -> bool:
    """Whether a CLI's own words say that nobody is signed in."""
    return _SIGNED_OUT.search(text) is not None


def _own_words(stderr: str) -> AgentEvent | None:
    if event := usage_error(stderr):
        return event
    if match := _SIGNED_OUT.search(stderr):
        return build.failed("AuthMissing", "sign_in", match[0].strip())
    match = _NO_MODEL.search(stderr)
    return build.failed("AgentFailed", "model", match[0].strip()) if match else None


def _signal(seen: UnclosedStream) -> AgentEvent | None:
    # A shell, and Claude Code itself, tell a signal as 128 + its number.
    number = seen.exit.signal or max((seen.exit.code or 0) - 128, 0)
    if number in _STOPPED:
        text = f"it was stopped by {_STOPPED[number]}"
        return build.failed("Interrupted", "signal", text, {"signal": number})
    if number == _KILLED:
        text = "it was killed (SIGKILL: out of memory, or by hand)"
        return build.failed("AgentFailed", "killed", text, {"signal": number})
    return None


def _broken_off(seen: UnclosedStream) -> AgentEvent:
    how = f"signal {seen.exit.signal}" if seen.exit.signal else f"exit {seen.exit.code}"
    last = next((line for line in reversed(seen.stderr.splitlines()) if line.strip()), "")
    text = f"{seen.label} ended ({how}) without its closing event"
    numbers = {"understood": float(seen.understood), "malformed": float(seen.malformed)}
    return build.failed(
        "StreamParseError",
        "no_terminal_event",
        f"{text}: {build.one_line(last)}" if last else text,
        numbers,
    )


# ---- Which failure a model service's error is, by its HTTP status and its words.
#
# For CLIs that hand the service's own message on (pi, omp, droid): `401 Incorrect API key
# provided.`

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
_REASONS = tuple(
    (reason, re.compile(pattern, re.IGNORECASE))
    for reason, pattern in (
        (
            "context_overflow",
            r"context.?length|context.?window|prompt is too long|input is too long"
            r"|too many (?:input )?tokens|maximum context|request_too_large",
        ),
        ("quota", r"insufficient.?quota|exceeded your.{0,20}quota|billing|credit"),
        (
            "sign_in",
            r"no api key|api.?key.{0,40}(?:invalid|incorrect|expired|not (?:found|valid))"
            r"|(?:invalid|incorrect|missing).{0,10}api.?key|authenticat|unauthori[sz]ed"
            r"|not logged in|log ?in (?:to|again|first)|sign in",
        ),
        ("rate_limit", r"rate.?limit|too many requests"),
        (
            "overloaded",
            r"overloaded|service.?unavailable|internal.?server.?error|provider internal error"
            r"|experiencing high demand|last error: 5\d\d\b",
        ),
        (
            "model",
            r"model.{0,80}(?:not found|not exist|not available|not supported|unknown|invalid)"
            r"|(?:unknown|invalid|unsupported|no such|no) model",
        ),
        (
            "network",
            r"terminated|fetch failed|econn|enotfound|socket|hang up|network|connection"
            r"|timed? ?out|premature|reset by peer|stream (?:ended|closed|disconnected)"
            r"|ended without",
        ),
    )
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
    return build.failed(kind, reason, text, numbers)


def _reason(text: str, status: int | None) -> str:
    line = next((name for name, pattern in _REASONS if pattern.search(text)), "")
    if line in ("context_overflow", "quota"):
        return line
    if status in SIGNED_OUT:
        return "sign_in"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and status >= 500:
        return "overloaded"
    return line or "agent_error"


def _overflow(text: str) -> dict[str, float]:
    matches = {"tokens": _TOKENS.search(text), "limit": _LIMIT.search(text)}
    return {name: float(match[1]) for name, match in matches.items() if match}

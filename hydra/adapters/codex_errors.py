"""Codex's failures told apart by their words: its JSON carries a message and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hydra.adapters import said
from hydra.events import AgentEvent


@dataclass(frozen=True, slots=True)
class Trouble:
    """One failure: its kind of the taxonomy, the reason, and the figures it names."""

    kind: str
    reason: str
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def event(self) -> AgentEvent:
        """As the terminal event."""
        return said.failed(self.kind, self.reason, self.message, self.numbers)


# In this order: a 403 on the WebSocket is a proxy's, and Codex goes on over HTTPS. `\A(?>.*?x).*y`
# looks behind the first x alone: with each of them, a text of many would be searched for hours.
_KNOWN: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, reason, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for kind, reason, pattern in (
        ("AgentFailed", "network", r"\A(?>.*?unexpected status (?!401)\d++ ).*url: wss?://"),
        ("AuthMissing", "sign_in", r"unexpected status 40[13] |^missing environment variable"),
        ("AuthMissing", "sign_in", r"not logged in|sign in again|log out and sign in"),
        ("AuthMissing", "sign_in", r"access token could not be refreshed|refresh token was"),
        ("AgentFailed", "context_overflow", r"ran out of room in the model's context window"),
        ("AgentFailed", "prompt_too_large", r"input exceeds the maximum length"),
        ("AgentFailed", "quota", r"quota exceeded|insufficient_quota"),
        ("AgentFailed", "rate_limit", r"hit your usage limit|rate limit (?:exceeded|reached)"),
        ("AgentFailed", "rate_limit", r"status:? 429 |429 too many requests"),
        (
            "AgentFailed",
            "model",
            r"\A(?>.*?\bmodel\b).*(?:does not exist|is not supported|not found)",
        ),
        ("AgentFailed", "overloaded", r"experiencing high demand|unexpected status 5\d\d "),
        ("AgentFailed", "network", r"stream disconnected|connection failed|error sending request"),
    )
)
_WAIT = re.compile(
    r"try again in (?:(\d{1,6})h ?)?(?:(\d{1,6})m(?!s) ?)?(?:(\d{1,9}(?:\.\d{1,9})?)(ms|s))?"
)
_END = 20_000
"""Characters at either end of a message in which is looked for what it stands for."""
_LENGTH = re.compile(r'"max_chars":(\d{1,12}),"actual_chars":(\d{1,12})')


def trouble(message: str) -> Trouble:
    """What `message` stands for; `agent_error` where nobody knows."""
    ends = message if len(message) <= 2 * _END else f"{message[:_END]}\n{message[-_END:]}"
    for kind, reason, pattern in _KNOWN:
        if pattern.search(ends):
            return Trouble(kind, reason, message, _numbers(reason, ends))
    return Trouble("AgentFailed", "agent_error", message)


def _numbers(reason: str, message: str) -> dict[str, float]:
    numbers: dict[str, float] = {}
    status = re.search(r"status:? (\d{3}) ", message)
    if status:
        numbers["status"] = int(status[1])
    if reason == "rate_limit":
        numbers |= _wait(message)
    length = _LENGTH.search(message)
    if length:
        numbers |= {"limit": int(length[1]), "length": int(length[2])}
    return numbers


def _wait(message: str) -> dict[str, float]:
    match = _WAIT.search(message)
    if match is None or not any(match.groups()):
        return {}
    hours, minutes, amount, unit = match.groups()
    seconds = float(amount or 0) / (1000 if unit == "ms" else 1)
    return {"retry_after": int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds}

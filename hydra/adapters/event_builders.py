"""Builds the normalized events, small and JSON-ready, in one shape for every adapter."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress

from hydra.records.events import SESSION_FIELDS, AgentEvent, clip

SUMMARY = 120
"""Characters of a summary: one line of a live table, with room to spare."""

_WRAPPED = 4000
"""Characters of a command in which the shell around it is looked for; the library that splits it
takes twelve seconds for a million, and a command can hold a whole file."""

NO_REASON = "no reason was given"
"""The message of a failure that came without a word."""

WHOLE = 1_000_000
"""Characters of what the agent says. An event's data holds less (`reading.bounded`), but who asks
an agent something reads the whole of its answer."""


def message(text: str, sub: str = "") -> list[AgentEvent]:
    """What the agent said or thought; nothing for blank text."""
    if not text or text.isspace():
        return []
    return [AgentEvent("message", sub, {"text": clip(text, WHOLE)})]


def tool_call(id: str, name: str, summary: str) -> AgentEvent:
    """A tool was called."""
    return AgentEvent("tool_call", "", {"id": id, "name": name, "summary": one_line(summary)})


def tool_result(id: str, ok: bool, summary: str, denied: bool = False) -> AgentEvent:
    """It answered."""
    data: dict[str, object] = {"id": id, "ok": ok, "summary": one_line(summary)}
    if denied:
        data["denied"] = True
    return AgentEvent("tool_result", "", data)


def session(
    *,
    session: str = "",
    model: str = "",
    permission: str = "",
    sandbox: str = "",
    effort: str = "",
    version: str = "",
) -> AgentEvent:
    """The agent has started, with what it says of itself."""
    values = (session, model, permission, sandbox, effort, version)
    fields = zip(SESSION_FIELDS, values, strict=True)
    return AgentEvent("progress", "session", {name: value for name, value in fields if value})


def progress(sub: str, **data: object) -> AgentEvent:
    """A retry, a notice, or a line that could not be used. Empty fields are left out."""
    document = {key: value for key, value in data.items() if value is not None and value != ""}
    if isinstance(document.get("text"), str):
        document["text"] = clip(str(document["text"]), 500)
    return AgentEvent("progress", sub, document)


def notice(type: str, text: str = "") -> list[AgentEvent]:
    """Something that the agent does or says beside its work."""
    return [progress("notice", type=type, text=text)]


def usage(**totals: float | None) -> list[AgentEvent]:
    """Totals so far; an unknown one is left out, and nothing at all if none is known."""
    values = {name: total for name, total in totals.items() if total is not None}
    return [AgentEvent("usage", "", values)] if values else []


def completed(
    text: str = "",
    *,
    turns: int | None = None,
    denials: list[str],
    failed_items: int,
    after: str = "",
) -> AgentEvent:
    """The agent says that it is done; `after` is an error in which it ended all the same."""
    data: dict[str, object] = {"denials": denials, "failed_items": failed_items}
    if text:
        data["text"] = clip(text, WHOLE)
    if turns is not None:
        data["turns"] = turns
    if after:
        data["after"] = clip(after)
    return AgentEvent("completed", "", data)


def failed(
    error: str, reason: str, message: str, numbers: Mapping[str, float] | None = None
) -> AgentEvent:
    """The agent has failed for good."""
    return AgentEvent(
        "failed",
        "",
        {
            "error": error,
            "reason": reason,
            "message": clip(message.strip() or NO_REASON),
            "numbers": dict(numbers or {}),
            "terminal": True,
        },
    )


def one_line(text: str) -> str:
    """The first line of `text` that says something, cut to `SUMMARY`."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clip(" ".join(line.split()), SUMMARY)


def command(text: str) -> str:
    """`$ pytest -q`, without the shell that an agent wraps around it; of a long one the start."""
    terms = _term_list(text) if text.startswith(("/", "bash", "sh ")) else []
    wrapped = len(terms) == 3 and terms[1].startswith("-") and terms[1].endswith("c")
    return f"$ {terms[2] if wrapped else text}"


def _term_list(text: str) -> list[str]:
    # Where it is cut off, it may be within quotes.
    for end in ("", "'", '"') if len(text) > _WRAPPED else ("",):
        with suppress(ValueError):
            return shlex.split(text[:_WRAPPED] + end)
    return []


def path(name: str, root: str) -> str:
    """`name` relative to the worktree where it lies in it; its last two parts without a root."""
    if not root:
        parts = name.split("/")
        return name if len(parts) < 4 else "/".join(("...", *parts[-2:]))
    inside = root and name.startswith(root.rstrip("/") + "/")
    return name[len(root.rstrip("/")) + 1 :] if inside else name

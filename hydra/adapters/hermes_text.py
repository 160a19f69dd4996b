"""What Hermes prints in one shot, its final text alone, and the usage file that it writes beside.

Its exit is 0 where its key was refused: the text then is the error, and the file says `failed`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters import said, service_errors
from hydra.adapters.hermes_facts import USAGE_FILE
from hydra.adapters.jsonlines import Malformed, Object, decode, integer, number, string
from hydra.adapters.stream import JsonStream
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_HELD = 64 * 1024
"""Characters of its answer that are told at the end."""

_NONE: Object = {}


class HermesText(JsonStream):
    """One attempt's output: every line is said, and the file tells the rest."""

    label = "Hermes Agent"

    def __init__(self) -> None:
        super().__init__()
        self._answer = ""

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line of its answer. Never raises."""
        text = line.decode("utf-8", "replace").strip("\x00\r\n")
        if not text.strip():
            return []
        self.understood += 1
        if len(self._answer) < _HELD:
            self._answer = f"{self._answer}\n{text}"[:_HELD]
        return said.message(text)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What it used and how it ended, by its usage file."""
        told = _document(files.get(USAGE_FILE, b""))
        session = said.session(id=string(told, "session_id"), model=string(told, "model"))
        events = [session] if session.data else []
        events += _usage(told)
        answer = self._answer.strip()
        if told.get("failed") is True:
            text = string(told, "failure") or said.one_line(answer)
            return [*events, service_errors.failure(text)]
        if told.get("completed") is True and answer:
            return [*events, said.completed(answer, denials=[], failed_items=0)]
        if told.get("completed") is False and answer:
            return [*events, said.failed("AgentFailed", "max_turns", _short(answer))]
        return events


def _document(data: bytes) -> Object:
    try:
        return decode(data) or _NONE
    except Malformed:
        return _NONE


def _usage(told: Object) -> list[AgentEvent]:
    """Its input is without what came from a cache; Hydra's is with it."""
    fresh, cached = integer(told, "input_tokens"), integer(told, "cache_read_tokens")
    written = integer(told, "cache_write_tokens") or 0
    return said.usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + written,
        output_tokens=integer(told, "output_tokens"),
        cached_tokens=cached,
        cost_usd=number(told, "estimated_cost_usd") or None,
    )


def _short(text: str) -> str:
    return f"it stopped before it was done: {said.one_line(text)}"

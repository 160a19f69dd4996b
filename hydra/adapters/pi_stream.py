"""`--mode json` of pi and omp: one event a line on stdout. Seen in pi 0.73.1 and omp 18.2.3."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.jsonlines import Object
from hydra.adapters.pi_events import PiEvents
from hydra.adapters.service_errors import failure
from hydra.adapters.stream import JsonStream
from hydra.events import AgentEvent
from hydra.model import ExitStatus


class PiStream(JsonStream):
    """One attempt's `--mode json`. The ending is held until the process has ended: a retry may
    follow what looks like one, and exit 0 tells nothing of a refused key."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label
        self._events = PiEvents()

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        return self._events.read(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """As the session ended; where no model was asked at all, stderr says why."""
        ending = self._events.ending()
        if ending is not None:
            return [ending]
        stderr = files.get("stderr", b"").decode("utf-8", "replace").strip()
        if self._events.asked or not exit.code or exit.code > 127 or not stderr:
            return []
        told = failure(stderr)
        return [told] if self.understood and told.data["reason"] != "agent_error" else []

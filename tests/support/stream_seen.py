"""What one stream left behind: its events, each proved to be one that can be recorded and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydra.errors import KINDS
from hydra.records.events import AGENT_KINDS, Event, Raw, decode, encode
from hydra.records.outcome import Outcome
from tests.support.sample_race import RUN
from tests.support.stream_cases import Case


@dataclass
class Seen:
    """All that one stream left behind."""

    case: Case
    events: list[Event] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    outcome: Outcome | None = None
    seconds: float = 0.0


class Tape:
    """Numbers events, and proves of each that it can be recorded and read back."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def emit(
        self,
        kind: str,
        sub: str = "",
        data: Mapping[str, object] | None = None,
        *,
        source: str = "hydra",
        raw: Raw | None = None,
        recorded: bool = True,
    ) -> None:
        if not recorded:
            return
        number = len(self._seen.events) + 1
        event = Event(
            seq=number,
            wall=1_800_000_000.0 + number,
            mono=number / 64,
            run=RUN,
            kind=kind,
            sub=sub,
            source=source,
            lane="codex",
            attempt=1,
            raw=raw,
            data=data or {},
        )
        line = encode(event)
        if (
            not line.isascii()
            or line.count(b"\n") != 1
            or line[-1:] != b"\n"
            or len(line) > 1 << 20
        ):
            self._seen.faults.append(f"no ASCII line: {line[:200]!r}")
        if decode(line) != event:
            self._seen.faults.append(f"decoded otherwise: {line[:200]!r}")
        if source == "agent" and kind not in AGENT_KINDS:
            self._seen.faults.append(f"an agent's event of kind {kind!r}")
        if kind == "failed" and (data or {}).get("error") not in KINDS:
            self._seen.faults.append(f"a failure of no kind: {line[:200]!r}")
        self._seen.events.append(event)

"""Each agent's time, from the race's events: what it said and did, and when.

A lane has spans (its agent, its set-up, its checks), ticks for an overview, and rows. Rows beyond
the limit are left out of the middle and counted; a tool call and its result are one row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hydra.adapters.json_fields import Object, number, string
from hydra.records.events import Event
from hydra.report.board import tool_word
from hydra.report.html.harmless import prose
from hydra.report.phrases import describe
from hydra.report.text import clean

ROWS = 500
"""Rows of a lane at its beginning, and as many at its end."""
TICKS = 400
TEXT_LIMIT = 1_200
"""Characters of one message."""

Json = dict[str, object]
Row = list[object]

_QUIET = frozenset({"usage", "lane_waiting", "run_ended", "run_started", "agent_started"})
_LOUD = frozenset({"lane_warning", "run_warning", "limit_warning", "stopping", "parse_fallback"})


@dataclass(slots=True)
class _Lane:
    lane: str
    first: list[Row] = field(default_factory=list)
    last: list[Row] = field(default_factory=list)
    dropped: int = 0
    messages: int = 0
    calls: int = 0
    spans: list[list[object]] = field(default_factory=list)
    open: dict[str, list[object]] = field(default_factory=dict)
    waiting: dict[str, tuple[Row, float]] = field(default_factory=dict)
    ticks: list[list[object]] = field(default_factory=list)
    end: float = 0.0
    message: str = ""
    closing: str = ""

    def add(self, row: Row) -> Row:
        if len(self.first) < ROWS:
            self.first.append(row)
        else:
            self.last.append(row)
            if len(self.last) > ROWS:
                self.dropped += 1
                del self.last[0]
        return row

    def tick(self, at: float, kind: str) -> None:
        if len(self.ticks) < TICKS:
            self.ticks.append([at, kind])

    def begin(self, kind: str, name: str, at: float) -> None:
        span: list[object] = [kind, clean(name), at, None, ""]
        self.open[f"{kind} {name}"] = span
        self.spans.append(span)

    def finish(self, kind: str, name: str, at: float, status: str) -> None:
        if span := self.open.pop(f"{kind} {name}", None):
            span[3:] = [at, clean(status)]


def timelines(events: Iterable[Event]) -> list[Json]:
    """One for each lane in the order in which they appear; the base's is called ""."""
    lanes: dict[str, _Lane] = {}
    for event in events:
        if not event.lane and not event.kind.startswith(("check_", "setup_", "trial_")):
            continue
        # A trial is of the whole run, and shown with the patch that it is made on.
        name = string(event.data, "on") if event.kind.startswith("trial_") else event.lane
        lane = lanes.get(name) or lanes.setdefault(name, _Lane(name))
        _take(lane, event)
    return [_document(lane) for lane in lanes.values()]


def _take(lane: _Lane, event: Event) -> None:
    at = round(event.mono, 3)
    lane.end = max(lane.end, at)
    if event.kind == "agent_started":
        lane.closing = ""
    _span(lane, event, at)
    match event.kind:
        case "message":
            lane.messages += 1
            lane.tick(at, "message")
            lane.message = string(event.data, "text")
            kind = "thinking" if event.sub == "thinking" else "message"
            lane.add([at, kind, prose(string(event.data, "text"), TEXT_LIMIT)])
        case "tool_call":
            _call(lane, event, at)
        case "tool_result":
            _result(lane, event, at)
        case "failed" | "completed":
            _closing(lane, event, at)
        case "progress" if event.sub == "closing":
            _closing(lane, event, at)
        case "progress" if event.sub != "retry":
            pass
        case kind if kind not in _QUIET:
            if line := describe(event):
                lane.add([at, "warning" if kind in _LOUD else "hydra", prose(line, TEXT_LIMIT)])
        case _:
            pass


def _closing(lane: _Lane, event: Event, at: float) -> None:
    """What an agent ends with: when it says it, and not once more when its process has ended."""
    line = describe(event)
    if line == lane.closing:
        return
    lane.closing = line
    is_error = line.startswith("error: ")
    # Most agents end with their last message once more.
    again = not is_error and string(event.data, "text") == lane.message
    sentence = "says it is done" if again else prose(line, TEXT_LIMIT)
    lane.add([at, "error" if is_error else "done", sentence])


def _call(lane: _Lane, event: Event, at: float) -> None:
    name, summary = string(event.data, "name"), string(event.data, "summary")
    term = tool_word(name, summary)
    lane.calls += 1
    lane.tick(at, term)
    row = lane.add(
        [at, "tool", prose(summary or name or "a tool call", TEXT_LIMIT), term, "", None]
    )
    lane.waiting[string(event.data, "id")] = (row, at)
    if len(lane.waiting) > ROWS:
        del lane.waiting[next(iter(lane.waiting))]


def _result(lane: _Lane, event: Event, at: float) -> None:
    row, began = lane.waiting.pop(string(event.data, "id"), (None, at))
    if row is None:
        return
    ok = event.data.get("ok")
    line = "denied" if event.data.get("denied") else "" if ok else "failed"
    row[4:] = [line, round(at - began, 3)]


def _span(lane: _Lane, event: Event, at: float) -> None:
    data = event.data
    match event.kind:
        case "agent_started":
            lane.begin("agent", "", at)
        case "agent_exited":
            code = number(data, "code")
            lane.finish("agent", "", at, "" if code == 0 else describe(event))
        case "setup_started":
            lane.begin("setup", "", at)
        case "setup_ended":
            lane.finish("setup", "", at, "" if number(data, "exit_code") == 0 else "failed")
        case "check_started":
            lane.begin("check", string(data, "check"), at)
        case "check_ended":
            lane.finish("check", string(data, "check"), at, string(data, "says"))
        case "trial_started":
            lane.begin("trial", _trial(data), at)
        case "trial_ended":
            lane.finish("trial", _trial(data), at, string(data, "says"))
        case _:
            pass


def _trial(data: Object) -> str:
    return f"{string(data, 'author') or 'the base'}'s tests"


def _document(lane: _Lane) -> Json:
    names = ("messages", "calls", "spans", "ticks", "end", "first", "last", "dropped")
    return {"lane": clean(lane.lane), **{name: getattr(lane, name) for name in names}}

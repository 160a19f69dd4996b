"""What every lane is doing, as a pure fold of the race's events: `step(board, event) -> board`.

The live table paints it, `hydra runs` could replay it; no clock is read here. A step that changes
nothing visible gives the same board back, so that nothing is painted for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from hydra.adapters.json_fields import Object, mapping, number, objects, string, strings
from hydra.records.events import AgentEvent, Event
from hydra.records.outcome import Status
from hydra.report.checks import skipped, trial, waits
from hydra.report.text import duration, gist

QUIET = 60.0
"""Seconds without progress after which a lane's row says so."""

STATUS_WORDS: Mapping[str, str] = {
    **{status.value: status.value.replace("_", " ") for status in Status},
    Status.COMPLETED.value: "finished",  # says nothing of what its patch is worth
}
STATE_STYLES: Mapping[str, str] = {
    "finished": "good",
    "no changes": "warn",
    "failed": "bad",
    "timed out": "bad",
    "interrupted": "warn",
    "not started": "bad",
    "waiting": "warn",
    "queued": "dim",
    "retrying": "warn",
    "stopping": "warn",
}

_EDITS = re.compile(r"edit|write|patch|file_change|create|delete|rename|notebook", re.IGNORECASE)
_READS = re.compile(r"read|grep|glob|search|find|list|\bls\b|fetch|view", re.IGNORECASE)
_TESTS = re.compile(
    r"\b(pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest"
    r"|(npm|pnpm|yarn|bun|cargo|go|make|mix|dotnet|gradle|mvn|swift|deno)( run)? test)\b"
)
_COMMANDS = re.compile(r"bash|shell|command|exec|terminal|\brun\b", re.IGNORECASE)


class BoardRow(Struct, frozen=True, kw_only=True):
    """One lane. `state` and `last` are shown as they are: harmless and short.

    Times are seconds since the race began: `since` when its work began, `progress` when it last
    got on, `left` when its agent ended: what Hydra does then is no time of its own. `seconds` is
    set once it has ended. None is unknown.
    """

    lane: str
    state: str = "queued"
    last: str = ""
    files: int | None = None
    tokens: float | None = None
    cost: float | None = None
    since: float | None = None
    progress: float | None = None
    remaining: float | None = None
    seconds: float | None = None
    tools: tuple[tuple[str, str, str], ...] = ()
    """Open tool calls: (id, state word, what it does)."""
    limit: float | None = None
    """The limit a half-time warning named, until there is progress again."""
    warned: bool = False

    @property
    def ended(self) -> bool:
        """Whether its outcome is known."""
        return self.seconds is not None

    def elapsed(self, now: float) -> float | None:
        """Seconds it has worked, or worked in all."""
        if self.seconds is not None or self.since is None:
            return self.seconds
        return max((now if self.remaining is None else self.remaining) - self.since, 0.0)

    def view(self, now: float, limits: Object = MappingProxyType({})) -> tuple[str, str]:
        """(state, last) as of `now`: a lane that has been quiet for long says so."""
        quiet = now - self.progress if self.progress is not None else 0.0
        waits = self.state in ("thinking", "starting") and quiet >= QUIET
        if self.ended or not (waits or self.warned):
            return self.state, self.last
        limit = self.limit or number(limits, "tool" if self.tools else "idle")
        line = f" (limit {duration(limit)})" if limit else ""
        what = f"; {self.last}" if self.tools else ""
        return "waiting", f"no progress for {duration(quiet)}{line}{what}"


class Board(Struct, frozen=True):
    """All rows, in the order the race gave them; `limits` in seconds, by `Limits`' names."""

    rows: Mapping[str, BoardRow] = field(default_factory=dict)
    limits: Object = field(default_factory=dict)
    ended: bool = False
    baseline: tuple[tuple[str, str], ...] = ()
    """(check, what it says or does) on the base, in the order in which they began."""
    trial: str = ""
    """What is tried now, once all lanes have ended."""


def step(board: Board, event: Event) -> Board:
    """The board after `event`. Lanes do not affect each other."""
    if event.kind == "run_started":
        rows = {lane: BoardRow(lane=lane) for lane in strings(event.data, "lanes")}
        return Board(rows={**rows, **board.rows}, limits=mapping(event.data, "limits"))
    if event.kind == "run_ended":
        return replace(board, ended=True, trial="")
    if not event.lane:
        return _baseline_step(board, event)
    row = board.rows.get(event.lane) or BoardRow(lane=event.lane)
    after = _row_step(row, event)
    if after is row and event.lane in board.rows:
        return board
    return replace(board, rows={**board.rows, event.lane: after})


def _baseline_step(board: Board, event: Event) -> Board:
    if event.kind == "trial_started":
        return replace(board, trial=trial(event.data))
    if event.kind not in ("check_started", "check_ended"):
        return board
    result = gist(string(event.data, "says")) + skipped(int(number(event.data, "skipped") or 0))
    line = result or command(event.data)
    if event.kind == "check_ended" and (spent := number(event.data, "seconds")) is not None:
        line = f"{line}  {duration(spent)}"
    values = {**dict(board.baseline), gist(string(event.data, "check")): line}
    return replace(board, baseline=tuple(values.items()))


def _row_step(row: BoardRow, event: Event) -> BoardRow:
    if event.source == "agent" and AgentEvent(event.kind, event.sub).is_progress:
        row = replace(row, progress=event.mono, warned=False, limit=None)
    change = _of_lane(row, event) or _of_agent(row, event.kind, event.sub, event.data)
    return replace(row, **change) if change else row


def _of_lane(row: BoardRow, event: Event) -> Object:
    """What an event of Hydra's own changes in a row."""
    data = event.data
    match event.kind:
        case "lane_waiting":
            return {"state": "waiting", "last": "for a place: other lanes run first"}
        case "lane_opening":
            fresh = BoardRow(lane=row.lane, state="preparing", since=event.mono)
            return {**asdict(fresh), "progress": event.mono}
        case "lane_retrying":  # its silence is Hydra's own: no limit runs
            return {"state": "retrying", "last": again_text(data), "progress": None}
        case "setup_started":
            return {"state": "set-up", "last": command(data)}
        case "agent_started":
            return {"state": "starting", "last": "", "progress": event.mono, "remaining": None}
        case "limit_warning" if "for" in data:
            return {"state": "waiting", "last": waits_for(data)}
        case "limit_warning" if string(data, "limit") != "total":  # that is no standing still
            return {"warned": True, "limit": number(data, "of")}
        case "stopping":
            return {"state": "stopping", "last": stops(data)}
        case "agent_exited":
            return {"state": "collecting", "warned": False, "tools": (), "remaining": event.mono}
        case "patch_taken":
            files = number(data, "files")
            return {"files": None if files is None else int(files)}
        case "check_waiting":
            return {"state": "waiting", "last": waits(data).removeprefix("waits ")}
        case "check_started":
            return {"state": "testing", "last": command(data)}
        case "check_ended":
            return {"last": _result(data)}
        case "lane_ended":
            return _ended(row, event)
    return {}


def _of_agent(row: BoardRow, kind: str, sub: str, data: Object) -> Object:
    """What an event of its agent changes."""
    says = gist(string(data, "text")) or row.last
    match kind, sub:
        case "message", _:
            return {"state": _state(row), "last": says}
        case "tool_call", _:
            summary = gist(string(data, "summary") or string(data, "name"))
            state = tool_word(string(data, "name"), summary)
            tools = (*row.tools, (string(data, "id"), state, summary))
            return {"state": state, "last": summary, "tools": tools[-50:]}
        case "tool_result", _:
            tools = tuple(tool for tool in row.tools if tool[0] != string(data, "id"))
            _, state, last = tools[-1] if tools else ("", "thinking", "")  # the command is over
            return {"tools": tools, "state": state, "last": last}
        case "progress", "session":
            return {"state": _state(row)}
        case "progress", "retry":
            return {"state": "retrying", "last": retry_text(data)}
        case "progress", "closing":
            return {"state": "finishing", "last": says}
        case "usage", _:
            used, spent = total_tokens(data), number(data, "cost_usd")
            figures = {"tokens": used, "cost": spent}
            return {name: value for name, value in figures.items() if value is not None}
        case "completed", _:
            return {"state": "finishing", "last": says, "tools": ()}
        case "failed", _:
            state = "finishing" if data.get("terminal") else row.state
            return {"state": state, "last": gist(string(data, "message")) or row.last}
    return {}


def _ended(row: BoardRow, event: Event) -> Object:
    data = event.data
    status, spent = string(data, "status"), number(data, "seconds")
    held_back = "; ".join(map(gist, strings(data, "held_back")))
    # What was waited for last is over: what the checks say stands for it.
    checked = "; ".join(map(_result, objects(data, "checks")))
    return {
        "state": STATUS_WORDS.get(status) or gist(status) or "ended",
        "last": gist(string(mapping(data, "error"), "message")) or held_back or checked or row.last,
        "seconds": spent if spent is not None else row.elapsed(event.mono) or 0.0,
        "warned": False,
        "tools": (),
    }


def _result(data: Object) -> str:
    return f"{gist(string(data, 'check'))}: {gist(string(data, 'says'))}"


def command(data: Object) -> str:
    """`$ pytest -q`."""
    return "$ " + gist(string(data, "command"))


def stops(data: Object) -> str:
    """`idle (SIGTERM)`: why an agent is ended, and how."""
    reason, sent = gist(string(data, "reason")).replace("_", " "), gist(string(data, "signal"))
    return f"{reason} ({sent})" if sent else reason


def _state(row: BoardRow) -> str:
    return row.tools[-1][1] if row.tools else "thinking"


def tool_word(name: str, summary: str) -> str:
    """What a tool call amounts to: editing, reading, testing, running, or using a tool."""
    if summary.startswith("$") or _COMMANDS.search(name):
        return "testing" if _TESTS.search(summary) else "running"
    if _EDITS.search(name):
        return "editing"
    return "reading" if _READS.search(name) else "using tool"


def total_tokens(usage: Mapping[str, object]) -> float | None:
    """Input and output tokens together; unknown as long as either is."""
    came, went = number(usage, "input_tokens"), number(usage, "output_tokens")
    return None if came is None or went is None else came + went


def again_text(data: Object) -> str:
    """That a lane is tried once more: which try, when, and after what."""
    after = gist(string(data, "after")).replace("_", " ")
    count = number(data, "attempt")
    line = "the next try" if count is None else f"try {count:.0f}"
    begins = f"{line} begins in {duration(number(data, 'seconds'))}"
    return f"{begins}, after {after}" if after else begins


def waits_for(data: Object) -> str:
    """That an agent has finished, and what it waits for."""
    names = gist(", ".join(strings(data, "for")))
    return f"has finished; waits for {names} (at most {duration(number(data, 'of'))})"


def retry_text(data: Mapping[str, object]) -> str:
    """One line about a retry: which of how many, the status, how long it waits."""
    attempt, of = number(data, "attempt"), number(data, "of")
    parts = []
    if attempt is not None:
        parts.append(f"retry {attempt:g}" + (f" of {of:g}" if of is not None else ""))
    if (status := number(data, "status")) is not None:
        parts.append(f"status {status:g}")
    if (after := number(data, "retry_after")) is not None:
        parts.append(f"in {after:g} s")
    if line := gist(string(data, "text")):
        parts.append(line)
    return ", ".join(parts) or "retrying"

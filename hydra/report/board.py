"""What every lane is doing, as a pure fold of the race's events: `step(board, event) -> board`.

The live table paints it, `hydra runs` could replay it; no clock is read here. A step that changes
nothing visible gives the same board back, so that nothing is painted for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.records.events import AgentEvent, Event
from hydra.records.outcome import Status
from hydra.report.checks import skipped, trial, waits
from hydra.report.document import Data, number, record, records, strings, text
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

    def view(self, now: float, limits: Data = MappingProxyType({})) -> tuple[str, str]:
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
    limits: Data = field(default_factory=dict)
    ended: bool = False
    baseline: tuple[tuple[str, str], ...] = ()
    """(check, what it says or does) on the base, in the order in which they began."""
    trial: str = ""
    """What is tried now, once all lanes have ended."""


def step(board: Board, event: Event) -> Board:
    """The board after `event`. Lanes do not affect each other."""
    if event.kind == "run_started":
        rows = {lane: BoardRow(lane=lane) for lane in strings(event.data, "lanes")}
        return Board(rows={**rows, **board.rows}, limits=record(event.data, "limits"))
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
    result = gist(text(event.data, "says")) + skipped(int(number(event.data, "skipped") or 0))
    line = result or "$ " + gist(text(event.data, "command"))
    if event.kind == "check_ended" and (spent := number(event.data, "seconds")) is not None:
        line = f"{line}  {duration(spent)}"
    values = {**dict(board.baseline), gist(text(event.data, "check")): line}
    return replace(board, baseline=tuple(values.items()))


def _row_step(row: BoardRow, event: Event) -> BoardRow:
    if event.source == "agent" and AgentEvent(event.kind, event.sub).is_progress:
        row = replace(row, progress=event.mono, warned=False, limit=None)
    change = _CHANGES.get(event.kind)
    return change(row, event) if change else row


def _waiting(row: BoardRow, event: Event) -> BoardRow:
    return replace(row, state="waiting", last="for a place: other lanes run first")


def _opening(row: BoardRow, event: Event) -> BoardRow:
    return BoardRow(lane=row.lane, state="preparing", since=event.mono, progress=event.mono)


def _again(row: BoardRow, event: Event) -> BoardRow:
    # Its silence is Hydra's own: no limit runs.
    return replace(row, state="retrying", last=again_text(event.data), progress=None)


def _setup(row: BoardRow, event: Event) -> BoardRow:
    return replace(row, state="set-up", last="$ " + gist(text(event.data, "command")))


def _started(row: BoardRow, event: Event) -> BoardRow:
    return replace(row, state="starting", last="", progress=event.mono, remaining=None)


def _message(row: BoardRow, event: Event) -> BoardRow:
    line = gist(text(event.data, "text"))
    return replace(row, state=_state(row, "thinking"), last=line or row.last)


def _tool_call(row: BoardRow, event: Event) -> BoardRow:
    summary = gist(text(event.data, "summary")) or gist(text(event.data, "name"))
    state = tool_word(text(event.data, "name"), summary)
    tools = (*row.tools, (text(event.data, "id"), state, summary))
    return replace(row, state=state, last=summary, tools=tools[-50:])


def _tool_result(row: BoardRow, event: Event) -> BoardRow:
    done = text(event.data, "id")
    tools = tuple(tool for tool in row.tools if tool[0] != done)
    if tools:
        return replace(row, tools=tools, state=tools[-1][1], last=tools[-1][2])
    return replace(row, tools=(), state="thinking", last="")  # the command is over


def _progress(row: BoardRow, event: Event) -> BoardRow:
    if event.sub == "session":
        return replace(row, state=_state(row, "thinking"))
    if event.sub == "retry":
        return replace(row, state="retrying", last=retry_text(event.data))
    if event.sub == "closing":
        return replace(row, state="finishing", last=gist(text(event.data, "text")) or row.last)
    return row


def _usage(row: BoardRow, event: Event) -> BoardRow:
    used, spent = total_tokens(event.data), number(event.data, "cost_usd")
    return replace(
        row,
        tokens=row.tokens if used is None else used,
        cost=row.cost if spent is None else spent,
    )


def _completed(row: BoardRow, event: Event) -> BoardRow:
    line = gist(text(event.data, "text"))
    return replace(row, state="finishing", last=line or row.last, tools=())


def _failed(row: BoardRow, event: Event) -> BoardRow:
    message = gist(text(event.data, "message"))
    state = "finishing" if event.data.get("terminal") else row.state
    return replace(row, state=state, last=message or row.last)


def _half(row: BoardRow, event: Event) -> BoardRow:
    if text(event.data, "limit") == "total":
        return row  # it is no sign of standing still
    if "for" in event.data:
        return replace(row, state="waiting", last=waits_for(event.data))
    return replace(row, warned=True, limit=number(event.data, "of"))


def _stopping(row: BoardRow, event: Event) -> BoardRow:
    reason = gist(text(event.data, "reason")).replace("_", " ")
    sent = gist(text(event.data, "signal"))
    return replace(row, state="stopping", last=f"{reason} ({sent})" if sent else reason)


def _exited(row: BoardRow, event: Event) -> BoardRow:
    return replace(row, state="collecting", warned=False, tools=(), remaining=event.mono)


def _patch(row: BoardRow, event: Event) -> BoardRow:
    files = number(event.data, "files")
    return replace(row, files=None if files is None else int(files))


def _check_waiting(row: BoardRow, event: Event) -> BoardRow:
    return replace(row, state="waiting", last=waits(event.data).removeprefix("waits "))


def _check_started(row: BoardRow, event: Event) -> BoardRow:
    return replace(row, state="testing", last="$ " + gist(text(event.data, "command")))


def _check_ended(row: BoardRow, event: Event) -> BoardRow:
    line = f"{gist(text(event.data, 'check'))}: {gist(text(event.data, 'says'))}"
    return replace(row, last=line)


def _checked(event: Event) -> str:
    """What the checks say; what was waited for last is over."""
    results = records(event.data, "checks")
    return "; ".join(
        f"{gist(text(result, 'check'))}: {gist(text(result, 'says'))}" for result in results
    )


def _lane_ended(row: BoardRow, event: Event) -> BoardRow:
    status = text(event.data, "status")
    line = "; ".join(map(gist, strings(event.data, "held_back")))
    why = gist(text(record(event.data, "error"), "message")) or line
    spent = number(event.data, "seconds")
    return replace(
        row,
        state=STATUS_WORDS.get(status) or gist(status) or "ended",
        last=why or _checked(event) or row.last,
        seconds=spent if spent is not None else row.elapsed(event.mono) or 0.0,
        warned=False,
        tools=(),
    )


_CHANGES = {
    "lane_waiting": _waiting,
    "lane_opening": _opening,
    "lane_retrying": _again,
    "setup_started": _setup,
    "agent_started": _started,
    "message": _message,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "progress": _progress,
    "usage": _usage,
    "completed": _completed,
    "failed": _failed,
    "limit_warning": _half,
    "stopping": _stopping,
    "agent_exited": _exited,
    "patch_taken": _patch,
    "check_waiting": _check_waiting,
    "check_started": _check_started,
    "check_ended": _check_ended,
    "lane_ended": _lane_ended,
}


def _state(row: BoardRow, term: str) -> str:
    return row.tools[-1][1] if row.tools else term


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


def again_text(data: Data) -> str:
    """That a lane is tried once more: which try, when, and after what."""
    after = gist(text(data, "after")).replace("_", " ")
    count = number(data, "attempt")
    line = "the next try" if count is None else f"try {count:.0f}"
    begins = f"{line} begins in {duration(number(data, 'seconds'))}"
    return f"{begins}, after {after}" if after else begins


def waits_for(data: Data) -> str:
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
    if line := gist(text(data, "text")):
        parts.append(line)
    return ", ".join(parts) or "retrying"

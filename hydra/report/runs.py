"""`hydra runs`: the races of the past, a line each, or one of them whole."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hydra.landing.record import LandingRecord
from hydra.ranking.model import EndedRace
from hydra.report.board import STATUS_WORDS
from hydra.report.phrases import paid
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import clean, cost, facts, gist, size


class RaceCost(Struct, frozen=True):
    """US dollars of a whole race, None: unknown. `whole`: every try of every lane is in it;
    `reckoned`: Hydra worked some of it out from the tokens."""

    dollars: float | None = None
    whole: bool = False
    reckoned: bool = False


class RunRow(Struct, frozen=True, kw_only=True):
    """One run: `age` in seconds (None: unknown), lanes as (id, status), `size` in bytes.

    `title` is the task's first line, cut, `prompt` all of it ("": unknown).
    `state` is `running`, `ended`, `broken off` or `unreadable` (a damaged record, or a newer one).
    `winner` is the lane on top of its ranking (""), `landed` the lanes that are landed, `partial`
    those of which only a part is, `undone` that all of these were taken back; `spending` what its
    agents cost.
    """

    run: str
    age: float | None
    title: str
    prompt: str = ""
    lanes: tuple[tuple[str, str], ...] = ()
    size: int | None = None
    state: str = "ended"
    folder: str = ""
    winner: str = ""
    landed: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    undone: bool = False
    spending: RaceCost = RaceCost()


def spending(race: EndedRace) -> RaceCost:
    """What a race cost."""
    tries = [attempt for lane in race.lanes for attempt in lane.attempts or (lane,)]
    costs = [paid(attempt) for attempt in tries]
    dollars = [amount for amount, _ in costs if amount is not None]
    return RaceCost(
        sum(dollars) if dollars else None,
        whole=len(dollars) == len(tries),
        reckoned=any(reckoned for _, reckoned in costs),
    )


def age(seconds: float | None) -> str:
    """How long ago, in one rough figure: `now`, `5 min`, `3 h`, `12 d`; `?` if unknown."""
    if seconds is None:
        return "?"
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{int(seconds // unit)} {name}"
    return "now"


def runs_table(rows: Sequence[RunRow], *, width: int | None, color: bool = False) -> str:
    """`hydra runs`: one line a run."""
    columns = (
        Column("run"),
        Column("age", right=True),
        Column("task", least=26),
        Column("winner", least=12),
        Column("landed", least=6),
        Column("cost", right=True),
        Column("size", right=True, optional=1),
    )
    lines = table([_run_cells(row) for row in rows], columns, width, color)
    return "\n".join(lines) + "\n"


def _run_cells(row: RunRow) -> list[Cell]:
    winner: Cell = row.winner or "-"
    if row.state != "ended":
        winner = StyledText(f"[{row.state}]", "" if row.state == "running" else "warn")
    title = gist(row.title, 120)
    spent = _spent(row.spending)
    return [row.run, age(row.age), title, winner, _landed(row), spent, size(row.size)]


def _landed(row: RunRow) -> Cell:
    """`yes` where it is the winner, whole, else who; `no` and `undone`."""
    if not row.landed:
        return "undone" if row.undone else "no"
    names = [f"part of {lane}" if lane in row.partial else lane for lane in row.landed]
    return StyledText("yes" if names == [row.winner] else ", ".join(names), "good")


def _spent(spending: RaceCost) -> str:
    """`$0.14`; `$0.14+` where an agent did not say what it cost."""
    if spending.dollars is None:
        return "?"
    more = "" if spending.whole else "+"
    about = "~" if spending.reckoned else ""
    return f"{about}{cost(spending.dollars)}{more}"


def _lane_words(row: RunRow) -> str:
    return ", ".join(f"{lane} {STATUS_WORDS.get(status, status)}" for lane, status in row.lanes)


def run_text(
    row: RunRow,
    ending: str,
    *,
    landed: Sequence[LandingRecord] = (),
    width: int | None,
    color: bool = False,
) -> str:
    """`hydra runs show`: the run's facts, and `ending` (its `summary`, "" where it has none).

    `landed` are the records of its landings.
    """
    rows = [
        ("task", row.prompt or row.title),
        ("state", "" if ending and row.state == "ended" else row.state),
        ("age", age(row.age)),
        ("size", size(row.size)),
        ("folder", row.folder),
        ("lanes", "" if ending else _lane_words(row)),
        *(("landed", _landing(row)) for row in landed),
    ]
    lines = [paint(f"run {clean(row.run)}", "bold", color), *facts(rows, width)]
    return "\n".join(lines) + "\n" + (f"\n{ending}" if ending else "")


def _landing(landing: LandingRecord) -> str:
    """One landing: what, where, and a person's words where the verdict did not land it."""
    what = f"{', '.join(landing.lanes)} on {landing.branch_name}"
    confirmed = gist("; ".join(landing.confirmed), 600)
    parts = [
        f"{what} as {landing.commit[:10]}" if landing.commit else f"{what}, not committed",
        f"decided by you: {confirmed}" if confirmed else "",
        f"overriding the verdict: {gist(landing.override)}" if landing.override else "",
        "taken back" if landing.undone else "",
    ]
    return "; ".join(part for part in parts if part)

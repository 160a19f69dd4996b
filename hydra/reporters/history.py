"""`hydra runs`: the races of the past, a line each, or one of them whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hydra.reporters.board import STATUS_WORDS
from hydra.reporters.fields import Data, number, record, records, strings, text
from hydra.reporters.listing import fact_lines
from hydra.reporters.style import paint
from hydra.reporters.table import Cell, Column, Styled, table
from hydra.reporters.text import clean, cost, gist, size


@dataclass(frozen=True, slots=True)
class Spending:
    """US dollars of a whole race, None: unknown. `whole`: every try of every lane is in it;
    `reckoned`: Hydra worked some of it out from the tokens."""

    dollars: float | None = None
    whole: bool = False
    reckoned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run: `age` in seconds (None: unknown), lanes as (id, status), `size` in bytes.

    `state` is `running`, `ended`, `broken off` or `unreadable` (a damaged record, or a newer one).
    `winner` is the lane on top of its ranking (""), `landed` the lanes that are landed, `undone`
    that all of these were taken back; `spending` what its agents cost.
    """

    run: str
    age: float | None
    title: str
    lanes: tuple[tuple[str, str], ...] = ()
    size: int | None = None
    state: str = "ended"
    folder: str = ""
    winner: str = ""
    landed: tuple[str, ...] = ()
    undone: bool = False
    spending: Spending = Spending()


def spending(result: Data) -> Spending:
    """What a race cost, from its result's document."""
    tries = [
        attempt
        for lane in records(result, "lanes")
        for attempt in records(lane, "attempts") or [lane]
    ]
    costs = [_cost(attempt) for attempt in tries]
    dollars = [amount for amount, _ in costs if amount is not None]
    return Spending(
        sum(dollars) if dollars else None,
        whole=len(dollars) == len(tries),
        reckoned=any(reckoned for _, reckoned in costs),
    )


def _cost(attempt: Data) -> tuple[float | None, bool]:
    """As its agent says, else (True) as Hydra reckons it."""
    stated = number(record(attempt, "usage"), "cost_usd")
    if stated is not None:
        return stated, False
    reckoned = number(record(attempt, "usage_estimate"), "cost_usd")
    return reckoned, reckoned is not None


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
        Column("when", right=True),
        Column("task", least=14),
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
        winner = Styled(f"[{row.state}]", "" if row.state == "running" else "warn")
    when = age(row.age)
    when = f"{when} ago" if when[0].isdigit() else when
    title = gist(row.title, 120)
    return [row.run, when, title, winner, _landed(row), _spent(row.spending), size(row.size)]


def _landed(row: RunRow) -> Cell:
    """`yes` where it is the winner, else who; `no` and `undone`."""
    if not row.landed:
        return "undone" if row.undone else "no"
    return Styled("yes" if row.landed == (row.winner,) else ", ".join(row.landed), "good")


def _spent(spending: Spending) -> str:
    """`$0.14`; `over $0.14` where an agent did not say what it cost."""
    if spending.dollars is None:
        return "unknown"
    over = "" if spending.whole else "over "
    about = "~" if spending.reckoned else ""
    return f"{over}{about}{cost(spending.dollars)}"


def _lane_words(row: RunRow) -> str:
    return ", ".join(f"{lane} {STATUS_WORDS.get(status, status)}" for lane, status in row.lanes)


def run_text(
    row: RunRow,
    ending: str,
    *,
    landed: Sequence[Data] = (),
    width: int | None,
    color: bool = False,
) -> str:
    """`hydra runs show`: the run's facts, and `ending` (its `summary`, "" where it has none).

    `landed` are the records of its landings.
    """
    facts = [
        ("task", row.title),
        ("state", "" if ending and row.state == "ended" else row.state),
        ("age", age(row.age)),
        ("size", size(row.size)),
        ("folder", row.folder),
        ("lanes", "" if ending else _lane_words(row)),
        *(("landed", _landing(one)) for one in landed),
    ]
    lines = [paint(f"run {clean(row.run)}", "bold", color), *fact_lines(facts, width)]
    return "\n".join(lines) + "\n" + (f"\n{ending}" if ending else "")


def _landing(told: Data) -> str:
    """One landing: what, where, and with which words where the verdict was against it."""
    where = text(told, "ref").removeprefix("refs/heads/")
    commit = text(told, "commit")[:10]
    what = f"{', '.join(strings(told, 'lanes'))} on {where}"
    parts = [
        f"{what} as {commit}" if commit else f"{what}, not committed",
        f"overriding the verdict: {gist(why)}" if (why := text(told, "override")) else "",
        "taken back" if told.get("undone") else "",
    ]
    return "; ".join(part for part in parts if part)

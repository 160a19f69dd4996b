"""The lanes in the order of a verdict: a table, the sentence for it, and what to do next."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hydra.judge.verdict import may_land, way_to_land
from hydra.model import Status
from hydra.reporters import checks
from hydra.reporters.board import STATUS_WORDS
from hydra.reporters.fields import Data, number, record, records, strings, text
from hydra.reporters.style import paint
from hydra.reporters.table import Cell, Column, Styled, table
from hydra.reporters.text import clean, duration, gist, quote
from hydra.reporters.words import plus_minus, spent
from hydra.reporters.wrapping import paragraph

STATES = {"proved": "proved", "untested": "untested", "broken": "broken", "held_back": "held back"}
"""A lane's state in words,"""

_STYLES = {"proved": "good", "untested": "warn"}
"""and their colours; all others are bad."""

_HEAD = (Column("rank", right=True), Column("lane", least=10), Column("state"))
_TAIL = (
    Column("+/-", optional=2),
    Column("cost", right=True, optional=3),
    Column("time", right=True, optional=4),
    Column("why", wraps=True, least=32),
)
_RACES = "measured cases (docs/selection.md)"
_LINE = 300
"""Characters of a sentence that a table's cell shows; `--json` has it whole."""

_SENTENCE = 600

OVERRIDE = ' --override "why it may land"'
"""What the line of a broken patch needs, or of one that is held back."""


def ranks(
    verdict: Data, width: int | None, color: bool = False, *, marked: Collection[str] = ()
) -> list[str]:
    """The table of all lanes; those in `marked` carry a `!`."""
    lanes = records(verdict, "lanes")
    checked = [replace(column, optional=1) for column in checks.columns(lanes)]
    columns = [*_HEAD, *checked, *_TAIL]
    rows = [_row(lane, lanes, text(lane, "lane") in marked) for lane in lanes]
    return table(rows, columns, width, color)


def _row(lane: Data, lanes: list[Data], marked: bool) -> list[Cell]:
    patch = record(lane, "patch")
    return [
        place(lane),
        text(lane, "lane") + (" !" if marked else ""),
        Styled(word(lane), style(lane)),
        *checks.cells(lane, lanes),
        plus_minus(patch) if number(patch, "files") else checks.NOTHING,
        spent(lane),
        duration(number(lane, "seconds")),
        gist(text(lane, "reason") or text(lane, "why"), _LINE),
    ]


def state_words(lane: Data) -> str:
    """Its state as a person reads it."""
    return STATES.get(text(lane, "state")) or "not known"


def word(lane: Data) -> str:
    """Its state; how it ended, where it left no patch or came to no end of its own."""
    ending = STATUS_WORDS.get(text(lane, "status"), "")
    if number(lane, "rank") is None:
        return ending or "no patch"
    stopped = bool(ending) and text(lane, "status") != Status.COMPLETED.value
    return ending if stopped and text(lane, "state") == "held_back" else state_words(lane)


def style(lane: Data) -> str:
    """The colour of that word."""
    return "bad" if number(lane, "rank") is None else _STYLES.get(text(lane, "state"), "bad")


def place(lane: Data) -> str:
    """Its rank, which lanes that are tied share; `-` where there is nothing to rank."""
    rank = number(lane, "rank")
    return checks.NOTHING if rank is None else f"{rank:.0f}"


def tied_for_first(verdict: Data) -> list[str]:
    """The lanes between which a verdict does not choose; [] where it names one or none may land."""
    if text(verdict, "top"):
        return []
    lanes = records(verdict, "lanes")
    checked = verdict.get("checked")
    first = [
        lane
        for lane in lanes
        if number(lane, "rank") == 1
        and may_land(text(lane, "state"), lane.get("mergeable"), checked)
    ]
    return [text(lane, "lane") for lane in first] if len(first) > 1 else []


def lands_by_name(lane: Data, verdict: Data) -> bool:
    """Whether a lane lands once it is named; else it lands for a reason only."""
    way = way_to_land(text(lane, "state"), lane.get("mergeable"), verdict.get("checked"))
    return way != "override"


def says(verdict: Data, width: int | None, color: bool = False) -> list[str]:
    """The verdict in one sentence, and how sure it is."""
    answer = gist(text(verdict, "says"), _SENTENCE)
    top = text(verdict, "top")
    verb = "Landed" if top in strings(verdict, "landed") else "Land"
    lines = paragraph(f"{verb} {answer}" if top else answer, width)
    style = "good" if top else "warn"
    return [*(paint(line, style, color) for line in lines), *paragraph(sure(verdict), width)]


def sure(verdict: Data) -> str:
    """How often a winner like this one was right, in words; "" where there is none to speak of."""
    told = record(verdict, "confidence")
    how, share, why = gist(text(told, "word")), number(told, "share"), gist(text(told, "why"))
    if not how or (share is None and not why):
        return ""
    if share is None:
        return f"how sure this is was not measured: {why}"
    often = f"winners like this one were right in {share:.0%} of {_RACES}"
    return f"confidence: {how}: {'; '.join(part for part in (often, why) if part)}"


def steps(verdict: Data, run: str) -> list[str]:
    """What to do next: land, look, compare. `run` is named where it may not be the latest."""
    of_run = f" -r {quote(run)}" if run else ""
    how = landing_options(verdict)
    beside = f"side by side:  hydra compare --html --open{of_run}"
    patched = [text(lane, "lane") for lane in records(verdict, "lanes") if number(lane, "rank")]
    if not patched:
        return []
    if landed := [lane for lane in patched if lane in strings(verdict, "landed")]:
        see = [f"see it:        hydra diff {quote(lane)}{of_run}" for lane in landed[:1]]
        return [f"{named(landed)} landed already", *see, beside]
    if top := text(verdict, "top"):
        return [
            f"land it:       hydra merge {quote(top)}{of_run}{how}",
            f"see it:        hydra diff {quote(top)}{of_run}",
            beside,
        ]
    if tied := tied_for_first(verdict):
        head = f"{named(tied)} are tied: look, then land the one that you choose"
        lands = [f"  hydra merge {quote(lane)}{of_run}{how}" for lane in tied]
        return [head, f"  hydra diff {' '.join(map(quote, tied[:2]))}{of_run}", *lands, beside]
    first = quote(patched[0])
    named_only = lands_by_name(records(verdict, "lanes")[0], verdict)
    override = "" if named_only else OVERRIDE
    return [
        f"see it:        hydra diff {first}{of_run}",
        beside,
        f"land it still: hydra merge {first}{of_run}{how}{override}",
    ]


def landing_options(verdict: Data) -> str:
    """What a line that lands needs besides: where a commit would take the user's own changes, and
    where HEAD is on no branch that could take it."""
    if verdict.get("uncommitted") is True:
        return " --no-commit"
    return " --branch NAME" if verdict.get("detached") is True else ""


def named(lanes: list[str]) -> str:
    """`a and b`, `a, b and c`."""
    *some, last = map(clean, lanes)
    return f"{', '.join(some)} and {last}" if some else last

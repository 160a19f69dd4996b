"""The end of a race on a screen: which patch to land, a line or two for each lane, what comes next.

All else is behind `hydra compare` and `hydra runs show`: four lanes have twelve lines, or fourteen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hydra.process.sandbox.hidden_output import HIDDEN
from hydra.report import ranking
from hydra.report.document import Data, number, record, records, strings, text
from hydra.report.phrases import plus_minus, spent
from hydra.report.style import paint
from hydra.report.summary import plans, status_word, warnings, why
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import TO_TYPE, clean, cut, duration, gist, wrapped
from hydra.report.text import width as cells
from hydra.text import join_names, of_run, plural

_WIDE = 100
"""Cells from which a row has room for what its lane cost."""

_COLUMNS = (
    Column("", right=True),
    Column("", least=16),
    Column(""),
    Column(""),
    Column("", right=True),
    Column("", right=True),
)
_WHY = Column("", wraps=True, least=24)
_WARNING = 160
_NAMED = 2
_LINES = 2
"""Lines that a sentence has; `hydra compare` shows all of it."""


def race_end(document: Data, *, width: int | None, color: bool = False, steps: bool = True) -> str:
    """The end of a race from its result document; ends with a newline.

    `width` is the terminal's width, None where there is none (a pipe: nothing is wrapped or cut).
    `steps` False leaves out what to type next, where that is another's to say.
    """
    verdict = record(document, "verdict")
    lanes = records(verdict, "lanes") or records(document, "lanes")
    head = _head(document, verdict, lanes)
    style = "good" if text(verdict, "top") else "warn"
    answer = [paint(line, style, color) for line in _short(head, width)]
    rows = _table(verdict, lanes, width, color)
    more = _next(document, verdict, lanes) if steps else []
    if steps:
        sentences = [*ranking.asks(verdict), *_rest(document, lanes), *_more(document, lanes)]
        more += [line for sentence in sentences for line in _short(sentence, width)]
    more += plans(document)
    notes = [f"note: {note}" for note in (*strings(verdict, "warnings"), *_hidden(document))]
    # What a note ends with may be what to type: it stays whole.
    more += [line for note in notes for line in wrapped(clean(note), width)]
    return "\n".join([*answer, *rows, *([""] if more else ()), *more]) + "\n"


def _head(document: Data, verdict: Data, lanes: Sequence[Data]) -> str:
    signal = text(document, "interrupted")
    ended = f"Interrupted after {duration(number(document, 'seconds'))}. " if signal else ""
    return ended + answer(verdict, lanes)


def answer(verdict: Data, lanes: Sequence[Data]) -> str:
    """Which patch to land, or that none is to be; up to the first colon without its reason."""
    top = text(verdict, "top")
    if not any(number(record(lane, "patch"), "files") for lane in lanes):
        return "No lane left a patch."
    if ranking.is_all_untested(verdict):
        return "Nothing was tested: there is no first."
    if verdict.get("checked") is False:
        return f"No check ran, so nothing is proved{_held_back(lanes)}."
    for lane in lanes:
        if top and text(lane, "lane") == top:
            return f"Land {top}: {gist(text(lane, 'reason'))}."
    if ranking.tied_for_first(verdict):
        return f"{gist(text(verdict, 'says'))}."
    return "No patch is proved." if verdict else "The patches could not be compared."


def _held_back(lanes: Sequence[Data]) -> str:
    """What can be told of lanes without a check: which are held back."""
    barred = [
        text(lane, "lane")
        for lane in lanes
        if ranking.state_word(lane) == ranking.STATES["held_back"]
    ]
    are = "is" if len(barred) == 1 else "are"
    return f"; {ranking.named(barred)} {are} held back" if barred else ""


def _table(verdict: Data, lanes: Sequence[Data], width: int | None, color: bool) -> list[str]:
    shown = len(_COLUMNS) if width is None or width >= _WIDE else len(_COLUMNS) - 2
    rows = [_row(lane, verdict)[:shown] for lane in lanes]
    used = sum(max((cells(_plain(row[at])) for row in rows), default=0) + 2 for at in range(shown))
    top = next((lane for lane in lanes if text(lane, "lane") == text(verdict, "top")), {})
    whys = [clean(lane_why(lane, top, verdict)) for lane in lanes]
    if width is not None:
        whys = [" ".join(_short(why, max(width - used - 2, _WHY.least))) for why in whys]
    whole = [[*row, why] for row, why in zip(rows, whys, strict=True)]
    return table(whole, (*_COLUMNS[:shown], _WHY), width, color, header=False)


def _plain(cell: Cell) -> str:
    return clean(cell if isinstance(cell, str) else cell.text)


def _row(lane: Data, verdict: Data) -> list[Cell]:
    patch = record(lane, "patch")
    return [
        ranking.place(lane, verdict),
        text(lane, "lane"),
        StyledText(ranking.state_word(lane), ranking.style(lane)) if verdict else status_word(lane),
        plus_minus(patch) if number(patch, "files") else "-",
        "cost ?" if (cost := spent(lane)) == "?" else cost,
        duration(number(lane, "seconds")),
    ]


def lane_why(lane: Data, top: Data, verdict: Data) -> str:
    """Nothing for the lane that the sentence above is about, nor where that says it of all."""
    if not verdict:
        return why(lane)
    patched = number(lane, "rank") is not None
    if patched and text(lane, "reason").startswith("no check ran"):
        return ""
    if not top or not patched or ranking.proof(lane) != ranking.proof(top):
        return gist(text(lane, "reason")).removeprefix(f"{ranking.state_word(lane)}: ")
    if lane is top:
        return ""
    for group in records(verdict, "groups"):
        names = strings(group, "lanes")
        if text(group, "kind") == "identical" and {text(lane, "lane"), text(top, "lane")} <= {
            *names
        }:
            return "the very same patch"
    if fails := ranking.fails(lane):
        return fails
    return "passes the same tests"


def _short(sentence: str, room: int | None) -> list[str]:
    """In two lines; what has no room goes, but for a line to type."""
    lines = wrapped(clean(sentence), room)
    if room is None or len(lines) <= _LINES or TO_TYPE.search(sentence):
        return lines
    return [*lines[: _LINES - 1], cut(" ".join(lines[_LINES - 1 :]), room)]


def _next(document: Data, verdict: Data, lanes: Sequence[Data]) -> list[str]:
    run, facts = of_run(text(document, "run")), verdict or document
    patched = [text(lane, "lane") for lane in lanes if number(record(lane, "patch"), "files")]
    if not patched:
        return [f"why: hydra runs show{run}"]
    if ranking.is_all_untested(verdict):
        looks, test, when = ranking.untested_steps(verdict)
        return [*(f"look: {look}" for look in looks), f"{when}: {test}"]
    first = text(verdict, "top") or patched[0]
    why = f"why: hydra compare{run}"
    rests = [
        line.strip()
        for lane in ranking.to_land(verdict)
        for line in ranking.merge_without_made(lane, verdict)
    ]
    if tied := ranking.tied_for_first(verdict):
        lands = [f"land: {ranking.to_merge(verdict, lane)}" for lane in tied]
        return [f"look: {ranking.to_see(verdict, *tied[:2])}", why, *lands, *rests]
    look, merge = f"look: {ranking.to_see(facts, first)}", ranking.to_merge(facts, first)
    if text(verdict, "top"):
        both = ranking.merge_of_both(verdict)
        code = [f"{ranking.or_both(verdict)}:", both] if both else []
        return [look, why, f"land: {merge}", *code, *rests]
    is_able = ranking.lands_by_name(lanes[0], verdict)
    return [look, why, *([f"land it all the same: {merge}", *rests] if is_able else [])]


def _rest(document: Data, lanes: Sequence[Data]) -> Iterator[str]:
    """What an interrupted race did not come to."""
    untested = ranking.is_all_untested(record(document, "verdict"))
    if (
        text(document, "interrupted")
        and not untested
        and any(number(record(lane, "patch"), "files") for lane in lanes)
    ):
        yield f"test what was kept: hydra check{of_run(text(document, 'run'))}"


def _more(document: Data, lanes: Sequence[Data]) -> Iterator[str]:
    """What is not shown, counted; one warning is, as far as it fits."""
    run = of_run(text(document, "run"))
    sentences = strings(record(document, "verdict"), "warnings")
    noted = [*map(clean, (*sentences, *_hidden(document)))]
    warned = [line for line in warnings(document) if line not in noted]
    if len(warned) == 1:
        yield f"warning: {gist(warned[0], _WARNING)}"
    elif warned:
        yield f"{len(warned)} warnings: hydra runs show{run}"
    verdict = record(document, "verdict")
    for lane in next_to_land(verdict, lanes):
        if mine := strings(record(document, "dirty"), text(lane, "lane")):
            names = join_names(list(map(clean, mine)), _NAMED)
            line = f"touches what you have changed ({names}): commit or stash it before you land"
            yield f"{clean(text(lane, 'lane'))} {line}"
        if looks := len(records(record(lane, "patch"), "remarks")):
            line = f"{plural(looks, 'change')} to look at before you land: hydra compare{run}"
            yield f"{clean(text(lane, 'lane'))}: {line}"


def _hidden(document: Data) -> list[str]:
    """What checks miss that is there outside of lanes."""
    lines = strings(document, "warnings")
    return [line for line in lines if line.startswith(HIDDEN) and " (a check " in line]


def next_to_land(verdict: Data, lanes: Sequence[Data]) -> list[Data]:
    """Those that one may land next: the winner, the tied, else the first that left a patch."""
    names = [text(verdict, "top")] if text(verdict, "top") else ranking.tied_for_first(verdict)
    patched = [lane for lane in lanes if number(record(lane, "patch"), "files")]
    return [lane for lane in patched if text(lane, "lane") in names] or patched[:1]

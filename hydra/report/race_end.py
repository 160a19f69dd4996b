"""The end of a race on a screen: which patch to land, a line or two for each lane, what comes next.

All else is behind `hydra compare` and `hydra runs show`: four lanes have twelve lines, or fourteen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hydra.process.sandbox.hidden_output import HIDDEN
from hydra.ranking.model import EndedRace, LaneResult, LaneVerdict, Verdict
from hydra.report import ranking
from hydra.report.phrases import size_of, spent
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


def race_end(
    race: EndedRace,
    verdict: Verdict,
    *,
    width: int | None,
    color: bool = False,
    steps: bool = True,
) -> str:
    """The end of a race; ends with a newline. Its verdict has no lanes where it was not judged.

    `width` is the terminal's width, None where there is none (a pipe: nothing is wrapped or cut).
    `steps` False leaves out what to type next, where that is another's to say.
    """
    ended = f"Interrupted after {duration(race.seconds)}. " if race.interrupted else ""
    style = "good" if verdict.top else "warn"
    head = _short(ended + answer(race, verdict), width)
    rows = _table(race, verdict, width, color)
    more = _next(race, verdict) if steps else []
    if steps:
        sentences = [*ranking.asks(verdict), *_rest(race, verdict), *_more(race, verdict)]
        more += [line for sentence in sentences for line in _short(sentence, width)]
    more += plans(race)
    notes = [f"note: {note}" for note in (*verdict.warnings, *_hidden(race))]
    # What a note ends with may be what to type: it stays whole.
    more += [line for note in notes for line in wrapped(clean(note), width)]
    lines = [*(paint(line, style, color) for line in head), *rows, *([""] if more else ()), *more]
    return "\n".join(lines) + "\n"


def answer(race: EndedRace, verdict: Verdict) -> str:
    """Which patch to land, or that none is to be; up to the first colon without its reason."""
    if not _patched(race, verdict):
        return "No lane left a patch."
    if ranking.is_all_untested(verdict):
        return "Nothing was tested: there is no first."
    if not verdict.checked:
        barred = [lane.lane for lane in verdict.lanes if ranking.state_word(lane) == "held back"]
        are = "is" if len(barred) == 1 else "are"
        rest = f"; {ranking.named(barred)} {are} held back" if barred else ""
        return f"No check ran, so nothing is proved{rest}."
    if top := verdict.lane(verdict.top):
        return f"Land {top.lane}: {gist(top.reason)}."
    if ranking.tied_for_first(verdict):
        return f"{gist(verdict.says)}."
    return "No patch is proved." if verdict.lanes else "The patches could not be compared."


def _patched(race: EndedRace, verdict: Verdict) -> list[str]:
    lanes: Sequence[LaneVerdict | LaneResult] = verdict.lanes or race.lanes
    return [lane.lane for lane in lanes if lane.patch and lane.patch.files]


def _table(race: EndedRace, verdict: Verdict, width: int | None, color: bool) -> list[str]:
    shown = len(_COLUMNS) if width is None or width >= _WIDE else len(_COLUMNS) - 2
    if verdict.lanes:
        whole = [(_row(lane, verdict), lane_why(lane, verdict)) for lane in verdict.lanes]
    else:
        whole = [(_row(lane, verdict), why(lane)) for lane in race.lanes]
    rows = [row[:shown] for row, _ in whole]
    used = sum(max((cells(_plain(row[at])) for row in rows), default=0) + 2 for at in range(shown))
    whys = [clean(why) for _, why in whole]
    if width is not None:
        whys = [" ".join(_short(why, max(width - used - 2, _WHY.least))) for why in whys]
    lines = [[*row, why] for row, why in zip(rows, whys, strict=True)]
    return table(lines, (*_COLUMNS[:shown], _WHY), width, color, header=False)


def _plain(cell: Cell) -> str:
    return clean(cell if isinstance(cell, str) else cell.text)


def _row(lane: LaneVerdict | LaneResult, verdict: Verdict) -> list[Cell]:
    if isinstance(lane, LaneVerdict):
        place = ranking.place(lane, verdict)
        state: Cell = StyledText(ranking.state_word(lane), ranking.style(lane))
    else:
        place, state = "-", status_word(lane)
    return [
        place,
        lane.lane,
        state,
        size_of(lane.patch),
        "cost ?" if (cost := spent(lane)) == "?" else cost,
        duration(lane.seconds),
    ]


def lane_why(lane: LaneVerdict, verdict: Verdict) -> str:
    """Nothing for the lane that the sentence above is about, nor where that says it of all."""
    top = verdict.lane(verdict.top)
    patched = lane.rank is not None
    if patched and lane.reason.startswith("no check ran"):
        return ""
    if patched and top and lane.lane == top.lane:
        return ""
    is_other = not top or ranking.proof(lane) != ranking.proof(top)
    if not top or not patched or is_other or _is_untried(lane, top, verdict):
        return gist(lane.reason).removeprefix(f"{ranking.state_word(lane)}: ")
    pair = {lane.lane, top.lane}
    if any(group.kind == "identical" and pair <= {*group.lanes} for group in verdict.groups):
        return "the very same patch"
    failing = ranking.fails(lane)
    return failing if failing and failing != ranking.fails(top) else "passes the same tests"


def _is_untried(lane: LaneVerdict, top: LaneVerdict, verdict: Verdict) -> bool:
    """Whether a new test that passes with the one did not run with the other."""
    pair = {lane.lane: top.lane, top.lane: lane.lane}
    rows = [row for row in verdict.cross if row.cells.get(row.author) == "own"]
    cells = [row.cells.get(pair[row.author]) for row in rows if row.author in pair]
    return "not run" in cells or "not tried" in cells


def _short(sentence: str, room: int | None) -> list[str]:
    """In two lines; what has no room goes, but for a line to type."""
    lines = wrapped(clean(sentence), room)
    if room is None or len(lines) <= _LINES or TO_TYPE.search(sentence):
        return lines
    return [*lines[: _LINES - 1], cut(" ".join(lines[_LINES - 1 :]), room)]


def _next(race: EndedRace, verdict: Verdict) -> list[str]:
    run = of_run(verdict.run)
    if not (patched := _patched(race, verdict)):
        return [f"why: hydra runs show{run}"]
    if ranking.is_all_untested(verdict):
        looks, test, when = ranking.untested_steps(verdict)
        return [*(f"look: {look}" for look in looks), f"{when}: {test}"]
    first, why = verdict.top or patched[0], f"why: hydra compare{run}"
    next_lanes = ranking.to_land(verdict)
    rests = [
        line.strip() for lane in next_lanes for line in ranking.merge_without_made(lane, verdict)
    ]
    if tied := ranking.tied_for_first(verdict):
        lands = [f"land: {ranking.to_merge(verdict, lane)}" for lane in tied]
        return [f"look: {ranking.to_see(verdict, *tied[:2])}", why, *lands, *rests]
    look, merge = f"look: {ranking.to_see(verdict, first)}", ranking.to_merge(verdict, first)
    if verdict.top:
        both = ranking.merge_of_both(verdict)
        code = [f"{ranking.or_both(verdict)}:", both] if both else []
        return [look, why, f"land: {merge}", *code, *rests]
    is_able = verdict.lanes and ranking.lands_by_name(verdict.lanes[0], verdict)
    return [look, why, *([f"land it all the same: {merge}", *rests] if is_able else [])]


def _rest(race: EndedRace, verdict: Verdict) -> Iterator[str]:
    """What an interrupted race did not come to."""
    untested = ranking.is_all_untested(verdict)
    if race.interrupted and not untested and _patched(race, verdict):
        yield f"test what was kept: hydra check{of_run(verdict.run)}"


def _more(race: EndedRace, verdict: Verdict) -> Iterator[str]:
    """What is not shown, counted; one warning is, as far as it fits."""
    run = of_run(verdict.run)
    noted = [*map(clean, (*verdict.warnings, *_hidden(race)))]
    warned = [line for line in warnings(race) if line not in noted]
    if len(warned) == 1:
        yield f"warning: {gist(warned[0], _WARNING)}"
    elif warned:
        yield f"{len(warned)} warnings: hydra runs show{run}"
    for lane in ranking.to_land(verdict):
        if mine := verdict.dirty.get(lane.lane):
            names = join_names(list(map(clean, mine)), _NAMED)
            line = f"touches what you have changed ({names}): commit or stash it before you land"
            yield f"{clean(lane.lane)} {line}"
        if looks := len(lane.patch.remarks if lane.patch else ()):
            line = f"{plural(looks, 'change')} to look at before you land: hydra compare{run}"
            yield f"{clean(lane.lane)}: {line}"


def _hidden(race: EndedRace) -> list[str]:
    """What checks miss that is there outside of lanes."""
    return [line for line in race.warnings if line.startswith(HIDDEN) and " (a check " in line]

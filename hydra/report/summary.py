"""All of a race that has ended: `hydra runs show`.

What a race itself ends with is shorter: `ending`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import UNSET

from hydra.errors import Failure
from hydra.ranking.model import EndedRace, LaneResult, LaneVerdict, Verdict
from hydra.report import checks, ranking
from hydra.report.board import STATE_STYLES, STATUS_WORDS
from hydra.report.landing import remark_lines
from hydra.report.phrases import size_of, soft_mark, spent, tries
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import (
    bullets,
    clean,
    duration,
    failure_details,
    gist,
    labelled,
    paragraph,
    quote,
    tokens,
    wrapped,
)
from hydra.text import plural

_COLUMNS = (
    Column("lane", least=10),
    Column("outcome"),
    Column("files", right=True),
    Column("+/-"),
    Column("tokens", right=True, optional=2),
    Column("cost", right=True, optional=1),
    Column("time", right=True),
    Column("why", wraps=True, least=32),
)


def summary(
    race: EndedRace,
    verdict: Verdict,
    *,
    width: int | None,
    color: bool = False,
    problem: str = "",
) -> str:
    """What each lane did, why a lane failed, and what to do next; ends with a newline.

    Lanes stand in the order of the verdict, in their own where that has none.

    `width` is the terminal's width, None where there is none (a pipe: nothing is wrapped).
    `problem` is why its verdict cannot be read.
    """
    lanes, judged = race.lanes, verdict.lanes
    blocks = [
        [_headline(race, verdict, color)],
        checks.baseline(verdict.baseline if judged else race.baseline),
        [*_table(race, verdict, width, color), *_soft(race), *_tries(lanes, width)],
        ranking.says(verdict, width, color) or paragraph(clean(problem), width),
        *(
            _failure(lane, lane.failure, width, color)
            for lane in lanes
            if lane.failure and lane.status != "interrupted"  # of that one the table says all
        ),
        [paint("warnings", "warn", color), *bullets(noted, width)]
        if (noted := warnings(race))
        else [],
        looks(lanes, width),
        plans(race),
        ranking.steps(verdict, width) if judged else _next_steps(race, verdict),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _headline(race: EndedRace, verdict: Verdict, color: bool) -> str:
    usable = sum(lane.usable for lane in race.lanes)
    count = f"{usable} of {plural(len(race.lanes), 'lane')} usable"
    if verdict.lanes and verdict.checked:
        usable = sum(lane.state == "proved" for lane in verdict.lanes)
        count = f"{usable} of {plural(len(race.lanes), 'lane')} proved"
    signal = clean(race.interrupted or "")
    how = f"interrupted by {signal} after" if signal else "ended in"
    line = paint(count, "good" if usable else "bad", color)
    return f"race {clean(race.run)}  {how} {duration(race.seconds)}  {line}"


def _table(race: EndedRace, verdict: Verdict, width: int | None, color: bool) -> list[str]:
    soft = _soft_lanes(race)
    if verdict.lanes:
        return ranking.ranks(verdict, width, color, marked=soft)
    # The checks stand between the outcome and the patch's size.
    columns = [*_COLUMNS[:2], *checks.columns(race.lanes), *_COLUMNS[2:]]
    rows = []
    for lane in race.lanes:
        row = _row(lane, soft)
        rows.append([*row[:2], *checks.cells(lane, race.lanes), *row[2:]])
    return table(rows, columns, width, color)


def _row(lane: LaneResult, soft: list[str]) -> list[Cell]:
    outcome, usage = status_word(lane), lane.usage
    used = (usage.input_tokens, usage.output_tokens)
    return [
        lane.lane + (" !" if lane.lane in soft else ""),
        StyledText(outcome, STATE_STYLES.get(outcome, "")),
        "-" if lane.patch is None else str(lane.patch.files),
        size_of(lane.patch),
        tokens(None if None in used else sum(filter(None, used))),
        spent(lane),
        duration(lane.seconds),
        why(lane),
    ]


def _soft(race: EndedRace) -> list[str]:
    mark = soft_mark(_soft_lanes(race))
    return [f"  {mark}"] if mark else []


def _tries(lanes: Sequence[LaneResult], width: int | None) -> list[str]:
    """What was paid beside what the rows show."""
    lines = [line for lane in lanes if (line := tries(lane))]
    return [f"  {part}" for line in lines for part in wrapped(line, width, 2)]


def _soft_lanes(race: EndedRace) -> list[str]:
    """Those whose own options take no tool away, where nothing else confines them."""
    confined = race.confinement.kind == "bwrap"
    return [lane.lane for lane in race.lanes if lane.sandbox == "soft" and not confined]


def status_word(lane: LaneResult) -> str:
    """A lane's outcome in words."""
    return STATUS_WORDS.get(lane.status) or gist(lane.status) or "?"


def why(lane: LaneResult) -> str:
    """Why a lane ended as it did: its failure, or the beginning of what its agent said last."""
    line, patch = gist(lane.message, 160), lane.patch
    parts = []
    if patch and patch.incomplete:
        parts.append(f"patch INCOMPLETE: {gist(patch.incomplete)}")
    if lane.failure:
        parts.append(gist(lane.failure.message))
        if patch and patch.files and not patch.incomplete:
            parts.append("its patch is kept")
    if lane.held_back:
        parts.append("; ".join(map(gist, lane.held_back)))
    elif line and not lane.failure:
        parts.append(line)
    return "; ".join(part for part in parts if part)


def _failure(lane: LaneResult, failure: Failure, width: int | None, color: bool) -> list[str]:
    outcome = paint(status_word(lane), "bad", color)
    reason = clean(failure.reason).replace("_", " ")
    narrowed = f" ({reason}{_numbers(failure)})" if reason else ""
    head = f"{clean(lane.lane)}: {outcome}{narrowed}"
    return [head, *labelled("why", failure.message, width), *failure_details(failure, width)]


def _numbers(failure: Failure) -> str:
    shown = []
    for name, value in failure.numbers.items():
        seconds = name == "retry_after" or failure.kind == "TimedOut"
        if value is None:
            continue
        if name == "resets_at":
            shown.append(f", resets {time.strftime('%b %d %H:%M', time.localtime(value))}")
        else:
            line = f"{value:.0f}" if float(value).is_integer() else f"{value:g}"
            shown.append(f", {clean(name).replace('_', ' ')} {line}{' s' * seconds}")
    return "".join(shown)


def warnings(race: EndedRace) -> list[str]:
    """Those of the race, of its base and of its lanes, in that order."""
    remarks = [clean(line) for line in race.warnings]
    remarks += [f"base: {line}" for line in checks.remarks(race.baseline)]
    for lane in race.lanes:
        notes = lane.patch.notes if lane.patch else ()
        noted = (*notes, *lane.warnings, *checks.remarks(lane.checks))
        remarks += [f"{clean(lane.lane)}: {clean(line)}" for line in noted]
    return remarks


def plans(race: EndedRace) -> list[str]:
    """Where each plan is: a whole line, to be copied."""
    rows = [(lane.lane, lane.plan) for lane in race.lanes if lane.plan]
    return [f"plan of {clean(name)}:  {quote(f'{race.folder}/{place}')}" for name, place in rows]


def looks(lanes: Sequence[LaneVerdict | LaneResult], width: int | None) -> list[str]:
    """What the patches touch that deserves a look before one is taken."""
    names = []
    for lane in lanes:
        lines = remark_lines(lane.patch.remarks if lane.patch else ())
        names += [f"{clean(lane.lane)}: {line}" for line in lines]
    return ["look at, before you take it", *bullets(names, width)] if names else []


def _next_steps(race: EndedRace, verdict: Verdict) -> list[str]:
    patched = [lane for lane in race.lanes if lane.patch and lane.patch.files]
    if not patched:
        return []
    usable = [lane for lane in patched if lane.usable]
    name = (usable or patched)[0].lane
    see, land = ranking.to_see(verdict, name), ranking.to_merge(verdict, name)
    # Of a verdict that cannot be read nobody knows what speaks against a lane.
    if not usable or race.verdict is not UNSET:
        return [f"see it:        {see}", f"land it still: {land}{ranking.OVERRIDE}"]
    return [f"land it:  {land}", f"see it:   {see}"]

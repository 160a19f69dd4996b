"""All of a race that has ended, from its result document (`result.json`): `hydra runs show`.

What a race itself ends with is shorter: `ending`."""

from __future__ import annotations

import time

from hydra.report import checks, ranking
from hydra.report.board import STATE_STYLES, STATUS_WORDS, total_tokens
from hydra.report.document import Data, number, record, records, strings, text
from hydra.report.landing import remark_lines
from hydra.report.phrases import plus_minus, soft_mark, spent, tries
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
    document: Data,
    *,
    width: int | None,
    color: bool = False,
    problem: str = "",
) -> str:
    """What each lane did, why a lane failed, and what to do next; ends with a newline.

    Lanes stand in the order of the document's verdict, in their own where it has none.

    `width` is the terminal's width, None where there is none (a pipe: nothing is wrapped).
    `problem` is why its verdict cannot be read.
    """
    lanes, verdict = records(document, "lanes"), _verdict(document)
    next_steps = ranking.steps(verdict, width) if verdict else _next_steps(document, lanes)
    blocks = [
        [_headline(document, lanes, color)],
        checks.baseline(verdict or document),
        [*_table(document, lanes, width, color), *_soft(document), *_tries(lanes, width)],
        ranking.says(verdict, width, color) or paragraph(clean(problem), width),
        *(_failure(lane, width, color) for lane in lanes if _failed(lane)),
        _remarks(document, width, color),
        looks(lanes, width),
        plans(document),
        next_steps,
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _verdict(document: Data) -> Data:
    """Empty where there is none, and where it says nothing of any lane."""
    data = record(document, "verdict")
    return data if records(data, "lanes") else {}


def _headline(document: Data, lanes: list[Data], color: bool) -> str:
    usable = sum(1 for lane in lanes if lane.get("usable") is True)
    count = f"{usable} of {plural(len(lanes), 'lane')} usable"
    verdict = _verdict(document)
    if verdict and verdict.get("checked") is not False:
        usable = sum(text(lane, "state") == "proved" for lane in records(verdict, "lanes"))
        count = f"{usable} of {plural(len(lanes), 'lane')} proved"
    signal = clean(text(document, "interrupted"))
    how = f"interrupted by {signal} after" if signal else "ended in"
    took = duration(number(document, "seconds"))
    line = paint(count, "good" if usable else "bad", color)
    return f"race {clean(text(document, 'run'))}  {how} {took}  {line}"


def _table(document: Data, lanes: list[Data], width: int | None, color: bool) -> list[str]:
    soft = _soft_lanes(document)
    if verdict := _verdict(document):
        return ranking.ranks(verdict, width, color, marked=soft)
    # The checks stand between the outcome and the patch's size.
    columns = [*_COLUMNS[:2], *checks.columns(lanes), *_COLUMNS[2:]]
    rows = []
    for lane in lanes:
        cells = _row(lane, soft)
        rows.append([*cells[:2], *checks.cells(lane, lanes), *cells[2:]])
    return table(rows, columns, width, color)


def _row(lane: Data, soft: list[str]) -> list[Cell]:
    patch, usage = record(lane, "patch"), record(lane, "usage")
    outcome = status_word(lane)
    files = number(patch, "files")
    return [
        text(lane, "lane") + (" !" if text(lane, "lane") in soft else ""),
        StyledText(outcome, STATE_STYLES.get(outcome, "")),
        "-" if files is None else f"{files:.0f}",
        plus_minus(patch) if files else "-",
        tokens(total_tokens(usage)),
        spent(lane),
        duration(number(lane, "seconds")),
        why(lane),
    ]


def _soft(document: Data) -> list[str]:
    mark = soft_mark(_soft_lanes(document))
    return [f"  {mark}"] if mark else []


def _tries(lanes: list[Data], width: int | None) -> list[str]:
    """What was paid beside what the rows show."""
    lines = [line for lane in lanes if (line := tries(lane))]
    return [f"  {part}" for line in lines for part in wrapped(line, width, 2)]


def _soft_lanes(document: Data) -> list[str]:
    """Those whose own options take no tool away, where nothing else confines them."""
    if text(record(document, "confinement"), "kind") == "bwrap":
        return []
    lanes = records(document, "lanes")
    return [text(lane, "lane") for lane in lanes if text(lane, "sandbox") == "soft"]


def status_word(lane: Data) -> str:
    """A lane's outcome in words."""
    status = text(lane, "status")
    return STATUS_WORDS.get(status) or gist(status) or "?"


def why(lane: Data) -> str:
    """Why a lane ended as it did: its failure, or the beginning of what its agent said last."""
    patch, error = record(lane, "patch"), record(lane, "error")
    line = gist(text(lane, "message"), 160)
    parts = []
    if missing := gist(text(patch, "incomplete")):
        parts.append(f"patch INCOMPLETE: {missing}")
    if error:
        parts.append(gist(text(error, "message")))
        if number(patch, "files") and not missing:
            parts.append("its patch is kept")
    if value := checks.reasons(lane):
        parts.append(value)
    elif line and not error:
        parts.append(line)
    return "; ".join(part for part in parts if part)


def _failed(lane: Data) -> bool:
    """Of an interrupted one the table says all."""
    return bool(record(lane, "error")) and text(lane, "status") != "interrupted"


def _failure(lane: Data, width: int | None, color: bool) -> list[str]:
    error = record(lane, "error")
    outcome = paint(status_word(lane), "bad", color)
    reason = clean(text(error, "reason")).replace("_", " ")
    narrowed = f" ({reason}{_numbers(error)})" if reason else ""
    message = text(error, "message")
    head = f"{clean(text(lane, 'lane'))}: {outcome}{narrowed}"
    return [head, *labelled("why", message, width), *failure_details(error, width)]


def _numbers(error: Data) -> str:
    figures = record(error, "numbers")
    shown = []
    for name in figures:
        value = number(figures, str(name))
        seconds = name == "retry_after" or text(error, "kind") == "TimedOut"
        if name == "resets_at" and value is not None:
            shown.append(f", resets {time.strftime('%b %d %H:%M', time.localtime(value))}")
        elif value is not None:
            line = f"{value:.0f}" if float(value).is_integer() else f"{value:g}"
            shown.append(f", {clean(str(name)).replace('_', ' ')} {line}{' s' * seconds}")
    return "".join(shown)


def _remarks(document: Data, width: int | None, color: bool) -> list[str]:
    remarks = warnings(document)
    if not remarks:
        return []
    return [paint("warnings", "warn", color), *bullets(remarks, width)]


def warnings(document: Data) -> list[str]:
    """Those of the race, of its base and of its lanes, in that order."""
    remarks = [clean(line) for line in strings(document, "warnings")]
    remarks += [f"base: {line}" for line in checks.remarks(document, "baseline")]
    for lane in records(document, "lanes"):
        name = clean(text(lane, "lane"))
        patch = record(lane, "patch")
        noted = (*strings(patch, "notes"), *strings(lane, "warnings"), *checks.remarks(lane))
        remarks += [f"{name}: {clean(line)}" for line in noted]
    return remarks


def plans(document: Data) -> list[str]:
    """Where each plan is: a whole line, to be copied."""
    folder, lanes = text(document, "folder"), records(document, "lanes")
    rows = [(text(lane, "lane"), text(lane, "plan")) for lane in lanes if text(lane, "plan")]
    return [f"plan of {clean(name)}:  {quote(f'{folder}/{place}')}" for name, place in rows]


def looks(lanes: list[Data], width: int | None) -> list[str]:
    """What the patches touch that deserves a look before one is taken."""
    names = []
    for lane in lanes:
        name = clean(text(lane, "lane"))
        lines = remark_lines(records(record(lane, "patch"), "remarks"))
        names += [f"{name}: {line}" for line in lines]
    return ["look at, before you take it", *bullets(names, width)] if names else []


def _next_steps(document: Data, lanes: list[Data]) -> list[str]:
    documents = [lane for lane in lanes if number(record(lane, "patch"), "files")]
    if not documents:
        return []
    usable = [lane for lane in documents if lane.get("usable") is True]
    name = text((usable or documents)[0], "lane")
    see, land = ranking.to_see(document, name), ranking.to_merge(document, name)
    # Of a verdict that cannot be read nobody knows what speaks against a lane.
    if not usable or "verdict" in document:
        return [f"see it:        {see}", f"land it still: {land}{ranking.OVERRIDE}"]
    return [f"land it:  {land}", f"see it:   {see}"]

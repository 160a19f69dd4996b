"""All of a race that has ended, from its result document (`result.json`): `hydra runs show`.

What a race itself ends with is shorter: `ending`."""

from __future__ import annotations

from hydra.reporters import checks, ranking
from hydra.reporters.board import STATE_STYLES, STATUS_WORDS, total_tokens
from hydra.reporters.errors import failure_details, labelled
from hydra.reporters.fields import Data, number, record, records, strings, text
from hydra.reporters.remarks import remark_lines
from hydra.reporters.style import paint
from hydra.reporters.table import Cell, Column, Styled, table
from hydra.reporters.text import clean, duration, gist, plural, quote, tokens
from hydra.reporters.words import plus_minus, soft_mark, spent, tries
from hydra.reporters.wrapping import bullets, wrapped

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
    document: Data, *, width: int | None, color: bool = False, steps: bool = True, run: str = ""
) -> str:
    """What each lane did, why a lane failed, and what to do next; ends with a newline.

    Lanes stand in the order of the document's verdict, in their own where it has none.

    `width` is the terminal's width, None where there is none (a pipe: nothing is wrapped).
    `steps` False leaves the next steps out, where they are another's to say; `run` is named in
    them, where it may not be the latest.
    """
    lanes, verdict = records(document, "lanes"), _verdict(document)
    next_steps = ranking.steps(verdict, run) if verdict else _next_steps(document, lanes, run)
    blocks = [
        [_headline(document, lanes, color)],
        checks.baseline(verdict or document),
        [*_table(lanes, verdict, width, color), *_soft(lanes), *_tries(lanes, width)],
        ranking.says(verdict, width, color),
        *(_failure(lane, width, color) for lane in lanes if _failed(lane)),
        _remarks(document, width, color),
        looks(lanes, width),
        plans(document),
        next_steps if steps else [],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _verdict(document: Data) -> Data:
    """Empty where there is none, and where it says nothing of any lane."""
    found = record(document, "verdict")
    return found if records(found, "lanes") else {}


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
    told = paint(count, "good" if usable else "bad", color)
    return f"race {clean(text(document, 'run'))}  {how} {took}  {told}"


def _table(lanes: list[Data], verdict: Data, width: int | None, color: bool) -> list[str]:
    if verdict:
        return ranking.ranks(verdict, width, color, marked=_soft_lanes(lanes))
    # The checks stand between the outcome and the patch's size.
    columns = [*_COLUMNS[:2], *checks.columns(lanes), *_COLUMNS[2:]]
    rows = []
    for lane in lanes:
        cells = _row(lane)
        rows.append([*cells[:2], *checks.cells(lane, lanes), *cells[2:]])
    return table(rows, columns, width, color)


def _row(lane: Data) -> list[Cell]:
    patch, usage = record(lane, "patch"), record(lane, "usage")
    outcome = status_word(lane)
    files = number(patch, "files")
    return [
        text(lane, "lane") + (" !" if text(lane, "sandbox") == "soft" else ""),
        Styled(outcome, STATE_STYLES.get(outcome, "")),
        "-" if files is None else f"{files:.0f}",
        plus_minus(patch) if files else "-",
        tokens(total_tokens(usage)),
        spent(lane),
        duration(number(lane, "seconds")),
        why(lane),
    ]


def _soft(lanes: list[Data]) -> list[str]:
    mark = soft_mark(_soft_lanes(lanes))
    return [f"  {mark}"] if mark else []


def _tries(lanes: list[Data], width: int | None) -> list[str]:
    """What was paid beside what the rows show."""
    told = [line for lane in lanes if (line := tries(lane))]
    return [f"  {part}" for line in told for part in wrapped(line, width, 2)]


def _soft_lanes(lanes: list[Data]) -> list[str]:
    return [text(lane, "lane") for lane in lanes if text(lane, "sandbox") == "soft"]


def status_word(lane: Data) -> str:
    """A lane's outcome in words."""
    status = text(lane, "status")
    return STATUS_WORDS.get(status) or gist(status) or "?"


def why(lane: Data) -> str:
    """Why a lane ended as it did: its failure, or the beginning of what its agent said last."""
    patch, error = record(lane, "patch"), record(lane, "error")
    said = gist(text(lane, "message"), 160)
    parts = []
    if missing := gist(text(patch, "incomplete")):
        parts.append(f"patch INCOMPLETE: {missing}")
    if error:
        parts.append(gist(text(error, "message")))
        if number(patch, "files") and not missing:
            parts.append("its patch is kept")
    if held := checks.reasons(lane):
        parts.append(held)
    elif said and not error:
        parts.append(said)
    return "; ".join(part for part in parts if part)


def _failed(lane: Data) -> bool:
    """Of an interrupted one the table says all."""
    return bool(record(lane, "error")) and text(lane, "status") != "interrupted"


def _failure(lane: Data, width: int | None, color: bool) -> list[str]:
    error = record(lane, "error")
    outcome = paint(status_word(lane), "bad", color)
    reason = clean(text(error, "reason")).replace("_", " ")
    narrowed = f" ({reason}{_numbers(error)})" if reason else ""
    message = clean(text(error, "message"))
    head = f"{clean(text(lane, 'lane'))}: {outcome}{narrowed}"
    return [head, *labelled("why", message, width), *failure_details(error, width)]


def _numbers(error: Data) -> str:
    figures = record(error, "numbers")
    shown = []
    for name in figures:
        value = number(figures, str(name))
        seconds = name == "retry_after" or text(error, "kind") == "TimedOut"
        if value is not None:
            told = f"{value:.0f}" if float(value).is_integer() else f"{value:g}"
            shown.append(f", {clean(str(name)).replace('_', ' ')} {told}{' s' * seconds}")
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
    kept = [(text(lane, "lane"), text(lane, "plan")) for lane in lanes if text(lane, "plan")]
    return [f"plan of {clean(name)}:  {quote(f'{folder}/{place}')}" for name, place in kept]


def looks(lanes: list[Data], width: int | None) -> list[str]:
    """What the patches touch that deserves a look before one is taken."""
    found = []
    for lane in lanes:
        name = clean(text(lane, "lane"))
        lines = remark_lines(records(record(lane, "patch"), "remarks"))
        found += [f"{name}: {line}" for line in lines]
    return ["look at, before you take it", *bullets(found, width)] if found else []


def _next_steps(document: Data, lanes: list[Data], run: str) -> list[str]:
    kept = [lane for lane in lanes if number(record(lane, "patch"), "files")]
    if not kept:
        return []
    usable = [lane for lane in kept if lane.get("usable") is True]
    name = quote(text((usable or kept)[0], "lane"))
    named = f" -r {quote(run)}" if run else ""
    how = ranking.landing_options(document)
    if not usable:
        return [
            f"see it:        hydra diff {name}{named}",
            f"land it still: hydra merge {name}{named}{how}{ranking.OVERRIDE}",
        ]
    return [
        f"land it:  hydra merge {name}{named}{how}",
        f"see it:   hydra diff {name}{named}",
    ]

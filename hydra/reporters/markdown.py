"""A verdict as a comment on a pull request: tables, and details that open.

Nothing in it acts: names and texts are the agents' (`inert`). It ends where GitHub's limit for a
comment is, with a word on what was left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from hydra.reporters import checks, ranking
from hydra.reporters.crosstests import weighty_first
from hydra.reporters.fields import Data, number, record, records, strings, text
from hydra.reporters.inert import code, inert, plain, rows_table
from hydra.reporters.text import duration, plural
from hydra.reporters.words import plus_minus, spent

LIMIT = 65_536
"""Characters that GitHub takes in a comment."""

ROWS = 40
"""Rows of a table, sentences of a list: more are counted."""

_NAMED = {"test": "tests", "scope": "diff scope"}
_ROOM = 400
"""Characters that stay free for the last lines."""


def comment(verdict: Data, *, lanes: Collection[str] = ()) -> str:
    """The comment; ends with a newline. `lanes` are those that are told of in full (none: all)."""
    told = [it for it in records(verdict, "lanes") if not lanes or text(it, "lane") in lanes]
    blocks = [
        _headline(verdict),
        *_ranks(verdict),
        inert(ranking.sure(verdict)),
        _steps(verdict),
        *(_lane(lane) for lane in told),
        _cross(verdict),
        _separated(verdict),
        _details("Not tried", _listed(strings(verdict, "not_tried"))),
        _details("A reviewer's remarks (they change no rank)", _listed(_notes(verdict, lanes))),
        _details("Warnings", _listed(strings(verdict, "warnings"))),
    ]
    return _capped([block for block in blocks if block], _last(verdict))


def _capped(blocks: Sequence[str], last: str) -> str:
    """As many blocks as there is room for, each whole."""
    kept: list[str] = []
    left = 0
    room = LIMIT - _ROOM - len(last)
    for block in blocks:
        if len(block) + 2 <= room:
            room -= len(block) + 2
            kept.append(block)
        else:
            left += 1
    if left:
        kept.append(f"{plural(left, 'part')} left out for the length: `hydra compare` shows all.")
    return "\n\n".join([*kept, last]) + "\n"


def _headline(verdict: Data) -> str:
    if top := text(verdict, "top"):
        head = f"land {code(top)}"
    elif tied := ranking.tied_for_first(verdict):
        head = f"{', '.join(map(code, tied))} are tied"
    else:
        head = "no patch is proved"
    title = inert(text(verdict, "title"))
    task = f"{title}\n\n" if title else ""
    return f"### Hydra: {head}\n\n{task}**{inert(text(verdict, 'says')) or head}**"


def _ranks(verdict: Data) -> Iterator[str]:
    lanes = records(verdict, "lanes")
    known = checks.names(lanes)
    titles = [inert(name, 60) for name in known] if len(known) <= checks.COLUMNS else ["checks"]
    head = ["rank", "lane", "state", *titles, "+/-", "cost", "time", "why"]
    rows = [_row(lane, lanes) for lane in lanes[:ROWS]]
    yield rows_table(head, rows)
    if len(lanes) > ROWS:
        yield f"and {plural(len(lanes) - ROWS, 'more lane')}"


def _row(lane: Data, lanes: list[Data]) -> list[str]:
    patch = record(lane, "patch")
    told = (cell if isinstance(cell, str) else cell.text for cell in checks.cells(lane, lanes))
    return [
        ranking.place(lane),
        code(text(lane, "lane"), 60),
        ranking.word(lane),
        *(inert(cell, 60) for cell in told),
        plus_minus(patch) if number(patch, "files") else "",
        spent(lane).replace("$", "\\$").replace("<", "&lt;"),
        duration(number(lane, "seconds")),
        inert(text(lane, "reason") or text(lane, "why"), 200),
    ]


def _steps(verdict: Data) -> str:
    run = text(verdict, "run")
    lines = [line.strip() for line in ranking.steps(verdict, run)]
    commands = [line[line.index("hydra ") :] for line in lines if "hydra " in line]
    return "\n".join(f"- {code(line)}" for line in commands)


def _lane(lane: Data) -> str:
    gates, reasons = records(lane, "gates"), records(lane, "reasons")
    lines = [f"**{line}**" for line in _sentences(gates)] + [*_sentences(reasons)]
    if not lines:
        lines = [inert(text(lane, "reason") or text(lane, "why"))]
    place = ranking.place(lane).replace("-", "")
    head = f"{place} {text(lane, 'lane')}: {ranking.word(lane)}".strip()
    return _details(head, "\n".join(f"- {line}" for line in lines if line))


def _sentences(reasons: Sequence[Data]) -> Iterator[str]:
    for reason in reasons[:ROWS]:
        line, path = number(reason, "line"), text(reason, "path")
        at = f"{path}:{line:.0f}" if path and line is not None else path
        where = f" ({code(at)})" if at else ""
        yield f"{inert(text(reason, 'text'))}{where}"
    if len(reasons) > ROWS:
        yield f"and {len(reasons) - ROWS} more"


def _cross(verdict: Data) -> str:
    rows = weighty_first(verdict)
    lanes = [
        name
        for lane in records(verdict, "lanes")
        if any((name := text(lane, "lane")) in record(row, "cells") for row in rows)
    ]
    if not rows or not lanes:
        return ""
    head = ["test", "by", "base", *(code(lane, 60) for lane in lanes), ""]
    table = rows_table(head, [_cross_row(row, lanes) for row in rows[:ROWS]])
    more = f"\n\nand {plural(len(rows) - ROWS, 'more test')}" if len(rows) > ROWS else ""
    return _details("Each lane's new tests on every patch", table + more)


def _cross_row(row: Data, lanes: Sequence[str]) -> list[str]:
    held = record(row, "cells")
    says = text(row, "says")
    why = "" if row.get("weighs") is True else says
    return [
        code(text(row, "id"), 200),
        code(text(row, "author"), 60),
        inert(text(row, "base"), 20),
        *(inert(text(held, lane, "not run"), 20) for lane in lanes),
        inert(why),
    ]


def _separated(verdict: Data) -> str:
    """The tests that an agent was asked for and that tell patches apart, and what each gives."""
    told = record(verdict, "separated")
    items = [
        f"- {code(text(one, 'id'), 200)}: {'; '.join(_gives(record(one, 'gives')))}"
        for one in records(told, "shown")[:ROWS]
    ]
    title = f"Tests asked of {text(told, 'agent')} that tell patches apart"
    return _details(title, "\n".join(items))


def _gives(gives: Data) -> Iterator[str]:
    for lane in gives:
        yield f"{code(lane, 60)} {inert(' '.join(text(gives, lane).split()))}"


def _notes(verdict: Data, lanes: Collection[str]) -> list[str]:
    return [
        f"{text(note, 'lane')}: {text(note, 'text')} ({text(note, 'reviewer')})"
        for note in records(verdict, "notes")
        if not lanes or text(note, "lane") in lanes
    ]


def _listed(sentences: Sequence[str]) -> str:
    lines = [f"- {inert(one)}" for one in sentences[:ROWS]]
    if len(sentences) > ROWS:
        lines.append(f"- and {len(sentences) - ROWS} more")
    return "\n".join(lines)


def _details(title: str, body: str) -> str:
    if not body:
        return ""
    return f"<details>\n<summary>{plain(title)}</summary>\n\n{body}\n\n</details>"


def _last(verdict: Data) -> str:
    base, named = text(verdict, "base")[:7], text(verdict, "base_name")
    on = f", base {code(base)}" + (f" ({inert(named, 60)})" if named else "") if base else ""
    return f"<sub>Hydra, run {code(text(verdict, 'run'), 60)}{on}</sub>"

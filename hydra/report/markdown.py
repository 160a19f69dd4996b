"""A verdict as a comment on a pull request: tables, and details that open.

Nothing in it acts: names and texts are the agents' (`inert`). It ends where GitHub's limit for a
comment is, with a word on what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from html import escape

from hydra.adapters.json_fields import Object, mapping, objects, string
from hydra.ranking.model import CrossTest, LaneVerdict, Reason, Verdict
from hydra.report import checks, ranking
from hydra.report.crosstests import lanes_in, weighty_first
from hydra.report.phrases import size_of, spent
from hydra.report.text import clean, duration
from hydra.text import of_run, plural

LIMIT = 65_536
"""Characters that GitHub takes in a comment."""

ROWS = 40
"""Rows of a table, sentences of a list: more are counted."""

_ROOM = 400
"""Characters that stay free for the last lines."""


def comment(verdict: Verdict, *, lanes: Collection[str] = ()) -> str:
    """The comment; ends with a newline. `lanes` are those that are told of in full (none: all)."""
    shown = [lane for lane in verdict.lanes if not lanes or lane.lane in lanes]
    blocks = [
        _headline(verdict),
        *_ranks(verdict),
        inert(ranking.sure(verdict)),
        _steps(verdict),
        *(_lane(lane, verdict) for lane in shown),
        _cross(verdict),
        _separated(verdict.separated or {}),
        _details("Not tried", _listed(verdict.not_tried)),
        *(
            _details(ranking.review_title(note), _listed(ranking.review_lines(note)))
            for note in verdict.notes
        ),
        _details("Warnings", _listed(verdict.warnings)),
    ]
    return _capped([block for block in blocks if block], verdict)


def _capped(blocks: Sequence[str], verdict: Verdict) -> str:
    """As many blocks as there is room for, each whole."""
    last = _last(verdict)
    names: list[str] = []
    room = LIMIT - _ROOM - len(last)
    for block in blocks:
        if len(block) + 2 <= room:
            room -= len(block) + 2
            names.append(block)
    if remaining := len(blocks) - len(names):
        rest = f"{plural(remaining, 'part')} left out for the length"
        names.append(f"{rest}: `hydra compare{of_run(verdict.run)}` shows all.")
    return "\n\n".join([*names, last]) + "\n"


def _headline(verdict: Verdict) -> str:
    if verdict.landed:
        head = f"{', '.join(map(code, verdict.landed))} landed"
    elif verdict.top:
        head = f"land {code(verdict.top)}"
    elif tied := ranking.tied_for_first(verdict):
        head = f"{', '.join(map(code, tied))} are tied"
    elif ranking.is_all_untested(verdict):
        head = "nothing was tested"
    else:
        head = "no patch is proved"
    title = inert(verdict.title or "")
    task = f"{title}\n\n" if title else ""
    return f"### Hydra: {head}\n\n{task}**{inert(verdict.says) or head}**"


def _ranks(verdict: Verdict) -> Iterator[str]:
    lanes = verdict.lanes
    names = checks.names(lanes)
    titles = [inert(name, 60) for name in names] if len(names) <= checks.COLUMNS else ["checks"]
    head = ["rank", "lane", "state", *titles, "+/-", "cost", "time", "why"]
    yield rows_table(head, [_row(lane, verdict) for lane in lanes[:ROWS]])
    if len(lanes) > ROWS:
        yield f"and {plural(len(lanes) - ROWS, 'more lane')}"


def _row(lane: LaneVerdict, verdict: Verdict) -> list[str]:
    row = checks.cells(lane, verdict.lanes)
    return [
        ranking.place(lane, verdict),
        code(lane.lane, 60),
        ranking.state_word(lane),
        *(inert(cell if isinstance(cell, str) else cell.text, 60) for cell in row),
        size_of(lane.patch).removeprefix("-"),
        spent(lane).replace("$", "\\$").replace("<", "&lt;"),
        duration(lane.seconds),
        inert(ranking.reason(lane, verdict), 200),
    ]


def _steps(verdict: Verdict) -> str:
    lines = [line.strip() for line in ranking.steps(verdict)]
    names = [inert(line) for line in lines if line.startswith(ranking.ASKS)]
    typed = [line for line in lines if "hydra " in line and not line.startswith(ranking.ASKS)]
    items = (*(code(line[line.index("hydra ") :]) for line in typed), *names)
    return "\n".join(f"- {item}" for item in items)


def _lane(lane: LaneVerdict, verdict: Verdict) -> str:
    lines = [f"**{line}**" for line in _sentences(lane.gates)] + [*_sentences(lane.reasons)]
    if not lines:
        lines = [inert(lane.reason or lane.why)]
    place = ranking.place(lane, verdict).replace("-", "")
    head = f"{place} {lane.lane}: {ranking.state_word(lane)}".strip()
    return _details(head, "\n".join(f"- {line}" for line in lines if line))


def _sentences(reasons: Sequence[Reason]) -> Iterator[str]:
    for reason in reasons[:ROWS]:
        at = reason.path if reason.line is None else f"{reason.path}:{reason.line}"
        yield inert(reason.text) + (f" ({code(at)})" if reason.path and at else "")
    if len(reasons) > ROWS:
        yield f"and {len(reasons) - ROWS} more"


def _cross(verdict: Verdict) -> str:
    rows = weighty_first(verdict)
    if not (lanes := lanes_in(verdict, rows)):
        return ""
    head = ["test", "by", "base", *(code(lane, 60) for lane in lanes), ""]
    table = rows_table(head, [_cross_row(row, lanes) for row in rows[:ROWS]])
    more = f"\n\nand {plural(len(rows) - ROWS, 'more test')}" if len(rows) > ROWS else ""
    return _details("Each lane's new tests on every patch", table + more)


def _cross_row(row: CrossTest, lanes: Sequence[str]) -> list[str]:
    return [
        code(row.id, 200),
        code(row.author, 60),
        inert(row.base, 20),
        *(inert(row.cells.get(lane, "not run"), 20) for lane in lanes),
        "" if row.weighs else inert(row.says),
    ]


def _separated(document: Object) -> str:
    """The tests that an agent was asked for and that tell patches apart, and what each gives."""
    items = [
        f"- {code(string(row, 'id'), 200)}: {'; '.join(_gives(mapping(row, 'gives')))}"
        for row in objects(document, "shown")[:ROWS]
    ]
    title = f"Tests asked of {string(document, 'agent')} that tell patches apart"
    return _details(title, "\n".join(items))


def _gives(gives: Object) -> Iterator[str]:
    for lane in gives:
        yield f"{code(lane, 60)} {inert(' '.join(string(gives, lane).split()))}"


def _listed(sentences: Sequence[str]) -> str:
    lines = [f"- {inert(sentence)}" for sentence in sentences[:ROWS]]
    if len(sentences) > ROWS:
        lines.append(f"- and {len(sentences) - ROWS} more")
    return "\n".join(lines)


def _details(title: str, body: str) -> str:
    if not body:
        return ""
    return f"<details>\n<summary>{plain(title)}</summary>\n\n{body}\n\n</details>"


def _last(verdict: Verdict) -> str:
    base, named = verdict.base[:7], verdict.base_name
    on = f", base {code(base)}" + (f" ({inert(named, 60)})" if named else "") if base else ""
    return f"<sub>Hydra, run {code(verdict.run, 60)}{on}</sub>"


# ---- Others' text in Markdown as GitHub renders it: it stays text, whatever it is.
#
# Rendering is two steps: Markdown makes HTML of it, then GitHub looks through the text for @names,
# #numbers and addresses. An entity or a backslash stops the first; only an element between the
# characters stops the second.

LONGEST = 300
"""Characters of one text that are kept."""

_SPECIAL = re.compile(r"([\\`*\[\]~|$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_FIRST = re.compile(r"^(\d+)?([-+=.)]|#(?!\w))")
_LINKED = re.compile(r"(?i)(@|#(?=\w)|(?<=\bgh)-(?=\d)|:(?=/)|(?<=\bwww)\.)")
_TAME = re.compile(r"[^`|\\&<>\s](?:[^`|\\&<>\n]*[^`|\\&<>\s])?")


def inert(text: str, longest: int = LONGEST) -> str:
    """`text` as a line of prose, in a list's item or a table's cell."""
    line = _SPECIAL.sub(r"\\\1", _short(text, longest))
    line = _FIRST.sub(lambda match: f"{match[1] or ''}\\{match[2]}", line.strip(" "))
    return _unlinked(escape(line, quote=False))


def plain(text: str) -> str:
    """`text` inside of HTML (a `<summary>`), where there is no Markdown."""
    return _unlinked(escape(_short(text, LONGEST), quote=False))


def code(text: str, longest: int = LONGEST) -> str:
    """A name as code. What a table or a backtick would break is written as entities."""
    line = _short(text, longest)
    if _TAME.fullmatch(line):
        return f"`{line}`"
    if not line.strip(" "):
        return ""
    value = "".join(name if name.isalnum() or name == " " else f"&#{ord(name)};" for name in line)
    return f"<code>{_split_at(value)}</code>"


def rows_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are inert already; an empty one keeps its place."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell or ' ' for cell in line)} |" for line in lines)


def _short(text: str, longest: int) -> str:
    line = clean(text[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 1]}\u2026"


def _unlinked(text: str) -> str:
    return _LINKED.sub(r"<span>\1</span>", text)


def _split_at(text: str) -> str:
    # An address is looked for in text that is decoded already.
    return text.replace("&#64;", "<span>&#64;</span>")

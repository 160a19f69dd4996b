"""`hydra compare` for a terminal: the ranking, then what speaks for and against each lane."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from hydra.adapters.json_fields import Object, mapping, objects, string
from hydra.ranking.model import LaneVerdict, Reason, Verdict
from hydra.report import checks, ranking
from hydra.report.crosstests import cross_tests
from hydra.report.style import paint, plain
from hydra.report.summary import looks
from hydra.report.text import bullets, clean, cut, gist, hanging, pad, paragraph
from hydra.report.text import width as cells
from hydra.text import plural

SHOWN = 12
"""Sentences of one kind that are listed; with more, the others are counted."""

_LONGEST = 500


def compare_text(
    verdict: Verdict,
    *,
    lanes: Collection[str] = (),
    width: int | None,
    color: bool = False,
) -> str:
    """The verdict, the answer first; ends with a newline. `lanes` are those that are told of in
    full (none: all)."""
    shown = [lane for lane in verdict.lanes if not lanes or lane.lane in lanes]
    untried = [line.removeprefix("not tried: ") for line in verdict.not_tried]
    blocks = [
        ranking.says(verdict, width, color),
        ranking.ranks(verdict, width, color),
        checks.baseline(verdict.baseline),
        *(_lane(lane, verdict, width, color) for lane in shown),
        cross_tests(verdict, width, color),
        separated(verdict.separated or {}, width),
        _listed("between the lanes", list(_shared(verdict)), width),
        _listed("not tried", untried, width),
        *(
            [ranking.review_title(note), *bullets(ranking.review_lines(note), width)]
            for note in verdict.notes
        ),
        looks(shown, width),
        _listed("warnings", verdict.warnings, width),
        [*_about(verdict, width), f"files: {clean(verdict.folder)}"],
        ranking.steps(verdict, width),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _about(verdict: Verdict, width: int | None) -> list[str]:
    """Which race it is of."""
    base, named = clean(verdict.base)[:7], clean(verdict.base_name or "")
    parts = [
        f"run {clean(verdict.run)}",
        f"base {base}" + (f" ({named})" if named else "") if base else "",
        f"checks of round {verdict.round}" if verdict.round and verdict.round > 1 else "",
    ]
    title = gist(verdict.title or "", _LONGEST)
    task = paragraph(f"task: {title}", width) if title else []
    return [*task, *_joined([part for part in parts if part], width)]


def _lane(lane: LaneVerdict, verdict: Verdict, width: int | None, color: bool) -> list[str]:
    name = paint(clean(lane.lane), "bold", color)
    state = paint(ranking.state_word(lane), ranking.style(lane), color)
    tied = f"tied with {clean(', '.join(lane.tied))}" if lane.tied else ""
    texts = [text for text in (clean(lane.label or ""), clean(lane.model or ""), tied) if text]
    who = [f"({', '.join(texts)})"] if texts else []
    lines = _joined([f"{ranking.place(lane, verdict)}  {name}  {state}", *who], width)
    lines += _sentences(lane.gates, "x", width)
    lines += _sentences(lane.reasons, "-", width)
    if not (lane.gates or lane.reasons):
        lines += hanging("- ", gist(lane.reason or lane.why, _LONGEST), width, 2)
    return lines


def _joined(parts: list[str], width: int | None) -> list[str]:
    """Side by side where they fit, else below each other; a colour takes no room."""
    if width is None or sum(len(plain(part)) + 2 for part in parts) - 2 <= width:
        return ["  ".join(parts)]
    return [f"{'  ' * (number > 0)}{part}" for number, part in enumerate(parts)]


def _sentences(reasons: Sequence[Reason], sign: str, width: int | None) -> list[str]:
    lines = []
    for reason in reasons[:SHOWN]:
        lines += hanging(f"{sign} ", sentence(reason), width, 2)
    if len(reasons) > SHOWN:
        lines.append(f"  {sign} and {len(reasons) - SHOWN} more: --json has them all")
    return lines


def sentence(reason: Reason) -> str:
    """One reason, and its line in the patch; `--json` names the record of its numbers."""
    value, path = gist(reason.text, _LONGEST), gist(reason.path or "")
    if not path or (reason.line is None and path in value):
        return value
    return f"{value} [{path if reason.line is None else f'{path}:{reason.line}'}]"


def _shared(verdict: Verdict) -> Iterator[str]:
    """What several lanes changed; which patches are the same is said of each."""
    patches = plural(ranking.patched(verdict), "patch")
    for row in verdict.shared:
        what = f"{row.name} in {row.path}" if row.name else row.path
        yield f"{len(row.lanes)} of {patches} changed {what}: {', '.join(row.lanes)}"


def _listed(title: str, sentences: Sequence[str], width: int | None) -> list[str]:
    if not sentences:
        return []
    lines = [gist(name, _LONGEST) for name in sentences[:SHOWN]]
    if len(sentences) > SHOWN:
        lines.append(f"and {len(sentences) - SHOWN} more: --json has them all")
    return [title, *bullets(lines, width)]


# ---- Tests that an agent was asked for: the input that separates patches, and what each gives.

TESTS_SHOWN, LINES = 5, 24
"""Tests that are shown, and lines of each test's own text."""


def answer(document: Object) -> str:
    """What was asked and what came of it, in a sentence; "" where nobody was asked."""
    tests, shown = objects(document, "tests"), objects(document, "shown")
    whose = f"that {clean(string(document, 'agent'))} was asked for"
    if not tests:
        return f"no test {whose} could be tried" if document else ""
    verb = "tells" if len(shown) == 1 else "tell"
    says = f"{len(shown)} of {plural(len(tests), 'test')} {whose} {verb} patches apart"
    whys = dict.fromkeys(why for test in tests if (why := string(test, "why")))
    return says if shown or not whys else f"{says}: {gist('; '.join(whys))}"


def separated(document: Object, width: int | None) -> list[str]:
    """A block for a terminal; nothing where nobody was asked."""
    shown = objects(document, "shown") if objects(document, "tests") else []
    lines = paragraph(answer(document), width)
    for row in shown[:TESTS_SHOWN]:
        lines += [_fit(f"  {clean(string(row, 'id'))}", width), *_source(row, width)]
        lines += _gives(mapping(row, "gives"), width)
    if shown[TESTS_SHOWN:]:
        lines.append(f"  and {len(shown) - TESTS_SHOWN} more")
    return lines


def _source(row: Object, width: int | None) -> list[str]:
    lines = clean(string(row, "source"), multiline=True).split("\n")
    names = [*lines[:LINES], *(["..."] if lines[LINES:] else [])]
    return [_fit(f"    | {line}".rstrip(), width) for line in names if line or lines != [""]]


def _gives(gives: Object, width: int | None) -> list[str]:
    names = {lane: clean(lane) for lane in gives}
    wide = max((cells(name) for name in names.values()), default=0)
    lines = []
    for lane, name in names.items():
        texts = clean(string(gives, lane), multiline=True).split("\n")
        lines.append(_fit(f"    {pad(name, wide)}  {texts[0].strip()}", width))
        lines += [_fit(f"    {' ' * wide}  {line.strip()}", width) for line in texts[1:]]
    return lines


def _fit(line: str, width: int | None) -> str:
    return line if width is None else cut(line, width)

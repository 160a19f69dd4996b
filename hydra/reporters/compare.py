"""`hydra compare` for a terminal: the ranking, then what speaks for and against each lane."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hydra.reporters import checks, ranking
from hydra.reporters.crosstests import cross_tests
from hydra.reporters.fields import Data, number, records, strings, text
from hydra.reporters.separated import separated
from hydra.reporters.style import paint, plain
from hydra.reporters.summary import looks
from hydra.reporters.text import clean, gist, plural
from hydra.reporters.wrapping import bullets, paragraph, wrapped

SHOWN = 12
"""Sentences of one kind that are listed; with more, the others are counted."""

_LONGEST = 500
_SAME = {
    "identical": "the same patch, byte for byte",
    "equivalent": "the same patch but for formatting, comments and the order of imports",
    "alike": "pass and fail the same tests",
}


def compare_text(
    verdict: Data,
    *,
    lanes: Collection[str] = (),
    width: int | None,
    color: bool = False,
    run: str = "",
) -> str:
    """The verdict, the answer first; ends with a newline. `lanes` are those that are told of in
    full (none: all); `run` is named in the next steps, where it may not be the latest.
    """
    all_of_them = records(verdict, "lanes")
    told = [lane for lane in all_of_them if not lanes or text(lane, "lane") in lanes]
    blocks = [
        ranking.says(verdict, width, color),
        ranking.ranks(verdict, width, color),
        checks.baseline(verdict),
        *(_lane(lane, width, color) for lane in told),
        cross_tests(verdict, width, color),
        separated(verdict, width),
        _between(verdict, width),
        _listed("not tried", _untried(verdict), width),
        _listed("a reviewer's remarks (they change no rank)", _notes(verdict, lanes), width),
        looks(told, width),
        _listed("warnings", strings(verdict, "warnings"), width),
        [*_about(verdict, width), f"files: {clean(text(verdict, 'folder'))}"],
        ranking.steps(verdict, run),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _untried(verdict: Data) -> list[str]:
    return [said.removeprefix("not tried: ") for said in strings(verdict, "not_tried")]


def _about(verdict: Data, width: int | None) -> list[str]:
    """Which race it is of."""
    base, named = clean(text(verdict, "base"))[:7], clean(text(verdict, "base_name"))
    round = number(verdict, "round")
    parts = [
        f"run {clean(text(verdict, 'run'))}",
        f"base {base}" + (f" ({named})" if named else "") if base else "",
        f"checks of round {round:.0f}" if round is not None and round > 1 else "",
    ]
    title = _gist(verdict, "title")
    task = paragraph(f"task: {title}", width) if title else []
    return [*task, *_joined([part for part in parts if part], width)]


def _lane(lane: Data, width: int | None, color: bool) -> list[str]:
    name = paint(clean(text(lane, "lane")), "bold", color)
    verdict = paint(ranking.word(lane), ranking.style(lane), color)
    who = [f"({', '.join(told)})"] if (told := list(_who(lane))) else []
    lines = _joined([f"{ranking.place(lane)}  {name}  {verdict}", *who], width)
    lines += _sentences(records(lane, "gates"), "x", width)
    lines += _sentences(records(lane, "reasons"), "-", width)
    if not (records(lane, "gates") or records(lane, "reasons")):
        lines += _hung(_gist(lane, "reason") or _gist(lane, "why"), "-", width)
    return lines


def _joined(parts: list[str], width: int | None) -> list[str]:
    """Side by side where they fit, else below each other; a colour takes no room."""
    if width is None or sum(len(plain(part)) + 2 for part in parts) - 2 <= width:
        return ["  ".join(parts)]
    return [f"{'  ' * (number > 0)}{part}" for number, part in enumerate(parts)]


def _gist(data: Data, name: str) -> str:
    return gist(text(data, name), _LONGEST)


def _who(lane: Data) -> Iterator[str]:
    yield from (clean(text(lane, name)) for name in ("label", "model") if text(lane, name))
    if tied := strings(lane, "tied"):
        yield f"tied with {clean(', '.join(tied))}"


def _sentences(reasons: list[Data], sign: str, width: int | None) -> list[str]:
    lines = []
    for reason in reasons[:SHOWN]:
        lines += _hung(sentence(reason), sign, width)
    if len(reasons) > SHOWN:
        lines.append(f"  {sign} and {len(reasons) - SHOWN} more: --json has them all")
    return lines


def sentence(reason: Data) -> str:
    """One reason, and its line in the patch; `--json` names the record of its numbers."""
    said, path = _gist(reason, "text"), gist(text(reason, "path"))
    line = number(reason, "line")
    at = f"{path}:{line:.0f}" if path and line is not None else path
    if not at or (line is None and path in said):
        return said
    return f"{said} [{at}]"


def _between(verdict: Data, width: int | None) -> list[str]:
    """What the lanes have in common."""
    return _listed("between the lanes", [*_groups(verdict), *_shared(verdict)], width)


def _groups(verdict: Data) -> Iterator[str]:
    for group in records(verdict, "groups"):
        kind = text(group, "kind")
        yield f"{', '.join(strings(group, 'lanes'))}: {_SAME.get(kind) or kind}"


def _shared(verdict: Data) -> Iterator[str]:
    patched = [lane for lane in records(verdict, "lanes") if number(lane, "rank") is not None]
    for one in records(verdict, "shared"):
        lanes, name, path = strings(one, "lanes"), text(one, "name"), text(one, "path")
        what = f"{name} in {path}" if name else path
        of = f"{len(lanes)} of {plural(len(patched), 'patch', 'patches')}"
        yield f"{of} changed {what}: {', '.join(lanes)}"


def _notes(verdict: Data, lanes: Collection[str]) -> list[str]:
    notes = [it for it in records(verdict, "notes") if not lanes or text(it, "lane") in lanes]
    return [
        f"{text(note, 'lane')}: {text(note, 'text')} ({text(note, 'reviewer')})" for note in notes
    ]


def _listed(title: str, sentences: list[str], width: int | None) -> list[str]:
    if not sentences:
        return []
    lines = [gist(one, _LONGEST) for one in sentences[:SHOWN]]
    if len(sentences) > SHOWN:
        lines.append(f"and {len(sentences) - SHOWN} more: --json has them all")
    return [title, *bullets(lines, width)]


def _hung(said: str, sign: str, width: int | None) -> list[str]:
    first, *rest = wrapped(said, width, 4)
    return [f"  {sign} {first}".rstrip(), *(f"    {part}" for part in rest)] if said else []

"""Tests made of calls and braces: what the readers of JavaScript, Go, Rust and the JVM share."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from hydra.analysis.tampering.languages.braces import BraceSource, squeeze
from hydra.analysis.tampering.languages.expressions import row, split
from hydra.analysis.tampering.model import (
    MAY_ASK,
    Assertion,
    SilencedAssertion,
    SkipMark,
    TestRead,
    assertion,
    words_in,
)

_BOUND = re.compile(
    r"\b(?:const|let|var|val|final(?:\s+\w+(?:<[^<>\n]{0,80}>)?)?)\s+(?:mut\s+)?([A-Za-z_$][\w$]*)"
    r"(?:\s*:\s*[^=;\n]{1,80})?\s*=(?![=>])|\b([A-Za-z_]\w*)(?:\s*,\s*\w+)*\s*:=|"
    r"^[ \t]*([a-z_]\w*)[ \t]*=(?![=~>])|"
    r"^[ \t]*[A-Za-z][\w.<>\[\], ]{0,60}?[ \t]([a-z_]\w*)[ \t]*=(?![=~>])",
    re.M,
)
_NAME = re.compile(r"(?<![\w.$\"'])[A-Za-z_$][\w$]*(?![\w$\"']|\s*:[^:])")
_LONGEST = 1500


@dataclass(slots=True)
class CaseBody:
    """The body of a test or of a helper, from `start` to `end`."""

    name: str
    short: str
    line: int
    start: int
    end: int
    marks: list[SkipMark] = field(default_factory=list)
    head: int = 0
    """Where its declaration begins, so that blocks in it can be told from it."""


TANGLED = "is not read: its blocks are nested too deeply"


def tangled(blocks: Sequence[CaseBody], source: BraceSource) -> bool:
    """Whether blocks lie in each other so that reading each would take far more than the text."""
    reach = sum(block.end - block.start for block in blocks)
    return source.tangled or reach > 16 * len(source.text) + 100_000


Claim = tuple[int, Sequence[Assertion]]
"""Where an assertion begins, and what it asks."""


def bindings(source: BraceSource, start: int, end: int) -> dict[str, str]:
    """Names that are set once in a body, each with what it is set to."""
    values: dict[str, str] = {}
    twice: set[str] = set()
    for match in _BOUND.finditer(source.bare, start, end):
        name = match[1] or match[2] or match[3] or match[4]
        if name in values:
            twice.add(name)
            continue
        value = source.squeezed(match.end(), statement_end(source, match.end(), end))
        if value and len(value) < _LONGEST and not value.startswith(("function", "async", "{")):
            values[name] = replaced(value, values)
    return {name: value for name, value in values.items() if name not in twice}


def statement_end(source: BraceSource, at: int, end: int) -> int:
    """Where a statement ends: at `;`, or at a line's end outside of brackets."""
    pattern = re.compile(r"[(\[{;\n]")
    begin = at
    while (match := pattern.search(source.bare, at, end)) is not None:
        if match[0] == ";":
            return match.start()
        if match[0] == "\n":
            if source.bare[begin : min(match.start(), begin + 500)].strip():
                following = source.bare[match.end() : match.end() + 60].lstrip()
                if not following.startswith((".", "?.")):
                    return match.start()
            at = match.end()
        else:
            at = min(end, source.ends.get(match.start(), end) + 1)
    return end


def replaced(text: str, names: Mapping[str, str]) -> str:
    """The text with names of local variables replaced by what they were set to."""
    if not names or len(text) > _LONGEST:
        return text
    for name, value in names.items():
        if not name.isidentifier() and name in text:
            parts = re.split(rf"(?<![\w.$]){re.escape(name)}(?!\w)", text)
            text = value.join(parts)
    return _NAME.sub(lambda match: names.get(match[0], match[0]), text)[: _LONGEST * 2]


def bound(claim: Assertion, names: Mapping[str, str]) -> Assertion:
    """An assertion on what its names stand for."""
    if claim.op == "always holds":
        return claim
    subject, expected = replaced(claim.subject, names), replaced(claim.expected, names)
    if (subject, expected) == (claim.subject, claim.expected):
        return claim
    return assertion(claim.op, subject, expected, claim.line)


def read_block(
    path: str,
    block: CaseBody,
    source: BraceSource,
    claims: Sequence[Claim],
    quiet: Sequence[tuple[int, int, str]],
) -> TestRead:
    """A test from its block and what it asks. `quiet` are spans in which nothing can fail."""
    names = bindings(source, block.start, block.end)
    live: list[Assertion] = []
    silenced: list[SilencedAssertion] = []
    for at, many in claims:
        why = next((why for first, last, why in quiet if first <= at < last), "")
        for claim in many:
            item = bound(claim, names)
            if why:
                silenced.append(SilencedAssertion(item, why))
            else:
                live.append(item)
    body = source.code[block.start : block.end]
    return TestRead(
        path=path,
        name=block.name,
        short=block.short,
        line=block.line,
        assertions=tuple(live),
        silenced=tuple(silenced),
        marks=tuple(block.marks),
        identifiers=words_in(body),
        body=squeeze(body) if len(body) < 4000 else body,
    )


def between(claims: Sequence[Claim], start: int, end: int) -> Sequence[Claim]:
    """Those that lie in a span; `claims` are in their order."""
    first = bisect_left(claims, start, key=lambda claim: claim[0])
    return claims[first : bisect_left(claims, end, key=lambda claim: claim[0])]


def within(claims: Sequence[Claim], block: CaseBody, blocks: Sequence[CaseBody]) -> Iterator[Claim]:
    """Those of a block that are not in a block inside it; `blocks` are in their order."""
    first = bisect_left(blocks, block.start + 1, key=lambda body: body.start)
    last = bisect_left(blocks, block.end, key=lambda body: body.start)
    inner = blocks[first : min(last, first + 200)]
    for at, many in between(claims, block.start, block.end):
        if not any(other.start <= at < other.end for other in inner):
            yield at, many


def unique(blocks: Sequence[CaseBody]) -> Sequence[CaseBody]:
    """Blocks of one name are told apart by a number: both run."""
    seen: dict[str, int] = {}
    for block in blocks:
        seen[block.name] = seen.get(block.name, 0) + 1
        if seen[block.name] > 1:
            block.name = f"{block.name} ({seen[block.name]})"
    return blocks


def helped(
    claims: Sequence[Claim],
    source: BraceSource,
    helpers: Mapping[str, tuple[list[str], Sequence[Claim]]],
    start: int,
    end: int,
    called: re.Pattern[str],
) -> list[Claim]:
    """Claims of the helpers that a body calls, their parameters bound to what the call gives."""
    pairs = list(claims)
    numbers = {at for at, _ in claims}
    for call in called.finditer(source.bare, start, end):
        if call[1] in helpers:
            params, many = helpers[call[1]]
            args = list(source.parts(*source.inside(call.end() - 1)))
            names = dict(zip(params, args, strict=False))
            line = source.line(call.start())
            assertions = [
                replace(bound(claim, names), line=line) for _, ones in many for claim in ones
            ]
            pairs.append((call.start(), assertions))
        elif (
            call.start() not in numbers
            and MAY_ASK.fullmatch(call[1])
            and call[1] not in _ASSERTIONS
        ):
            text = source.squeezed(call.start(), source.inside(call.end() - 1)[1] + 1)
            unknown = Assertion("may ask", text, "", source.line(call.start()))
            pairs.append((call.start(), [unknown]))
    return pairs


_ASSERTIONS = frozenset(("assert", "expect", "should"))


MOST_ROUNDS = 256
"""Rounds of a loop over a written-out list that are followed."""

MOST_LOOPS = 200
"""Of such loops in one file."""


@dataclass(slots=True)
class Rounds:
    """A loop over a list that is written out: what its names are in each round."""

    start: int
    end: int
    rows: list[dict[str, str]]


def rounds(start: int, end: int, pattern: str, values: Sequence[str]) -> Rounds | None:
    """None where there are too many to follow."""
    if len(values) > MOST_ROUNDS:
        return None
    return Rounds(start, end, [row(pattern, value) for value in values])


def listed(text: str, lists: Mapping[str, Sequence[str]]) -> Sequence[str] | None:
    """The values of a list that is written out, or that a name of the file stands for."""
    text = text.strip()
    if text in lists:
        return lists[text]
    match = _LIST.fullmatch(text)
    return split(match[1]) if match is not None else None


_LIST = re.compile(r"(?:vec!|&|listOf|List\.of|Arrays\.asList)?[\[(](.*)[\])](?:\.iter\(\))?", re.S)


def expanded(claims: Sequence[Claim], loops: Sequence[Rounds]) -> list[Claim]:
    """Each claim once for each round of the loops that it stands in."""
    pairs: list[Claim] = []
    for at, many in claims:
        assertions = list(many)
        for loop in loops:
            if (
                loop.rows
                and loop.start <= at < loop.end
                and len(assertions) * len(loop.rows) <= MOST_ROUNDS * 4
            ):
                assertions = [bound(claim, names) for names in loop.rows for claim in assertions]
        pairs.append((at, assertions))
    return pairs


def emptied(loops: Sequence[Rounds]) -> list[tuple[int, int, str]]:
    """Where loops over nothing lie."""
    return [(loop.start, loop.end, "nothing") for loop in loops if not loop.rows]

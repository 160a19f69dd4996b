"""JavaScript and TypeScript: jest, vitest, mocha with chai, node:test, ava."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.tampering.languages import calls
from hydra.analysis.tampering.languages.braces import BraceSource, source
from hydra.analysis.tampering.languages.calls import CaseBody, Claim, Rounds
from hydra.analysis.tampering.languages.expectations import asked_of, expectation
from hydra.analysis.tampering.languages.expressions import split
from hydra.analysis.tampering.languages.quiet import returns, silent
from hydra.analysis.tampering.model import Assertion, FileReading, SkipMark, TestRead, too_much

_TEST = re.compile(
    r"(?<![\w$.])(?:t\.|test\.)?(?P<word>x?describe|fdescribe|context|xcontext|suite|it|xit|fit"
    r"|test|xtest|specify|xspecify)(?P<more>(?:\.[\w$]+)*)\s*\("
)
_GROUPS = frozenset(("describe", "xdescribe", "fdescribe", "context", "xcontext", "suite"))
_EXPECT = re.compile(r"(?<![\w$.])expect(?:\.soft|\.poll)?\s*\(")
_ASSERT = re.compile(
    r"(?<![\w$.])(?:chai\.)?(?P<of>assert|t\.assert|t)(?:\.strict)?(?:\.(?P<how>\w+))?\s*\("
)
_SHOULD = re.compile(r"\.should(?=\.)")
_STEP = re.compile(r"\s*\??\.\s*([\w$]+)")
_FUNCTION = re.compile(
    r"\bfunction\s+([\w$]+)\s*(?:<[^<>]*>)?\s*\(|"
    r"\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s+)?(?:function\s*\w*\s*)?\((?=[^;{}]*(?:=>|\)\s*\{))"
)
_CALLED = re.compile(r"(?<![\w$.])(?:this\.)?([A-Za-z_$][\w$]*)\s*\(")
_LISTS = re.compile(r"\b(?:const|let|var)\s+([\w$]+)(?:\s*:[^=\n]+)?\s*=\s*\[")
_LOOP = re.compile(
    r"\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+(?P<pattern>[^;()]+?)\s+of\s+(?P<of>[^;]+?)\)\s*\{"
)
_EACH = re.compile(r"(?P<of>[\w$]+|\])\s*\.forEach\s*\(")
_ARROW = re.compile(r"\(?\s*(?:async\s*)?\(?(?P<pattern>\[[^\]]*\]|\{[^}]*\}|[\w$, ]+?)\)?\s*=>")
_SKIPPING = re.compile(
    r"(?<![\w$.])(?P<of>this|t|ctx|context|test)\.(?:skip|todo)\s*\((?!\s*\d)"
    r"|(?<=[;{}\n])[ \t]*(?P<named>pending)\s*\(\s*\)"
)
"""What skips the test that it stands in: with a number it is something else's (`t.skip(10)`)."""
_OPTION = re.compile(r"\s*[\"']?(skip|todo|only|fails)[\"']?\s*(:|\Z)")
_VALUE = re.compile(r"\b(?:const|let|var)\s+([\w$]+)\s*=[ \t]*([^;\n]{1,100})")
_OFF = re.compile(r"(?:false|undefined|null|0)\b")
_ON = re.compile(r"true\b|[\"'`]|[1-9]")
"""How the value of such an option begins that says it; any other hangs on something."""
_DECLARED = re.compile(
    r"\b(?:const|let|var|function)\s+(t|ctx|context|pending)\b"
    r"|\bimport\b[^;\n]{0,200}\b(pending|ctx|context)\b"
    r"|\b(?:const|let|var|import)\s+(?:type\s+|[\w$]+\s*,\s*)?[{\[][^}\]]{0,300}"
    r"\b(t|ctx|context|pending)\b"
)
"""What the file itself calls so: no test's context."""

_DEEPEST = 40

_LONGEST_TITLE = 1000

Helper = tuple[list[str], Sequence[Claim]]


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """Each file by its path; helpers are looked for in all of them."""
    readings: dict[str, FileReading] = {}
    files: dict[str, _File] = {}
    for path, text in texts.items():
        problem = too_much(text)
        if problem:
            readings[path] = FileReading(problem=f"is not read: {problem}")
        else:
            files[path] = _File(path, source(text, "javascript"))
    everywhere: dict[str, Helper] = {}
    for file in files.values():
        everywhere |= file.helpers
    for path, file in files.items():
        readings[path] = file.reading(everywhere)
    return readings


class _File:
    """One file."""

    def __init__(self, path: str, text: BraceSource) -> None:
        self.path, self.source = path, text
        self.opened: dict[int, int] = {}
        self.declared = {name for names in _DECLARED.findall(text.bare) for name in names if name}
        self.lists = self._lists()
        self.values: dict[str, str] = dict(_VALUE.findall(text.code))
        self.groups: list[CaseBody] = []
        self.tests: list[CaseBody] = []
        self.only: list[CaseBody] = []
        self.loops: list[Rounds] = [*self._loops()]
        self._blocks()
        self.tests.sort(key=lambda block: block.start)
        del self.loops[calls.MOST_LOOPS :]
        self.loops.sort(key=lambda loop: -loop.start)
        self.claims = sorted(self._claims(), key=lambda claim: claim[0])
        self.quiet = silent(text) + calls.emptied(self.loops)
        self.helpers = self._helpers()

    def _lists(self) -> dict[str, list[str]]:
        rows: dict[str, list[str]] = {}
        for match in _LISTS.finditer(self.source.bare):
            rows[match[1]] = list(self.source.parts(*self.source.inside(match.end() - 1)))
        return rows

    def _loops(self) -> Iterator[Rounds]:
        bare, code = self.source.bare, self.source.code
        for match in _LOOP.finditer(bare):
            values = calls.listed(code[match.start("of") : match.end("of")], self.lists)
            if values is not None:
                start, end = self.source.inside(match.end() - 1)
                rounds = calls.rounds(start, end, match["pattern"], values)
                if rounds is not None:
                    yield rounds
        for match in _EACH.finditer(bare):
            values = self._before(match)
            start, end = self.source.inside(match.end() - 1)
            arrow = _ARROW.match(bare, start)
            if values is not None and arrow is not None:
                rounds = calls.rounds(start, end, arrow["pattern"], values)
                if rounds is not None:
                    yield rounds

    def _before(self, match: re.Match[str]) -> Sequence[str] | None:
        """The list that `.forEach` stands behind."""
        if match["of"] != "]":
            return self.lists.get(match["of"])
        close = match.start("of")
        if not self.opened:
            self.opened = {end: at for at, end in self.source.ends.items()}
        opening = self.opened.get(close)
        if opening is None:
            return None
        before = self.source.bare[max(0, opening - 1) : opening]
        return (
            None
            if before.strip() and before in "])"
            else list(self.source.parts(opening + 1, close))
        )

    def _blocks(self) -> None:
        groups: list[tuple[CaseBody, str]] = []
        for match in _TEST.finditer(self.source.bare):
            opening = match.end() - 1
            start, end = self.source.inside(opening)
            more = match["more"].strip(".").split(".") if match["more"] else []
            table: list[str] | None = None
            if more[-1:] in (["each"], ["for"], ["skipIf"], ["runIf"]):
                table = list(self.source.parts(start, end)) if more[-1] in ("each", "for") else None
                if table is not None and len(table) == 1:
                    table = list(calls.listed(table[0], self.lists) or table)
                following = re.compile(r"\s*\(").match(self.source.bare, end + 1)
                if following is None:
                    continue
                start, end = self.source.inside(following.end() - 1)
            self.source.read += end - start
            if self.source.tangled:
                break
            if start < len(self.source.text):
                self._block(match["word"], more, table, match.start(), start, end, groups)
        calls.unique(self.tests)

    def _block(
        self,
        term: str,
        more: list[str],
        table: list[str] | None,
        head: int,
        start: int,
        end: int,
        groups: list[tuple[CaseBody, str]],
    ) -> None:
        spans = list(self.source.spans(start, end))
        first, last = spans[0]
        title = self.source.code[first : min(last, first + _LONGEST_TITLE)].strip()
        if title[:1] not in ('"', "'", "`") and len(spans) < 2:
            return
        short = title.strip("\"'`") if title[:1] in "\"'`" else title
        line = self.source.line(head)
        while groups and groups[-1][0].end <= start:
            groups.pop()
        above = [group.short for group, _ in groups]
        block = CaseBody(" > ".join([*above, short]), short, line, start, end, head=head)
        options = {name: value for span in spans[1:] for name, value in self._options(*span)}
        flags = [*more, *options]
        mark = self._mark(term, flags, len(spans) < 2, line)
        if mark is not None and not all(map(_ON.match, options.values())):
            mark = replace(mark, certain=False)
        if mark is not None:
            block.marks.append(mark)
        for group, _ in groups:
            block.marks += [replace(mark, whole=True) for mark in group.marks]
        if "only" in flags or term.startswith("f"):
            self.only.append(block)
        if table is not None:
            self._rows(table, spans, start, end)
        if term in _GROUPS:
            block.marks = block.marks[:1] if mark is not None else []
            self.groups.append(block)
            if len(groups) < _DEEPEST:  # what lies deeper is called by these
                groups.append((block, term))
        else:
            self.tests.append(block)

    def _options(self, start: int, end: int) -> Iterator[tuple[str, str]]:
        """Those of a test (`{ skip: true }`, `{ skip }`) that say whether it runs, with the value
        of each: not what lies deeper."""
        opening = self.source.bare.find("{", start, end)
        if opening >= 0 and not self.source.bare[start:opening].strip():
            for first, last in self.source.spans(*self.source.inside(opening)):
                if match := _OPTION.match(self.source.code, first, last):
                    text = self.source.code[match.end() : last].strip() or match[1]
                    value = self.values.get(text, text)
                    if not _OFF.match(value):
                        yield match[1], value

    @staticmethod
    def _mark(term: str, flags: Sequence[str], empty: bool, line: int) -> SkipMark | None:
        text = ".".join([term, *(flag for flag in flags if flag not in ("only", "each"))])
        if "skip" in flags or "todo" in flags or term.startswith("x"):
            return SkipMark("skip", text, line)
        if "failing" in flags or "fails" in flags:
            return SkipMark("expected_failure", text, line)
        if "skipIf" in flags or "runIf" in flags:
            return SkipMark("skip", text, line, certain=False)
        return SkipMark("skip", "it has no body", line) if empty and term not in _GROUPS else None

    def _rows(
        self, table: list[str], spans: Sequence[tuple[int, int]], start: int, end: int
    ) -> None:
        arrow = _ARROW.match(self.source.bare, spans[-1][0])
        if arrow is None:
            return
        pattern = arrow["pattern"]
        if "," in pattern and pattern[:1] not in "[{":
            pattern = f"[{pattern}]"
        rounds = calls.rounds(start, end, pattern, table)
        if rounds is not None:
            self.loops.append(rounds)

    def _claims(self) -> Iterator[Claim]:
        for match in _EXPECT.finditer(self.source.bare):
            yield match.start(), self._expected(match)
        for match in _ASSERT.finditer(self.source.bare):
            if match["of"] != "t" or match["how"]:
                args = list(self.source.parts(*self.source.inside(match.end() - 1)))
                line = self.source.line(match.start())
                many = asked_of(match["how"] or "ok", args, line, match["of"] != "t")
                if many:
                    yield match.start(), many
        for match in _SHOULD.finditer(self.source.bare):
            line = self.source.line(match.start())
            subject = self.source.code[self.source.starts[line - 1] : match.start()].strip()
            yield match.start(), [expectation(subject, self._chain(match.end()), line)]

    def _expected(self, match: re.Match[str]) -> Sequence[Assertion]:
        start, end = self.source.inside(match.end() - 1)
        parts = list(self.source.parts(start, end))
        subject = parts[0] if parts else ""
        return [expectation(subject, self._chain(end + 1), self.source.line(match.start()))]

    def _chain(self, at: int) -> list[tuple[str, list[str] | None]]:
        """`.not.toBe(3)`: its words, and what each is called with."""
        pairs: list[tuple[str, list[str] | None]] = []
        while len(pairs) < 12 and (step := _STEP.match(self.source.bare, at)) is not None:
            at = step.end()
            args: list[str] | None = None
            if self.source.bare[at : at + 1] == "(":
                start, end = self.source.inside(at)
                args, at = list(self.source.parts(start, end)), end + 1
            pairs.append((step[1], args))
        return pairs

    def _helpers(self) -> dict[str, Helper]:
        """Functions outside of tests that assert something."""
        pairs: dict[str, Helper] = {}
        for match in _FUNCTION.finditer(self.source.bare):
            opening = match.end() - 1
            start, end = self.source.inside(opening)
            body = self.source.bare.find("{", end)
            if body < 0 or body - end > 200:
                continue
            first, last = self.source.inside(body)
            inside = calls.between(self.claims, first, last)
            if not inside or self._in_test(match.start()):
                continue
            params = [
                part.partition("=")[0].partition(":")[0]
                for part in split_params(self.source, start, end)
            ]
            pairs[match[1] or match[2]] = (params, calls.expanded(inside, self.loops))
        return pairs

    def _in_test(self, at: int) -> bool:
        last = bisect_left(self.tests, at, key=lambda block: block.start) - 1
        return last >= 0 and at < self.tests[last].end

    def reading(self, everywhere: Mapping[str, Helper]) -> FileReading:
        """Its tests, their helpers followed."""
        if calls.tangled(self.tests, self.source):
            return FileReading(problem=calls.TANGLED)
        helpers = {**everywhere, **self.helpers}
        tests = [self._test(block, helpers) for block in self.tests]
        if self.source.tangled:
            return FileReading(problem=calls.TANGLED)
        only = [
            TestRead(path=self.path, name=block.name, short=block.short, line=block.line)
            for block in self.only
        ]
        return FileReading(tests=tuple(tests), only=tuple(only))

    def _test(self, block: CaseBody, helpers: Mapping[str, Helper]) -> TestRead:
        own = list(calls.within(self.claims, block, self.tests))
        every = calls.helped(own, self.source, helpers, block.start, block.end, _CALLED)
        body = self.source.bare.find("{", block.start, block.end)
        quiet = list(self.quiet)
        if body >= 0:
            quiet += returns(self.source, *self.source.inside(body))
        for match in _SKIPPING.finditer(self.source.bare, block.start, block.end):
            if (match["of"] or match["named"]) in self.declared:
                continue
            certain = body < 0 or not self._nested(match.start(), body)
            block.marks.append(
                SkipMark(
                    "skip", match[0].strip().rstrip("( "), self.source.line(match.end()), certain
                )
            )
        return calls.read_block(
            self.path, block, self.source, calls.expanded(every, self.loops), quiet
        )

    def _nested(self, at: int, body: int) -> bool:
        """Whether a position lies in a block inside of a body."""
        start, _ = self.source.inside(body)
        inner = self.source.bare.rfind("{", start, at)
        return inner > 0 and self.source.ends.get(inner, at) >= at


def split_params(text: BraceSource, start: int, end: int) -> list[str]:
    """The names of parameters."""
    return split(",".join(text.parts(start, end)))

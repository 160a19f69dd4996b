"""JavaScript and TypeScript: jest, vitest, mocha with chai, node:test, ava."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hydra.judge.tampering.languages import calls
from hydra.judge.tampering.languages.braces import Source, source
from hydra.judge.tampering.languages.calls import Block, Claim, Rounds
from hydra.judge.tampering.languages.expectations import asked_of, expectation
from hydra.judge.tampering.languages.expressions import split
from hydra.judge.tampering.languages.quiet import returns, silent
from hydra.judge.tampering.reading import Assertion, Mark, Reading, TestRead, too_much

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
_SKIPPING = re.compile(r"\b(?:this|t|ctx|context|test)\.(skip|todo)\s*\(|\bpending\s*\(\s*\)")
_OPTION = re.compile(r"\b(skip|todo|only|fails)\s*:\s*(?!false)")

Helper = tuple[list[str], Sequence[Claim]]


def read(texts: Mapping[str, str]) -> Mapping[str, Reading]:
    """Each file by its path; helpers are looked for in all of them."""
    found: dict[str, Reading] = {}
    files: dict[str, _File] = {}
    for path, text in texts.items():
        problem = too_much(text)
        if problem:
            found[path] = Reading(problem=f"is not read: {problem}")
        else:
            files[path] = _File(path, source(text, "javascript"))
    everywhere: dict[str, Helper] = {}
    for file in files.values():
        everywhere |= file.helpers
    for path, file in files.items():
        found[path] = file.reading(everywhere)
    return found


class _File:
    """One file."""

    def __init__(self, path: str, text: Source) -> None:
        self.path, self.source = path, text
        self.opened: dict[int, int] = {}
        self.lists = self._lists()
        self.groups: list[Block] = []
        self.tests: list[Block] = []
        self.only: list[Block] = []
        self.loops: list[Rounds] = [*self._loops()]
        self._blocks()
        self.tests.sort(key=lambda block: block.start)
        del self.loops[calls.MOST_LOOPS :]
        self.loops.sort(key=lambda loop: -loop.start)
        self.claims = sorted(self._claims(), key=lambda claim: claim[0])
        self.quiet = silent(text) + calls.emptied(self.loops)
        self.helpers = self._helpers()

    def _lists(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in _LISTS.finditer(self.source.bare):
            found[one[1]] = list(self.source.parts(*self.source.inside(one.end() - 1)))
        return found

    def _loops(self) -> Iterator[Rounds]:
        bare, code = self.source.bare, self.source.code
        for one in _LOOP.finditer(bare):
            values = calls.listed(code[one.start("of") : one.end("of")], self.lists)
            if values is not None:
                start, end = self.source.inside(one.end() - 1)
                made = calls.rounds(start, end, one["pattern"], values)
                if made is not None:
                    yield made
        for one in _EACH.finditer(bare):
            values = self._before(one)
            start, end = self.source.inside(one.end() - 1)
            arrow = _ARROW.match(bare, start)
            if values is not None and arrow is not None:
                made = calls.rounds(start, end, arrow["pattern"], values)
                if made is not None:
                    yield made

    def _before(self, one: re.Match[str]) -> Sequence[str] | None:
        """The list that `.forEach` stands behind."""
        if one["of"] != "]":
            return self.lists.get(one["of"])
        close = one.start("of")
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
        groups: list[tuple[Block, str]] = []
        for one in _TEST.finditer(self.source.bare):
            opening = one.end() - 1
            start, end = self.source.inside(opening)
            more = one["more"].strip(".").split(".") if one["more"] else []
            table: list[str] | None = None
            if more[-1:] in (["each"], ["for"], ["skipIf"], ["runIf"]):
                table = list(self.source.parts(start, end)) if more[-1] in ("each", "for") else None
                if table is not None and len(table) == 1:
                    table = list(calls.listed(table[0], self.lists) or table)
                following = re.compile(r"\s*\(").match(self.source.bare, end + 1)
                if following is None:
                    continue
                start, end = self.source.inside(following.end() - 1)
            if start < len(self.source.text):
                self._block(one["word"], more, table, one.start(), start, end, groups)
        calls.unique(self.tests)

    def _block(
        self,
        word: str,
        more: list[str],
        table: list[str] | None,
        head: int,
        start: int,
        end: int,
        groups: list[tuple[Block, str]],
    ) -> None:
        spans = list(self.source.spans(start, end))
        title = self.source.code[slice(*spans[0])].strip()
        if title[:1] not in ('"', "'", "`") and len(spans) < 2:
            return
        short = title.strip("\"'`") if title[:1] in "\"'`" else title
        line = self.source.line(head)
        while groups and groups[-1][0].end <= start:
            groups.pop()
        above = [group.short for group, _ in groups]
        block = Block(" > ".join([*above, short]), short, line, start, end, head=head)
        options = self.source.bare[slice(*spans[1])] if len(spans) > 2 else ""
        flags = [*more, *(_OPTION.findall(options) if options.strip().startswith("{") else ())]
        mark = self._mark(word, flags, len(spans) < 2, line)
        if mark is not None:
            block.marks.append(mark)
        for group, _ in groups:
            block.marks += [replace(one, whole=True) for one in group.marks]
        if "only" in flags or word.startswith("f"):
            self.only.append(block)
        if table is not None:
            self._rows(table, spans, start, end)
        if word in _GROUPS:
            block.marks = block.marks[:1] if mark is not None else []
            groups.append((block, word))
            self.groups.append(block)
        else:
            self.tests.append(block)

    @staticmethod
    def _mark(word: str, flags: Sequence[str], empty: bool, line: int) -> Mark | None:
        told = ".".join([word, *(flag for flag in flags if flag not in ("only", "each"))])
        if "skip" in flags or "todo" in flags or word.startswith("x"):
            return Mark("skip", told, line)
        if "failing" in flags or "fails" in flags:
            return Mark("expected_failure", told, line)
        if "skipIf" in flags or "runIf" in flags:
            return Mark("skip", told, line, certain=False)
        return Mark("skip", "it has no body", line) if empty and word not in _GROUPS else None

    def _rows(
        self, table: list[str], spans: Sequence[tuple[int, int]], start: int, end: int
    ) -> None:
        arrow = _ARROW.match(self.source.bare, spans[-1][0])
        if arrow is None:
            return
        pattern = arrow["pattern"]
        if "," in pattern and pattern[:1] not in "[{":
            pattern = f"[{pattern}]"
        made = calls.rounds(start, end, pattern, table)
        if made is not None:
            self.loops.append(made)

    def _claims(self) -> Iterator[Claim]:
        for one in _EXPECT.finditer(self.source.bare):
            yield one.start(), self._expected(one)
        for one in _ASSERT.finditer(self.source.bare):
            if one["of"] != "t" or one["how"]:
                args = list(self.source.parts(*self.source.inside(one.end() - 1)))
                line = self.source.line(one.start())
                many = asked_of(one["how"] or "ok", args, line, one["of"] != "t")
                if many:
                    yield one.start(), many
        for one in _SHOULD.finditer(self.source.bare):
            line = self.source.line(one.start())
            subject = self.source.code[self.source.starts[line - 1] : one.start()].strip()
            yield one.start(), [expectation(subject, self._chain(one.end()), line)]

    def _expected(self, one: re.Match[str]) -> Sequence[Assertion]:
        start, end = self.source.inside(one.end() - 1)
        parts = list(self.source.parts(start, end))
        subject = parts[0] if parts else ""
        return [expectation(subject, self._chain(end + 1), self.source.line(one.start()))]

    def _chain(self, at: int) -> list[tuple[str, list[str] | None]]:
        """`.not.toBe(3)`: its words, and what each is called with."""
        found: list[tuple[str, list[str] | None]] = []
        while len(found) < 12 and (step := _STEP.match(self.source.bare, at)) is not None:
            at = step.end()
            args: list[str] | None = None
            if self.source.bare[at : at + 1] == "(":
                start, end = self.source.inside(at)
                args, at = list(self.source.parts(start, end)), end + 1
            found.append((step[1], args))
        return found

    def _helpers(self) -> dict[str, Helper]:
        """Functions outside of tests that assert something."""
        found: dict[str, Helper] = {}
        for one in _FUNCTION.finditer(self.source.bare):
            opening = one.end() - 1
            start, end = self.source.inside(opening)
            body = self.source.bare.find("{", end)
            if body < 0 or body - end > 200:
                continue
            first, last = self.source.inside(body)
            inside = calls.between(self.claims, first, last)
            if not inside or self._in_test(one.start()):
                continue
            params = [
                part.partition("=")[0].partition(":")[0]
                for part in split_params(self.source, start, end)
            ]
            found[one[1] or one[2]] = (params, calls.expanded(inside, self.loops))
        return found

    def _in_test(self, at: int) -> bool:
        last = bisect_left(self.tests, at, key=lambda block: block.start) - 1
        return last >= 0 and at < self.tests[last].end

    def reading(self, everywhere: Mapping[str, Helper]) -> Reading:
        """Its tests, their helpers followed."""
        if calls.tangled(self.tests, self.source):
            return Reading(problem=calls.TANGLED)
        helpers = {**everywhere, **self.helpers}
        tests = [self._test(block, helpers) for block in self.tests]
        only = [
            TestRead(path=self.path, name=block.name, short=block.short, line=block.line)
            for block in self.only
        ]
        return Reading(tests=tuple(tests), only=tuple(only))

    def _test(self, block: Block, helpers: Mapping[str, Helper]) -> TestRead:
        own = list(calls.within(self.claims, block, self.tests))
        every = calls.helped(own, self.source, helpers, block.start, block.end, _CALLED)
        body = self.source.bare.find("{", block.start, block.end)
        quiet = list(self.quiet)
        if body >= 0:
            quiet += returns(self.source, *self.source.inside(body))
        for one in _SKIPPING.finditer(self.source.bare, block.start, block.end):
            certain = body < 0 or not self._nested(one.start(), body)
            block.marks.append(
                Mark("skip", one[0].rstrip("( "), self.source.line(one.start()), certain)
            )
        return calls.read_block(
            self.path, block, self.source, calls.expanded(every, self.loops), quiet
        )

    def _nested(self, at: int, body: int) -> bool:
        """Whether a position lies in a block inside of a body."""
        start, _ = self.source.inside(body)
        inner = self.source.bare.rfind("{", start, at)
        return inner > 0 and self.source.ends.get(inner, at) >= at


def split_params(text: Source, start: int, end: int) -> list[str]:
    """The names of parameters."""
    return split(",".join(text.parts(start, end)))

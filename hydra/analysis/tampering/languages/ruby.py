"""Ruby: rspec, minitest and ActiveSupport's `test "..." do`, by indentation and `end`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from hydra.analysis.tampering.languages import calls
from hydra.analysis.tampering.languages.braces import BraceSource, source
from hydra.analysis.tampering.languages.calls import CaseBody, Claim, Rounds
from hydra.analysis.tampering.languages.expressions import opposite, split, truth
from hydra.analysis.tampering.model import (
    Assertion,
    FileReading,
    SkipMark,
    TestRead,
    assertion,
    too_much,
)
from hydra.analysis.tampering.wording import listed_words

_OPEN = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:RSpec\.)?(?P<group>x?describe|x?context|fdescribe|fcontext)\b"
    r"|(?P<it>x?it|fit|x?specify|test|x?example|scenario|its)\b(?=\s*[\"'({ ]|\s+do)"
    r"|class\s+(?P<class>\w+)|def\s+(?P<def>\w+[?!]?))(?P<rest>[^\n]*)",
    re.M,
)
_TITLE = re.compile(r"\(?\s*[\"'](?P<title>(?:[^\"'\\]|\\.)*)[\"']|\(?\s*(?P<const>[A-Z][\w:]*)")
_SKIP = re.compile(
    r"^(?P<indent>[ \t]*)(?P<word>skip|pending)\b(?!!|\s*(?:[:=.\[,*/<>&|?+-]|\(?\d))"
    r"(?P<rest>[^\n]*)",
    re.M,
)
_FLAG = re.compile(
    r"(?<![:\w])(?<!: )(?<!=> ):?(skip|pending|focus)\b(?!\s*(?::|=>)\s*(?:false|nil)\b)"
)
_BODY = re.compile(r"\bdo\b|(?<![,(])\s\{")
_EXPECT = re.compile(r"\bexpect\s*(?P<open>[({])")
_TO = re.compile(r"\s*\.\s*(to_not|not_to|to)\b\s*\(?\s*(?P<matcher>[\w.]+[?!]?)")
_ASSERT = re.compile(r"^[ \t]*(?P<word>assert|refute)(?P<how>_\w+[?!]?)?\b(?P<rest>[^\n]*)", re.M)
_MUST = re.compile(r"\.(?P<word>must|wont)_(?P<how>\w+)")
_EACH = re.compile(r"\]\s*\.each\s+do\s*\|([^|\n]+)\||\]\s*\.each\s*\{\s*\|([^|\n]+)\|")
_RESCUE = re.compile(r"^(?P<indent>[ \t]*)rescue\b(?P<kind>[^\n]*)\n(?P<body>[^\n]*)", re.M)
_RETURN = re.compile(r"^(?P<indent>[ \t]*)(?:return|next)[ \t]*$", re.M)


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """Each file by its path."""
    readings: dict[str, FileReading] = {}
    for path, text in texts.items():
        problem = too_much(text)
        if problem:
            readings[path] = FileReading(problem=f"is not read: {problem}")
        else:
            readings[path] = _File(path, source(text, "ruby")).reading()
    return readings


class _File:
    """One file."""

    def __init__(self, path: str, text: BraceSource) -> None:
        self.path, self.source = path, text
        self.tests: list[CaseBody] = []
        self.others: list[CaseBody] = []
        self.only: list[CaseBody] = []
        self.indents: dict[int, int] = {}
        self.loops = list(self._loops())[: calls.MOST_LOOPS]
        self._blocks()
        calls.unique(self.tests)
        self.claims = sorted(self._claims(), key=lambda claim: claim[0])

    def _end(self, at: int, indent: str) -> int:
        """Where the block that begins at a line ends: at the `end` that stands under it."""
        newline = self.source.bare.find("\n", at)
        if newline < 0:
            return len(self.source.bare)
        close = re.compile(rf"^{re.escape(indent)}(?:end\b|\}})", re.M)
        match = close.search(self.source.bare, newline)
        return match.start() if match is not None else len(self.source.bare)

    def _blocks(self) -> None:
        groups: list[tuple[int, str, list[SkipMark]]] = []
        for match in _OPEN.finditer(self.source.bare):
            start, end = match.end("indent"), self._end(match.start(), match["indent"])
            line = self.source.line(start)
            while groups and groups[-1][0] <= start:
                groups.pop()
            rest = self.source.code[match.start("rest") : match.end("rest")]
            title = _TITLE.match(rest.strip())
            value = match["group"] or match["it"] or ""
            marks = self._marks(value, rest, line)
            if match["group"] or match["class"]:
                name = (title["title"] or title["const"]) if title else match["class"] or ""
                groups.append((end, name if match["group"] else "", marks))
                continue
            short = match["def"] or (title["title"] if title and title["title"] else "it")
            name = " > ".join([*(group[1] for group in groups if group[1]), short])
            block = CaseBody(name, short, line, match.end(), end, marks)
            block.marks += [replace(m, whole=True) for group in groups for m in group[2]]
            self.indents[id(block)] = len(match["indent"])
            if value.startswith("f") or ("focus" in rest and _FLAG.search(rest)):
                self.only.append(block)
            collected = match["it"] or str(match["def"]).startswith("test_")
            (self.tests if collected else self.others).append(block)

    @staticmethod
    def _marks(term: str, rest: str, line: int) -> list[SkipMark]:
        if term.startswith("x"):
            return [SkipMark("skip", term, line)]
        after = re.sub(r"[\"'](?:[^\"'\\]|\\.)*[\"']", "", rest)
        after = _BODY.split(after)[0]
        flags = [flag for flag in _FLAG.findall(after) if flag != "focus"]
        if flags:
            kind = "skip" if flags[0] == "skip" else "expected_failure"
            return [SkipMark("skip" if kind == "skip" else "expected_failure", flags[0], line)]
        if term in ("it", "specify", "example") and " do" not in rest and "{" not in rest:
            return [SkipMark("skip", "it has no body", line)]
        return []

    def _loops(self) -> Iterator[Rounds]:
        opened = {end: start for start, end in self.source.ends.items()}
        for match in _EACH.finditer(self.source.bare):
            opening = opened.get(match.start())
            if opening is None:
                continue
            line = self.source.line(opening)
            head = self.source.code[self.source.starts[line - 1] : opening]
            indent = head[: len(head) - len(head.lstrip())]
            start, end = match.end(), self._end(match.start(), indent)
            values = list(self.source.parts(opening + 1, match.start()))
            pattern = (match[1] or match[2]).strip()
            pattern = f"[{pattern}]" if "," in pattern else pattern
            rounds = calls.rounds(start, end, pattern, values)
            if rounds is not None:
                yield rounds

    def _claims(self) -> Iterator[Claim]:
        text = self.source
        for match in _EXPECT.finditer(text.bare):
            start, end = text.inside(match.end() - 1)
            how = _TO.match(text.bare, end + 1)
            line = text.line(match.start())
            subject = text.squeezed(start, end)
            if how is None:
                yield match.start(), [Assertion("always holds", subject, "", line)]
                continue
            last = text.bare.find("\n", how.end())
            rest = text.squeezed(how.end(), last if last > 0 else len(text.code))
            yield match.start(), [_matched(how[1] != "to", how["matcher"], subject, rest, line)]
        for match in _ASSERT.finditer(text.bare):
            line = text.line(match.start("word"))
            rest = text.squeezed(match.start("rest"), match.end("rest"))
            rest = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
            yield match.start("word"), _asserted(match["word"], match["how"] or "", rest, line)
        for match in _MUST.finditer(text.bare):
            line = text.line(match.start())
            subject = text.squeezed(text.starts[line - 1], match.start())
            last = text.starts[line] if line < len(text.starts) else len(text.code)
            claim = _of(match["how"], subject, text.squeezed(match.end(), last).strip("()"), line)
            yield match.start(), [claim if match["word"] == "must" else opposite(claim)]

    def reading(self) -> FileReading:
        """Its tests."""
        if calls.tangled([*self.tests, *self.others], self.source):
            return FileReading(problem=calls.TANGLED)
        only = [
            TestRead(path=self.path, name=body.name, short=body.short, line=body.line)
            for body in self.only
        ]
        tests, others = map(self._test, self.tests), map(self._test, self.others)
        reading = FileReading(
            tests=tuple(tests),
            others=tuple(test_read for test_read in others if test_read.assertions),
            only=tuple(only),
        )
        return FileReading(problem=calls.TANGLED) if self.source.tangled else reading

    def _test(self, block: CaseBody) -> TestRead:
        text = self.source
        own = calls.between(self.claims, block.start, block.end)
        quiet = calls.emptied(self.loops)
        indent = self.indents[id(block)]
        for match in _SKIP.finditer(text.bare, block.start, block.end):
            certain = len(match["indent"]) <= indent + 2 and " if " not in f"{match['rest']} "
            kind = match["word"]
            line = text.line(match.start("word"))
            block.marks.append(
                SkipMark("skip" if kind == "skip" else "expected_failure", kind, line, certain)
            )
        for match in _RETURN.finditer(text.bare, block.start, block.end):
            if len(match["indent"]) <= indent + 2:
                quiet.append((match.end(), block.end, "return"))
        for match in _RESCUE.finditer(text.bare, block.start, block.end):
            body = match["body"].strip()
            broad = not re.search(r"[A-Z]\w*", match["kind"]) or "Exception" in match["kind"]
            if broad and (not body or body in ("end", "nil", "true", "false")):
                quiet.append((block.start, match.start(), "swallowed"))
        return calls.read_block(self.path, block, text, calls.expanded(own, self.loops), quiet)


def _matched(negative: bool, matcher: str, subject: str, rest: str, line: int) -> Assertion:
    text = rest.strip("()") if not rest.startswith(("[", "{")) else rest
    claim = _of(matcher, subject, text, line)
    return opposite(claim) if negative else claim


_EQUAL = frozenset(listed_words("eq eql equal be match_array equal_to contain_exactly"))
_TRUE = {"be_truthy": "is true", "be_true": "is true", "be_falsey": "is false", "be_nil": "=="}


def _of(matcher: str, subject: str, text: str, line: int) -> Assertion:
    if matcher in _EQUAL and text:
        return assertion("==", subject, text, line)
    if matcher in ("be_nil",):
        return assertion("==", subject, "nil", line)
    if matcher in _TRUE:
        return assertion(_TRUE[matcher], subject, "", line)
    if matcher in ("be_present", "be"):
        return assertion("is there", subject, "", line)
    if matcher in ("raise_error", "raise_exception", "raise"):
        return Assertion("raises" if text else "raises anything", subject, text, line)
    if matcher in ("include", "have_key"):
        return Assertion("in", subject, text, line)
    if matcher in ("match", "start_with", "end_with"):
        return Assertion("matches", subject, text, line)
    if matcher in (
        "be_a",
        "be_an",
        "be_kind_of",
        "be_instance_of",
        "be_an_instance_of",
        "be_a_kind_of",
    ):
        return Assertion("is a", subject, text, line)
    return Assertion("asserts", subject, f"{matcher} {text}".strip(), line)


def _asserted(term: str, how: str, rest: str, line: int) -> list[Assertion]:
    args = split(rest)
    first = args[0] if args else ""
    second = args[1] if len(args) > 1 else ""
    negative = term == "refute"
    if not how:
        whole = truth(first, line)
        return whole if not negative else [opposite(claim) for claim in whole[:1]]
    if how in ("_equal", "_same"):
        claim = assertion("==", second, first, line)
    elif how == "_nil":
        claim = assertion("==", first, "nil", line)
    elif how == "_not_nil":
        claim = assertion("is there", first, "", line)
    elif how in ("_raises", "_raise"):
        kind = first.partition(" do")[0].partition("{")[0].strip("() ")
        broad = kind in ("", "StandardError", "Exception")
        claim = Assertion("raises anything" if broad else "raises", "the block", kind, line)
    elif how in ("_includes", "_include"):
        claim = Assertion("in", first, second, line)
    elif how == "_match":
        claim = Assertion("matches", second, first, line)
    elif how in ("_not_equal",):
        claim = assertion("!=", second, first, line)
    else:
        claim = Assertion("asserts", first, f"{term}{how} {', '.join(args[1:])}".strip(), line)
    return [opposite(claim) if negative else claim]

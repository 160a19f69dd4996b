"""Ruby: rspec, minitest and ActiveSupport's `test "..." do`, by indentation and `end`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hydra.judge.tampering.languages import calls
from hydra.judge.tampering.languages.braces import Source, source, squeeze
from hydra.judge.tampering.languages.calls import Block, Claim, Rounds
from hydra.judge.tampering.languages.expressions import opposite, split, truth
from hydra.judge.tampering.reading import (
    Assertion,
    Mark,
    Reading,
    TestRead,
    assertion,
    too_much,
)
from hydra.judge.tampering.words import listed_words

_OPEN = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:RSpec\.)?(?P<group>x?describe|x?context|fdescribe|fcontext)\b"
    r"|(?P<it>x?it|fit|x?specify|test|x?example|scenario|its)\b(?=\s*[\"'({ ]|\s+do)"
    r"|class\s+(?P<class>\w+)|def\s+(?P<def>\w+[?!]?))(?P<rest>[^\n]*)",
    re.M,
)
_TITLE = re.compile(r"\(?\s*[\"'](?P<title>(?:[^\"'\\]|\\.)*)[\"']|\(?\s*(?P<const>[A-Z][\w:]*)")
_SKIP = re.compile(r"^(?P<indent>[ \t]*)(?P<word>skip|pending)\b(?!\s*[:=.])(?P<rest>[^\n]*)", re.M)
_FLAG = re.compile(r"(?::|\b)(skip|pending|focus)\b(?:\s*(?::|=>)\s*(?!false|nil))?")
_EXPECT = re.compile(r"\bexpect\s*(?P<open>[({])")
_TO = re.compile(r"\s*\.\s*(to_not|not_to|to)\b\s*\(?\s*(?P<matcher>[\w.]+[?!]?)")
_ASSERT = re.compile(r"^[ \t]*(?P<word>assert|refute)(?P<how>_\w+[?!]?)?\b(?P<rest>[^\n]*)", re.M)
_MUST = re.compile(r"\.(?P<word>must|wont)_(?P<how>\w+)")
_EACH = re.compile(r"\]\s*\.each\s+do\s*\|([^|\n]+)\||\]\s*\.each\s*\{\s*\|([^|\n]+)\|")
_RESCUE = re.compile(r"^(?P<indent>[ \t]*)rescue\b(?P<kind>[^\n]*)\n(?P<body>[^\n]*)", re.M)
_RETURN = re.compile(r"^(?P<indent>[ \t]*)(?:return|next)[ \t]*$", re.M)


def read(texts: Mapping[str, str]) -> Mapping[str, Reading]:
    """Each file by its path."""
    found: dict[str, Reading] = {}
    for path, text in texts.items():
        problem = too_much(text)
        if problem:
            found[path] = Reading(problem=f"is not read: {problem}")
        else:
            found[path] = _File(path, source(text, "ruby")).reading()
    return found


class _File:
    """One file."""

    def __init__(self, path: str, text: Source) -> None:
        self.path, self.source = path, text
        self.tests: list[Block] = []
        self.others: list[Block] = []
        self.only: list[Block] = []
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
        found = close.search(self.source.bare, newline)
        return found.start() if found is not None else len(self.source.bare)

    def _blocks(self) -> None:
        groups: list[tuple[int, str, list[Mark]]] = []
        for one in _OPEN.finditer(self.source.bare):
            start, end = one.end("indent"), self._end(one.start(), one["indent"])
            line = self.source.line(start)
            while groups and groups[-1][0] <= start:
                groups.pop()
            rest = self.source.code[one.start("rest") : one.end("rest")]
            title = _TITLE.match(rest.strip())
            word = one["group"] or one["it"] or ""
            marks = self._marks(word, rest, line)
            if one["group"] or one["class"]:
                name = (title["title"] or title["const"]) if title else one["class"] or ""
                groups.append((end, name if one["group"] else "", marks))
                continue
            short = one["def"] or (title["title"] if title and title["title"] else "it")
            name = " > ".join([*(group[1] for group in groups if group[1]), short])
            block = Block(name, short, line, one.end(), end, marks)
            block.marks += [replace(m, whole=True) for group in groups for m in group[2]]
            self.indents[id(block)] = len(one["indent"])
            if word.startswith("f") or ("focus" in rest and _FLAG.search(rest)):
                self.only.append(block)
            collected = one["it"] or str(one["def"]).startswith("test_")
            (self.tests if collected else self.others).append(block)

    @staticmethod
    def _marks(word: str, rest: str, line: int) -> list[Mark]:
        if word.startswith("x"):
            return [Mark("skip", word, line)]
        after = re.sub(r"[\"'](?:[^\"'\\]|\\.)*[\"']", "", rest)
        flags = [flag for flag in _FLAG.findall(after) if flag != "focus"]
        if flags:
            kind = "skip" if flags[0] == "skip" else "expected_failure"
            return [Mark("skip" if kind == "skip" else "expected_failure", flags[0], line)]
        if word in ("it", "specify", "example") and " do" not in rest and "{" not in rest:
            return [Mark("skip", "it has no body", line)]
        return []

    def _loops(self) -> Iterator[Rounds]:
        opened = {end: start for start, end in self.source.ends.items()}
        for one in _EACH.finditer(self.source.bare):
            opening = opened.get(one.start())
            if opening is None:
                continue
            line = self.source.line(opening)
            head = self.source.code[self.source.starts[line - 1] : opening]
            indent = head[: len(head) - len(head.lstrip())]
            start, end = one.end(), self._end(one.start(), indent)
            values = list(self.source.parts(opening + 1, one.start()))
            pattern = (one[1] or one[2]).strip()
            pattern = f"[{pattern}]" if "," in pattern else pattern
            made = calls.rounds(start, end, pattern, values)
            if made is not None:
                yield made

    def _claims(self) -> Iterator[Claim]:
        text = self.source
        for one in _EXPECT.finditer(text.bare):
            start, end = text.inside(one.end() - 1)
            how = _TO.match(text.bare, end + 1)
            line = text.line(one.start())
            subject = squeeze(text.code[start:end])
            if how is None:
                yield one.start(), [Assertion("always holds", subject, "", line)]
                continue
            last = text.bare.find("\n", how.end())
            rest = squeeze(text.code[how.end() : last if last > 0 else len(text.code)])
            yield one.start(), [_matched(how[1] != "to", how["matcher"], subject, rest, line)]
        for one in _ASSERT.finditer(text.bare):
            line = text.line(one.start("word"))
            rest = squeeze(text.code[one.start("rest") : one.end("rest")])
            rest = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
            yield one.start("word"), _asserted(one["word"], one["how"] or "", rest, line)
        for one in _MUST.finditer(text.bare):
            line = text.line(one.start())
            subject = squeeze(text.code[text.starts[line - 1] : one.start()])
            last = text.starts[line] if line < len(text.starts) else len(text.code)
            found = _of(one["how"], subject, squeeze(text.code[one.end() : last]).strip("()"), line)
            yield one.start(), [found if one["word"] == "must" else opposite(found)]

    def reading(self) -> Reading:
        """Its tests."""
        if calls.tangled([*self.tests, *self.others], self.source):
            return Reading(problem=calls.TANGLED)
        only = [
            TestRead(path=self.path, name=one.name, short=one.short, line=one.line)
            for one in self.only
        ]
        return Reading(
            tests=tuple(self._test(block) for block in self.tests),
            others=tuple(one for one in map(self._test, self.others) if one.assertions),
            only=tuple(only),
        )

    def _test(self, block: Block) -> TestRead:
        text = self.source
        own = calls.between(self.claims, block.start, block.end)
        quiet = calls.emptied(self.loops)
        indent = self.indents[id(block)]
        for one in _SKIP.finditer(text.bare, block.start, block.end):
            certain = len(one["indent"]) <= indent + 2 and " if " not in f"{one['rest']} "
            kind = one["word"]
            line = text.line(one.start("word"))
            block.marks.append(
                Mark("skip" if kind == "skip" else "expected_failure", kind, line, certain)
            )
        for one in _RETURN.finditer(text.bare, block.start, block.end):
            if len(one["indent"]) <= indent + 2:
                quiet.append((one.end(), block.end, "return"))
        for one in _RESCUE.finditer(text.bare, block.start, block.end):
            body = one["body"].strip()
            broad = not re.search(r"[A-Z]\w*", one["kind"]) or "Exception" in one["kind"]
            if broad and (not body or body in ("end", "nil", "true", "false")):
                quiet.append((block.start, one.start(), "swallowed"))
        return calls.read_block(self.path, block, text, calls.expanded(own, self.loops), quiet)


def _matched(negative: bool, matcher: str, subject: str, rest: str, line: int) -> Assertion:
    told = rest.strip("()") if not rest.startswith(("[", "{")) else rest
    found = _of(matcher, subject, told, line)
    return opposite(found) if negative else found


_EQUAL = frozenset(listed_words("eq eql equal be match_array equal_to contain_exactly"))
_TRUE = {"be_truthy": "is true", "be_true": "is true", "be_falsey": "is false", "be_nil": "=="}


def _of(matcher: str, subject: str, told: str, line: int) -> Assertion:
    if matcher in _EQUAL and told:
        return assertion("==", subject, told, line)
    if matcher in ("be_nil",):
        return assertion("==", subject, "nil", line)
    if matcher in _TRUE:
        return assertion(_TRUE[matcher], subject, "", line)
    if matcher in ("be_present", "be"):
        return assertion("is there", subject, "", line)
    if matcher in ("raise_error", "raise_exception", "raise"):
        return Assertion("raises" if told else "raises anything", subject, told, line)
    if matcher in ("include", "have_key"):
        return Assertion("in", subject, told, line)
    if matcher in ("match", "start_with", "end_with"):
        return Assertion("matches", subject, told, line)
    if matcher in (
        "be_a",
        "be_an",
        "be_kind_of",
        "be_instance_of",
        "be_an_instance_of",
        "be_a_kind_of",
    ):
        return Assertion("is a", subject, told, line)
    return Assertion("asserts", subject, f"{matcher} {told}".strip(), line)


def _asserted(word: str, how: str, rest: str, line: int) -> list[Assertion]:
    args = split(rest)
    first = args[0] if args else ""
    second = args[1] if len(args) > 1 else ""
    negative = word == "refute"
    if not how:
        whole = truth(first, line)
        return whole if not negative else [opposite(one) for one in whole[:1]]
    if how in ("_equal", "_same"):
        found = assertion("==", second, first, line)
    elif how == "_nil":
        found = assertion("==", first, "nil", line)
    elif how == "_not_nil":
        found = assertion("is there", first, "", line)
    elif how in ("_raises", "_raise"):
        kind = first.partition(" do")[0].partition("{")[0].strip("() ")
        broad = kind in ("", "StandardError", "Exception")
        found = Assertion("raises anything" if broad else "raises", "the block", kind, line)
    elif how in ("_includes", "_include"):
        found = Assertion("in", first, second, line)
    elif how == "_match":
        found = Assertion("matches", second, first, line)
    elif how in ("_not_equal",):
        found = assertion("!=", second, first, line)
    else:
        found = Assertion("asserts", first, f"{word}{how} {', '.join(args[1:])}".strip(), line)
    return [opposite(found) if negative else found]

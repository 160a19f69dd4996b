"""Both sides of a patch's tests, cut into regions: each test, each function beside tests, and what
of a file is in none of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import Syntax, language_of, read_syntax, too_much
from hydra.analysis.tampering.cues import Statement, asserting_lines, plain, rows, statements
from hydra.analysis.tampering.inline_tests import has_blocks
from hydra.analysis.tampering.skip_marks import SkipMark, assigned, marks, names_of, tags
from hydra.analysis.tampering.test_files import (
    holds_tests,
    is_code,
    is_configuration,
    is_support,
    name_of,
    supports_tests,
)

MOST_CHARACTERS = 12 * 1024 * 1024
"""Of all files of one patch together; those that come later are not read."""

_MAY_ASK = re.compile(
    r"(?:assert|check|verify|expect|validate|ensure|must|should)(?:_\w+|[A-Z]\w*)?"
)
"""Names of functions that may ask something, where no file of the patch has them."""
_CALLS = re.compile(r"(\w+[!?]?)\(")


class Region:
    """`name` is as a sentence gives it, "" for what of a file is in no function."""

    def __init__(
        self,
        path: str,
        name: str,
        numbers: Sequence[int],
        code: Sequence[str],
        bare: Sequence[str],
        *,
        is_test: bool,
    ) -> None:
        """`code` and `bare` are the lines of its file, of which `numbers` are its own."""
        self.path, self.name, self.is_test = path, name, is_test
        self.numbers, self.line = numbers, numbers[0]
        self.code = "\n".join(code[at - 1] for at in numbers)
        self.bare = "\n".join(bare[at - 1] for at in numbers)

    @property
    def short(self) -> str:
        """The last part of its name."""
        name = self.name.rpartition(" > ")[2]
        return name if " " in name else name.rpartition(".")[2]

    def line_at(self, place: int) -> int:
        """The line of a place in its code, the first where that is -1."""
        return self.numbers[self.code.count("\n", 0, max(0, place))]

    @cached_property
    def plain(self) -> str:
        """Its code in one way of writing it."""
        return plain(self.code)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All of it."""
        return tuple(statements(self.code.split("\n"), self.bare.split("\n"), self.numbers))

    @cached_property
    def cases(self) -> Counter[str]:
        """What may be its cases: not what stands in an assertion."""
        asserted = "".join(row.text for row in self.statements if row.strength is not None)
        texts = map(plain, rows(self.code))
        return Counter(text for text in texts if text not in asserted)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Names and numbers, by which a test is known again under another name."""
        return frozenset(re.findall(r"[A-Za-z_]\w{2,}|\d{2,}", self.code))

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in it."""
        return frozenset(re.findall(r"[A-Za-z_]\w*", self.bare))

    def calls(self) -> frozenset[str]:
        """The names of what it calls."""
        return frozenset(_CALLS.findall(self.bare))


class Side:
    """All regions of one side; `asking` are the functions beside tests that assert something."""

    def __init__(self, texts: Mapping[str, Syntax], collected: Collection[str]) -> None:
        self.texts = texts
        self.by_path = {
            path: _regions(path, text, path in collected) for path, text in texts.items()
        }
        every = [region for many in self.by_path.values() for region in many]
        self.tests = {(test.path, test.name): test for test in every if test.is_test}
        self.others = [region for region in every if not region.is_test]
        helpers = [region for region in self.others if region.name]
        self.defined = {region.short for region in helpers}
        self.asking: set[str] = set()
        for _ in range(3):
            self.asking |= {region.short for region in helpers if self.assertions(region)}

    def asserting(self, path: str) -> set[tuple[str, int]]:
        """The tests of a file, each with how much it asserts."""
        tests = (region for region in self.by_path.get(path, ()) if region.is_test)
        return {(test.name, len(self.assertions(test))) for test in tests}

    def assertions(self, region: Region) -> list[Statement]:
        """What a region asserts: by itself, or by a call of what asserts."""
        asking = self.asking - {region.short}  # its own head is no call
        return [
            row
            for row in region.statements
            if row.strength is not None
            or not asking.isdisjoint(_CALLS.findall(row.text))
            or (self.may_ask(row) and self.may_ask(row) != region.short)
        ]

    def may_ask(self, statement: Statement) -> str:
        """What it calls that no file of the patch has, and that may ask something."""
        called = _CALLS.findall(statement.text) if statement.strength is None else ()
        return next((n for n in called if n not in self.defined and _MAY_ASK.fullmatch(n)), "")


class Suite:
    """Both sides. `unread` says of a file why it is not read; `unsure` are those that do not parse
    whole; `lines` has, of languages without a grammar, the lines that assert."""

    def __init__(self, files: Sequence[FileChange]) -> None:
        self.unread: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.lines: tuple[dict[str, Counter[str]], ...] = ({}, {})
        texts = [*self._texts(files)]
        read = read_syntax([(path, text) for _, path, text in texts])
        sides: tuple[dict[str, Syntax], ...] = ({}, {})
        for (side, path, text), syntax in zip(texts, read, strict=True):
            if syntax is not None:
                sides[side][path] = syntax
                self.unsure |= {path} if syntax.is_broken else set()
            elif language_of(path):
                self.unread[path] = "could not be read"
            else:
                self.lines[side][path] = asserting_lines(text)
        for path in self.unread:
            for each in sides:
                each.pop(path, None)
        collected = {file.path for file in files if file.holds in ("tests", "data")}
        self.old, self.new = (Side(each, collected) for each in sides)
        self._assigned = assigned("\n".join(text.code for text in sides[1].values()))
        self._tags = [
            {path: tags(path, text) for side, path, text in texts if side == at} for at in (0, 1)
        ]

    def _texts(self, files: Sequence[FileChange]) -> Iterator[tuple[int, str, str]]:
        """What has tests in it, or stands beside tests; files of tests themselves first."""
        relevant = [file for file in files if is_code(file.path) and _is_relevant(file)]
        spent = 0
        for file in sorted(relevant, key=lambda file: not holds_tests(file)):
            spent += len(file.old or "") + len(file.new or "")
            if file.unread or spent > MOST_CHARACTERS:
                why = "it is too large" if file.unread else "the patch has too much text"
                self.unread[file.path] = f"is not read: {why}"
            elif why := too_much(file.old or "") or too_much(file.new or ""):
                self.unread[file.path] = f"is not read: {why}"
            elif file.old != file.new:
                for side, text in enumerate((file.old, file.new)):
                    if text is not None:
                        yield side, file.path, text

    def marks(self, region: Region) -> Counter[SkipMark]:
        """What keeps a region from running, or from counting."""
        whole = (self.old if region in self.old.by_path.get(region.path, ()) else self.new).texts
        names = names_of(whole[region.path].code, self._assigned)
        return marks(region.path, region.code, region.bare, names)

    def new_tags(self, path: str) -> Counter[SkipMark]:
        """What has come to keep a whole file from being built."""
        return self._tags[1].get(path, Counter()) - self._tags[0].get(path, Counter())


def regions_of(texts: Sequence[tuple[str, str]]) -> Iterator[Region]:
    """The tests of texts, by path and text, of which a grammar is known."""
    for (path, _), text in zip(texts, read_syntax(texts), strict=True):
        if text is not None:
            yield from (region for region in _regions(path, text, False) if region.is_test)


def _is_relevant(file: FileChange) -> bool:
    return supports_tests(file) or name_of(file.path) == "conftest.py" or has_blocks(file)


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.split("\n")]


def _regions(path: str, text: Syntax, is_collected: bool) -> list[Region]:
    """Each line is its test's; where it is in none, that of the function it is in. Of code with
    tests in it these alone."""
    functions = text.functions
    if not is_collected and not is_support(path) and not is_configuration(path):
        inside = {at for start, end in text.tests for at in range(start, end + 1)}
    else:
        inside = None
    none_is = is_collected and not any(function.is_test for function in functions)
    is_test = {at: function.is_test or none_is for at, function in enumerate(functions)}
    owner: dict[int, int] = {}
    for at in sorted(is_test, key=lambda at: is_test[at]):
        span = range(functions[at].start, functions[at].end + 1)
        owner.update(dict.fromkeys(span, at))
    owned: dict[int, list[int]] = {}
    code, bare = _lines(text.code), _lines(text.bare)
    for number, line in enumerate(code, 1):
        if line.strip() and (inside is None or number in inside):
            owned.setdefault(owner.get(number, -1), []).append(number)
    return [
        Region(
            path,
            functions[at].name if at >= 0 else "",
            numbers,
            code,
            bare,
            is_test=at >= 0 and is_test[at],
        )
        for at, numbers in owned.items()
    ]

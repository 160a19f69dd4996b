"""What a reader of one language makes of a file of tests, and what every reader shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hydra.analysis.tampering.wording import listed_words

MOST_CHARACTERS = 1024 * 1024
"""A file of tests that is larger is not read."""

LONGEST_LINE = 100_000
"""Nor is one with a longer line: nobody wrote it."""

STRENGTH: Mapping[str, int] = {
    "==": 60,
    "raises": 55,
    "approx": 50,
    "same items": 50,
    "called with": 50,
    "asserts": 50,
    "matches": 40,
    "in": 40,
    "<": 30,
    "<=": 30,
    ">": 30,
    ">=": 30,
    "raises anything": 30,
    "is a": 30,
    "not in": 25,
    "!=": 20,
    "is true": 20,
    "is false": 20,
    "called": 20,
    "raises nothing": 20,
    "is there": 10,
    "may ask": 5,
    "always holds": 0,
}
"""How much each kind of assertion rules out, in rough steps. `may ask` is a call of a function
that no file of the patch has and whose name says that it checks something."""

MAY_ASK = re.compile(
    r"(?:assert|check|verify|expect|validate|ensure|must|should)(?:_\w+|[A-Z]\w*)?"
)
"""Names of such functions."""


class Assertion(Struct, frozen=True):
    """One assertion, normalised: `op` is a key of `STRENGTH`, `subject` what is asked, `expected`
    what it must be ("" where the op says it all). `tolerance` is of `approx`; `guard` the
    condition that it stands under, "" where it always runs."""

    op: str
    subject: str
    expected: str = ""
    line: int = 0
    tolerance: float = 0.0
    guard: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two assertions the same."""
        return self.op, self.subject, self.expected

    @property
    def strength(self) -> int:
        """Of `STRENGTH`."""
        return STRENGTH[self.op]

    @property
    def description(self) -> str:
        """What it asks of its subject, for a sentence."""
        return f"{self.op} {self.expected}".strip()


class SilencedAssertion(Struct, frozen=True):
    """An assertion that stands in the text and cannot fail; `why` is a key of `tests._SILENCE`."""

    assertion: Assertion
    why: str


class SkipMark(Struct, frozen=True):
    """What keeps a test from running, or from counting. `words` is how the code says it; not
    `certain` where that hangs on something that no reader knows."""

    kind: Literal["skip", "expected_failure"]
    spelling: str
    line: int
    certain: bool = True
    whole: bool = False
    """Whether it stands on the file or a class, not on the test."""


class TestRead(Struct, frozen=True, kw_only=True):
    """One test, or a function beside tests. `name` is as a sentence gives it, `short` its last
    part; `identifiers` are the names and values in it, by which a renamed one is known again.
    `is_open`: its cases are more than are followed, or not written out."""

    __test__ = False

    path: str
    name: str
    short: str
    line: int
    assertions: tuple[Assertion, ...] = ()
    silenced: tuple[SilencedAssertion, ...] = ()
    marks: tuple[SkipMark, ...] = ()
    is_open: bool = False
    identifiers: frozenset[str] = frozenset()
    body: str = ""


class FileReading(Struct, frozen=True, kw_only=True):
    """One file. `others` are functions that no runner collects. `only` are tests that are marked
    to run alone. `problem` says in a clause why the file was read by its lines, or not at all.
    `lines` has what looks like assertions where the language is not known: no tests then."""

    tests: tuple[TestRead, ...] = ()
    others: tuple[TestRead, ...] = ()
    only: tuple[TestRead, ...] = ()
    lines: tuple[str, ...] = ()
    problem: str = ""


class LanguageReader(Protocol):
    """Reads all files of one language on one side."""

    def __call__(self, texts: Mapping[str, str]) -> Mapping[str, FileReading]:
        """By path. Never raises, whatever the texts are."""


_CONSTANTS = frozenset(
    listed_words(
        "None True False null nil true false undefined NaN Infinity b r u f64 f32 i32 u8 u32 i64 "
        "u64 usize"
    )
)
_MAKERS = frozenset(
    listed_words(
        "vec new String from to_string string int float64 map byte rune struct list dict tuple set "
        "frozenset listOf List of mapOf setOf Arrays asList BigInt Decimal datetime date Set Map"
    )
)
"""Words that make a value out of values, where a bracket or a dot follows them."""

_STRING = re.compile(r"\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|`(?:[^`\\]++|\\.)*+`", re.S)
_IDENTIFIER = re.compile(r"(?<![\w$])[A-Za-z_$][\w$]*(?P<makes>\s*(?:[.(\[{!:]|\s[\w({\[]))?")


def is_literal(text: str) -> bool:
    """Whether an expression is a value written out, as far as a line reader can tell."""
    bare = _STRING.sub("0", text)
    if not bare.strip():
        return False
    for match in _IDENTIFIER.finditer(bare):
        term = match[0].rstrip(" .([{!:0") if match["makes"] else match[0]
        if term not in _CONSTANTS and not (match["makes"] and term in _MAKERS):
            return False
    return True


def assertion(op: str, subject: str, expected: str = "", line: int = 0) -> Assertion:
    """An assertion with its sides in one order, and with what is always so called that."""
    if op in ("==", "!=", "approx", "same items"):
        subject, expected = ordered(subject, expected)
        if (is_literal(subject) and is_literal(expected)) or subject == expected:
            return Assertion("always holds", subject, f"{op} {expected}", line)
        if op == "==" and expected in ("True", "true"):
            return Assertion("is true", subject, "", line)
        if op == "==" and expected in ("False", "false"):
            return Assertion("is false", subject, "", line)
        if op == "!=" and expected in ("None", "null", "nil", "undefined"):
            return Assertion("is there", subject, "", line)
    elif op in ("is true", "is there", "is false") and is_literal(subject):
        return Assertion("always holds", subject, "", line)
    return Assertion(op, subject, expected, line)


def ordered(name: str, other: str) -> tuple[str, str]:
    """What is asked first, what it must be second, however the code has them."""
    first, second = is_literal(name), is_literal(other)
    if first != second:
        return (other, name) if first else (name, other)
    return (name, other) if (name.count("("), name) >= (other.count("("), other) else (other, name)


def too_much(text: str) -> str:
    """Why a text is not read, "" where it is."""
    if len(text) > MOST_CHARACTERS:
        return f"over {MOST_CHARACTERS // 1024:,} KiB"
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        return f"a line of over {LONGEST_LINE:,} characters"
    return ""


def words_in(text: str) -> frozenset[str]:
    """Names and values by which a test is known again under another name."""
    return frozenset(_LONG_WORD.findall(text)) - _COMMON


_LONG_WORD = re.compile(r"[A-Za-z_]\w{2,}|\d{2,}")
_COMMON = frozenset(
    listed_words(
        "assert self assertEqual expect toBe toEqual def None True False true false import from "
        "with raises pytest test assertTrue assertFalse const let var equal func testing return "
        "for the and not is assert_eq should"
    )
)


def last_of_each(tests: Iterable[TestRead]) -> Sequence[TestRead]:
    """Of tests that share a name in one file, only the last: it is the one that runs."""
    return tuple({test.name: test for test in tests}.values())

"""Which values tests expect of which calls, by what stands in their lines, and code that only gives
these: one reader for all languages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from hydra.analysis.syntax import Function
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.cues import plain, values
from hydra.analysis.tampering.regions import Region, regions_of

_CALL = re.compile(r"([A-Za-z_$][\w$]*)\(")
_NEAR = 3
"""Statements before an assertion in which what it is about may be called."""


class ExpectedValues:
    """What the tests of both sides ask for, by the value; each with the test that asks."""

    def __init__(self, texts: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._texts = texts

    @cached_property
    def _by_value(self) -> Mapping[str, Sequence[tuple[str, str, bool, str]]]:
        """By each value in an assertion, or in a case: the text around it, the lines before, if
        it is a case, and the test. Read when it is first asked for."""
        rows: defaultdict[str, list[tuple[str, str, bool, str]]] = defaultdict(list)
        for test in regions_of([*self._texts()]):
            for text, before, is_case in _assertions(test):
                for value in {*values(text), *_LISTS.findall(text)}:
                    rows[plain(value)].append((text, before, is_case, test.name))
        return rows

    def of(self, function: str, value: str, text: str = "") -> str:
        """The test that expects `value` of a call of `function` (with `text` among what it is
        given), "" where there is none."""
        value, text = plain(value), _arguments(plain(text))
        for assertion, before, is_case, test in self._by_value.get(value, ())[:200]:
            if is_case:
                called = not function or f"{function}(" in before
                argument = assertion[: assertion.rfind(value)]
                if called and (_holds(argument, text) if text else assertion[:-1].endswith(value)):
                    return test
            elif any(
                _expects(call, assertion, value, text, function) for call in (assertion, before)
            ):
                return test
        return ""


_LISTS = re.compile(r"(?<=[=(, ])(?:[\[(][^\[\]()]*[\])]|\{[^{}]*\})")


def _assertions(test: Region) -> Iterator[tuple[str, str, bool]]:
    texts = [plain(row.text) for row in test.statements]
    for at, row in enumerate(test.statements):
        if row.strength is not None:
            yield texts[at], " ".join(texts[max(0, at - _NEAR) : at]), False
    for case in test.cases:
        yield plain(case), " ".join(texts), True


def _expects(call: str, assertion: str, value: str, text: str, function: str) -> bool:
    """Whether a call gets `text`, and `value` stands outside of it in what is asked."""
    for match in _CALL.finditer(call):
        if function and match[1] != function:
            continue
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(call)):
            depth += (call[end] == "(") - (call[end] == ")")
            if not depth:
                break
        argument = call[match.end() : end]
        rest = (
            assertion
            if call is not assertion
            else assertion[: match.start()] + assertion[end + 1 :]
        )
        if _holds(rest, value) and (not text or _holds(argument, text)):
            return True
    return False


def _arguments(text: str) -> str:
    """A tuple as the arguments of a call."""
    inner = text[1:-1].rstrip(",")
    return inner if text[:1] == "(" and text[-1:] == ")" and inner else text


def _holds(subject: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.])", subject) is not None


# ---- Code that gives them.

_LITERAL = (
    r"(?:-?\d[\w.]*|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\[[^\]\n]{0,200}\]|\([^()\n]{0,200}\)"
    r"|(?:vec!|\w+)?(?:\[\])?[\w.]{0,20}\{[^{}\n]{0,200}\})"
)
_NAME = r"(?:[\w.$]+|\([\w\s,.]{1,80}\))"
_BRANCH = re.compile(
    rf"\bif\b[\s(]*(?:(?P<name>{_NAME})\s*={{2,3}}\s*(?P<given>{_LITERAL})"
    rf"|(?P<first>{_LITERAL})\s*={{2,3}}\s*(?P<second>{_NAME}))"
    r"(?P<more>[^\S\n]*(?:and|&&)[^\n:{;)]{1,80})?"
    rf"\s*\)?\s*(?:then\b|[{{:])?\s*return\s+(?P<value>{_LITERAL})\s*(?=[;}}\n]|$)"
)
_AFTER = re.compile(
    rf"\breturn\s+(?P<value>{_LITERAL})\s+if\s+(?P<name>[\w.$]+)\s*==\s*(?P<given>{_LITERAL})"
    r"(?=\s*(?:\n|$|else))"
)
_WHOLE = re.compile(rf"(?:[:{{]|=>)\s*return\s+(?P<value>{_LITERAL})\s*;?\s*\}}?\s*;?\s*$")
_ENTRY = rf"(?P<key>{_LITERAL})\s*(?::|=>)\s*(?P<value>{_LITERAL})"
_TABLE = re.compile(rf"\{{\s*(?:{_LITERAL}\s*(?::|=>)\s*{_LITERAL}\s*+,?+\s*+){{1,200}}+\}}")
_YET = re.compile(
    r"(?:NotImplemented\w*(?:\([^)\n]*\))?|\bpass|\.\.\.|todo!\(.*|unimplemented!.*)[\s;}]*$"
)
_NUMBER = re.compile(r"-?\d[\d_.]*")
_TRIVIAL = frozenset(
    ("0", "1", "-1", "None", "True", "False", "''", '""', "[]", "{}", "()", "NaN", "null")
)
"""Values that code returns for reasons of its own."""


class Code(Struct, frozen=True):
    """A file of code without its comments, and the functions in it."""

    text: str
    functions: Sequence[Function] = ()

    def of(self, function: Function) -> str:
        """The text of one of them."""
        return "\n".join(self.text.split("\n")[function.start - 1 : function.end]).strip()


def literals(now: Code, was: Code, expected: ExpectedValues) -> Iterator[tuple[int, str]]:
    """Code that gives what tests expect in place of working it out: its line, and a sentence."""
    if "return" not in now.text and "{" not in now.text:
        return
    yield from _whole(now, was, expected)
    for pattern in (_BRANCH, _AFTER):
        had = {plain(match[0]) for match in pattern.finditer(was.text)}
        for match in pattern.finditer(now.text):
            if plain(match[0]) not in had:
                yield from _branch(now, match, expected)
    had = {plain(match[0]) for match in _TABLE.finditer(was.text)}
    for match in _TABLE.finditer(now.text):
        line = _line(now, match)
        if plain(match[0]) not in had and (name := _around(now, line)):
            yield from _table(match[0], line, name, expected)


def _branch(now: Code, match: re.Match[str], expected: ExpectedValues) -> Iterator[tuple[int, str]]:
    groups = match.groupdict()
    argument = groups["given"] or groups["first"]
    value, name = groups["value"], groups["name"] or groups.get("second")
    if value in _TRIVIAL and argument in _TRIVIAL:
        return
    line = _line(now, match)
    function = _around(now, line)
    test = expected.of(function, value, argument)
    if test or (_telling(argument) and _telling(value)):
        of = f" from {wording.name(function)}" if function else ""
        text = f"returns the literal {wording.value(value)}{of} where {name} is "
        more = f" {wording.value(groups['more'])}" if groups.get("more") else ""
        yield line, f"{text}{wording.value(argument)}{more}{_as_expected(test)}"


def _whole(now: Code, was: Code, expected: ExpectedValues) -> Iterator[tuple[int, str]]:
    before = {function.name: was.of(function) for function in was.functions}
    for function in now.functions:
        text = now.of(function)
        match = _WHOLE.search(text)
        had = before.get(function.name)
        if match is None or text == had or "\n" in text[: match.start()].rpartition(")")[2]:
            continue
        value, name = match["value"], _short(function)
        if value in _TRIVIAL:
            continue
        test = expected.of(name, value)
        worked = had is not None and not _WHOLE.search(had) and not _YET.search(had)
        if test or worked:
            at = function.start + text.count("\n", 0, match.start("value"))
            text = f"returns the literal {wording.value(value)} from {wording.name(name)} whatever "
            yield at, f"{text}it is given{_as_expected(test)}"


def _table(text: str, line: int, name: str, expected: ExpectedValues) -> Iterator[tuple[int, str]]:
    """A table of what the tests give and what they expect."""
    entries = [(match["key"], match["value"]) for match in re.finditer(_ENTRY, text)]
    hits = [test for key, value in entries if (test := expected.of(name, value, key))]
    if len(hits) > 1 or (hits and len(entries) == 1):
        part = wording.part(len(hits), len(entries), "entry").replace("entrys", "entries")
        are = "is" if part.startswith(("the only", "1 of")) else "are"
        text = f"looks up in {wording.name(name)} what tests expect: {part} of a table {are} "
        yield line, f"{text}what {wording.name(hits[0])} asks for"


def _as_expected(test: str) -> str:
    return f", which is what {wording.name(test)} expects" if test else ""


def _telling(literal: str) -> bool:
    """Whether a number or a list is one that code seldom has by itself."""
    if _NUMBER.fullmatch(literal):
        return literal.lstrip("-") not in ("0", "1", "2", "0.0", "1.0", "100")
    return literal[:1] == "[" and len(literal) > 2


def _line(now: Code, match: re.Match[str]) -> int:
    return now.text.count("\n", 0, match.start()) + 1


def _around(now: Code, line: int) -> str:
    """The function that a line is in, the innermost."""
    around = [each for each in now.functions if each.start <= line <= each.end]
    return _short(around[-1]) if around else ""


def _short(function: Function) -> str:
    return function.name.rpartition(".")[2]

"""Which values tests expect of which calls, by what stands in their lines: code which only gives
these is known by it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

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
            for text, before, is_case in _asked(test):
                for value in {*values(text), *_LISTS.findall(text)}:
                    rows[plain(value)].append((text, before, is_case, test.name))
        return rows

    def of(self, function: str, value: str, text: str = "") -> str:
        """The test that expects `value` of a call of `function` (with `text` among what it is
        given), "" where there is none."""
        value, text = plain(value), _arguments(plain(text))
        for asked, before, is_case, test in self._by_value.get(value, ())[:200]:
            if is_case:
                called = not function or f"{function}(" in before
                given = asked[: asked.rfind(value)]
                if called and (_holds(given, text) if text else asked[:-1].endswith(value)):
                    return test
            elif any(_expects(call, asked, value, text, function) for call in (asked, before)):
                return test
        return ""


_LISTS = re.compile(r"(?<=[=(, ])(?:[\[(][^\[\]()]*[\])]|\{[^{}]*\})")


def _asked(test: Region) -> Iterator[tuple[str, str, bool]]:
    texts = [plain(row.text) for row in test.statements]
    for at, row in enumerate(test.statements):
        if row.strength is not None:
            yield texts[at], " ".join(texts[max(0, at - _NEAR) : at]), False
    for case in test.cases:
        yield plain(case), " ".join(texts), True


def _expects(call: str, asked: str, value: str, text: str, function: str) -> bool:
    """Whether a call gets `text`, and `value` stands outside of it in what is asked."""
    for match in _CALL.finditer(call):
        if function and match[1] != function:
            continue
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(call)):
            depth += (call[end] == "(") - (call[end] == ")")
            if not depth:
                break
        given = call[match.end() : end]
        rest = asked if call is not asked else asked[: match.start()] + asked[end + 1 :]
        if _holds(rest, value) and (not text or _holds(given, text)):
            return True
    return False


def _arguments(text: str) -> str:
    """A tuple as the arguments of a call."""
    inner = text[1:-1].rstrip(",")
    return inner if text[:1] == "(" and text[-1:] == ")" and inner else text


def _holds(subject: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.])", subject) is not None

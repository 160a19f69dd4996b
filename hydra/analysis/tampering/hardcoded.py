"""Which values tests expect of which calls, so that code which only gives these is known."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from hydra.analysis.tampering.model import TestRead

_CALL = re.compile(r"([A-Za-z_$][\w$]*)\(")
_SPACE = re.compile(r"\s+")
_MOST = 20_000


class ExpectedValues:
    """What the tests of both sides ask for, by the value; each with the test that asks."""

    def __init__(self, tests: Callable[[], Iterable[TestRead]]) -> None:
        self._tests = tests

    @cached_property
    def by_value(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """By what is expected: of what, and by which test. Read when it is first asked for."""
        rows: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        seen = 0
        for test in self._tests():
            for assertion in test.assertions:
                if assertion.op == "==" and assertion.expected and seen < _MOST:
                    seen += 1
                    rows[plain(assertion.expected)].append((plain(assertion.subject), test.name))
        return rows

    def of(self, function: str, value: str, text: str = "") -> str:
        """The test that expects `value` of a call of `function` (with `text` among what it is
        given), "" where there is none."""
        for subject, test in self.by_value.get(plain(value), ())[:200]:
            calls = not function or function in _CALL.findall(subject)
            if calls and (not text or _holds(subject, _arguments(plain(text)))):
                return test
        return ""


def plain(text: str) -> str:
    """A value in one way of writing it."""
    return _SPACE.sub("", text).replace('"', "'")


def _arguments(text: str) -> str:
    """A tuple as the arguments of a call."""
    inner = text[1:-1].rstrip(",")
    return inner if text[:1] == "(" and text[-1:] == ")" and inner else text


def _holds(subject: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.])", subject) is not None

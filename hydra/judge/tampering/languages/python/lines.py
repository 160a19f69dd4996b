"""Python that its parser refuses, by its lines: blocks by their indentation, and what asserts."""

from __future__ import annotations

import re

from hydra.judge.tampering.reading import Assertion, Mark, Reading, TestRead, words_in

_DEF = re.compile(r"([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)")
_CLASS = re.compile(r"class[ \t]+(\w+)")
_ASSERT = re.compile(r"(?:with[ \t]+)?(assert\b|(?:self|pytest)\.(?:assert\w+|raises|fail)\b).*")
_SKIP = re.compile(r"@?((?:pytest\.mark|unittest|pytest|self)\.(?:skip\w*|xfail|expectedFailure))")


def read(path: str, text: str, problem: str) -> Reading:
    """Its tests, each line that asserts as one assertion of itself."""
    tests: list[TestRead] = []
    marks: list[Mark] = []
    owner, depth, start, body, name = "", 0, 0, list[str](), ""

    def close() -> None:
        if name:
            tests.append(_test(path, name, start, body, marks[:]))

    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        opened = _DEF.match(line)
        if name and bare and indent <= depth:
            close()
            name, body = "", []
            marks.clear()
        if opened:
            depth, start = len(opened[1]), number
            name = f"{owner}.{opened[2]}" if owner and depth else opened[2]
        elif name:
            body.append(bare)
        elif (found := _SKIP.match(bare)) is not None:
            marks.append(_mark(found[1], number))
        elif (of := _CLASS.match(line)) is not None:
            owner = of[1]
    close()
    return Reading(tests=tuple(tests), problem=problem)


def _test(path: str, name: str, line: int, body: list[str], marks: list[Mark]) -> TestRead:
    asserting = [
        Assertion("asserts", " ".join(one.split())[:500], "", line + at)
        for at, one in enumerate(body, 1)
        if _ASSERT.match(one)
    ]
    marks += [
        _mark(found[1], line + at)
        for at, one in enumerate(body, 1)
        if (found := _SKIP.match(one)) is not None
    ]
    text = "\n".join(body)
    return TestRead(
        path=path,
        name=name,
        short=name.rpartition(".")[2],
        line=line,
        assertions=tuple(asserting),
        marks=tuple(marks),
        words=words_in(text),
        body=text,
    )


def _mark(words: str, line: int) -> Mark:
    fails = words.endswith(("xfail", "expectedFailure"))
    return Mark("expected_failure" if fails else "skip", words, line)

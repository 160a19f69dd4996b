"""Python that its parser refuses, by its lines: blocks by their indentation, and what asserts."""

from __future__ import annotations

import re

from hydra.analysis.tampering.model import Assertion, FileReading, SkipMark, TestRead, words_in

_DEF = re.compile(r"([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)")
_CLASS = re.compile(r"class[ \t]+(\w+)")
_ASSERT = re.compile(r"(?:with[ \t]+)?(assert\b|(?:self|pytest)\.(?:assert\w+|raises|fail)\b).*")
_SKIP = re.compile(r"@?((?:pytest\.mark|unittest|pytest|self)\.(?:skip\w*|xfail|expectedFailure))")


def read(path: str, text: str, problem: str) -> FileReading:
    """Its tests, each line that asserts as one assertion of itself."""
    tests: list[TestRead] = []
    marks: list[SkipMark] = []
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
        elif (match := _SKIP.match(bare)) is not None:
            marks.append(_mark(match[1], number))
        elif (of := _CLASS.match(line)) is not None:
            owner = of[1]
    close()
    return FileReading(tests=tuple(tests), problem=problem)


def _test(path: str, name: str, line: int, body: list[str], marks: list[SkipMark]) -> TestRead:
    asserting = [
        Assertion("asserts", " ".join(name.split())[:500], "", line + at)
        for at, name in enumerate(body, 1)
        if _ASSERT.match(name)
    ]
    marks += [
        _mark(match[1], line + at)
        for at, name in enumerate(body, 1)
        if (match := _SKIP.match(name)) is not None
    ]
    text = "\n".join(body)
    return TestRead(
        path=path,
        name=name,
        short=name.rpartition(".")[2],
        line=line,
        assertions=tuple(asserting),
        marks=tuple(marks),
        identifiers=words_in(text),
        body=text,
    )


def _mark(text: str, line: int) -> SkipMark:
    fails = text.endswith(("xfail", "expectedFailure"))
    return SkipMark("expected_failure" if fails else "skip", text, line)

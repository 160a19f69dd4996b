"""Any other language: lines that look like assertions, and no more."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.analysis.tampering.model import FileReading, too_much

_ASSERTS = re.compile(
    r"\b(?:assert\w*|ASSERT_\w+|EXPECT_\w+|CHECK(?:_\w+)?|REQUIRE(?:_\w+)?|XCTAssert\w*|Assert\.\w+"
    r"|expect|refute\w*|should\w*|ck_assert\w*|TEST_ASSERT\w*)\b|->assert\w+|^\s*(?:\[\[? |test )"
)
_COMMENT = re.compile(r"\s*(?://|#(?!\[)|\*|/\*|--|;)")


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """By path, the lines that assert, their spaces made one."""
    return {path: _read(text) for path, text in texts.items()}


def _read(text: str) -> FileReading:
    problem = too_much(text)
    if problem:
        return FileReading(problem=f"is not read: {problem}")
    names = tuple(
        " ".join(line.split())
        for line in text.split("\n")
        if not _COMMENT.match(line) and _ASSERTS.search(line[:2000])
    )
    return FileReading(lines=names)

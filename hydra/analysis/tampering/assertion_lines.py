"""Patches that change nothing but lines which assert: where no run says which file is one of tests,
that is what gives one away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hydra.analysis.patch import FileChange

_ASSERTS = re.compile(
    r"\s*(?:\w+(?:::|\.))?(?:do|debug_|prop_|static_)?(?:assert|refute|XCTAssert|expect)\w*!?[\s(.]"
    r"|\s*(?:\w+(?:::|\.))?(?:check|require|ensure|verify|must|should)\w*!?[\s(].*(?:[=!<>~]=|\bis\b)",
    re.I,
)
_OF_PERL = re.compile(r"\s*(?:is|isnt|ok|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok)[\s(]")
_NOTHING = re.compile(r"\s*(?:$|#(?!\[)|//|--|;|/?\*)")
_LONGEST = 2000


def asserts_alone(files: Sequence[FileChange]) -> bool:
    """Whether all lines that a patch of these files takes out and puts in assert something; blank
    lines and comments aside."""
    if any(file.old is None for file in files):  # what is new, or cannot be read
        return False
    asserting = [
        bool(_ASSERTS.match(line) or (_is_perl(file.path) and _OF_PERL.match(line)))
        for file in files
        for line in _changed(file)
    ]
    return bool(asserting) and all(asserting)


def _is_perl(path: str) -> bool:
    return path.endswith((".pl", ".pm", ".t"))


def _changed(file: FileChange) -> Iterator[str]:
    old, new = (Counter((text or "").splitlines()) for text in (file.old, file.new))
    for line in ((old - new) + (new - old)).elements():
        if not _NOTHING.match(line):
            yield line[:_LONGEST]

"""What line and brace readers share: text without comments and strings, and where blocks end.

Nothing here knows a grammar. Positions are the same in all three texts of a `BraceSource`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

_DOUBLE = r'"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+(?:"|(?=\n)|\Z)'
_SINGLE = r"'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+(?:'|(?=\n)|\Z)"
_SLASHES = r"//[^\n]*+"
_BLOCK = r"/\*(?:[\s\S]*?\*/|[\s\S]*+)"
_HASH = r"(?<![^\s;])#[^\n]*+"
_TICKS = r"`[^`\\]*+(?:\\[\s\S][^`\\]*+)*+(?:`|\Z)"
_RAW_TICKS = r"`[^`]*+(?:`|\Z)"
_TRIPLE = r'"""(?:[\s\S]*?"""|[\s\S]*+)'
_RUST_RAW = r'\br(?P<fence>#*)"(?:[\s\S]*?"(?P=fence)|[\s\S]*+)'
_RUST_CHAR = r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_REGEX = r"(?<=[=(,:!&|?{};\n])[ \t]*/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*"

Family = Literal["javascript", "go", "rust", "jvm", "ruby", "python", "shell"]

_SKIPPED: Mapping[Family, tuple[str, str]] = {
    "javascript": (f"{_SLASHES}|{_BLOCK}", f"{_DOUBLE}|{_SINGLE}|{_TICKS}|{_REGEX}"),
    "go": (f"{_SLASHES}|{_BLOCK}", f"{_DOUBLE}|{_RUST_CHAR}|{_RAW_TICKS}"),
    "rust": (f"{_SLASHES}|{_BLOCK}", f"{_RUST_RAW}|{_DOUBLE}|{_RUST_CHAR}"),
    "jvm": (f"{_SLASHES}|{_BLOCK}", f"{_TRIPLE}|{_DOUBLE}|{_RUST_CHAR}"),
    "ruby": (
        r"(?:^|(?<=\n))=begin\b(?:[\s\S]*?\n=end\b[^\n]*+|[\s\S]*+)|" + _HASH,
        f"{_DOUBLE}|{_SINGLE}",
    ),
    "python": (_HASH, rf"{_TRIPLE}|'''(?:[\s\S]*?'''|[\s\S]*+)|{_DOUBLE}|{_SINGLE}"),
    "shell": (_HASH, f"{_DOUBLE}|'[^']*+(?:'|\\Z)"),
}
_PATTERNS = {
    family: re.compile(f"(?P<comment>{comment})|(?P<string>{string})")
    for family, (comment, string) in _SKIPPED.items()
}
_NOT_NEWLINE = re.compile(r"[^\n]")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_BRACKET = re.compile(r"[()\[\]{}]")


@dataclass(slots=True)
class BraceSource:
    """`code` has no comments, `bare` neither comments nor what strings say; `comments` are the
    comments, with the line each starts on."""

    text: str
    code: str
    bare: str
    comments: list[tuple[int, str]]
    ends: dict[int, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    read: int = 0
    """Characters that were read of it so far, each as often as it was."""

    @property
    def tangled(self) -> bool:
        """Whether what was read of it is far more than it has: brackets that nothing closes, or
        that lie in each other, reach far."""
        return self.read > 12 * len(self.text) + 100_000

    def line(self, at: int) -> int:
        """The line of a position, from 1."""
        return bisect_right(self.starts, at)

    def inside(self, opening: int) -> tuple[int, int]:
        """From after a bracket to before the one that closes it, or to the text's end."""
        return opening + 1, self.ends.get(opening, len(self.text))

    def parts(self, start: int, end: int, separator: str = ",") -> Iterator[str]:
        """The parts of a list, each on one line and without spaces that mean nothing."""
        for first, last in self.spans(start, end, separator):
            part = self.squeezed(first, last)
            if part:
                yield part

    def squeezed(self, start: int, end: int) -> str:
        """A piece of the code, squeezed; nothing any more where it is `tangled`."""
        if self.tangled:
            return ""
        end = min(end, start + _LONGEST)
        self.read += max(0, end - start)
        return squeeze(self.code[start:end])

    def spans(self, start: int, end: int, separator: str = ",") -> Iterator[tuple[int, int]]:
        """Where those parts lie."""
        at = first = start
        pattern = re.compile(rf"[(\[{{{re.escape(separator)}]")
        while (match := pattern.search(self.bare, at, end)) is not None:
            at = match.end()
            if match[0] == separator:
                yield first, match.start()
                first = at
            else:
                at = min(end, self.ends.get(match.start(), end) + 1)
        yield first, end


def source(text: str, family: Family) -> BraceSource:
    """Reads a text once, in time that grows with its length."""
    comments: list[tuple[int, str]] = []
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    code: list[str] = []
    bare: list[str] = []
    at = 0
    for match in _PATTERNS[family].finditer(text):
        start, end = match.span()
        between = text[at:start]
        code.append(between)
        bare.append(between)
        at = end
        if match.lastgroup == "comment" or match["comment"] is not None:
            comments.append((bisect_right(starts, start), match[0]))
            blank = _NOT_NEWLINE.sub(" ", match[0])
            code.append(blank)
            bare.append(blank)
        else:
            code.append(match[0])
            bare.append(_hollow(match[0]))
    code.append(text[at:])
    bare.append(text[at:])
    whole = BraceSource(text, "".join(code), "".join(bare), comments, {}, starts)
    _match(whole)
    return whole


def _hollow(string: str) -> str:
    """A string that says nothing, as long as it was: brackets in it are none."""
    if len(string) < 2:
        return string
    return string[0] + _NOT_NEWLINE.sub("_", string[1:-1]) + string[-1]


def _match(whole: BraceSource) -> None:
    """Notes where each bracket is closed; one that is closed by another kind never is."""
    opened: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(whole.bare):
        sign = match[0]
        if sign in _OPEN:
            opened.append((_OPEN[sign], match.start()))
        elif opened and opened[-1][0] == sign:
            whole.ends[opened.pop()[1]] = match.start()
        else:
            # A stray one: look a few levels up, else pass over it.
            for back in range(2, min(len(opened), 6) + 1):
                if opened[-back][0] == sign:
                    whole.ends[opened[-back][1]] = match.start()
                    del opened[-back:]
                    break


_LONGEST = 4000
"""Characters of a piece of code that are looked at."""

_SPACES = re.compile(r"\s+")
_AROUND = re.compile(r"\s*([^\w\s$\"'`@])\s*")
_TRAILING = re.compile(r",([)\]}])")
_QUOTED = re.compile(r"'([^'\"\\\n]*+)'|`([^`\"\\$\n]*+)`")


def squeeze(text: str) -> str:
    """A piece of code in one way of writing it: spaces, quotes and trailing commas as a formatter
    might have them."""
    flat = _SPACES.sub(" ", text[:_LONGEST]).strip().rstrip(";")
    flat = _AROUND.sub(r"\1", flat)
    flat = _TRAILING.sub(r"\1", flat)
    return _QUOTED.sub(lambda match: f'"{match[1] or match[2] or ""}"', flat)

"""The parts of a Python file that both of its versions have, left out.

Most files of a patch change in one place; what is the same on both sides is not parsed. Lines
keep their numbers.
"""

from __future__ import annotations

import re
from collections import Counter

_TOP = re.compile(r"^(?=[A-Za-z_@])", re.M)
_TEST = re.compile(r"(?:@[^\n]*\n(?:[ \t)\]][^\n]*\n)*)*(?:async[ \t]+)?def[ \t]+(test\w*)")
_GOES_ON = ("else", "elif", "except", "finally")


def pieces(text: str) -> list[str]:
    """Its statements at the top, decorators with what they decorate."""
    found: list[str] = []
    joins = False
    for piece in _TOP.split(text):
        if found and (joins or piece.startswith(_GOES_ON)):
            found[-1] += piece
        else:
            found.append(piece)
        joins = piece.startswith("@")
    return found


def trimmed(old: str, new: str) -> tuple[str, str]:
    """Both without any statement at the top that is in both."""
    before, after = pieces(old), pieces(new)
    same = Counter(before) & Counter(after)
    return _without(before, same), _without(after, same)


def trimmed_tests(old: str, new: str) -> tuple[str, str]:
    """Both without tests at the top that are in both, where nothing else differs but tests:
    a helper, a name or a mark could change what a test asks though its own text is the same."""
    before, after = pieces(old), pieces(new)
    same = Counter(before) & Counter(after)
    named = [(piece, found[1] if (found := _TEST.match(piece)) else "") for piece in before]
    names = {name for piece, name in named if name and piece in same}
    other = [piece for piece in (*before, *after) if piece not in same]
    if not names or any(_TEST.match(piece) is None for piece in other if piece.strip()):
        return old, new
    text = "\n".join(other)
    twice = {name for name, count in Counter(name for _, name in named).items() if count > 1}
    shadowed = {name for name in names if name in text} | twice
    for piece, name in named:
        if not name or name in shadowed:
            same.pop(piece, None)
    return _without(before, same), _without(after, same)


def _without(many: list[str], same: Counter[str]) -> str:
    left = Counter(same)
    kept: list[str] = []
    for piece in many:
        if left[piece] > 0:
            left[piece] -= 1
            kept.append("\n" * piece.count("\n"))
        else:
            kept.append(piece)
    return "".join(kept)

"""The parts of a Python file that both of its versions have, left out.

Most files of a patch change in one place; what is the same on both sides is not parsed. Lines
keep their numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from hydra.analysis.tampering.quotations import flattened

_TOP = re.compile(r"^(?=[A-Za-z_@])", re.M)
_GOES_ON = ("else", "elif", "except", "finally")


def pieces(text: str) -> list[str]:
    """Its statements at the top, decorators with what they decorate. A line in a text begins none,
    though it is not indented."""
    names: list[str] = []
    joins = False
    tops = [top.start() for top in _TOP.finditer(flattened(text))]
    for start, end in pairwise((0, *tops, len(text))):
        piece = text[start:end]
        if names and (joins or piece.startswith(_GOES_ON)):
            names[-1] += piece
        else:
            names.append(piece)
        joins = piece.startswith("@")
    return names


def trimmed(old: str, new: str) -> tuple[str, str]:
    """Both without any statement at the top that is in both."""
    before, after = pieces(old), pieces(new)
    same = Counter(before) & Counter(after)
    return _without(before, same), _without(after, same)


def _without(many: list[str], same: Counter[str]) -> str:
    mapping = Counter(same)
    names: list[str] = []
    for piece in many:
        if mapping[piece] > 0:
            mapping[piece] -= 1
            names.append("\n" * piece.count("\n"))
        else:
            names.append(piece)
    return "".join(names)

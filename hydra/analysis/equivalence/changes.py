"""Which lines a patch changes in a file, and which functions those lines are in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from hydra.analysis.equivalence.outline import owners
from hydra.analysis.patch import FileChange

MOST = 512 * 1024
"""Characters of a text; a longer one is not looked into: the file stands for it."""

_LINES = 4000
_PAIRS = 20_000
"""Lines that changed, and pairs of equal lines among them: what a line diff may cost."""

_SAYS = re.compile(r"\w")


def functions(file: FileChange) -> frozenset[str]:
    """The functions, methods and classes that a patch changes; "" is what lies in none.

    What only moved in or out, or was broken into other lines, is not changed.
    """
    if max(len(file.old or ""), len(file.new or "")) > MOST or file.unread or file.binary:
        return frozenset(("",))
    old, new = (file.old or "").split("\n"), (file.new or "").split("\n")
    lines = changed(old, new)
    if lines is None:
        return frozenset(("",))
    gone, come = lines
    before = owners(file.path, old, _saying(old, gone))
    after = owners(file.path, new, _saying(new, come))
    return frozenset(before | after) or frozenset(("",))


def changed(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]] | None:
    """The lines of the old text that go and those of the new that come, from 0; None: too many."""
    start, end = ends(old, new)
    was, now = old[start : len(old) - end], new[start : len(new) - end]
    if not was or not now:
        return [*range(start, start + len(was))], [*range(start, start + len(now))]
    if len(was) + len(now) > _LINES:
        return None
    have, want = Counter(was), Counter(now)
    if sum(count * want[line] for line, count in have.items()) > _PAIRS:
        return None
    gone: list[int] = []
    come: list[int] = []
    for kind, a, b, c, d in SequenceMatcher(None, was, now).get_opcodes():
        if kind != "equal":
            gone += range(start + a, start + b)
            come += range(start + c, start + d)
    return gone, come


def ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines at the beginning, and then at the end, are the same."""
    start, end = 0, 0
    least = min(len(old), len(new))
    while start < least and old[start] == new[start]:
        start += 1
    while end < least - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def _saying(lines: Sequence[str], at: Iterable[int]) -> list[int]:
    """Without lines that hold no word: blank ones, and closing brackets, belong to anything."""
    return [place for place in at if _SAYS.search(lines[place])]

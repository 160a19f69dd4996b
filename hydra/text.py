"""What sentences have in common: names, as many as there is room for, and how many there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence, Sized

LONGEST = 80
"""Characters of one name."""

NAMED = 3
"""Names that a sentence has room for beside others; the rest are counted."""


def shortened(name: str, most: int = LONGEST) -> str:
    """A name without a part of its middle, where it is long: of tests that are to be told from each
    other the ends differ, and the beginning says whose they are."""
    head = most // 3
    return name if len(name) <= most else f"{name[:head]}\u2026{name[head + 1 - most :]}"


def quoted(test: str) -> str:
    """A test's name as it stands in prose: in quotes where it is a sentence."""
    name = shortened(test)
    return f'"{name}"' if " " in test else name


def shell_quoted(term: str) -> str:
    """A word of a line that is pasted: in double quotes where it has single ones and nothing that
    a shell would read in there."""
    plain = "'" in term and not re.search(r'[$`"\\!]', term)
    return f'"{term}"' if plain else shlex.quote(term)


def join_names(names: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`: the first `most`, and how many there are beside them."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def quoted_names(tests: Sequence[str]) -> str:
    """The same of tests: a name that is a sentence is in quotes."""
    return join_names([quoted(test) for test in tests], NAMED)


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def plural(what: Sized | int, noun: str, many: str = "") -> str:
    """`1 test`, `3 tests`, `2,000 patches`."""
    number = what if isinstance(what, int) else len(what)
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {many or noun + ('es' if noun.endswith(('ch', 's', 'x')) else 's')}"


def fail(names: Sized) -> str:
    """`fails` of one, `fail` of several."""
    return "fails" if len(names) == 1 else "fail"


def passes(names: Sized) -> str:
    """`passes` of one, `pass` of several."""
    return "passes" if len(names) == 1 else "pass"


def were(names: Sized) -> str:
    """`was` of one, `were` of several."""
    return "was" if len(names) == 1 else "were"


def nearest(name: str, names: Collection[str]) -> str:
    """The one of these that was most likely meant, "" for none."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, 1)), "")


def of_run(run: str) -> str:
    """What names a run in a line to type: ` -r` and the characters its id ends with, which no other
    run of its repository has. Of letters and figures alone, whatever a record has."""
    name = re.sub("[^0-9A-Za-z]", "", run.rpartition("-")[2])
    return f" -r {name}" if name else ""

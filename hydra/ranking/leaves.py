"""Tests in a sentence of a person's: by their own names, a few of them, the others counted."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from hydra.checks.comparison import is_file
from hydra.checks.ids import own_name
from hydra.text import plural, shortened

_LONGEST = 48
"""Characters of one that is no sentence: two of them stand in a cell."""
_TITLE = re.compile(r"\W|[^\[]* ")


def named(ids: Sequence[str]) -> str:
    """`test_up`; `3 tests (test_up, test_down and 1 more)`."""
    return leaf(ids[0]) if len(ids) == 1 else f"{plural(ids, 'test')} ({leaves(ids)})"


def leaves(ids: Sequence[str]) -> str:
    """Two names, and how many more tests there are; one that several tests have is said once."""
    names = [*dict.fromkeys(map(leaf, ids))]
    shown = names if len(names) == len(ids) == 2 else names[:2]
    more = len(ids) - len(shown)
    return f"{', '.join(shown)} and {more:,} more" if more else ", ".join(shown)


def leaf(name: str) -> str:
    """A test's own name, without its file and its class; a sentence for a name is in quotes, and
    what begins with no letter. What stands for a file of tests is its name."""
    if is_file(name):
        return posixpath.basename(name)
    own = own_name(name)
    return f'"{shortened(own)}"' if _TITLE.match(own) else shortened(own, _LONGEST)

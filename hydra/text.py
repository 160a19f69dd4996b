"""Names in a sentence: as many as there is room for. The name of a run in a line to type."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 80
"""Characters of one name."""


def shortened(name: str, most: int = LONGEST) -> str:
    """A name without a part of its middle, where it is long: of tests that are to be told from each
    other the ends differ, and the beginning says whose they are."""
    head = most // 3
    return name if len(name) <= most else f"{name[:head]}\u2026{name[head + 1 - most :]}"


def quoted(test: str) -> str:
    """A test's name as it stands in prose: in quotes where it is a sentence."""
    name = shortened(test)
    return f'"{name}"' if " " in test else name


def join_names(names: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`: the first `most`, and how many there are beside them."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def of_run(run: str) -> str:
    """What names a run in a line to type: ` -r` and the characters its id ends with, which no other
    run of its repository has. Of letters and figures alone, whatever a record has."""
    name = re.sub("[^0-9A-Za-z]", "", run.rpartition("-")[2])
    return f" -r {name}" if name else ""

"""A check that reads the user's checkout in place of its own tree, by what it prints.

Where a lane is mounted at the checkout's path there is no other to read. Where nothing mounts it,
a traceback or a report that names a file of the checkout says that the check has read it there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MOST = 8 * 1024 * 1024
_NAMED = 200
"""Paths that are looked at."""


def checkout_file(output: Path, checkout: Path, tree: Path) -> str:
    """The first file of `checkout` that `output` names and that `tree` has too, from the top; "" if
    there is none: what is in the checkout alone (an environment, say) is no part of a patch."""
    names = (name for name in _names(output, checkout) if (tree / name).is_file())
    return next((name for name in names if (checkout / name).is_file()), "")


def _names(output: Path, checkout: Path) -> Iterator[str]:
    try:
        with output.open("rb") as file:
            data = file.read(_MOST)
    except OSError:
        return
    pattern = re.escape(os.fsencode(checkout)) + rb"""/([^\s"'`:,;()\[\]<>]+)"""
    names: dict[str, None] = {}
    for match in re.finditer(pattern, data):
        name = os.fsdecode(match[1])
        if name not in names and ".." not in Path(name).parts:
            names[name] = None
            yield name
        if len(names) > _NAMED:
            return

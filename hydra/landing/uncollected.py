"""A while without Python's search for cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """For work of a second that makes many small objects and no cycles: every search would go
    through all of them again (measured: 39 searches for a landing of 2,000 files)."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

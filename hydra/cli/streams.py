"""Writing to a stream that somebody may hold up."""

from __future__ import annotations

import os
import select
from typing import IO, Any


def write_through(stream: IO[Any], data: bytes) -> None:
    """Writes all of `data`, past Python's own buffer.

    That has a lock: while a reader holds up the thread that watches, it would hold up the end of
    the whole program too, and no Ctrl-C would help.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(stream.fileno(), view) :]
        except BlockingIOError:  # somebody else made it so, a terminal is shared
            select.select([], [stream], [])

"""Writing to a stream that somebody may hold up."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

from hydra.cli.common import is_terminal


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


def progress(options: Mapping[str, Any]) -> Callable[[str], None]:
    """Who is told on stderr what a command waits for: a line each. Nobody under `--quiet`, nor in
    a pipe beside a document."""
    document = options.get("as_json") or options.get("events")
    if options.get("quiet") or (document and not is_terminal(sys.stderr)):
        return lambda _: None
    return _tell


def _tell(text: str) -> None:
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        raise  # nobody reads it any more
    except OSError:
        pass  # a full disk behind `2>`: it goes on unseen

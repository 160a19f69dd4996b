"""What a command prints on, and how: documents, tables, lines on stderr, the watcher of a race."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from hydra.race.follower import RaceWatcher


NARROWEST = 20


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a person reads this stream; one that is closed is no terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def use_color(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour: NO_COLOR, then FORCE_COLOR, then whether it is an able terminal."""
    from hydra.report.style import wants_color

    return wants_color(environ, is_terminal(stream))


def terminal_width(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> int:
    """Columns: COLUMNS where it is set, else the terminal's, else 80; never fewer than 20."""
    named = environ.get("COLUMNS", "")[:6]
    if named.isascii() and named.isdigit() and int(named):
        return max(int(named), NARROWEST)
    try:
        columns = os.get_terminal_size(stream.fileno() if stream else -1).columns
    except (OSError, ValueError):
        columns = 0
    return max(columns or 80, NARROWEST)  # a terminal over a serial line says 0


def terminal_height(stream: IO[str]) -> int:
    """Rows of the terminal that is drawn on, not that of stdout; 24 where none says."""
    try:
        return os.get_terminal_size(stream.fileno()).lines or 24
    except (OSError, ValueError):
        return 24


def show(output: Mapping[str, object] | str | bytes) -> None:
    """On stdout: a document as `--json` prints it, a text, or bytes as they are.

    Commands print here, and on stderr by `note`: whatever fails in this room is a lost output.
    """
    if isinstance(output, bytes):
        sys.stdout.buffer.write(output)
        return
    if not isinstance(output, str):
        from hydra.records.codec import dump

        output = dump(output)
    sys.stdout.write(output)


def flush() -> None:
    """What was shown is out from here on."""
    sys.stdout.flush()


def note(text: str) -> None:
    """On stderr, as it is."""
    sys.stderr.write(text)
    sys.stderr.flush()


def say(line: str, *, plain: bool = False) -> None:
    """A line on stderr, clean of control characters; `plain` without Hydra's name before it."""
    from hydra.report.text import clean

    note(f"{'' if plain else 'hydra: '}{clean(line)}\n")


def tell_check(lane: str, kind: str, data: Mapping[str, object]) -> None:
    """What goes on in a check, as a line on stderr."""
    from hydra.report.checks import line

    if text := line(lane.removeprefix("_"), kind, data):
        note(f"{text}\n")


def cells(stream: IO[str]) -> int | None:
    """The width to fit a table into; None into a pipe or a file, where nothing is wrapped."""
    if is_terminal(stream) or os.environ.get("COLUMNS"):
        return terminal_width(stream)
    return None


def looks() -> dict[str, Any]:
    """How stdout takes a table: its `width`, and whether in `color`."""
    return {"width": cells(sys.stdout), "color": use_color(sys.stdout)}


def lines_width(stream: IO[str]) -> int | None:
    """The width to fold sentences at; None where no person reads along, whatever COLUMNS says: who
    looks for one in a log finds it whole."""
    return terminal_width(stream) if is_terminal(stream) else None


def part() -> None:
    """An empty line between what was watched and the result, where a person sees both."""
    if is_terminal(sys.stderr) and is_terminal(sys.stdout):
        note("\n")


def progress(options: Mapping[str, Any]) -> Callable[[str], None]:
    """Who is told on stderr what a command waits for: a line each. Nobody under `--quiet`, nor in
    a pipe beside a document."""
    document = options.get("as_json") or options.get("events")
    if options.get("quiet") or (document and not is_terminal(sys.stderr)):
        return lambda _: None
    return _tell


def _tell(text: str) -> None:
    try:
        say(text, plain=True)
    except BrokenPipeError:
        raise  # nobody reads it any more
    except OSError:
        pass  # a full disk behind `2>`: it goes on unseen


def watcher(stream: TextIO) -> RaceWatcher:
    """A live table on a terminal that can draw one, else a plain line an event."""
    from hydra.report.live import LiveTable
    from hydra.report.stream import PlainLines
    from hydra.report.style import wants_live

    def write(text: str) -> None:
        try:
            write_through(stream, text.encode(stream.encoding, stream.errors or "strict"))
        except BrokenPipeError:
            raise  # the terminal has gone, and the race ends with it
        except OSError:
            pass  # a full disk behind `2>`: the race goes on unseen

    if not wants_live(os.environ, is_terminal(stream)):
        return PlainLines(write)

    def size() -> tuple[int, int]:
        return terminal_width(stream), terminal_height(stream)

    return LiveTable(write, size, use_color(stream))


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

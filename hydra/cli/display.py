"""How a command shows itself: documents, tables, lines on stderr, the watcher of a race."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, TextIO

import click

from hydra.cli.common import F, is_terminal, terminal_height, terminal_width, use_color
from hydra.cli.streams import write_through

if TYPE_CHECKING:
    from hydra.race.follower import RaceWatcher


def experimental_option(
    help: str = "Look for experimental agents too, which runs their programs.",
) -> Callable[[F], F]:
    """`--allow-experimental-adapters`, as `experimental`."""
    name = "--allow-experimental-adapters"
    return click.option(name, "experimental", is_flag=True, help=help)


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

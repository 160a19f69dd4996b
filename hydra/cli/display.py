"""How a command shows itself on the stream it was given: width, and the watcher of a race."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar

import click

from hydra.cli.common import is_terminal, terminal_height, terminal_width, use_color
from hydra.cli.streams import write_through

if TYPE_CHECKING:
    from hydra.race.follower import RaceWatcher

F = TypeVar("F", bound=Callable[..., Any])


def experimental_option(function: F) -> F:
    """`--allow-experimental-adapters`, as `experimental`."""
    return click.option(
        "--allow-experimental-adapters",
        "experimental",
        is_flag=True,
        help="Look for experimental agents too, which runs their programs.",
    )(function)


def cells(stream: IO[str]) -> int | None:
    """The width to fit a table into; None into a pipe or a file, where nothing is wrapped."""
    if is_terminal(stream) or os.environ.get("COLUMNS"):
        return terminal_width(stream)
    return None


def lines_width(stream: IO[str]) -> int | None:
    """The width to fold sentences at; None where no person reads along, whatever COLUMNS says: who
    looks for one in a log finds it whole."""
    return terminal_width(stream) if is_terminal(stream) else None


def part() -> None:
    """An empty line between what was watched and the result, where a person sees both."""
    if is_terminal(sys.stderr) and is_terminal(sys.stdout):
        sys.stderr.write("\n")
        sys.stderr.flush()


def progress(options: Mapping[str, Any]) -> Callable[[str], None]:
    """Who is told on stderr what a command waits for: a line each. Nobody under `--quiet`, nor in
    a pipe beside a document."""
    document = options.get("as_json") or options.get("events")
    if options.get("quiet") or (document and not is_terminal(sys.stderr)):
        return lambda _: None
    return _tell


def _tell(text: str) -> None:
    from hydra.report.text import clean

    try:
        sys.stderr.write(f"{clean(text)}\n")
        sys.stderr.flush()
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

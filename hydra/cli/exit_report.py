"""However a command ended badly: words for a person or a document, and an exit code."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

import click

from hydra.errors import EXIT_INTERRUPTED, HydraError, Refused, UsageError
from hydra.redaction import redacted
from hydra.shortage import shortage

EXIT_BUG = 70
"""An error nobody raised on purpose (EX_SOFTWARE of sysexits.h)."""
EXIT_OUTPUT = 74
"""Standard output could not be written: a full disk (EX_IOERR)."""
EXIT_PIPE = 141
"""The reader closed the pipe: what a shell shows for git and gh, which die of SIGPIPE."""


class Bug(HydraError):
    """An exception that is a mistake in Hydra and not in what it was asked."""

    exit_code = EXIT_BUG


class OutputLost(HydraError):
    """Standard output could not be written."""

    exit_code = EXIT_OUTPUT


def tell(error: BaseException, *, as_json: bool, streams: bool = False) -> int:
    """Says what happened where it belongs, and gives the exit code.

    `streams`: stdout is a stream of events, which gets the error's document as one more line.
    """
    value = _exit_code(error)
    if isinstance(value, int):
        return value
    try:
        if isinstance(value, Bug):
            import traceback

            from hydra.report.text import clean

            text = "".join(traceback.format_exception(error))
            sys.stderr.write(clean(text, multiline=True))
        lost_output = isinstance(value, OutputLost)
        if streams and not as_json and not lost_output:
            _print_error(value, as_line=True)
        _print_error(value, as_json=as_json and not lost_output)
    except OSError as lost:
        if as_json or streams:
            return tell(lost, as_json=False)
        silence(sys.stderr)  # nobody reads it either
    return value.exit_code


def _exit_code(error: BaseException) -> HydraError | int:
    """An error in Hydra's own words, or only an exit code where there is nothing to say."""
    causes = list(_leaves(error))
    for cause in causes:
        if isinstance(cause, KeyboardInterrupt | click.Abort):
            return EXIT_INTERRUPTED
        if isinstance(cause, SystemExit):
            return cause.code if isinstance(cause.code, int) else int(cause.code is not None)
    for cause in causes:
        if isinstance(cause, OSError) and _raised_while_printing(cause):
            silence(sys.stdout)
            if cause.errno == errno.EPIPE:
                return EXIT_PIPE
            return OutputLost(f"standard output cannot be written: {cause.strerror}")
    reasons = [reason for cause in causes if (reason := _reason(cause))]
    if len(reasons) == len(causes):
        return reasons[0]
    if isinstance(error, FileNotFoundError) and not _stands_somewhere():
        return Refused("the folder you are in is gone", hint="change to one that is there")
    return Bug(
        f"this is a bug in Hydra: {type(error).__name__}: {error}".rstrip(": "),
        hint="please report it with the traceback above and what you ran",
    )


def _reason(cause: BaseException) -> HydraError | None:
    """The same of one error; None where it is a mistake in Hydra."""
    if isinstance(cause, HydraError):
        return cause
    return _from_click(cause) if isinstance(cause, click.ClickException) else shortage(cause)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """What a nursery's group holds, however deep; an error alone is its own."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _stands_somewhere() -> bool:
    with suppress(OSError):
        return bool(os.getcwd())  # noqa: PTH109  pathlib would be one more import
    return False


def _raised_while_printing(error: OSError) -> bool:
    """Whether it came out of a room that writes nothing but the standard streams.

    The error itself does not say: a full disk under stdout and one under the state folder read
    alike, and whether something is left to flush depends on PYTHONUNBUFFERED.
    """
    room, frame = "", error.__traceback__
    while frame:
        room, frame = frame.tb_frame.f_globals.get("__name__", ""), frame.tb_next
    return room.startswith(("hydra.cli", "hydra.report", "click."))


def _from_click(error: click.ClickException) -> UsageError:
    ctx = getattr(error, "ctx", None)
    hint = f"`{ctx.command_path} --help` shows how it is used" if ctx else ""
    message = " ".join(error.format_message().split())
    return UsageError(message[:1].lower() + message[1:].rstrip("."), hint=hint)


def _print_error(error: HydraError, *, as_json: bool = False, as_line: bool = False) -> None:
    from hydra.cli.streams import lines_width, show, use_color

    if as_json or as_line:
        import json

        from hydra.report.document import error_document

        document = error_document(error)
        line = f"{json.dumps(redacted(document), separators=(',', ':'))}\n"
        show(line if as_line else document)
        sys.stdout.flush()
    else:
        from hydra.report.text import error_text

        width = lines_width(sys.stderr)
        sys.stderr.write(error_text(error, color=use_color(sys.stderr), width=width))


def silence(stream: TextIO) -> None:
    """Sends what is still buffered to nowhere: Python would complain of it while it ends."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)

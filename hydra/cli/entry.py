"""Runs one command: what `hydra` does between its arguments and its exit code.

click's own `main` is not used: it ends the process itself, hides a closed pipe as exit 1, and
speaks of errors in a form of its own.
"""

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from hydra import executables
from hydra.cli.group import hydra
from hydra.redaction import notice

_COMPLETE = ("_HYDRA_COMPLETE", "_HYDRA_RACE_COMPLETE")


def run(arguments: Sequence[str]) -> int:
    """Runs `hydra ARGUMENTS`; every error has been told when it returns the exit code."""
    _fill_closed_streams()
    executables.guard()
    notice(*arguments)
    _print_what_the_locale_cannot()
    try:
        completed = _completion(arguments)
        code = _invoke(arguments) if completed is None else completed
        sys.stdout.flush()
    except BaseException as error:
        from hydra.cli.exit_report import tell

        streams = _has_option(arguments, "--events")
        code = tell(error, as_json=_has_option(arguments, "--json"), streams=streams)
    _drop_what_stderr_cannot_take()
    return code


def _invoke(arguments: Sequence[str]) -> int:
    try:
        with hydra.make_context("hydra", list(arguments)) as ctx:
            result = hydra.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except SystemExit as end:  # a command's own; what it printed has still to be flushed
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return result if isinstance(result, int) else 0


def _completion(arguments: Sequence[str]) -> int | None:
    names = [name for name in _COMPLETE if os.environ.get(name)]
    if not names:
        return None
    from click.shell_completion import shell_complete

    program = "hydra-race" if "RACE" in names[0] else "hydra"
    return shell_complete(hydra, {}, program, names[0], os.environ[names[0]])


def _has_option(arguments: Sequence[str], name: str) -> bool:
    # Read from the words themselves: the error may be that they could not be parsed.
    return name in arguments[: [*arguments, "--"].index("--")]


def _print_what_the_locale_cannot() -> None:
    # A file's name that is not UTF-8, or a stream that is ASCII, is shown escaped: never a crash.
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # closed, or a test's own
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _drop_what_stderr_cannot_take() -> None:
    # Else Python finds it while it ends, complains, and makes 120 of the exit code.
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        from hydra.cli.exit_report import silence

        silence(sys.stderr)


def _fill_closed_streams() -> None:
    """Puts /dev/null where a standard stream is closed, as git does.

    Else the next file to be opened would get its number, and what is printed would go into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def leave(code: int) -> None:
    """Ends the process as Python would, but without taking every module apart first.

    That alone is 0.7x of `python -c pass` once click is loaded. What was registered to run at exit
    runs; where threads are left the caller must end in the ordinary way, which waits for them.
    """
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)

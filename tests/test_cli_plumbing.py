"""What every command stands on: start-up, errors, exit codes, help, completion, closed pipes."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from hydra import __version__
from hydra.cli import exit_report, main
from hydra.cli.common import Command, json_option, require_race_platform
from hydra.cli.group import COMMANDS, hydra
from hydra.cli.streams import terminal_width, use_color
from hydra.errors import NoAgentReady, RecordError, Refused, UsageError

Install = Callable[[Callable[[], object]], None]
Printed = pytest.CaptureFixture[str]


def python(*args: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, timeout=60, **more
    )


def hydra_process(*args: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return python("-m", "hydra", *args, **more)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a function in the place of `hydra doctor`."""

    def install(function: Callable[[], object]) -> None:
        @click.command(cls=Command)
        @json_option
        def doctor(as_json: bool) -> object:
            return function()

        monkeypatch.setattr(type(hydra), "get_command", lambda self, ctx, name: doctor)

    return install


def raising(error: BaseException) -> Callable[[], object]:
    def function() -> object:
        raise error

    return function


# --- help ------------------------------------------------------------------------------------


def test_help_is_on_stdout_however_it_is_asked_for() -> None:
    assert hydra_process("--version").stdout == f"hydra {__version__}\n"
    processes = [hydra_process(*args) for args in (["--help"], ["-h"], [], ["help"])]
    assert {(process.stdout, process.stderr, process.returncode) for process in processes} == {
        (processes[0].stdout, "", 0)
    }
    for name, text in COMMANDS.items():
        assert name in processes[0].stdout
        assert text in processes[0].stdout
    assert hydra_process("help", "runs").stdout == hydra_process("runs", "--help").stdout


def test_help_of_every_command_loads_nothing_that_a_command_works_with() -> None:
    """Completion loads a command as its help does; a race's imports take half a second."""
    code = (
        "import contextlib, io, sys; from hydra.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    codes = {main([*name.split(), '--help']) for name in sys.argv[1:]}\n"
        "rooms = {'.'.join(name.split('.')[:2]) for name in sys.modules if name[:6] == 'hydra.'}\n"
        "print(codes, 'trio' in sys.modules, *sorted(rooms))\n"
    )
    names = (*COMMANDS, "runs show", "runs path", "runs rm")
    rooms = {"cli", "commands", "conformance", "config", "records"}
    rooms |= {"errors", "executables", "log", "redaction"}
    loaded = python("-c", code, *names).stdout.split()
    assert loaded[:2] == ["{0}", "False"]
    assert {name.removeprefix("hydra.") for name in loaded[2:]} <= rooms


# --- errors and exit codes -------------------------------------------------------------------


def test_what_people_type_for_a_command_names_its_line(capsys: Printed) -> None:
    for name, line in (
        *(("rcae", "hydra race"), ("undo", "hydra merge --undo"), ("Status", "hydra runs show")),
        ("export", "hydra diff LANE --mbox"),
    ):
        assert main([name]) == 2
        text = f'error: there is no command "{name}"\nhint: did you mean `{line}`?\n'
        assert capsys.readouterr().err == text
    assert main(["Fix the pager's bug"]) == 2
    assert """hint: hydra race 'Fix the pager'"'"'s bug'""" in capsys.readouterr().err
    for args, message in (
        (["runs", "--nope"], "no such option"),
        (["completion"], "missing argument 'SHELL'"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ):
        assert main(args) == 2
        text = capsys.readouterr().err
        assert (text.startswith("error: "), message in text) == (True, True)
        assert "--help` shows how it is used" in text


@pytest.mark.parametrize(
    ("error", "code"),
    [
        *((UsageError("what", hint="next"), 2), (Refused("what", hint="next"), 3)),
        *((NoAgentReady("what", hint="next"), 4), (RecordError("what", hint="next"), 6)),
    ],
)
def test_an_error_of_ours_has_its_exit_code_and_no_traceback(
    error: UsageError, code: int, command: Install, capsys: Printed
) -> None:
    command(raising(error))
    assert main(["doctor"]) == code
    result = capsys.readouterr()
    assert (result.out, result.err) == ("", "error: what\nhint: next\n")
    # With --json it is a document on stdout, and stderr stays empty.
    assert main(["doctor", "--json"]) == code
    result = capsys.readouterr()
    document = json.loads(result.out)
    assert (document["kind"], document["exit_code"]) == ("error", code)
    assert document["error"]["message"] == "what"
    assert document["error"]["hint"] == "next"
    assert result.err == ""


def test_json_is_heard_even_where_the_line_cannot_be_parsed(capsys: Printed) -> None:
    assert main(["runs", "--nope", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "UsageError"
    assert main(["runs", "--nope", "--", "--json"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda: None, 0),
        (lambda: 4, 4),
        (lambda: sys.exit(1), 1),
        (lambda: click.get_current_context().exit(6), 6),
        (raising(KeyboardInterrupt()), 130),
        (raising(click.Abort()), 130),
        (raising(BaseExceptionGroup("", [KeyboardInterrupt(), ValueError()])), 130),
        (raising(ExceptionGroup("", [ExceptionGroup("", [Refused("what")])])), 3),
        (raising(ExceptionGroup("", [OSError(errno.EMFILE, "Too many open files")])), 71),
        (raising(OSError(errno.ENOSPC, "No space left on device", "/s/f")), 71),
        (raising(RuntimeError("can't start new thread")), 71),
        (raising(MemoryError()), 71),
    ],
)
def test_how_a_command_can_end(
    function: Callable[[], object], code: int, command: Install, capsys: Printed
) -> None:
    command(function)
    assert main(["doctor"]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_says_that_it_is_one(command: Install, capsys: Printed) -> None:
    command(raising(KeyError("a\x1b]0;title\x07b")))
    assert main(["doctor"]) == exit_report.EXIT_BUG == 70
    text = capsys.readouterr().err
    assert text.startswith("Traceback")
    assert "error: this is a bug in Hydra: KeyError" in text
    assert "\x1b" not in text
    assert main(["doctor", "--json"]) == 70
    said_as_json = capsys.readouterr()
    assert json.loads(said_as_json.out)["error"]["kind"] == "Bug"
    assert said_as_json.err.startswith("Traceback")


def test_a_full_disk_elsewhere_is_not_taken_for_a_lost_output(
    command: Install, capsys: Printed
) -> None:
    command(raising(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert main(["doctor"]) == 70
    assert "bug in Hydra: BrokenPipeError" in capsys.readouterr().err


@pytest.mark.parametrize("thread", [False, True])
def test_the_process_ends_with_what_was_registered_and_what_still_runs(thread: bool) -> None:
    """Modules are not taken apart, but exit functions run and a thread's work is waited for."""
    code = (
        "import atexit, sys, threading, click; from hydra.cli import group, main\n"
        "def work():\n"
        "    threading.main_thread().join()\n"
        "    print('worked')\n"
        "@click.command()\n"
        "def command():\n"
        "    atexit.register(print, 'bye')\n"
        "    if sys.argv[1:] == ['doctor', 'thread']:\n"
        "        threading.Thread(target=work).start()\n"
        "    return 4\n"
        "command.allow_extra_args = True\n"
        "group.LazyGroup.get_command = lambda self, ctx, name: command\n"
        "sys.exit(main())\n"
    )
    done = python("-c", code, "doctor", *(["thread"] if thread else []))
    assert done.stdout.split() == (["worked", "bye"] if thread else ["bye"])
    assert (done.returncode, done.stderr) == (4, "")


# --- where the output goes ---------------------------------------------------------------------


def printed_into(output: int, args: list[str], buffered: str) -> tuple[int, str]:
    """A command's exit code and stderr, its stdout being that descriptor, which is closed."""
    env = {**os.environ, "PYTHONUNBUFFERED": buffered}
    line = [sys.executable, "-m", "hydra", *args]
    done = subprocess.run(line, stdout=output, stderr=subprocess.PIPE, timeout=60, env=env)
    os.close(output)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("args", [["--version"], ["--help"], ["completion", "bash"]])
def test_a_reader_that_closes_the_pipe_ends_it_as_git_would(args: list[str], buffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert printed_into(writing, args, buffered) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize("args", [["--version"], ["completion", "bash"], ["rcae", "--json"]])
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_disk_under_stdout_is_told(args: list[str], buffered: str) -> None:
    text = "error: standard output cannot be written: No space left on device\n"
    assert printed_into(os.open("/dev/full", os.O_WRONLY), args, buffered) == (74, text)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("args", ["--help", "rcae"])
def test_closed_standard_streams(closed: str, args: str) -> None:
    line = f'"$0" -m hydra {args} {closed}'
    done = subprocess.run(["sh", "-c", line, sys.executable], capture_output=True, timeout=60)
    assert done.returncode == (2 if args == "rcae" else 0)
    assert b"Traceback" not in done.stderr


def test_an_ascii_locale_escapes_what_it_cannot_show(scratch: Path) -> None:
    odd = scratch / "caf\u00e9"
    odd.mkdir()
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path.cwd())}
    done = hydra_process("init", cwd=odd, env=env)
    assert done.returncode == 3
    assert "caf\\xe9" in done.stderr


# --- options -----------------------------------------------------------------------------------


def test_how_wide() -> None:
    assert terminal_width(io.StringIO(), {"COLUMNS": "120"}) == 120
    assert terminal_width(io.StringIO(), {"COLUMNS": "5"}) == 20
    assert terminal_width(io.StringIO(), {"COLUMNS": "wide"}) == 80
    assert terminal_width(None, {}) == 80
    assert not use_color(None, {"TERM": "xterm"})


def test_where_a_race_cannot_run() -> None:
    require_race_platform("linux")
    for name in ("darwin", "win32"):
        with pytest.raises(Refused, match=rf"cannot run on this platform \({name}\)") as caught:
            require_race_platform(name)
        assert caught.value.exit_code == 3
    assert "WSL" in caught.value.hint


# --- the diagnosis log -------------------------------------------------------------------------


# --- completion --------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_both_names(shell: str) -> None:
    script = hydra_process("completion", shell).stdout
    assert f"_HYDRA_COMPLETE={shell}_complete" in script
    assert f"_HYDRA_RACE_COMPLETE={shell}_complete" in script
    program = shutil.which(shell)
    if program:
        checked = subprocess.run([program, "-n"], input=script, text=True, capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def _completed(text: str, variable: str = "_HYDRA_COMPLETE") -> list[str]:
    env = {
        **os.environ,
        variable: "bash_complete",
        "COMP_WORDS": text,
        "COMP_CWORD": str(len(text.split(" ")) - 1),
    }
    lines = hydra_process(env=env).stdout.splitlines()
    return [line.partition(",")[2] for line in lines]


def test_names_of_commands_are_completed_without_importing_them() -> None:
    assert _completed("hydra r") == ["race", "runs"]
    assert _completed("hydra-race r", "_HYDRA_RACE_COMPLETE") == ["race", "runs"]


def test_options_of_a_command_are_completed() -> None:
    assert "--json" in _completed("hydra runs --j")
    assert "--retry" in _completed("hydra race --ret")  # which --help leaves out


def test_bash_itself_completes(scratch: Path) -> None:
    """The script in a real bash, against a `hydra` on PATH."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    program = scratch / "hydra"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hydra "$@"\n')
    program.chmod(0o755)
    line = (
        'eval "$(hydra completion bash)"; COMP_WORDS=(hydra do); COMP_CWORD=1;'
        '_hydra_completion hydra; echo "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PATH": f"{scratch}:{os.environ['PATH']}", "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run([bash, "-c", line], capture_output=True, text=True, env=env, timeout=60)
    assert (done.stdout, done.stderr) == ("doctor\n", "")

"""What a script can make an agent do: one function a step, found by the step's name.

docs/how-to/demo.md lists them. A step is a JSON object with one member: `{"say": "..."}`.
"""

# ruff: noqa: PTH103, PTH108, PTH116, PTH120, PTH123
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import binascii
import os
import signal
import stat
import time

from hydra.commands.demo import processes
from hydra.commands.demo.wires.base import ToolUse, encode, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from hydra.commands.demo.wires.base import Wire

_POLL = 0.01
_STOPS = (signal.SIGINT, signal.SIGTERM)


class AgentExit(BaseException):
    """The agent ends here with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class AgentStop(BaseException):
    """SIGINT or SIGTERM has come."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


class Performer:
    """Goes through the steps of one run. `shell` is the command that runs now, if any."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.shell: processes.Shell | None = None

    def perform(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Every step in order. Raises `AgentExit` at a step that ends the run."""
        for step in steps:
            for name, value in step.items():
                STEPS[name](self, value)

    def stop(self) -> None:
        """Ends the shell command that is under way, as the CLIs do on a signal."""
        if self.shell is not None:
            self.shell.kill()


# What the agent tells


def _say(run: Performer, text: str) -> None:
    run.wire.say(text)


def _think(run: Performer, text: str) -> None:
    run.wire.think(text)


def _emit(run: Performer, what: Any) -> None:
    run.wire.print(what if isinstance(what, str) else encode(what))


def _emit_base64(run: Performer, data: str) -> None:
    write(1, binascii.a2b_base64(data), run.wire.exit_on_closed_stdout)


def _stderr(run: Performer, options: Mapping[str, Any]) -> None:
    for _ in range(options["times"]):
        write(2, options["text"].encode("utf-8", "surrogateescape"))


def _flood(run: Performer, options: Mapping[str, Any]) -> None:
    fd = 2 if options["to"] == "stderr" else 1
    document, size = options["bytes"], options["line"]
    line = b"x" * (size - 1) + b"\n" if size else b"x" * 65536
    block = line * max(1, 65536 // len(line))
    while document > 0:
        write(fd, block[:document], run.wire.exit_on_closed_stdout)
        document -= len(block)


def _retry(run: Performer, options: Mapping[str, int]) -> None:
    run.wire.retry(options["attempt"], options["of"], options["status"])


# What the agent does


def _edit(run: Performer, options: Mapping[str, Any]) -> None:
    path = options["path"]
    before = _read(path)
    if "replace" in options:
        old, new = options["replace"]
        after = before.replace(old, new, 1)
        tool = ToolUse("edit", path, old=old, new=new)
        if old not in before:
            tool.exit_code, tool.output = 1, "String to replace not found in file."
    else:
        after = options["content"]
        tool = ToolUse("write", path, new=after)
    tool.existed = os.path.lexists(path)
    tool.denied = bool(options["denied"])
    run.wire.tool_started(tool)
    if tool.ok:
        _write(path, after)
    run.wire.tool_ended(tool)


def _delete(run: Performer, path: str) -> None:
    tool = ToolUse("delete", path)
    run.wire.tool_started(tool)
    os.unlink(os.fsencode(path))
    run.wire.tool_ended(tool)


def _shell(run: Performer, options: Mapping[str, Any]) -> None:
    tool = ToolUse("shell", options["show"])
    tool.denied = bool(options["denied"])
    run.wire.tool_started(tool)
    if not tool.denied:
        # A signal in here would find a command that runs and that nobody knows of yet.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        run.shell = processes.Shell(options["argv"])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        tool.exit_code, tool.output = run.shell.finish()
        run.shell = None
    run.wire.tool_ended(tool)


def _spawn_daemon(run: Performer, options: Mapping[str, Any]) -> None:
    processes.spawn_daemon(options)


def _read(path: str) -> str:
    try:
        with open(
            os.fsencode(path), encoding="utf-8", errors="surrogateescape", newline=""
        ) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _write(path: str, text: str) -> None:
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(os.fsencode(folder), exist_ok=True)
    with open(
        os.fsencode(path), "w", encoding="utf-8", errors="surrogateescape", newline=""
    ) as file:
        file.write(text)


# When, and in what order


def _pause(run: Performer, seconds: float) -> None:
    time.sleep(seconds)


def _wait_for(run: Performer, path: str) -> None:
    path = os.path.expandvars(path)
    while not os.path.lexists(path):
        time.sleep(_POLL)


def _touch(run: Performer, path: str) -> None:
    """Makes a file, or tells a waiting FIFO: those can be written on a read-only mount too."""
    path = os.path.expandvars(path)
    fifo = os.path.lexists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
    fd = os.open(path, os.O_WRONLY if fifo else os.O_WRONLY | os.O_CREAT, 0o600)
    if fifo:
        os.write(fd, b".")
    os.close(fd)


def _repeat(run: Performer, options: Mapping[str, Any]) -> None:
    for _ in range(options["times"]):
        run.perform(options["steps"])


def _hang(run: Performer, _: Any) -> None:
    # Not pause(): a signal that comes just before it would be slept through.
    while True:
        time.sleep(0.2)


# How it behaves and ends


def _ignore(run: Performer, names: Sequence[str]) -> None:
    for name in names:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def _close_stdout(run: Performer, _: Any) -> None:
    # Closed, and the number taken again, so that a later step writes nowhere and does not fail.
    os.close(1)
    null = os.open(os.devnull, os.O_WRONLY)
    if null != 1:
        os.dup2(null, 1)
        os.close(null)


def finish(run: Performer, text: str) -> None:
    """Says `text`, closes the stream as a run that went well does, and ends."""
    if text:
        run.wire.say(text)
    if not run.wire.streams:
        run.wire.print(f"{text}\n")
    raise AgentExit(run.wire.finish(text))


def _fail(run: Performer, reason: str) -> None:
    raise AgentExit(run.wire.fail(reason))


def _exit(run: Performer, code: int) -> None:
    raise AgentExit(code)


def _signal_self(run: Performer, number: int) -> None:
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)


STEPS: dict[str, Callable[[Performer, Any], None]] = {
    "say": _say,
    "think": _think,
    "edit": _edit,
    "delete": _delete,
    "shell": _shell,
    "retry": _retry,
    "finish": finish,
    "fail": _fail,
    "emit": _emit,
    "emit_base64": _emit_base64,
    "stderr": _stderr,
    "flood": _flood,
    "close_stdout": _close_stdout,
    "spawn_daemon": _spawn_daemon,
    "wait_for": _wait_for,
    "touch": _touch,
    "pause": _pause,
    "repeat": _repeat,
    "hang": _hang,
    "ignore": _ignore,
    "exit": _exit,
    "signal_self": _signal_self,
}
"""Every step by name."""

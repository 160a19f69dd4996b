"""What a script can make an agent do: one function a step, found by the step's name.

docs/how-to/demo.md lists them, with those that tests add (`tests/support/agent_steps.py`). A step
is a JSON object with one member: `{"say": "..."}`.
"""

# ruff: noqa: PTH103, PTH108, PTH120, PTH123
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import os
import select
import signal
import time

from hydra.commands.demo.wires.base import ToolUse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from hydra.commands.demo.wires.base import Wire

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


_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")
_RESET = [number for name in _NAMES if (number := getattr(signal, name, None))]  # not on Windows


class Shell:
    """One command of the agent's shell tool: a session of its own, as the real CLIs do it."""

    def __init__(self, argv: list[str]) -> None:
        reader, writer = os.pipe()
        opened = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_DUP2, writer, 2),
        ]
        try:
            self.pid = os.posix_spawnp(
                argv[0],
                argv,
                os.environ,
                file_actions=opened,
                setsid=True,
                setsigmask=(),
                setsigdef=_RESET,
            )
        finally:
            os.close(writer)
        self._reader = reader

    def finish(self) -> tuple[int, str]:
        """Exit code (128 + N for a signal) and output, once the command itself has ended.

        What it left behind may hold the pipe: it is read only as far as it is filled by then.
        """
        output = bytearray()
        code: int | None = None
        while code is None:
            code = _poll(self.pid)
            # The command's end is looked for 50 times a second: 0.1% of a core, not progress.
            while select.select([self._reader], [], [], 0 if code is not None else 0.02)[0]:
                part = os.read(self._reader, 65536)
                if not part:
                    code = _exit_code(os.waitpid(self.pid, 0)[1]) if code is None else code
                    break
                output += part
        os.close(self._reader)
        return code, output.decode("utf-8", "replace")

    def kill(self) -> None:
        """Ends the command and what is still in its session's group."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            return


def _poll(pid: int) -> int | None:
    position, status = os.waitpid(pid, os.WNOHANG)
    return _exit_code(status) if position else None


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


class Performer:
    """Goes through the steps of one run. `shell` is the command that runs now, if any."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.shell: Shell | None = None

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
    run.wire.tool_started(tool)
    # A signal in here would find a command that runs and that nobody knows of yet.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    run.shell = Shell(options["argv"])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    tool.exit_code, tool.output = run.shell.finish()
    run.shell = None
    run.wire.tool_ended(tool)


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


# How it behaves and ends


def finish(run: Performer, text: str) -> None:
    """Says `text`, closes the stream as a run that went well does, and ends."""
    if text:
        run.wire.say(text)
    if not run.wire.streams:
        run.wire.print(f"{text}\n")
    raise AgentExit(run.wire.finish(text))


STEPS: dict[str, Callable[[Performer, Any], None]] = {
    "say": _say,
    "think": _think,
    "edit": _edit,
    "delete": _delete,
    "shell": _shell,
    "finish": finish,
    "pause": _pause,
}
"""By name."""

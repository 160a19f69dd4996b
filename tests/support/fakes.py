"""Scripted agents for tests: the demo's driver, with barriers in place of sleeps.

    bin_folder = fakes.place(scratch, "claude", [fakes.edit("a.py", "x = 1\\n"), fakes.finish()])

The demo's own steps are in `hydra.commands.demo.script` and are named here again. A `Barrier`
orders a test and its agents; it works through a confinement with a read-only root as well,
because it is a FIFO: those may be written there (`Hydra.shown` shows its folder).
"""

from __future__ import annotations

import base64
import json
import os
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import trio

from hydra.commands.demo import shims
from hydra.commands.demo.script import Step as Step
from hydra.commands.demo.script import delete as delete
from hydra.commands.demo.script import edit as edit
from hydra.commands.demo.script import finish as finish
from hydra.commands.demo.script import pause as pause
from hydra.commands.demo.script import replace as replace
from hydra.commands.demo.script import say as say
from hydra.commands.demo.script import shell as shell
from hydra.commands.demo.script import think as think
from hydra.commands.demo.shims import Answer
from tests.support import agent_steps
from tests.support.processes import running, wait_until

_MORE = Path(agent_steps.__file__).read_text()

SIGNED_OUT: Mapping[str, Answer] = {
    "claude": {
        "words": ["auth", "status"],
        "stdout": shims.CLAUDE_STATUS % ("false", "none"),
        "exit": 1,
    },
    "codex": {"words": ["login", "status"], "stderr": "Not logged in\n", "exit": 1},
    "cursor-agent": {
        "words": ["status"],
        "stdout": shims.CURSOR_STATUS % ("unauthenticated", "false"),
        "exit": 1,
    },
}


def place(
    folder: Path,
    agent: str,
    steps: Sequence[Step],
    *,
    signed_in: bool = True,
    answers: Sequence[Answer] = (),
    checks_options: bool = True,
    record: Path | None = None,
    **more: Any,
) -> Path:
    """`shims.place`, with the steps that tests alone have, and for an agent that is signed out.

    `checks_options`: an option that no help text shows is refused, as by the real CLI. `record` is
    a file or FIFO that gets one JSON line a call.
    """
    answers = answers if signed_in else (*answers, SIGNED_OUT[agent])
    if record is not None:
        if not record.exists():
            record.touch()
        more["record"] = str(record)
    helps = more.get("help_texts")
    helps = shims.recorded_helps(agent) if helps is None else helps
    more["options_from"] = list(helps.values()) if checks_options else []
    return shims.place(folder, agent, steps, answers=answers, more=_MORE, **more)


def fail(reason: str = "error") -> Step:
    """The run ends by `rate_limit`, claude's by `context_overflow`, any by `error`."""
    return {"fail": reason}


def emit(event: Mapping[str, object] | str | bytes) -> Step:
    """An event as one line, or text or bytes exactly as they are (no newline added)."""
    if isinstance(event, bytes):
        return {"emit_base64": base64.b64encode(event).decode()}
    return {"emit": event if isinstance(event, str) else dict(event)}


def stderr(text: str, times: int = 1) -> Step:
    """Text on stderr, exactly as it is."""
    return {"stderr": {"text": text, "times": times}}


def flood(size: int, *, line: int = 0, to: str = "stdout") -> Step:
    """`size` bytes in lines of `line` bytes (0: no newline at all) to stdout or stderr."""
    return {"flood": {"bytes": size, "line": line, "to": to}}


def close_stdout() -> Step:
    """Stdout is closed while the process lives on."""
    return {"close_stdout": True}


def daemon(
    *,
    clear_env: bool = False,
    ignore_term: bool = False,
    hold_stdout: bool = False,
    name: str = "",
    argv: Sequence[str] = (),
) -> Step:
    """Leaves a process behind that tries to outlive the agent; `name` is its argv[0]."""
    wiles = {"clear_env": clear_env, "ignore_term": ignore_term, "hold_stdout": hold_stdout}
    return {"spawn_daemon": {**wiles, "name": name, "argv": list(argv)}}


def wait_for(path: Path | str) -> Step:
    """Waits until `path` exists."""
    return {"wait_for": str(path)}


def touch(path: Path | str) -> Step:
    """Makes a file, or writes one byte to the FIFO that is there."""
    return {"touch": str(path)}


def repeat(times: int, *steps: Step) -> Step:
    """The same steps several times."""
    return {"repeat": {"times": times, "steps": list(steps)}}


def hang() -> Step:
    """Lives on without a word until a signal comes."""
    return {"hang": True}


def ignore(*names: str) -> Step:
    """Ignores these signals from here on: "SIGTERM", "SIGINT"."""
    return {"ignore": list(names)}


def leave(code: int) -> Step:
    """Ends at once with this exit code and without a closing event."""
    return {"exit": code}


def signal_self(number: int) -> Step:
    """Dies by this signal."""
    return {"signal_self": number}


class Fifo:
    """A FIFO that the test reads. It is open from the start, so no writer ever waits; the end of
    the test closes it (`close_all`)."""

    opened: ClassVar[list[Fifo]] = []
    """By this test; what a module's tests share is its own to close."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._content = b""
        self.opened.append(self)

    def close(self) -> None:
        """Gives the descriptor back; a writer after this waits for ever."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    @classmethod
    def close_all(cls) -> None:
        """A test has ended."""
        while cls.opened:
            cls.opened.pop().close()

    def take(self, end: bytes, timeout: float) -> bytes | None:
        """What was written up to `end`, without it; None when `timeout` seconds have passed."""
        deadline = time.monotonic() + timeout
        while end not in self._content:
            remaining = deadline - time.monotonic()
            if not select.select([self.fd], [], [], max(0.0, remaining))[0]:
                return None
            self._content += os.read(self.fd, 65536)
        content, _, self._content = self._content.partition(end)
        return content


class Barrier:
    """Agents come to it (`arrive` is their step) and wait behind it until the test opens it.

    gate = Barrier(scratch, "edited")
    steps = [edit("a", "1"), *gate.stop(), finish()]
    ...
    await gate.reached()      # the agent is there
    gate.open()               # it goes on
    """

    def __init__(self, folder: Path, name: str) -> None:
        gate = folder / f"{name}.gate"
        gate.mkdir()
        self.path = gate / "reached"
        self._fifo = Fifo(self.path)
        self._open = gate / "open"

    def arrive(self) -> Step:
        """The step that tells the test; in a shell tool: `echo . > PATH`."""
        return touch(self.path)

    def stop(self) -> list[Step]:
        """Tell the test, then wait until it opens."""
        return [self.arrive(), wait_for(self._open)]

    def open(self) -> None:
        """Lets everybody through, also those who come later."""
        self._open.touch()

    def wait(self, agents: int = 1, timeout: float = 120) -> None:
        """Until so many have arrived. Raises `TimeoutError` instead of a test that hangs."""
        for number in range(agents):
            if self._fifo.take(b".", timeout) is None:
                raise TimeoutError(f"{number} of {agents} agents came to {self.path.name}")

    async def reached(self, agents: int = 1) -> None:
        """`wait` for a test that runs in Trio's loop. Raises `trio.TooSlowError` after 120 s."""
        with trio.fail_after(120):
            for _ in range(agents):
                while self._fifo.take(b".", 0) is None:
                    await trio.lowlevel.wait_readable(self._fifo.fd)

    def close(self) -> None:
        """Gives the descriptor back."""
        self._fifo.close()


class Calls:
    """What scripted agents were called with: pass `record=calls.path` to `place`.

    Each call is {argv, env, cwd, pid, stdin}; stdin is None for a probe.
    """

    def __init__(self, folder: Path, name: str = "calls") -> None:
        self._fifo = Fifo(folder / name)
        self.path = self._fifo.path

    def next(self, timeout: float = 120) -> dict[str, object]:
        """The next call in time. Raises `TimeoutError` when none comes."""
        line = self._fifo.take(b"\n", timeout)
        if line is None:
            raise TimeoutError("no scripted agent was called")
        call: dict[str, object] = json.loads(line)
        return call

    def so_far(self) -> list[dict[str, object]]:
        """All calls that have been recorded and not been taken yet."""
        documents = []
        while (line := self._fifo.take(b"\n", 0)) is not None:
            documents.append(json.loads(line))
        return documents

    def close(self) -> None:
        """Gives the descriptor back."""
        self._fifo.close()


def left(name: str) -> list[int]:
    """Of those `processes_named`, who is still there after a while.

    What was sent SIGKILL is seen until the kernel has taken it down.
    """
    return [] if wait_until(lambda: not processes_named(name)) else processes_named(name)


def processes_named(name: str) -> list[int]:
    """The pids of living processes with `name` in their command line; zombies have none."""
    return running(name, keepers=True)

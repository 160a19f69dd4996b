"""What the wire formats have in common.

These modules run in a process of their own that must start within a few milliseconds, so they
import nothing heavier than json: no typing, dataclasses, pathlib or subprocess.
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

USAGE = {"input": 5200, "output": 410, "cached": 3900, "cost": 0.0312}
"""What a run reports unless its script says otherwise: made-up tokens and US dollars.

`input` is all of the input, with what came from the cache.
"""


class ToolUse:
    """One use of a tool, as the wire formats need to tell it: edit, write, delete or shell."""

    def __init__(self, kind: str, target: str, *, old: str = "", new: str = "") -> None:
        self.kind = kind
        self.target = target
        self.old = old
        self.new = new
        self.existed = True
        self.output = ""
        self.exit_code = 0
        self.id = ""

    @property
    def ok(self) -> bool:
        """Whether it did what it was asked to."""
        return self.exit_code == 0


class Wire:
    """One CLI's side of a run: every method writes what that CLI would write to stdout.

    `exit_on_closed_stdout` is how it ends when nobody reads any more; None: it works on.
    """

    default_model = ""
    exit_on_closed_stdout: int | None = None
    streams = True
    """Whether the options ask for events; else only the final text is printed."""

    # Each of these is a format's own: the first events, what the agent says and thinks, a tool call
    # before it is done and its result, the closing event of a run that went well (the exit code).
    begin: Callable[[str], None]
    say: Callable[[str], None]
    think: Callable[[str], None]
    tool_started: Callable[[ToolUse], None]
    tool_ended: Callable[[ToolUse], None]
    finish: Callable[[str], int]

    def __init__(self, argv: Sequence[str], script: Mapping[str, Any]) -> None:
        self.argv = argv
        self.script = script
        self.model = str(self.option("--model", "-m") or self.default_model)
        self.session = self.fresh()
        self.usage: Mapping[str, float] | None = script["usage"]
        self.started = time.monotonic()
        self.tools = 0
        self.open: ToolUse | None = None

    def option(self, *names: str) -> str | None:
        """The value of the last of these options in argv, `--name value` or `--name=value`."""
        value = None
        for index, term in enumerate(self.argv):
            name, equals, rest = term.partition("=")
            if name in names:
                value = rest if equals else "".join(self.argv[index + 1 : index + 2])
        return value

    def milliseconds(self) -> int:
        """Since the run began."""
        return int((time.monotonic() - self.started) * 1000)

    def uncached(self) -> float:
        """Input tokens without those from the cache, as some formats count them."""
        spent = self.usage or {}
        return spent.get("input", 0) - spent.get("cached", 0)

    def send(self, event: Mapping[str, Any]) -> None:
        """One event as one line, where events were asked for."""
        if self.streams:
            self.print(encode(event))

    def print(self, text: str) -> None:
        """Exactly this on stdout."""
        write(1, text.encode("utf-8", "surrogateescape"), self.exit_on_closed_stdout)

    def complain(self, text: str) -> None:
        """One line on stderr."""
        write(2, text.encode("utf-8", "surrogateescape") + b"\n")

    def fresh(self) -> str:
        """A new identifier in a UUID's form, without importing uuid (6 ms)."""
        raw = os.urandom(16).hex()
        return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}"

    def now(self) -> str:
        """The time as the CLIs write it."""
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())

    def stopped(self, signum: int) -> int | None:
        """What the CLI does on SIGINT or SIGTERM: an exit code, None to die by the signal."""
        return None

    def _opened(self, tool: ToolUse, prefix: str) -> None:
        tool.id = f"{prefix}{self.tools}"
        self.tools += 1
        self.open = tool


def encode(event: Mapping[str, Any]) -> str:
    """A JSON line, U+2028 and all other text as it is, as the CLIs write it."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n"


def write(fd: int, data: bytes, exit_on_closed: int | None = None) -> None:
    """All of `data`, however small the pipe. A reader that has gone away is ignored, or ends it."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BrokenPipeError:
            if exit_on_closed is None:
                return
            raise SystemExit(exit_on_closed) from None

"""What goes between Hydra and an agent elsewhere while it runs, on the line that owns the agent.

Its output is read in one thread and Hydra's words to it in another. Its end, those words and the
signals come to one loop, which alone tells the other side what to do.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hydra.adapters.remote.shell import Scan, ShellChild, write_all

BEAT = 10.0
"""Seconds between two words to the other side; it gives up after `scripts.SILENT`."""

_KILL_AFTER_TERM = 2.0
"""Seconds that an agent there has after TERM. Hydra kills the carrier three seconds later, and by
then what has changed must be here."""

_CHUNK = 65536


class RelayMessage(NamedTuple):
    """What comes to the one loop: `input`, `signal`, `ended`, `lost`."""

    kind: str
    data: bytes = b""


class Relay:
    """One agent's run. `scan` is in its output, and holds what has come of it already."""

    def __init__(self, line: ShellChild, scan: Scan) -> None:
        self.line = line
        self.scan = scan
        self.queue: queue.SimpleQueue[RelayMessage] = queue.SimpleQueue()

    def signalled(self, number: int) -> None:
        """Passes a signal on; may be called by a signal's handler."""
        self.queue.put(
            RelayMessage("signal", signal.Signals(number).name.removeprefix("SIG").encode())
        )

    def run(self, *, live: bool) -> bytes | None:
        """Lets it begin, and waits for its end: its exit code and what the shell there adds to it,
        or None where the line was lost. `live`: what comes on stdin goes to it."""
        self.line.say(b"g\n")
        threading.Thread(target=self._listen, daemon=True).start()
        if live:
            threading.Thread(target=self._feed, daemon=True).start()
        message = self._serve()
        return message.data if message.kind == "ended" else None

    def _serve(self) -> RelayMessage:
        """The one place that speaks on the line, until the agent has ended or the line has."""
        timer: threading.Timer | None = None
        while True:
            message = self.queue.get()
            if message.kind in ("ended", "lost"):
                return message
            if message.kind == "input":
                self.line.say(message.data)
            if message.kind == "signal":
                self.line.say(b"s %s\n" % message.data)
            if message == RelayMessage("signal", b"TERM") and timer is None:
                kill = RelayMessage("signal", b"KILL")
                timer = threading.Timer(_KILL_AFTER_TERM, self.queue.put, (kill,))
                timer.daemon = True
                timer.start()

    def _listen(self) -> None:
        """The agent's output, from there to here, until Hydra's own line comes."""
        scan, source, out = self.scan, self.line.stdout.fileno(), to(1)
        out(scan.feed(b""))
        while not scan.is_present:
            chunk = os.read(source, _CHUNK)
            if not chunk:
                out(scan.rest)
                self.queue.put(RelayMessage("lost"))
                return
            out(scan.feed(chunk))
        while b"\n" not in scan.rest and (chunk := os.read(source, _CHUNK)):
            scan.rest += chunk
        contents = scan.rest.split(b"\n", 1)[0].split(b" ", 2)
        ended = len(contents) == 3 and contents[1] == b"ended"
        self.queue.put(
            RelayMessage("ended", contents[2].strip()) if ended else RelayMessage("lost")
        )

    def _feed(self) -> None:
        """What Hydra says to the agent, line by line; one that does not end is said at the end."""
        for text in sys.stdin.buffer:
            self.queue.put(RelayMessage("input", b"i " + text.removesuffix(b"\n") + b"\n"))
        self.queue.put(RelayMessage("input", b"e\n"))


def keep_alive(line: ShellChild) -> None:
    """Says on the line every `BEAT` seconds, in a thread of its own, that this side is there."""

    def beat() -> None:
        while True:
            time.sleep(BEAT)
            line.say(b"k\n")

    threading.Thread(target=beat, daemon=True).start()


def to(fd: int) -> Callable[[bytes], None]:
    """What writes all of its bytes to `fd`."""
    return partial(write_all, fd)

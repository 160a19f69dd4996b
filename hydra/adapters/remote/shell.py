"""One line to a shell elsewhere, as the carrier holds it: a child process, and what it says."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import IO, NamedTuple

_CHUNK = 65536
_TAIL = 4096
_SETTLE = 2.0
"""Seconds for the last of stderr once stdout has said all."""

_HELP = re.compile(r"(?:Run|See) '[^']{1,80} --help' for more information$|See '[^']{1,80} --help'")
"""A line of docker's after its error; older ones have other words for it."""


class ShellChild:
    """A child in a session of its own: what the terminal or Hydra signals is the carrier's."""

    def __init__(self, argv: Sequence[str], first: bytes) -> None:
        """Raises `OSError` where the transport's program is not there."""
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.errors = b""
        self._stderr_ended = threading.Event()
        self._speaking = threading.Lock()
        self.say(first)

    @property
    def stdin(self) -> IO[bytes]:
        """What the shell there reads."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """What it says."""
        assert self.process.stdout is not None
        return self.process.stdout

    def say(self, data: bytes) -> None:
        """Says it, or nothing where nobody listens any more: what it says then tells why."""
        with suppress(OSError, ValueError), self._speaking:
            view = memoryview(data)
            while view:
                view = view[self.stdin.write(view) or 0 :]

    def end_of_words(self) -> None:
        """Nothing more is said."""
        with suppress(OSError):
            self.stdin.close()

    def hear_errors(self, sink: Callable[[bytes], None] | None = None, mark: bytes = b"") -> None:
        """Reads stderr to its end in a thread of its own, and keeps the last of it.

        What stands between the first line that begins with `mark` and the second goes to `sink`:
        before it is what a login says, after it what the transport does.
        """

        def read() -> None:
            between = PassThrough(mark)
            assert self.process.stderr is not None
            while chunk := os.read(self.process.stderr.fileno(), _CHUNK):
                self.errors = (self.errors + chunk)[-_TAIL:]
                if sink is not None and (output := between.feed(chunk)):
                    sink(output)
                if between.ended:
                    self._stderr_ended.set()
            if sink is not None:
                sink(between.rest)
            self._stderr_ended.set()

        threading.Thread(target=read, daemon=True).start()

    def settle(self) -> None:
        """Until all of stderr was read that will come, or two seconds."""
        self._stderr_ended.wait(_SETTLE)

    def close(self, wait: float = 5.0) -> int:
        """Ends it, by force after `wait` seconds; its exit code."""
        self.end_of_words()
        try:
            return self.process.wait(wait)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    @property
    def why(self) -> str:
        """Its last words on stderr."""
        return last_words(self.errors)


def write_all(fd: int, data: bytes) -> None:
    """Writes all of `data`, however many writes that takes. Raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def last_words(stderr: bytes) -> str:
    """The last line of what was said there; docker ends its errors with where its help is."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    texts = [line for line in lines if line and not _HELP.match(line)]
    return (texts[-1] if texts else "it said nothing")[:300]


class Scan:
    """Passes a stream on up to a line of Hydra's own, which begins with `mark`."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self.rest = b""
        """What has come and was not passed on: from the mark on, once that was found."""
        self.is_present = False

    def feed(self, chunk: bytes) -> bytes:
        """What of the stream is certainly before the mark."""
        data = self.rest + chunk
        at = data.find(self._mark)
        if at >= 0:
            self.is_present = True
        else:
            at = len(data) - _overlap(data, self._mark)
        self.rest = data[at:]
        return data[:at]


def _overlap(data: bytes, mark: bytes) -> int:
    most = min(len(data), len(mark) - 1)
    return next((size for size in range(most, 0, -1) if data.endswith(mark[:size])), 0)


class PassThrough:
    """Passes on what stands between two lines of Hydra's own."""

    def __init__(self, mark: bytes) -> None:
        self._first, self._second = Scan(mark), Scan(mark)
        self._begun = False

    @property
    def ended(self) -> bool:
        """Whether the second has come."""
        return self._second.is_present

    @property
    def rest(self) -> bytes:
        """What was held back for the second, where that never came."""
        return b"" if self.ended else self._second.rest

    def feed(self, chunk: bytes) -> bytes:
        """What of it is certainly between the two."""
        if self.ended:
            return b""
        if self._begun:
            return self._second.feed(chunk)
        if self._first.is_present:
            self._first.rest += chunk
        else:
            self._first.feed(chunk)
        if not self._first.is_present or b"\n" not in self._first.rest:
            return b""
        self._begun = True
        return self._second.feed(self._first.rest.split(b"\n", 1)[1])


# ---- What goes between Hydra and an agent elsewhere while it runs, on the line that owns it.
#
# Its output is read in one thread and Hydra's words to it in another. Its end, those words and the
# signals come to one loop, which alone tells the other side what to do.

BEAT = 10.0
"""Seconds between two words to the other side; it gives up after `scripts.SILENT`."""

_KILL_AFTER_TERM = 2.0
"""Seconds that an agent there has after TERM. Hydra kills the carrier three seconds later, and by
then what has changed must be here."""


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

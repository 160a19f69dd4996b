"""One line to a shell elsewhere, as the carrier holds it: a child process, and what it says."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

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

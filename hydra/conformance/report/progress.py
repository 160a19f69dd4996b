"""How far conformance has come: one line that is repainted, or a line for what has ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hydra.conformance.report.terminal import took
from hydra.report.text import clean, cut
from hydra.text import plural


class Progress:
    """Told of each suite and each case; writes to a terminal, or to a log.

    On a terminal (`size` gives its columns) it is one line, repainted. In a log it is a line for
    each live situation, which takes seconds, and one for all cases of the contract.
    """

    def __init__(self, write: Callable[[str], None], size: Callable[[], int] | None) -> None:
        self._write = write
        self._size = size
        self._suite = ""
        self._count = self._done = self._failed = 0

    def began(self, suite: str, count: int) -> None:
        """A suite begins; `count` is how many cases it has, 0 where that is not known."""
        self._close_suite()
        self._suite, self._count, self._done, self._failed = suite, count, 0, 0
        self._paint("")

    def keeping(self, folder: Path) -> None:
        """What is run will lie there, however it ends."""
        self._write(f"keeping {clean(str(folder))}\n")

    def ended(self, agent: str, suite: str, name: str, verdict: str, seconds: float) -> None:
        """One case has ended."""
        self._done += 1
        self._failed += verdict == "failed"
        if self._size is None and suite == "live":
            text = f"{took(seconds):>6}  {clean(agent)}  {clean(name)}"
            self._write(f"{text}{'' if verdict == 'passed' else f': {verdict}'}\n")
        self._paint(f"{agent}: {name}")

    def close(self) -> None:
        """Nothing more will come: takes the line off the terminal."""
        self._close_suite()
        if self._size is not None:
            self._write("\r\x1b[K")

    def _close_suite(self) -> None:
        if self._size is None and self._suite == "contract":
            failed = f", {self._failed} failed" if self._failed else ""
            self._write(f"contract: {plural(self._done, 'case')}{failed}\n")
        self._suite = ""

    def _paint(self, name: str) -> None:
        if self._size is None:
            return
        of = f" of {self._count}" if self._count else ""
        failed = f", {self._failed} failed" if self._failed else ""
        line = f"{self._suite}  {self._done}{of}{failed}  {name}"
        # One column stays free: a full line would wrap, and leave its first half behind.
        self._write(f"\r\x1b[K{cut(clean(line), self._size() - 1)}")

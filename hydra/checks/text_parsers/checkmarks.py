"""The text of node's spec reporter, of mocha and of ava, which mark their tests alike.

Whose the marks are is told by the lines that close a run: what the readers of the others have
gathered by then is forgotten.
"""

from __future__ import annotations

import re

from hydra.checks.text_parsers.ava import Ava
from hydra.checks.text_parsers.mocha import Mocha
from hydra.checks.text_parsers.node_spec import NodeSpec
from hydra.checks.text_parsers.tally import Tally

_STARTS = frozenset(" tT\u2714\u2716\ufe63\u26a0\u25b6\u2139")
_OTHERS = re.compile(r"Tests: +\S| +Tests  \S")
"""A closing line of jest's, of vitest's."""


class Checkmarks:
    """Takes the lines of all three one by one."""

    starts = ""

    def __init__(self) -> None:
        self.tally = Tally()
        self._mocha = Mocha(self.tally)
        self._readers = (NodeSpec(self.tally), self._mocha, Ava(self.tally))

    @property
    def is_open(self) -> bool:
        """Whether results are there without the lines that close their run."""
        return any(reader.is_open for reader in self._readers)

    def blank(self) -> None:
        """An empty line."""
        self._mocha.blank()

    def feed(self, line: str) -> None:
        """One line."""
        if line[0] not in _STARTS:
            self._mocha.interrupt()
            return
        closed = None
        for reader in self._readers:
            if reader.feed(line):
                closed = reader
        if closed is not None or ("Tests" in line and _OTHERS.match(line)):
            for reader in self._readers:
                if reader is not closed:
                    reader.close()
                    reader.forget()

    def done(self) -> Tally:
        """What was found; marks without closing lines are nobody's."""
        for reader in self._readers:
            reader.close()
        return self.tally

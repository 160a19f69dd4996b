"""The text of `bun test`."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.tally import RunResults, Tally

_FILE = re.compile(r"(?:::group::)?(\S+\.\w+):$")
_ROW = re.compile(r"(?:\((pass|fail|skip|todo)\)|([\u2713\u2717\u00bb\u270e])) (\S.*)$")
# All of them: a title may end like a time, and bun leaves out its own when it was short.
_TIME = re.compile(r"(?: \[\d+(?:\.\d+)?m?s\]){1,4}$")
_TOTAL = re.compile(r" ?(\d{1,9}) (pass|fail|skip|todo|error)s?$")
_RAN = re.compile(r"Ran \d+ tests? across \d+ files?\.")
_STATUS: dict[str, Status] = {
    "pass": "passed",
    "\u2713": "passed",
    "fail": "failed",
    "\u2717": "failed",
    "skip": "skipped",
    "\u00bb": "skipped",
    "todo": "skipped",
    "\u270e": "skipped",
}
_BETWEEN = "# Unhandled error between tests"


class Bun:
    """Takes bun's lines one by one."""

    starts = ""

    def __init__(self) -> None:
        self.tally = Tally()
        self._run: RunResults | None = None
        self._file = ""
        self._totals: dict[str, int] = {}

    @property
    def is_open(self) -> bool:
        """Whether a run has begun and not ended."""
        return self._run is not None

    def feed(self, line: str) -> None:
        """One line."""
        if line.startswith("bun test v"):
            self._run, self._file, self._totals = RunResults(), "", {}
        elif self._run is None:
            return
        elif line[-1] == ":" and (file := _FILE.match(line)):
            self._file = file[1]
        elif row := _ROW.match(line):
            self._add(self._run, _TIME.sub("", row[3]), _STATUS[row[1] or row[2]])
        elif total := _TOTAL.match(line):
            self._totals[total[2]] = int(total[1])
        elif line == _BETWEEN:
            self._run.add(self._file or "(no file)", "failed")
        elif line.startswith("Ran ") and _RAN.match(line):
            self._close(self._run)

    def _add(self, run: RunResults, name: str, status: Status) -> None:
        # Of a hook that fails no test below it has run: its group fails as a whole.
        name = name.removesuffix("(unnamed)").removesuffix(" > ")
        parts = [part for part in (self._file, name) if part]
        run.add("::".join(parts), status)

    def _close(self, run: RunResults) -> None:
        count_of = self._totals.get
        failed = max(count_of("fail", 0), count_of("error", 0))  # an error between tests is in both
        skipped = count_of("skip", 0) + count_of("todo", 0)
        run.close(self.tally, ResultCounts(count_of("pass", 0), failed, skipped))
        self._run = None

    def done(self) -> Tally:
        """What was found; without a closing line it was not bun."""
        return self.tally

"""The text of `go test`: plain, -v, -json."""

from __future__ import annotations

import json
import re

from hydra.checks.results import Status
from hydra.checks.text_parsers.tally import Tally

_RESULT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)$")
_PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(.*)$")
_STATUS: dict[str, Status] = {
    "PASS": "passed",
    "FAIL": "failed",
    "SKIP": "skipped",
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
}


class Go:
    """Takes the lines of `go test` one by one."""

    starts = ""

    def __init__(self) -> None:
        self.tally = Tally()
        self._names: dict[str, Status] = {}
        self._verbose = False
        self._failing: set[str] = set()
        self._packages: dict[str, Status] = {}

    def feed(self, line: str) -> None:
        """One line."""
        if "--- " in line:
            if match := _RESULT.search(line):
                self._names[match[2]] = _STATUS[match[1]]
        elif line.startswith("=== RUN "):
            self._verbose = True
        elif "\t" in line[:5] and (package := _PACKAGE.match(line)):
            self._package(package[1].strip(), package[2], package[3])
        elif line.startswith("{") and '"Action":' in line:
            self._event(line)

    def _package(self, term: str, package: str, rest: str) -> None:
        self.tally.seen = True
        if not self._verbose and term != "?" and "[" not in rest:
            # Without -v only failures are named: the package stands for the others.
            self.tally.unnamed |= {"passed", "skipped"}
            if term == "ok":
                self.tally.gathered.add(package, "passed")
        if term == "FAIL" and "failed" not in self._names.values():
            self.tally.gathered.add(package, "failed")
        for name, status in self._names.items():
            self.tally.gathered.add(f"{package}::{name}", status)
        self._names, self._verbose = {}, False

    def _event(self, line: str) -> None:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return
        status = _STATUS.get(str(event.get("Action")))
        package, test = event.get("Package"), event.get("Test")
        if not isinstance(package, str) or status is None:
            return
        self.tally.seen = True
        if not isinstance(test, str):
            self._packages[package] = status
            return
        if status == "failed":
            self._failing.add(package)
        self.tally.gathered.add(f"{package}::{test}", status)

    def done(self) -> Tally:
        """What was found; results after which no package was named are nobody's."""
        for package, status in self._packages.items():
            if status == "failed" and package not in self._failing:
                self.tally.gathered.add(package, "failed")
        return self.tally

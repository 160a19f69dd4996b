"""An output parted by the packages it is about, as runners of workspaces mark its lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from hydra.checks.comparison import is_file
from hydra.checks.ids import stable
from hydra.checks.text_parsers.ava import Ava
from hydra.checks.text_parsers.bun import Bun
from hydra.checks.text_parsers.cargo import Cargo, Nextest
from hydra.checks.text_parsers.deno import Deno
from hydra.checks.text_parsers.golang import Go
from hydra.checks.text_parsers.javascript import Jest, Vitest
from hydra.checks.text_parsers.mocha import Mocha
from hydra.checks.text_parsers.node_spec import NodeSpec
from hydra.checks.text_parsers.pytests import Pytest
from hydra.checks.text_parsers.tally import Tally
from hydra.checks.text_parsers.tap import Tap
from hydra.checks.text_parsers.unittests import Unittest

PACKAGES = 1000
"""Packages that are told apart."""

_SCRIPT = re.compile(r"> ((?:@[^\s/@]+/)?[^\s/@]+)@\d\S* \S")
"""What npm and pnpm print above a script: `> shop@1.0.0 test`."""
_ANNOUNCED = re.compile(
    r"((\S+) \S+)\$ "
    r"|((\S+):\S+): cache (?:miss|hit|bypass)\b"
    r"|(\[(\S+)\]): Process started$"
)
"""What `pnpm -r`, turbo and yarn say before lines of a package: its mark stands before each."""


class _Reader(Protocol):
    """Takes the lines of one tool; `starts` are the characters they begin with, "" for any."""

    starts: str

    def feed(self, line: str) -> None: ...

    def done(self) -> Tally: ...


class Section:
    """What was printed for one package: each line to the readers that may want it, since most of a
    long output is of no tool.

    `label` names the package; `marked` says that each of its lines does, so that sections may run
    at once and come in any order.
    """

    def __init__(self, label: str, *, marked: bool) -> None:
        self.label, self.marked = label, marked
        self._checkmarks = Checkmarks()
        self._of_javascript = (Jest(), Vitest(), Tap(), self._checkmarks, Bun(), Deno())
        self._readers: Sequence[_Reader] = (
            *(Pytest(), Unittest(), Cargo(), Nextest(), Go()),
            *self._of_javascript,
        )
        self._any_start = tuple(reader.feed for reader in self._readers if not reader.starts)
        self._by_start = {
            char: tuple(
                reader.feed
                for reader in self._readers
                if char in reader.starts or not reader.starts
            )
            for char in {char for reader in self._readers for char in reader.starts}
        }

    def feed(self, line: str) -> None:
        """One line."""
        if not line:
            self._checkmarks.blank()
        elif not line.isspace():
            for feed in self._by_start.get(line[0], self._any_start):
                feed(line)

    @property
    def is_open(self) -> bool:
        """Whether a run is under way: what looks like another script's head is a test's output."""
        return any(reader.is_open for reader in self._of_javascript)

    @cached_property
    def tallies(self) -> list[Tally]:
        """What its tools came to, once all lines are there."""
        return [tally for reader in self._readers if (tally := reader.done()).seen]

    def named(self, taken: Collection[str], roots: Sequence[str]) -> Mapping[str, str]:
        """Each raw id's stable one: with the package where lines are marked, and where another's
        test, of those `taken`, has the same."""
        raws = (name for tally in self.tallies for name in (*tally.gathered.statuses, *tally.files))
        tops = (f"{self.label}/", *roots)  # what names its whole path does not need it
        return {
            raw: self._whole(name)
            if (self.marked or name in taken) and not raw.startswith(tops)
            else name
            for raw, name in stable(raws, roots).items()
        }

    def _whole(self, name: str) -> str:
        if self.label in ("", "."):
            return name
        return f"{self.label}{'/' if '::' in name or is_file(name) else ' > '}{name}"


def sections_of(lines: Iterable[str]) -> list[Section]:
    """The sections of an output, in the order in which they begin; the first has what is of no
    package. Scripts of one package are one section, and so are lines of one mark."""
    section = Section("", marked=False)
    by_package = {"": section}
    by_mark: dict[str, Section] = {}
    for line in lines:
        mark, colon, rest = line.partition(": ") if by_mark else ("", "", "")
        if colon and mark in by_mark:
            by_mark[mark].feed(rest)
        elif line[:1] == ">" and (script := _SCRIPT.match(line)) and not section.is_open:
            if script[1] not in by_package and len(by_package) < PACKAGES:
                by_package[script[1]] = Section(script[1], marked=False)
            section = by_package.get(script[1], section)
        elif announced := _announced(line):
            if announced[0] not in by_mark and len(by_mark) < PACKAGES:
                by_mark[announced[0]] = Section(announced[1], marked=True)
        else:
            section.feed(line)
    return [*by_package.values(), *by_mark.values()]


def without_marks(lines: Iterable[str]) -> Iterator[str]:
    """The lines of an output as their tools have printed them."""
    marks: set[str] = set()
    for line in lines:
        mark, colon, rest = line.partition(": ") if marks else ("", "", "")
        if colon and mark in marks:
            yield rest
        elif announced := _announced(line):
            marks.add(announced[0])
        else:
            yield line


def _announced(line: str) -> tuple[str, str] | None:
    """The mark and the package."""
    if "$ " not in line and ": " not in line:
        return None
    match = _ANNOUNCED.match(line)
    if match is None:
        return None
    mark, package = filter(None, match.groups())
    return mark, package


# ---- The text of node's spec reporter, of mocha and of ava, which mark their tests alike.
#
# Whose the marks are is told by the lines that close a run: what the readers of the others have
# gathered by then is forgotten.

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

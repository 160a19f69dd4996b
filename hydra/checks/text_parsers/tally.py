"""What one tool's text came to: the tests it names, and how many more it counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from hydra.checks.results import STATUSES, GatheredTests, ResultCounts, Status


@dataclass
class Tally:
    """Results of one tool, over all of its runs in one output.

    `seen` is set once the tool was recognised by words that only it prints. A run that names all
    that it counts is counted by its names; `extra` is what the others count beyond theirs. `files`
    are counts by file, None where two lines count one.
    """

    seen: bool = False
    gathered: GatheredTests = field(default_factory=GatheredTests)
    extra: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    unnamed: set[Status] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    remarks: dict[str, None] = field(default_factory=dict)
    files: dict[str, ResultCounts | None] = field(default_factory=dict)

    def close(self, named: ResultCounts, counted: ResultCounts) -> None:
        """One run has ended: it named so many and counted so many."""
        self.seen = True
        for status, names, number in zip(STATUSES, named, counted, strict=True):
            if number > names:
                self.extra[status] += number - names
                self.unnamed.add(status)

    def group(self, name: str, status: Status) -> None:
        """A file or package that stands for tests it does not name."""
        self.groups.add(name)
        self.gathered.add(name, status)

    def count_file(self, name: str, counts: ResultCounts) -> None:
        """A line that counts the tests of a file."""
        self.files[name] = None if name in self.files else counts

    def counts(self) -> ResultCounts:
        """How many tests there were; a group is not a test where the tests are counted."""
        totals = dict(self.extra)
        for name, status in self.gathered.statuses.items():
            totals[status] += name not in self.groups
        return ResultCounts(*(totals[status] for status in STATUSES))


def counted(names: dict[str, Status]) -> ResultCounts:
    """How many of `names` have which status."""
    texts = list(names.values())
    return ResultCounts(*(texts.count(status) for status in STATUSES))


@dataclass
class RunResults:
    """What one run has named so far, until its closing lines say how many there were.

    `rows` counts the results that were seen, also two of one name, and those of groups.
    """

    names: dict[str, Status] = field(default_factory=dict)
    rows: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))

    def add(self, name: str, status: Status, *, rows: int = 1) -> None:
        """Takes one result in; a failure stands."""
        self.rows[status] += rows
        if self.names.get(name) != "failed":
            self.names[name] = status

    def close(self, tally: Tally, totals: ResultCounts) -> None:
        """Puts all of it into `tally`: the run has ended, and counts `totals`."""
        tally.close(ResultCounts(*(self.rows[status] for status in STATUSES)), totals)
        for name, status in self.names.items():
            tally.gathered.add(name, status)


@dataclass
class OpenGroup:
    """What results are gathered under that has not ended: a suite, a subtest, a heading, a test
    with steps. `inside` is how those in it ended; `whole`: tests of its own are named in it."""

    indent: int
    name: str
    inside: set[Status] = field(default_factory=set)
    whole: bool = False


def lost_results(seen: int, counted: int, named: int, failed: int) -> ResultCounts:
    """How those results ended that a run of `node --test` counts, suites among them, and that were
    not seen, as they stood behind another word: `failed`, as far as more did than are `named`."""
    lost = max(0, counted - seen)
    failures = min(lost, max(0, failed - named))
    return ResultCounts(lost - failures, failures, 0)

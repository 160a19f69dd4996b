"""One run's tests held against its exit code and against the baseline's. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hydra.checks.record import CheckResult
from hydra.checks.results import Comparison, Status, Tests
from hydra.text import join_names, plural

SHOWN = 5
"""Ids that a sentence names; the others are counted."""

_SEPARATORS = ("::", ".", "/", " > ")
_LEVELS = 16
"""How many of the groups that hold a test are looked at, the nearest ones."""


def compare(
    base: Tests | None,
    now: Tests | None,
    *,
    base_again: Tests | None = None,
    again: Tests | None = None,
    passing: Collection[str] = (),
) -> Comparison | None:
    """What became of each test; None where the two runs cannot be held against each other.

    That is so where one of them has no tests, and where one was read from XML, the other from
    text, and they share no id. `base_again` and `again` are the same code run once more: a test
    that ended both ways on one side is flaky, whatever else it did. `passing` are tests of the base
    that are known to pass with the code of this run, where it names too little to tell.
    """
    if base is None or now is None:
        return None
    if base.source != now.source and base.cases and not base.by_id.keys() & now.by_id.keys():
        return None
    flaky = unsteady(base, base_again) | unsteady(now, again)
    return _SortedEnds(base, now, flaky, passing).comparison()


def passing(base: Tests, compared: Comparison | None) -> frozenset[str]:
    """The base's tests that pass in a run which was held against it."""
    if compared is None:
        return frozenset()
    aside = {*compared.broken, *compared.vanished, *compared.skipped}
    aside |= {*compared.flaky, *compared.unknown}
    passed = (id for id, was in base.by_id.items() if was == "passed" and id not in aside)
    return frozenset((*passed, *compared.fixed))


def unsteady(first: Tests, second: Tests | None) -> set[str]:
    """Ids that failed and passed in two runs of the same code."""
    if second is None:
        return set(first.flaky)
    steady = {"passed", "failed"}
    return {*first.flaky, *second.flaky}.union(
        name
        for name in first.by_id.keys() | second.by_id.keys()
        if {_end(first, name, second), _end(second, name, first)} == steady
    )


def _end(tests: Tests, name: str, other: Tests) -> Status | None:
    """How `name` ended in `tests`, a run of the same code as `other`.

    What a run that names its failures does not name has not failed, if it ran as many tests.
    """
    status = tests.by_id.get(name)
    if status is None and "passed" in tests.unnamed and "failed" not in tests.unnamed:
        return "passed" if tests.total == other.total else None
    return status


class _SortedEnds:
    """Sorts every id of two runs into one list."""

    def __init__(self, base: Tests, now: Tests, flaky: set[str], passing: Collection[str]) -> None:
        self.base, self.now, self.flaky, self.passing = base, now, flaky, passing
        self.lists: dict[str, list[str]] = {}
        self.doubt = False
        self.failing = {case.id for case in now.cases if case.status == "failed"}
        self.counted = base.files.keys() & now.files.keys()
        self.passed_files = {*self._passed_files()}
        self.opened = _groups(now.by_id, base.by_id.keys() - now.by_id.keys())
        self.closed = _groups(base.by_id, now.by_id.keys() - base.by_id.keys())
        self.files = [id for id in self.failing if is_file(id) and id not in base.by_id]

    def comparison(self) -> Comparison:
        """All lists, in the order of the base's tests, then of this run's."""
        for name, was in self.base.by_id.items():
            term = "flaky" if name in self.flaky else self._of_base(name, was)
            self.doubt |= was == "passed" and term in _NOT_PASSING
            self._put(term, name)
        for name, status in self.now.by_id.items():
            if name not in self.base.by_id:
                self._put("flaky" if name in self.flaky else self._of_now(name, status), name)
        lists: dict[str, Any] = {term: tuple(names) for term, names in self.lists.items()}
        sound = not self.doubt and "broken" not in lists and self._enough()
        return Comparison(**lists, breaks_nothing=sound)

    def _put(self, term: str, name: str) -> None:
        if term:
            self.lists.setdefault(term, []).append(name)

    def _of_base(self, name: str, was: Status) -> str:
        status = self.now.by_id.get(name)
        return self._missing(name, was) if status is None else _CHANGES[was, status]

    def _missing(self, name: str, was: Status) -> str:
        """A test of the base that this run does not name."""
        ended = self._ending_of_group(name)
        if ended == "failed":
            return _CHANGES[was, "failed"]
        if inside := self.opened.get(name) or self._in_file(name):
            # A file or package whose tests are named this time: each is judged by itself.
            mended = was == "failed" and "passed" in inside and "failed" not in inside
            return "fixed" if mended else ""
        if not self.now.unnamed:
            return "vanished"
        if was == "skipped":
            return ""
        if (file := _file_of(name)) in self.counted:
            passed = file in self.passed_files
        else:
            passed = ended == "passed" and self._as_many()
        return _CHANGES[was, "passed"] if passed or name in self.passing else "unknown"

    def _as_many(self) -> bool:
        """Whether as many tests ran, and no more of them were skipped."""
        as_many = self.now.total == self.base.total and self.now.skipped <= self.base.skipped
        return as_many and self.now.counts_skipped

    def _passed_files(self) -> Iterator[str]:
        """Files that both runs count, of which what this one does not name has passed: no fewer
        tests ran, no more of them were skipped, and each that fails is named and failed before. A
        new one may stand for one that is gone: that is settled by the base's own, put back."""
        failing = Counter(map(_file_of, self.failing))
        still = Counter(_file_of(id) for id in self.failing if self.base.by_id.get(id) == "failed")
        for file in self.counted:
            before, after = self.base.files[file], self.now.files[file]
            named = after.failed == failing[file] == still[file]
            if named and after.skipped <= before.skipped and sum(after) >= sum(before):
                yield file

    def _ending_of_group(self, name: str) -> Status | None:
        """Of the nearest file or package around it that this run names: vitest, jest and go name
        the tests in one only where one of them fails."""
        endings = (self.now.by_id.get(group) for group in above(name))
        ended = next((status for status in endings if status is not None), None)
        return "failed" if ended is None and self.files and tells_no_file(name) else ended

    def _in_file(self, name: str) -> set[Status]:
        """How the tests ended that a file which fails as a whole on the base may hold: those that
        the base does not have, and whose names tell no file."""
        if not is_file(name):
            return set()
        news = self.now.by_id.keys() - self.base.by_id.keys()
        return {self.now.by_id[id] for id in news if tells_no_file(id)}

    def _of_now(self, name: str, status: Status) -> str:
        if status == "failed":
            # It may be one of those that the base counts among the passed and does not name.
            passed = "passed" in self.base.unnamed and self._came_to_file_of(name)
            return "broken" if passed else "new_failing"
        # One that the base skips without naming it is new as well, once it runs.
        may_be_old = bool(self.base.unnamed - {"skipped"})
        return "" if may_be_old or name in self.closed else "new"

    def _came_to_file_of(self, name: str) -> bool:
        """Whether the base may have run the file of that test: not where it names each file, as
        vitest and jest do, and that one neither as passed nor by a test in it."""
        file = name.partition("::")[0]
        names_files = any(is_file(id) and was == "passed" for id, was in self.base.by_id.items())
        return not (names_files and is_file(file)) or any(
            id.partition("::")[0] == file for id in self.base.by_id
        )

    def _enough(self) -> bool:
        """Whether as many pass as must, where the runs count tests that they do not name."""
        if not self.base.unnamed and not self.now.unnamed:
            return True
        failed = {name for name, was in self.base.by_id.items() if was == "failed"}
        mended = sum(
            name in failed and self._ending_of_group(name) != "passed"
            for name in self.lists.get("unknown", ())
        )
        unsteady = len(self.lists.get("flaky", ()))
        return self.now.passed + unsteady >= self.base.passed + mended


_CHANGES: Mapping[tuple[Status, Status], str] = {
    ("passed", "passed"): "",
    ("passed", "failed"): "broken",
    ("passed", "skipped"): "skipped",
    ("failed", "passed"): "fixed",
    ("failed", "failed"): "still_failing",
    ("failed", "skipped"): "skipped",
    ("skipped", "passed"): "new",
    ("skipped", "failed"): "new_failing",
    ("skipped", "skipped"): "",
}
_NOT_PASSING = frozenset({"broken", "vanished", "skipped", "unknown"})


def above(name: str) -> Iterator[str]:
    """The files, classes and packages that a test lies in, nearest first."""
    at = len(name)
    for _ in range(_LEVELS):
        at = max(name.rfind(separator, 0, at) for separator in _SEPARATORS)
        if at <= 0:
            return
        yield name[:at]


def _file_of(name: str) -> str:
    return name.partition("::")[0]


_FILE = re.compile(r"\S+\.(?:py|[cm]?[jt]sx?)")


def is_file(name: str) -> bool:
    """Whether it is no test, but what stands for a file of them that could not be loaded."""
    return "::" not in name and _FILE.fullmatch(name) is not None


def tells_no_file(name: str) -> bool:
    """Whether a test's name leaves open what file it lies in: `node --test` and jest's XML have
    its title alone. Where such a test is missing and a file fails as a whole, it lies in there."""
    return "::" not in name and not is_file(name)


_FEW = 30
"""Names that are looked for one by one: a patch adds few tests, and a suite has thousands."""


def _groups(tests: Mapping[str, Status], among: Collection[str]) -> Mapping[str, set[Status]]:
    """Those of `among` that any of `tests` lies in, and how the tests in each ended."""
    rows: dict[str, set[Status]] = {}
    starts = tuple(name + mark for name in among for mark in _SEPARATORS)
    for name, status in tests.items():
        if len(among) > _FEW or name.startswith(starts):
            for group in above(name):
                if group in among:
                    rows.setdefault(group, set()).add(status)
    return rows


def reconcile(
    tests: Tests | None, exit_code: int | None, baseline: Tests | None = None
) -> tuple[str, ...]:
    """Sentences where the tests' own report does not fit the exit code or the baseline.

    `exit_code` is None where a signal or Hydra ended the check.
    """
    if tests is None:
        return ()
    return (*_against_exit(tests, exit_code), *_against_base(tests, baseline))


def _against_exit(tests: Tests, exit_code: int | None) -> Iterator[str]:
    where = "XML" if tests.source == "junit" else "output"
    if exit_code is None:
        yield f"the check did not end by itself: its {where} may not name every test"
    elif exit_code == 0 and tests.failed:
        yield f"the check exited with 0, and its {where} has {plural(tests.failed, 'failure')}"
    elif exit_code != 0 and tests.total and not tests.failed:
        yield (
            f"the check exited with {exit_code}, and its {where} has no failing test: "
            "something else failed"
        )


def _against_base(tests: Tests, baseline: Tests | None) -> Iterator[str]:
    if baseline is None:
        return
    compared = compare(baseline, tests)
    if compared is None:
        yield "its tests have other names than the base's: nothing can be compared"
        return
    if compared.vanished:
        yield _named(compared.vanished, "of the base did not run")
    if compared.skipped:
        yield _named(
            compared.skipped, "of the base ran there and not here, skipped or expected to fail"
        )
    uncounted = tests.unnamed or baseline.unnamed
    if uncounted and tests.total < baseline.total:
        yield f"{tests.total:,} tests ran, and {baseline.total:,} on the base"


def _named(names: tuple[str, ...], what: str) -> str:
    """Its names last: a screen cuts a long line at its end."""
    return f"{plural(names, 'test')} {what}: {join_names(names, SHOWN)}"


def end_of(tests: Tests, id: str) -> Status | None:
    """How a test ended in a run, also in one that names its failures alone: what that one does not
    name has passed, where it came to the file or the package that holds it."""
    status = tests.by_id.get(id)
    if status is not None or "passed" not in tests.unnamed or "failed" in tests.unnamed:
        return status
    if any(tests.by_id.get(group) == "failed" for group in above(id)):
        return "failed"
    file = _file_of(id)
    came = file in tests.files or any(_file_of(name) == file for name in tests.by_id)
    return "passed" if came else None


def changed_ids(
    own: CheckResult, on_base: Tests | None, brought: Collection[str]
) -> tuple[str, ...]:
    """Tests that its author's patch passes and that fail on the base by his version of them, the
    files `brought` there, and are not named as new: what they ask now, the base's code does not do.
    One that failed on the base by the base's own version is mended, and counted there; where a file
    does not import on the base, no test of it is named; and one in a file that he has not changed,
    as all that he changed has tests of its own, failed by chance."""
    now = own.comparison
    aside = {*now.new, *now.new_failing, *now.cut_off, *now.flaky} if now else set()
    aside.update(mended_ids(own, on_base, brought))
    return tuple(id for id in _turned(own, on_base, brought) if id not in aside)


def mended_ids(
    own: CheckResult, on_base: Tests | None, brought: Collection[str]
) -> tuple[str, ...]:
    """The same of those that are mended: whether they ask more by now, other patches tell that pass
    the base's version."""
    now = own.comparison
    mended = {*now.fixed, *now.unknown} if now else set()
    return tuple(id for id in _turned(own, on_base, brought) if id in mended)


def _turned(own: CheckResult, on_base: Tests | None, brought: Collection[str]) -> Iterator[str]:
    ended = own.tests
    if own.comparison is None or ended is None or on_base is None:
        return
    failing = {id for id, status in on_base.by_id.items() if status == "failed"}
    named = (id for id, status in ended.by_id.items() if status == "passed" and id in failing)
    unnamed = (id for id in on_base.by_id if id in failing and not is_file(id))
    ids = dict.fromkeys((*named, *(id for id in unnamed if end_of(ended, id) == "passed")))
    files = _groups_in(ended, brought) if ids else None
    yield from (id for id in ids if files is None or not files.isdisjoint(above(id)))


def _groups_in(tests: Tests, paths: Collection[str]) -> set[str] | None:
    """These files as their tests name them, by path or as modules; None where there are none, or
    one has no test that does."""
    groups = {group for id in tests.by_id for group in (id, *above(id))}
    rows = [groups.intersection(_forms(path)) for path in paths]
    return set().union(*rows) if rows and all(rows) else None


def _forms(path: str) -> Iterator[str]:
    parts = path.split("/")
    for at in range(len(parts)):
        inner = "/".join(parts[at:])
        yield inner
        yield inner.rpartition(".")[0].replace("/", ".")


def unloaded(own: CheckResult, on_base: Tests | None) -> tuple[str, ...]:
    """Files of the base's tests that cannot be loaded on the base by their author's version (they
    import what his code alone has), of which tests pass on his patch and none is new. Such a file
    is one test of what his code has; of what its tests expect it says nothing."""
    now, ended = own.comparison, own.tests
    files = (
        [id for id, end in on_base.by_id.items() if end == "failed" and is_file(id)]
        if on_base
        else []
    )
    if now is None or ended is None or not files:
        return ()
    passing = {top for id, end in ended.by_id.items() if end == "passed" for top in above(id)}
    fresh = {top for id in (*now.new, *now.new_failing) for top in above(id)}
    return tuple(file for file in files if file in passing - fresh and file not in now.fixed)

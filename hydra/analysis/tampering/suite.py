"""Both sides of a patch's tests, read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.diff_trim import trimmed_tests
from hydra.analysis.tampering.inline_tests import inline_changed
from hydra.analysis.tampering.languages import readers
from hydra.analysis.tampering.model import FileReading, TestRead
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    holds_tests,
    name_of,
    supports_tests,
)

MOST_CHARACTERS = 12 * 1024 * 1024
"""Of all files of one patch together; those that come later are not read."""


MOST_TRIMMED = 1024 * 1024
"""Characters of a file in which what is the same on both sides is looked for."""


class SuiteFiles(Struct, frozen=True):
    """The files of tests, by path, before and after; `unread` says of a file why it is not."""

    old: Mapping[str, FileReading]
    new: Mapping[str, FileReading]
    unread: Mapping[str, str]

    def tests(self, side: Mapping[str, FileReading]) -> Iterator[TestRead]:
        """All tests of one side, but for files that one side has not been read of."""
        for path, reading in side.items():
            if path not in self.unread:
                yield from reading.tests

    def unsure(self, path: str) -> bool:
        """Whether a file could only be read by its lines, on one side or both."""
        return any(side[path].problem for side in (self.old, self.new) if path in side)


def suite_of(files: Sequence[FileChange]) -> SuiteFiles:
    """Reads what has tests in it, or stands beside tests."""
    unread: dict[str, str] = {}
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    spent = 0
    for file in _in_turn(files):
        if file.unread or file.binary:
            if file.unread:
                unread[file.path] = "is not read: it is too large"
            continue
        spent += len(file.old or "") + len(file.new or "")
        if spent > MOST_CHARACTERS:
            unread[file.path] = "is not read: the patch has too much text"
            continue
        if file.old is not None:
            old[file.path] = file.old
        if file.new is not None:
            new[file.path] = file.new
    return _suite(old, new, unread, {file.path for file in files if file.collected})


def _suite(
    old: dict[str, str], new: dict[str, str], unread: dict[str, str], collected: Set[str]
) -> SuiteFiles:
    _trim(old, new)
    before, after = readers.read(old), readers.read(new)
    for side in (before, after):
        for path in side.keys() & collected:
            if not side[path].tests:  # by its name it has none
                side[path] = replace(side[path], tests=side[path].others, others=())
    for path in before.keys() | after.keys():
        sides = [side[path] for side in (before, after) if path in side]
        problem = next((side.problem for side in reversed(sides) if side.problem), "")
        if not problem:
            continue
        unread_ = any(not side.tests and not side.others for side in sides if side.problem)
        if unread_:
            unread[path] = problem
        else:
            for texts, side in ((old, before), (new, after)):
                if path in side and not side[path].problem:
                    side[path] = readers.by_lines(path, texts[path])
    return SuiteFiles(before, after, unread)


def _trim(old: dict[str, str], new: dict[str, str]) -> None:
    """Leaves out the tests that are as they were, unless a helper that they may call is not."""
    both = [path for path in old.keys() & new.keys() if path.endswith(".py")]
    if any(_helps(path) for path in (*old, *new)):
        return
    for path in both:
        if len(old[path]) <= MOST_TRIMMED and len(new[path]) <= MOST_TRIMMED:
            old[path], new[path] = trimmed_tests(old[path], new[path])


def _helps(path: str) -> bool:
    """Whether a file of tests is one that others take functions from."""
    if not path.endswith(".py"):
        return False
    return name_of(path) == "conftest.py" or not name_of(path).lower().startswith("test")


def _in_turn(files: Iterable[FileChange]) -> Iterator[FileChange]:
    """The files that are worth reading for tests, those of tests themselves first."""
    changes = [file for file in files if readers.is_code(file.path) and _is_relevant(file)]
    yield from sorted(changes, key=lambda file: not holds_tests(file))


def _is_relevant(file: FileChange) -> bool:
    if file.path.endswith(".rs"):
        return "#[" in (file.old or "") or "#[" in (file.new or "")
    return supports_tests(file) or name_of(file.path) == "conftest.py"


def tests_changed(files: Sequence[FileChange]) -> tuple[str, ...]:
    """Files of tests, what lies beside them (helpers, fixtures, snapshots), and code with tests in
    it, that were there before and whose tests the patch changes or deletes. What configures the
    tests is not among them."""
    inline = {file.path for file in inline_changed(files)}
    return tuple(
        file.path
        for file in files
        if file.path in inline or (existed(file) and supports_tests(file))
    )


def tests_added(files: Sequence[FileChange]) -> tuple[str, ...]:
    """What brings the patch's own tests elsewhere: new files of tests, files to which tests were
    added, and, where there are any, the helpers, fixtures and data beside them that the patch
    adds or changes."""
    suite = suite_of([file for file in files if holds_tests(file)])
    bringing = {file.path for file in files if exists(file) and _brings(file, suite)}
    if not bringing:
        return ()
    return tuple(file.path for file in files if file.path in bringing or _beside(file, suite))


def tests_brought(files: Sequence[FileChange]) -> tuple[str, ...]:
    """The same with the files of tests that the patch changes, so that what it asks of an old test
    now can be tried elsewhere too."""
    names = {file.path for file in files if exists(file) and supports_tests(file)}
    changed = [path for path in tests_changed(files) if path in names]
    return tuple(dict.fromkeys((*tests_added(files), *changed)))


def _brings(file: FileChange, suite: SuiteFiles) -> bool:
    """Whether a file of tests has some that it had not."""
    if not holds_tests(file) or file.binary:
        return False
    if file.path in suite.unread or file.path not in suite.new:
        return not existed(file) or bool(file.insertions)
    after = suite.new[file.path]
    before = suite.old.get(file.path, FileReading())
    if after.lines or before.lines:
        return len(after.lines) > len(before.lines)
    had = {(test.name, len(test.assertions)) for test in before.tests}
    return any((test.name, len(test.assertions)) not in had for test in after.tests)


def _beside(file: FileChange, suite: SuiteFiles) -> bool:
    """A helper, a fixture or data that new tests may need: never another file of tests."""
    if not exists(file):
        return False
    if name_of(file.path) == "conftest.py":
        return True
    if not supports_tests(file):
        return False
    reading = suite.new.get(file.path)
    return not existed(file) or reading is None or not (reading.tests or reading.lines)

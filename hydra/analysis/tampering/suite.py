"""Which files of a patch are tests: those that it changes, and those that bring its new ones."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.inline_tests import inline_changed
from hydra.analysis.tampering.regions import Suite
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    holds_tests,
    name_of,
    supports_tests,
)


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
    suite = Suite([file for file in files if holds_tests(file)])
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


def _brings(file: FileChange, suite: Suite) -> bool:
    """Whether a file of tests has some that it had not."""
    if not holds_tests(file) or file.binary:
        return False
    before, after = (lines.get(file.path) for lines in suite.lines)
    if after is not None:
        return after.total() > (before.total() if before else 0)
    if file.path not in suite.new.texts:
        return not existed(file) or bool(file.insertions)
    return not suite.new.asserting(file.path) <= suite.old.asserting(file.path)


def _beside(file: FileChange, suite: Suite) -> bool:
    """A helper, a fixture or data that new tests may need: never another file of tests."""
    if not exists(file):
        return False
    if name_of(file.path) == "conftest.py":
        return True
    if not supports_tests(file):
        return False
    has_tests = suite.new.asserting(file.path) or suite.lines[1].get(file.path)
    return not existed(file) or not has_tests

"""The integrity tree: a patch with the base's tests, and what runs them, as they are on the base.

Tests that it changed or deleted are the base's, its new ones are out; so are what configures tests
and checks, newcomers that nobody can read, and of a manifest the parts for tests. All else is the
patch's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import language_of, may_reach
from hydra.analysis.tampering.commands import RunCommands, drives_tests, is_task_file, runs
from hydra.analysis.tampering.inline_tests import inline_changed, put_back, tests_itself
from hydra.analysis.tampering.manifests import (
    Parts,
    is_lines,
    is_manifest,
    leads,
    test_parts,
    with_test_parts,
)
from hydra.analysis.tampering.named_data import data_alone
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    holds_tests,
    is_configuration,
    is_named,
    name_of,
    supports_tests,
    with_moves,
)
from hydra.records.request import Check

_ALWAYS = (
    *("pytest", "tox", "testenv", "coverage", "nose", "nox", "jest", "vitest", "mocha", "ava"),
    "babel",
)


class Restore(Struct, frozen=True):
    """What of a patch is put back: its tests, new ones among them, and what configures them."""

    tests: tuple[FileChange, ...] = ()
    settings: tuple[FileChange, ...] = ()


def to_restore(files: Sequence[FileChange], checks: Sequence[Check] = ()) -> Restore:
    """What is to be put back of a patch whose checks are these; nothing where the base's tests
    cannot end otherwise for it: it adds tests that leave others alone. Of new tests those stay
    that the rest is not built without."""
    settings = settings_changed(files, checks)
    inline = {file.path for file in inline_changed(files) if put_back(file, files) is not None}
    tests = [
        file
        for file in files
        if file not in settings and (file.path in inline or supports_tests(file))
    ]
    disturbing = disturbers(files)
    if tests and data_alone(files) and all(file.holds == "data" for file in tests):
        return Restore()  # whether it is the tests' or what they test, no run can tell
    if not (settings or any(map(existed, tests)) or disturbing):
        return Restore()
    rest = [file for file in files if file not in settings and file not in tests]
    return Restore(
        tuple(
            file
            for file in tests
            if existed(file) or file.path in disturbing or not _is_built(file, rest)
        ),
        settings,
    )


_PROSE = (".md", ".rst")


def _is_built(test: FileChange, rest: Sequence[FileChange]) -> bool:
    """Whether a new file of tests is one that the rest of the patch is not built without: a list of
    sources names it, or `mod pages_test;` does."""
    name = name_of(test.path)
    module = f"mod {name.removesuffix('.rs')};"
    texts = (file.new or "" for file in rest if existed(file) and not file.path.endswith(_PROSE))
    return any(name in text or module in text for text in texts)


def settings_changed(
    files: Sequence[FileChange], checks: Sequence[Check] = ()
) -> tuple[FileChange, ...]:
    """What the patch adds, changes or deletes and that says how tests or checks run: files for the
    tests' runner (conftest.py, pytest.ini, jest.config.js ...), manifests whose parts for it
    differ, what the checks' commands run or read, and new files that are compiled or vendored."""
    running = runs(checks)
    own = {file.path for file in files if supports_tests(file) and not existed(file)}
    return tuple(
        file
        for file in files
        if not holds_tests(file) and file.path not in own and _steers(file, running)
    )


def is_newcomer(file: FileChange) -> bool:
    """Whether a new file is compiled or vendored: what it takes the place of is not to be read."""
    return not existed(file) and bool(_NEWCOMER.search(file.path))


_NEWCOMER = re.compile(
    r"\.(?:so|pyd|pyc|dll|dylib|class|jar)$|(?:^|/)(?:node_modules|site-packages)/"
    r"|^(?:(?:src|lib)/)?__mocks__/"
)


def disturbers(files: Sequence[FileChange]) -> dict[str, str]:
    """New files beside tests for which others may end otherwise, each with the line by which: it
    changes another module, or loads code of the patch that does. One that is no test by its name
    may be found before another ("")."""
    files = with_moves(files)
    code = (file for file in files if file.path.endswith(".py") and not supports_tests(file))
    beside = next(filter(None, map(may_reach, code)), "")
    new = [
        file
        for file in files
        if exists(file) and not existed(file) and supports_tests(file)
        if language_of(file.path) or name_of(file.path) == "package.json"
    ]
    lines = {file.path: may_reach(file) or beside for file in new}
    helps = {file.path for file in new if not is_named(file.path) and (file.new or "").strip()}
    return {path: line for path, line in lines.items() if line or path in helps}


def _steers(file: FileChange, running: RunCommands) -> bool:
    if is_manifest(file.path):
        return bool(parts_changed(file, running))
    if is_configuration(file.path) or is_newcomer(file):
        return True
    if running.has(file.path) and not tests_itself(file):
        return True
    if not supports_tests(file) and drives_tests(file.path, file.old or ""):
        return True
    return is_task_file(file.path) and _runs_tests(file)


_RUNNING = re.compile(
    r"test|check|spec|exit|\|\||\bset\s+[+-]|NODE_|PYTHON|PYTEST|jest|mocha|vitest|\bnox\b|\btox\b"
    r"|alias|passWithNoTests|setupFiles"
)
_OF_MAKE = re.compile(r"(?:gnu)?makefile|.*\.mk", re.I)
_VARIABLE = re.compile(rf"{_RUNNING.pattern}|^[ \t]*(?:export[ \t]+)?\w+[ \t]*[:?+]?=")
"""Of make, whose recipes may say by a variable where or by what they run."""


_MAPPING = re.compile(r"\"\s*:\s*\[?\s*\"[^\"]*\b(?:tests?|__tests__|mocks?|fakes?|stubs?|spec)/")
"""Of tsconfig.json: a module's name that leads into the tests."""


def _runs_tests(file: FileChange) -> bool:
    """Whether lines that differ in a file of tasks have to do with running tests."""
    telling = _MAPPING if file.path.endswith(".json") else _RUNNING
    if _OF_MAKE.fullmatch(name_of(file.path)):
        telling = _VARIABLE
    old, new = ({*(text or "").split("\n")} for text in (file.old, file.new))
    return any(telling.search(line) for line in old ^ new)


def parts_changed(file: FileChange, running: RunCommands) -> dict[str, tuple[Any, Any]]:
    """Of a manifest, by name, the parts that tests or checks read and that differ, before and
    after (None: not there). One that cannot be read has the part ""."""
    old, new = test_parts(file.path, file.old), test_parts(file.path, file.new)
    if old is None or new is None or file.unread:
        return {"": (None, None)}
    tasks = _reached(running.tasks, (old, new))
    return {
        name: (old.get(name), new.get(name))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
        and (is_lines(file.path) or _concerns(name, running, tasks))
    }


def _reached(tasks: frozenset[str], sides: Sequence[Parts]) -> frozenset[str]:
    """The scripts of package.json that these run, and those that run before and after them."""
    reached: set[str] = set()
    waiting = {*tasks}
    while waiting:
        reached |= waiting
        texts = [str(side.get(f"scripts.{task}", "")) for side in sides for task in waiting]
        documents = {document for text in texts for document in _TASK.findall(text)}
        called = {task for task in documents if any(f"scripts.{task}" in side for side in sides)}
        around = {f"{when}{task}" for task in called for when in ("pre", "post")}
        waiting = (called | around) - reached
    return frozenset(reached)


_TASK = re.compile(r"(?:npm:)?([\w:.@/-]+)")


def restored(path: str, old: str | None, new: str | None) -> str | None:
    """The text to put at `path` so that the base's configuration holds; None: no file there.

    `old` and `new` are the base's text and the patch's, None where there is none. Of a manifest
    the base's parts for tests are put into the patch's text, so that what it depends on is the
    patch's. Of all others, and of one that cannot be read, the base's text is given whole.
    """
    if not is_manifest(path) or new is None:
        return old
    return with_test_parts(path, new, old)


def _concerns(name: str, running: RunCommands, tasks: frozenset[str]) -> bool:
    """Whether a part of a manifest is one that tests always read, or that a check runs."""
    if name.startswith("scripts."):
        return name.removeprefix("scripts.") in tasks
    bare = name.removeprefix("tool.").removeprefix("tool:")
    tool = re.split(r"[.:]", bare)[0].removesuffix("Config")
    return leads(name) or bare.startswith(_ALWAYS) or tool in running.names

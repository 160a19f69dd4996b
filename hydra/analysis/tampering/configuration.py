"""What of a patch says how the tests and checks run, and how to put the base's back."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import manifests
from hydra.analysis.tampering.bending import may_reach
from hydra.analysis.tampering.commands import RunCommands, drives_tests, is_task_file, runs
from hydra.analysis.tampering.manifests import (
    UNREADABLE,
    Lines,
    Parts,
    leads,
    manifest_of,
    parts_of,
)
from hydra.analysis.tampering.shadows import shadows
from hydra.analysis.tampering.test_files import (
    existed,
    holds_tests,
    is_configuration,
    is_support,
    name_of,
    supports_tests,
)
from hydra.records.request import Check

_ALWAYS = (
    *("pytest", "tox", "coverage", "nose", "nox", "jest", "vitest", "mocha", "ava", "babel"),
)
_ALWAYS_SECTIONS = ("tool:pytest", "pytest", "coverage:", "tox", "testenv")


def configuration(
    files: Sequence[FileChange], checks: Sequence[Check] = (), base: Collection[str] = ()
) -> tuple[str, ...]:
    """Paths that the patch adds, changes or deletes and that say how tests or checks run.

    Those are files for the tests' runner (conftest.py, pytest.ini, jest.config.js ...), manifests
    whose parts for it differ, what the checks' commands run or read, and new files that take
    another module's place or change others (`intruders`). `base` are the base's paths.
    """
    running = runs(checks)
    steering = {file.path for file in files if not holds_tests(file) and steers(file, running)}
    steering |= {*intruders(files, base)}
    return tuple(file.path for file in files if file.path in steering)


def intruders(files: Sequence[FileChange], base: Collection[str] = ()) -> dict[str, str]:
    """New files that change what the base's own tests run on, each with what it does: shadows of
    modules, and files of tests that change other modules while they are loaded."""
    reached = {file.path: change for file in files if (change := reaching(file))}
    if beside := _beside(files):
        new = (file for file in files if holds_tests(file) and not existed(file))
        reached = {file.path: beside for file in new} | reached
    return reached | {shadow.path: "" for shadow in shadows(files, base)}


def _beside(files: Sequence[FileChange]) -> str:
    """What code that is no test has come to change of other modules: its new tests may load it."""
    code = (file for file in files if file.path.endswith(".py") and not supports_tests(file))
    return next(filter(None, map(may_reach, code)), "")


def reaching(file: FileChange) -> str:
    """What a new file beside tests changes outside of itself, "" where nothing is seen."""
    if existed(file) or is_configuration(file.path) or not supports_tests(file):
        return ""
    return may_reach(file)


def steers(file: FileChange, running: RunCommands) -> bool:
    """Whether one file of a patch is such a one."""
    if manifest_of(file.path) is not None:
        renames = renames_beside_tests(file.path, file.old, file.new)
        return renames or bool(changed_parts(file, running))
    if is_configuration(file.path) or running.has(file.path):
        return True
    if not supports_tests(file) and drives_tests(file.path, file.old or ""):
        return True
    return is_task_file(file.path) and _runs_tests(file)


def renames_beside_tests(path: str, old: str | None, new: str | None) -> bool:
    """Whether a new package.json beside tests gives modules other names for them alone."""
    beside = path.endswith("/package.json") and is_support(path)
    return beside and old is None and '"imports"' in (new or "")


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


def changed_parts(file: FileChange, running: RunCommands) -> dict[str, tuple[Any, Any]]:
    """Of a manifest, by name, the parts that tests or checks read and that differ, before and
    after (None: not there). One that cannot be read has the part ""."""
    old, new = parts_of(file.path, file.old), parts_of(file.path, file.new)
    if old is None or new is None or file.unread:
        return {"": (None, None)}
    tasks = _reached(running.tasks, (old, new))
    every = isinstance(manifest_of(file.path), Lines)
    return {
        name: (old.get(name), new.get(name))
        for name in {**old, **new}
        if old.get(name) != new.get(name) and (every or _concerns(name, running, tasks))
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

    `old` and `new` are the base's text and the patch's, None where there is none. Of
    pyproject.toml, package.json and setup.cfg the base's parts for tests and checks are put into
    the patch's text, so that what it depends on is the patch's. Of all others, and of a manifest
    that cannot be read, the base's text is given whole.
    """
    manifest = manifest_of(path)
    if manifest is None or new is None or len(new) > manifests.MOST:
        return old
    if renames_beside_tests(path, old, new):
        return None
    parts = parts_of(path, old)
    if parts is None:
        return old
    try:
        if parts == manifest.parts(new):
            return new
        return manifest.with_parts(new, parts)
    except UNREADABLE:
        return old


def _concerns(name: str, running: RunCommands, tasks: frozenset[str]) -> bool:
    """Whether a part of a manifest is one that tests always read, or that a check runs."""
    if name in _ALWAYS or name.startswith(_ALWAYS_SECTIONS) or leads(name):
        return True
    if name.startswith("scripts."):
        return name.removeprefix("scripts.") in tasks
    tool = name.partition(".")[0].partition(":")[0].removesuffix("Config")
    return tool in running.names

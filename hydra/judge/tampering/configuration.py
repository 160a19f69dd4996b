"""What of a patch says how the tests and checks run, and how to put the base's back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra.judge.evidence import FileChange
from hydra.judge.tampering import manifests
from hydra.judge.tampering.commands import Runs, runs
from hydra.judge.tampering.manifests import UNREADABLE, manifest_of, parts_of
from hydra.judge.tampering.places import is_configuration
from hydra.model import Check

_ALWAYS = ("pytest", "tox", "coverage", "nose", "nox", "jest", "vitest", "mocha", "ava")
_ALWAYS_SECTIONS = ("tool:pytest", "pytest", "coverage:", "tox", "testenv")


def configuration(files: Sequence[FileChange], checks: Sequence[Check] = ()) -> tuple[str, ...]:
    """Paths that the patch adds, changes or deletes and that say how tests or checks run.

    Those are files for the tests' runner (conftest.py, pytest.ini, jest.config.js ...), manifests
    whose parts for it differ, and what the checks' commands run or read.
    """
    running = runs(checks)
    return tuple(file.path for file in files if steers(file, running))


def steers(file: FileChange, running: Runs) -> bool:
    """Whether one file of a patch is such a one."""
    if manifest_of(file.path) is not None:
        return bool(changed_parts(file, running))
    return is_configuration(file.path) or running.has(file.path)


def changed_parts(file: FileChange, running: Runs) -> dict[str, tuple[Any, Any]]:
    """Of a manifest, by name, the parts that tests or checks read and that differ, before and
    after (None: not there). One that cannot be read has the part ""."""
    old, new = parts_of(file.path, file.old), parts_of(file.path, file.new)
    if old is None or new is None or file.unread:
        return {"": (None, None)}
    return {
        name: (old.get(name), new.get(name))
        for name in {**old, **new}
        if old.get(name) != new.get(name) and _concerns(name, running)
    }


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
    parts = parts_of(path, old)
    if parts is None:
        return old
    try:
        if parts == manifest.parts(new):
            return new
        return manifest.with_parts(new, parts)
    except UNREADABLE:
        return old


def _concerns(name: str, running: Runs) -> bool:
    """Whether a part of a manifest is one that tests always read, or that a check runs."""
    if name in _ALWAYS or name.startswith(_ALWAYS_SECTIONS):
        return True
    if name.startswith("scripts."):
        return name.removeprefix("scripts.") in running.tasks
    tool = name.partition(".")[0].partition(":")[0].removesuffix("Config")
    return tool in running.words

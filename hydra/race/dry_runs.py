"""Looks that passed: the same tests in the same environment start again, so the next race's agents
do not wait for another one. Only a pass is remembered, by all that it hung on, for a day.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path, PurePosixPath

from hydra import __version__, paths
from hydra.adapters.probe.cache import CachedAnswer, Memory
from hydra.checks.context import CheckContext
from hydra.config.check_names import split_folder, words_of
from hydra.records.request import Check
from hydra.workspace.dependencies import Dependencies

_DAY = 24 * 3600.0
"""What lies outside of the checkout's own folders (a Python of the system's) is looked at again."""

_MOST = 50_000
"""Entries of an environment; to read more would take as long as a look."""

_CACHES = frozenset((".mypy_cache", ".ruff_cache"))
"""No test is started from them, and a linter that was run changes them."""


class PassedLook:
    """One look among those that have passed, in a file of the user's cache folder."""

    def __init__(self, context: CheckContext, commit: str, environ: Mapping[str, str]) -> None:
        """Waits for the kit's dependencies. Raises `OSError`, `HydraError`."""
        self._key = _key(context, commit)
        self._memory = Memory(paths.cache_dir(environ) / "looks.json")

    @property
    def remembered(self) -> bool:
        """Whether it has passed before."""
        return bool(self._key) and self._memory.answer(self._key) is not None

    def remember(self) -> None:
        """That it has passed now."""
        if self._key:
            self._memory.keep(self._key, CachedAnswer(argv=(), exit_code=0), _DAY)
            self._memory.save()


def _key(context: CheckContext, commit: str) -> str:
    """ "" where not all that the checks start from lies in the checkout's dependencies."""
    if context.dependencies is None or context.copies:
        return ""
    dependencies = context.dependencies()
    if not all(_is_inside(check, dependencies) for check in context.checks):
        return ""
    digest = hashlib.sha256()
    for part in chain(_surroundings(context, commit), _entries(dependencies)):
        if part is None:
            return ""
        digest.update(f"{part!r}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _is_inside(check: Check, dependencies: Dependencies) -> bool:
    folder, command = split_folder(check.command)
    program = PurePosixPath(folder, next(iter(words_of(command)), ""))
    return any(path in program.parents for path in dependencies.folders)


def _surroundings(context: CheckContext, commit: str) -> tuple[object, ...]:
    return (
        *(__version__, str(context.repository.root), commit, context.checks, context.confinement),
        *(context.python_path, context.unrestricted, context.network, context.view()),
        sorted(context.environment.items()),
    )


def _entries(dependencies: Dependencies) -> Iterator[object]:
    """Each entry with its kind, size and time, and those of what a link leads to; None for too
    many."""
    names = (*dependencies.folders, *dependencies.files)
    waiting = [str(dependencies.frozen / name) for name in names if name.name not in _CACHES]
    yield [_stamp(os.lstat(name)) for name in waiting]
    yield names
    read = 0
    while waiting:
        with suppress(NotADirectoryError), os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                read += 1
                yield _entry(entry, dependencies.frozen)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        if read > _MOST:
            yield None


def _entry(entry: os.DirEntry[str], top: Path) -> tuple[object, ...]:
    own = (entry.path.removeprefix(str(top)), *_stamp(entry.stat(follow_symlinks=False)))
    if not entry.is_symlink():
        return own
    with suppress(OSError):
        return (*own, str(Path(entry.path).readlink()), *_stamp(entry.stat()))
    return own


def _stamp(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_mode, stat.st_size, stat.st_mtime_ns

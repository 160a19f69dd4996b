"""What every part of a run's folder is made with: whole writes, atomic documents, the lock."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

UNBORN = ".new"
GONE = ".gone"
"""Ends the hidden name of a run that is being made, and of one that is being removed."""


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Writes JSON beside `path`, syncs it, and renames it into place."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    text = json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False, default=str)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        write_all(descriptor, text.encode() + b"\n")
        os.fsync(descriptor)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Holds a run's lock, ended or not; False where somebody else has it, or it has gone."""
    lock = take_lock(folder)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def open_lock(folder: Path) -> int:
    """A descriptor of a run's lock file, made if need be; not locked yet."""
    return os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def take_lock(folder: Path) -> int | None:
    """The descriptor that holds a run's lock; None where somebody has it, or the run has gone."""
    try:
        lock = open_lock(folder)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), (folder / "lock").stat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass  # taken away from under the name, or held
    os.close(lock)
    return None


def open_append(path: Path) -> int:
    """A descriptor that only ever adds, readable by the user alone."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of `data`, however many writes that takes. Raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

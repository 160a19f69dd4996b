"""What every part of a run's folder is made with: whole writes, atomic documents, the lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hydra.records.codec import SCHEMA, dump, parse, shaped

UNBORN = ".new"
GONE = ".gone"
"""Ends the hidden name of a run that is being made, and of one that is being removed."""
DRAFT = "draft-"
"""Begins the name of a folder that only its maker needs."""
LOCK = "lock"
"""The file in a folder whose lock is held while somebody is at work there."""


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Writes JSON without typed secrets beside `path`, syncs it, and renames it into place."""
    write_whole(path, dump(document).encode())


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object, such as `write_json` writes. Raises `OSError`, and `ValueError` for whatever
    else stands there: damage, another value, or more levels than can be read."""
    return parse(path.read_bytes())


def read_known(path: Path) -> dict[str, Any]:
    """The same with a schema that is known. Raises `ValueError` for a newer Hydra's too."""
    document = read_object(path)
    if (schema := shaped(document.get("schema"), int)) > SCHEMA:
        raise ValueError(f"a newer Hydra has written {path.name}: schema {schema}")
    return document


def write_whole(path: Path, data: bytes) -> None:
    """Writes `data` beside `path`, syncs it, and renames it into place. Raises `OSError`."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        write_all(descriptor, data)
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
    return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def take_lock(folder: Path) -> int | None:
    """The descriptor that holds a run's lock; None where somebody has it, or the run has gone."""
    with suppress(FileNotFoundError):
        lock = open_lock(folder)
        with suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), (folder / LOCK).stat()):
                return lock  # and not of one that was taken away from under the name
        os.close(lock)
    return None


@contextmanager
def shared(folder: Path) -> Iterator[bool]:
    """Keeps a run from being removed while it is read, where its lock can be had at once; False
    where somebody is at work there."""
    lock, is_free = -1, True
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        is_free = False
    except OSError:
        pass  # it has none, or it is another user's
    try:
        yield is_free
    finally:
        if lock >= 0:
            os.close(lock)


def open_append(path: Path) -> int:
    """A descriptor that only ever adds, readable by the user alone."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of `data`, however many writes that takes. Raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

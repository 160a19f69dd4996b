"""One version of a file of the user's: its facts before it was read, and what was read.

The facts are taken first. What is saved while or after the content is read bears other facts, so
that it is never taken for what was read; where facts alone cannot tell (a time that was put back,
a clock that had not ticked), the content does.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import stat
from contextlib import suppress
from typing import NamedTuple

from hydra.landing.swap import Mark, look_at

_DIGEST_BYTES = 16
_PIECE = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Version(NamedTuple):
    """`mark` outlives a rename; `device` and `ctime_ns` do not, and tell more until then."""

    mark: Mark
    device: int
    ctime_ns: int

    @classmethod
    def of(cls, path: bytes) -> Version | None:
        """What stands there now; None where nothing does."""
        facts = look_at(path)
        return None if facts is None else cls.read(facts)

    @classmethod
    def read(cls, facts: os.stat_result) -> Version:
        """Of a file that was looked at."""
        return cls(Mark.read(facts), facts.st_dev, facts.st_ctime_ns)

    def digest(self, path: bytes) -> str | None:
        """The digest of this very version; None where another one stands there by now, came while
        it was read, or where it cannot be read."""
        try:
            digest = digest_of(path)
        except OSError:
            return None
        return digest if Version.of(path) == self else None


def digest_of(path: bytes) -> str:
    """Of a file's bytes or a link's target; "" for what has none. Raises `OSError`."""
    if os.path.islink(path):  # noqa: PTH114  bytes
        return _hash(os.readlink(path)).hexdigest()  # noqa: PTH115
    fd = os.open(path, _READ)
    try:
        return _digest(fd) if stat.S_ISREG(os.fstat(fd).st_mode) else ""
    finally:
        os.close(fd)


def _digest(fd: int) -> str:
    content = _hash()
    while piece := os.read(fd, _PIECE):
        content.update(piece)
    return content.hexdigest()


def _hash(data: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES)


def is_written_to(path: bytes) -> bool | None:
    """Whether some process has this file open to write, or mapped so; None where the kernel does
    not say: another owner's file, a file system of a network.

    Asked by a lease: it is granted only where nobody has.
    """
    try:
        fd = os.open(path, _READ)
    except OSError:  # a link, which nobody can have open; else it cannot be said
        return False if os.path.islink(path) else None  # noqa: PTH114
    try:
        return _is_leased(fd)
    finally:
        os.close(fd)


def _is_leased(fd: int) -> bool | None:
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # else who opens it meanwhile ends Hydra
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    with suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False

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
from typing import NamedTuple

from hydra.landing.swap import FileMark, look_at

_DIGEST_BYTES = 16
_PIECE = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Version(NamedTuple):
    """`mark` outlives a rename; `device` and `ctime_ns` do not, and tell more until then."""

    mark: FileMark
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
        return cls(FileMark.read(facts), facts.st_dev, facts.st_ctime_ns)

    def digest(self, path: bytes) -> str | None:
        """The digest of this very version; None where another one stands there by now, came while
        it was read, or where it cannot be read."""
        try:
            digest = digest_of(path, self.mark)
        except OSError:
            return None
        return digest if Version.of(path) == self else None


def digest_of(path: bytes, mark: FileMark) -> str:
    """Of the bytes of a file of this mark, or of a link's target; "" of what has none. Raises
    `OSError`."""
    if stat.S_ISLNK(mark.mode):
        return _hash(os.readlink(path)).hexdigest()  # noqa: PTH115  bytes
    if not stat.S_ISREG(mark.mode):
        return ""
    fd = os.open(path, _READ)
    try:
        return _digest(fd, mark.size)
    finally:
        os.close(fd)


def is_written_to(path: bytes) -> bool:
    """Whether some process surely has this file open to write, or mapped so.

    Asked by a lease: it is granted only where nobody has, and ends with the descriptor.
    """
    try:
        fd = os.open(path, _READ)
    except OSError:
        return False
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # else who opens it meanwhile ends Hydra
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:  # the kernel does not say: another owner's file, a network's file system
        return False
    finally:
        os.close(fd)
    return False


def _digest(fd: int, size: int) -> str:
    content = _hash()
    while piece := os.read(fd, min(size + 1, _PIECE)):
        content.update(piece)
        if len(piece) == size:
            break
    return content.hexdigest()


def _hash(data: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES)

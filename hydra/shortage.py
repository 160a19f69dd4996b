"""What a machine at its limits refuses: no mistake of Hydra's, and no traceback for anybody."""

from __future__ import annotations

import errno
import os

from hydra.errors import Exhausted

_FILES = "raise the limit of open files (`ulimit -n 1024`), or race fewer agents at once"
_PROCESSES = "raise the limit of processes (`ulimit -u`, a container's own), or race fewer at once"
_MEMORY = "end other programs, raise the limit of memory, or race fewer agents at once"
_DISK = "make room: `hydra runs` shows what each race takes, `hydra runs rm` removes one"
_DEVICE = "see to that disk; what other disks have is not touched"

_REFUSALS = {
    errno.EMFILE: ("Hydra may open no more files", _FILES),
    errno.ENFILE: ("the machine has too many open files", _FILES),
    errno.EAGAIN: ("no more processes or threads may be started", _PROCESSES),
    errno.ENOMEM: ("there is no memory left", _MEMORY),
    errno.ENOSPC: ("there is no room left on the disk", _DISK),
    errno.EDQUOT: ("your share of the disk is used up", _DISK),
    errno.EFBIG: ("no file may grow so large", "raise the limit of a file's size (`ulimit -f`)"),
    errno.EROFS: ("the disk can only be read", _DEVICE),
    errno.EIO: ("the disk does not do what it should", _DEVICE),
}

PASSING = (errno.EAGAIN, errno.ENOMEM)
WAITS = (0.1, 0.4, 1.6)
"""Seconds before each further try."""

_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


def shortage(error: BaseException) -> Exhausted | None:
    """What the machine refused, in words and with a next step; None for any other error."""
    number = _number(error)
    if number not in _REFUSALS:
        return None
    message, hint = _REFUSALS[number]
    place = getattr(error, "filename", None) if number in _OF_DISKS else None
    return Exhausted(f"{message}: {place}" if place else message, hint=hint)


def named_shortage(name: str) -> Exhausted | None:
    """The same by the name of an error, as EMFILE; of disks' none."""
    number = getattr(errno, name, 0) if name else 0
    return None if number in _OF_DISKS else shortage(OSError(number, ""))


def is_passing(error: BaseException) -> bool:
    """Whether it, or what it was raised for, is a want of processes, threads or memory: who asks
    again a little later may get them, as other programs end."""
    cause = error.__cause__
    return _number(error) in PASSING or (cause is not None and is_passing(cause))


def is_short(stderr: str) -> bool:
    """Whether a program has ended for such a want, by what it wrote."""
    return any(os.strerror(number) in stderr for number in PASSING)


def _number(error: BaseException) -> int | None:
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return errno.EAGAIN
    return error.errno if isinstance(error, OSError) else None

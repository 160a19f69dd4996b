"""A command for which the kernel refuses some of its calls: `python FILE WHAT COMMAND [ARG ...]`.

A seccomp filter answers them for the command and all it starts: as a kernel without Landlock does
(before Linux 5.13), and as a file system without hard links, without `renameat2`, or without both.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

_ARM = os.uname().machine == "aarch64"
_LINKS = dict.fromkeys((37,) if _ARM else (86, 265), errno.EPERM)
_RENAMES = {276 if _ARM else 316: errno.EINVAL}
WHAT = {
    "landlock": {444: errno.ENOSYS},
    "links": _LINKS,
    "renames": _RENAMES,
    "links-renames": {**_LINKS, **_RENAMES},
}
"""By name: the calls' numbers, and what each is answered."""

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_REFUSED, _ALLOW = 0x00050000, 0x7FFF0000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def refuse(what: str) -> None:
    """From now on, for this thread and all that it starts."""
    steps = [(0x20, 0, 0, 0)]
    for number, answer in WHAT[what].items():
        steps += [(0x15, 0, 1, number), (6, 0, 0, _REFUSED | answer)]
    steps.append((6, 0, 0, _ALLOW))
    program = _Program(len(steps), b"".join(struct.pack("HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    for option in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program))):
        if libc.prctl(*option):
            sys.exit(f"no filter can be laid here: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    refuse(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])

"""A command as on a kernel without Landlock (before Linux 5.13): `python -m ... COMMAND [ARG ...]`.

A seccomp filter answers its system call as such a kernel does, for the command and all it starts.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_CREATE_RULESET = 444
"""The same number on every machine."""

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_NOT_THERE, _ALLOW = 0x00050000 | 38, 0x7FFF0000
_STEPS = ((0x20, 0, 0, 0), (0x15, 0, 1, _CREATE_RULESET), (6, 0, 0, _NOT_THERE), (6, 0, 0, _ALLOW))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def main(command: list[str]) -> None:
    """Becomes the command."""
    steps = b"".join(struct.pack("HBBI", *step) for step in _STEPS)
    program = _Program(len(_STEPS), steps)
    libc = ctypes.CDLL(None, use_errno=True)
    for option in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program))):
        if libc.prctl(*option):
            sys.exit(f"no filter can be laid here: {os.strerror(ctypes.get_errno())}")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])

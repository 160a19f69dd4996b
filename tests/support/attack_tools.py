"""What a scripted attack inside of a lane works with: plain Python, the C library, one report.

The attacks' modules are copied into the repository that is raced on, so that an agent runs them in
its worktree as `python -m`, whatever else it may see. They report what they took; what that means
is judged outside (tests/attack/test_keeper_attacks.py). System calls go by number, as on x86-64.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
PATIENCE = 5
NEW_USER, NEW_MOUNTS, NEW_PIDS = 0x10000000, 0x00020000, 0x20000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SHARED, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 20, 1 << 18

Attack = Callable[[], object]


def checked(result: int) -> int:
    """A C function's result; its error is raised."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, errno.errorcode.get(number, "?"))
    return result


def syscall(number: int, *args: Any) -> int:
    """One system call; whole numbers are passed as longs."""
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in args]
    return checked(LIBC.syscall(ctypes.c_long(number), *passed))


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> int:
    """mount(2)."""
    names = [value.encode() for value in (source, target, kind)]
    return checked(LIBC.mount(*names, ctypes.c_ulong(flags), data.encode() or None))


def unmount(target: str) -> int:
    """umount2(2), detaching."""
    return checked(LIBC.umount2(target.encode(), 2))


def read(path: str, size: int = 4096) -> bytes:
    """The first bytes of a file; opened once and never created."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)


def write(path: str, data: bytes) -> int:
    """Into a file that is there."""
    fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    try:
        return os.write(fd, data)
    finally:
        os.close(fd)


def nest(flags: int = NEW_USER | NEW_MOUNTS) -> None:
    """Goes on as root of a user namespace of its own."""
    uid, gid = os.getuid(), os.getgid()
    checked(LIBC.unshare(flags))
    write("/proc/self/setgroups", b"deny")
    write("/proc/self/uid_map", b"0 %d 1" % uid)
    write("/proc/self/gid_map", b"0 %d 1" % gid)


def nested(attack: Callable[..., object], *args: object) -> Attack:
    """The attack, as root of namespaces of its own."""

    def run() -> object:
        nest()
        return attack(*args)

    return run


def carry_out(attacks: Mapping[str, Attack]) -> dict[str, str]:
    """Each in a process of its own, with a limit; by name `took: ...` or `denied: ...`."""
    return {name: _result(attack) for name, attack in attacks.items()}


def _result(attack: Attack) -> str:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        os.write(writing, _tried(attack).encode("utf-8", "replace")[:30000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read().decode("utf-8", "replace")
    os.waitpid(pid, 0)
    return text or "denied: it was ended"


def _tried(attack: Attack) -> str:
    try:
        loot = attack()
    except BaseException as problem:
        return f"denied: {problem!r}"
    return "denied: nothing was got" if loot in (None, b"", "", []) else f"took: {loot!r}"


def report(name: str, loot: Mapping[str, Any]) -> None:
    """Into the worktree: it comes out with the patch."""
    Path(f"{name}.json").write_text(json.dumps(loot, indent=1))


def facts() -> dict[str, Any]:
    """What the test says: places and names that an attacker would guess."""
    data: dict[str, Any] = json.loads(sys.argv[1])
    return data

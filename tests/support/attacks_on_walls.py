"""Attacks on mounts, devices, sockets, IPC, keys: `python -m tests.support.attacks_on_walls`.

FACTS names what lies outside: {"secret": file that is hidden, "canary": file that may not change,
"home", "state": folders, "socket": abstract name, "key": its description, "shm": a SysV key}.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH109, PTH110, PTH116, PTH119, PTH120, PTH208, PTH211
# What is attacked are system calls.

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import re
import socket
import stat
import struct
import termios
from pathlib import Path
from types import SimpleNamespace

from tests.support.attack_tools import (
    LIBC,
    MS_BIND,
    MS_REC,
    MS_REMOUNT,
    MS_SHARED,
    Attack,
    carry_out,
    checked,
    facts,
    mount,
    nest,
    nested,
    read,
    report,
    syscall,
    unmount,
    write,
)

LAY = SimpleNamespace()
"""What lies where: FACTS, once this is run."""

EVIL = b"evil"
USER, SESSION, USER_SESSION, PROCESS = -4, -3, -5, -2


def secret() -> object:
    return read(LAY.secret)


def spoil() -> object:
    return write(LAY.canary, EVIL)


# Mounts, each also as root of a namespace of its own


def uncover() -> object:
    unmount(os.path.dirname(LAY.secret))
    return secret()


def uncover_all() -> object:
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for place in reversed(places):
        if place != "/":
            LIBC.umount2(place.encode(), 2)
    return secret()


def remount() -> object:
    mount("", "/", "", MS_REMOUNT)
    return spoil()


def remount_bind() -> object:
    mount("", "/", "", MS_REMOUNT | MS_BIND)
    return spoil()


def bind_root() -> object:
    os.mkdir("bound")
    mount("/", f"{os.getcwd()}/bound", "", MS_BIND)  # not recursive: without what covers it
    return read(f"bound{LAY.secret}")


def bind_canary() -> object:
    os.mkdir("bound-file")
    mount(os.path.dirname(LAY.canary), f"{os.getcwd()}/bound-file", "", MS_BIND)
    mount("", f"{os.getcwd()}/bound-file", "", MS_REMOUNT | MS_BIND)
    return write(f"bound-file/{os.path.basename(LAY.canary)}", EVIL)


def overlay() -> object:
    for name in ("upper", "work", "merged"):
        os.mkdir(f"/tmp/{name}")
    lower = os.path.dirname(os.path.dirname(LAY.secret))
    mount(
        "o", "/tmp/merged", "overlay", 0, f"lowerdir={lower},upperdir=/tmp/upper,workdir=/tmp/work"
    )
    return read(
        f"/tmp/merged/{os.path.basename(os.path.dirname(LAY.secret))}/{os.path.basename(LAY.secret)}"
    )


def clone_tree() -> object:
    fd = syscall(428, -100, b"/", 1)  # open_tree, OPEN_TREE_CLONE, not recursive
    return os.read(os.open(LAY.secret[1:], os.O_RDONLY, dir_fd=fd), 99)


def unlock_tree() -> object:
    fd = syscall(428, -100, b"/", 1 | 0x8000)  # AT_RECURSIVE
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)  # clear MOUNT_ATTR_RDONLY
    syscall(442, fd, b"", 0x1000 | 0x8000, attributes, len(attributes))
    return os.write(os.open(LAY.canary[1:], os.O_WRONLY, dir_fd=fd), EVIL)


def move_cover() -> object:
    syscall(429, -100, os.path.dirname(LAY.secret).encode(), -100, b"/tmp", 0)
    return secret()


def pivot() -> object:
    os.mkdir("/tmp/new")
    mount("t", "/tmp/new", "tmpfs")
    os.mkdir("/tmp/new/old")
    syscall(155, b"/tmp/new", b"/tmp/new/old")
    return read(f"/old{LAY.secret}")


def change_root() -> object:
    os.mkdir("/tmp/jail")
    os.chroot("/tmp/jail")
    for _ in range(40):
        os.chdir("..")
    os.chroot(".")
    return read(LAY.secret)


def propagate() -> object:
    mount("", "/", "", MS_SHARED | MS_REC)
    mount("t", LAY.home, "tmpfs")
    return write(f"{LAY.home}/x", EVIL) if os.path.exists(f"{LAY.home}/x") else "mounted"


def fresh_proc() -> object:
    os.mkdir("/tmp/proc")
    mount("p", "/tmp/proc", "proc")
    return write("/tmp/proc/sys/kernel/core_pattern", read("/proc/sys/kernel/core_pattern"))


def fresh_sys() -> object:
    os.mkdir("/tmp/sys")
    mount("s", "/tmp/sys", "sysfs")
    return write("/tmp/sys/kernel/uevent_helper", EVIL)


def new_mount_call() -> object:
    fd = syscall(430, b"proc", 0)
    syscall(431, fd, 6, None, None, 0)
    count = syscall(432, fd, 0, 0)
    pattern = read("/proc/sys/kernel/core_pattern")
    return os.write(os.open("sys/kernel/core_pattern", os.O_WRONLY, dir_fd=count), pattern)


def block_mount() -> object:
    for name in ("vda", "sda", "nvme0n1", "vda1", "sda1"):
        if os.path.exists(f"/dev/{name}"):
            return f"/dev/{name}"
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    return os.read(os.open("disk", os.O_RDONLY), 16)


MOUNTS = (
    *(uncover, uncover_all, remount, remount_bind, bind_root, bind_canary, overlay, clone_tree),
    *(unlock_tree, move_cover, pivot, change_root, fresh_proc, fresh_sys, new_mount_call),
    block_mount,
)


# What the kernel lets a user do to the machine


def kernel_files() -> object:
    tried = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger")
    more = ("/sys/kernel/uevent_helper", "/proc/sys/fs/binfmt_misc/register", "/proc/mtrr")
    for path in (*tried, *more, "/proc/sys/vm/drop_caches", "/sys/power/state"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        return path
    return None


def devices() -> object:
    for name in (
        "mem",
        "kmem",
        "port",
        "kmsg",
        "loop-control",
        "fuse",
        "kvm",
        "uinput",
        "btrfs-control",
    ):
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDWR))
        except OSError:
            continue
        return name
    return None


def handles() -> object:
    """A file by its handle, which knows no mount: from the root's inode on."""
    buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128), 136)
    number = ctypes.c_int()
    syscall(303, -100, b"/", buffer, ctypes.byref(number), 0)
    root = os.open("/", os.O_RDONLY)
    fd = syscall(304, root, buffer, os.O_RDONLY)
    return os.listdir(fd)


def watch_machine() -> object:
    fd = syscall(300, 0, os.O_RDONLY)
    syscall(301, fd, 1 | 0x10, 0x20, -100, b"/")  # the whole mount
    return "watching"


def terminal_input() -> object:
    for path in (
        "/dev/tty",
        "/proc/self/fd/0",
        "/proc/self/fd/1",
        "/proc/self/fd/2",
        "/dev/console",
    ):
        try:
            fcntl.ioctl(os.open(path, os.O_RDWR | os.O_NOCTTY), termios.TIOCSTI, b"e")
        except OSError:
            continue
        return path
    return None


def more_rights() -> object:
    status = Path("/proc/self/status").read_text()
    bounds = int(re.findall(r"CapEff:\s*(\w+)", status)[0], 16) & ~(1 << 31)
    return bounds or (None if "NoNewPrivs:\t1" in status else "may gain more")


KERNEL = (kernel_files, devices, handles, watch_machine, terminal_input, more_rights)


# Sockets and IPC


def _abstract(kind: int) -> object:
    with socket.socket(socket.AF_UNIX, kind) as client:
        client.settimeout(2)
        client.connect(f"\0{LAY.socket}-{int(kind)}")
        return client.send(EVIL)


def abstract_datagrams() -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        return client.sendto(EVIL, f"\0{LAY.socket}-{int(socket.SOCK_DGRAM)}")


def shared_memory() -> object:
    number = checked(LIBC.shmget(int(LAY.shm), 0, 0))
    LIBC.shmat.restype = ctypes.c_void_p
    return ctypes.string_at(LIBC.shmat(number, None, 0), 16)


IPC = (abstract_datagrams, shared_memory)


# Key rings


def _key(number: int) -> bytes:
    buffer = ctypes.create_string_buffer(99)
    return buffer.raw[: syscall(250, 11, number, buffer, 99)]


def _search(ring: int) -> object:
    syscall(250, 1, None)
    syscall(250, 8, ring, SESSION)
    return _key(syscall(250, 10, SESSION, b"user", LAY.key.encode(), 0))


def rings_by_number() -> object:
    """The kernel shows the numbers, and finds by them whatever the namespace."""
    lines = Path("/proc/keys").read_text().splitlines()
    for line in lines:
        if " keyring " in line:
            LIBC.syscall(250, 8, int(line.split()[0], 16), SESSION)
    return next((_key(int(line.split()[0], 16)) for line in lines if LAY.key in line), None)


def rings_in_32_bit() -> object:
    """The same calls by the numbers of another architecture: int 0x80."""
    code = bytes.fromhex("53b820010000bb00000000b9fdffffff31d2cd805bc3")
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(code)
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    result = run()
    return None if result == -38 else f"keyctl answered {result}"


def rings_in_x32() -> object:
    result = LIBC.syscall(ctypes.c_long(0x40000000 | 250), 0, SESSION, 0)
    return f"ring {result}" if result > 0 else None


KEYS = (rings_by_number, rings_in_32_bit, rings_in_x32)


# Files


def hard_link() -> object:
    os.link(LAY.canary, "hard")
    return write("hard", EVIL)


def change_mode() -> object:
    os.chmod(LAY.canary, 0o777)
    return "changed"


def change_mount_point() -> object:
    for place in (LAY.home, LAY.state, "/", os.path.dirname(LAY.secret)):
        mode = os.stat(place).st_mode
        try:
            os.chmod(place, mode ^ 0o001)
        except OSError:
            continue
        os.chmod(place, mode)
        if os.stat(place).st_dev != os.stat("/tmp").st_dev and place != LAY.home:
            return place
    return None


def swap_source() -> object:
    """The folders that are mounted for the lane, by a name outside of it."""
    above = os.path.dirname(os.environ["TMPDIR"])
    os.rename(above, above + "-away")
    os.symlink(LAY.home, above)
    return "swapped"


def run_from_memory() -> object:
    """A program without a file: may do no more than any."""
    nest()
    was_seen = bool(read(LAY.canary))  # else it is a file of the lane's own scratch
    fd = syscall(319, b"x", 0)
    os.write(fd, b"#!/bin/sh\necho evil > " + LAY.canary.encode() + b"\n")
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", f"/proc/self/fd/{fd}"], {}), 0)
    return "spoilt" if was_seen and read(LAY.canary)[:4] == EVIL else None


FILES = (hard_link, change_mode, change_mount_point, swap_source, run_from_memory)


SHORT: dict[str, Attack] = {
    "programs_in_kernel": lambda: syscall(
        321, 0, struct.pack("IIII", 2, 4, 4, 1) + bytes(112), 128
    ),
    "host_name": lambda: f"set {syscall(170, b'evil', 4)}",
    "abstract_stream": lambda: _abstract(socket.SOCK_STREAM),
    "abstract_packets": lambda: _abstract(socket.SOCK_SEQPACKET),
    "message_queue": lambda: f"queue {checked(LIBC.msgget(int(LAY.shm), 0))}",
    "shared_files": lambda: read(f"/dev/shm/{LAY.socket}"),
    "posix_queue": lambda: f"queue {syscall(240, LAY.socket.encode(), os.O_RDONLY, 0, None)}",
    "user_ring": lambda: _search(USER),
    "user_session_ring": lambda: _search(USER_SESSION),
    "session_ring": lambda: _key(syscall(250, 10, SESSION, b"user", LAY.key.encode(), 0)),
    "persistent_ring": lambda: f"ring {syscall(250, 22, -1, PROCESS)}",
    "planted_key": lambda: (
        f"key {syscall(248, b'user', b'planted-' + LAY.key.encode(), EVIL, 4, USER)}"
    ),
    "requested_key": lambda: _key(syscall(249, b"user", LAY.key.encode(), None, SESSION)),
}
"""Of all of these, by name."""


def all_attacks() -> dict[str, Attack]:
    attacks = SHORT | {each.__name__: each for each in (*KERNEL, *IPC, *KEYS, *FILES)}
    for each in (*MOUNTS, propagate):
        attacks[each.__name__] = each
        attacks[f"nested_{each.__name__}"] = nested(each)
    return attacks


if __name__ == "__main__":
    LAY.__dict__.update(facts())
    report("walls", carry_out({n: a for n, a in all_attacks().items() if n not in LAY.without}))

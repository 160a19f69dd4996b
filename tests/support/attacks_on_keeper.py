"""Attacks on the process that runs an agent: `python -m tests.support.attacks_on_keeper FACTS`.

Each is carried out twice: on a process of the attacker's own, where it has to succeed, and on the
keeper. FACTS: {"target": pid, 0 for the parent's parent and so on up (see `target`)}.
"""

# ruff: noqa: PTH115, PTH208  links of /proc that are no paths

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.support.attack_tools import LIBC, carry_out, checked, facts, read, report, syscall, write

FORGED = b"exited 77\nsurvivor 1 forged-by-an-agent\ndone\n"
DESCRIPTORS = range(3, 24)
On = Callable[[int], object]


def _each(attempt: Callable[[int], object]) -> list[object]:
    got = []
    for fd in DESCRIPTORS:
        try:
            got.append(attempt(fd))
        except OSError:
            continue
    if not got:
        raise PermissionError("no descriptor")
    return got


def _opened(path: str, flags: int) -> object:
    os.close(os.open(path, flags))
    return "opened"


def enter_by_pidfd(pid: int) -> object:
    # One's own user namespace refuses it by EINVAL, after the right to look at it was given.
    try:
        return syscall(308, os.pidfd_open(pid), 0x10000000)
    except OSError as problem:
        if problem.errno == 22:
            return "let in as far as its own namespace"
        raise


def descriptor_taken(pid: int) -> object:
    handle = os.pidfd_open(pid)
    return _each(lambda fd: os.write(syscall(438, handle, fd, 0), FORGED))


def _remote(number: int, pid: int) -> object:
    # An own address: the decoy has it as well; the keeper may, or EFAULT shows that it was tried.
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    try:
        return syscall(number, pid, vector, 1, vector, 1, 0)
    except OSError as problem:
        if problem.errno == 14:
            return "let in, wrong address"
        raise


def own_signals(pid: int) -> object:
    """Has the kernel send the signal: a pipe's reader that is somebody else."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, 10, signal.SIGSTOP)  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    return _stopped(pid, lambda: os.write(writing, b"x"))


def _stopped(pid: int, send: Callable[[], object]) -> object:
    send()
    return "stopped" if _comes_to(pid, b"T", b"t") else None


def _comes_to(pid: int, *states: bytes) -> bool:
    """What is one's own obeys, on a busy machine some time later."""
    deadline = time.monotonic() + (60 if parent(pid) == os.getpid() else 0.5)
    while time.monotonic() < deadline:
        if read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[0] in states:
            return True
        time.sleep(0.01)
    return False


def kill(pid: int) -> object:
    os.kill(pid, signal.SIGKILL)
    return "killed" if _comes_to(pid, b"Z", b"X") else None


REACH: dict[str, On] = {
    "seize": lambda pid: checked(LIBC.ptrace(0x4206, pid, None, None)),
    "attach": lambda pid: checked(LIBC.ptrace(16, pid, None, None)),
    "memory_map": lambda pid: read(f"/proc/{pid}/maps"),
    "memory_read": lambda pid: _opened(f"/proc/{pid}/mem", os.O_RDONLY),
    "memory_write": lambda pid: _opened(f"/proc/{pid}/mem", os.O_RDWR),
    "environment": lambda pid: read(f"/proc/{pid}/environ"),
    "auxiliary": lambda pid: read(f"/proc/{pid}/auxv"),
    "input_output": lambda pid: read(f"/proc/{pid}/io"),
    "page_map": lambda pid: _opened(f"/proc/{pid}/pagemap", os.O_RDONLY),
    "mapped_files": lambda pid: os.readlink(
        f"/proc/{pid}/map_files/{os.listdir(f'/proc/{pid}/map_files')[0]}"
    ),
    "system_call": lambda pid: read(f"/proc/{pid}/syscall"),
    "root_link": lambda pid: os.listdir(f"/proc/{pid}/root/")[:3],
    "folder_link": lambda pid: os.listdir(f"/proc/{pid}/cwd/")[:3],
    "program_link": lambda pid: os.readlink(f"/proc/{pid}/exe"),
    "namespaces": lambda pid: [
        os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("mnt", "pid", "user")
    ],
    "enter_by_file": lambda pid: _opened(f"/proc/{pid}/ns/user", os.O_RDONLY),
    "enter_by_pidfd": enter_by_pidfd,
    "descriptor_links": lambda pid: _each(lambda fd: os.readlink(f"/proc/{pid}/fd/{fd}")),
    "descriptor_write": lambda pid: _each(lambda fd: write(f"/proc/{pid}/fd/{fd}", FORGED)),
    "descriptor_read": lambda pid: _each(lambda fd: _opened(f"/proc/{pid}/fd/{fd}", os.O_RDONLY)),
    "descriptor_details": lambda pid: _each(lambda fd: read(f"/proc/{pid}/fdinfo/{fd}")),
    "descriptor_taken": descriptor_taken,
    "thread_descriptor_write": lambda pid: _each(
        lambda fd: write(f"/proc/{pid}/task/{pid}/fd/{fd}", FORGED)
    ),
    "remote_read": lambda pid: _remote(310, pid),
    "remote_write": lambda pid: _remote(311, pid),
    "compare": lambda pid: f"order {syscall(312, os.getpid(), pid, 1, 0, 0)}",  # KCMP_VM
    "own_signals": own_signals,
    "stop": lambda pid: _stopped(pid, lambda: os.kill(pid, signal.SIGSTOP)),
    "stop_by_handle": lambda pid: _stopped(
        pid, lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGSTOP)
    ),
    "stop_by_thread": lambda pid: _stopped(
        pid, lambda: syscall(234, pid, pid, int(signal.SIGSTOP))
    ),
    "kill": kill,
}
"""What must be refused."""


def starve(pid: int) -> object:
    os.setpriority(os.PRIO_PROCESS, pid, 19)
    return os.getpriority(os.PRIO_PROCESS, pid)


def idle(pid: int) -> object:
    os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    return os.sched_getscheduler(pid)


def pin(pid: int) -> object:
    first = min(os.sched_getaffinity(0))
    os.sched_setaffinity(pid, {first})
    return os.sched_getaffinity(pid)


def limit(pid: int) -> object:
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        resource.prlimit(pid, kind, (0, 0))
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)


HAMPERING: dict[str, On] = {
    "starve": starve,
    "idle": idle,
    "pin": pin,
    "limit": limit,
    "slow_disk": lambda pid: f"set {syscall(251, 1, pid, 3 << 13)}",
    "memory_killer": lambda pid: write(f"/proc/{pid}/oom_score_adj", b"1000"),
    "core_filter": lambda pid: write(f"/proc/{pid}/coredump_filter", b"0"),
    "clear_references": lambda pid: write(f"/proc/{pid}/clear_refs", b"1"),
}
"""What one process of a user may do to another, whatever it is: nothing may come of it."""


def parent(pid: int) -> int:
    return int(read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])


def target(steps: int) -> int:
    """So many processes up from here; 0 for the first of the namespace."""
    pid = 1 if steps == 0 else os.getpid()
    for _ in range(steps):
        pid = parent(pid)
    return pid


def decoy() -> int:
    """A process of one's own, with a pipe as a keeper has."""
    pipes = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        while pipes:
            time.sleep(600)
    for fd in (*pipes[0], *pipes[1]):
        os.close(fd)
    return pid


def on_own(attack: On) -> str:
    pid = decoy()
    loot = carry_out({"own": partial(attack, pid)})["own"]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return loot


def main() -> None:
    data = facts()
    pid = target(data["steps"])
    loot = {
        name: {
            "own": on_own(attack),
            "keeper": carry_out({"keeper": partial(attack, pid)})["keeper"],
        }
        for name, attack in (REACH | HAMPERING).items()
        if name in data["attacks"]
    }
    report("keeper", {"pid": pid, "name": Path(f"/proc/{pid}/comm").read_text(), "loot": loot})


if __name__ == "__main__":
    main()

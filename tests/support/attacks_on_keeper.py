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


def _each_descriptor(attempt: Callable[[int], object]) -> list[object]:
    got = []
    for fd in DESCRIPTORS:
        try:
            got.append(attempt(fd))
        except OSError:
            continue
    if not got:
        raise PermissionError("no descriptor")
    return got


def seize(pid: int) -> object:
    checked(LIBC.ptrace(0x4206, pid, None, None))
    return "seized"


def attach(pid: int) -> object:
    checked(LIBC.ptrace(16, pid, None, None))
    return "attached"


def memory_map(pid: int) -> object:
    return read(f"/proc/{pid}/maps")


def memory_read(pid: int) -> object:
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))
    return "opened"


def memory_write(pid: int) -> object:
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
    return "opened"


def environment(pid: int) -> object:
    return read(f"/proc/{pid}/environ")


def auxiliary(pid: int) -> object:
    return read(f"/proc/{pid}/auxv")


def input_output(pid: int) -> object:
    return read(f"/proc/{pid}/io")


def page_map(pid: int) -> object:
    os.close(os.open(f"/proc/{pid}/pagemap", os.O_RDONLY))
    return "opened"


def mapped_files(pid: int) -> object:
    return os.readlink(f"/proc/{pid}/map_files/{os.listdir(f'/proc/{pid}/map_files')[0]}")


def system_call(pid: int) -> object:
    return read(f"/proc/{pid}/syscall")


def root_link(pid: int) -> object:
    return os.listdir(f"/proc/{pid}/root/")[:3]


def folder_link(pid: int) -> object:
    return os.listdir(f"/proc/{pid}/cwd/")[:3]


def program_link(pid: int) -> object:
    return os.readlink(f"/proc/{pid}/exe")


def namespaces(pid: int) -> object:
    return [os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("mnt", "pid", "user")]


def enter_by_file(pid: int) -> object:
    fd = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    return f"a handle of its namespace: {os.fstat(fd).st_ino}"


def enter_by_pidfd(pid: int) -> object:
    # One's own user namespace refuses it by EINVAL, after the right to look at it was given.
    try:
        return syscall(308, os.pidfd_open(pid), 0x10000000)
    except OSError as problem:
        if problem.errno == 22:
            return "let in as far as its own namespace"
        raise


def descriptor_links(pid: int) -> object:
    return _each_descriptor(lambda fd: os.readlink(f"/proc/{pid}/fd/{fd}"))


def descriptor_write(pid: int) -> object:
    return _each_descriptor(lambda fd: write(f"/proc/{pid}/fd/{fd}", FORGED))


def descriptor_read(pid: int) -> object:
    return _each_descriptor(lambda fd: os.close(os.open(f"/proc/{pid}/fd/{fd}", os.O_RDONLY)))


def descriptor_details(pid: int) -> object:
    return _each_descriptor(lambda fd: read(f"/proc/{pid}/fdinfo/{fd}"))


def descriptor_taken(pid: int) -> object:
    handle = os.pidfd_open(pid)
    return _each_descriptor(lambda fd: os.write(syscall(438, handle, fd, 0), FORGED))


def thread_descriptor_write(pid: int) -> object:
    return _each_descriptor(lambda fd: write(f"/proc/{pid}/task/{pid}/fd/{fd}", FORGED))


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


def remote_read(pid: int) -> object:
    return _remote(310, pid)


def remote_write(pid: int) -> object:
    return _remote(311, pid)


def compare(pid: int) -> object:
    return f"order {syscall(312, os.getpid(), pid, 1, 0, 0)}"  # KCMP_VM


def move_pages(pid: int) -> object:
    pages = (ctypes.c_void_p * 1)(0)
    status = (ctypes.c_int * 1)(0)
    return f"moved {syscall(279, pid, 1, pages, None, status, 0)}"


def own_signals(pid: int) -> object:
    """Has the kernel send the signal: a pipe's reader that is somebody else."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, 10, signal.SIGSTOP)  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")
    return "stopped" if _stops(pid) else None


def stop(pid: int) -> object:
    os.kill(pid, signal.SIGSTOP)
    return "stopped" if _stops(pid) else None


def stop_by_handle(pid: int) -> object:
    signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGSTOP)
    return "stopped" if _stops(pid) else None


def stop_by_thread(pid: int) -> object:
    syscall(234, pid, pid, int(signal.SIGSTOP))
    return "stopped" if _stops(pid) else None


def _stops(pid: int) -> bool:
    return _comes_to(pid, b"T", b"t")


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


def clear_references(pid: int) -> object:
    return write(f"/proc/{pid}/clear_refs", b"1")


def core_filter(pid: int) -> object:
    return write(f"/proc/{pid}/coredump_filter", b"0")


REACH = (
    *(seize, attach, memory_map, memory_read, memory_write, environment, auxiliary, input_output),
    *(page_map, mapped_files, system_call, root_link, folder_link, program_link, namespaces),
    *(enter_by_file, enter_by_pidfd, descriptor_links, descriptor_write, descriptor_read),
    *(descriptor_details, descriptor_taken, thread_descriptor_write, remote_read, remote_write),
    *(compare, own_signals, stop, stop_by_handle, stop_by_thread, kill),
)
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


def slow_disk(pid: int) -> object:
    return f"set {syscall(251, 1, pid, 3 << 13)}"


def memory_killer(pid: int) -> object:
    return write(f"/proc/{pid}/oom_score_adj", b"1000")


HAMPERING = (*(starve, idle, pin, limit, slow_disk, memory_killer, core_filter, clear_references),)
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
    chosen = [a for a in (*REACH, *HAMPERING) if a.__name__ in data["attacks"]]
    loot = {
        attack.__name__: {
            "own": on_own(attack),
            "keeper": carry_out({"keeper": partial(attack, pid)})["keeper"],
        }
        for attack in chosen
    }
    report("keeper", {"pid": pid, "name": Path(f"/proc/{pid}/comm").read_text(), "loot": loot})


if __name__ == "__main__":
    main()

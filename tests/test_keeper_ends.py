"""A lane ends when the kernel says so: lying, frozen and hampered keepers, and who hides from them.

The keeper cannot be reached by an agent (tests/attack/test_keeper_attacks.py). Here it is as if it
could: the test itself freezes it, or has another program in its place, and looks whether the
rest holds.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.process import child, leftovers, procfs, supervisor
from hydra.records.request import Limits
from tests.support import fakes
from tests.support.processes import MODES, python, running, token, wait_until, wrap_of
from tests.support.supervised import Watched
from tests.support.trust import Place, by_account, by_ordinary, needs_bwrap, place

__all__ = ["place"]

DONE = fakes.finish("done")
QUICK = replace(Limits(), grace_int=0.1, grace_term=0.1, total=0.3)

LIAR = r"""
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
lie = bytes.fromhex(sys.argv[1])
line = sys.argv[2:]
numbers = [int(part) for part in line[5:line.index("--")] if part.isdecimal()]
status = numbers[1]
agent = os.fork()
if agent == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sleep", ["sleep", line[-1]], {})  # which holds the pipe, too
    os.execvp("sleep", ["sleep", line[-1]])
os.write(status, b"started %d\n" % agent)
if lie == b"close":
    os.close(status)
else:
    os.write(status, lie)
while True:
    time.sleep(600)
"""
"""Stands where a keeper does: starts the agent and a daemon of it, lies, and obeys nothing."""

LIES = {
    "done": b"done\n",
    "exited-done": b"exited 0\ndone\n",
    "signaled-done": b"signaled 9\ndone\n",
    "lost-done": b"lost\ndone\n",
    "twice": b"exited 0\ndone\nexited 1\ndone\n",
    "half-line": b"exited 0",
    "huge-line": b"exited 0" + b"0" * 60000 + b"\ndone\n",
    "binary": bytes(range(256)) + b"\ndone\n\xff\xfe\x00\n",
    "nul": b"exited 0\0\ndone\0\ndone\n",
    "started-again": b"started 1\nstarted 99999999\nexited 0\ndone\n",
    "cannot": b"cannot 13\ndone\n",
    "survivor-hydra": b"survivor %d hydra\nexited 0\ndone\n" % os.getpid(),
    "survivor-escape": b"survivor 1 \x1b]0;evil\x07\nexited 0\ndone\n",
    "survivors-endless": b"survivor 7 x\n" * 4000 + b"exited 0\ndone\n",
    "numbers": b"exited -1\nexited 4294967296\nsignaled 0x9\nexited \xd9\xa3\ndone\n",
    "end-of-pipe": b"close",
}


FULL = pytest.mark.full


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A keeper that does not answer is given up sooner than after ten seconds."""
    for module in (child, supervisor):
        monkeypatch.setattr(module, "ANSWER", 0.1)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "lie", [name if name == "exited-done" else pytest.param(name, marks=FULL) for name in LIES]
)
async def test_what_is_said_on_the_status_pipe_ends_nothing(mode: str, lie: str) -> None:
    mark = token()
    around = wrap_of(mode)
    liar = (sys.executable, "-S", "-c", LIAR, LIES[lie].hex())
    agent = Watched(("sleep", mark), mode, wrap=lambda argv: around((*liar, *argv)))
    end = await agent.run(QUICK)
    assert running(mark, keepers=True) == []
    assert end.exit.keeper_lost or end.exit.code is None
    assert not any("\x1b" in name for name in end.exit.survivors)
    if not (mode == "subreaper" and lie == "end-of-pipe"):  # there the pipe is all that is known
        assert end.stopped == "total"


# Chains of forks


CHAIN = """
import os
for _ in range(int({count}) - 1):
    if os.fork() == 0:
        break
while True:
    if os.fork():
        os._exit(0)
    {step}
"""


def seen(mark: str, looks: int = 20) -> list[int]:
    """Whoever shows in any of many looks: a chain's link may be missed by each."""
    return [pid for _ in range(looks) for pid in running(mark)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("step", ["pass", "os.setsid()"], ids=["one-group", "own-sessions"])
async def test_chains_of_forks_are_ended_and_stay_so(mode: str, step: str) -> None:
    for count in (1, 4, 8):
        mark = token()
        agent = Watched(python(CHAIN.format(count=count, step=step), mark), mode)
        end = await agent.run(QUICK)
        assert seen(mark) == []
        assert not end.exit.keeper_lost


CROWD = """
import os, time
for _ in range(60):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
"""


def test_a_chain_in_a_crowd_uses_up_no_descriptors() -> None:
    """A descriptor was held for each process met. With few to be had one chain in 40 took over ten
    seconds to be ended: by then the keeper was given up, and the chain ran on."""
    mark = token()
    done = subprocess.run(
        [sys.executable, "-c", KEPT, *python(CROWD + CHAIN.format(count=1, step="pass"), mark)],
        timeout=60,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stdout.split()[-1] == "done", done
    assert seen(mark) == []
    assert float(done.stderr) < 9, "by then a keeper is given up"


KEPT = """
import os, resource, subprocess, sys, time
from hydra.process import spawn
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
control, order = os.pipe(); status, report = os.pipe(); out, stdout = os.pipe()
numbers = (control, report, stdout)
line = (*spawn.keeper_line(), *map(str, numbers), "--", *sys.argv[1:])
kept = subprocess.Popen(line, pass_fds=numbers, stdin=subprocess.DEVNULL, start_new_session=True)
for fd in numbers: os.close(fd)
began = time.monotonic()
print(b"".join(iter(lambda: os.read(status, 4096), b"")).decode())
kept.wait()
print(time.monotonic() - began, file=sys.stderr)
"""


# A keeper that is frozen, and a Hydra that is killed


ALL_KINDS = 0x40000000
"""__WALL: waitpid waits for what is traced, too."""


def reap(pid: int) -> None:
    while not os.WIFSIGNALED(os.waitpid(pid, ALL_KINDS)[1]):
        pass


@contextmanager
def traced(pid: int) -> Iterator[None]:
    """Frozen so that no signal but KILL wakes it: seized and interrupted by this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = libc.ptrace(0x4206, pid, None, None)
    if code != 0 and ctypes.get_errno() == errno.EPERM and os.geteuid() != 0:
        pytest.skip("nobody of its own account may trace the keeper; root may")
    assert code == 0, os.strerror(ctypes.get_errno())
    assert libc.ptrace(0x4207, pid, None, None) == 0, os.strerror(ctypes.get_errno())
    os.waitpid(pid, ALL_KINDS)
    reaping = threading.Thread(target=reap, args=(pid,), daemon=True)
    reaping.start()  # or its parent would not hear of its end
    yield
    reaping.join(20)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Frozen as an agent would do it: SIGSTOP."""
    os.kill(pid, signal.SIGSTOP)
    yield


def wipe(pid: int) -> None:
    """Overwrites its environment and its command line, as an agent that could write to it would."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    for start, end in (map(int, fields[45:47]), map(int, fields[47:49])):
        os.pwrite(memory, bytes(end - start), start)
    os.close(memory)


FREEZING: dict[str, Callable[[int], object]] = {"stopped": stopped, "traced": traced}


def keepers_of(mark: str) -> list[int]:
    """Keepers, guards and monitors above the processes with `mark`."""
    above = set()
    for pid in running(mark):
        link: int | None = pid
        while link and link > 1:
            if leftovers.is_keeper(link):
                above.add(link)
            link = procfs.parent(link)
    return sorted(above)


def confinement(place: Place, how: str) -> None:
    if how == "without":
        place.without("bwrap")
    else:
        needs_bwrap(place.uid)


def frozen_race(
    place: Place, mark: str, how: str, freeze: str, stack: ExitStack
) -> subprocess.Popen[str]:
    """A race whose agent has wiped its mark from what it left running, and whose keeper stands."""
    wiped = f"setsid env -i sleep {mark} </dev/null >/dev/null 2>&1 & "
    gate = fakes.Barrier(place.scratch, "wiped")
    stack.callback(gate.close)
    steps = [fakes.edit("work.txt", "work\n"), fakes.shell("sh", "-c", wiped * 3), *gate.stop()]
    place.agent("claude", [*steps, DONE])
    confinement(place, how)
    place.hand_over()
    racing = place.start("race", "Do it", "-q", "-a", "claude", "--timeout", "40s")
    stack.enter_context(racing)
    gate.wait()
    assert wait_until(lambda: len(running(f"sleep\0{mark}")) == 3)
    for pid in keepers_of(mark):
        if b"bwrap" not in procfs.command_line(pid).split(b"\0")[0]:
            stack.enter_context(FREEZING[freeze](pid))  # type: ignore[arg-type]
            if how == "confined" and os.geteuid() == 0:
                wipe(pid)
    gate.open()
    return racing


@pytest.mark.full
@pytest.mark.parametrize(
    ("how", "freeze"), [("confined", "stopped"), ("confined", "traced"), ("without", "traced")]
)
@by_account
def test_a_frozen_keeper_and_a_wiped_mark_outlive_no_killed_hydra(
    place: Place, freeze: str, how: str
) -> None:
    mark = token()
    with ExitStack() as stack:
        racing = frozen_race(place, mark, how, freeze, stack)
        racing.kill()
        racing.wait()
        assert running(mark), "else there is nothing to be recovered"
        listing = place.run("runs")
        assert running(mark, keepers=True) == []
        assert "1 patch taken" in listing.stderr


@pytest.mark.slow
@pytest.mark.parametrize("how", ["confined", pytest.param("without", marks=pytest.mark.full)])
@by_ordinary
def test_a_frozen_keeper_holds_no_lane_open(place: Place, how: str) -> None:
    mark = token()
    with ExitStack() as stack:
        racing = frozen_race(place, mark, how, "traced", stack)
        for _ in range(2):  # the agent has ended, and nobody can say so
            racing.send_signal(signal.SIGINT)
            wait_until(lambda: False, 0.5)
        racing.wait(60)
        assert running(mark, keepers=True) == []
        folder = place.run("runs", "path").stdout.strip()
        assert place.taken(folder, "claude", "work.txt") == "work"

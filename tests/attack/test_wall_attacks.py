"""Agents that attack mounts, devices, sockets, IPC and key rings from inside of a real lane.

What an attack took comes out with the patch; what it did is looked for on the machine.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import attacks_on_walls as attacks
from tests.support import fakes
from tests.support.attacks import arm, attack, loot_of
from tests.support.command import account
from tests.support.trust import (
    ACCOUNTS,
    BY_ACCOUNT,
    Place,
    exactly,
    place_for,
    scopes_work,
    shared_place,
)

DONE = fakes.finish("done")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls go by number"),
]

NAMES = sorted(attacks.all_attacks())
HARMLESS = {"nested_propagate"}
"""It may mount in a namespace of its own; that nothing of it is seen outside is looked for."""

SOCKETS = {"abstract_stream", "abstract_packets", "abstract_datagrams"}
OPEN_WITHOUT_WALLS = {
    *("abstract_stream", "abstract_packets", "abstract_datagrams", "shared_memory"),
    *("message_queue", "shared_files", "user_ring", "rings_by_number", "planted_key"),
    *("hard_link", "change_mode", "run_from_memory"),
}
"""What succeeds where nothing is closed: these attacks can work at all."""

KEY_HOLDER = """
import ctypes, sys
libc = ctypes.CDLL(None)
key = libc.syscall(248, b"user", sys.argv[1].encode(), sys.argv[2].encode(), len(sys.argv[2]), -4)
print(key, flush=True)
sys.stdin.read()
planted = libc.syscall(250, 10, -4, b"user", b"planted-" + sys.argv[1].encode(), 0)
print(planted, flush=True)
for number in (key, planted):
    libc.syscall(250, 9, number, -4)
"""
"""Has a key in its user's key ring until its stdin ends; then says whether another was planted."""


@dataclass
class Outside:
    """What lies outside of the walls, as an account of the machine has it."""

    place: Place
    stack: ExitStack
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.place.scratch.name
        self.canary = self.place.scratch / "canary"
        self.canary.write_text("as it was\n")
        self.servers = [self._listen(kind) for kind in (1, 5, 2)]
        self.shared = Path("/dev/shm", self.name)
        self.shared.write_text(f"shared-{self.name}")
        self.shared.chmod(0o666)
        self.stack.callback(self.shared.unlink)
        self.key = self._hold_key()
        self.shm = self._share_memory()

    @property
    def secrets(self) -> list[str]:
        return ["made-up private key", f"{self.name}"]

    def facts(self) -> dict[str, object]:
        return {
            "secret": str(self.place.home / ".ssh" / "id_ed25519"),
            "canary": str(self.canary),
            "home": str(self.place.home),
            "state": str(self.place.state),
            "socket": self.name,
            "key": f"key-{self.name}",
            "shm": self.shm,
        }

    def planted(self) -> bool:
        assert self.key.stdin is not None
        assert self.key.stdout is not None
        self.key.stdin.close()
        return int(self.key.stdout.readline()) > 0

    def reached(self) -> bool:
        """Whether anybody came to one of the sockets."""
        for server in self.servers:
            server.setblocking(False)
            try:
                if server.type == socket.SOCK_DGRAM:
                    server.recv(99)
                else:
                    server.accept()[0].close()
            except BlockingIOError:
                continue
            return True
        return False

    def _listen(self, kind: int) -> socket.socket:
        server = self.stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        server.bind(f"\0{self.name}-{kind}")
        if kind != socket.SOCK_DGRAM:
            server.listen()
        return server

    def _hold_key(self) -> subprocess.Popen[str]:
        line = (self.place.python, "-c", KEY_HOLDER, f"key-{self.name}", f"secret-of-{self.name}")
        holder: subprocess.Popen[str] = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            **account(self.place.uid),
        )
        self.stack.enter_context(holder)
        assert holder.stdout is not None
        assert int(holder.stdout.readline()) > 0
        return holder

    def _share_memory(self) -> int:
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        number = 0x48590000 + os.getpid() % 65536
        segment = libc.shmget(number, 4096, 0o1666)
        queue = libc.msgget(number, 0o1666)
        ctypes.memmove(libc.shmat(segment, None, 0), f"memory-{self.name}".encode(), 40)
        self.stack.callback(libc.shmctl, segment, 0, None)
        self.stack.callback(libc.msgctl, queue, 0, None)
        return number


@dataclass
class Siege:
    """The loot, and what the machine showed before and after."""

    loot: dict[str, str]
    status: str
    before: dict[str, object]
    after: dict[str, object]
    planted: bool
    reached: bool
    secrets: list[str]


def machine(place: Place) -> dict[str, object]:
    mounts = Path("/proc/self/mountinfo").read_text()
    return {
        "mounts": mounts,
        "host": os.uname().nodename,
        "core": Path("/proc/sys/kernel/core_pattern").read_text(),
        "home": exactly(place.home),
        "canary": exactly(place.scratch / "canary"),
        "modes": [oct(Path(p).stat().st_mode) for p in ("/", "/tmp", place.scratch, place.home)],
    }


def besiege(place: Place, stack: ExitStack, *options: str, without: tuple[str, ...] = ()) -> Siege:
    outside = Outside(place, stack)
    arm(place, "attacks_on_walls")
    place.agent(
        "claude", [attack(place, "attacks_on_walls", **outside.facts(), without=without), DONE]
    )
    if options:
        place.without("bwrap")
    place.hand_over()
    before = machine(place)
    race = place.race("-a", "claude", *options)
    loot = loot_of(place, race, "walls")
    after = machine(place)
    reached = outside.reached()
    status = race.lane("claude")["status"]
    return Siege(loot, status, before, after, outside.planted(), reached, outside.secrets)


@pytest.fixture(scope="module", params=BY_ACCOUNT)
def siege(request: pytest.FixtureRequest) -> Iterator[Siege]:
    with shared_place(request.param) as (place, stack):
        yield besiege(place, stack)


@pytest.mark.parametrize("name", NAMES)
def test_the_walls_hold(siege: Siege, name: str) -> None:
    if name in SOCKETS and not scopes_work():
        pytest.skip("no Landlock scopes in this kernel: the run says so")
    assert siege.loot[name].startswith("denied: ") or name in HARMLESS


def test_nothing_that_lies_outside_is_in_the_loot(siege: Siege) -> None:
    taken = {name: loot for name, loot in siege.loot.items() if loot.startswith("took: ")}
    assert not [(n, s) for n, loot in taken.items() for s in siege.secrets if s in loot]


def test_the_machine_is_as_it_was(siege: Siege) -> None:
    assert siege.status == "completed"
    assert siege.after == siege.before
    assert not siege.planted
    assert not siege.reached or not scopes_work()


@pytest.mark.full
def test_without_walls_these_attacks_succeed() -> None:
    with ExitStack() as stack:
        place = place_for(ACCOUNTS[-1], stack)
        besieged = besiege(
            place, stack, "--unsafe-full-access", without=("swap_source", "nested_swap_source")
        )  # there it is the lane's own worktree that is swapped away
        took = {name for name, loot in besieged.loot.items() if loot.startswith("took: ")}
        assert took >= OPEN_WITHOUT_WALLS
        assert besieged.planted
        assert besieged.reached

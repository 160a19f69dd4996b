"""Agents that attack the process which runs them, from inside of a real lane (docs/why/trust.md).

Each attack has to succeed on a process of the attacker's own; what came of it on the keeper is
judged from outside: by the keeper itself, the run's record, the loot in the patch.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import attacks_on_keeper as attacks
from tests.support import fakes
from tests.support.attacks import arm, attack, loot_of
from tests.support.processes import running, token, wait_until
from tests.support.trust import (
    BY_ACCOUNT,
    Place,
    by_account,
    by_ordinary,
    needs_bwrap,
    place,
    scopes_work,
    shared_place,
)

__all__ = ["place"]

DONE = fakes.finish("done")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls go by number"),
]

REACH = [*attacks.REACH]
HAMPERING = [*attacks.HAMPERING]


@dataclass
class Siege:
    """One race of attacks: the loot, the record, the keeper before they were carried out."""

    loot: dict[str, dict[str, str]]
    name: str
    exited: dict[str, Any]
    lane: dict[str, Any]


def besiege(place: Place, names: list[str], *options: str, steps: int = 0) -> Siege:
    arm(place, "attacks_on_keeper")
    step = attack(place, "attacks_on_keeper", attacks=names, steps=steps)
    place.agent("claude", [step, DONE])
    place.hand_over()
    race = place.race("-a", "claude", *options)
    taken = loot_of(place, race, "keeper")
    lines = Path(race.document["folder"], "events.jsonl").read_text().splitlines()
    exited = [e["data"] for e in map(json.loads, lines) if e["kind"] == "agent_exited"]
    return Siege(taken["loot"], taken["name"], exited[0], dict(race.lane("claude")))


@pytest.fixture(scope="module", params=BY_ACCOUNT)
def siege(request: pytest.FixtureRequest) -> Iterator[Siege]:
    with shared_place(request.param) as (place, _):
        yield besiege(place, REACH)


@pytest.mark.parametrize("name", REACH)
def test_the_keeper_is_out_of_reach(siege: Siege, name: str) -> None:
    loot = siege.loot[name]
    assert loot["own"].startswith("took: "), "an attack that never works shows nothing"
    assert loot["keeper"].startswith("denied: ")


def test_whatever_was_tried_the_lane_ended_as_it_ended(siege: Siege) -> None:
    assert siege.lane["status"] == "completed"
    assert (siege.exited["code"], siege.exited["signal"]) == (0, None)
    assert siege.exited["survivors"] == []
    assert siege.exited["stopped"] == ""


@by_account
def test_a_hampered_keeper_ends_its_lane_all_the_same(place: Place) -> None:
    """Any process of a user may starve another: here, with its cores full of work."""
    needs_bwrap(place.uid)
    mark = token()
    arm(place, "attacks_on_keeper")
    names = [name for name in HAMPERING if name != "limit"]
    spin = f"for i in 1 2 3 4; do setsid env -i sh -c 'while :; do :; done' {mark} & done"
    hamper = attack(place, "attacks_on_keeper", attacks=names, steps=0)
    place.agent("claude", [hamper, fakes.shell("sh", "-c", spin), DONE])
    place.hand_over()
    race = place.race("-a", "claude")
    loot = loot_of(place, race, "keeper")["loot"]
    assert loot["starve"]["keeper"] == "took: 19"
    assert running(mark) == []
    assert race.lane("claude")["status"] == "completed"


LIMITED = """
import os, resource, sys, time
above, pid = [], os.getppid()
while pid > 1:
    above.append(pid)
    pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
keepers = [p for p in above if b"/keeper." in open(f"/proc/{p}/cmdline", "rb").read()] or [1]
print(keepers)
for pid in keepers:
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):
        try:
            resource.prlimit(pid, kind, (0, 0))
        except PermissionError as problem:
            print(problem)
for number in range(15):
    if os.fork() == 0:
        os.setsid()
        chain = "import os\\nwhile True:\\n    os.fork() and os._exit(0)\\n    os.setsid()"
        line = ["-c", chain] if number % 5 else ["-c", "import time; time.sleep(600)", sys.argv[1]]
        os.execve(sys.executable, [sys.executable, "-IS", *line], {})
time.sleep(4)
"""
"""The kernel kills who has had his CPU seconds; a keeper has them once it has much to reap."""


@pytest.mark.skipif(not scopes_work(), reason="without scopes a keeper is killed without that")
@pytest.mark.serial
@pytest.mark.parametrize("how", ["confined", "without"])
@by_account
def test_who_limits_his_keepers_ends_with_the_lane_all_the_same(place: Place, how: str) -> None:
    mark = token()
    python = os.path.realpath(place.python)
    place.agent("claude", [fakes.shell(python, "-c", LIMITED, mark), DONE])
    if how == "without":
        place.without("bwrap")
    else:
        needs_bwrap(place.uid)
    place.hand_over()
    lane = place.race("-a", "claude").lane("claude")
    assert running(mark, keepers=True) == []
    assert lane["error"] is None


HIDING = {
    "double-fork": "(setsid sleep {mark} &)",
    "no-environment": "setsid env -i /bin/sleep {mark} &",
    "own-namespaces": "unshare -Urpf sleep {mark} &",
    "nested-twice": "unshare -Urpf unshare -Urpfm sleep {mark} &",
    "deaf": "(trap '' TERM INT HUP QUIT; setsid sleep {mark}) &",
    "stopped": "setsid sh -c 'kill -STOP $$; :' sh {mark} &",
    "called-keeper": "cp $(command -v sleep) keeper.py; setsid ./keeper.py {mark} &",
    "in-a-terminal": "script -qec 'sleep {mark}' /dev/null </dev/null &",
    "from-memory": "setsid $PYTHON -c '{memory}' {mark} &",
    "thread-without-leader": "setsid $PYTHON -c '{leaderless}' {mark} &",
    "traced": "setsid $PYTHON -c '{tracer}' {mark} &",
    "many": "for i in $(seq 150); do setsid sleep {mark} & done",
    "nobody-waits": "setsid $PYTHON -c '{zombies}' {mark} &",
}
"""What agents leave running, each by another way to hide."""

MAY_NOT_RUN = {"in-a-terminal", "thread-without-leader"}
"""What does not run on every machine."""

CODES = {
    "memory": 'import os, sys; f = os.memfd_create("x"); '
    'os.sendfile(f, os.open("/bin/sleep", 0), 0, 1 << 28); os.execve(f, ["x", sys.argv[1]], {})',
    "leaderless": "import threading, time, ctypes; "
    "threading.Thread(target=time.sleep, args=(600,)).start(); "
    "ctypes.CDLL(None).pthread_exit(None)",
    "tracer": "import os, time, ctypes; p = os.fork(); p or time.sleep(600); "
    "ctypes.CDLL(None).ptrace(16, p, None, None); time.sleep(600)",
    "zombies": "import os, time; [os.fork() or os._exit(0) for i in range(50)]; time.sleep(600)",
}


@pytest.mark.parametrize("how", ["confined", "without"])
@by_account
def test_whoever_hides_ends_with_the_lane(place: Place, how: str) -> None:
    mark = token()
    python = os.path.realpath(place.python)
    marks = {name: f"{mark}{number}" for number, name in enumerate(HIDING, 10)}
    lines = [line.format(mark=marks[name], **CODES) for name, line in HIDING.items()]
    script = "\n".join((f"PYTHON={python}; exec </dev/null >/dev/null 2>&1", *lines))
    gate = fakes.Barrier(place.scratch, "hidden")
    place.agent("claude", [fakes.shell("sh", "-c", script), *gate.stop(), DONE])
    if how == "without":
        place.without("bwrap")
    else:
        needs_bwrap(place.uid)
    place.hand_over()
    with place.start("race", "Do it", "-q", "-a", "claude"):
        gate.wait()
        missing = {
            name
            for name, mark_of_it in marks.items()
            if not wait_until(
                partial(running, mark_of_it, keepers=True), 2 if name in MAY_NOT_RUN else 60
            )
        }
        gate.open()
    gate.close()
    assert missing <= MAY_NOT_RUN, "nothing of it was tried"
    assert running(mark, keepers=True) == []


@by_ordinary
def test_without_bwrap_the_keeper_is_out_of_reach_too(place: Place) -> None:
    """By Landlock and by being not dumpable; where the kernel has no scopes it can be killed."""
    place.agent("claude", [DONE])
    place.without("bwrap")
    siege = besiege(place, REACH, steps=3)
    took = {name for name, loot in siege.loot.items() if loot["keeper"].startswith("took: ")}
    assert siege.name.startswith("python")
    assert took <= (
        set() if scopes_work() else {"kill", "stop", "stop_by_handle", "stop_by_thread"}
    )

"""Feeds spoiled lines of real agents through all that reads, records and shows a stream.

    python -m tests.support.stream_storm --lines 1000000 [--seed N] [--agent NAME]
    python -m tests.support.stream_storm --replay SEED:CASE [--agent NAME]

Every recorded line of fixtures/adapters is changed by bytes, by JSON, by order and by size, and put
into streams of one line to thousands (`stream_mutations`, `stream_cases`). Each goes the way of a
lane's: framed, redacted, kept, parsed, recorded, judged (`stream_lane`), and is shown in every way
(`stream_shown`). What must hold of each is written there; of all together: memory stays flat, and
the last lines cost no more than the first. A fault names its SEED:CASE, which makes the same stream
again as long as the recordings are the same; a replay also looks for the shortest stream that still
has the fault. Exit 0 only if all of it held.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import gc
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import stream_cases, stream_shown
from tests.support.stream_cases import Case
from tests.support.stream_corpus import AGENTS
from tests.support.stream_lane import Lane
from tests.support.stream_watched import Endless, patience

WINDOW = 100_000
"""Lines between two measurements."""
GROWTH = 24.0
"""MiB that the memory may grow after the first window, once what is free is given back: the
allocator keeps about what the largest stream so far took, and that is no leak."""
OBJECTS = 20_000
"""Objects that may live on from it: one of 45 lines, in a million."""
SLOWER = 3.0
"""How often the time of the fastest window (CPU seconds a line) any other may take."""
SHOWN = 10
"""Faults that are printed; more are counted."""

SHOWN_IN = 2.0
"""CPU seconds in which a stream is shown in every way, and those more in which it was read."""

Say = Callable[[str], None]


@dataclass
class Storm:
    """One run: what it was told, and what it has seen so far."""

    seed: int
    agent: str = ""
    say: Say = print
    lines: int = 0
    sent: int = 0
    streams: int = 0
    events: int = 0
    faults: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    """MiB at the end of each window, what is free given back."""
    objects: list[int] = field(default_factory=list)
    count: float = 0.0
    """MiB at the last measurement, what is free included."""
    rates: list[float] = field(default_factory=list)
    """Lines a CPU second in each window."""

    def run(self, lines: int, folder: Path) -> None:
        """Streams until `lines` lines were fed."""
        lane, mark, spent = Lane(folder), 0, time.process_time()
        stream_shown.forbidden()
        while self.lines < lines:
            self._take(stream_cases.make(self.seed, self.streams, self.agent), lane)
            if self.lines >= mark + WINDOW or self.lines >= lines:
                self._measure()
                self.rates.append((self.lines - mark) / (time.process_time() - spent))
                mark, spent = self.lines, time.process_time()
                self._tell()
        for fault in self._crept():
            self._fault(fault)

    def _take(self, case: Case, lane: Lane) -> None:
        events, faults = examined(case, lane, self.streams)
        for fault in faults:
            self._fault(f"{self.seed}:{self.streams} ({case.agent}): {fault[:400]}")
        self.streams += 1
        self.events += events
        self.lines += max(len(case.lines), 1)
        self.sent += len(case.stdout) + len(case.stderr)

    def _fault(self, fault: str) -> None:
        self.faults.append(fault)
        if len(self.faults) <= SHOWN:
            self.say(f"FAULT {fault}")

    def _measure(self) -> None:
        gc.collect()
        self.count = _resident()
        with suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        self.memory.append(_resident())
        self.objects.append(sys.getallocatedblocks())

    def _tell(self) -> None:
        self.say(
            f"{self.lines:>9,} lines  {self.streams:>6,} streams  {self.sent / 1e6:>7.1f} MB  "
            f"{self.events:>9,} events  {self.rates[-1]:>7,.0f} lines/s  "
            f"{self.count:>5.1f} MiB, {self.memory[-1]:.1f} in use, {self.objects[-1]:,} objects  "
            f"{len(self.faults)} faults"
        )

    def _crept(self) -> Iterator[str]:
        """What grew with the number of lines. The first window is the warm-up, a short last one
        is no measure of time."""
        if len(self.memory) > 1 and max(self.memory) - self.memory[0] > GROWTH:
            yield f"memory grew from {self.memory[0]:.1f} to {max(self.memory):.1f} MiB"
        if self.objects and max(self.objects) - self.objects[0] > OBJECTS:
            yield f"objects grew from {self.objects[0]:,} to {max(self.objects):,}"
        whole = self.rates[: self.lines // WINDOW]
        if len(whole) > 1 and max(whole) > SLOWER * min(whole):
            yield f"{min(whole):,.0f} lines/s in one window, {max(whole):,.0f} in another"


def examined(case: Case, lane: Lane, number: int) -> tuple[int, list[str]]:
    """How many events a stream gave, and all that is wrong with it."""
    seen = lane.read(case)
    faults, began = list(seen.faults), time.process_time()
    try:
        with patience(60.0):
            faults += stream_shown.faults(seen, number)
    except (Exception, Endless) as error:
        faults.append(f"what shows it raised {error!r}")
    if (spent := time.process_time() - began) > SHOWN_IN + seen.seconds:
        faults.append(f"{len(seen.events)} events took {spent:.1f} s to be shown")
    return len(seen.events), faults


def shrunk(case: Case, bad: Callable[[Case], bool]) -> Case:
    """The case with as few lines as keep `bad` true, as far as dropping parts of them gets it."""
    size = len(case.lines) // 2
    while size:
        at = 0
        while at < len(case.lines):
            less = dataclasses.replace(case, lines=case.lines[:at] + case.lines[at + size :])
            if bad(less):
                case = less
            else:
                at += size
        size //= 2
    without = dataclasses.replace(case, stderr=b"")
    return without if case.stderr and bad(without) else case


def replay(seed: int, number: int, agent: str, lane: Lane, say: Say) -> bool:
    """Feeds one stream again and tells its faults, and the shortest stream that has the first."""
    case = stream_cases.make(seed, number, agent)
    _, faults = examined(case, lane, number)
    for fault in faults:
        say(f"FAULT {fault}")
    if not faults:
        say(f"{seed}:{number} ({case.agent}, {len(case.lines)} lines): no fault")
        return True
    kind = faults[0][:16]
    short = shrunk(case, lambda case: any(f[:16] == kind for f in examined(case, lane, number)[1]))
    rest = dataclasses.replace(short, lines=(), stderr=b"")
    say(f"the shortest with it: {len(short.lines)} lines, {rest}")
    for line in short.lines:
        say(f"  {line[:2_000]!r}" + (f" ({len(line)} bytes)" if len(line) > 2_000 else ""))
    say(f"  stderr {short.stderr[:2_000]!r}")
    return False


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agent", choices=AGENTS, default="")
    parser.add_argument("--replay", metavar="SEED:CASE", default="")
    namespace = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="hydra-storm-", dir="/var/tmp"))
    try:
        if namespace.replay:
            seed, _, number = namespace.replay.partition(":")
            return 0 if replay(int(seed), int(number), namespace.agent, Lane(folder), print) else 1
        storm = Storm(namespace.seed, namespace.agent, say=lambda line: print(line, flush=True))
        began = time.monotonic()
        storm.run(namespace.lines, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    grown, more = (max(numbers) - numbers[0] for numbers in (storm.memory, storm.objects))
    print(
        f"{storm.lines:,} lines of {storm.streams:,} streams in {time.monotonic() - began:.0f} s, "
        f"{storm.events:,} events; memory grew {grown:.1f} MiB after the first {WINDOW:,} lines "
        f"(allowed: {GROWTH:.0f}), and {more:,} objects (allowed: {OBJECTS:,}); "
        f"{len(storm.faults)} faults"
    )
    return 1 if storm.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The reader behind a race: whole lines only, bounded, and told when nobody watches any more."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from hydra.race.follower import EventFollower
from hydra.records.events import Event, encode


def event(seq: int, size: int = 10) -> Event:
    data = {"text": "x" * size}
    return Event(seq=seq, wall=1.0, mono=0.5, run="r", kind="message", data=data)


class Seen:
    """A watcher that waits to be let on, or fails."""

    def __init__(self, failure: OSError | None = None) -> None:
        self.events: list[int] = []
        self.closed = False
        self.items = threading.Event()
        self._failure = failure

    def event(self, event: Event) -> None:
        if self._failure is not None:
            raise self._failure
        self.events.append(event.seq)
        self.items.set()

    def tick(self, mono: float) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def test_a_line_that_is_still_being_written_is_waited_for(scratch: Path) -> None:
    path = scratch / "events.jsonl"
    first, second = encode(event(1)), encode(event(2, 900_000))
    path.write_bytes(first + second[:500_000])
    seen = Seen()
    follower = EventFollower(path, seen)
    follower.start(lambda: None)
    assert seen.items.wait(60)
    with path.open("ab") as file:
        file.write(second[500_000:])
    follower.finish()
    assert (seen.events, seen.closed) == ([1, 2], True)


def test_a_line_that_cannot_be_read_costs_itself_alone(scratch: Path) -> None:
    path = scratch / "events.jsonl"
    path.write_bytes(encode(event(1)) + b'{"v": 1, "se\x00\xff\n[]\n' + encode(event(2)))
    seen = Seen()
    follower = EventFollower(path, seen)
    follower.start(lambda: None)
    follower.finish()
    assert (seen.events, seen.closed) == ([1, 2], True)


def test_what_a_full_disk_cut_off_and_took_back_is_not_seen(scratch: Path) -> None:
    path = scratch / "events.jsonl"
    path.write_bytes(encode(event(1)) + b'{"v": 1, "seq": 2, "wa')
    seen = Seen()
    follower = EventFollower(path, seen)
    follower.start(lambda: None)
    assert seen.items.wait(60)
    os.truncate(path, len(encode(event(1))))
    with path.open("ab") as file:
        file.write(encode(event(3)))
    follower.finish()
    assert seen.events == [1, 3]

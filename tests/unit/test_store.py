"""The run's folder: sinks with limits, events that survive a torn end, runs found by name."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

import pytest

from hydra.process.sink import RawSink
from hydra.race.record import losses
from hydra.records.events import Event, encode
from hydra.records.store.reader import RunRecord
from hydra.records.store.writer import RunStore, new_run_id


def event(seq: int, **more: object) -> Event:
    return Event(seq=seq, wall=1.0, mono=0.5, run="r", kind="message", data=more)


def open_run(root: Path, name: str) -> RunStore:
    store = RunStore(root / "runs" / name)
    store.write_json("manifest.json", {"schema": 1, "lanes": ["claude"]})
    return store


def test_ids_sort_by_time_and_are_safe_names() -> None:
    early, late = new_run_id(1_000_000_000), new_run_id(2_000_000_000)
    assert early < late
    assert early.startswith("20010909t014640-")
    parts = [new_run_id(1_000_000_000 + n / 20) for n in range(20)]
    assert parts == sorted(parts)
    assert len({part[:15] for part in parts}) == 1


def test_no_two_runs_of_a_repository_end_alike(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a line to type names one by."""
    chosen = iter("aaaaaabbb")
    monkeypatch.setattr(secrets, "choice", lambda _: next(chosen))
    open_run(scratch, "20260101t000000-2aaa").close()
    folder = scratch / "runs"
    assert new_run_id(1_000_000_000, beside=folder) == "20010909t014640-2bbb"


@pytest.mark.parametrize("size", [10, 99, 1000])
def test_a_flood_keeps_head_and_tail_and_counts_the_gap(scratch: Path, size: int) -> None:
    limit, lines = 1000, [b"%06d" % n + b"x" * (size - 7) + b"\n" for n in range(200)]
    sink = RawSink(scratch / "raw.jsonl", limit)
    for line in lines:
        sink.write(line)
    sink.close()
    data = (scratch / "raw.jsonl").read_bytes()
    gap = json.loads(next(x for x in data.split(b"\n") if x.startswith(b'{"hydra":"gap"')))
    marker = b'\n{"hydra":"gap","bytes":%d}\n' % gap["bytes"]
    assert len(data) - len(marker) + gap["bytes"] == sum(map(len, lines))
    assert len(data) <= limit + len(marker)
    head, tail = data.split(marker)
    assert b"".join(lines).startswith(head)
    assert b"".join(lines).endswith(tail)
    assert tail
    assert len(tail) % size == 0 or size > limit // 2, "it begins with a whole line"
    assert list(scratch.iterdir()) == [scratch / "raw.jsonl"]


def test_the_lock_tells_a_live_run_from_one_that_broke_off(scratch: Path) -> None:
    store = open_run(scratch, "a")
    record = RunRecord(store.folder)
    assert record.state == "running"
    store.close()
    assert record.state == "broken off"
    (store.folder / "result.json").write_text("{}")
    assert record.state == "ended"


def full_after(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """A disk with `room` bytes left."""
    numbers = [room]
    write = os.write

    def limited(descriptor: int, data: bytes) -> int:
        part = bytes(data)[: numbers[0]]
        if not part:
            raise OSError(28, "No space left on device")
        numbers[0] -= len(part)
        return write(descriptor, part)

    monkeypatch.setattr("hydra.records.store.files.os.write", limited)


def test_a_full_disk_leaves_no_half_event(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_run(scratch, "a")
    store.append(event(1))
    with monkeypatch.context() as full:
        full_after(full, 30)
        store.append(event(2))
    store.append(event(3, text=object()))
    store.append(event(4))
    store.close()
    assert [e.seq for e in RunRecord(store.folder).events()] == [1, 4]
    assert [*losses(store)] == [
        "1 event could not be recorded: is the disk full?",
        "1 event could not be recorded: a bug in Hydra",
    ]


def test_what_comes_together_is_written_at_once_and_in_order(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_run(scratch, "a")
    sizes: list[int] = []
    store.on_written = lambda: sizes.append(len(list(RunRecord(store.folder).events())))
    with store.together():
        for seq in (1, 2, 3):
            store.append(event(seq))
        assert sizes == []
    store.append(event(4))
    assert sizes == [3, 4]
    whole = store.events_file.stat().st_size

    with monkeypatch.context() as full:
        full_after(full, len(encode(event(5))) + 10)
        with store.together():
            for seq in (5, 6, 7):
                store.append(event(seq))
    assert store.events_file.stat().st_size == whole + len(encode(event(5)))
    assert store.lost == 2
    store.append(event(8))
    assert [e.seq for e in RunRecord(store.folder).events()] == [1, 2, 3, 4, 5, 8]
    store.close()


def test_a_sink_on_a_full_disk_goes_on_and_keeps_its_places(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = RawSink(scratch / "raw", 1000)
    with monkeypatch.context() as full:
        full_after(full, 5)
        assert sink.write(b"0123456789") is None
    place = sink.write(b"abc")
    assert place is not None
    with monkeypatch.context() as full:
        full_after(full, 600)
        for _ in range(3):
            sink.write(b"t" * 300)
        sink.close()
    assert sink.failed > 1
    content = (scratch / "raw").read_bytes()
    assert content[place.offset : place.offset + place.length] == b"abc"

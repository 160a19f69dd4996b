"""What an earlier Hydra has left is read, landed, undone and removed, and shown byte for byte as it
was; `python -m tests.support.earlier show` writes it anew where other words were meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from hydra.checks.record import CheckFile
from hydra.ranking.model import Verdict
from hydra.records.codec import as_json, dump, parse, shaped
from hydra.records.events import decode, encode
from hydra.records.outcome import Outcome
from hydra.records.plan import RaceManifest, RacePlan
from tests.support import driver
from tests.support.earlier import ALWAYS, SCENARIOS, documents, golden, shown, unpack


def changes(name: str, now: str) -> list[str]:
    before = golden(name).read_text().splitlines()
    return list(unified_diff(before, now.splitlines(), name, "now", lineterm="", n=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_that_an_earlier_hydra_has_left(name: str, scratch: Path) -> None:
    assert changes(name, shown(name, scratch)) == []


CHECK = ("network", "ground", "missing", "unreached", "tests.unserved")
VERDICT = ("tested", "picks", "hunks", "check_now", "typed_in", "confidence.proof")
SINCE = {
    *("plan limits.background", "plan checks.on_host"),
    *(f"check {name}" for name in (*CHECK, "unserved", "files")),
    *(f"verdict {name}" for name in (*VERDICT, "confidence.agree")),
    *("verdict lanes.own_version", "verdict lanes.made"),
    *(f"{at}.{name}" for at in ("verdict baseline", "verdict lanes.checks") for name in CHECK),
}
"""Keys that were not there yet."""
GONE = {"verdict mergeable", "verdict lanes.mergeable", "verdict lanes.score"}
"""Keys that are not there any more, and whatever they hold."""


def rewritten(file: str, data: bytes) -> Iterator[tuple[str, Any, Any]]:
    """Each part of a document: what it is, as it was, and as this Hydra writes what it has read."""
    if file == "events.jsonl":
        for line in data.splitlines(keepends=True):
            yield "event", json.loads(line), json.loads(encode(decode(line)))
    elif file == "manifest.json":
        yield "manifest", data, dump(as_json(shaped(parse(data), RaceManifest))).encode()
    elif file == "plan.json":
        yield "plan", parse(data), shaped(parse(data), RacePlan).document()
    elif file == "result.json":
        result = parse(data)
        for lane in result["lanes"]:
            outcome = shaped(lane, Outcome).document()
            yield "lane", {name: lane[name] for name in lane if name in outcome}, outcome
        yield "verdict", result["verdict"], shaped(result["verdict"], Verdict).document()
    elif file.startswith("checks/") and not file.endswith("trials.json"):
        yield "check", parse(data), as_json(shaped(parse(data), CheckFile))


def unlike(was: Any, now: Any, place: str) -> Iterator[str]:
    """Where the two differ, in a value or in which keys there are."""
    if isinstance(was, dict) and isinstance(now, dict):
        was = {name: was[name] for name in was if f"{place}{name}" not in GONE}
        now = {name: now[name] for name in now if name in was or f"{place}{name}" not in SINCE}
        if keys := was.keys() ^ now.keys():
            yield f"{place}: {sorted(keys)}"
        for name in was.keys() & now.keys():
            # A second run has what the first has.
            yield from unlike(was[name], now[name], place if name == "again" else f"{place}{name}.")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for old, new in zip(was, now, strict=True):
            yield from unlike(old, new, place)
    elif was != now or isinstance(was, bool) != isinstance(now, bool):
        yield f"{place}: {was!r} -> {now!r}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_an_earlier_hydra_has_written_this_one_writes_but_for_named_keys(name: str) -> None:
    parts = [part for file in documents(name) for part in rewritten(*file)]
    assert {"manifest", "plan", "event"} <= {kind for kind, *_ in parts}
    assert [line for kind, was, now in parts for line in unlike(was, now, f"{kind} ")] == []


@pytest.mark.slow
@pytest.mark.parametrize("note", [{"copies": [5]}, {"set_up": {"a\0": [1]}}])
def test_what_a_lane_noted_in_another_shape_keeps_no_patch_back(
    scratch: Path, note: dict[str, Any]
) -> None:
    hydra = unpack("killed", scratch)
    (file,) = hydra.state.glob("*/runs/*/lanes/claude/ground.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), **note}))
    assert hydra.run("runs").stderr.endswith("1 patch taken\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ALWAYS)
def test_every_help_and_screen_and_what_is_read_of_every_cheat(name: str) -> None:
    shown = ALWAYS[name]()
    assert changes(name, shown) == []
    assert driver.RAW.search(shown) is None

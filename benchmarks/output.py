"""A gigabyte of hostile output: what Hydra's memory grows by, and how fast it reads."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path

from benchmarks.measure import LIMIT, Result, interleave, ratio
from benchmarks.place import BYE, HELLO, Place
from hydra.adapters.json_fields import BRACKETS

LINE_LIMIT = 4 * 1024**2
LONG = 3 * LIMIT

_PLAIN = """
import json, sys
for line in sys.stdin.buffer:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        pass
"""


def memory(place: Place) -> list[Result]:
    """Peak of Hydra's resident memory over that of a race whose agent says nothing."""
    quiet = _peak(place, "quiet", None)
    size = int(place.gigabytes * 1e9)
    endless = f"{place.gigabytes:g} GB in one line"
    results = []
    for name, parts, target, why in (
        (endless, _endless(size), 16, _HELD),
        (f"{place.gigabytes:g} GB of lines of 64 KB that are no JSON", _noise(size), 16, ""),
        ("one line of 4 MiB: empty lists", iter([_lists()]), 128, _OBJECTS),
        ("one line of 4 MB: objects of one key", iter([_keys()]), 128, _OBJECTS),
        ("200,000 short lines, each with an id of its own", _ids(200_000), 16, _IDS),
    ):
        grown = _peak(place, "hostile", parts) - quiet
        results.append(
            Result(
                case=f"memory: {name}",
                against="a silent agent",
                value=grown,
                best=grown,
                target=target,
                unit=" MB",
                why=why,
                note=f"peak {quiet:.0f} -> {quiet + grown:.0f} MB",
            )
        )
    return results


_OBJECTS = "Python's own json makes an object of every eight bytes before anything can be refused"
_HELD = (
    "up to 4 MiB are held until the line is known to be too long; joining and redacting copy them"
)
_IDS = "the ids a parser remembers, and the events made of the lines"


def speed(place: Place) -> list[Result]:
    """Seconds for lines as Claude writes them, and hostile ones among them, against plain json."""
    return [
        _speed(place, "hostile lines", _hostile()),
        _speed(place, "lines as agents write them", _usual()),
    ]


def _speed(place: Place, name: str, block: bytes) -> Result:
    path = place.seen / "output.jsonl"
    _write(path, repeat(block, max(1, int(place.gigabytes * 1e9 / 4) // len(block))))
    env = place.environ(place.agent("speed", HELLO + f"cat '{path}'\n" + BYE))
    taken = interleave(
        3, {"json": lambda: _plain(path, env), "hydra": lambda: _read_by_hydra(place, env)}
    )
    value, best = ratio(taken["hydra"], taken["json"])
    size = path.stat().st_size
    rates = {way: size / 1e6 / min(took) for way, took in taken.items()}
    path.unlink()
    return Result(
        case=f"{size / 1e9:.2g} GB of {name}",
        against="reading it with plain json",
        value=value,
        best=best,
        target=2.0,
        why="a line is redacted, kept, parsed, made an event and written as JSON again",
        note=f"{rates['json']:.0f} MB/s -> {rates['hydra']:.0f} MB/s",
    )


def _peak(place: Place, name: str, parts: Iterable[bytes] | None) -> float:
    """MB at most, of a race whose one agent writes `parts`."""
    path = place.seen / "output.jsonl"
    _write(path, parts or iter(()))
    env = place.environ(place.agent(name, HELLO + f"cat '{path}'\necho\n" + BYE))
    child = subprocess.Popen(
        [*place.hydra, "race", "Do it", "-a", "claude", "-q", "--keep", "none"],
        cwd=place.repository(400),
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # Not wait4's ru_maxrss: Linux counts this process's own size into a child that it spawned.
    peak, deadline = 0.0, time.monotonic() + LONG
    while child.poll() is None:
        peak = max(peak, _high_water(child.pid))
        if time.monotonic() > deadline:
            child.kill()
            raise TimeoutError(f"the race over {name} output took over {LONG:.0f} s")
        time.sleep(0.01)
    path.unlink()
    place.forget_runs()
    return peak


def _high_water(pid: int) -> float:
    """MB: the most that was ever resident; 0 once it has ended."""
    try:
        item = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    entry = [line.split()[1] for line in item.splitlines() if line.startswith("VmHWM:")]
    return int(entry[0]) / 1000 if entry else 0.0


def _plain(path: Path, env: dict[str, str]) -> float:
    began = time.perf_counter()
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        subprocess.run(
            [sys.executable, "-c", _PLAIN], stdin=cat.stdout, env=env, check=True, timeout=LIMIT
        )
    return time.perf_counter() - began


def _read_by_hydra(place: Place, env: dict[str, str]) -> float:
    """The agent's own seconds, spawn to end: what comes before and after is measured elsewhere."""
    from hydra.records.store.reader import RunRecord

    subprocess.run(
        [*place.hydra, "race", "Do it", "-a", "claude", "-q", "--keep", "none"],
        cwd=place.repository(400),
        env=env,
        capture_output=True,
        timeout=LONG,
        check=False,
    )
    (folder,) = (place.folder / "state").glob("*/runs/*")
    (ended,) = (e for e in RunRecord(folder).events() if e.kind == "agent_exited")
    place.forget_runs()
    return float(str(ended.data["seconds"]))


def _write(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        for part in parts:
            file.write(part)


def _endless(size: int) -> Iterator[bytes]:
    block = b'{"type":"assistant","x":"' + b"\\u0000\x1b[2J\xff" * 100_000
    for _ in range(size // len(block)):
        yield block


def _noise(size: int) -> Iterator[bytes]:
    block = bytes(byte for byte in range(256) if byte != 10) * 250 + b"\n"
    for _ in range(size // len(block)):
        yield block


def _lists() -> bytes:
    return b'{"type":"assistant","x":[' + b"[]," * ((LINE_LIMIT - 64) // 3) + b"[]]}\n"


def _keys() -> bytes:
    # As many as a line may open, so that it is parsed.
    return b'{"type":"assistant","x":[' + b'{"a":1},' * (BRACKETS - 3) + b"{}]}\n"


def _ids(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield b'{"type":"stream_event","uuid":"%036d"}\n' % number


def _text(size: int) -> bytes:
    item = b"the quick parser reads \\u2028 one more line \\u001b[31m of the file; "
    text = (item * (size // len(item) + 1))[:size].rsplit(b" ", 1)[0]
    return b'{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n' % text


def _tool(size: int) -> bytes:
    return (
        b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t",'
        b'"content":"%s"}]}}\n' % (b"src/a.py:10: something was found here\\n" * (size // 38))
    )


def _usual() -> bytes:
    """About 1.4 KB a line, as in a recorded session: many short, some long."""
    return (_text(300) * 12 + _tool(1200) * 6 + _tool(6000)) * 50 + _text(60_000)


def _hostile() -> bytes:
    """Depth, long numbers, NaN, bad UTF-8, lone surrogates, a line near the limit, garbage."""
    bad = [
        b"[" * 50_000 + b"]" * 50_000 + b"\n",
        b'{"type":"assistant","n":' + b"9" * 5000 + b"}\n",
        b'{"type":"result","total_cost_usd":NaN}\n',
        b'{"type":"assistant","message":"\xff\xfe\\ud800"}\n',
        b"\x1b]0;title\x07 no json at all\r\n",
        b'{"type":"user","message":{"content":"' + b"x" * (LINE_LIMIT - 200) + b'"}}\n',
    ]
    return b"".join(line + _text(400) * 20 for line in bad)

"""A hundred agents that do nothing, and the live view over them: what waiting costs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.measure import LIMIT, Result
from benchmarks.place import Place

LANES = 100
WINDOW = 10.0
"""Seconds over which CPU is read, once every agent runs."""


def idle(place: Place) -> list[Result]:
    """Share of a core: Hydra with its live view, and its keepers, confined and not."""
    results = []
    for name, how in (("bwrap", "confined"), ("no bwrap", "bare")):
        item = [_child(place, how) for _ in range(3)]
        shares = sorted(item["hydra"] + item["keepers"] for item in item)
        parts = sorted(item, key=lambda item: item["hydra"] + item["keepers"])[1]
        results.append(
            Result(
                case=f"{LANES} idle lanes with the live view, {name}",
                against="one core",
                value=shares[1],
                best=shares[0],
                target=5,
                unit="%",
                why="see the parts",
                note=f"Hydra {parts['hydra']:.2f}% (without the view "
                f"{parts['without_view']:.2f}%), keepers {parts['keepers']:.2f}%; "
                f"resident {parts['rss_mb']:.0f} MB, {parts['rss_lanes_mb'] / LANES:.2f} MB a lane",
            )
        )
    return results


def _child(place: Place, how: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.idle", str(place.folder), how],
        cwd=Path(__file__).parents[1],
        env=place.environ(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-1500:])
    item: dict[str, float] = json.loads(done.stdout)
    return item


def _main(folder: Path, how: str) -> None:
    import trio

    print(json.dumps(trio.run(_measure, folder, how)))


async def _measure(folder: Path, how: str) -> dict[str, float]:
    import trio

    from benchmarks.keeper import spec_for, supervised
    from hydra.adapters.probe.sandbox import try_confinement
    from hydra.process.control import ProcessControl
    from hydra.process.records import Notice
    from hydra.race.follower import EventFollower
    from hydra.records.events import Event, encode
    from hydra.records.plan import Confinement
    from hydra.report.live import LiveTable

    place = Place.__new__(Place)
    place.folder = folder
    env = dict(os.environ)
    item = folder / f"idle-{os.getpid()}"
    item.mkdir()
    (place.folder / "state").mkdir(mode=0o700, exist_ok=True)
    bare = Confinement(kind="none", reason="left out on purpose")
    confinement = await try_confinement(env) if how == "confined" else bare
    if how == "confined" and not confinement.holds:
        raise SystemExit(f"nothing confines here: {confinement.reason}")
    spec = spec_for(place, confinement, item, ("/bin/sleep", "600"), env)
    lanes = [f"claude-{number}" for number in range(LANES)]
    events = os.open(item / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    painted = os.open(os.devnull, os.O_WRONLY)
    began, seq = time.monotonic(), 0
    keepers: list[int] = []
    started = trio.Event()

    def emit(kind: str, lane: str = "", data: dict[str, object] | None = None) -> None:
        nonlocal seq
        seq += 1
        mono = time.monotonic() - began
        event = Event(seq=seq, wall=time.time(), mono=mono, run="r", kind=kind, source="hydra",
                      lane=lane, attempt=1, data=data or {})  # fmt: skip
        os.write(events, encode(event))

    async def lane(name: str) -> None:
        def tell(notice: Notice) -> None:
            if notice.kind == "started":
                keepers.append(int(str(notice.data["keeper"])))
                emit("agent_started", name, dict(notice.data))
                if len(keepers) == LANES:
                    started.set()

        emit("lane_opening", name)
        await supervised(spec, ProcessControl(), tell)

    limits = {"idle": 600, "tool": 1200, "total": 3600}
    emit("run_started", data={"lanes": lanes, "base": "0" * 40, "confined": True, "limits": limits})
    before = _resident()
    async with trio.open_nursery() as nursery:
        for name in lanes:
            nursery.start_soon(lane, name)
        with trio.fail_after(120):
            await started.wait()
        await trio.sleep(2)
        without = await _window(keepers)
        table = LiveTable(lambda text: _write(painted, text), lambda: (120, 60), True)
        follower = EventFollower(item / "events.jsonl", table)
        follower.start(lambda: None)
        await trio.sleep(1)
        seen = await _window(keepers)
        resident = _resident()
        nursery.cancel_scope.cancel()
    follower.finish()
    return {
        "hydra": seen[0],
        "keepers": seen[1],
        "without_view": without[0],
        "rss_mb": resident,
        "rss_lanes_mb": resident - before,
    }


def _write(descriptor: int, text: str) -> None:
    os.write(descriptor, text.encode())


async def _window(keepers: list[int]) -> tuple[float, float]:
    """Per cent of a core over `WINDOW`: this process, and everything below it."""
    import trio

    own, theirs = _own_cpu(), sum(map(_tree_cpu, keepers))
    began = time.monotonic()
    await trio.sleep(WINDOW)
    took = time.monotonic() - began
    own_used, theirs_used = _own_cpu() - own, sum(map(_tree_cpu, keepers)) - theirs
    return own_used / took * 100, theirs_used / took * 100


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _tree_cpu(pid: int) -> float:
    """CPU seconds of a keeper and all below it; schedstat counts nanoseconds, stat only ticks."""
    try:
        used = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return used + sum(_tree_cpu(int(child)) for child in children)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])

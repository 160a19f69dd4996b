"""What a lane's keeper and its confinement add to spawning the agent itself."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import trio

from benchmarks.measure import LIMIT, Result, Way, interleave, milliseconds, timed
from benchmarks.place import Place
from benchmarks.views import policy_for
from hydra.adapters.probe.sandbox import try_confinement
from hydra.process.control import ProcessControl
from hydra.process.records import Notice, ProcessSpec
from hydra.process.sandbox.confine import confine
from hydra.process.supervisor import supervise
from hydra.records.plan import Confinement
from hydra.records.request import Limits

LANES = 4


def keeper(place: Place) -> list[Result]:
    """One lane at a time, and four at once: milliseconds a lane over a plain spawn of `true`."""
    env = place.environ()
    item = place.folder / "keeper"
    item.mkdir()
    (place.folder / "state").mkdir(mode=0o700, exist_ok=True)
    confinement = trio.run(try_confinement, env)
    bare = Confinement(kind="none", reason="left out on purpose")
    ways: dict[str, Way] = {
        "plain": partial(_plain, env, item, 1),
        "plain at once": partial(_plain, env, item, LANES),
    }
    for name, how in (("keeper", bare), ("keeper and bwrap", confinement)):
        if how is confinement and not confinement.holds:
            continue
        ways[name] = partial(_kept, place, env, item, how, 1)
        ways[f"{name} at once"] = partial(_kept, place, env, item, how, LANES)
    ways["python"] = lambda: timed([sys.executable, "-c", "pass"], env, item)
    taken = interleave(max(place.runs * 2, 9), ways)
    results = []
    for name in ways:
        if not name.startswith("keeper"):
            continue
        base, lanes = ("plain at once", LANES) if name.endswith("at once") else ("plain", 1)
        added = sorted(
            (a - b) * 1000 / lanes for a, b in zip(taken[name], taken[base], strict=True)
        )
        results.append(
            Result(
                case=f"{name}, {lanes} lane{'s' * (lanes > 1)}",
                against="spawn and reap `true`",
                value=added[len(added) // 2],
                best=(min(taken[name]) - min(taken[base])) * 1000 / lanes,
                target=40,
                unit=" ms",
                why="bwrap mounts one by one what is shown, and the keeper is "
                "an interpreter that starts inside",
                note=f"a lane: {milliseconds([t / lanes for t in taken[base]])} -> "
                f"{milliseconds([t / lanes for t in taken[name]])}; an interpreter alone, "
                f"`python -c pass`, took {milliseconds(taken['python'])} in this run",
            )
        )
    return results


def _plain(env: dict[str, str], item: Path, lanes: int) -> float:
    began = time.perf_counter()
    children = [subprocess.Popen(["/bin/true"], env=env, cwd=item) for _ in range(lanes)]
    for child in children:
        child.wait(LIMIT)
    return time.perf_counter() - began


def _kept(
    place: Place, env: dict[str, str], item: Path, confinement: Confinement, lanes: int
) -> float:
    spec = spec_for(place, confinement, item, ("/bin/true",), env)
    return trio.run(_supervised, spec, lanes)


def spec_for(
    place: Place,
    confinement: Confinement,
    item: Path,
    argv: tuple[str, ...],
    env: dict[str, str],
) -> ProcessSpec:
    """An agent as a race starts it: with the view that a lane has."""
    policy = policy_for(place, item, env)
    return ProcessSpec(
        argv=argv,
        env=env,
        cwd=item,
        wrap=lambda line: confine(confinement, policy, line),
        pid_namespace=confinement.holds,
    )


async def _supervised(spec: ProcessSpec, lanes: int) -> float:
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(lanes):
            nursery.start_soon(supervised, spec, ProcessControl(), lambda _notice: None)
    return trio.current_time() - began


async def supervised(spec: ProcessSpec, control: ProcessControl, on_notice: object) -> None:
    """One agent to its end, its output dropped."""

    async def unchanged(_when: float) -> bool:
        return False

    def tell(notice: Notice) -> None:
        if callable(on_notice):
            on_notice(notice)

    await supervise(
        spec,
        control=control,
        limits=Limits(),
        on_stdout=lambda _chunk: None,
        on_stderr=lambda _chunk: None,
        changed_since=unchanged,
        on_notice=tell,
    )

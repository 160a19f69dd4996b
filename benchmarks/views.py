"""What the allow-list costs: computing what a lane sees, and starting a command in it."""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from benchmarks.measure import Result, interleave, milliseconds, ratio, timed
from benchmarks.place import Place
from hydra.adapters.probe.sandbox import try_confinement
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.policy import SandboxPolicy

_PLAIN = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *("--unshare-pid", "--as-pid-1", "--new-session"),
)

_LOOKED_AT = ("/etc", "/opt")


def views(place: Place) -> list[Result]:
    """In processor time: on a busy machine bwrap mostly waits for a core."""
    env = place.environ(place.agent("view", ""))
    item = place.folder / "view"
    item.mkdir()
    policy = policy_for(place, item, env)
    confinement = trio.run(try_confinement, env)
    if not confinement.holds:
        return []
    true = ("--", "/bin/true")
    plain = (confinement.program, *_PLAIN, *true)
    inside = confine(confinement, policy, true[1:])
    find = ("find", *_LOOKED_AT, "-size", "+1G")
    compute = partial(policy_for, place, item, env)
    taken = interleave(
        max(place.runs * 3, 9),
        {
            "plain": lambda: spent(partial(timed, plain, env, item)),
            "view": lambda: spent(partial(timed, inside, env, item)),
            "find": lambda: spent(partial(timed, find, env, item, accept=(0, 1))),
            "compute": lambda: spent(compute),
        },
    )
    mounts = sum(item in ("--ro-bind", "--bind", "--tmpfs", "--dev", "--proc") for item in inside)
    start, best_start = ratio(taken["view"], taken["plain"])
    view, best_view = ratio(taken["compute"], taken["find"])
    return [
        Result(
            case=f"`true` in a lane's view ({mounts} mounts)",
            against="bwrap with 3 mounts",
            value=start,
            best=best_start,
            target=1.7,
            why="a mount costs 0.1-0.2 ms: bwrap reads the whole table of mounts for each",
            note=f"{milliseconds(taken['plain'])} -> {milliseconds(taken['view'])} of processor "
            "time",
        ),
        Result(
            case="computing a view",
            against="`find` by size in /etc and /opt",
            value=view,
            best=best_view,
            target=3,
            why="every entry is looked at, whether it is for this account alone, and then PATH",
            note=f"{milliseconds(taken['find'])} -> {milliseconds(taken['compute'])} of processor "
            "time",
        ),
    ]


def policy_for(place: Place, item: Path, env: dict[str, str]) -> SandboxPolicy:
    """What a lane at `item` sees, as a race has it computed, and may write."""
    home, state = place.folder / "home", place.folder / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    repository = place.repository(400)
    view = compute_view(
        home,
        env,
        objects=(repository / ".git" / "objects",),
        guarded=(state,),
        repository=repository,
    )
    return SandboxPolicy(
        state=state, view=view, home_folder=place.folder / "user", writable=(item,), cwd=item
    )


def spent(work: Callable[[], object]) -> float:
    """Processor seconds, of this process and of children that were waited for."""
    before = _processor()
    work()
    return _processor() - before


def _processor() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)

"""One agent in one situation: a race in a place of its own, with a model server of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from msgspec.structs import replace

from hydra.adapters.contract import Adapter, Descriptor
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.conformance.live.agent_settings import Reach, reaches
from hydra.conformance.live.expect import differences
from hydra.conformance.live.observation import LiveRun, Observation
from hydra.conformance.live.situation import Situation, Stop
from hydra.conformance.race_run import RaceOrder, RaceOutcome, ScratchPlace, race
from hydra.conformance.script import fill
from hydra.conformance.scrub import WORKTREE
from hydra.conformance.server import ModelServer, serve
from hydra.errors import HydraError
from hydra.records.agent import Tier
from hydra.records.events import Event

PATIENCE = 5.0
"""Seconds in which what is on its way out may go; a loaded machine is slow to bury."""


def orphans(folder: Path, *, patience: float = PATIENCE) -> list[str]:
    """Command lines of the processes that name the folder, once those that end have ended.

    Empty where there is no /proc. Those of the run, which have their HOME in it, are ended, so that
    nothing stays; any other may be somebody's pager in a folder that is kept.
    """
    deadline = time.monotonic() + patience
    while (values := _look(os.fsencode(folder) + b"/")) and time.monotonic() < deadline:
        time.sleep(0.05)
    home = b"\0HOME=" + os.fsencode(folder) + b"/"
    for pid in values:
        with contextlib.suppress(OSError):
            if home in b"\0" + Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, signal.SIGKILL)
    return list(values.values())


def _look(content: bytes) -> dict[int, str]:
    try:
        procs = [proc for proc in Path("/proc").iterdir() if proc.name.isdigit()]
    except OSError:
        return {}
    mine = str(os.getpid())
    return {
        int(proc.name): _command(proc) or f"process {proc.name}"
        for proc in procs
        if proc.name != mine and _knows(proc, content)
    }


def _knows(proc: Path, content: bytes) -> bool:
    for name in ("environ", "cmdline"):
        with contextlib.suppress(OSError):
            if content in (proc / name).read_bytes():
                return True
    with contextlib.suppress(OSError):
        return os.fsencode((proc / "cwd").readlink()).startswith(content)
    return False


def _command(proc: Path) -> str:
    with contextlib.suppress(OSError):
        return (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


LONGEST = 120.0
"""Seconds after which a race that does not end is ended, and said to have hung."""

UNREACHED = "nothing here says how its CLI finds the model server (conformance/live/agents/)"


def meet(
    adapter: Adapter, program: Path, situation: Situation, folder: Path, unconfined: str = ""
) -> Observation:
    """One agent in one situation, held against what is expected of it.

    `unconfined` says why nothing confines here: without it no agent may use a shell freely, and
    what is expected would not come of any version.
    """
    key = adapter.key()
    reach = reaches().get(key)
    reason = _left_out(reach, situation, key) or unconfined if reach else UNREACHED
    proves = tuple(name for name in situation.proves if not reach or name not in reach.unproved)
    blank = Observation(situation=situation.name, agent=key, proves=proves)
    if reach is None or reason:
        return replace(blank, reason=reason)
    began = time.monotonic()
    try:
        seen = _run(adapter, program, situation, reach, folder / f"{key}.{situation.name}")
    except (HydraError, OSError) as error:
        seen = LiveRun(trouble=f"could not be tried: {error}")
    return replace(
        blank,
        version=seen.lane.version if seen.lane else "",
        run=seen,
        differences=differences(situation.expected[key], seen, reach),
        seconds=time.monotonic() - began,
    )


def _left_out(reach: Reach, situation: Situation, key: str) -> str:
    return situation.skip.get(key, "") or reach.left_out(situation.name)


def _run(
    adapter: Adapter, program: Path, situation: Situation, reach: Reach, root: Path
) -> LiveRun:
    place = ScratchPlace(root)
    place.commit(situation.files)
    values = {"repository": str(place.repo), "home": str(place.home)}
    script = reach.turns.get(situation.name, situation.script)
    with serve(script.filled(values)) as server:
        # One cache of probes for all: what a program is does not depend on the situation.
        shared = {"HYDRA_CACHE_DIR": str(root.parent / "cache")}
        own = reach.prepare(place.home, server.url)
        environ = place.environ([program.parent], **shared, **own)
        return _race(adapter.descriptor, program, situation, place, server, environ, reach)


def _race(
    descriptor: Descriptor,
    program: Path,
    situation: Situation,
    place: ScratchPlace,
    server: ModelServer,
    environ: Mapping[str, str],
    reach: Reach,
) -> LiveRun:
    agent = descriptor.key
    document = fill(situation.settings, {"url": server.url})
    settings = tomli_w.dumps(_settings(document, agent, program))
    place.settings.write_text(settings, encoding="utf-8")
    outcome = race(
        place,
        RaceOrder(
            agents=[agent],
            prompt=situation.task(reach.prompt_bytes),
            options=(
                *(() if descriptor.tier is Tier.TIER1 else (EXPERIMENTAL_FLAG,)),
                *_side_files(descriptor),
                *reach.options,
                *_options(situation, reach),
            ),
            environ=environ,
            signal=situation.stop.number if situation.stop else 0,
            when=_when(situation.stop, agent, place, server, reach) if situation.stop else None,
            longest=LONGEST,
        ),
    )
    lane = outcome.lane(agent)
    patched = bool(outcome.folder and lane and lane.patch)
    run = outcome.folder / "lanes" / agent if outcome.folder else None
    return LiveRun(
        lane=lane,
        events=[e for e in outcome.events if (e.lane, e.source) == (agent, "agent")],
        patch=place.patch(outcome.folder, agent) if patched and outcome.folder else {},
        content=_reader(place, outcome, agent),
        requests=server.requests,
        hydra=outcome.exit_code,
        stderr=outcome.stderr,
        orphans=orphans(place.root),
        trouble=f"it did not end within {LONGEST:g} s" if outcome.hung else "",
        raw=_is_present(run, "raw.jsonl"),
        raw_stderr=_is_present(run, "stderr.txt"),
        places=_places(place, program, server, lane.worktree if lane else ""),
        sides=_sides(place, descriptor),
        wrong=_written_outside(place, agent, situation.files),
    )


def _written_outside(place: ScratchPlace, agent: str, files: Mapping[str, str]) -> list[str]:
    """What the situation `outside` tries, as it is out here: in a lane these paths are its own."""
    name = f"written-by-{agent}"
    folders = {"HOME": place.home, "repository": place.repo}
    written = [label for label, at in folders.items() if (at / name).exists()]
    is_same = all((place.repo / at).read_bytes() == text.encode() for at, text in files.items())
    labels = dict.fromkeys((*written, *([] if is_same else ["repository"])))
    return [f"it wrote into the user's {label}" for label in labels]


def _side_files(descriptor: Descriptor) -> tuple[str, ...]:
    """What it writes beside a stream of text goes with its ground, and is part of the record."""
    return ("--keep", "all") if descriptor.side_files and descriptor.stream_format == "text" else ()


def _sides(place: ScratchPlace, descriptor: Descriptor) -> dict[int, Path]:
    paths = {}
    for number, pattern in enumerate(descriptor.side_files):
        files = sorted(place.state.glob(f"g/*/{descriptor.key}/home/{pattern}"))
        if files:
            paths[number] = files[-1]
    return paths


def _settings(document: Mapping[str, Any], agent: str, program: Path) -> dict[str, Any]:
    """The situation's settings, of the agents' this one's alone, and in them the program to run."""
    own = {**document.get("agents", {}).get(agent, {}), "path": str(program)}
    return {**document, "agents": {agent: own}}


def _options(situation: Situation, reach: Reach) -> list[str]:
    return [str(fill(option, {"idle": f"{reach.idle:g}s"})) for option in situation.options]


def _when(
    stop: Stop, agent: str, place: ScratchPlace, server: ModelServer, reach: Reach
) -> Callable[[Event], bool]:
    """True of the event at which the signal is sent, once what it waits for has come."""
    name = stop.file.replace("{agent}", agent)

    def come() -> bool:
        if stop.served:
            return any(request.answer == stop.served for request in server.requests)
        return any(place.state.glob(f"g/*/*/*/{name}"))

    def when(event: Event) -> bool:
        if stop.served or reach.late_tools:  # no event of the agent's tells it while it lasts
            return event.kind == "agent_started" and _wait(come)
        called = event.kind == "tool_call" and name in event.data.get("summary", "")
        return called and _wait(come)

    return when


def _wait(come: Callable[[], bool]) -> bool:
    """True at last: where it never comes, the race's own end tells."""
    deadline = time.monotonic() + LONGEST / 2
    while not come() and time.monotonic() < deadline:
        time.sleep(0.02)
    return True


def _reader(place: ScratchPlace, outcome: RaceOutcome, lane: str) -> Callable[[str], str | None]:
    def content(path: str) -> str | None:
        try:
            return place.git(
                "show", f"{lane}:{path}", cwd=(outcome.folder or place.root) / "patches.git"
            )
        except HydraError:
            return None

    return content


def _is_present(folder: Path | None, name: str) -> Path | None:
    return folder / name if folder and (folder / name).is_file() else None


def _places(
    place: ScratchPlace, program: Path, server: ModelServer, worktree: str
) -> dict[str, str]:
    """What this run's own paths and address are called where it is recorded, longest first."""
    named = {
        worktree: WORKTREE,
        str(place.repo): "/repository",
        str(place.home): "/home/user",
        str(place.state): "/state",
        str(place.root): "/scratch",
        str(program.parent): "/bin",
        server.url: "http://127.0.0.1:1",
    }
    return {path: named[path] for path in sorted(filter(None, named), key=len, reverse=True)}

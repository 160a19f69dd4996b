"""Runs one question: in an empty folder, confined where that is possible, with a fair limit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import trio

from hydra.adapters.environment import select
from hydra.adapters.folders import folders_of, place_of
from hydra.paths import make_private
from hydra.probe.memory import Answer
from hydra.probe.pool import OnSleep
from hydra.probe.questions import Question
from hydra.probe.surroundings import Surroundings
from hydra.process import CannotStart, run
from hydra.sandbox import SandboxPolicy, View, confine

OUTPUT_LIMIT = 1024 * 1024


async def put(question: Question, on_sleep: OnSleep, around: Surroundings) -> Answer:
    """The program's answer, also where it could not be started (exit 126) or did not end."""
    with tempfile.TemporaryDirectory(prefix="hydra-probe-", dir=_scratch(around)) as scratch:
        folder = Path(scratch)
        policy = await trio.to_thread.run_sync(_policy, around, folder, question)
        try:
            ran = await run(
                question.argv,
                env=_environment(question, folder, around),
                cwd=folder,
                timeout=question.timeout,
                wrap=partial(confine, around.confinement, policy),
                output_limit=OUTPUT_LIMIT,
                on_sleep=on_sleep,
            )
        except CannotStart as error:
            return Answer(argv=question.argv, exit_code=126, stderr=f"{error}\n{error.stderr}")
    told, aside = (data.decode("utf-8", "replace") for data in (ran.stdout, ran.stderr))
    return Answer(
        argv=question.argv,
        exit_code=ran.exit_code,
        stdout=told,
        stderr=aside,
        timed_out=ran.timed_out,
        seconds=ran.seconds,
    )


def _environment(question: Question, folder: Path, around: Surroundings) -> dict[str, str]:
    descriptor, probe = question.descriptor, question.probe
    extra = around.extra_names.get(descriptor.key, ())
    environ = select(descriptor, around.environ, extra)
    if (probe.confined or probe.own_folder) and descriptor.config is not None:
        # Codex's sandbox helper links itself into its config folder, which must be writable.
        environ[descriptor.config.variable] = str(folder)
    if around.confinement.holds:
        # OpenCode makes its folders at every start, which a read-only HOME does not let it.
        environ["XDG_CACHE_HOME"] = str(folder)
        for own in folders_of(descriptor):
            if not place_of(own, around.environ, around.home).exists():
                environ[own.variable] = str(folder)
    return environ


def _scratch(around: Surroundings) -> str | None:
    # Inside the confinement /tmp is another one, so a probe's folder lies beside the lanes.
    if not around.confinement.holds:
        return None
    folder = around.state / "g"
    make_private(folder)
    return str(folder)


def _policy(around: Surroundings, folder: Path, question: Question) -> SandboxPolicy:
    """Its own settings can be read: it is asked whether somebody is signed in."""
    if not around.confinement.holds:
        return SandboxPolicy(state=around.state, view=View(home=around.home), cwd=folder)
    from hydra.sandbox.discovery import compute_view, own_installation  # most is remembered

    program, settings = question.binary, list(_settings(question, around))
    return SandboxPolicy(
        state=around.state,
        view=compute_view(
            around.home,
            around.environ,
            programs=(str(program),),
            show=around.show,
            guarded=(around.state,),
        ),
        home_folder=folder / "home",
        writable=(folder,),
        readonly=(*settings, *own_installation(around.home, program, settings)),
        cwd=folder,
    )


def _settings(question: Question, around: Surroundings) -> Iterator[Path]:
    for folder in folders_of(question.descriptor):
        place = place_of(folder, around.environ, around.home)
        beside = (around.home / name for name in folder.beside)
        yield from (path for path in (place, *beside) if path.exists())

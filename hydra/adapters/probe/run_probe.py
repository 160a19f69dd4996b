"""Runs one question: in an empty folder, confined where that is possible, with a fair limit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import trio

from hydra.adapters.config_dirs import folders_of, place_of
from hydra.adapters.environment import select
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.probes import Question
from hydra.git.background import Later
from hydra.log import get_logger
from hydra.paths import make_private
from hydra.process.records import CannotStart
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.masks import Masks, hidden_in_system
from hydra.process.sandbox.policy import SandboxPolicy
from hydra.process.sandbox.view import View
from hydra.records.agent import ProbeOutput
from hydra.shortage import named_shortage

_log = get_logger(__name__)

OUTPUT_LIMIT = 1024 * 1024


class Views:
    """What each program sees while it is asked: computed once for all its questions."""

    def __init__(self, around: ProbeContext) -> None:
        self._around = around
        self._masks = around.masks
        self._views: dict[Path, Later[View]] = {}

    def of(self, program: Path) -> Later[View]:
        """What `program` sees, on its way; to be called in one thread alone."""
        if program not in self._views:
            self._masks = self._masks or Later(hidden_in_system).result
            self._views[program] = Later(partial(self._compute, program, self._masks))
        return self._views[program]

    def _compute(self, program: Path, masks: Masks) -> View:
        from hydra.process.sandbox.discovery import compute_view  # most is remembered

        around = self._around
        return compute_view(
            around.home,
            around.environ,
            programs=(str(program),),
            show=around.show,
            guarded=(around.state,),
            masks=masks,
        )


async def put(question: Question, around: ProbeContext, views: Views) -> ProbeOutput:
    """The program's answer, also where it could not be started (exit 126) or did not end."""
    with tempfile.TemporaryDirectory(prefix="hydra-probe-", dir=_scratch(around)) as scratch:
        folder = Path(scratch)
        view = views.of(question.binary) if around.confinement.holds else None
        policy = await trio.to_thread.run_sync(_policy, around, folder, question, view)
        try:
            ran = await run(
                question.argv,
                env=_environment(question, folder, around),
                cwd=folder,
                timeout=question.probe.timeout,
                wrap=partial(confine, around.confinement, policy),
                output_limit=OUTPUT_LIMIT,
                waits_for_core=True,
            )
        except CannotStart as error:
            if short := named_shortage(error.errno):
                raise short from error
            return ProbeOutput(argv=question.argv, exit_code=126, stderr=f"{error}\n{error.stderr}")
    _log.info("asked", agent=question.descriptor.key, probe=question.probe.name, code=ran.exit_code)
    text, aside = (data.decode("utf-8", "replace") for data in (ran.stdout, ran.stderr))
    return ProbeOutput(
        argv=question.argv,
        exit_code=ran.exit_code,
        stdout=text,
        stderr=aside,
        timed_out=ran.timed_out,
        seconds=ran.seconds,
    )


def _environment(question: Question, folder: Path, around: ProbeContext) -> dict[str, str]:
    descriptor, probe = question.descriptor, question.probe
    extra = around.extra_names.get(descriptor.key, ())
    environ = select(descriptor, around.environ, extra)
    moved = []
    if (probe.confined or probe.own_folder) and descriptor.config is not None:
        # Codex's sandbox helper links itself into its config folder, which must be writable.
        moved.append(descriptor.config)
    if around.confinement.holds:
        # OpenCode makes its folders at every start, which a read-only HOME does not let it.
        environ["XDG_CACHE_HOME"] = str(folder)
        moved += (
            own
            for own in folders_of(descriptor)
            if not place_of(own, around.environ, around.home).exists()
        )
    return environ | {own.variable: str(folder) for own in moved if own.variable}


def _scratch(around: ProbeContext) -> str | None:
    # Inside the confinement /tmp is another one, so a probe's folder lies beside the lanes.
    if not around.confinement.holds:
        return None
    folder = around.state / "g"
    make_private(folder)
    return str(folder)


def _policy(
    around: ProbeContext, folder: Path, question: Question, view: Later[View] | None
) -> SandboxPolicy:
    """Its own settings can be read: it is asked whether somebody is signed in."""
    if view is None:
        return SandboxPolicy(state=around.state, view=View(home=around.home), cwd=folder)
    from hydra.process.sandbox.discovery import own_installation  # most is remembered

    settings = list(_settings(question, around))
    return SandboxPolicy(
        state=around.state,
        view=view.result(),
        home_folder=folder / "home",
        writable=(folder,),
        readonly=(*settings, *own_installation(around.home, question.binary, settings)),
        cwd=folder,
    )


def _settings(question: Question, around: ProbeContext) -> Iterator[Path]:
    for folder in folders_of(question.descriptor):
        place = place_of(folder, around.environ, around.home)
        beside = (around.home / name for name in folder.home_files)
        yield from (path for path in (place, *beside) if path.exists())

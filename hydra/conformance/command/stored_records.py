"""What a run keeps of the CLIs that it saw, and what has changed since an older version of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import hydra
from hydra.conformance import recorded, recording
from hydra.conformance.command.drift import Old, Pair
from hydra.conformance.command.installed import installed
from hydra.conformance.command.live import UNKNOWN, Live, Run, observed
from hydra.conformance.results import Case
from hydra.errors import Refused

if TYPE_CHECKING:
    from hydra.conformance.live.observation import Observation


def record(
    ready: Live, observed: Sequence[Observation], cases: Sequence[Case], run: Run
) -> list[str]:
    """Writes what was seen below `--fixtures`, scrubbed; the files. Raises `Refused`."""
    root = run.request.fixtures or recorded.root()
    if run.request.fixtures is None and root.is_relative_to(Path(hydra.__file__).parent):
        raise Refused(
            f"--record would write into the installed package: {root}",
            hint="name a folder of yours: --record --fixtures DIR",
        )
    try:
        return [str(path) for path in written(root, ready, observed, cases, run)]
    except OSError as error:
        raise Refused(
            f"{root} cannot be written: {error.strerror}", hint="name another: --fixtures DIR"
        ) from error


def written(
    root: Path,
    ready: Live,
    observed: Sequence[Observation],
    cases: Sequence[Case],
    run: Run,
    *,
    unknown: str = "",
) -> list[Path]:
    """The same anywhere; `unknown` is what a version is called that is not understood."""
    return recording.record(
        root,
        observed,
        cases,
        {key: agent.answers for key, agent in ready.agents.items()},
        adapters=[subject.adapter for subject in ready.subjects],
        whole=bool(observed) and not run.request.situations,
        unknown=unknown,
    )


def pairs(
    ready: Live, observed: Sequence[Observation], cases: Sequence[Case], run: Run, old: Old
) -> list[Pair]:
    """Each agent's older version, recorded or run now, and what is installed."""
    new = run.folder / "new"
    written(new, ready, observed, cases, run, unknown=UNKNOWN)
    folders = dict(old.folders)
    if old.programs:
        folders |= _run_old(ready, run, old)
    return [
        (
            subject,
            folders[subject.key],
            new / subject.key / (ready.versions[subject.key] or UNKNOWN),
        )
        for subject in ready.subjects
        if subject.key in folders and subject.key in ready.agents
    ]


def not_compared(ready: Live, old: Old, term: str) -> list[str]:
    """A sentence for each agent that has no older side."""
    missing = [key for key in ready.agents if key not in old.folders and key not in old.programs]
    return [f"--drift: {term} names no version of {key}, so it was not compared" for key in missing]


def _run_old(ready: Live, run: Run, old: Old) -> dict[str, Path]:
    """Runs the older programs in the same situations; the folder of each one's record."""
    subjects = [subject for subject in ready.subjects if subject.key in old.programs]
    place = replace(run, folder=run.folder / "older")
    agents = installed(
        [subject.adapter for subject in subjects],
        run.request.environ,
        place.folder / "probes",
        old.programs,
    )
    older = replace(ready, subjects=tuple(subjects), agents=agents)
    root = place.folder / "recorded"
    written(root, older, observed(older, place), (), place, unknown=UNKNOWN)
    return {key: root / key / (agent.version or UNKNOWN) for key, agent in agents.items()}

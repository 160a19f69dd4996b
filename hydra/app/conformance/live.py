"""The live part of conformance: what can be run here, the scratch place, what comes of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hydra import paths
from hydra.app import settings
from hydra.app.conformance.installed import Installed, installed
from hydra.conformance.live.meeting import UNREACHED
from hydra.conformance.live.reach import reaches
from hydra.conformance.live.run import case, observe
from hydra.conformance.live.situation import names
from hydra.conformance.results import Case, Verdict
from hydra.errors import NoAgentReady, Refused, UsageError
from hydra.space import under_floor
from hydra.workspace.tree import remove

if TYPE_CHECKING:
    from hydra.app.conformance.report import ConformanceRequest
    from hydra.conformance.contract.subject import Subject
    from hydra.conformance.live.observed import Observed

UNKNOWN = "unknown"
"""What a version is called whose text nobody understands, where two are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One call: what was asked for, its scratch folder, and who is told of each case."""

    request: ConformanceRequest
    folder: Path
    told: Callable[[Case], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What can be run live here. `cases` tells of what cannot, and why."""

    subjects: tuple[Subject, ...]
    agents: Mapping[str, Installed]
    situations: tuple[str, ...]
    cases: tuple[Case, ...] = ()

    @property
    def programs(self) -> dict[str, Path]:
        """The program of each agent that can be raced."""
        able = {key: one for key, one in self.agents.items() if not one.problem}
        return {key: one.program for key, one in able.items() if one.program is not None}

    @property
    def versions(self) -> dict[str, str]:
        """What is installed."""
        return {key: one.version for key, one in self.agents.items()}


@contextmanager
def scratch(environ: Mapping[str, str], *, keep: bool) -> Iterator[Path]:
    """A fresh folder outside /tmp, where Hydra keeps no state; removed at the end unless kept.

    Raises `Refused` where there is no place or no room for it.
    """
    usual = Path("/var/tmp")  # noqa: S108  mkdtemp makes the folder, 0700 and under a new name
    root = usual if os.access(usual, os.W_OK) else paths.cache_dir(environ)
    low = under_floor((root,), settings.load(None, environ, {}).limits.disk_floor)
    if low is not None:
        raise Refused(
            str(low), hint="make room; the floor is limits.disk_floor in your own hydra.toml"
        )
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="hydra-conformance-", dir=root))
    except OSError as error:
        raise Refused(
            f"no scratch folder can be made in {root}: {error.strerror}",
            hint="set HYDRA_CACHE_DIR to a folder that you can write",
        ) from error
    ended = False
    try:
        yield folder
        ended = True
    finally:
        # What was broken off has nothing to show.
        if not (keep and ended):
            with suppress(OSError):
                remove(folder)


def ready(subjects: Sequence[Subject], run: Run) -> Live:
    """Which of `subjects` are installed and can be led to the model server.

    Raises `UsageError` for a situation that nobody knows, `NoAgentReady` where none is installed,
    or one that was named is not.
    """
    wanted = _situations(run.request.situations)
    able = [subject for subject in subjects if not run.request.live or subject.key in reaches()]
    adapters = [subject.adapter for subject in able]
    found = installed(adapters, run.request.environ, run.folder / "probes")
    missing = [key for key, one in found.items() if one.program is None]
    if asked := [key for key in run.request.agents if key in missing or key not in found]:
        raise _not_there(asked, found)
    if len(missing) == len(found):
        raise _not_there([subject.key for subject in subjects], found)
    return Live(
        subjects=tuple(able),
        agents={key: one for key, one in found.items() if key not in missing},
        situations=wanted,
        cases=tuple(_not_run(subject.key, found.get(subject.key)) for subject in subjects),
    )


def _situations(asked: Sequence[str]) -> tuple[str, ...]:
    known = names()
    for name in asked:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1, 0.5)
            hint = f"the nearest is {near[0]}; " if near else ""
            raise UsageError(
                f"there is no situation {name}", hint=f"{hint}`hydra conformance --list` has them"
            )
    return tuple(dict.fromkeys(asked)) or tuple(known)


def _not_there(keys: Sequence[str], found: Mapping[str, Installed]) -> NoAgentReady:
    told = [one.problem if (one := found.get(key)) else f"{key}: {UNREACHED}" for key in keys]
    hints = [one.hint for key in keys if (one := found.get(key)) and one.hint]
    able = f"these can be run live: {', '.join(reaches())}"
    return NoAgentReady("; ".join(told), hint=hints[0] if hints else able)


def _not_run(key: str, one: Installed | None) -> Case:
    """Whether its CLI can be raced at all: the first case of an agent."""
    if one is None or one.program is None:
        reason = one.problem if one else UNREACHED
        return Case(suite="live", agent=key, name="detect", verdict=Verdict.SKIPPED, reason=reason)
    return Case(
        suite="live",
        agent=key,
        name="detect",
        version=one.version,
        verdict=Verdict.FAILED if one.differences else Verdict.PASSED,
        differences=one.differences,
    )


def observed(ready: Live, run: Run) -> list[Observed]:
    """Every situation that was asked for, with each CLI that can be raced."""
    return observe(
        [subject.adapter for subject in ready.subjects],
        ready.programs,
        only=ready.situations,
        jobs=run.request.jobs,
        folder=run.folder / "situations",
        progress=lambda met: run.told(case(met)),
    )


def case_of(met: Observed, *, keep: bool) -> Case:
    """Its case; the evidence lies in the scratch folder, and is named only where that is kept."""
    made = case(met)
    return made if keep else replace(made, evidence="")

"""The live part of conformance: what can be run here, the scratch place, what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hydra.adapters.probe import settings
from hydra.conformance.command.contract import check_names
from hydra.conformance.command.installed import InstalledAgent, installed
from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.live.run import case, observe
from hydra.conformance.live.scenario_run import UNREACHED
from hydra.conformance.live.situation import names
from hydra.conformance.race_run import new_folder, scratch_root
from hydra.conformance.results import Case, CaseVerdict
from hydra.disk import below_minimum
from hydra.errors import NoAgentReady, Refused
from hydra.workspace.tree import remove

if TYPE_CHECKING:
    from hydra.conformance.command.request import ConformanceRequest
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.conformance.live.observation import Observation

SITUATIONS = "situations"
"""The folder in the scratch folder in which they are run."""

UNKNOWN = "unknown"
"""What a version is called whose text nobody understands, where two are compared."""


class Run(Struct, frozen=True, kw_only=True):
    """One call: what was asked for, its scratch folder, and who is told of each case."""

    request: ConformanceRequest
    folder: Path
    report: Callable[[Case], None]


class Live(Struct, frozen=True, kw_only=True):
    """What can be run live here. `cases` tells of what cannot, and why."""

    subjects: tuple[ContractSubject, ...]
    agents: Mapping[str, InstalledAgent]
    situations: tuple[str, ...]
    cases: tuple[Case, ...] = ()

    @property
    def programs(self) -> dict[str, Path]:
        """The program of each agent that can be raced."""
        able = {key: agent for key, agent in self.agents.items() if not agent.problem}
        return {key: agent.program for key, agent in able.items() if agent.program is not None}

    @property
    def versions(self) -> dict[str, str]:
        """What is installed."""
        return {key: agent.version for key, agent in self.agents.items()}


@contextmanager
def scratch(environ: Mapping[str, str], *, keep: bool) -> Iterator[Path]:
    """A fresh folder outside /tmp, where Hydra keeps no state; removed at the end unless kept, and
    in any case where nothing was run in it.

    Raises `Refused` where there is no place or no room for it.
    """
    floor = settings.load(None, environ, {}).limits.disk_floor
    low = below_minimum((scratch_root(environ),), floor)
    if low is not None:
        raise Refused(
            str(low), hint="make room; the floor is limits.disk_floor in your own hydra.toml"
        )
    folder = new_folder("hydra-conformance-", environ)
    try:
        yield folder
    finally:
        if not (keep and (folder / SITUATIONS).exists()):
            with suppress(OSError):
                remove(folder)


def ready(subjects: Sequence[ContractSubject], run: Run) -> Live:
    """Which of `subjects` are installed and can be led to the model server.

    Raises `UsageError` for a situation that nobody knows, `NoAgentReady` where none is installed,
    or one that was named is not.
    """
    check_names(run.request.situations, names(), "there is no situation")
    able = [subject for subject in subjects if not run.request.live or subject.key in reaches()]
    adapters = [subject.adapter for subject in able]
    agents = installed(adapters, run.request.environ, run.folder / "probes")
    missing = [key for key, agent in agents.items() if agent.program is None]
    if lines := [key for key in run.request.agents if key in missing or key not in agents]:
        raise _not_there(lines, agents)
    if len(missing) == len(agents):
        raise _not_there([subject.key for subject in subjects], agents)
    return Live(
        subjects=tuple(able),
        agents={key: agent for key, agent in agents.items() if key not in missing},
        situations=tuple(dict.fromkeys(run.request.situations)) or tuple(names()),
        cases=tuple(_not_run(subject.key, agents.get(subject.key)) for subject in subjects),
    )


def _not_there(keys: Sequence[str], agents: Mapping[str, InstalledAgent]) -> NoAgentReady:
    lines = [agent.problem if (agent := agents.get(key)) else f"{key}: {UNREACHED}" for key in keys]
    hints = [agent.hint for key in keys if (agent := agents.get(key)) and agent.hint]
    able = f"these can be run live: {', '.join(reaches())}"
    return NoAgentReady("; ".join(lines), hint=hints[0] if hints else able)


def _not_run(key: str, agent: InstalledAgent | None) -> Case:
    """Whether its CLI can be raced at all: the first case of an agent."""
    if agent is None or agent.program is None:
        reason = agent.problem if agent else UNREACHED
        return Case(
            suite="live", agent=key, name="detect", verdict=CaseVerdict.SKIPPED, reason=reason
        )
    return Case(
        suite="live",
        agent=key,
        name="detect",
        version=agent.version,
        verdict=CaseVerdict.FAILED if agent.differences else CaseVerdict.PASSED,
        differences=agent.differences,
    )


def observed(ready: Live, run: Run) -> list[Observation]:
    """Every situation that was asked for, with each CLI that can be raced."""
    return observe(
        [subject.adapter for subject in ready.subjects],
        ready.programs,
        only=ready.situations,
        jobs=run.request.jobs,
        folder=run.folder / SITUATIONS,
        progress=lambda met: run.report(case(met)),
    )

"""Which CLIs are installed, asked as `hydra doctor` asks, but with nothing of the user's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import trio
from msgspec import Struct, field
from msgspec.structs import replace

from hydra.adapters.probe import settings
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.sandbox import try_confinement
from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.live.scenario_run import UNREACHED
from hydra.conformance.results import Case, CaseVerdict
from hydra.errors import NoAgentReady
from hydra.process.sandbox.trial import judge

if TYPE_CHECKING:
    from hydra.adapters.contract import Adapter
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.records.agent import DetectResult, ProbeOutput

NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing listens there, and a client is refused at once."""


class InstalledAgent(Struct, frozen=True, kw_only=True):
    """One CLI as it was found. `program` is None where there is none; `problem` says why it
    cannot be raced, "" where it can. `answers` is what it said to the probes, by their names.
    """

    program: Path | None
    version: str = ""
    problem: str = ""
    hint: str = ""
    answers: Mapping[str, ProbeOutput] = field(default_factory=dict)

    @property
    def differences(self) -> tuple[str, ...]:
        """What is not as it should be: the problem, else each probe that had to be ended."""
        late = (answer for answer in self.answers.values() if answer.timed_out)
        lines = (
            f"`{' '.join(output.argv)}` did not answer in {output.seconds:.0f} s" for output in late
        )
        return (self.problem,) if self.problem else tuple(lines)


class Installed(Struct, frozen=True, kw_only=True):
    """What can be run live here. `cases` say of each agent whether it can be raced at all."""

    subjects: tuple[ContractSubject, ...]
    agents: Mapping[str, InstalledAgent]
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


def ready(
    subjects: Sequence[ContractSubject],
    named: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    *,
    raced: bool,
) -> Installed:
    """Which of `subjects` are installed and, where they are `raced`, can be led to the model
    server; `folder` is made.

    Raises `NoAgentReady` where none is installed, or one that was `named` is not.
    """
    able = [subject for subject in subjects if not raced or subject.key in reaches()]
    agents = _installed(able, environ, folder)
    missing = [key for key, agent in agents.items() if agent.program is None]
    if lines := [key for key in named if key in missing or key not in agents]:
        raise _not_there(lines, agents)
    if len(missing) == len(agents):
        raise _not_there([subject.key for subject in subjects], agents)
    return Installed(
        subjects=tuple(able),
        agents={key: agent for key, agent in agents.items() if key not in missing},
        cases=tuple(_case(subject.key, agents.get(subject.key)) for subject in subjects),
    )


def of_programs(
    clis: Installed, environ: Mapping[str, str], folder: Path, programs: Mapping[str, Path]
) -> Installed:
    """The same agents with other programs: those that have one."""
    subjects = tuple(subject for subject in clis.subjects if subject.key in programs)
    agents = _installed(subjects, environ, folder, programs)
    return Installed(subjects=subjects, agents=agents)


def _not_there(keys: Sequence[str], agents: Mapping[str, InstalledAgent]) -> NoAgentReady:
    lines = [agent.problem if (agent := agents.get(key)) else f"{key}: {UNREACHED}" for key in keys]
    hints = [agent.hint for key in keys if (agent := agents.get(key)) and agent.hint]
    able = f"these can be run live: {', '.join(reaches())}"
    return NoAgentReady("; ".join(lines), hint=hints[0] if hints else able)


def _case(key: str, agent: InstalledAgent | None) -> Case:
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


def _installed(
    subjects: Sequence[ContractSubject],
    environ: Mapping[str, str],
    folder: Path,
    programs: Mapping[str, Path] | None = None,
) -> dict[str, InstalledAgent]:
    """Each adapter's CLI, by key. `programs` names them; else the user's settings, then PATH.

    `folder` is made, and holds their HOME. They are led to a port of loopback where nobody listens,
    as the situations lead them to the model server: `claude auth status` asks its service else.
    """
    home, state = folder / "home", folder / "state"
    for file in (home, state):
        file.mkdir(parents=True, exist_ok=True)
    own = settings.programs(settings.load(None, environ, {}), home)
    led = {"PATH": environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}
    for subject in subjects:
        if reach := reaches().get(subject.key):
            led |= reach.prepare(home, NOBODY)
    around = ProbeContext(
        environ=led,
        home=home,
        confinement=judge("", 127, ""),
        state=state,
        paths={key: str(path) for key, path in (programs or own).items()},
        extra_names={},
        confirm_sign_in=True,
    )
    listening = {subject.key: _RecordingAdapter(subject.adapter) for subject in subjects}
    results = trio.run(_detect, list(listening.values()), around)
    return {key: _agent(results[key], adapter.answers) for key, adapter in listening.items()}


async def _detect(
    adapters: Sequence[_RecordingAdapter], around: ProbeContext
) -> dict[str, DetectResult]:
    context = replace(around, confinement=await try_confinement(around.environ))
    return await detect_all(cast("Sequence[Adapter]", adapters), context)


def _agent(result: DetectResult, answers: Mapping[str, ProbeOutput]) -> InstalledAgent:
    error = result.error
    if error is not None and error.kind == "AuthMissing":
        error = None  # a made-up key is given to it later
    missing = error is not None and error.kind == "BinaryMissing"
    return InstalledAgent(
        program=None if missing or result.binary is None else Path(result.binary),
        version=result.version or "",
        problem=error.message if error else "",
        hint=error.hint if error else "",
        answers=dict(answers),
    )


class _RecordingAdapter:
    """An adapter that keeps the answers which its `detect` was shown last."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.answers: Mapping[str, ProbeOutput] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._adapter, name)

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """The adapter's own word."""
        self.answers = probes
        return self._adapter.detect(binary, probes)

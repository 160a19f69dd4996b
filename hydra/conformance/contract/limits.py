"""Whether limits and an interrupt end in fixed outcomes: real races, in which a program poses as
each agent, writes the first half of a recorded run, and hangs; and one in which it does not."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.conformance import race_run
from hydra.conformance.contract import fake_agent
from hydra.conformance.contract.delivery import by_word
from hydra.conformance.contract.outcomes import (
    ContractRace,
    differences,
    prompt_for,
    said_at_once,
    secret,
)
from hydra.conformance.contract.subject import ContractSubject, NotCheckable
from hydra.conformance.results import Case, CaseVerdict
from hydra.errors import HydraError, Refused

_FAR = ("--timeout", "5m", "--idle-timeout", "5m")


RACES = (
    ContractRace(
        name="limits.idle",
        options=("--timeout", "5m", "--idle-timeout", "4s"),
        status="timed_out",
        error=("TimedOut", "idle"),
        exit_code=1,
    ),
    ContractRace(
        name="limits.total",
        options=("--timeout", "4s", "--idle-timeout", "5m"),
        status="timed_out",
        error=("TimedOut", "total"),
        exit_code=1,
    ),
    ContractRace(
        name="limits.interrupt",
        options=_FAR,
        status="interrupted",
        error=("Interrupted", "interrupt"),
        exit_code=130,
        interrupts=True,
    ),
    ContractRace(name="limits.none", options=_FAR, status="completed", error=("", ""), exit_code=0),
)
NAMES = tuple(race.name for race in RACES)


def refused() -> str:
    """Why no race can be run here, or ""."""
    if not sys.platform.startswith("linux"):
        return "a race runs on Linux only"
    return "" if shutil.which("git") else "git is not here"


def begin(subjects: Sequence[ContractSubject], names: Sequence[str]) -> RacePool:
    """Starts the wanted races side by side, each with all subjects that it can be run with."""
    chosen = [race for race in RACES if race.name in names]
    return RacePool(subjects, chosen)


class RacePool:
    """Races under way. `cases` waits for them; `close` removes what they left."""

    def __init__(self, subjects: Sequence[ContractSubject], races: Sequence[ContractRace]) -> None:
        self.subjects, self.races = subjects, races
        self.refused = refused()
        self._cases: dict[str, list[Case]] = {}
        self._threads: list[threading.Thread] = []
        self._folder: Path | None = None
        if not self.refused:
            self._begin()

    def _begin(self) -> None:
        try:
            self._folder = race_run.new_folder("hydra-contract-", os.environ)
        except Refused as error:
            self.refused = error.message
            return
        for race in self.races:
            thread = threading.Thread(target=self._run_race, args=(race, self._folder))
            thread.start()
            self._threads.append(thread)

    def cases(self) -> Iterator[Case]:
        """One for each race and subject, in that order."""
        for thread in self._threads:
            while thread.is_alive():
                thread.join(race_run.WAKES)
        for race in self.races:
            skipped = (_case(s, race, reason=self.refused) for s in self.subjects)
            yield from self._cases.get(race.name) or skipped

    def close(self) -> None:
        """Waits for what still runs, and removes the scratch folder. After Ctrl-C it ends them."""
        if isinstance(sys.exception(), KeyboardInterrupt):
            race_run.end_all()
        for thread in self._threads:
            thread.join()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _run_race(self, race: ContractRace, folder: Path) -> None:
        try:
            self._cases[race.name] = list(_run(race, self.subjects, folder / race.name))
        except (HydraError, OSError) as error:
            text = f"the race could not be run: {error}"
            self._cases[race.name] = [_case(s, race, text) for s in self.subjects]


def _run(race: ContractRace, subjects: Sequence[ContractSubject], folder: Path) -> Iterator[Case]:
    parts: dict[str, fake_agent.PlayedPart] = {}
    for subject in subjects:
        try:
            part = fake_agent.first_half(subject) if race.error[0] else fake_agent.whole(subject)
        except NotCheckable as error:
            yield _case(subject, race, reason=str(error))
            continue
        except Exception as error:  # whatever a stranger's parser raises
            yield _case(subject, race, f"it raises {type(error).__name__}: {error}")
            continue
        parts[subject.key] = part
    able = [subject for subject in subjects if subject.key in parts]
    for number, group in enumerate(groups(able)):
        yield from _race(race, group, parts, folder / str(number))


AT_ONCE = 6
"""Agents in one race: with many more the last are not started before a limit ends the first."""


def groups(subjects: Sequence[ContractSubject]) -> list[list[ContractSubject]]:
    """Those that can be raced together: no two are started by a program of the same name, and a
    prompt that is a word of a line, which has to be shorter, is not among others."""
    rows: list[tuple[bool, set[str], list[ContractSubject]]] = []
    for subject in subjects:
        descriptor = subject.adapter.descriptor
        worded, names = by_word(descriptor), {*descriptor.binaries, *descriptor.generic_binaries}
        for kind, taken, group in rows:
            if kind is worded and not taken & names and len(group) < AT_ONCE:
                taken |= names
                group.append(subject)
                break
        else:
            rows.append((worded, names, [subject]))
    return [group for _, _, group in rows]


def _race(
    race: ContractRace,
    subjects: Sequence[ContractSubject],
    parts: Mapping[str, fake_agent.PlayedPart],
    folder: Path,
) -> Iterator[Case]:
    place, order = _prepare(race, subjects, parts, folder)
    outcome = race_run.race(place, order)
    if len(subjects) > 1 and not race.error[0]:
        race = replace(race, exit_code=1)  # no check ran, so of several none is first
    for subject in subjects:
        part = parts[subject.key]
        lines = list(differences(race, subject, part, outcome, place))
        yield _case(subject, race, *lines, version=part.recording.version, seconds=outcome.seconds)


def _prepare(
    race: ContractRace,
    subjects: Sequence[ContractSubject],
    parts: Mapping[str, fake_agent.PlayedPart],
    folder: Path,
) -> tuple[race_run.ScratchPlace, race_run.RaceOrder]:
    place = race_run.ScratchPlace(folder)
    place.commit({"README.md": "# Shop\n"})
    programs = {s.key: fake_agent.place(folder / "agents", s, parts[s.key]) for s in subjects}
    place.settings.write_text("\n".join(_settings(subjects, programs)))
    return place, race_run.RaceOrder(
        agents=[subject.key for subject in subjects],
        prompt=prompt_for(subjects),
        options=(
            "--allow-experimental-adapters",
            *("--max-parallel", str(AT_ONCE)),
            *race.options,
        ),
        environ=place.environ([folder / "agents" / "bin"], **_made_up(subjects)),
        when=_all_have_spoken(subjects, parts) if race.interrupts else None,
        longest=60.0,
    )


def _settings(subjects: Sequence[ContractSubject], programs: Mapping[str, Path]) -> Iterator[str]:
    for subject in subjects:
        yield f"[agents.{subject.key}]"
        yield f"path = {json.dumps(str(programs[subject.key]))}"
        if subject.spec:
            yield f"adapter = {json.dumps(subject.spec)}"


def _made_up(subjects: Sequence[ContractSubject]) -> dict[str, str]:
    """A sign-in for each that takes one from the environment."""
    names = (s.adapter.descriptor.sign_in_environment[:1] for s in subjects)
    return {name[0]: secret(name[0]) for name in names if name}


def _all_have_spoken(
    subjects: Sequence[ContractSubject], parts: Mapping[str, fake_agent.PlayedPart]
) -> Callable[[Mapping[str, Any]], bool]:
    """True once every agent has started, and has written all that it will."""
    waiting = {s.key: 1 + said_at_once(s, parts[s.key]) for s in subjects}

    def all_spoken(event: Mapping[str, Any]) -> bool:
        lane = str(event.get("lane"))
        value = event.get("source") == "agent" or event.get("kind") == "agent_started"
        if value and lane in waiting:
            waiting[lane] -= 1
        return all(remaining <= 0 for remaining in waiting.values())

    return all_spoken


def _case(
    subject: ContractSubject,
    race: ContractRace,
    *differences: str,
    reason: str = "",
    version: str = "",
    seconds: float = 0.0,
) -> Case:
    verdict = (
        CaseVerdict.SKIPPED if reason else CaseVerdict.FAILED if differences else CaseVerdict.PASSED
    )
    return Case(
        suite="contract",
        agent=subject.key,
        name=race.name,
        verdict=verdict,
        version=version,
        differences=differences,
        reason=reason,
        seconds=seconds,
    )

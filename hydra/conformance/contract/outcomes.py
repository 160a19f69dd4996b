"""How a race with programs that pose as agents has to end, and what is other than that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.conformance import race_run
from hydra.conformance.contract import delivery, fake_agent
from hydra.conformance.contract.prompts import LONG, MARK
from hydra.conformance.contract.sound import endings, files_of, read
from hydra.conformance.contract.subject import ContractSubject
from hydra.errors import HydraError

_PROMPT = f"-{MARK}\n--version\n"


def prompt_for(subjects: Sequence[ContractSubject]) -> str:
    """It begins like an option; and where no CLI here takes it as a word of its command line, it
    is longer than one takes."""
    worded = any(delivery.by_word(subject.adapter.descriptor) for subject in subjects)
    return _PROMPT + "x" * (LONG // 2 if worded else LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractRace:
    """One race: its options, and how each lane and the program itself must end by it."""

    name: str
    options: tuple[str, ...]
    status: str
    error: tuple[str, str]
    exit_code: int
    interrupts: bool = False


def secret(name: str) -> str:
    """A made-up value for a variable that signs in."""
    return f"sk-made-up-{hashlib.sha256(name.encode()).hexdigest()[:24]}"


def differences(
    race: ContractRace,
    subject: ContractSubject,
    part: fake_agent.PlayedPart,
    outcome: race_run.RaceOutcome,
    place: race_run.ScratchPlace,
) -> Iterator[str]:
    """What is other than it must be, a sentence each."""
    if outcome.hung:
        yield f"the race did not end within {outcome.seconds:.0f} s"
        return
    lane = outcome.lane(subject.key)
    if not lane:
        last = outcome.stderr.strip().splitlines()[-1:] or ["nothing was said"]
        yield f"the race has no such lane (exit {outcome.exit_code}: {last[0]})"
        return
    if outcome.exit_code != race.exit_code:
        yield f"`hydra race` exits with {outcome.exit_code}, not {race.exit_code}"
    if lane.get("status") != race.status:
        yield f"status is {lane.get('status')!r}, not {race.status!r}: {_message(lane)}"
    error = lane.get("error") or {}
    names = (str(error.get("kind", "")), str(error.get("reason", "")))
    if names != race.error:
        yield f"error is {'/'.join(names)}, not {'/'.join(race.error) or 'none'}: {_message(lane)}"
    yield from _spoken(race, subject, part, outcome)
    if not part.hangs:
        yield from _was_told(subject, outcome, place)


def _message(lane: Mapping[str, Any]) -> str:
    return str((lane.get("error") or {}).get("message") or "no error")


def spoken(subject: ContractSubject, part: fake_agent.PlayedPart) -> list[tuple[str, str]]:
    """Kind and sub of every event that the program's output gives before it hangs or exits."""
    files = {} if part.hangs else files_of(subject, part.stream)
    files = {**files, "stderr": part.stream.stderr}
    seen = read(subject, part.lines, part.stream.exit, files)
    closing = {id(event) for event in endings(seen)} if part.hangs else set()
    return [(event.kind, event.sub) for event in seen if id(event) not in closing]


def said_at_once(subject: ContractSubject, part: fake_agent.PlayedPart) -> int:
    """How many events it gives while it runs; what only its end tells is not among them."""
    parser = subject.adapter.parser()
    return sum(len(parser.parse_line(line)) for line in part.lines)


def _spoken(
    race: ContractRace,
    subject: ContractSubject,
    part: fake_agent.PlayedPart,
    outcome: race_run.RaceOutcome,
) -> Iterator[str]:
    """What was written before it hung is in the record, in its order, and nothing else is.

    A limit may strike a loaded machine before all was written: then it is the beginning of it.
    """
    rows = spoken(subject, part)
    documents = [event for event in outcome.of(subject.key) if event.get("source") == "agent"]
    pairs = [(str(event["kind"]), str(event.get("sub", ""))) for event in documents]
    if part.hangs:
        pairs = [kind for kind in pairs if kind[0] not in ("completed", "failed")]
    if part.hangs and not race.interrupts:
        rows = rows[: max(1, len(pairs))]
    if pairs != rows:
        names = [["/".join(filter(None, kind)) for kind in kinds] for kinds in (pairs, rows)]
        yield f"events are {', '.join(names[0]) or 'none'}, not {', '.join(names[1])}"


def _was_told(
    subject: ContractSubject, outcome: race_run.RaceOutcome, place: race_run.ScratchPlace
) -> Iterator[str]:
    """The prompt came whole by the way that the descriptor names, and no secret is on the line."""
    assert outcome.folder is not None
    try:
        name = f"{subject.key}:{fake_agent.TOUCHED}"
        document = json.loads(place.git("show", name, cwd=outcome.folder / "patches.git"))
    except (HydraError, ValueError):
        yield f"{fake_agent.TOUCHED}, which the agent wrote, is not in its patch"
        return
    line = " ".join(document["argv"])
    for name in subject.adapter.descriptor.sign_in_environment[:1]:
        if secret(name) in line:
            yield f"the value of {name} is on its command line"
        if name not in document["environ"]:
            yield f"{name} does not reach it"
    yield from delivery.arrived(subject.adapter.descriptor, prompt_for([subject]), MARK, document)

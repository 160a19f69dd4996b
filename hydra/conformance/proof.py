"""What a record says of one version: the proof of each situation, the contract's cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from hydra import __version__
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof, Record, definition
from hydra.conformance.live.observation import Observation
from hydra.conformance.results import Case, CaseVerdict


def fresh_record(folder: Path, agent: str, version: str, cases: Sequence[Case]) -> Record:
    """The record to be written: this day's, with the situations of the one that is there."""
    fresh = Record(
        agent=agent,
        version=version,
        hydra=__version__,
        platform=records.this_platform(),
        date=datetime.now(UTC).date().isoformat(),
        contract={
            case.name: case.verdict is CaseVerdict.PASSED
            for case in cases
            if case.suite == "contract"
            and case.agent == agent
            and case.version in ("", version)
            and case.verdict is not CaseVerdict.SKIPPED
        },
    )
    path = folder / fresh.name
    if not path.is_file():
        return fresh
    record = records.read(path)
    return replace(fresh, situations=record.situations, contract=fresh.contract or record.contract)


def proof(observation: Observation, stream: str) -> Proof:
    """What one situation gave; `stream` is the file that holds its stream, "" for none."""
    return Proof(
        passed=not observation.differences,
        status=observation.status,
        error=observation.error,
        error_reason=observation.error_reason,
        exit={
            name: observation.exit.get(name)
            for name in ("code", "signal")
            if name in observation.exit
        },
        events=_folded(observation.events),
        usage={name: value is not None for name, value in sorted(observation.usage.items())},
        patch=dict(sorted(observation.patch.items())),
        stream=stream,
        proves=observation.proves,
        definition=definition(observation.situation),
    )


def _folded(events: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """`kind/sub` in order, a run of the same once. Notices come as their clock has it: left out."""
    names: list[str] = []
    for event in events:
        name = f"{event['kind']}/{event['sub']}".rstrip("/")
        if name != "progress/notice" and names[-1:] != [name]:
            names.append(name)
    return tuple(names)

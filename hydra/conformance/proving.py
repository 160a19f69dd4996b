"""What a record says of one version: the proof of each situation, the contract's cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hydra import __version__
from hydra.conformance import records
from hydra.conformance.live.observed import Observed
from hydra.conformance.records import Proof, Record
from hydra.conformance.results import Case, Verdict


def fresh_record(folder: Path, agent: str, version: str, cases: Sequence[Case]) -> Record:
    """The record to be written: this day's, with the situations of the one that is there."""
    fresh = Record(
        agent=agent,
        version=version,
        hydra=__version__,
        platform=records.here(),
        date=datetime.now(UTC).date().isoformat(),
        contract={
            case.name: case.verdict is Verdict.PASSED
            for case in cases
            if case.suite == "contract"
            and case.agent == agent
            and case.version in ("", version)
            and case.verdict is not Verdict.SKIPPED
        },
    )
    path = folder / fresh.name
    if not path.is_file():
        return fresh
    there = records.read(path)
    return replace(fresh, situations=there.situations, contract=fresh.contract or there.contract)


def proof(one: Observed, stream: str) -> Proof:
    """What one situation gave; `stream` is the file that holds its stream, "" for none."""
    return Proof(
        passed=not one.differences,
        status=one.status,
        error=one.error,
        error_reason=one.error_reason,
        exit={name: one.exit.get(name) for name in ("code", "signal") if name in one.exit},
        events=_folded(one.events),
        usage={name: value is not None for name, value in sorted(one.usage.items())},
        patch=dict(sorted(one.patch.items())),
        stream=stream,
        proves=one.proves,
    )


def _folded(events: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """`kind/sub` in order, a run of the same once. Notices come as their clock has it: left out."""
    names: list[str] = []
    for event in events:
        name = f"{event['kind']}/{event['sub']}".rstrip("/")
        if name != "progress/notice" and names[-1:] != [name]:
            names.append(name)
    return tuple(names)

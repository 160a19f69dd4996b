"""The matrix of what is proved of each agent, made from its records and its recordings.

Nothing in it is typed by hand: a cell is verified by a situation that passed live, observed by a
recorded help text, and unknown otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import proven_capabilities, records
from hydra.adapters.proofs.records import DIMENSIONS, PLATFORMS, Record
from hydra.conformance import notes
from hydra.conformance.recorded import Recording, recordings
from hydra.conformance.report.matrix import Cell, Matrix, MatrixRow
from hydra.records.agent import Confidence

COLUMNS = (*DIMENSIONS, *PLATFORMS)


def matrix(
    root: Path,
    adapters: Sequence[Adapter],
    *,
    elsewhere: Mapping[str, Path] | None = None,
    third_party: Collection[str] = (),
    all: bool = False,
) -> Matrix:
    """A row for each adapter, in their order; one of a third party without records only if `all`.

    `elsewhere` are the roots of those whose recordings do not lie in `root`, by key; `third_party`
    names others' adapters that do not say so themselves. Raises `RecordError` for a record that is
    damaged or from a newer Hydra.
    """
    rows = []
    for adapter in adapters:
        place = (elsewhere or {}).get(adapter.key(), root)
        entries = records.read_all(place, adapter.key())
        theirs = adapter.key() in third_party or adapter.descriptor.third_party is not None
        if entries or all or not theirs:
            real = [
                recording
                for recording in recordings(place, adapter.key())
                if notes.is_real(recording.folder)
            ]
            rows.append(row(adapter, entries, real, third_party=theirs))
    return Matrix(columns=COLUMNS, rows=tuple(rows))


def row(
    adapter: Adapter,
    entries: Sequence[Record],
    recorded: Sequence[Recording],
    *,
    third_party: bool = False,
) -> MatrixRow:
    """One agent's row. `entries` as `read_all` gives them, `recorded` the oldest version first."""
    seen = observed(adapter, recorded[-1]) if recorded else {}
    cells = [_dimension(entries, name, seen.get(name, Cell())) for name in DIMENSIONS]
    return MatrixRow(
        agent=adapter.key(),
        label=adapter.descriptor.label,
        tier=adapter.descriptor.tier,
        third_party=third_party,
        cells=(*cells, *(_platform(entries, name) for name in PLATFORMS)),
    )


def observed(adapter: Adapter, recording: Recording) -> dict[str, Cell]:
    """The dimensions whose flags stand in the recorded help, by the adapter's own table."""
    descriptor = adapter.descriptor
    result = adapter.detect(descriptor.binaries[0], recording.probes(descriptor.probes))
    names = proven_capabilities.tied(adapter, result.flags)
    cell = Cell(
        confidence=Confidence.OBSERVED,
        version=recording.version,
        evidence=f"{recording.agent}/{recording.version}",
    )
    return {dimension: cell for name in names for dimension in proven_capabilities.BEHIND[name]}


def _dimension(entries: Sequence[Record], name: str, otherwise: Cell) -> Cell:
    proof = proven_capabilities.standing(entries, name)
    if proof is None:
        return otherwise
    cell = Cell(
        confidence=Confidence.VERIFIED,
        version=proof.version,
        date=proof.date,
        platform=proof.platform,
        evidence=proof.evidence,
    )
    if proof.passed:
        return cell
    return Cell(
        confidence=otherwise.confidence,
        version=otherwise.version,
        evidence=proof.evidence,
        note=proof.note,
    )


def _platform(entries: Sequence[Record], name: str) -> Cell:
    """The newest record of that platform: verified where situations passed, and none failed."""
    mine = [record for record in entries if record.platform == name]
    for record in reversed(mine):
        failed = list(_failed(record))
        if not (record.situations or record.contract):
            continue
        confidence = Confidence.VERIFIED if record.situations else Confidence.OBSERVED
        return Cell(
            confidence=Confidence.UNKNOWN if failed else confidence,
            version=record.version,
            date=record.date,
            platform=name,
            evidence=f"{record.agent}/{record.version}/{record.name}",
            note=f"{', '.join(failed)} failed in {record.version}" if failed else "",
        )
    return Cell()


def _failed(record: Record) -> Iterator[str]:
    yield from (name for name, proof in record.situations.items() if not proof.passed)
    yield from (name for name, passed in record.contract.items() if not passed)

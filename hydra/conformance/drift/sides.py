"""One side of a comparison: a recorded version, with its live situations and their streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.definitions import definition
from hydra.adapters.proofs.records import Proof
from hydra.conformance.drift.schemas import lines_of
from hydra.conformance.recorded import Recording, Stream
from hydra.errors import RecordError
from hydra.records.agent import ProbeOutput

HAND = "recorded:"
"""Before the name of a stream that belongs to no live situation: another may have its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One version. `streams` and `proofs` are by situation; a stream may be missing (too long)."""

    adapter: Adapter
    version: str
    version_text: str
    helps: Mapping[str, str]
    probes: Mapping[str, ProbeOutput]
    streams: Mapping[str, Stream]
    proofs: Mapping[str, Proof]

    @property
    def situations(self) -> frozenset[str]:
        """All that is known to have been tried."""
        return frozenset(self.streams) | frozenset(self.proofs)


def read(adapter: Adapter, folder: Path) -> Side:
    """The side that a version's folder holds. Raises `RecordError` where there is none."""
    if not folder.is_dir():
        raise RecordError(
            f"nothing is recorded in {folder}", hint="hydra conformance --live --record"
        )
    recording = Recording(folder)
    answers = recording.answers(adapter.descriptor.probes)
    proofs = _proofs(folder)
    owner = {proof.stream: name for name, proof in proofs.items() if proof.stream}
    runs = [stream for stream in recording.streams() if not stream.synthetic]
    mapping = {f"stream.{stream.name}.jsonl": stream for stream in runs}
    streams = {owner.get(file, f"{HAND}{stream.name}"): stream for file, stream in mapping.items()}
    return Side(
        adapter=adapter,
        version=recording.version,
        version_text=recording.version_text,
        helps=recording.helps,
        # The good answer of several, and a bad one where it gave no other: its sandbox, say.
        probes={name: outputs[0] for name, outputs in answers.items()},
        streams=streams,
        proofs=proofs,
    )


def _proofs(folder: Path) -> dict[str, Proof]:
    """Every situation of the folder, a newer record over an older one. One that is another by now
    has a name of its own: it is compared with what it was on the other side."""
    entries = [records.read(path) for path in sorted(folder.glob("record.*.json"))]
    entries.sort(key=lambda record: (record.date, record.hydra, record.platform))
    proofs = {name: proof for record in entries for name, proof in record.situations.items()}
    return {
        name if proof.definition == definition(name) else f"{name} as it was": proof
        for name, proof in proofs.items()
    }


def shared(old: Side, new: Side) -> list[str]:
    """The situations whose streams both have, by name."""
    return sorted(frozenset(old.streams) & frozenset(new.streams))


def events_of(side: Side, situations: list[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """(type, object) of each line in those situations."""
    for name in situations:
        yield from lines_of(side.streams[name].lines)

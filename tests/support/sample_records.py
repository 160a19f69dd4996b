"""Made-up records of what CLIs did, for the tests of what is built on them."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof, Record, definition


def proof(*proves: str, passed: bool = True, stream: str = "") -> Proof:
    """A situation that proves these dimensions."""
    return Proof(passed=passed, status="completed", proves=proves, stream=stream)


def record(
    version: str = "2.1.330",
    situations: dict[str, Proof] | None = None,
    *,
    agent: str = "claude",
    hydra: str = "0.1.0",
    platform: str = "linux",
    date: str = "2026-11-22",
    contract: dict[str, bool] | None = None,
) -> Record:
    """A record in which, unless others are given, one situation proves that it edits."""
    edits = {"edit": proof("edit", stream="stream.edit.jsonl")}
    return Record(
        agent=agent,
        version=version,
        hydra=hydra,
        platform=platform,
        date=date,
        situations=edits if situations is None else situations,
        contract=contract or {},
    )


def keep(root: Path, *entries: Record) -> Path:
    """Writes them below `root`, each into its version's folder, as met in situations of today."""
    for entry in entries:
        records.write(root / entry.agent / entry.version, of_today(entry))
    return root


def of_today(entry: Record) -> Record:
    """The record with its situations met as they are now, where it does not say how they were."""
    situations = {
        name: replace(proof, definition=proof.definition or definition(name))
        for name, proof in entry.situations.items()
    }
    return replace(entry, situations=situations)

"""What `hydra agents` and `hydra doctor` show of an agent: its claims, weighed by the records.

A few small files are read for it, which a race never does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.conformance import earned, recorded, records
from hydra.conformance.records import Record
from hydra.errors import RecordError
from hydra.health import Trouble
from hydra.model import DetectResult, Tier
from hydra.reporters.listing import AgentRow


def rows(
    pairs: Iterable[tuple[Adapter, DetectResult | None]],
    troubles: Mapping[str, Trouble],
    *,
    whole: bool = True,
) -> list[AgentRow]:
    """All of them, with what the last races had with each one's service. Not `whole`, only Tier 1
    is held against its records: of the others nothing is shown that stands there."""
    now, told = time.time(), []
    for adapter, found in pairs:
        weighed = whole or adapter.descriptor.tier is Tier.TIER1
        one = row(adapter, found) if weighed else AgentRow(adapter.descriptor, found)
        told.append(replace(one, trouble=troubles.get(adapter.key()), at=now))
    return told


def row(adapter: Adapter, found: DetectResult | None) -> AgentRow:
    """The agent with the confidence that it has earned. A damaged record is said, and raises
    nothing: no claim is verified then."""
    try:
        known = records.read_all(recordings_of(adapter), adapter.key())
    except RecordError as error:
        return replace(_weighed(adapter, found, ()), proved=f"unknown: {error.message}")
    return _weighed(adapter, found, known)


def recordings_of(adapter: Adapter) -> Path:
    """Where an adapter's recordings and records lie: with Hydra's own, or beside its module."""
    origin = adapter.descriptor.third_party
    if origin is None:
        return recorded.root()
    from hydra.app.conformance.subjects import beside

    return beside(origin.spec)


def _weighed(adapter: Adapter, found: DetectResult | None, known: Sequence[Record]) -> AgentRow:
    claimed = adapter.descriptor
    installed = found.version if found else ""
    proved = earned.proved(known, installed)
    if found is not None:
        shown = earned.tied(adapter, found.flags)
        held = earned.earned(found.capabilities, known, shown=shown, shown_in=found.version)
        found = replace(found, capabilities=held)
    return AgentRow(
        descriptor=replace(claimed, capabilities=earned.earned(claimed.capabilities, known)),
        found=found,
        proved=earned.says(proved, installed),
        proof=None if proved is None else proved.as_dict(),
    )

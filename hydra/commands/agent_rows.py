"""What `hydra agents` and `hydra doctor` show of an agent: its claims, weighed by the records.

A few small files are read for it, which a race never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import proven_capabilities, records
from hydra.adapters.proofs.records import Record
from hydra.errors import RecordError
from hydra.paths import fixtures
from hydra.records.agent import DetectResult, Tier
from hydra.records.codec import as_json
from hydra.report.listing import AgentRow


def rows(
    pairs: Iterable[tuple[Adapter, DetectResult | None]], *, whole: bool = True
) -> list[AgentRow]:
    """All of them. Not `whole`, only Tier 1 is held against its records: of the others nothing is
    shown that stands there."""
    return [
        row(adapter, result)
        if whole or adapter.descriptor.tier is Tier.TIER1
        else AgentRow(adapter.descriptor, result)
        for adapter, result in pairs
    ]


def row(adapter: Adapter, result: DetectResult | None) -> AgentRow:
    """The agent with the confidence that it has earned. A damaged record is said, and raises
    nothing: no claim is verified then."""
    try:
        entries = records.read_all(recordings_of(adapter), adapter.key())
    except RecordError as error:
        return replace(_weighed(adapter, result, ()), proved=f"unknown: {error.message}")
    return _weighed(adapter, result, entries)


def recordings_of(adapter: Adapter) -> Path:
    """Where an adapter's recordings and records lie: with Hydra's own, or beside its module."""
    origin = adapter.descriptor.third_party
    if origin is None:
        return fixtures() / "adapters"
    from hydra.adapters.plugins import beside

    return beside(origin.spec)


def _weighed(adapter: Adapter, result: DetectResult | None, entries: Sequence[Record]) -> AgentRow:
    claimed = adapter.descriptor
    installed = result.version if result else ""
    proved = proven_capabilities.proved(entries, installed)
    if result is not None:
        shown = proven_capabilities.tied(adapter, result.flags)
        capability_set = proven_capabilities.proven(
            result.capabilities, entries, shown=shown, shown_in=result.version
        )
        result = replace(result, capabilities=capability_set)
    return AgentRow(
        descriptor=replace(
            claimed, capabilities=proven_capabilities.proven(claimed.capabilities, entries)
        ),
        detection=result,
        proved=proven_capabilities.says(proved, installed),
        proof=as_json(proved),
    )

"""The drift report: what two recorded versions of a CLI have differently, one line each."""

from __future__ import annotations

from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.conformance.drift import helps, outcomes, sides, streams
from hydra.conformance.results import VersionChange


def compare(adapter: Adapter, old: Path, new: Path) -> list[VersionChange]:
    """Every change from one version's folder to the other's, those that Hydra minds first.

    Within that: help texts, events, fields, outcomes. No two lines are the same. Raises
    `RecordError` where a folder or a record in it cannot be read.
    """
    was, now = sides.read(adapter, old), sides.read(adapter, new)
    changes = [*helps.changes(was, now), *streams.changes(was, now), *outcomes.changes(was, now)]
    once = list(dict.fromkeys(changes))
    return sorted(once, key=lambda change: not change.minds)

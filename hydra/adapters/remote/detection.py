"""An agent as it was found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from hydra.records.agent import DetectResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteDetection:
    """What its probes gave there. `root`: it runs as root. `remarks` are sentences for a person."""

    result: DetectResult
    root: bool = False
    remarks: tuple[str, ...] = ()

"""An agent as it was found elsewhere."""

from __future__ import annotations

from msgspec import Struct

from hydra.records.agent import DetectResult


class RemoteDetection(Struct, frozen=True, kw_only=True):
    """What its probes gave there. `root`: it runs as root. `remarks` are sentences for a person."""

    result: DetectResult
    root: bool = False
    remarks: tuple[str, ...] = ()

"""Patches as the judge reads them, from texts."""

from __future__ import annotations

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.findings import findings


def change(path: str, old: str | None, new: str | None) -> FileChange:
    """One path of a patch; None where it is not there."""
    return FileChange(
        path=path,
        old=old,
        new=new,
        old_mode="" if old is None else "100644",
        new_mode="" if new is None else "100644",
    )


def found(*files: tuple[str, str | None, str | None]) -> tuple[Finding, ...]:
    """What is found in a patch of these files."""
    return findings([change(*file) for file in files])


def told(*files: tuple[str, str | None, str | None]) -> list[tuple[str, str, str]]:
    """Kind, weight and sentence of each."""
    return [(finding.kind, finding.weight, finding.text) for finding in found(*files)]


def accused(*files: tuple[str, str | None, str | None]) -> list[str]:
    """The sentences that are held against a patch: those of gates and of suspicion."""
    return [finding.text for finding in found(*files) if finding.weight != "remark"]

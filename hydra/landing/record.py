"""What was landed, as its run's folder keeps it (`landings/NAME.json`) and `--json` prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from hydra.records.codec import SCHEMA, DiskName, shaped
from hydra.records.store.files import read_known


class RuledLane(Struct, frozen=True, kw_only=True):
    """What the verdict said of a lane that was taken whole, or whose part counts as the lane."""

    lane: str
    rank: int | None
    state: str
    reason: str
    decision: str | None
    agreed: bool
    checked: bool
    gates: tuple[str, ...]

    @property
    def against(self) -> Sequence[str]:
        """Its gates; else why it is not proved, where checks ran."""
        unproved = self.state != "proved" and self.checked and self.reason
        return self.gates or ((self.reason,) if unproved else ())

    @property
    def but(self) -> str:
        """What its reason says against its code though it is proved, a clause after its name."""
        return self.reason.partition("; but ")[2] if self.state == "proved" else ""


class SalvagedFile(Struct, frozen=True, kw_only=True):
    """A file that was taken out of its place and is to be named: `path` in the tree, `file` where
    it lies now, and why."""

    path: DiskName
    file: DiskName
    why: str


class LandingRecord(Struct, frozen=True, kw_only=True):
    """One landing. `lanes` are all that it took of, `whole` those of which it took all.

    `ref` is the branch, which was at `head` and is at `commit` now ("": without one); `onto` is
    what an undo leads back to, `result` the tree. `loose` are files that are not staged; `override`
    and `confirmed` are a person's words; `undone` is when it was taken back. `flags` and `exact`
    are what an undo gives back: git's flags by path, and files by their name in the folder of what
    was displaced.
    """

    schema: int = SCHEMA
    kind: str = "landing"
    run: DiskName
    lanes: tuple[str, ...]
    picks: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    title: str
    ref: DiskName
    branch: DiskName = ""
    onto: DiskName
    base: DiskName
    head: DiskName
    result: DiskName
    commit: DiskName
    files: tuple[DiskName, ...] = ()
    loose: tuple[DiskName, ...] = ()
    moved: bool = False
    verdict: tuple[RuledLane, ...] = ()
    override: str | None = None
    confirmed: tuple[str, ...] = ()
    checks: Mapping[str, Any] | None = None
    landed: float
    undone: float | None = None
    kept: tuple[SalvagedFile, ...] = ()
    record: DiskName
    flags: Mapping[str, tuple[str, ...]] | UnsetType = UNSET
    exact: Mapping[str, str] | UnsetType = UNSET

    @classmethod
    def read(cls, path: Path) -> LandingRecord:
        """Raises `OSError`, and `ValueError` for what Hydra does not write, or a newer one has."""
        return shaped(read_known(path), cls)

    @property
    def branch_name(self) -> str:
        """Where it was landed, as a person calls it."""
        return self.ref.removeprefix("refs/heads/")


def landings(run_folder: Path) -> list[LandingRecord]:
    """What was landed of a run, oldest first, also what was taken back; what can be read of it."""
    records = []
    for path in sorted((run_folder / "landings").glob("*.json")):
        with suppress(OSError, ValueError):
            records.append(LandingRecord.read(path))
    return records

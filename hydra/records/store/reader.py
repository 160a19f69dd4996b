"""Runs read back, by every command but a race: one run, all runs, the run that was named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from hydra.errors import RecordError, Refused
from hydra.records.codec import SCHEMA, DiskName, shaped
from hydra.records.events import Event, decode
from hydra.records.outcome import Outcome
from hydra.records.plan import RaceManifest
from hydra.records.store.files import read_object, shared
from hydra.text import of_run

T = TypeVar("T")


class _Based(Struct):
    """Any of a run's documents."""

    base: DiskName


class RunRecord:
    """One run read back, finished or not. Reading never changes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self.patches = folder / "patches.git"
        """The run's bare repository of patches."""

    @property
    def manifest(self) -> RaceManifest:
        """What was recorded before the race began. Raises `RecordError`, as `result` does."""
        return read_record(self.folder / "manifest.json", RaceManifest)

    @property
    def result(self) -> dict[str, object] | None:
        """The result document, or None where the race has not ended (or was killed)."""
        path = self.folder / "result.json"
        if not path.exists():
            return None
        document = read_document(path)
        as_record(path, document.get("lanes"), tuple[Outcome, ...])
        return document

    @property
    def outcomes(self) -> tuple[Outcome, ...] | None:
        """The same of its lanes."""
        path = self.folder / "result.json"
        return read_record(path, tuple[Outcome, ...], "lanes") if path.exists() else None

    @property
    def base(self) -> str:
        """The commit every lane began from. Three documents hold it: any that is whole will do.

        Raises `RecordError` where none of them is.
        """
        damages: list[RecordError] = []
        for name in ("manifest.json", "result.json", "plan.json"):
            try:
                if base := read_record(self.folder / name, _Based).base:
                    return base
            except RecordError as damage:
                damages.append(damage)
        raise (*damages, _damaged(self.folder / "manifest.json", ValueError("it has no base")))[0]

    @property
    def live(self) -> bool:
        """Whether a Hydra still holds this run's lock."""
        with shared(self.folder) as is_free:
            return not is_free

    @property
    def state(self) -> str:
        """`running`, `ended`, or `broken off` (Hydra itself was killed)."""
        if self.live:
            return "running"
        return "ended" if (self.folder / "result.json").exists() else "broken off"

    def events(self) -> Iterator[Event]:
        """Every event in order; a torn last line is passed over.

        Raises `RecordError` at a damaged line in the middle, after yielding what stands before it.
        """
        path = self.folder / "events.jsonl"
        try:
            with path.open("rb") as source:
                yield from (decode(line) for line in source if line.endswith(b"\n"))
        except OSError as error:
            raise _damaged(path, error) from error


def runs(folder: Path) -> list[RunRecord]:
    """The runs under one repository's `runs/`, oldest first; an unborn one is left out.

    Raises `Refused` where the folder may not be read.
    """
    try:
        names = sorted(path.name for path in folder.iterdir() if path.name[0] != ".")
        files = (folder / name / "manifest.json" for name in names)
        return [RunRecord(file.parent) for file in files if file.exists()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Refused(
            f"the runs in {folder} cannot be read: {error.strerror}",
            hint="are they another user's? set HYDRA_STATE_DIR to a folder of your own",
        ) from error


def read_document(path: Path) -> dict[str, Any]:
    """A document of a run. Raises `RecordError` where it is damaged, or from a newer Hydra."""
    try:
        document = read_object(path)
        schema = shaped(document.get("schema"), int)
    except (OSError, ValueError) as damage:
        raise _damaged(path, damage) from damage
    if schema > SCHEMA:
        raise RecordError(
            f"{path.name} of run {path.parent.name} is from a newer Hydra "
            f"(schema {schema}, known: {SCHEMA})",
            hint="update Hydra to read it",
        )
    return document


def read_record(path: Path, kind: type[T], part: str = "") -> T:
    """The same, or a part of it, as the record that it is."""
    document = read_document(path)
    return as_record(path, document.get(part) if part else document, kind)


def as_record(path: Path, document: object, kind: type[T]) -> T:
    """The same of what was read already."""
    try:
        return shaped(document, kind)
    except ValueError as damage:
        raise _damaged(path, damage) from damage


def _damaged(path: Path, damage: Exception) -> RecordError:
    run, why = path.parent.name, f"is not what Hydra writes ({damage})"
    if isinstance(damage, OSError):
        why = f"cannot be read: {damage.strerror or damage}"
    return RecordError(
        f"{path.name} of run {run} {why}",
        # How to come to what is kept beside it: of this run, which need not be the latest.
        hint=f"patches are kept apart from it: `hydra diff LANE{of_run(run)}`; "
        f"`hydra runs path {run}` names the folder",
    )

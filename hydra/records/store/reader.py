"""Runs read back, by every command but a race: one run, all runs, the run that was named."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from hydra.errors import RecordError, Refused, UsageError
from hydra.paths import is_repository_key
from hydra.records.codec import SCHEMA, shaped
from hydra.records.events import Event, decode
from hydra.records.outcome import Outcome
from hydra.records.plan import RaceManifest
from hydra.records.store.files import GONE, UNBORN, disk_usage, read_object
from hydra.text import of_run

T = TypeVar("T")


class RunRecord:
    """One run read back, finished or not. Reading never changes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name

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
        damage: RecordError | None = None
        for name in ("manifest.json", "result.json", "plan.json"):
            try:
                base = read_document(self.folder / name).get("base")
            except RecordError as error:
                damage = damage or error
                continue
            if isinstance(base, str) and base:
                return base
        raise damage or _not_ours(self.folder / "manifest.json")

    @property
    def patches(self) -> Path:
        """The run's bare repository of patches."""
        return self.folder / "patches.git"

    @property
    def live(self) -> bool:
        """Whether a Hydra still holds this run's lock."""
        try:
            lock = os.open(self.folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

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
                for line in source:
                    if not line.endswith(b"\n"):
                        return
                    yield decode(line)
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from error

    def size(self) -> int:
        """Bytes this run's folder takes."""
        return disk_usage(self.folder)


def runs(folder: Path) -> list[RunRecord]:
    """The runs under one repository's `runs/`, oldest first; an unborn one is left out.

    Raises `Refused` where the folder may not be read.
    """
    try:
        named = (path for path in sorted(folder.iterdir()) if not path.name.startswith("."))
        records = [RunRecord(path) for path in named if path.is_dir()]
        return [run for run in records if (run.folder / "manifest.json").exists()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Refused(
            f"the runs in {folder} cannot be read: {error.strerror}",
            hint="are they another user's? set HYDRA_STATE_DIR to a folder of your own",
        ) from error


def unfinished(state: Path) -> tuple[list[Path], set[str] | None]:
    """Run folders under `state` that have not ended, of every repository, and every run's id.

    Live ones are among them, and hidden ones that were being made or removed. The ids are None
    where a repository's runs cannot be listed now (a disk that is not mounted), so that there may
    be more. It must cost next to nothing where all have ended: one listing a repository and one
    look a run.
    """
    paths: list[Path] = []
    texts: set[str] = set()
    whole = True
    for repository in _names(state) or ():
        names = _names(f"{state}/{repository}/runs")
        if names is None:
            whole = whole and not is_repository_key(repository)
            continue
        for name in names:
            texts.add(name.removeprefix(".").removesuffix(UNBORN).removesuffix(GONE))
            # access() and not Path.exists(): fifty of these are in every command's way.
            if name[0] == "." or not os.access(
                f"{state}/{repository}/runs/{name}/result.json", os.F_OK
            ):
                paths.append(state / repository / "runs" / name)
    return paths, texts if whole else None


def _names(folder: Path | str) -> list[str] | None:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  hot, as above
    except OSError:  # not there, a file, or closed to us: no runs of ours
        return None


def find_run(folder: Path, name: str | None) -> RunRecord:
    """The run that `-r/--run` names: none or "" is the latest, `@-1` the one before, else how
    an id ends or begins.

    Raises `UsageError` where there is none or where several do so.
    """
    records = runs(folder)
    if not records:
        raise UsageError(
            "this repository has no races yet", hint='start one: hydra race "your task"'
        )
    if not name:
        return records[-1]
    if name.startswith("@-") and name[2:].isascii() and name[2:].isdigit():
        back = int(name[2:][:9])
        if back < len(records):
            return records[-1 - back]
        text = "is only 1 race" if len(records) == 1 else f"are only {len(records)} races"
        raise UsageError(f"there {text} here", hint="hydra runs lists them")
    ending = [run for run in records if run.id.endswith(name)]
    fitting = ending or [run for run in records if run.id.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    many = f"{len(fitting)} runs {'end' if ending else 'start'} with {name!r}"
    what = many if fitting else f"no run is called {name!r}"
    raise UsageError(what, hint="hydra runs lists them; any unique beginning or end will do")


def read_document(path: Path) -> dict[str, object]:
    """A document of a run. Raises `RecordError` where it is damaged, or from a newer Hydra."""
    try:
        document = read_object(path)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except ValueError as damage:
        raise _unreadable(path, f"it is no JSON object ({damage})") from damage
    if not isinstance(document.get("schema"), int):
        raise _not_ours(path)
    if document["schema"] > SCHEMA:
        raise RecordError(
            f"{path.name} of run {path.parent.name} is from a newer Hydra "
            f"(schema {document['schema']}, known: {SCHEMA})",
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
        raise _not_ours(path, f" ({damage})") from damage


def _unreadable(path: Path, why: str) -> RecordError:
    message = f"{path.name} of run {path.parent.name} cannot be read: {why}"
    return RecordError(message, hint=_look(path))


def _not_ours(path: Path, why: str = "") -> RecordError:
    message = f"{path.name} of run {path.parent.name} is not what Hydra writes{why}"
    return RecordError(message, hint=_look(path))


def _look(path: Path) -> str:
    """How to come to what is kept beside it: of this run, which need not be the latest."""
    run = path.parent.name
    return (
        f"patches are kept apart from it: `hydra diff LANE{of_run(run)}`; "
        f"`hydra runs path {run}` names the folder"
    )

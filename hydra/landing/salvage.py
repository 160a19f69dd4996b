"""What a landing took out of its place is looked at once more before it goes.

A program that had a file open writes into it wherever it lies by then. So a file goes only when it
still is what was read, and when nobody has it open to write; any other is kept, and named.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hydra.landing.journal import FileMove, Journal, LandingStore, is_folder
from hydra.landing.preflight import files_below
from hydra.landing.rollback import Unsure, folder_place, fresh_place, gone_place
from hydra.landing.swap import FileMark
from hydra.landing.version import look_into
from hydra.records.codec import as_json, shaped
from hydra.records.store.files import read_object, write_json
from hydra.text import join_names

_NAME = 40
"""Characters of a file's name that are kept in another place: four bytes each, and a number."""

_SHOWN = 3

WRITTEN = "written to while it was replaced"
OPEN = "a program still has it open to write"
BEFORE = "what it was before the landing"
_UNKNOWN = ""
"""The kernel does not say whether a program has it open: kept for a while, and not named."""

_LATE_AFTER = 3600.0
"""Seconds after which nobody writes any more into a file of which the kernel does not say."""


class SalvagedFile(Struct, frozen=True, kw_only=True):
    """A file that was taken out of its place and is not removed: `path` in the tree, `file` where
    it lies now, and why. `mark` and `digest` are what it was when it was looked at last."""

    path: str
    file: str
    why: str
    mark: FileMark | None = None
    digest: str = ""
    since: float = 0.0

    @property
    def shown(self) -> dict[str, str]:
        """For a record and a person."""
        return {"path": self.path, "file": self.file, "why": self.why}


def salvage(
    journal: Journal, store: LandingStore, unsure: Sequence[Unsure] = ()
) -> tuple[SalvagedFile, ...]:
    """Looks at all that lies in the staging folder, and moves what is to be kept out of it.

    Gives what is to be named. Raises `OSError`.
    """
    old = {item.old_file: item.name for item in unsure if item.old_file is not None}
    before = tuple(_moved_before(journal, store))
    rows = [
        _salvage(journal, store, number, *row)
        for number, row in enumerate(_remains(journal, old), len(before))
    ]
    if rows:
        _note(store, [*_read(store), *rows])
    return (*before, *(row for row in rows if row.why != _UNKNOWN))


def _moved_before(journal: Journal, store: LandingStore) -> Iterator[SalvagedFile]:
    """What was kept by a Hydra that was killed over it, and so never named."""
    for folder in _folders(journal, store):
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            yield SalvagedFile(path=file.name.partition("-")[2], file=str(file), why=WRITTEN)


def _folders(journal: Journal, store: LandingStore) -> tuple[Path, Path]:
    """Where files are kept; the second where the first is on another disk than they."""
    name = f"kept-{journal.id}"
    return store.folder / name, Path(journal.files).with_name(f".hydra-{name}")


def review(store: LandingStore) -> tuple[SalvagedFile, ...]:
    """Looks again at what was kept as a program had it open: gives what was written to since.

    What nobody has open any more, unchanged, goes. Raises `OSError`.
    """
    rows = _read(store)
    now = [_again(row) for row in rows]
    stay = [row for row in now if row is not None]
    if stay != rows:
        _note(store, stay)
    late = [row for row, before in zip(now, rows, strict=True) if row and row.why != before.why]
    return tuple(row for row in late if row.why == WRITTEN)


def is_to_be_reviewed(store: LandingStore) -> bool:
    """Whether anything is to be looked at again."""
    return _file(store).exists()


def _remains(journal: Journal, old: dict[bytes, str]) -> Iterator[tuple[bytes, str, str]]:
    """Each place with something in it that is to be kept, its path and why."""
    for move in journal.shifts:
        name = os.fsdecode(move.path)
        fresh = (fresh_place(journal, move.path),) if move.fresh else ()
        for place in (*fresh, gone_place(journal, move.number)):
            why = BEFORE if place in old else _reason(move, place)
            if why is not None:
                yield place, name, why
        folder = folder_place(journal, move.number)
        if is_folder(folder) and next(files_below(folder), None) is not None:
            yield folder, name, WRITTEN
    index = os.fsencode(journal.staging) + b"/index-old"
    if index in old:
        yield index, old[index], BEFORE


def _reason(move: FileMove, place: bytes) -> str | None:
    """Why a file of the staging folder is kept; None where it may go, or none is there."""
    mark = FileMark.of(place)
    if mark is None:
        return None
    if mark not in (move.old, move.fresh):
        return WRITTEN
    is_open, digest = look_into(place, mark)
    expected = move.digest if mark == move.old else move.fresh_digest
    changed = "" not in (digest, expected) and digest != expected
    if changed or FileMark.of(place) != mark:
        return WRITTEN
    return None if is_open is False else OPEN if is_open else _UNKNOWN


def _salvage(
    journal: Journal, store: LandingStore, number: int, place: bytes, name: str, why: str
) -> SalvagedFile:
    mark = FileMark.of(place)
    digest = look_into(place, mark)[1] if mark and why in (OPEN, _UNKNOWN) else ""
    file = _move(place, f"{number}-{Path(name).name[-_NAME:]}", _folders(journal, store))
    since = time.time()
    return SalvagedFile(path=name, file=str(file), why=why, mark=mark, digest=digest, since=since)


def _move(place: bytes, name: str, folders: Sequence[Path]) -> Path:
    """The very file, not a copy: who has it open goes on writing into it."""
    for folder in folders:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.rename(place, os.fsencode(folder / name))  # noqa: PTH104  bytes
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with suppress(OSError):  # a file of another place is in it
                folder.rmdir()
        else:
            return folder / name
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), os.fsdecode(place))


def _again(row: SalvagedFile) -> SalvagedFile | None:
    """The same, looked at again; None where it may go, and went."""
    if row.why not in (OPEN, _UNKNOWN):
        return None  # named already: it is the user's to remove
    place = os.fsencode(row.file)
    mark = FileMark.of(place)
    if mark is None:
        return None
    is_open, digest = look_into(place, mark)
    if mark != row.mark or ("" not in (digest, row.digest) and digest != row.digest):
        return replace(row, why=WRITTEN)
    if is_open or (is_open is None and time.time() - row.since < _LATE_AFTER):
        return row
    _remove(Path(row.file))
    return None


def _remove(file: Path) -> None:
    file.unlink()
    with suppress(OSError):
        file.parent.rmdir()


def _file(store: LandingStore) -> Path:
    return store.folder / "kept.json"


def _note(store: LandingStore, rows: Sequence[SalvagedFile]) -> None:
    rows = [row for row in rows if row.why in (OPEN, _UNKNOWN)]
    if rows:
        write_json(_file(store), {"schema": 1, "files": as_json(rows)})
    else:
        _file(store).unlink(missing_ok=True)


def _read(store: LandingStore) -> list[SalvagedFile]:
    try:
        return shaped(read_object(_file(store)).get("files"), list[SalvagedFile])
    except (FileNotFoundError, ValueError):
        return []  # damaged: what is kept was named when it was, and stays where it is


def files_in_short(files: Sequence[SalvagedFile]) -> str:
    """The paths, why they are kept, and the folder they lie in."""
    names = join_names([f"{file.path} ({file.why})" for file in files], _SHOWN)
    return f"{names} in {Path(files[0].file).parent}"

"""What a landing took out of its place is kept, as the very file: a program that had it open writes
into it wherever it lies by then. Where the landing stands, all of it, in the run's folder; where it
does not, what could not be put back.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.landing.journal import FileMove, Journal, LandingStore, is_folder
from hydra.landing.preflight import files_below
from hydra.landing.record import SalvagedFile
from hydra.landing.rollback import (
    Unsure,
    back_place,
    displaced,
    folder_place,
    fresh_place,
    gone_place,
)
from hydra.landing.swap import FileMark
from hydra.landing.version import digest_of, is_written_to
from hydra.text import join_names

_NAME = 40
"""Characters of a file's name that are kept in another place: four bytes each, and a number."""

_SHOWN = 3

WRITTEN = "written to while it was replaced"
OPEN = "a program still has it open to write"
BEFORE = "what it was before the landing"


def exact_folder(record: Path, *, undone: bool = False) -> Path:
    """Where a landing that is recorded keeps what it displaced; an undo of it, in one beside."""
    return record.with_suffix(".undone" if undone else ".exact")


def keep_displaced(journal: Journal) -> tuple[SalvagedFile, ...]:
    """All that a landing which stands has displaced, to its run's folder. Gives what is to be
    named: it is not what was read there. Raises `OSError`."""
    is_undone = journal.document is not None and journal.document.undone is not None
    folder = exact_folder(Path(journal.record), undone=is_undone)
    named: list[SalvagedFile] = []
    for move in journal.shifts:
        file = folder / str(move.number)
        if place := displaced(journal, move):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_moved(place, file, move.digest):
                continue
        if _is_written(os.fsencode(file), move.digest):
            named.append(SalvagedFile(path=_text(move), file=str(file), why=WRITTEN))
    return tuple(named)


def _is_moved(place: bytes, target: Path, digest: str) -> bool:
    """Whether the file itself is in the run then. To another disk goes a copy, and what somebody
    may still write into stays where it is, for `salvage`."""
    try:
        os.rename(place, target)  # noqa: PTH104  bytes
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copy2(os.fsdecode(place), target, follow_symlinks=False)
        owner = os.lstat(place)
        with suppress(PermissionError):
            os.chown(target, owner.st_uid, owner.st_gid, follow_symlinks=False)
        if is_written_to(place) or _is_written(place, digest):
            return False
        os.unlink(place)  # noqa: PTH108
    return True


def _is_written(place: bytes, digest: str) -> bool:
    """Whether its bytes are others than those of that digest."""
    mark = FileMark.of(place)
    try:
        return mark is not None and digest_of(place, mark) not in (digest, "")
    except OSError:
        return False


def salvage(
    journal: Journal, store: LandingStore, unsure: Sequence[Unsure] = ()
) -> tuple[SalvagedFile, ...]:
    """Looks at all that lies in the staging folder, and moves what is to be kept out of it.

    Gives what is to be named. Raises `OSError`.
    """
    old = {item.old_file: item.name for item in unsure if item.old_file is not None}
    folders = _folders(journal, store)
    before = tuple(_moved_before(folders))
    rows = [
        SalvagedFile(
            path=name,
            file=str(_move(place, f"{number}-{Path(name).name[-_NAME:]}", folders)),
            why=why,
        )
        for number, (place, name, why) in enumerate(_remains(journal, old), len(before))
    ]
    return (*before, *rows)


def _moved_before(folders: Sequence[Path]) -> Iterator[SalvagedFile]:
    """What was kept by a Hydra that was killed over it, and so never named."""
    for folder in folders:
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            yield SalvagedFile(path=file.name.partition("-")[2], file=str(file), why=WRITTEN)


def _folders(journal: Journal, store: LandingStore) -> tuple[Path, Path]:
    """Where files are kept; the second where the first is on another disk than they."""
    name = f"kept-{journal.id}"
    return store.folder / name, Path(journal.files).with_name(f".hydra-{name}")


def _remains(journal: Journal, old: dict[bytes, str]) -> Iterator[tuple[bytes, str, str]]:
    """Each place with something in it that is to be kept, its path and why."""
    for move in journal.shifts:
        fresh = (fresh_place(journal, move.path),) if move.fresh else ()
        places = (gone_place(journal, move.number), back_place(journal, move.number))
        for place in (*fresh, *places):
            if why := BEFORE if place in old else _reason(move, place):
                yield place, _text(move), why
        folder = folder_place(journal, move.number)
        if is_folder(folder) and next(files_below(folder), None) is not None:
            yield folder, _text(move), WRITTEN
    index = os.fsencode(journal.staging) + b"/index-old"
    if index in old:
        yield index, old[index], BEFORE


def _reason(move: FileMove, place: bytes) -> str:
    """Why a file of the staging folder is kept; "" where it may go, or none is there."""
    mark = FileMark.of(place)
    if mark is None:
        return ""
    digest = move.digest if mark == move.old else move.fresh_digest
    if mark not in (move.old, move.fresh) or _is_written(place, digest):
        return WRITTEN
    return OPEN if mark == move.old else ""


def _text(move: FileMove) -> str:
    return os.fsdecode(move.path)


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


def files_in_short(files: Sequence[SalvagedFile]) -> str:
    """The paths, why they are kept, and the folder they lie in."""
    names = join_names([f"{file.path} ({file.why})" for file in files], _SHOWN)
    return f"{names} in {Path(files[0].file).parent}"

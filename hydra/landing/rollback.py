"""The way back of a landing: what was moved, read off the files themselves by their marks.

All paths are judged before the first is touched. What the user has saved meanwhile is newer than
anything of the landing's: it stays where it is, also where it is saved while its path goes back.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import Struct

from hydra.landing.journal import MOVING, FileMove, Journal
from hydra.landing.swap import FileMark, free, put


class Unsure(Struct, frozen=True):
    """One path that somebody changed since; `old_file` is where its old one lies, if it had one."""

    name: str
    why: str
    old_file: bytes | None = None


Act = Callable[[], Unsure | None]
"""Puts one thing back; what it could not, as somebody was quicker."""

_CHANGED = "changed since it was landed"
_QUICKER = "saved while it was put back"


def way_back(journal: Journal) -> tuple[list[Act], list[Unsure]]:
    """All that is to be done, in its order, and what cannot be: last things first. Nothing where
    no file has been moved."""
    if journal.phase != MOVING:
        return [], []
    came = [move for move in journal.shifts if move.fresh is not None]
    went = [move for move in journal.shifts if move.fresh is None]
    acts: list[Act] = []
    unsure: list[Unsure] = []

    def judge(step: Act | Unsure | None) -> None:
        if isinstance(step, Unsure):
            unsure.append(step)
        elif step is not None:
            acts.append(step)

    for move in journal.shifts:  # where it was killed between taking a name and filling it
        gone, back = gone_place(journal, move.number), back_place(journal, move.number)
        for place in (full(journal, move.path), gone, back):
            if FileMark.of(place) not in (move.old, move.fresh):
                free(place, journal.id)
    judge(_index_back(journal))
    for move in came:
        judge(_came_back(journal, move))
    acts += [partial(_unmake, journal, folder) for folder in reversed(journal.folders)]
    for move in came:
        judge(_folder_back(journal, move))
    for move in went:
        judge(_went_back(journal, move))
    return acts, unsure


def restore(journal: Journal, move: FileMove) -> None:
    """Puts one path back at once: what came out of its place is not what was read there."""
    _put_back(move, gone_place(journal, move.number), full(journal, move.path))


def fresh_place(journal: Journal, path: bytes) -> bytes:
    """Where a new file waits."""
    return os.fsencode(journal.files) + b"/fresh/" + path


def gone_place(journal: Journal, number: int) -> bytes:
    """Where a file is that went."""
    return os.fsencode(journal.files) + b"/gone/%d" % number


def back_place(journal: Journal, number: int) -> bytes:
    """Where a file is that came and went again."""
    return gone_place(journal, number) + b"-back"


def folder_place(journal: Journal, number: int) -> bytes:
    """Where an emptied folder is that a file takes the place of."""
    return os.fsencode(journal.files) + b"/folders/%d" % number


def displaced(journal: Journal, move: FileMove) -> bytes | None:
    """Where the file is that had to go; None where it still stands in its place, or does again."""
    places = (gone_place(journal, move.number), fresh_place(journal, move.path))
    if os.path.lexists(places[0]):
        return places[0]
    # Where an earlier Hydra had the two change places.
    return places[1] if move.old and FileMark.of(places[1]) == move.old else None


def full(journal: Journal, path: bytes) -> bytes:
    """A path of the work tree."""
    return os.fsencode(journal.root) + b"/" + path


def _index_back(journal: Journal) -> Act | Unsure | None:
    users, staging = Path(journal.git_dir) / "index", Path(journal.staging)
    old = staging / "index-old"
    now, before, landed = map(_content, (users, old, staging / "index-new"))
    if now == before:
        return None
    if now is None or now != landed:
        return Unsure(str(users), "git wrote the index since", os.fsencode(old))
    return partial(os.rename, old, users) if before is not None else partial(os.unlink, users)


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _came_back(journal: Journal, move: FileMove) -> Act | Unsure | None:
    """A file that came goes again; with it comes back what it took the place of."""
    now = FileMark.of(full(journal, move.path))
    places = (fresh_place(journal, move.path), back_place(journal, move.number))
    waits = any(map(os.path.lexists, places))
    old = displaced(journal, move)
    if move.old is not None and old is None:
        return None  # nothing has gone yet, or it is back already
    if now == move.fresh:
        return partial(_take_back, journal, move, old)
    if old is None:  # if anything is there, it is the user's
        return None if now is None or waits else Unsure(os.fsdecode(move.path), _CHANGED)
    if (now is None and waits) or _is_one(now, old):
        return _went_back(journal, move)
    return Unsure(os.fsdecode(move.path), _CHANGED, old)


def _take_back(journal: Journal, move: FileMove, old: bytes | None) -> Unsure | None:
    """A new file goes; what was saved over it in that moment comes back to its place."""
    target, aside = full(journal, move.path), back_place(journal, move.number)
    if _is_one(FileMark.of(target), aside):
        os.unlink(aside)  # noqa: PTH108
    with suppress(FileNotFoundError):  # somebody removed it
        put(target, aside)
    if FileMark.of(aside) not in (None, move.fresh):
        _put_back(move, aside, target)
        return Unsure(os.fsdecode(move.path), _QUICKER, old)
    return _put_back(move, old, target) if old else None


def _went_back(journal: Journal, move: FileMove) -> Act | Unsure | None:
    """A file that went comes back to its place."""
    target, gone = full(journal, move.path), gone_place(journal, move.number)
    now = FileMark.of(target)
    if not os.path.lexists(gone):
        return None
    if _is_one(now, gone):
        return partial(os.unlink, gone)  # a link made where there is no renameat2: still in place
    if now is None or move.name in journal.made or _is_ours(journal, move.path, now):
        return partial(_put_back, move, gone, target)
    return Unsure(os.fsdecode(move.path), "made anew since it was removed", gone)


def _is_one(now: FileMark | None, gone: bytes) -> bool:
    """Whether a file has the two names, being between them."""
    mark = FileMark.of(gone)
    return now is not None and mark is not None and now.inode == mark.inode


def _folder_back(journal: Journal, move: FileMove) -> Act | None:
    aside = folder_place(journal, move.number)
    if not os.path.lexists(aside):
        return None
    return partial(_put_back, move, aside, full(journal, move.path))


def _put_back(move: FileMove, aside: bytes, target: bytes) -> Unsure | None:
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        put(aside, target)
    except (FileExistsError, NotADirectoryError):
        return Unsure(os.fsdecode(move.path), _QUICKER, aside)
    return None


def _is_ours(journal: Journal, path: bytes, now: FileMark) -> bool:
    """Whether the landing itself put the file there, which goes before."""
    return any(move.path == path and move.fresh == now for move in journal.shifts)


def _unmake(journal: Journal, folder: bytes) -> None:
    with suppress(OSError):  # never made, or the user has put something there
        os.rmdir(full(journal, folder))  # noqa: PTH106

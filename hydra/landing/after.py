"""How a landing ends: it stands, or it is undone from its staging folder. For the landing itself
when something goes wrong, and for the next command where it was killed.

Whether a file was moved is read off the files themselves, by their marks, never off a log. All
paths are judged before the first is touched; one that cannot be decided leaves all as they are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hydra.errors import HydraError, LandingRefused
from hydra.git.names import parents
from hydra.git.runner import run
from hydra.landing.journal import DONE, MOVING, Desk, Journal, Shift
from hydra.landing.swap import Mark, aside_of, exchange, put
from hydra.paths import make_private
from hydra.store import read_object, write_json
from hydra.workspace import tree


class Undecided(LandingRefused):
    """A landing was killed, and its files were changed since: nothing is touched."""


Act = Callable[[], None]

_NAME = 40
"""Characters of a file's name that are kept in another place: four bytes each, and a number."""


@dataclass(frozen=True, slots=True)
class _Unsure:
    """One path that somebody changed since; `kept` is where its old file lies, if it had one."""

    name: str
    why: str
    kept: bytes | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a landing that was killed."""

    run: str
    stands: bool

    @property
    def sentence(self) -> str:
        """For a person, in one line."""
        if self.stands:
            return f"a landing of run {self.run} was broken off after it had landed: finished"
        return f"a landing of run {self.run} was broken off: undone, your tree is as it was"


def recover_landing(desk: Desk, end_left: Callable[[str], object]) -> Ended | None:
    """Ends a landing whose Hydra was killed; None where there is none, or another one lives.

    `end_left` ends what a Hydra of that mark has left running: a git that outlived it could still
    move the branch while it is decided whether it was moved.

    Raises `Undecided` where that cannot be decided, `RecordError` for a journal that is damaged.
    """
    if not desk.file.exists():
        return None
    with desk.alone() as mine:
        journal = desk.read() if mine else None
        if journal is None:
            return None
        end_left(journal.owner)
        if _stands(journal):
            finish(journal, desk)
            return Ended(journal.run, True)
        undo(journal, desk)
        return Ended(journal.run, False)


def finish(journal: Journal, desk: Desk) -> None:
    """The landing stands: writes its record, then takes its leftovers away."""
    if journal.record and journal.document is not None:
        write_record(Path(journal.record), journal.document, desk)
    for shift in journal.shifts:
        if shift.fresh is None:
            _remove_empty(journal, shift.path)
    _clear(journal, desk)


def write_record(record: Path, document: Mapping[str, Any], desk: Desk) -> None:
    """Keeps what was landed in its run's folder, and that it was the last. Raises `OSError`."""
    record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(record, document)
    make_private(desk.folder)
    write_json(desk.last, {"record": str(record)})


def last_record(desk: Desk) -> dict[str, Any] | None:
    """The last landing here; None where there is none. Raises `OSError`, `ValueError`."""
    try:
        read = read_object(Path(str(read_object(desk.last)["record"])))
    except FileNotFoundError:  # never landed, or its run was removed
        return None
    except KeyError as damage:
        raise ValueError("it names no record") from damage
    if "undone" not in read:
        raise ValueError("it is not what Hydra writes")
    return read


def undo(journal: Journal, desk: Desk) -> None:
    """Puts everything back. Raises `Undecided`, with nothing touched, where that is not sure."""
    if journal.phase == MOVING:
        acts, unsure = _way_back(journal)
        if unsure:
            raise Undecided(
                f"a landing of run {journal.run} was broken off, and files have changed since: "
                "nothing was touched",
                hint="`hydra merge --abort` puts everything else back, leaves these as they are "
                "now, and keeps what they were before",
                paths=tuple((one.name, one.why) for one in unsure),
            )
        for act in acts:
            act()
    _clear(journal, desk)


def abort(desk: Desk, end_left: Callable[[str], object]) -> tuple[Path | None, tuple[str, ...]]:
    """Undoes a landing that could not be decided: what was changed since stays as it is.

    Gives the folder in which the old files of such paths are kept (None where there are none), and
    the paths. Raises `LandingRefused` where no landing was broken off.
    """
    with desk.alone() as mine:
        journal = desk.read() if mine else None
        if journal is None:
            raise LandingRefused("there is no landing to abort", hint="`git status` shows all")
        end_left(journal.owner)
        acts, unsure = _way_back(journal) if journal.phase == MOVING else ([], [])
        folder = desk.folder / f"kept-{journal.id}"
        kept = [one for one in unsure if one.kept is not None]
        for number, one in enumerate(kept):
            assert one.kept is not None
            folder.mkdir(mode=0o700, exist_ok=True)
            name = f"{number}-{Path(one.name).name[-_NAME:]}"
            _copy(Path(os.fsdecode(one.kept)), folder / name)
        for act in acts:
            act()
        _clear(journal, desk)
        return (folder if kept else None), tuple(one.name for one in unsure)


def _copy(kept: Path, target: Path) -> None:
    if kept.is_dir() and not kept.is_symlink():  # it took a file's place in the very moment
        shutil.copytree(kept, target, symlinks=True)
    else:
        shutil.copy2(kept, target, follow_symlinks=False)


def fresh_place(journal: Journal, path: bytes) -> bytes:
    """Where a new file waits; after the exchange, where the old one does."""
    return os.fsencode(journal.files) + b"/fresh/" + path


def gone_place(journal: Journal, number: int) -> bytes:
    """Where a file that only goes is kept."""
    return os.fsencode(journal.files) + b"/gone/%d" % number


def _stands(journal: Journal) -> bool:
    if journal.phase == DONE:
        return True
    if journal.phase != MOVING or not journal.commit:
        return False
    # A landed commit is nobody else's: the branch has moved where it holds it. Taken back, it has
    # moved where it holds it no longer.
    if _holds(journal, journal.head, journal.commit):
        return not _holds(journal, journal.ref, journal.head)
    return _holds(journal, journal.ref, journal.commit)


def _holds(journal: Journal, ref: str, commit: str) -> bool:
    words = ("merge-base", "--is-ancestor", commit, ref)
    try:
        return run(*words, cwd=Path(journal.root), check=False).code == 0
    except HydraError:  # the repository is gone
        return False


def _way_back(journal: Journal) -> tuple[list[Act], list[_Unsure]]:
    """All that is to be done, in its order, and what cannot be: last things first."""
    came = [shift for shift in journal.shifts if shift.fresh is not None]
    went = [shift for shift in journal.shifts if shift.fresh is None]
    acts: list[Act] = []
    unsure: list[_Unsure] = []

    def judge(found: Act | _Unsure | None) -> None:
        if isinstance(found, _Unsure):
            unsure.append(found)
        elif found is not None:
            acts.append(found)

    judge(_index_back(journal))
    for shift in came:
        judge(_came_back(journal, shift))
    acts += [partial(_unmake, journal, folder) for folder in reversed(journal.made)]
    for shift in came:
        judge(_folder_back(journal, shift))
    for shift in went:
        judge(_went_back(journal, shift))
    return acts, unsure


def _index_back(journal: Journal) -> Act | _Unsure | None:
    users = os.fsencode(journal.git_dir) + b"/index"
    staging = os.fsencode(journal.staging)
    there, before = Mark.of(users), Mark.of(staging + b"/index-old")
    if (there and there.inode) == (before and before.inode):
        return None
    landed = Mark.of(staging + b"/index-new")
    if there is None or landed is None or there.inode != landed.inode:
        return _Unsure(os.fsdecode(users), "git wrote the index since", staging + b"/index-old")
    return (
        partial(os.rename, staging + b"/index-old", users) if before else partial(os.unlink, users)
    )


def _came_back(journal: Journal, shift: Shift) -> Act | _Unsure | None:
    """A file that came goes back to the staging folder; with it, what it took the place of."""
    target, fresh = _full(journal, shift.path), fresh_place(journal, shift.path)
    there, here = Mark.of(target), Mark.of(fresh)
    if shift.old is None:
        if there is None or (here is not None and here != there):
            return None  # not come yet, or gone again; if anything is there, it is the user's
        if there != shift.fresh:
            return _Unsure(os.fsdecode(shift.path), "changed since it was landed")
        return partial(_unput, target, fresh)
    if there == shift.old:
        return None
    # Whatever the exchange displaced, also what was saved in its very moment, comes back.
    kept = fresh if here is not None else aside_of(fresh)
    if there != shift.fresh:
        return _Unsure(os.fsdecode(shift.path), "changed since it was landed", kept)
    return partial(exchange, kept, target)


def _went_back(journal: Journal, shift: Shift) -> Act | _Unsure | None:
    """A file that went comes back to its place."""
    target, kept = _full(journal, shift.path), gone_place(journal, shift.number)
    if Mark.of(kept) is None:
        return None
    there = Mark.of(target)
    if there is not None and there.inode == (Mark.of(kept) or there).inode:
        return partial(os.unlink, kept)  # a link made where there is no renameat2: still in place
    if there is None or shift.path in journal.made or _is_ours(journal, shift.path):
        return partial(_back, kept, target)
    return _Unsure(os.fsdecode(shift.path), "made anew since it was removed", kept)


def _folder_back(journal: Journal, shift: Shift) -> Act | None:
    """An emptied folder that a file took the place of."""
    kept = os.fsencode(journal.files) + b"/folders/%d" % shift.number
    if not os.path.lexists(kept):
        return None
    return partial(_back, kept, _full(journal, shift.path))


def _is_ours(journal: Journal, path: bytes) -> bool:
    """Whether the landing itself put the file there, which goes before."""
    there = Mark.of(_full(journal, path))
    return any(shift.path == path and shift.fresh == there for shift in journal.shifts)


def _unput(target: bytes, fresh: bytes) -> None:
    if os.path.lexists(fresh):  # linked and not renamed: the place without renameat2
        os.unlink(target)  # noqa: PTH108
    else:
        put(target, fresh)


def _back(kept: bytes, target: bytes) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
    put(kept, target)


def _unmake(journal: Journal, folder: bytes) -> None:
    with suppress(OSError):  # never made, or the user has put something there
        os.rmdir(_full(journal, folder))  # noqa: PTH106


def _remove_empty(journal: Journal, path: bytes) -> None:
    """As git does: a folder goes with its last file, but for the one that one stands in."""
    with suppress(OSError):
        for folder in reversed(parents(path)):
            full = _full(journal, folder)
            if os.path.samefile(full, "."):  # noqa: PTH121
                return
            os.rmdir(full)  # noqa: PTH106


def _clear(journal: Journal, desk: Desk) -> None:
    """Files, lock, staging folder, journal: in this order, as the one knows the other."""
    staging, files = Path(journal.staging), Path(journal.files)
    if files != staging and files.exists():
        tree.remove(files)
    lock = Path(journal.git_dir) / "index.lock"
    with suppress(FileNotFoundError):
        if os.path.samestat(lock.lstat(), (staging / "lock").lstat()):
            lock.unlink()
    if staging.exists():
        tree.remove(staging)
    desk.clear()


def _full(journal: Journal, path: bytes) -> bytes:
    return os.fsencode(journal.root) + b"/" + path

"""What a landing is about to do, on disk before it is done: whoever comes later can end it.

One file per repository, STATE/<repository>/landing/journal.json. It is there from before the
first write until after the last; `lock` beside it says whether its Hydra still lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from hydra.errors import RecordError
from hydra.landing.swap import Mark
from hydra.paths import make_private
from hydra.process.identity import Identity
from hydra.store import read_object, write_whole

SCHEMA = 2
"""2: the digest of each file that goes."""

_LAST_BREATH = 2.0
"""Seconds for the lock of a Hydra that has just died."""

PREPARING, MOVING, DONE = "preparing", "moving", "done"
"""preparing: nothing of the user's is touched yet. moving: each file is old or new, and all that
was there lies in the staging folder. done: the landing stands; only its leftovers are to go."""


class Shift(NamedTuple):
    """One path of the work tree under way: `number` names its place in the staging folder.

    `old` knows the file that goes (None: none), `fresh` the one that comes (None: none). `digest`
    is of the old file's content, `fresh_digest` of the new one's ("" of what has none, and in a
    journal of schema 1).
    """

    number: int
    path: bytes
    old: Mark | None
    fresh: Mark | None
    digest: str = ""
    fresh_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One landing (or the undoing of one). `document` is its record, written when it stands.

    `process` is its Hydra, `owner` the mark by which that one's children are found.
    `staging` holds the index, old and new; `files` what the tree's files change places with.
    `ref` is the branch that moves from `head` to `commit`; `commit` "" is --no-commit, where
    nothing does. `made` are folders that will be made, the upper ones first.
    """

    id: str
    run: str
    owner: str
    process: Mapping[str, Any]
    phase: str
    root: str
    git_dir: str
    patches: str
    staging: str
    files: str
    ref: str
    head: str
    commit: str
    shifts: tuple[Shift, ...] = ()
    made: tuple[bytes, ...] = ()
    record: str = ""
    document: Mapping[str, Any] | None = None

    def at(self, phase: str, **changed: Any) -> Journal:
        """The same, further on."""
        return replace(self, phase=phase, **changed)


class Desk:
    """Where one repository's journal lies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "journal.json"
        self.last = folder / "last.json"

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Holds the desk; False where another Hydra is landing here. Raises `OSError`."""
        make_private(self.folder)
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            deadline = time.monotonic() + _LAST_BREATH
            while not (mine := _locked(lock)) and self._orphaned():
                if time.monotonic() > deadline:
                    break
                time.sleep(0.02)
            yield mine
        finally:
            os.close(lock)

    def _orphaned(self) -> bool:
        """Whether the journal's Hydra is surely gone: a child before its exec may have the lock."""
        with suppress(RecordError):
            journal = self.read()
            maker = Identity.read(journal.process if journal else {})
            return maker.here and maker.start is not None and not maker.lives
        return False

    def write(self, journal: Journal) -> None:
        """Puts the journal on the disk for good. Raises `OSError`."""
        text = json.dumps({"schema": SCHEMA, **_plain(journal)}, separators=(",", ":"))
        write_whole(self.file, text.encode() + b"\n")
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def read(self) -> Journal | None:
        """The landing that was broken off, if there is one. Raises `RecordError`."""
        try:
            told = read_object(self.file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as damage:
            raise _damaged(self.file, damage) from damage
        if told.get("schema", 0) > SCHEMA:
            raise RecordError(
                f"{self.file} was written by a newer Hydra", hint="run that one again"
            )
        try:
            return _journal(told)
        except (KeyError, TypeError, ValueError) as damage:
            raise _damaged(self.file, damage) from damage

    def clear(self) -> None:
        """The landing stands, or nothing of it does."""
        self.file.unlink(missing_ok=True)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _plain(journal: Journal) -> dict[str, Any]:
    told = {one.name: getattr(journal, one.name) for one in fields(journal)}
    told["shifts"] = [
        (shift.number, os.fsdecode(shift.path), *shift[2:]) for shift in journal.shifts
    ]
    told["made"] = [os.fsdecode(path) for path in journal.made]
    return told


def _journal(told: dict[str, Any]) -> Journal:
    told = {key: value for key, value in told.items() if key != "schema"}
    told["shifts"] = tuple(
        Shift(
            number=number,
            path=os.fsencode(path),
            old=Mark(*old) if old else None,
            fresh=Mark(*fresh) if fresh else None,
            digest=digests[0] if digests else "",
            fresh_digest=digests[1] if digests else "",
        )
        for number, path, old, fresh, *digests in told["shifts"]
    )
    told["made"] = tuple(os.fsencode(path) for path in told["made"])
    return Journal(**told)


def _damaged(path: Path, damage: Exception) -> RecordError:
    return RecordError(
        f"the journal of a landing cannot be read: {path} ({type(damage).__name__})",
        hint="nothing was touched since; look at `git status`, and at the folder named in it",
    )

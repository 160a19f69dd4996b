"""Tells an index the times of files that git has just written by it, without reading them again.

git itself can only refresh an index as a whole: it looks at every file, and reads those whose
times it does not know. Where a file is known to be the one that git wrote by that very entry,
nothing is left to be read.

The index's own mtime is part of what it says: an entry that is not older is read again by git,
since its file may have been written to in the same tick of the clock. So the mtime is one from
before the first file is looked at; and where that would let another entry of the index pass for
older than it was, nothing is done.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

_HEADER = Struct(">4sII")
_STAT = Struct(">6I4s3I")
"""ctime and mtime (seconds, ns), dev, ino; the mode, which stays; uid, gid, size."""

_MTIME, _MODE = slice(8, 12), slice(24, 28)
"""Of the mtime the seconds: many a git is built to compare no finer."""

_EXTENDED, _STAGE = 0x40, 0x30
"""In the upper byte of an entry's flags."""

_VERSIONS = (2, 3)
"""Version 4 keeps no name whole."""

_SHA1, _SECOND, _WORD = 40, 10**9, 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Stamps:
    """An index as git wrote it, and where in it the entries of some paths begin."""

    index: Path
    data: bytes
    places: Mapping[bytes, int]
    name_length: int

    @classmethod
    def read(cls, index: Path, paths: Collection[bytes], name_length: int = 40) -> Stamps | None:
        """None where it cannot be told this way: another version of the index, a path that it does
        not hold, another entry as young as the index. Raises `OSError`."""
        written = int(index.stat().st_mtime) & _WORD
        data, limit = index.read_bytes(), written.to_bytes(4, "big")
        wanted, places = frozenset(paths), {}
        for at, path in _entries(data, name_length // 2):
            if path in wanted:
                places[path] = at
            elif data[at + _MTIME.start : at + _MTIME.stop] >= limit:
                return None
        return cls(index, data, places, name_length) if len(places) == len(wanted) else None

    @property
    def _new(self) -> Path:
        return self.index.with_name(f"{self.index.name}.stamped")

    def begin(self) -> None:
        """Takes the time, by the file system's own clock, before the first file comes to its place:
        the index's mtime will be that. Raises `OSError`."""
        self._new.touch(mode=0o600, exist_ok=False)
        shutil.copymode(self.index, self._new)

    def write(self, found: Callable[[bytes], os.stat_result | None]) -> None:
        """Writes what `found` says of each path; None leaves its entry as git wrote it.

        What it says must have been seen after `begin`. Raises `OSError`.
        """
        before = self._new.stat().st_mtime_ns
        self._new.write_bytes(self._with(found))
        os.utime(self._new, ns=(before, before))
        self._new.replace(self.index)

    def _with(self, found: Callable[[bytes], os.stat_result | None]) -> bytearray:
        data = bytearray(self.data)
        for path, at in self.places.items():
            if told := found(path):
                mode = self.data[at + _MODE.start : at + _MODE.stop]
                _STAT.pack_into(data, at, *_times(told), mode, *_owner(told))
        end = len(data) - self.name_length // 2
        digest = hashlib.sha1 if self.name_length == _SHA1 else hashlib.sha256
        data[end:] = digest(data[:end], usedforsecurity=False).digest()
        return data


def _entries(data: bytes, oid_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Where each entry begins, and its path; nothing of an index that is not understood."""
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in _VERSIONS:
        return
    at, fixed = _HEADER.size, _STAT.size + oid_bytes + 2
    for _ in range(count):
        flags = data[at + fixed - 2]
        name = at + fixed + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", name)
        if not flags & _STAGE:
            yield at, data[name:end]
        at += (end - at + 8) & ~7  # a multiple of eight, with one zero at least


def _times(told: os.stat_result) -> tuple[int, ...]:
    changed, written = divmod(told.st_ctime_ns, _SECOND), divmod(told.st_mtime_ns, _SECOND)
    where = (told.st_dev & _WORD, told.st_ino & _WORD)
    return (changed[0] & _WORD, changed[1], written[0] & _WORD, written[1], *where)


def _owner(told: os.stat_result) -> tuple[int, ...]:
    return told.st_uid, told.st_gid, told.st_size & _WORD

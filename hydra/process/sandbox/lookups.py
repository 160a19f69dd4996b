"""Looks at files that raise nothing: pathlib's own raise where a parent may not be entered."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hydra.process.sandbox.view import is_system

_DEPTH = 40
"""Links in one name; the kernel's own limit."""


class LinkResolver:
    """Resolves names as the kernel would; each link on the way is to be made anew in a lane."""

    def __init__(self) -> None:
        self.links: dict[Path, str] = {}
        self._real: dict[Path, Path] = {Path("/"): Path("/")}

    def resolve(self, path: Path, depth: int = 0) -> Path:
        """The real name of an absolute path, which need not exist."""
        if path not in self._real:
            self._real[path] = self._resolve(path, depth)
        return self._real[path]

    def on_the_way(self, path: Path) -> Iterator[Path]:
        """The links that a name's last part is, one leading to the next."""
        for _ in range(_DEPTH):
            place = self._step(self.resolve(path.parent), path.name)
            if place not in self.links:
                return
            yield place
            path = place.parent / self.links[place]

    def _resolve(self, path: Path, depth: int) -> Path:
        place = self._step(self.resolve(path.parent, depth), path.name)
        try:
            target = str(place.readlink())
        except OSError:  # no link, or not there
            return place
        if depth > _DEPTH:
            return place
        if not is_system(place):
            self.links[place] = target
        return self.resolve(place.parent / target, depth + 1)

    def _step(self, folder: Path, name: str) -> Path:
        return folder.parent if name == ".." else folder / name


_BEGINNINGS = (b"\x7fELF", b"#!", b"MZ")


def exists(path: Path) -> bool:
    """Whether it is there, as far as this account can see."""
    return os.access(path, os.F_OK)


def is_folder(path: Path) -> bool:
    """Whether it is a folder, or a link to one."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Whether it is a regular file, or a link to one."""
    return stat.S_ISREG(_mode(path))


def is_program(path: Path) -> bool:
    """Whether it is a file that somebody may execute."""
    mode = _mode(path)
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def is_program_by_name(path: Path) -> bool:
    """Whether a file that may be executed is a program by its name or its first bytes, too: on
    disks of other systems everything may be executed."""
    if not path.suffix:
        return True
    try:
        with path.open("rb") as file:
            return file.read(4).startswith(_BEGINNINGS)
    except OSError:
        return False


def programs_in(folder: Path) -> list[Path]:
    """Programs that lie in a folder itself, and no links to such."""
    entries = ((entry, status_of(entry)) for entry in entries_of(folder))
    files = (Path(entry.path) for entry, status in entries if status and _runs(status))
    return [*filter(is_program_by_name, files)]


def entries_of(folder: str | Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def matches(folder: Path, pattern: str) -> list[Path]:
    """What `folder.glob` finds; nothing where a folder vanishes under it."""
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def status_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Of the entry itself, no link followed; None where it has gone since the folder was read."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _runs(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0

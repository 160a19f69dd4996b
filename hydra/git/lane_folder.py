"""All that an agent could write to: where its repositories may lie, and how git sees their objects.

git believes what lies beside objects: alternates name other repositories, whose files would come
into a patch, and a commit-graph says of commits what is not so. So git never gets such a folder
itself, but links to the packs and the loose objects in it.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from msgspec import Struct

from hydra.git.bare_repo import borrow_objects
from hydra.git.tips import small
from hydra.git.tree_scan import Survey, open_below, open_folder

_FANOUT = re.compile("[0-9a-f]{2}")
_PACK = re.compile(r"pack-[0-9a-f]+\.(?:pack|idx)")
"""What a pack needs to be read; all else beside it (a bitmap, a reverse index) only saves time."""

_DEPTH = 5
"""git itself follows alternates of alternates this far."""

_STORES = 1000
"""Objects folders that are looked at: git asks every one for each object that it misses."""

_FOLDERS = 50_000
"""Folders of a lane in which a repository is looked for."""


class MountedTree(Struct, frozen=True):
    """A lane's tree that its commands have at another path, and write that into what git keeps.

    It lies at `tree`; `place` is where they have it, the same where nothing is mounted.
    """

    tree: Path
    place: Path

    def inside(self, path: Path) -> Path:
        """What its commands call `path`."""
        return _moved(path, self.tree, self.place)

    def outside(self, path: Path) -> Path:
        """Where that lies which its commands call `path`."""
        return _moved(path, self.place, self.tree)

    def named(self, folder: Path, name: bytes) -> Path:
        """Where that lies which a file in `folder` names: a relative name, too, leads from where
        its commands had the folder."""
        text = os.fsdecode(name.strip().replace(b"\0", b""))
        return self.outside(Path(os.path.normpath(self.inside(folder) / text)))


def _moved(path: Path, old: Path, new: Path) -> Path:
    return new / path.relative_to(old) if path.is_relative_to(old) else path


@dataclass(frozen=True, slots=True)
class LaneFolder:
    """`path` holds all that is a lane's, its tree among it as `mounted` says.

    `scratch` is Hydra's own and goes when the patch is taken; `lent` are the user's objects folders
    that the lane's repositories were made to borrow from.
    """

    path: Path
    mounted: MountedTree
    scratch: Path
    lent: tuple[Path, ...] = ()
    settings: Path | None = None
    _shown: dict[Path, Path] = field(default_factory=dict, repr=False, compare=False)

    def owns(self, path: Path) -> bool:
        """Whether `path` leads to what lies in this lane, and not to the lane itself."""
        top = os.path.realpath(self.path)
        real = Path(os.path.realpath(path))
        return real.is_relative_to(top) and real != Path(top)

    def has_settings(self, folder: Path) -> bool:
        """Whether `folder` lies among the agent's settings, or holds them."""
        if self.settings is None:
            return False
        place, real = (Path(os.path.realpath(path)) for path in (self.settings, folder))
        return real.is_relative_to(place) or place.is_relative_to(real)

    def holds(self, git_dir: Path) -> bool:
        """Whether it is a repository of this lane: another's is none of Hydra's business."""
        return self.owns(git_dir / "objects") and os.path.isdir(git_dir / "objects")  # noqa: PTH112

    def was_lent(self, git_dir: Path) -> bool:
        """Whether a repository borrows the user's objects, as those do that Hydra has made."""
        lent = {os.path.realpath(folder) for folder in self.lent}
        return any(os.path.realpath(path) in lent for path in self._named(git_dir / "objects"))

    def repositories(self) -> Iterator[Path]:
        """What looks like one anywhere in this lane, not in another; folders that its agent has
        closed are opened."""
        return islice(self._repositories(), _STORES)

    def _repositories(self) -> Iterator[Path]:
        for folder, inner, files in islice(os.walk(self.path), _FOLDERS):
            if "HEAD" in files and "objects" in inner:
                inner.clear()
                yield Path(folder)
            for name in inner:
                if not os.path.islink(os.path.join(folder, name)):  # noqa: PTH114, PTH118
                    open_folder(os.fsencode(folder), os.fsencode(name), Survey())

    def is_seen(self) -> bool:
        """Whether `repositories` has looked into every folder, and given all."""
        closed: list[OSError] = []
        folders = islice(os.walk(self.path, onerror=closed.append), _FOLDERS + 1)
        is_whole = sum(1 for _ in folders) <= _FOLDERS and not closed
        return is_whole and sum(1 for _ in self.repositories()) < _STORES

    def open(self, git_dir: Path) -> Survey:
        """Lets its owner read a repository whose agent has closed it, or a part of it; what was
        opened, and what stays closed, by its path in the lane. Nothing outside is touched."""
        scan, top, passed = Survey(), os.path.realpath(self.path), ""
        # Behind what was closed may be a link that leads elsewhere.
        while (real := os.path.realpath(git_dir)) != passed and self.owns(git_dir):
            passed = real
            open_below(os.fsencode(top), os.fsencode(os.path.relpath(real, top)), scan)
        return scan

    def objects(self, folder: Path, depth: int = _DEPTH) -> Path:
        """By what name git is to have the objects of a repository in this lane: regular files
        alone, those of others in the lane that it borrows from, and what was lent to it."""
        real = Path(os.path.realpath(folder))
        if real not in self._shown:
            place = Path(tempfile.mkdtemp(dir=self.scratch, prefix="objects-"))
            self._shown[real] = place / "objects"
            near = self._alternates(folder) if depth else ()
            shown = (self.objects(path, depth - 1) for path in near if len(self._shown) < _STORES)
            borrow_objects(place, (*shown, *self.lent))
            if self.owns(folder):
                _link(real, place / "objects")
        return self._shown[real]

    def _alternates(self, folder: Path) -> Iterator[Path]:
        return filter(self.owns, self._named(folder) if self.owns(folder) else ())

    def _named(self, objects: Path) -> list[Path]:
        """Where an objects folder says that more are."""
        lines = small(objects / "info" / "alternates").splitlines()[:_STORES]
        return [self.mounted.named(objects, line) for line in lines]


def _link(objects: Path, target: Path) -> None:
    for folder in _entries(objects):
        is_pack = folder.name == "pack"
        if not (is_pack or _FANOUT.fullmatch(folder.name)) or not folder.is_dir(
            follow_symlinks=False
        ):
            continue
        place, entries = target / folder.name, _entries(folder.path)
        files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
        if not is_pack and len(files) == len(entries):
            place.symlink_to(folder.path)
            continue
        place.mkdir()
        for file in files:
            if not is_pack or _PACK.fullmatch(file.name):
                (place / file.name).symlink_to(file.path)


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []

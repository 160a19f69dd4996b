"""The names by which a lane's repositories have the user's objects.

The checkout's own `.git` lies under the lane's tree where that is mounted over it, so git has to
have its objects by a name that is good both inside and outside: outside it is a link to them,
inside they are mounted there.
"""

from __future__ import annotations

from pathlib import Path


class BorrowedObjects:
    """Collects them while a lane is made: `names` are objects folders with theirs, `folders` all
    that were asked for."""

    def __init__(self, folder: Path, placed: bool) -> None:
        """`folder` is where the links go, made at need; not `placed`, a folder keeps its own."""
        self.names: dict[Path, Path] = {}
        self.folders: dict[Path, None] = {}
        self._folder = folder
        self._placed = placed

    def alias(self, objects: Path) -> Path:
        """The name for an objects folder. Raises `OSError`."""
        self.folders[objects] = None
        if not self._placed:
            return objects
        if objects not in self.names:
            place = self._folder / str(len(self.names))
            self._link(objects, place / "objects")
            if (objects.parent / "lfs").is_dir():  # git-lfs looks for its files beside them
                self._link(objects.parent / "lfs", place / "lfs")
        return self.names[objects]

    def _link(self, source: Path, link: Path) -> None:
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        link.unlink(missing_ok=True)  # an earlier attempt's
        link.symlink_to(source)
        self.names[source] = link

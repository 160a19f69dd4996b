"""Real names, and the links on the way to them: inside a lane each such link is made anew.

bwrap makes no mount's place through a link, so everything is shown by its real name; what names it
through links (HOME itself, an entry of PATH, `~/.local/bin -> dotfiles/bin`) finds it by theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hydra.process.sandbox.view import is_system

_DEPTH = 40
"""Links in one name; the kernel's own limit."""


class LinkResolver:
    """Resolves names as the kernel would and remembers every link that it met."""

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

"""The places that are shown so far, and what may not be shown as a whole whatever names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hydra.sandbox.links import LinkResolver
from hydra.sandbox.looking import exists, is_folder
from hydra.sandbox.tables import NEVER_WHOLE, NEVER_WHOLE_OF_HOME
from hydra.sandbox.view import Shown, is_system


class ShownPlaces:
    """Places by their real names, each with its first reason."""

    def __init__(
        self,
        home: Path,
        links: LinkResolver,
        guarded: Iterable[Path],
        never_whole: Iterable[Path] = (),
    ) -> None:
        self.home = home
        self.links = links
        self.notes: list[str] = []
        self._reasons: dict[Path, str] = {}
        whole = [Path(name) for name in NEVER_WHOLE]
        whole += (home / name for name in NEVER_WHOLE_OF_HOME)
        self._never_whole = frozenset((*whole, *home.parents, *never_whole))
        guards = tuple(guarded)
        self._guarded = frozenset(guards)
        self._holders = frozenset(parent for place in guards for parent in place.parents)
        self._answers: dict[Path, bool] = {}

    def show(self, path: Path, reason: str) -> bool:
        """Shows it, unless it is the system's, not there, or a folder that may not be shown as a
        whole; whether it is shown."""
        real = self.links.resolve(path)
        if is_system(real) or not exists(real):
            return False
        if self.is_guarded(real) and (is_folder(real) or self._in_guarded(real)):
            self.notes.append(f"not shown: {real} ({reason})")
            return False
        self.add(real, reason)
        return True

    def show_parts(self, top: Path, parts: Iterable[str], reason: str) -> None:
        """Those of the parts of a folder that are there; without any, all of it."""
        for part in parts or ("",):
            self.show(top / part, reason)

    def add(self, real: Path, reason: str) -> None:
        """Shows it whatever it is."""
        if not is_system(real):
            self._reasons.setdefault(real, reason)

    def is_guarded(self, real: Path) -> bool:
        """Whether it may not be shown as a whole: it is, holds, or lies in a place of keys or of
        an agent's settings, or is one of the folders that hold everything."""
        if real not in self._answers:
            whole = real in self._never_whole or real in self._holders
            self._answers[real] = whole or self._in_guarded(real)
        return self._answers[real]

    def is_all_of_home(self, real: Path) -> bool:
        """Whether it is HOME, or holds it."""
        return real == self.home or real in self.home.parents

    def outermost(self, sealed: Iterable[Path] = ()) -> tuple[Shown, ...]:
        """All of them but what lies in another, by name. What lies in a `sealed` place is not
        brought back by what holds that: it is shown for itself."""
        seals = tuple(sealed)
        outer: dict[Path, str] = {}
        for path, reason in sorted(self._reasons.items()):
            holder = next((parent for parent in path.parents if parent in outer), None)
            if holder is None or any(
                holder in seal.parents and seal in path.parents for seal in seals
            ):
                outer[path] = reason
        return tuple(Shown(path, reason) for path, reason in outer.items())

    def links_outside(self, shown: Iterable[Shown]) -> Mapping[Path, str]:
        """The links that lead to something shown and do not come along with it."""
        places = {place.path for place in shown}
        return {
            place: target
            for place, target in self.links.links.items()
            if not any(parent in places for parent in place.parents)
            and self._leads_to_shown(place, places)
        }

    def _leads_to_shown(self, place: Path, places: set[Path]) -> bool:
        real = self.links.resolve(place)
        if is_system(real) or real == self.home:
            return True
        inside = any(path in places for path in (real, *real.parents))
        return inside or any(real in path.parents for path in (*places, self.home))

    def _in_guarded(self, real: Path) -> bool:
        return any(place in self._guarded for place in (real, *real.parents))

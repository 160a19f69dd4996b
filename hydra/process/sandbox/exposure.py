"""The places that are shown so far, and what may not be shown as a whole whatever names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hydra.process.sandbox.lookups import LinkResolver, exists, is_folder
from hydra.process.sandbox.places import GuardedPlaces
from hydra.process.sandbox.tables import ON_PATH
from hydra.process.sandbox.view import ShownPlace, is_system


class ShownPlaces:
    """Places by their real names, each with its first reason."""

    def __init__(
        self,
        home: Path,
        links: LinkResolver,
        guards: GuardedPlaces,
    ) -> None:
        self.home = home
        self.links = links
        self.guards = guards
        self.notes: list[str] = []
        self._reasons: dict[Path, str] = {}

    def show(self, path: Path, reason: str) -> bool:
        """Shows it, unless it is the system's, not there, or a folder that may not be shown as a
        whole; whether it is shown."""
        real = self.links.resolve(path)
        if is_system(real) or not exists(real):
            return False
        if not self.admits(real, reason):
            return False
        self.add(real, reason)
        return True

    def admits(self, real: Path, reason: str) -> bool:
        """Whether nothing guards it; a note where something does. Of HOME's own folders `bin` is
        programs alone."""
        if real == self.home / "bin" and reason == ON_PATH:
            return True
        if self.guards.above(real) or (is_folder(real) and self.guards.is_whole_guarded(real)):
            self.notes.append(f"not shown: {real} ({reason})")
            return False
        return True

    def show_parts(self, top: Path, parts: Iterable[str], reason: str) -> None:
        """Those of the parts of a folder that are there; without any, all of it."""
        for part in parts or ("",):
            self.show(top / part, reason)

    def add(self, real: Path, reason: str) -> None:
        """Shows it whatever it is."""
        if not is_system(real):
            self._reasons.setdefault(real, reason)

    def is_shown_itself(self, real: Path) -> bool:
        """Whether something asks for just this."""
        return real in self._reasons

    def is_all_of_home(self, real: Path) -> bool:
        """Whether it is HOME, or holds it."""
        return real == self.home or real in self.home.parents

    def outermost(self, sealed: Iterable[Path] = ()) -> tuple[ShownPlace, ...]:
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
        return tuple(ShownPlace(path, reason) for path, reason in outer.items())

    def links_outside(self, shown: Iterable[ShownPlace]) -> Mapping[Path, str]:
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

"""Which of a user's places hold keys, by their names; and what `[confine] show` may name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from hydra.process.sandbox.lookups import exists
from hydra.process.sandbox.tables import (
    AGENT_PLACES,
    NEVER_WHOLE,
    NEVER_WHOLE_OF_HOME,
    SECRET_PLACES,
)


def exposed_place(folder: str) -> str:
    """What a lane's own copy of `folder` would show that no agent may see; "" for nothing.

    Both are named from HOME, as `.config`. An agent's folder itself is nothing: to name it is to
    ask for a copy of it. What holds one would bring the sign-ins of others along.
    """
    named = PurePath(folder)
    secret = [place for place in SECRET_PLACES if named.is_relative_to(place)]
    inside = [p for p in (*SECRET_PLACES, *AGENT_PLACES) if named in PurePath(p).parents]
    return next(iter((*secret, *inside)), "")


def shown_path(name: str, home: Path) -> Path:
    """What an entry of `[confine] show` names: `~/lib` lies below `home`."""
    return Path(os.path.normpath(home / name[2:] if name.startswith("~/") else name))


def entry_for(path: Path, home: Path) -> str:
    """The other way round: how `[confine] show` would name a path."""
    return f"~/{path.relative_to(home)}" if home in path.parents else str(path)


def show_line(path: Path, home: Path) -> str:
    """What a person writes into their own hydra.toml to show it."""
    return f'[confine] show = ["{entry_for(path, home)}"]'


def show_problems(names: Iterable[str], home: Path) -> Iterator[str]:
    """What deserves a word each time: an entry that is not there, names too much, or holds keys."""
    real_home = Path(os.path.realpath(home))
    for name in names:
        real = Path(os.path.realpath(shown_path(name, home)))
        if not exists(real):
            yield f"[confine] show names what is not there: {name}"
        elif real == real_home or real in real_home.parents:
            yield f"[confine] show names your whole home folder, and is not followed: {name}"
        elif place := secret_place(real, real_home):
            yield f"[confine] show shows the agents a place of keys, {entry_for(place, real_home)}"


class GuardedPlaces:
    """Places of keys and of agents' settings (the tables' `names` in HOME, and `more`), and folders
    that hold everything (`never_whole` beside the tables'); all by their real names."""

    def __init__(
        self,
        home: Path,
        more: Iterable[Path] = (),
        never_whole: Iterable[Path] = (),
        names: Iterable[str] = (*SECRET_PLACES, *AGENT_PLACES),
    ) -> None:
        of_home = (home / name for name in NEVER_WHOLE_OF_HOME)
        self._never_whole = {*map(Path, NEVER_WHOLE), *of_home, *home.parents, *never_whole}
        self._places = dict.fromkeys((*(home / name for name in names), *more))
        self._holders = {parent for place in self._places for parent in place.parents}

    def above(self, real: Path) -> Path | None:
        """The place of keys or settings that `real` is or lies in."""
        return next((place for place in (real, *real.parents) if place in self._places), None)

    def below(self, real: Path) -> Path | None:
        """One that is there and that `real` holds."""
        inside = (place for place in self._places if real in place.parents)
        return next(filter(exists, inside), None)

    def is_whole_guarded(self, real: Path) -> bool:
        """Whether it may not be shown as a whole: it is, holds or lies in such a place."""
        whole = real in self._never_whole or real in self._holders
        return whole or self.above(real) is not None


def secret_place(real: Path, home: Path) -> Path | None:
    """The place of keys, or of an agent's settings, that `real` is, holds or lies in."""
    guards = GuardedPlaces(home)
    return guards.above(real) or guards.below(real)

"""Places that a failing output speaks of, which are there outside and hidden in a lane."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hydra.process.sandbox.places import GuardedPlaces
from hydra.process.sandbox.tables import SCRATCH

MOST_TEXT = 64 * 1024
"""Characters of an output that are read, its last: an error stands at the end."""

_MOST_PATHS = 400
"""Different paths of it that are looked at."""

_PATH = re.compile(
    r"(?:^|(?<=[\s'\"=:(\[`<,]))((?:~|(?<!:/)/(?!/))[\w.@%+~-]*(?:/[\w.@%+~-]+)+)", re.M
)

ABSENT = re.compile(
    r"no such (file|directory)|not found|not exist|does(n't| not) (exist|appear)|\bENO(ENT|TDIR)\b"
    r"|NotFound|(can ?not|can't|could ?n[o']t|unable to|failed to|failure to) "
    r"(be )?(open|find|read|load|locate|access|stat|lookup|import|resolve)|(be|was|were) missing"
    r"|missing|no matching files|searched in|not a (file|directory|folder|valid path)"
    r"|is not (a|the) (path|local)",
    re.I,
)
"""Words by which a program says that something is not there."""

NO_PROGRAM = re.compile(
    r"^(?:.*: )?[\u2018']?([\w.+-]+)[\u2019']?: "
    r"(?:(?:command )?not found\b|No such file or directory$)",
    re.MULTILINE,
)
"""A program of a bare name that is not there, as shells and `env` say it, and Hydra's own look."""

NO_LIBRARY = re.compile(r"^([\w./+-]+): error while loading shared libraries: ", re.MULTILINE)
"""A program that is there, without a library that it is linked with."""

HIDDEN = "hidden from the agents: "
"""How each sentence of a hidden place begins."""

_NEAR = 8
"""Lines above a path in which they may stand: a list of places searched comes below them."""


def missing_places(
    text: str, home: Path, is_visible: Callable[[Path], bool], own: Sequence[Path] = ()
) -> tuple[Path, ...]:
    """What of HOME or of the machine would have to be shown, the smallest folders that say so.

    A path counts where the output says near it that something is not there, where it is there
    outside, and where a lane cannot see it; `own` are folders that are the lane's or Hydra's, of
    which nothing counts. Keys, agents' settings and scratch folders are hidden on purpose and are
    never proposed.
    """
    places: dict[Path, None] = {}
    for path in _paths_near_absence(text[-MOST_TEXT:], home):
        if _is_hidden(path, home, is_visible, own) and (place := _place(path, home)):
            places[place] = None
    return tuple(places)


def installation_of(program: Path, home: Path) -> Path | None:
    """The folder that a program was unpacked or installed into; None where it may not be shown as
    a whole."""
    folder = program.resolve().parent
    top = folder.parent if folder.name in ("bin", "sbin", "libexec") else folder
    return None if GuardedPlaces(home).is_whole_guarded(top) else top


def _paths_near_absence(text: str, home: Path) -> Iterator[Path]:
    seen: set[str] = set()
    last = -_NEAR - 1
    for number, line in enumerate(text.splitlines()):
        last = number if ABSENT.search(line) else last
        if number - last > _NEAR:
            continue
        for match in _PATH.finditer(line):
            named = match[1].rstrip(".")
            if named not in seen and len(seen) < _MOST_PATHS:
                seen.add(named)
                named = f"{home}{named[1:]}" if named.startswith("~/") else named
                yield Path(os.path.normpath(named))


def _is_hidden(
    path: Path, home: Path, is_visible: Callable[[Path], bool], own: Sequence[Path]
) -> bool:
    above = (path, *path.parents)
    if not path.is_absolute() or any(place in above for place in own) or path in home.parents:
        return False
    in_home = home in path.parents
    if not in_home and any(Path(scratch) in above for scratch in (*SCRATCH, "/proc", "/dev")):
        return False
    if not os.access(path, os.F_OK):
        return False
    # A virtual environment's python leads to one that is seen, but is itself not there.
    links = (place for place in above if place.is_symlink())
    return not is_visible(path) or any(not is_visible(link.parent) for link in links)


def _place(path: Path, home: Path) -> Path | None:
    """The highest folder above `path` that may be shown as a whole; None for keys."""
    guards = GuardedPlaces(home)
    for place in (*reversed(path.parents), path) if guards.above(path) is None else ():
        if not guards.is_whole_guarded(place):
            return place if len(place.parts) > 2 or place == path else path
    return None

"""What the checkout has and a lane has not: files of no commit, and variables that are not passed.

Names only: of a file of settings that sets variables their names are read, and never a value.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hydra.errors import HydraError
from hydra.git.base_commit import Repository, ignored, untracked

_SETTINGS = re.compile(r"(?:^|/)\.env(?:\.[\w-]+)*$")
_SETS = re.compile(r"^\s*(?:export\s+)?([A-Z][A-Z0-9_]+)\s*=", re.MULTILINE)
_LARGEST = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Surplus:
    """All by names from the checkout's `top`; a folder of which git holds nothing ends in `/`.

    `shown` are what lanes are passed of it all the same, `variables` the names in the user's
    environment that checks are not passed, beside those that they are `passed` by name; `defined`
    has for a variable the files that set it, of each folder one. `folder` is where one types
    options, `shares` says whether `--share` has an effect here, `settings` names the user's own
    hydra.toml, and `search` is their PATH.
    """

    top: Path
    ignored: Sequence[str] = ()
    untracked: Sequence[str] = ()
    shown: Sequence[str] = ()
    variables: frozenset[str] = frozenset()
    passed: Sequence[str] = ()
    defined: Mapping[str, Sequence[str]] = field(default_factory=dict)
    folder: str = ""
    shares: bool = True
    settings: str = "hydra.toml"
    search: str = ""

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Each entry by where it lies; what git ignores and does not know is ignored."""
        return {name.rstrip("/"): name for name in (*self.untracked, *self.ignored)}

    @cached_property
    def called(self) -> Mapping[str, Sequence[str]]:
        """Where those lie that have the same name, by it."""
        called: dict[str, list[str]] = {}
        for place in self.places:
            called.setdefault(place.rpartition("/")[2], []).append(place)
        return called


def with_files(surplus: Surplus, repository: Repository) -> Surplus:
    """The same with what git lists now; without files where git cannot say. Blocks."""
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    with suppress(HydraError, OSError):
        names = tuple(map(os.fsdecode, ignored(repository)))
        unknown = tuple(map(os.fsdecode, untracked(repository)))
    files = sorted(name for name in (*names, *unknown) if _SETTINGS.search(name))
    named: dict[str, dict[str, str]] = {}
    for name in files:
        for variable in _set_in(surplus.top, name):
            named.setdefault(variable, {}).setdefault(name.rpartition("/")[0], name)
    defined = {variable: tuple(places.values()) for variable, places in named.items()}
    return dataclasses.replace(surplus, ignored=names, untracked=unknown, defined=defined)


def _set_in(top: Path, name: str) -> Sequence[str]:
    try:
        with (top / name).open("rb") as file:
            return _SETS.findall(file.read(_LARGEST).decode("utf-8", "replace"))
    except OSError:
        return ()

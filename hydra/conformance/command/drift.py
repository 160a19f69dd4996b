"""What `--drift OLD` names, and the two folders of each agent that are compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from hydra.conformance import recorded
from hydra.errors import UsageError

if TYPE_CHECKING:
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.conformance.results import VersionChange

NEWEST = "recorded"
"""The word for each agent's newest recorded version."""


class Old(Struct, frozen=True, kw_only=True):
    """The older side: recorded folders of one version each, or programs that have to be run."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    programs: Mapping[str, Path] = field(default_factory=dict)


def find_old(term: str, subjects: Sequence[ContractSubject]) -> Old:
    """What `term` names: a recorded version, a folder of records, or programs.

    Raises `UsageError` where it is none of these.
    """
    path = Path(term)
    if "/" in term or os.sep in term or path.exists():
        old = Old(folders=_recorded_in(path, subjects))
        old = old if old.folders else Old(programs=_programs_in(path, subjects))
    else:
        old = Old(folders=dict(_versions(term, subjects)))
    if not old.folders and not old.programs:
        raise UsageError(f"--drift: nothing is recorded as {term}", hint=_known_versions(subjects))
    return old


def _versions(term: str, subjects: Sequence[ContractSubject]) -> Iterator[tuple[str, Path]]:
    agent, at, version = term.rpartition("@")
    for subject in subjects:
        names = recorded.versions(subject.recordings, subject.key)
        if at and agent != subject.key:
            continue
        if version == NEWEST and names:
            yield subject.key, subject.folder / names[-1]
        elif version in names:
            yield subject.key, subject.folder / version


def _recorded_in(path: Path, subjects: Sequence[ContractSubject]) -> dict[str, Path]:
    """`path` may be one version's folder, an agent's, or one that holds agents."""
    paths = {}
    for subject in subjects:
        key = subject.key
        if (path / "version.txt").is_file() and path.resolve().parent.name == key:
            paths[key] = path
        elif (path / key).is_dir() and (names := recorded.versions(path, key)):
            paths[key] = path / key / names[-1]
        elif path.resolve().name == key and (names := recorded.versions(path.parent, key)):
            paths[key] = path / names[-1]
    return paths


def _programs_in(path: Path, subjects: Sequence[ContractSubject]) -> dict[str, Path]:
    """`path` may be a program, or a folder of programs (`node_modules/.bin`)."""
    paths: dict[str, Path] = {}
    for subject in subjects:
        names = subject.adapter.descriptor.binaries
        places = [path / name for name in names] if path.is_dir() else [path]
        for place in places:
            if place.name in names and place.is_file() and os.access(place, os.X_OK):
                paths.setdefault(subject.key, place.absolute())
    return paths


def _known_versions(subjects: Sequence[ContractSubject]) -> str:
    lines = [
        f"{subject.key}@{version}"
        for subject in subjects
        for version in recorded.versions(subject.recordings, subject.key)
    ]
    return f"known: {', '.join(lines)}" if lines else "`hydra conformance --live --record` records"


Pair = tuple["ContractSubject", Path, Path]
"""An adapter with its older folder and its newer one."""


def recorded_pairs(term: str, subjects: Sequence[ContractSubject]) -> list[Pair]:
    """Each agent's older version and its newest recorded one.

    Raises `UsageError` where that would compare a version with itself.
    """
    old = find_old(term, subjects)
    if not old.folders:
        raise UsageError(
            f"--drift: {term} is a program, which has to be run",
            hint=f"hydra conformance --live --drift {term}",
        )
    pairs = []
    for subject in subjects:
        names = recorded.versions(subject.recordings, subject.key)
        if subject.key in old.folders and names:
            new = subject.folder / names[-1]
            if old.folders[subject.key].resolve() != new.resolve():
                pairs.append((subject, old.folders[subject.key], new))
    if not pairs:
        raise UsageError(
            f"--drift: nothing newer than {term} is recorded",
            hint=f"what is installed is newer? hydra conformance --live --drift {term}",
        )
    return pairs


def changes(pairs: Sequence[Pair]) -> list[VersionChange]:
    """What changed in each pair, as sentences."""
    from hydra.conformance.drift import compare

    return [change for pair in pairs for change in compare(pair[0].adapter, pair[1], pair[2])]


def version_words() -> list[str]:
    """What `--drift` can be given, without paths: each recorded version."""
    from hydra.adapters import registry

    root = recorded.root()
    return [
        NEWEST,
        *(f"{key}@{version}" for key in registry.OWN for version in recorded.versions(root, key)),
    ]

"""What `--drift OLD` names, and the two folders of each agent that are compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.conformance import recorded
from hydra.errors import UsageError

if TYPE_CHECKING:
    from hydra.conformance.contract.subject import Subject
    from hydra.conformance.results import Change

NEWEST = "recorded"
"""The word for each agent's newest recorded version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """The older side: recorded folders of one version each, or programs that have to be run."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    programs: Mapping[str, Path] = field(default_factory=dict)


def find_old(word: str, subjects: Sequence[Subject]) -> Old:
    """What `word` names: a recorded version, a folder of records, or programs.

    Raises `UsageError` where it is none of these.
    """
    path = Path(word)
    if "/" in word or os.sep in word or path.exists():
        old = Old(folders=_recorded_in(path, subjects))
        old = old if old.folders else Old(programs=_programs_in(path, subjects))
    else:
        old = Old(folders=dict(_versions(word, subjects)))
    if not old.folders and not old.programs:
        raise UsageError(f"--drift: nothing is recorded as {word}", hint=_known(subjects))
    return old


def _versions(word: str, subjects: Sequence[Subject]) -> Iterator[tuple[str, Path]]:
    agent, at, version = word.rpartition("@")
    for subject in subjects:
        there = recorded.versions(subject.recordings, subject.key)
        if at and agent != subject.key:
            continue
        if version == NEWEST and there:
            yield subject.key, subject.folder / there[-1]
        elif version in there:
            yield subject.key, subject.folder / version


def _recorded_in(path: Path, subjects: Sequence[Subject]) -> dict[str, Path]:
    """`path` may be one version's folder, an agent's, or one that holds agents."""
    found = {}
    for subject in subjects:
        key = subject.key
        if (path / "version.txt").is_file() and path.resolve().parent.name == key:
            found[key] = path
        elif (path / key).is_dir() and (there := recorded.versions(path, key)):
            found[key] = path / key / there[-1]
        elif path.resolve().name == key and (there := recorded.versions(path.parent, key)):
            found[key] = path / there[-1]
    return found


def _programs_in(path: Path, subjects: Sequence[Subject]) -> dict[str, Path]:
    """`path` may be a program, or a folder of programs (`node_modules/.bin`)."""
    found: dict[str, Path] = {}
    for subject in subjects:
        names = subject.adapter.descriptor.binaries
        places = [path / name for name in names] if path.is_dir() else [path]
        for place in places:
            if place.name in names and place.is_file() and os.access(place, os.X_OK):
                found.setdefault(subject.key, place.absolute())
    return found


def _known(subjects: Sequence[Subject]) -> str:
    told = [
        f"{subject.key}@{version}"
        for subject in subjects
        for version in recorded.versions(subject.recordings, subject.key)
    ]
    return f"known: {', '.join(told)}" if told else "`hydra conformance --live --record` records"


Pair = tuple["Subject", Path, Path]
"""An adapter with its older folder and its newer one."""


def recorded_pairs(word: str, subjects: Sequence[Subject]) -> list[Pair]:
    """Each agent's older version and its newest recorded one.

    Raises `UsageError` where that would compare a version with itself.
    """
    old = find_old(word, subjects)
    if not old.folders:
        raise UsageError(
            f"--drift: {word} is a program, which has to be run",
            hint=f"hydra conformance --live --drift {word}",
        )
    pairs = []
    for subject in subjects:
        there = recorded.versions(subject.recordings, subject.key)
        if subject.key in old.folders and there:
            new = subject.folder / there[-1]
            if old.folders[subject.key].resolve() != new.resolve():
                pairs.append((subject, old.folders[subject.key], new))
    if not pairs:
        raise UsageError(
            f"--drift: nothing newer than {word} is recorded",
            hint=f"what is installed is newer? hydra conformance --live --drift {word}",
        )
    return pairs


def changes(pairs: Sequence[Pair]) -> list[Change]:
    """What changed in each pair, as sentences."""
    from hydra.conformance.drift.compare import compare

    return [change for pair in pairs for change in compare(pair[0].adapter, pair[1], pair[2])]


def words() -> list[str]:
    """What `--drift` can be given, without paths: each recorded version."""
    from hydra.adapters import registry

    root = recorded.root()
    return [NEWEST, *(f"{key}@{it}" for key in registry.OWN for it in recorded.versions(root, key))]

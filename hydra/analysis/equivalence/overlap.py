"""What several lanes changed, and what only one did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hydra.analysis.equivalence.changes import functions
from hydra.analysis.equivalence.model import Shared
from hydra.analysis.patch import FileChange

Lanes = Mapping[str, Sequence[FileChange]]

MOST_READ = 32 * 1024 * 1024
"""Characters of text that are looked into for one run; of what lies beyond, path by path, only
the file is named."""


def shared(lanes: Lanes) -> tuple[Shared, ...]:
    """The functions that two or more lanes changed, those of the most lanes first.

    A method is named with its class (`Pager.page`). Where several lanes touch a file and no
    function of it, their common class is named, or else the file ("").
    """
    shareds: list[Shared] = []
    remaining = MOST_READ
    for path, files in sorted(_by_path(lanes).items()):
        if len(files) < 2:
            continue
        distinct = {_both(file): file for file in files.values()}
        cost = sum(len(file.old or "") + len(file.new or "") for file in distinct.values())
        names: dict[str, frozenset[str]] = {}
        if cost <= remaining:
            remaining -= cost
            read = {both: functions(file) for both, file in distinct.items()}
            names = {lane: read[_both(file)] for lane, file in files.items()}
        shareds += _shared(path, sorted(files), names)
    return tuple(
        sorted(shareds, key=lambda overlap: (-len(overlap.lanes), overlap.path, overlap.name))
    )


def alone(lanes: Lanes) -> Mapping[str, tuple[str, ...]]:
    """By lane, the files that no other lane touched; empty where fewer than two have a patch."""
    patched = sorted(lane for lane in lanes if lanes[lane])
    if len(patched) < 2:
        return {}
    touching = _by_path(lanes)
    only: dict[str, list[str]] = {lane: [] for lane in patched}
    for path in sorted(touching):
        if len(touching[path]) == 1:
            only[next(iter(touching[path]))].append(path)
    return {lane: tuple(paths) for lane, paths in only.items()}


def _by_path(lanes: Lanes) -> dict[str, dict[str, FileChange]]:
    rows: defaultdict[str, dict[str, FileChange]] = defaultdict(dict)
    for lane in sorted(lanes):
        for file in lanes[lane]:
            rows[file.path][lane] = file
    return rows


def _both(file: FileChange) -> tuple[object, ...]:
    """What tells a change of a file from another of the same file."""
    if file.old_oid and file.new_oid:
        return file.old_oid, file.new_oid, file.new is None
    return file.old, file.new


def _shared(path: str, lanes: list[str], names: Mapping[str, frozenset[str]]) -> list[Shared]:
    """The narrowest names that two lanes have in common, then their classes, then the file."""
    while any(any(own) for own in names.values()):
        common: defaultdict[str, list[str]] = defaultdict(list)
        for lane in lanes:
            for name in names[lane]:
                common[name].append(lane)
        shareds = [
            Shared(path=path, name=name, lanes=tuple(having))
            for name, having in common.items()
            if name and len(having) > 1
        ]
        if shareds:
            return shareds
        names = {
            lane: frozenset(name.rpartition(".")[0] for name in own) for lane, own in names.items()
        }
    return [Shared(path=path, name="", lanes=tuple(lanes))]

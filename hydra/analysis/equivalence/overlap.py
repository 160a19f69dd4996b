"""What several lanes changed, and what only one did."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from hydra.analysis.equivalence.groups import Shared
from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import Syntax, read_syntax

Lanes = Mapping[str, Sequence[FileChange]]

MOST_READ = 4 * 1024 * 1024
"""Characters of text that are looked into for one run; of what lies beyond, path by path, only
the file is named."""

_WITHIN = re.compile(r"(.*)(?:\.| > )")


def shared(lanes: Lanes) -> tuple[Shared, ...]:
    """The functions that two or more lanes changed, those of the most lanes first.

    A method is named with its class (`Pager.page`). Where several lanes touch a file and no
    function of it, the common class of theirs is named, or else the file ("").
    """
    touched = {path: files for path, files in sorted(_by_path(lanes).items()) if len(files) > 1}
    remaining, texts = MOST_READ, dict[tuple[str, str], None]()
    for path, files in touched.items():
        sources = {text for file in files.values() for text in (file.old, file.new) if text}
        remaining -= sum(map(len, sources))
        if remaining >= 0:
            texts.update(dict.fromkeys((path, text) for text in sorted(sources)))
    read = dict(zip(texts, read_syntax(list(texts)), strict=True))
    shareds = [
        row
        for path, files in touched.items()
        for row in _shared(path, {lane: _changed(file, read) for lane, file in files.items()})
    ]
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


def _changed(file: FileChange, read: Mapping[tuple[str, str], Syntax | None]) -> set[str]:
    """The functions whose code a patch changes; what is within one of them stands for it."""
    before, after = (_bodies(read.get((file.path, text or ""))) for text in (file.old, file.new))
    names = {name for name in before.keys() | after if before.get(name) != after.get(name)}
    around = {name[: at.start()] for name in names for at in re.finditer(r"\.| > ", name)}
    return names - around


def _bodies(value: Syntax | None) -> dict[str, list[str]]:
    """By its name the code of each function, as if it stood on one line."""
    bodies: defaultdict[str, list[str]] = defaultdict(list)
    if value is not None:
        lines = value.code.split("\n")
        for function in value.functions:
            code = "\n".join(lines[function.start - 1 : function.end])
            bodies[function.name].append(" ".join(code.split()))
    return dict(bodies)


def _shared(path: str, names: Mapping[str, set[str]]) -> list[Shared]:
    """The narrowest names that two lanes have in common, then their classes, then the file."""
    while any(names.values()):
        common: defaultdict[str, list[str]] = defaultdict(list)
        for lane, own in names.items():
            for name in own:
                common[name].append(lane)
        shareds = [
            Shared(path=path, name=name, lanes=tuple(having))
            for name, having in common.items()
            if len(having) > 1
        ]
        if shareds:
            return shareds
        names = {
            lane: {match[1] for name in own if (match := _WITHIN.match(name))}
            for lane, own in names.items()
        }
    return [Shared(path=path, name="", lanes=tuple(names))]

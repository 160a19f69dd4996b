"""Patches that are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hydra.analysis.equivalence.model import Group
from hydra.analysis.equivalence.normalize import form
from hydra.analysis.patch import FileChange

MOST_READ = 4 * 1024 * 1024
"""Characters of code that are brought into normal form for one run. What lies beyond, path by
path, is compared as it is: patches may then not be called equivalent, never wrongly so."""

_FILES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class _Side:
    """What a lane leaves at a path. `name` is the object's, or the text where none is given, or
    the lane's own where nobody knows what is there."""

    mode: str
    name: str
    text: str | None = field(default=None, compare=False)


def groups(
    lanes: Mapping[str, Sequence[FileChange]], trees: Mapping[str, str]
) -> tuple[Group, ...]:
    """The groups of two or more lanes whose patches are the same, the identical first.

    Identical is one tree. Equivalent is the same but for layout, comments and the order of
    imports, in each file that one of them touches; such a group has two trees or more, and all
    lanes of an identical group are in it or none. A lane without files is in no group.
    """
    patches = {lane: {file.path: file for file in lanes[lane]} for lane in sorted(lanes)}
    patches = {lane: files for lane, files in patches.items() if files}
    identical = _split(patches, {lane: _identity(lane, patches, trees) for lane in patches})
    by_first = {names[0]: names for names in identical}
    classes = _equivalent(by_first, patches)
    bunches = [Group(kind="identical", lanes=names) for names in identical if len(names) > 1]
    for firsts in classes:
        if len(firsts) > 1:
            every = sorted(name for first in firsts for name in by_first[first])
            bunches.append(Group(kind="equivalent", lanes=tuple(every)))
    return tuple(
        sorted(
            bunches, key=lambda group: (group.kind != "identical", -len(group.lanes), group.lanes)
        )
    )


_Patches = Mapping[str, Mapping[str, FileChange]]
_Class = tuple[str, ...]


def _split(names: Iterable[str], keys: Mapping[str, Hashable]) -> list[_Class]:
    parts: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name in names:
        parts[keys[name]].append(name)
    return [tuple(part) for part in parts.values()]


def _identity(lane: str, patches: _Patches, trees: Mapping[str, str]) -> Hashable:
    return trees.get(lane) or _facts(lane, patches[lane])


def _facts(lane: str, files: Mapping[str, FileChange]) -> Hashable:
    """All that is seen of a patch."""
    return tuple((path, _new(lane, files[path])) for path in sorted(files))


def _new(lane: str, file: FileChange) -> _Side:
    if not file.new_mode:
        return _Side("", "")
    return _Side(file.new_mode, file.new_oid or file.new or f"\0{lane}", file.new)


def _base(files: Sequence[FileChange]) -> _Side:
    """What lies at a path on the base, from what is known of it in any lane."""
    file = next((file for file in files if file.old is not None), files[0])
    if not file.old_mode:
        return _Side("", "")
    return _Side(file.old_mode, file.old_oid or file.old or "\0", file.old)


def _equivalent(firsts: Iterable[str], patches: _Patches) -> list[_Class]:
    """Classes of lanes, split path by path; which lane comes first changes nothing."""
    classes = _all_seen(firsts, patches)
    remaining = MOST_READ
    for path in sorted({path for files in patches.values() for path in files}):
        base = _base([files[path] for files in patches.values() if path in files])
        sides = {
            lane: _new(lane, files[path]) if path in files else base
            for lane, files in patches.items()
        }
        unlike = {
            side
            for part in classes
            if len(items := {sides[lane] for lane in part}) > 1
            for side in items
        }
        cost = sum(len(side.text or "") for side in unlike)
        read = cost <= remaining
        remaining -= cost if read else 0
        forms = {side: _form(path, side) if read else side for side in unlike}
        keys = {lane: forms.get(side, side) for lane, side in sides.items()}
        classes = [piece for part in classes for piece in _split(part, keys)]
    return classes


def _all_seen(firsts: Iterable[str], patches: _Patches) -> list[_Class]:
    """One class of all, but for those of which not all was seen: alike, and yet of two trees."""
    alike = _split(
        firsts := list(firsts), {first: _facts(first, patches[first]) for first in firsts}
    )
    rows = [(name,) for names in alike if len(names) > 1 for name in names]
    return [tuple(names[0] for names in alike if len(names) == 1), *rows]


def _form(path: str, side: _Side) -> Hashable:
    if side.mode not in _FILES or side.text is None:
        return side
    return side.mode, form(path, side.text)

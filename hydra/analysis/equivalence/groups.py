"""Patches that are the same: byte for byte, or but for their form as the syntax tree has it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import language_of, read_syntax


class Group(Struct, frozen=True, kw_only=True):
    """Lanes whose patches are the same: `identical` byte for byte, or `equivalent` but for
    formatting, comments and the order of imports; `alike` pass and fail the same tests."""

    kind: Literal["identical", "equivalent", "alike"]
    lanes: tuple[str, ...]


class Shared(Struct, frozen=True, kw_only=True):
    """A function (or a file, where `name` is "") that several lanes changed."""

    path: str
    name: str
    lanes: tuple[str, ...]


MOST_READ = 4 * 1024 * 1024
"""Characters of code that are brought into normal form for one run. What lies beyond, path by
path, is compared as it is: patches may then not be called equivalent, never wrongly so."""

_FILES = ("100644", "100755")
_DATA_FOLDERS = frozenset(
    (
        *("testdata", "test-data", "test_data", "fixtures", "fixture", "__fixtures__"),
        *("__snapshots__", "snapshots", "golden", "goldens", "cassettes", "__cassettes__"),
    )
)
"""Folders of what tests read or compare, byte for byte."""

_Side = tuple[str, str, str | None]
"""What a lane leaves at a path: the mode, the object's name, or the text where none is known, or
the lane's own where nobody knows what is there; and the text."""


def same(path: str, old: str, new: str) -> bool:
    """Whether a file's two texts surely differ in form only (or not at all)."""
    if old == new:
        return True
    forms = normal_forms(((path, old), (path, new)))
    return len(forms) == 2 and len({*forms.values()}) == 1


def normal_forms(texts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """By path and text the normal form, of those that have one."""
    readable = list(dict.fromkeys(row for row in texts if _is_program(row[0])))
    values = zip(readable, read_syntax(readable), strict=True)
    return {row: value.normal for row, value in values if value is not None}


def _is_program(path: str) -> bool:
    return bool(language_of(path)) and _DATA_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


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
    facts = {lane: _facts(lane, files) for lane, files in patches.items()}
    identical = _classes({lane: trees.get(lane) or facts[lane] for lane in patches})
    firsts = {names[0]: names for names in identical}
    # What looks alike and is of two trees was not seen whole.
    often = Counter(facts[first] for first in firsts)
    forms = _forms({first: patches[first] for first in firsts})
    keys = {first: forms[first] if often[facts[first]] == 1 else first for first in firsts}
    bunches = [Group(kind="identical", lanes=names) for names in identical if len(names) > 1]
    for alike in _classes(keys):
        if len(alike) > 1:
            every = sorted(name for first in alike for name in firsts[first])
            bunches.append(Group(kind="equivalent", lanes=tuple(every)))
    return tuple(
        sorted(
            bunches, key=lambda group: (group.kind != "identical", -len(group.lanes), group.lanes)
        )
    )


_Patches = Mapping[str, Mapping[str, FileChange]]


def _classes(keys: Mapping[str, Hashable]) -> list[tuple[str, ...]]:
    parts: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name, key in keys.items():
        parts[key].append(name)
    return [tuple(part) for part in parts.values()]


def _facts(lane: str, files: Mapping[str, FileChange]) -> Hashable:
    """All that is seen of a patch."""
    return tuple((path, _new(lane, files[path])[:2]) for path in sorted(files))


def _new(lane: str, file: FileChange) -> _Side:
    if not file.new_mode:
        return "", "", None
    return file.new_mode, file.new_oid or file.new or f"\0{lane}", file.new


def _base(files: Sequence[FileChange]) -> _Side:
    """What lies at a path on the base, from what is known of it in any lane."""
    file = next((file for file in files if file.old is not None), files[0])
    if not file.old_mode:
        return "", "", None
    return file.old_mode, file.old_oid or file.old or "\0", file.old


def _forms(patches: _Patches) -> dict[str, Hashable]:
    """By lane what it leaves at each path that any of them touches, without its form."""
    rows: dict[str, dict[str, _Side]] = {}
    remaining, texts = MOST_READ, list[tuple[str, str]]()
    for path in sorted({path for files in patches.values() for path in files}):
        base = _base([files[path] for files in patches.values() if path in files])
        sides = {
            lane: _new(lane, files[path]) if path in files else base
            for lane, files in patches.items()
        }
        if len({side[:2] for side in sides.values()}) > 1:
            rows[path] = sides
            # The base's too: each of them is held against it next.
            sources = {side[2] for side in (*sides.values(), base) if side[2] is not None}
            cost = sum(map(len, sources))
            if cost <= remaining:
                remaining -= cost
                texts += [(path, text) for text in sorted(sources)]
    forms = normal_forms(texts)
    return {lane: tuple(_key(path, rows[path][lane], forms) for path in rows) for lane in patches}


def _key(path: str, side: _Side, forms: Mapping[tuple[str, str], str]) -> Hashable:
    mode, name, text = side
    form = forms.get((path, text)) if mode in _FILES and text is not None else None
    return (mode, name) if form is None else (mode, "", form)

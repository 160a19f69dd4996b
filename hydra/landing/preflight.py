"""The user's tree, looked at before anything is written: what a landing would do, and what is in
its way. Every path in the way is named, not only the first.

Staged, changed, untracked and ignored files stay byte for byte; so whatever a change would touch
must stand exactly as the change's own old side has it, and what it adds must find its place free.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from hydra.errors import LandingRefused
from hydra.git.attributes import parents, refused
from hydra.git.background import Later
from hydra.git.diff import TreeChange, TreeEntry
from hydra.git.status import IndexEntry, WorkTree, is_module
from hydra.landing.obstacles import immovable, is_anothers, is_mount, unwritable
from hydra.landing.version import Version

SHOWN = 20
"""Paths named in a refusal; with more, the others are counted."""

_MOVE_IT = (
    "commit, move or stash what is named and land again; or take it on a branch of its own: "
    "--branch NAME"
)
_PICK = "no git would check such a path out; take what else the patch has: --pick LANE:PATH"


class Step(Struct, frozen=True):
    """One path's way from `old` to `new`.

    `gives`: a file comes; not for a submodule, nor where a sparse checkout leaves the path out.
    `stage`: the index entry changes too. `version` and `digest` are of the file that stands there
    now, and goes.
    """

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None
    gives: bool
    stage: bool = True
    version: Version | None = None
    digest: str = ""


@dataclass(slots=True)
class TreeLook:
    """One look at one tree. `index` in `tree` is a copy of the user's; `scratch` is for Hydra.

    `loose` are paths whose old side is the user's own uncommitted file (--include-dirty): their
    index entry is left as it is. `outside` tells which new paths a sparse checkout leaves out.
    """

    tree: WorkTree
    scratch: Path
    changes: Sequence[TreeChange]
    loose: Collection[bytes] = ()
    outside: Collection[bytes] = ()
    problems: dict[bytes, str] = field(default_factory=dict)
    _top: bytes = field(init=False)
    _index: dict[bytes, IndexEntry] = field(default_factory=dict)
    _out: frozenset[bytes] = frozenset()
    _going: set[bytes] = field(default_factory=set)
    _ways: dict[bytes, str] = field(default_factory=dict)
    _versions: dict[bytes, Version | None] = field(default_factory=dict)
    _digests: dict[bytes, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._top = os.fsencode(self.tree.root)

    def read(self) -> None:
        """Reads the index; what follows looks at files alone."""
        indexed = self.tree.entries()
        touched = (change.path for change in self.changes)
        facts = ((path, indexed.get(path)) for path in touched)
        self._index = {
            path: IndexEntry.read(output) for path, output in facts if output is not None
        }
        self._out = frozenset(c.path for c in self.changes if self._is_left_out(c))
        self._going = {c.path for c in self.changes if c.new is None and not is_module(c.old)}

    def coming(self) -> list[bytes]:
        """The files that will be written, if nothing is in the way."""
        return [change.path for change in self.changes if self._gives(change)]

    def flags(self) -> dict[bytes, tuple[str, ...]]:
        """The flags that a person has set in the index, of the paths that change."""
        return {path: indexed.flags for path, indexed in self._index.items() if indexed.flags}

    def steps(self) -> tuple[Step, ...]:
        """What is to be done, in git's order. Raises `LandingRefused` with all that is in the way.

        Nothing is written but in `scratch`.
        """
        check_names(self.changes)
        for change in self.changes:
            self._check_index(change)
        standing = [change for change in self.changes if self._is_unchanged(change)]
        self._check_files(standing)
        for change in self.changes:
            self._check_place(change)
        if self.problems:
            raise _in_the_way(self.problems)
        return tuple(map(self._step, self.changes))

    def _step(self, change: TreeChange) -> Step:
        path = change.path
        stage, version = path not in self.loose, self._versions.get(path)
        digest = self._digests.get(path) or ""
        return Step(path, change.old, change.new, self._gives(change), stage, version, digest)

    def _gives(self, change: TreeChange) -> bool:
        goes = change.new is None or is_module(change.new)
        return not goes and not self._left_out(change)

    def _left_out(self, change: TreeChange) -> bool:
        return change.path in self._out

    def _is_left_out(self, change: TreeChange) -> bool:
        """Whether the work tree has no file for this path, and shall have none."""
        if change.old is None:
            return change.path in self.outside and not os.path.lexists(self._full(change.path))
        entry = self._index.get(change.path)
        skipped = entry is not None and entry.skipped
        return skipped and not os.path.lexists(self._full(change.path))

    def _is_unchanged(self, change: TreeChange) -> bool:
        gone = change.old is None or is_module(change.old)
        return not gone and not self._left_out(change)

    def _check_index(self, change: TreeChange) -> None:
        entry = self._index.get(change.path)
        if change.path in self.loose:
            return
        if entry is not None and entry.stage:
            self._problem(change.path, "in conflict in your index")
        elif (entry.entry if entry else None) != change.old:
            self._problem(change.path, "changed in your index (staged)")

    def _check_files(self, standing: Sequence[TreeChange]) -> None:
        """Whether the files are as the old side has them, read anew: no flag or time is trusted.

        Their facts are taken before anything of them is read.
        """
        self._versions = {c.path: Version.of(self._full(c.path)) for c in standing}
        digests = Later(self._read_digests)
        try:
            self._compare(standing)
        finally:
            digests.wait()
        digests.result()
        for path, digest in self._digests.items():
            if digest is None:
                self._problem(path, "changed in your tree")

    def _read_digests(self) -> None:
        for path, version in self._versions.items():
            if version is not None:
                self._digests[path] = version.digest(self._full(path))

    def _compare(self, standing: Sequence[TreeChange]) -> None:
        now = WorkTree(
            self.tree.patches, self.tree.root, self.scratch / "standing", self.tree.name_length
        )
        now.set((change.path, change.old) for change in standing)
        if not standing:
            return
        if now.refresh():
            return
        for path, letter in now.changed().items():
            self._problem(path, "deleted in your tree" if letter == "D" else "changed in your tree")

    def _check_place(self, change: TreeChange) -> None:
        if self._left_out(change):
            return
        self._check_way(change.path)
        if change.path in self._versions:
            self._check_movable(change.path)
        comes = change.new is not None and (
            change.old is None or (is_module(change.old) and not is_module(change.new))
        )
        if comes and not self._is_repository(change):
            self._check_free(change.path)

    def _check_movable(self, path: bytes) -> None:
        full = self._full(path)
        if why := immovable(full):
            self._problem(path, f"it {why}")
        elif is_anothers(full, os.lstat(os.path.dirname(full))):  # noqa: PTH120  bytes
            self._problem(path, "it is somebody else's, and its folder lets only owners move files")

    def _is_repository(self, change: TreeChange) -> bool:
        """A submodule's own repository stands there already, and nothing in it is written to."""
        content = self._full(change.path)
        return is_module(change.new) and os.path.lexists(content + b"/.git")

    def _check_way(self, path: bytes) -> None:
        """Every folder on the way is a real one, and the last that is there can be written."""
        folder = path.rpartition(b"/")[0]
        if folder not in self._ways:
            self._ways[folder] = self._way(folder)
        if why := self._ways[folder]:
            self._problem(path, why)

    def _way(self, folder: bytes) -> str:
        last = self._full(b"")
        device = os.lstat(last).st_dev
        for place in (*parents(folder), folder) if folder else ():
            full = self._full(place)
            try:
                result = os.lstat(full)
            except FileNotFoundError:
                break
            except PermissionError:
                return f"its folder cannot be looked into: {os.fsdecode(last)}"
            if not stat.S_ISDIR(result.st_mode):
                if place in self._going:
                    break
                kind = "a symlink" if stat.S_ISLNK(result.st_mode) else "a file"
                return f"{kind} of yours is on the way: {os.fsdecode(place)}"
            if result.st_dev != device:
                return "on another file system than the repository"
            if is_mount(full):
                return f"its folder is a mount of its own: {os.fsdecode(full)}"
            last = full
        if why := unwritable(Path(os.fsdecode(last))):
            return f"its folder {why}: {os.fsdecode(last)}"
        return ""

    def _check_free(self, path: bytes) -> None:
        """Nothing of the user's has this name. What is on the way, `_check_way` has looked at."""
        # Where a link goes, what is behind it is not in the way.
        if self._going.isdisjoint(parents(path)) and os.path.lexists(self._full(path)):
            for content in self._left_of(path):
                self._problem(path, _taken(path, content))

    def _left_of(self, path: bytes) -> Iterator[bytes]:
        """What of a file or folder stays when all that goes has gone; at most one name."""
        full = self._full(path)
        if path in self._going:
            return
        if not stat.S_ISDIR(os.lstat(full).st_mode):
            yield path
            return
        for content in files_below(full):
            inside = os.path.relpath(content, self._full(b""))
            if inside not in self._going:
                yield inside
                return

    def _full(self, path: bytes) -> bytes:
        return self._top + b"/" + path if path else self._top

    def _problem(self, path: bytes, why: str) -> None:
        self.problems.setdefault(path, why)


def check_names(changes: Sequence[TreeChange]) -> None:
    """Raises `LandingRefused` with every new path that git would not check out."""
    problems = {change.path: why for change in changes if (why := _refused(change))}
    if problems:
        raise _in_the_way(problems, _PICK)


def _refused(change: TreeChange) -> str:
    return refused(change.path, change.new.mode) if change.new is not None else ""


def files_below(folder: bytes) -> Iterator[bytes]:
    """All in a folder that is no folder, and folders that cannot be looked into."""
    closed: list[bytes] = []
    for top, folders, files in os.walk(folder, onerror=lambda lost: closed.append(lost.filename)):
        yield from closed
        closed.clear()
        links = (name for name in folders if os.path.islink(os.path.join(top, name)))  # noqa: PTH114, PTH118
        for name in (*files, *links):
            yield os.path.join(top, name)  # noqa: PTH118
    yield from closed


def _taken(path: bytes, content: bytes) -> str:
    if content == path:
        return "there already: a file of yours that git does not track, or ignores"
    return f"a folder of yours with other files in it, such as {os.fsdecode(content)}"


def _in_the_way(problems: dict[bytes, str], hint: str = _MOVE_IT) -> LandingRefused:
    named = tuple((os.fsdecode(path), why) for path, why in sorted(problems.items()))
    more = f" (the first {SHOWN})" if len(named) > SHOWN else ""
    what = "1 path is" if len(named) == 1 else f"{len(named)} paths are"
    return LandingRefused(
        f"nothing was landed: {what} in the way{more}",
        hint=hint,
        paths=named[:SHOWN],
    )

"""Everything of a landing that can be done without touching the tree: whether anything is in the
way, the new files, the new index, and what must be known to move them into place.

What does not wait for each other runs beside each other. None of it writes outside the staging
folder, but for the objects, which come once nothing is in the way.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hydra.git import lfs
from hydra.git.attributes import parents
from hydra.git.background import Later
from hydra.git.diff import EXECUTABLE, TreeEntry
from hydra.git.index import copy_users_index
from hydra.git.status import FLAGS, WorkTree, is_module
from hydra.landing import journal
from hydra.landing.journal import LandingOrder
from hydra.landing.preflight import Step, TreeLook


@dataclass(slots=True)
class LandingFiles:
    """`staging` is the folder for the index, `files` the one for files; both are there already.

    Afterwards `steps` are what is to be done, `missing` the folders to be made, the upper ones
    first, `flags` what the paths bore in the user's index. The bringing of the objects is under way
    as soon as nothing is known to be in the way.
    """

    order: LandingOrder
    staging: Path
    files: Path
    steps: tuple[Step, ...] = ()
    missing: tuple[bytes, ...] = ()
    flags: Mapping[bytes, Sequence[str]] = field(default_factory=dict)
    _brought: Later[None] | None = None

    @property
    def index(self) -> Path:
        """The new index."""
        return self.staging / "index"

    def prepare(self) -> None:
        """Raises `LandingRefused` where something is in the way, `OSError`, `GitFailed`."""
        order, root = self.order, self.order.repository.root
        copy_users_index(order.repository, self.index)
        before = self.staging / "index-before"
        with suppress(FileNotFoundError):
            shutil.copy2(self.index, before)
        tree = order.tree(root, before)
        look = TreeLook(tree, self.staging, order.changes, order.loose, order.outside)
        entered = Later(self._enter)
        try:
            look.read()
            written = Later(partial(self._check_out, entered, look.coming()))
            try:
                self.steps = look.steps()
                self.missing = tuple(self._missing_folders())
                entered.result()
                self.flags = look.flags()
                self._flag()
                self._brought = Later(order.bring)
            finally:
                written.wait()
        finally:
            entered.wait()
        written.result()
        self._own_tree().flag(FLAGS[0], self._left_out())
        self._give_attributes()
        journal.share(
            root, self.files / "fresh", self._named_paths()
        )  # a shared folder's group wins

    def bring(self) -> None:
        """Waits for the objects. Raises what the bringing of them raised."""
        if self._brought is not None:
            self._brought.result()

    def wait(self) -> None:
        """Until nothing of it runs any more, however it ended."""
        if self._brought is not None:
            self._brought.wait()

    def refresh(self) -> None:
        """Brings the new index's times in line with the files in their places."""
        self._own_tree().refresh()

    def _flag(self) -> None:
        """A new entry bears the flags of the old one, or of the one that went when it landed."""
        come = [step.path for step in self.steps if step.stage and step.new is not None]
        flags = {**self.order.flags, **self.flags}
        for flag in FLAGS:
            self._own_tree().flag(flag, [path for path in come if flag in flags.get(path, ())])

    def _give_attributes(self) -> None:
        top = os.fsencode(self.order.repository.root) + b"/"
        fresh = os.fsencode(self.files / "fresh") + b"/"
        for step in self.steps:
            if step.gives and step.new is not None:
                old = Attributes.of(top + step.path) if step.version else None
                file = self.order.exact.get(step.path)
                attributes = old or (Attributes.of(os.fsencode(file)) if file else None)
                if attributes is not None:
                    attributes.give(fresh + step.path, step.old, step.new)

    def _own_tree(self) -> WorkTree:
        return self.order.tree(self.order.repository.root, self.index)

    def _enter(self) -> None:
        loose = self.order.loose
        self._own_tree().set((c.path, c.new) for c in self.order.changes if c.path not in loose)

    def _check_out(self, entered: Later[None], coming: Sequence[bytes]) -> None:
        """Writes the new files by git into `fresh`, where nothing of the user's stands.

        The index that is checked out holds all of the tree: attributes are looked up in it.
        """
        entered.result()
        loose = [c for c in self.order.changes if c.path in self.order.loose]
        index = self.index
        if loose:
            index = self.staging / "index-loose"
            shutil.copy2(self.index, index)
        fresh = self.order.tree(self.files / "fresh", index)
        if loose:
            fresh.set((change.path, change.new) for change in loose)
        exact = {**self._moved_pointers(), **self.order.exact}
        fresh.checkout([path for path in coming if path not in exact])
        modes = {c.path: c.new.mode for c in self.order.changes if c.new is not None}
        for path in coming:
            if path in exact:
                file = Path(os.fsdecode(os.fsencode(self.files / "fresh") + b"/" + path))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch(0o777 if modes[path] == EXECUTABLE else 0o666)
                shutil.copyfile(exact[path], file)

    def _moved_pointers(self) -> dict[bytes, Path]:
        """Of files that only move, those that stand as the pointers that LFS never fetched: git-lfs
        would have nothing to put in their place."""
        stand = {c.old.oid: c.path for c in self.order.changes if c.old is not None}
        news = ((c.path, c.new.oid) for c in self.order.changes if c.new is not None)
        moved = ((path, stand[oid]) for path, oid in news if oid in stand)
        files = ((path, self.order.repository.root / os.fsdecode(old)) for path, old in moved)
        return {path: file for path, file in files if lfs.is_pointer(file)}

    def _named_paths(self) -> list[bytes]:
        return [step.path for step in self.steps if step.gives]

    def _left_out(self) -> list[bytes]:
        """What a sparse checkout leaves out."""
        left_out = (s for s in self.steps if s.new and not s.gives and not is_module(s.new))
        return [step.path for step in left_out if step.stage]

    def _missing_folders(self) -> list[bytes]:
        modules = [s.path for s in self.steps if is_module(s.new) and not is_module(s.old)]
        contents = {folder for path in self._named_paths() for folder in parents(path)}
        contents.update(folder for path in modules for folder in (*parents(path), path))
        # Where a link becomes a folder, what is behind the link is not below that folder.
        missing: set[bytes] = set()
        top = os.fsencode(self.order.repository.root) + b"/"
        for folder in sorted(contents):
            above = folder.rpartition(b"/")[0]
            if above in missing or not journal.is_folder(top + folder):
                missing.add(folder)
        return sorted(missing)


# ---- What a file bears besides its content and git's x bit: its owner, its permissions, its
# extended attributes and access list. git gives a file that it writes those of any new one; a
# landing gives it those of the file that it takes the place of.

_CARRIED = ("user.", "system.posix_acl_access")
"""Not `security.`: what a program may do is of its content, and labels are the system's to give."""

_FILE, _PROGRAM = "100644", "100755"


class Attributes(NamedTuple):
    """Of a regular file; `extended` by name."""

    mode: int
    owner: int
    group: int
    extended: Mapping[str, bytes]

    @classmethod
    def of(cls, path: bytes) -> Attributes | None:
        """Those of the file that stands there; None where none does. A link has none."""
        try:
            facts = os.lstat(path)
        except OSError:
            return None
        if not stat.S_ISREG(facts.st_mode):
            return None
        return cls(stat.S_IMODE(facts.st_mode) & 0o777, facts.st_uid, facts.st_gid, _extended(path))

    def give(self, path: bytes, old: TreeEntry | None, new: TreeEntry) -> None:
        """Gives them to a file that git wrote as `new`; where its x bit changes, with that.

        As far as the file system and one's rights allow. Raises `OSError` for the permissions.
        """
        facts, mode = os.lstat(path), self._mode(old, new)
        if not stat.S_ISREG(facts.st_mode):
            return
        if (facts.st_uid, facts.st_gid) != (self.owner, self.group):
            with suppress(PermissionError):  # another's file, or a group that one is not in
                os.chown(path, self.owner, self.group)
        if stat.S_IMODE(facts.st_mode) != mode:
            os.chmod(path, mode)  # noqa: PTH101  bytes
        for name, value in self.extended.items():
            with suppress(OSError):
                os.setxattr(path, name, value)

    def _mode(self, old: TreeEntry | None, new: TreeEntry) -> int:
        if old is None or old.mode == new.mode or new.mode not in (_FILE, _PROGRAM):
            return self.mode
        plain = self.mode & ~0o111
        return plain | (plain & 0o444) >> 2 if new.mode == _PROGRAM else plain


def _extended(path: bytes) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = os.listxattr(path)
        return {name: os.getxattr(path, name) for name in names if name.startswith(_CARRIED)}
    except OSError:
        return {}

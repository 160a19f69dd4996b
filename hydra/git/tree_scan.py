"""One look over a lane's tree before git sees it: what would hang git, or hide files from it.

git blocks for ever on a FIFO that is called .gitignore, and takes what it may not read for
deleted. So folders and control files without permission are opened for reading, and a control
file that is no file is taken away; everything else is left as the agent left it. Kinds come from
the directory entries themselves, without an lstat for each file (50,000 files: 30 ms).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from hydra import text

_CONTROL = frozenset((b".gitignore", b".gitattributes", b".gitmodules"))

_STORE = (b"HEAD", b"objects", b"refs")
"""What is in each gitdir."""

_LISTED = 250_000
"""Paths that are held, some 25 MB; git lists a larger tree better."""

_REFUSED = re.compile(rb"(?:^|/)(?:\.git|git~1)[ .]*(?:/|$)", re.IGNORECASE)


@dataclass(slots=True)
class Survey:
    """What was found, as paths from the tree's top: pipes and the like, folders and files that
    were opened, control files taken away, folders that stay closed."""

    files: list[bytes] | None = field(default_factory=list)
    """Every file and symlink, the worktree's own .git too; None where they are more than
    `_LISTED`, or a repository stands inside the tree."""
    special: list[bytes] = field(default_factory=list)
    opened: list[bytes] = field(default_factory=list)
    removed: list[bytes] = field(default_factory=list)
    closed: list[bytes] = field(default_factory=list)
    repositories: list[bytes] = field(default_factory=list)
    """Folders with a .git of their own, each ending in `/`."""
    stores: list[bytes] = field(default_factory=list)
    """Folders that look like what a .git is, of any other name, each ending in `/`."""
    is_users: bool = False
    """Whether the tree is the user's own, in which nothing is opened or taken away."""

    def hold(self, files: list[bytes]) -> None:
        """Adds one folder's files."""
        if self.files is not None:
            self.files += files
            if len(self.files) > _LISTED:
                self.files = None

    def notes(self) -> Iterator[str]:
        """One sentence for each kind of find."""
        if self.special:
            yield f"not in the patch, being no files: {first_paths(self.special)}"
        if self.opened:
            yield f"made readable to take the patch: {first_paths(self.opened)}"
        if self.removed:
            yield f"taken away, as git would hang on it: {first_paths(self.removed)}"


def survey(top: bytes, *, is_users: bool = False) -> Survey:
    """Walks the tree without following a symlink; `top` is absolute and a folder."""
    scan = Survey(is_users=is_users)
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        files: list[bytes] = []
        entries = _entries(top, folder, scan)
        if folder and {entry.name for entry in entries}.issuperset(_STORE):
            scan.stores.append(folder)
        for entry in entries:
            name = entry.name
            path = folder + name
            if entry.is_dir(follow_symlinks=False):
                if name != b".git":
                    waiting.append(path + b"/")
                elif folder and not is_users:
                    open_below(top, path, scan)
            elif entry.is_file(follow_symlinks=False):
                if name in _CONTROL or name == b".git":
                    open_file(top, path, scan)
                files.append(path)
            elif entry.is_symlink():
                files.append(path)
            else:
                _note_special(top, path, name, scan)
            if folder and name == b".git":
                scan.files = None
                scan.repositories.append(folder)
        scan.hold(files)
    return scan


def files_under(top: bytes, folder: bytes, scan: Survey) -> Iterator[bytes]:
    """Every file and symlink under `folder`, but for what belongs to a .git at any depth."""
    waiting = [folder.rstrip(b"/") + b"/"]
    while waiting:
        content = waiting.pop()
        for entry in _entries(top, content, scan):
            if entry.name == b".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(content + entry.name + b"/")
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                yield content + entry.name


def open_below(top: bytes, folder: bytes, scan: Survey) -> None:
    """Opens a folder, what leads to it from `top`, and all that lies in it; no link is followed.

    For a repository of an agent's: what git and Hydra could not read there would be lost.
    """
    parts = folder.split(b"/")
    open_folder(top, b"", scan)
    for number in range(1, len(parts) + 1):
        path = b"/".join(parts[:number])
        if os.path.islink(top + b"/" + path):  # noqa: PTH114
            return
        open_folder(top, path + b"/", scan)
    waiting = [folder + b"/"]
    while waiting:
        inner = waiting.pop()
        for entry in _entries(top, inner, scan):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(inner + entry.name + b"/")
            elif entry.is_file(follow_symlinks=False):
                open_file(top, inner + entry.name, scan)


def open_file(top: bytes, path: bytes, scan: Survey) -> None:
    """Gives the owner the right to read one regular file."""
    full = top + b"/" + path
    if not os.access(full, os.R_OK):
        try:
            if scan.is_users:
                raise PermissionError(full)
            mode = os.lstat(full).st_mode
            os.chmod(full, stat.S_IMODE(mode) | stat.S_IRUSR)  # noqa: PTH101
        except OSError:
            scan.closed.append(path)
        else:
            scan.opened.append(path)


def refused_name(path: bytes) -> bool:
    """Whether git itself takes no such path into a tree (.git, .GIT, git~1 ...)."""
    return _REFUSED.search(path) is not None


def shown(path: bytes) -> str:
    """A path for a sentence; bytes that are no UTF-8 as \\xNN."""
    return path.decode("utf-8", "backslashreplace")


def first_paths(paths: list[bytes]) -> str:
    """The first few paths, and how many more there are."""
    return text.join_names([shown(path) for path in paths], text.NAMED)


def _entries(top: bytes, folder: bytes, scan: Survey) -> list[os.DirEntry[bytes]]:
    open_folder(top, folder, scan)
    try:
        with os.scandir(top + b"/" + folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
    except OSError:
        scan.closed.append(folder)
        return []


def open_folder(top: bytes, folder: bytes, scan: Survey) -> None:
    """Gives the owner all rights to one folder."""
    full = top + b"/" + folder
    if not (scan.is_users or os.access(full, os.R_OK | os.X_OK)):
        with suppress(OSError):  # whoever reads it says so
            os.chmod(full, stat.S_IMODE(os.lstat(full).st_mode) | stat.S_IRWXU)  # noqa: PTH101
            scan.opened.append(folder)


def _note_special(top: bytes, path: bytes, name: bytes, scan: Survey) -> None:
    if name not in _CONTROL or scan.is_users:
        scan.special.append(path)
        return
    full = top + b"/" + path
    with _as_writer(full):
        try:
            _unlink(full)
        except OSError:
            scan.closed.append(path)
        else:
            scan.removed.append(path)


def _unlink(full: bytes) -> None:
    try:
        os.unlink(full)  # noqa: PTH108
    except PermissionError:
        os.chmod(os.path.dirname(full), stat.S_IRWXU)  # noqa: PTH101, PTH120
        os.unlink(full)  # noqa: PTH108


@contextmanager
def _as_writer(path: bytes) -> Iterator[None]:
    """Holds a FIFO open: a git that waits in open() goes on, and reads the end afterwards."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:  # a socket: nobody can wait on it
        yield
        return
    try:
        yield
    finally:
        os.close(descriptor)

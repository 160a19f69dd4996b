"""An agent's settings folder as a lane's own copy, and credentials on their way back.

A writable ~/.claude or ~/.codex is a way out of any confinement: hooks, MCP servers and notify
commands that an agent writes there run later, unconfined. So each lane writes to a copy, of which
only renewed tokens go back (renewal.py).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from msgspec.structs import asdict

from hydra.adapters.config_dirs import named_place
from hydra.adapters.contract import ConfigFolder, TokenFields
from hydra.containment import folder_below
from hydra.workspace import reports
from hydra.workspace.copies import copy_bounded
from hydra.workspace.renewal import Renewal, is_signed_out, renew
from hydra.workspace.trust import add_writable, withdraw_trust

_LIMIT = 1024 * 1024
"""Bytes of a credentials file; Claude's and Codex's are under 10 kB."""


class _Synced(NamedTuple):
    """A file's digests when the user's and the lane's last agreed: what has moved since is new."""

    own: str
    copy: str


class ConfigCopy:
    """The copy of one agent's settings folder in one lane."""

    def __init__(
        self, folder: ConfigFolder, *, home: Path, named: str | None, root: Path, below: str = ""
    ) -> None:
        """`named` is the value of the folder's own variable, if set. The copy lies `below` the
        `root`, which is the lane's but no link of its making."""
        place = root / below
        self.variable = folder.variable
        self.trust = folder.trust
        self.writable = folder.writable
        self.copy = place / Path(folder.default).name
        self.value = self.copy.parent if folder.parent else self.copy
        self.source = named_place(folder, named, home)
        self.notes: tuple[str, ...] = ()
        self._folder = folder
        self._home = home
        self._named = named is not None and named != ""
        self.files = SignInFiles(self.copy, root, self.source, {}, folder.renewals)

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """(copy, original place) for each original that is there to be laid over, or is looked for
        there whatever any variable says."""
        pairs = [(self.copy, self.source)]
        if not self._named:
            pairs += (
                (self.copy.parent / name, self._home / name) for name in self._folder.home_files
            )
        return tuple((copy, Path(os.path.realpath(own))) for copy, own in pairs if self._laid(own))

    def make(self) -> None:
        """Copies settings, credentials and the files beside the folder."""
        self.copy.mkdir(parents=True, mode=0o700, exist_ok=True)
        inside = (self._home, self.source)
        notes = copy_bounded(
            ((self.source / name, self.copy / name) for name in self._file_names()), inside
        )
        # With its variable set, an agent keeps in its folder what else lies beside it in HOME.
        top = self.source if self._named else self._home
        beside = [(top / name, name) for name in self._folder.home_files]
        for place in (self.copy, self.copy.parent):
            notes += copy_bounded(((own, place / name) for own, name in beside), inside)
        self.notes = tuple(dict.fromkeys(notes))
        self.files.begin(self._folder.credentials)

    def _file_names(self) -> Iterator[str]:
        yield from self._folder.credentials
        yield from self._folder.copied

    def _laid(self, own: Path) -> bool:
        return own.exists() or (own == self.source and not self.variable)


class SignInFiles:
    """The credentials files of one folder: the user's own in `source`, the lane's in `copy`."""

    def __init__(
        self,
        copy: Path,
        root: Path,
        source: Path,
        synced: dict[str, _Synced],
        renewals: tuple[TokenFields, ...],
    ) -> None:
        self.copy = copy
        self.root = root
        self.source = source
        self.synced = synced
        self.renewals = renewals
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._guard = threading.Lock()

    def begin(self, names: Sequence[str]) -> None:
        """From here on what differs is new: both are alike."""
        copied = ((name, self.fresh(name)) for name in names)
        digests = {name: _digest(data) for name, data in copied if data is not None}
        self.synced = {name: _Synced(digest, digest) for name, digest in digests.items()}
        self._look()

    def changed(self) -> bool:
        """Whether a file of the copy is another than at the last look."""
        return any(_mark(self.copy / name) != mark for name, mark in self._seen.items())

    def fresh(self, name: str) -> bytes | None:
        """The lane's."""
        return _read(self.copy / name, below=self.root)

    def own(self, name: str) -> bytes | None:
        """The user's."""
        return _read(self.source / name)

    def give_back(self, *, refused: bool) -> list[Renewal]:
        """Renewed tokens go into the user's own files, if those are still what was copied: of each
        what its fields allow.

        `refused` is as in `renew`. A name the user has no file for is never made.
        """
        with self._guard, _locked(self.source):
            self._look()
            return self._give_back(refused=refused)

    def _give_back(self, *, refused: bool) -> list[Renewal]:
        notices = []
        for name, synced in self.synced.items():
            fresh, own = self.fresh(name), self.own(name)
            if fresh is None or own is None or _digest(fresh) == synced.copy:
                continue
            if _digest(own) == synced.own:
                notices += self._renew(name, own, fresh, refused=refused)
        return notices

    def _renew(self, name: str, own: bytes, fresh: bytes, *, refused: bool) -> list[Renewal]:
        renewal = renew(self._fields(name), own, fresh, now=time.time(), refused=refused)
        if renewal.data is not None:
            # A link into the user's dotfiles stays a link.
            target = Path(os.path.realpath(self.source / name))
            with folder_below(target.parent) as folder:
                if not _replace(folder, target.name, renewal.data, over=own):
                    return []
            self.synced[name] = _Synced(_digest(renewal.data), _digest(fresh))
        return _notices(self.source / name, renewal)

    def take_in(self) -> None:
        """The user's own credentials, if they have moved and this lane has no newer ones.

        A lane that was refused, as another had refreshed before it, may have signed itself out.
        """
        with self._guard, _locked(self.source):
            self._take_in()
            self._look()

    def _take_in(self) -> None:
        for name, synced in self.synced.items():
            fresh, own = self.fresh(name), self.own(name)
            if fresh is None or own is None or _digest(own) == synced.own:
                continue
            if _digest(fresh) == synced.copy or is_signed_out(self._fields(name), own, fresh):
                below = (self.copy / name).parent.relative_to(self.root)
                with folder_below(self.root, below.parts) as folder:
                    if _replace(folder, PurePath(name).name, own, over=fresh):
                        self.synced[name] = _Synced(_digest(own), _digest(own))

    def _look(self) -> None:
        self._seen = {name: _mark(self.copy / name) for name in self.synced}

    def record(self) -> dict[str, object]:
        """Itself as JSON; `read` is its inverse."""
        return {
            "copy": str(self.copy),
            "root": str(self.root),
            "source": str(self.source),
            "synced": self.synced,
            "renewals": [asdict(fields) for fields in self.renewals],
        }

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> SignInFiles:
        """Raises `KeyError` and `TypeError` for what is none."""
        return cls(
            Path(record["copy"]),
            Path(record["root"]),
            Path(record["source"]),
            {name: _Synced(*digests) for name, digests in record["synced"].items()},
            tuple(_fields_read(fields) for fields in record["renewals"]),
        )

    def _fields(self, name: str) -> TokenFields | None:
        return next((fields for fields in self.renewals if fields.file == name), None)


def _fields_read(record: Mapping[str, Any]) -> TokenFields:
    lists = {name: tuple(value) for name, value in record.items() if isinstance(value, list)}
    return TokenFields(**{**record, **lists})


def _notices(file: Path, renewal: Renewal) -> list[Renewal]:
    if renewal.data is None and not renewal.refusal:
        return []
    # A file of variables is no sign-in that a service could have renewed.
    consumed = renewal.consumed and file.name != ".env"
    return [renewal._replace(file=file, data=None, consumed=consumed)]


def _read(path: Path, *, below: Path | None = None) -> bytes | None:
    """A credentials file's bytes; None for anything but a small regular file, or one that is
    written meanwhile.

    Only the user's own, and the folder it lies in, may be links (into dotfiles): an agent's could
    name any file, and so put another program's keys into the user's sign-in. An agent's lies
    `below` a folder, and no step from there may be a link.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if below is None else os.O_NOFOLLOW)
    top = below or Path(os.path.realpath(path.parent))
    parts = path.parent.relative_to(below).parts if below else ()
    try:
        with folder_below(top, parts) as folder:
            descriptor = os.open(path.name, flags, dir_fd=folder)
    except OSError:
        return None
    try:
        return _steady(descriptor)
    finally:
        os.close(descriptor)


def _steady(descriptor: int) -> bytes | None:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode) or before.st_size > _LIMIT:
        return None
    data = os.read(descriptor, _LIMIT + 1)
    after = os.fstat(descriptor)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return data if same and len(data) == after.st_size else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _mark(path: Path) -> tuple[int, int, int]:
    try:
        result = path.lstat()
    except OSError:
        return (0, 0, 0)
    return (result.st_ino, result.st_size, result.st_mtime_ns)


def _replace(folder: int, name: str, data: bytes, *, over: bytes | None = None) -> bool:
    """Writes a file whole or not at all, under its own mode and owner. With `over` only where that
    is still what it holds: False where it is not."""
    fresh = f".hydra-{secrets.token_hex(8)}"
    own = os.stat(name, dir_fd=folder, follow_symlinks=False)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, stat.S_IMODE(own.st_mode))
            if (own.st_uid, own.st_gid) != (os.getuid(), os.getgid()):
                os.fchown(descriptor, own.st_uid, own.st_gid)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        # The last moment: who signs in meanwhile keeps what that gave.
        if over is not None and _content(folder, name) != over:
            os.unlink(fresh, dir_fd=folder)
            return False
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh, dir_fd=folder)
        raise
    os.fsync(folder)
    return True


def _content(folder: int, name: str) -> bytes:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
        return file.read(_LIMIT + 1)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One Hydra at a time, of any process: a lock on the folder itself leaves no file behind."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield  # no folder, no credentials: there is nothing to hold apart
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            os.close(descriptor)


# ---- All the settings folders of one agent, as one lane's copies: one for most, several for some.

Named = tuple[ConfigFolder, str | None]
"""A folder, and the value of its variable in the user's environment, if that is set."""


class ConfigCopies:
    """The copies of one agent's folders, the first being its configuration."""

    def __init__(self, folders: Sequence[Named], *, home: Path, place: Path) -> None:
        """`home` is the user's; the copies lie in `place`, the lane's own."""
        self.home = home
        self.copies = [
            ConfigCopy(folder, home=home, named=named, root=place, below=_below(number))
            for number, (folder, named) in enumerate(folders)
        ]
        self.withheld = False
        """Whether a renewal was refused of which the user's own may be consumed."""
        self._returns: list[Renewal] = []
        self._refusals: list[Renewal] = []

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """(copy, original place) for each, in the order in which they are laid: what lies deeper
        comes later. Of two for one place the first is laid last, and holds: a folder that Hydra
        knows gives its sign-in back, one that the user names does not."""
        laid = [pair for copy in reversed(self.copies) for pair in copy.binds]
        return tuple(sorted(laid, key=lambda pair: len(pair[1].parts)))

    @property
    def variables(self) -> dict[str, str]:
        """Every folder's variable, and its copy as its value."""
        return {copy.variable: str(copy.value) for copy in self.copies if copy.variable}

    def missing(self) -> dict[str, str]:
        """The same for those alone whose original is not there: nothing can be laid over it."""
        moved = [copy for copy in self.copies if copy.variable]
        return {copy.variable: str(copy.value) for copy in moved if not copy.source.exists()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in sentences."""
        return tuple(dict.fromkeys(note for copy in self.copies for note in copy.notes))

    def make(self, place: Path | None, git_dir: Path | None = None) -> None:
        """Copies what is wanted of each, but for the trust in `place`, at which its lane stands;
        `git_dir` is what its agent's own sandbox is to let it write besides."""
        for copy in self.copies:
            copy.make()
            if place is not None:
                withdraw_trust((copy.copy, copy.copy.parent), copy.trust, place)
            if git_dir is not None and copy.writable is not None:
                add_writable(copy.copy, copy.writable, git_dir)

    def changed(self) -> bool:
        """Whether a credentials file is another than at the last look."""
        return any(copy.files.changed() for copy in self.copies)

    def give_back(self, *, refused: bool) -> None:
        """Renewed tokens to the user's own folders."""
        self._refusals = []
        for copy in self.copies:
            for notice in copy.files.give_back(refused=refused):
                (self._returns if notice.fields else self._refusals).append(notice)
        self.withheld = any(notice.consumed for notice in self._refusals)

    def sign_in_notices(self, *, last: bool) -> list[Renewal]:
        """What went back since then, each once; at `last` also what is refused."""
        notices, self._returns = self._returns, []
        return [*notices, *(self._refusals if last else ())]

    def take_in(self) -> None:
        """The user's credentials, moved since."""
        for copy in self.copies:
            copy.files.take_in()

    def lent(self) -> list[dict[str, object]]:
        """What `give_back_all` needs: folders, fields, digests of what was copied in."""
        return [copy.files.record() for copy in self.copies]

    def side_file(self, pattern: str) -> bytes:
        """The newest file that fits, of the first copy that has one; b"" where none has."""
        contents = (reports.newest(copy.copy, pattern) for copy in self.copies)
        return next(filter(None, contents), b"")


def give_back_all(lent: object, *, refused: bool) -> list[Renewal]:
    """As `ConfigCopies.give_back`, for a lane whose Hydra was killed, by what `lent()` gave. Raises
    `OSError`, and `KeyError` and `TypeError` for what is none."""
    records = lent if isinstance(lent, list) else []
    files = map(SignInFiles.read, records)
    return [notice for own in files for notice in own.give_back(refused=refused)]


def _below(number: int) -> str:
    # Two folders of one agent may have the same name: .config/opencode, .local/share/opencode.
    return f"more-{number}" if number else ""

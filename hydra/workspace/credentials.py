"""An agent's settings folder as a lane's own copy, and credentials on their way back.

A writable ~/.claude or ~/.codex is a way out of any confinement: hooks, MCP servers and notify
commands that an agent writes there run later, unconfined. So each lane writes to a copy, of which
only a refreshed sign-in goes back.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from hydra.adapters.contract import ConfigFolder
from hydra.adapters.folders import named_place
from hydra.workspace.copying import copy_bounded

_LIMIT = 1024 * 1024
"""Bytes of a credentials file; Claude's and Codex's are under 10 kB."""

_TOKEN = re.compile("token|key|secret", re.IGNORECASE)
"""Names of what makes a sign-in: accessToken, refreshToken (Claude 2.1.330), access_token,
refresh_token, id_token, OPENAI_API_KEY (Codex 0.169.0)."""


class ConfigCopy:
    """The copy of one agent's settings folder in one lane."""

    def __init__(self, folder: ConfigFolder, *, home: Path, named: str | None, place: Path) -> None:
        """`named` is the value of the folder's own variable, if set; the copy lies in `place`."""
        self.variable = folder.variable
        self.copy = place / Path(folder.default).name
        self.value = self.copy.parent if folder.parent else self.copy
        self.source = named_place(folder, named, home)
        self.notes: tuple[str, ...] = ()
        self._folder = folder
        self._home = home
        self._named = named is not None and named != ""
        self._given: dict[str, str] = {}
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._guard = threading.Lock()

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """(copy, original place) for each original that is there to be laid over, or is looked for
        there whatever any variable says."""
        pairs = [(self.copy, self.source)]
        if not self._named:
            pairs += ((self.copy.parent / name, self._home / name) for name in self._folder.beside)
        return tuple((copy, Path(os.path.realpath(own))) for copy, own in pairs if self._laid(own))

    def make(self) -> None:
        """Copies settings, credentials and the files beside the folder."""
        self.copy.mkdir(parents=True, mode=0o700, exist_ok=True)
        inside = (self._home, self.source)
        notes = copy_bounded(
            ((self.source / name, self.copy / name) for name in self._wanted()), inside
        )
        # With its variable set, an agent keeps in its folder what else lies beside it in HOME.
        beside = [(self._beside(name), name) for name in self._folder.beside]
        for place in (self.copy, self.copy.parent):
            notes += copy_bounded(((own, place / name) for own, name in beside), inside)
        self.notes = tuple(dict.fromkeys(notes))
        for name in self._folder.credentials:
            held = _read(self.copy / name)
            if held is not None:
                self._given[name] = _digest(held)
        self._look()

    def changed(self) -> bool:
        """Whether a credentials file of the copy is another than at the last look."""
        return any(_mark(self.copy / name) != mark for name, mark in self._seen.items())

    def give_back(self) -> None:
        """Refreshed credentials replace the user's own, if those are still what was copied.

        Only a whole sign-in goes: what was JSON must be JSON with every token that was there, as
        an agent may be killed while it writes, and a CLI that is refused signs itself out. A name
        the user has no file for is never made.
        """
        with self._guard, _locked(self.source):
            self._look()
            _give(self.copy, self.source, self._given)

    def take_in(self) -> None:
        """The user's own credentials, if they have moved and this lane has no newer ones.

        A lane that was refused, as another had refreshed before it, may have signed itself out.
        """
        with self._guard, _locked(self.source):
            for name, given in self._given.items():
                fresh = _read(self.copy / name)
                own = _read(self.source / name, follow=True)
                if fresh is None or own is None or _digest(own) == given:
                    continue
                if _digest(fresh) == given or _signed_out(fresh, own):
                    _replace(self.copy / name, own)
                    self._given[name] = _digest(own)
            self._look()

    def lent(self) -> dict[str, object]:
        """What `give_back_left` needs, as JSON: folders, and a digest of each file copied in."""
        return {"copy": str(self.copy), "source": str(self.source), "given": dict(self._given)}

    def _wanted(self) -> Iterator[str]:
        yield from self._folder.credentials
        yield from self._folder.copied

    def _laid(self, own: Path) -> bool:
        return own.exists() or (own == self.source and not self.variable)

    def _beside(self, name: str) -> Path:
        return self.source / name if self._named else self._home / name

    def _look(self) -> None:
        self._seen = {name: _mark(self.copy / name) for name in self._given}


def give_back_left(lent: Mapping[str, object]) -> None:
    """As `ConfigCopy.give_back`, for a lane whose Hydra was killed; `lent` is its `lent()`."""
    given = lent.get("given")
    if not isinstance(given, dict):
        return
    source = Path(str(lent["source"]))
    with _locked(source):
        _give(Path(str(lent["copy"])), source, given)


def _give(copy: Path, source: Path, given: dict[str, str]) -> None:
    for name, digest in given.items():
        fresh = _read(copy / name)
        own = _read(source / name, follow=True)
        if fresh is None or own is None or _digest(fresh) == digest:
            continue
        if _digest(own) == digest and _sound(fresh, own):
            # A link into the user's dotfiles stays a link.
            _replace(Path(os.path.realpath(source / name)), fresh)
            given[name] = _digest(fresh)


def _read(path: Path, *, follow: bool = False) -> bytes | None:
    """A credentials file's bytes; None for anything but a small regular file.

    Only the user's own, and the folder it lies in, may be links (into dotfiles): an agent's could
    name any file, and so put another program's keys into the user's sign-in.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        with _entered(path.parent, follow=follow) as folder:
            descriptor = os.open(path.name, flags, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LIMIT:
            return None
        return os.read(descriptor, _LIMIT)
    finally:
        os.close(descriptor)


@contextmanager
def _entered(folder: Path, *, follow: bool = False) -> Iterator[int]:
    """The folder's descriptor: what is done by it cannot be led elsewhere meanwhile."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(folder, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _mark(path: Path) -> tuple[int, int, int]:
    try:
        found = path.lstat()
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _sound(fresh: bytes, own: bytes) -> bool:
    held = _object(own)
    if held is None:
        return bool(fresh.strip())
    found = _object(fresh)
    return found is not None and _keeps_tokens(held, found)


def _signed_out(fresh: bytes, own: bytes) -> bool:
    """Whole, and without a token that the user's has. What is torn may be a refresh under way."""
    held, found = _object(own), _object(fresh)
    return held is not None and found is not None and not _keeps_tokens(held, found)


def _keeps_tokens(held: Mapping[str, object], found: Mapping[str, object]) -> bool:
    return all(_keeps(name, value, found.get(name)) for name, value in held.items())


def _keeps(name: str, held: object, found: object) -> bool:
    if isinstance(held, dict):
        return _keeps_tokens(held, found if isinstance(found, dict) else {})
    if held and isinstance(held, str) and _TOKEN.search(name):
        return bool(found) and isinstance(found, str)
    return True


def _object(data: bytes) -> dict[str, object] | None:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _replace(target: Path, data: bytes) -> None:
    """Writes a file whole or not at all, under its own mode and owner; its folder is no link."""
    fresh = f".hydra-{secrets.token_hex(8)}"
    with _entered(target.parent) as folder:
        own = os.stat(target.name, dir_fd=folder, follow_symlinks=False)
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
            os.rename(fresh, target.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
            raise
        os.fsync(folder)


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

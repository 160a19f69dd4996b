"""What is covered inside of what is shown: files with a telling name, and what others may not read.

A belt, not the wall: the wall is that nothing is shown which nothing asked for.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hydra.process.sandbox.lookups import entries_of, is_folder, programs_in, status_of
from hydra.process.sandbox.tables import ON_PATH
from hydra.process.sandbox.view import ShownPlace

_TELLING = re.compile(
    r"^\.env(\..*)?$|^\.npmrc$|^\.pypirc$|^\.netrc$|^_netrc$|^\.git-credentials$|^\.htpasswd$"
    r"|^(credentials|secrets?|tokens?)(\.(json|toml|ya?ml|ini|txt|cfg|db|env))?$|^pip\.conf$"
    r"|^auth\.(json|toml)$"
    r"|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|\.(pem|p12|pfx|kdbx|ppk|jks|keystore)$|\.sock(et)?$",
    re.I,
)
_PUBLIC = re.compile(r"(cacert|ca-bundle|ca-cert|roots?|chain|pub(lic)?|test)[^/]*\.pem$", re.I)

_PACKAGES = frozenset(
    (
        *("node_modules", "site-packages", "dist-packages", "toolchains", "registry", "checkouts"),
        *("repository", "mod", ".git", "versions", "store", "installs", "python"),
    )
)
"""Folders of published packages: what they hold has been public."""

_OF_INSTALLATIONS = frozenset(
    (
        *("etc/npmrc", "pip.conf", ".condarc", "condarc", "conf/settings.xml"),
        *("pipx_metadata.json", "uv-receipt.toml"),
    )
)
"""Settings of a whole installation, by its tool's own documentation: npm's and pip's global ones,
conda's, Maven's; what pipx and uv were called with. Also looked for among published packages."""

_HOLDERS = frozenset(name.rpartition("/")[0] for name in _OF_INSTALLATIONS)
_INSTALLED = 2
"""Levels down in which an installation is looked for."""

_XML_KEY = re.compile(rb"<(password|passphrase|privateKey)>", re.I)
_XML_COMMENT = re.compile(rb"<!--.*?-->", re.S)

Masks = Callable[[], Iterable[Path]]
"""Gives what `hidden_in_system` does, which may be under way already."""

_LEVELS = 3
_ENTRIES = 20_000

_PRIVATE_FOLDERS = ((Path("/etc"), 8), (Path("/opt"), 5), (Path("/usr/local/etc"), 2))
"""Of the system's folders those in which administrators keep keys, with how deep to look."""


def telling_files(shown: ShownPlace) -> Iterator[Path]:
    """Files whose name tells of a key, three levels down in a shown folder; settings of whole
    installations; of a folder that PATH names those that are no programs."""
    if not is_folder(shown.path):
        return
    if shown.reason == ON_PATH:
        yield from _bystanders(shown.path)
    for folder, entries in _walk(shown.path):
        for entry in entries:
            if _is_setting(folder, entry) or (not folder.public and _is_telling_file(entry)):
                yield Path(entry.path)


def _is_telling_file(entry: os.DirEntry[str]) -> bool:
    return is_telling(entry.name) and not entry.is_dir(follow_symlinks=False)


def _bystanders(folder: Path) -> Iterator[Path]:
    """Files in a PATH folder that are no programs: PATH asks for programs."""
    programs = frozenset(programs_in(folder))
    files = (entry for entry in entries_of(folder) if entry.is_file(follow_symlinks=False))
    for path in (Path(entry.path) for entry in files):
        if path not in programs and not _PUBLIC.search(path.name):
            yield path


def is_telling(name: str) -> bool:
    """Whether a file of that name holds a key, by the look of it."""
    return bool(_TELLING.search(name) and not _PUBLIC.search(name))


class _Folder(NamedTuple):
    """A folder below a shown one. Of a `public` one only settings of installations are looked at:
    it holds published packages, or lies behind a link."""

    path: str
    name: str
    level: int = 0
    public: bool = False


def _is_setting(folder: _Folder, entry: os.DirEntry[str]) -> bool:
    named = entry.name in _OF_INSTALLATIONS and folder.level <= _INSTALLED
    if not (named or f"{folder.name}/{entry.name}" in _OF_INSTALLATIONS):
        return False
    return _has_key(entry.path) if entry.name.endswith(".xml") else os.access(entry.path, os.F_OK)


def _has_key(settings: str) -> bool:
    """Whether XML has one beside its comments: Maven comes with such a file, and needs it."""
    try:
        text = Path(settings).read_bytes()
    except OSError:
        return os.access(settings, os.F_OK)
    return bool(_XML_KEY.search(_XML_COMMENT.sub(b"", text)))


def _walk(top: Path) -> Iterator[tuple[_Folder, list[os.DirEntry[str]]]]:
    """Each folder once, with what is in it."""
    todo, seen = [_Folder(str(top), top.name)], 0
    while todo:
        folder = todo.pop()
        if seen >= _ENTRIES:  # enough; what glances at the first two levels costs little
            folder = folder._replace(public=True)
        if folder.public and not _may_be_installed(folder):
            continue
        entries = entries_of(folder.path)
        seen += 0 if folder.public else len(entries)
        yield folder, entries
        if folder.level < _LEVELS:
            todo += (_below(folder, entry) for entry in entries if _leads_on(folder, entry))


def _may_be_installed(folder: _Folder) -> bool:
    return folder.level <= _INSTALLED or folder.name in _HOLDERS


def _leads_on(folder: _Folder, entry: os.DirEntry[str]) -> bool:
    # A link is followed only where an installation may be: what it leads to is shown for itself.
    if entry.is_symlink():  # into a folder that this account may not enter, or in a circle
        return folder.level < _INSTALLED and is_folder(Path(entry.path))
    return entry.is_dir(follow_symlinks=False)


def _below(folder: _Folder, entry: os.DirEntry[str]) -> _Folder:
    public = folder.public or entry.name in _PACKAGES or entry.is_symlink()
    return _Folder(entry.path, entry.name, folder.level + 1, public)


def hidden_in_system() -> tuple[Path, ...]:
    """What this account may read and others may not, in the system's own folders.

    For root these are password files and private keys: root without any capability still owns
    them.
    """
    account = (os.geteuid(), frozenset((os.getegid(), *os.getgroups())))
    folders = (_private(str(top), levels, account) for top, levels in _PRIVATE_FOLDERS)
    return tuple(path for folder in folders for path in folder)


def _private(top: str, levels: int, account: tuple[int, frozenset[int]]) -> Iterator[Path]:
    todo, seen = deque([(top, 1)]), 0  # what lies high first: it is where keys lie
    while todo and seen < _ENTRIES:
        folder, level = todo.popleft()
        for entry in entries_of(folder):
            seen += 1
            if entry.is_symlink() or (status := status_of(entry)) is None:
                continue
            if _only_for(status, account):
                yield from [Path(entry.path)] if _holds_something(status) else []
            elif stat.S_ISDIR(status.st_mode) and level < levels:
                todo.append((entry.path, level + 1))


def _holds_something(status: os.stat_result) -> bool:
    """Not an empty lock: every cover is a mount, and costs a start a part of a millisecond."""
    return status.st_size > 0 or not stat.S_ISREG(status.st_mode)


def _only_for(status: os.stat_result, account: tuple[int, frozenset[int]]) -> bool:
    """Whether the account may read it and others may not."""
    if status.st_mode & stat.S_IROTH:
        return False
    uid, groups = account
    owner = status.st_uid == uid and status.st_mode & stat.S_IRUSR
    return bool(owner or (status.st_gid in groups and status.st_mode & stat.S_IRGRP))

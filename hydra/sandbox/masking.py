"""What is covered inside of what is shown: files with a telling name, and what others may not read.

A belt, not the wall: the wall is that nothing is shown which nothing asked for.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from hydra.sandbox.looking import entries_of, is_folder
from hydra.sandbox.tables import ON_PATH
from hydra.sandbox.view import Shown

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

_LEVELS = 3
_ENTRIES = 20_000

_PRIVATE_FOLDERS = ((Path("/etc"), 8), (Path("/opt"), 2), (Path("/usr/local/etc"), 2))
"""Of the system's folders those in which administrators keep keys, with how deep to look."""


def telling_files(shown: Shown) -> Iterator[Path]:
    """Files whose name tells of a key, three levels down in a shown folder; the `.git` of a folder
    that PATH names, whose configuration may hold one."""
    if not is_folder(shown.path):
        return
    if shown.reason == ON_PATH and is_folder(shown.path / ".git"):
        yield shown.path / ".git"
    for entry in _walk(shown.path):
        if _TELLING.search(entry.name) and not _PUBLIC.search(entry.name):
            yield Path(entry.path)


def _walk(top: Path) -> Iterator[os.DirEntry[str]]:
    """Everything but folders."""
    todo, seen = [(str(top), 0)], 0
    while todo and seen < _ENTRIES:
        folder, level = todo.pop()
        for entry in entries_of(folder):
            seen += 1
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif level < _LEVELS and entry.name not in _PACKAGES:
                todo.append((entry.path, level + 1))


def hidden_in_system() -> Iterator[Path]:
    """What this account may read and others may not, in the system's own folders.

    For root these are password files and private keys: root without any capability still owns
    them.
    """
    account = (os.geteuid(), frozenset((os.getegid(), *os.getgroups())))
    for top, levels in _PRIVATE_FOLDERS:
        yield from _private(str(top), levels, account)


def _private(folder: str, levels: int, account: tuple[int, frozenset[int]]) -> Iterator[Path]:
    for entry in entries_of(folder):
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISLNK(found.st_mode):
            continue
        if _only_for(found, account):
            yield Path(entry.path)
        elif stat.S_ISDIR(found.st_mode) and levels > 1:
            yield from _private(entry.path, levels - 1, account)


def _only_for(found: os.stat_result, account: tuple[int, frozenset[int]]) -> bool:
    """Whether the account may read it and others may not."""
    uid, groups = account
    if found.st_mode & stat.S_IROTH:
        return False
    owner = found.st_uid == uid and found.st_mode & stat.S_IRUSR
    return bool(owner or (found.st_gid in groups and found.st_mode & stat.S_IRGRP))

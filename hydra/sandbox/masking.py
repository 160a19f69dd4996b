"""What is covered inside of what is shown: files with a telling name, and what others may not read.

A belt, not the wall: the wall is that nothing is shown which nothing asked for.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from hydra.sandbox.code import code_in, files_in
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

_OF_INSTALLATIONS = (
    *("etc/npmrc", "pip.conf", ".condarc", "condarc", "conf/settings.xml"),
    *("pipx_metadata.json", "uv-receipt.toml"),
)
"""Settings of a whole installation, by its tool's own documentation: npm's and pip's global ones,
conda's, Maven's; what pipx and uv were called with. Also looked for among published packages."""

_XML_KEY = re.compile(rb"<(password|passphrase|privateKey)>", re.I)
_XML_COMMENT = re.compile(rb"<!--.*?-->", re.S)

_LEVELS = 3
_ENTRIES = 20_000

_PRIVATE_FOLDERS = ((Path("/etc"), 8), (Path("/opt"), 5), (Path("/usr/local/etc"), 2))
"""Of the system's folders those in which administrators keep keys, with how deep to look."""


def telling_files(shown: Shown) -> Iterator[Path]:
    """Files whose name tells of a key, three levels down in a shown folder; of a folder that PATH
    names those that are no code."""
    if not is_folder(shown.path):
        return
    if shown.reason == ON_PATH:
        yield from _bystanders(shown.path)
    yield from _settings_of_installations(shown.path)
    for entry in _walk(shown.path):
        if is_telling(entry.name):
            yield Path(entry.path)


def _bystanders(folder: Path) -> Iterator[Path]:
    """Files in a PATH folder that are neither programs nor code: PATH asks for programs."""
    code = frozenset(code_in(folder))
    for path in (Path(entry.path) for entry in files_in(folder)):
        if path not in code and not _PUBLIC.search(path.name):
            yield path


def is_telling(name: str) -> bool:
    """Whether a file of that name holds a key, by the look of it."""
    return bool(_TELLING.search(name) and not _PUBLIC.search(name))


def _settings_of_installations(top: Path) -> Iterator[Path]:
    for name in _OF_INSTALLATIONS:
        for above in ("", "*/", "*/*/"):
            for place in top.glob(f"{above}{name}"):
                if place.suffix != ".xml" or _has_key(place):
                    yield place


def _has_key(settings: Path) -> bool:
    """Whether XML has one beside its comments: Maven comes with such a file, and needs it."""
    try:
        return bool(_XML_KEY.search(_XML_COMMENT.sub(b"", settings.read_bytes())))
    except OSError:
        return True


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


def _private(top: str, levels: int, account: tuple[int, frozenset[int]]) -> Iterator[Path]:
    todo, seen = deque([(top, 1)]), 0  # what lies high first: it is where keys lie
    while todo and seen < _ENTRIES:
        folder, level = todo.popleft()
        for entry in entries_of(folder):
            seen += 1
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISLNK(status.st_mode):
                continue
            if _only_for(status, account):
                yield Path(entry.path)
            elif stat.S_ISDIR(status.st_mode) and level < levels:
                todo.append((entry.path, level + 1))


def _only_for(found: os.stat_result, account: tuple[int, frozenset[int]]) -> bool:
    """Whether the account may read it and others may not."""
    uid, groups = account
    if found.st_mode & stat.S_IROTH:
        return False
    owner = found.st_uid == uid and found.st_mode & stat.S_IRUSR
    return bool(owner or (found.st_gid in groups and found.st_mode & stat.S_IRGRP))

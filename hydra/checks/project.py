"""One folder of a repository, read as little as a guess needs."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

_MANAGERS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("pnpm-workspace.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_LARGEST = 1024 * 1024
_TEST_FILES = 20
"""As many as are read: which tool they are written for is the same in all of them."""


class Project:
    """`folder` of the repository at `top`. What is a link is not read: it is a stranger's."""

    def __init__(self, folder: Path, top: Path) -> None:
        self.folder = folder
        self.above = [folder, *(parent for parent in folder.parents if parent.is_relative_to(top))]
        """The folder itself, and each up to the top: where a workspace has its lockfile."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The files that lie in it."""
        return files_in(self.folder)

    @cached_property
    def folders(self) -> list[str]:
        """The folders that lie in it, in order."""
        return folders_in(self.folder)

    def text(self, name: str) -> str:
        """A file's beginning, "" where it is none."""
        return read(self.folder / name)

    def mentions(self, term: str, names: frozenset[str]) -> bool:
        """Whether any of these files has the word."""
        return any(term in self.text(name) for name in sorted(names & self.names))

    def has(self, name: str) -> bool:
        """Whether it, or a folder above it, holds a file of that name."""
        return any((folder / name).is_file() for folder in self.above)

    @cached_property
    def package(self) -> dict[str, Any]:
        """Its package.json, {} where that is none."""
        with suppress(ValueError, RecursionError):
            document = json.loads(self.text("package.json"))
            return document if isinstance(document, dict) else {}
        return {}

    @cached_property
    def manager(self) -> str:
        """What runs its package.json's scripts."""
        named = str(self.package.get("packageManager", "")).partition("@")[0]
        if named in dict(_MANAGERS).values():
            return named
        return next((manager for lock, manager in _MANAGERS if self.has(lock)), "npm")

    @property
    def is_workspace(self) -> bool:
        """Whether packages of the repository lie below it."""
        return bool(self.package.get("workspaces")) or "pnpm-workspace.yaml" in self.names

    def table(self, key: str) -> dict[str, str]:
        """One of package.json's tables of words."""
        document = self.package.get(key)
        return {str(a): str(b) for a, b in document.items()} if isinstance(document, dict) else {}

    def tests(self, folder: str, pattern: str) -> list[Path]:
        """Some of the files there whose names fit."""
        place = self.folder / folder
        fitting = sorted(name for name in files_in(place) if re.fullmatch(pattern, name))
        return [place / name for name in fitting[:_TEST_FILES]]


def files_in(folder: Path) -> frozenset[str]:
    """The plain files in it; none where it is no folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        return frozenset(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    return frozenset()


def folders_in(folder: Path) -> list[str]:
    """The folders in it, in order, without links and hidden ones."""
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return sorted(name for name in names if not name.startswith("."))
    return []


def read(path: Path) -> str:
    """A file's beginning as text, "" where it is none or a link: the repository is a stranger's."""
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""

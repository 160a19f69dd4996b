"""Folders in which a patch adds all that it changes, as a build leaves them: coverage, .next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from hydra.analysis.folder_names import OUTPUTS

_OUTPUTS = OUTPUTS | frozenset(
    [
        *("coverage", "lcov-report", ".cache", "cache", ".vite", "build", "out", "target", "tmp"),
        *(".tox", ".nox", ".venv", "node_modules"),
    ]
)
_FEW, _MANY = 10, 100
"""Files that a folder has at least which is called as a build calls them, and any other."""


def made_folders(files: Mapping[str, bool]) -> dict[str, int]:
    """By folder (`.next/`, `packages/web/coverage/`), how many files a patch adds in it. `files`
    has each path of the patch, and whether it is new."""
    counts: Counter[str] = Counter()
    others: set[str] = set()
    for path, is_new in files.items():
        counts.update(_folders(path) if is_new else ())
        others.update(() if is_new else _folders(path))
    folder_counts: Counter[str] = Counter()
    for path, is_new in files.items():
        whole = [folder for folder in _folders(path) if is_new and folder not in others]
        outputs = (at for at in whole if _name(at) in _OUTPUTS and counts[at] >= _FEW)
        many = (at for at in whole if counts[at] >= _MANY)
        folder_counts.update([folder] if (folder := next(outputs, next(many, ""))) else ())
    return dict(folder_counts)


def folder_of(path: str, folders: Mapping[str, int]) -> str:
    """The one of these folders in which a file lies; "" for one by hand."""
    return next((folder for folder in _folders(path) if folder in folders), "")


def _folders(path: str) -> Iterator[str]:
    """The widest first."""
    return (path[: at + 1] for at, letter in enumerate(path) if letter == "/")


def _name(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2].lower()

"""Folders in which a patch adds all that it changes, as a build leaves them: coverage, .next."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import inf

from msgspec import Struct

PACKAGES = frozenset(
    (
        *(".venv", "venv", "virtualenv", ".tox", ".nox", ".eggs", "__pypackages__"),
        *("node_modules", "bower_components", "elm-stuff"),
    )
)
"""What package managers fill with what others wrote."""

CACHES = frozenset(
    (".hypothesis", ".mypy_cache", ".nyc_output", ".pytest_cache", ".ruff_cache", "__pycache__")
)
"""What tools of tests leave wherever they run."""

OUTPUTS = CACHES | frozenset(
    (
        *("dist", "htmlcov", ".gradle", ".dart_tool"),
        *(".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".angular"),
    )
)
"""What tools and builds leave."""


_OUTPUTS = OUTPUTS | frozenset(
    [
        *("coverage", "lcov-report", ".cache", "cache", ".vite", "build", "out", "target", "tmp"),
        *(".tox", ".nox", ".venv", "node_modules"),
    ]
)
_FEW, _MANY = 10, 100
"""Files that a folder has at least which is called as a build calls them, and any other. A cache of
a tool of tests or of Python's needs one."""

_WRITTEN = frozenset(
    [
        *(".md", ".markdown", ".rst", ".adoc", ".org", ".tex", ".ipynb", ".feature", ".proto"),
        *(".sh", ".bash", ".zsh", ".ps1", ".bat", ".go", ".rb", ".tsx", ".jsx", ".vue", ".svelte"),
        *(".scss", ".sass", ".less", ".tf"),
    ]
)
"""Ends of files that people write and no build leaves."""

_BROUGHT = frozenset(["node_modules", "site-packages", "vendor", "bower_components"])
"""Folders whose files somebody else has written; so are those of a hidden one."""


class MadeFolder(Struct, frozen=True):
    """A folder that a patch adds and a build may have left (`coverage/`), how many files of it are
    such, and which are of a kind that people write."""

    folder: str
    files: int
    by_hand: tuple[str, ...] = ()


def made_folders(files: Mapping[str, bool], tracked: Iterable[str] = ()) -> dict[str, int]:
    """By folder (`.next/`, `packages/web/coverage/`), how many files a patch adds in it that a
    build may have left. `files` has each path of the patch, and whether it is new, `tracked` what
    the base has: where it has a file, people keep such files."""
    new = [path for path, is_new in files.items() if is_new and not is_written(path)]
    if not new:
        return {}
    counts = Counter(folder for path in new for folder in above(path))
    changed = (path for path, is_new in files.items() if not is_new)
    others = {folder for path in (*changed, *tracked) for folder in above(path)}
    whole = {path: [folder for folder in above(path) if folder not in others] for path in new}
    outputs = {
        path: next((at for at in folders if counts[at] >= _fewest(at)), "")
        for path, folders in whole.items()
    }
    rest = [path for path, folder in outputs.items() if not folder]
    counts = Counter(folder for path in rest for folder in above(path))
    many = (next((at for at in whole[path] if counts[at] >= _MANY), "") for path in rest)
    return dict(Counter(filter(None, (*outputs.values(), *many))))


def folder_of(path: str, folders: Mapping[str, int]) -> str:
    """The one of these folders in which a file lies; "" for one by hand."""
    return "" if is_written(path) else _place(path, folders)


def by_hand(files: Mapping[str, bool], folders: Mapping[str, int]) -> list[str]:
    """New files in these folders that somebody wrote."""
    new = (path for path, is_new in files.items() if is_new)
    return [path for path in new if is_written(path) and _place(path, folders)]


def is_written(path: str) -> bool:
    """Whether a file is of a kind that people write, and lies where they do."""
    folder, name = posixpath.split(path)
    brought = any(part in _BROUGHT or part.startswith(".") for part in folder.split("/"))
    return posixpath.splitext(name)[1].lower() in _WRITTEN and not brought


def _place(path: str, folders: Mapping[str, int]) -> str:
    return next((folder for folder in [*above(path)][::-1] if folder in folders), "")


def above(path: str) -> Iterator[str]:
    """`src/`, `src/a/`: the folders that a path lies in, the widest first."""
    return (path[: at + 1] for at, letter in enumerate(path) if letter == "/")


def _fewest(folder: str) -> float:
    """How many files one has at least that is called as what a build leaves."""
    name = folder.rstrip("/").rpartition("/")[2].lower()
    return 1 if name in CACHES else _FEW if name in _OUTPUTS else inf

"""The programs that Hydra itself runs, found on PATH where no repository can have laid them.

`.`, an empty entry or any other relative one is another folder in every folder: a repository's own
`./git` would be run. What lies in the checkout is its author's too, if git brought it; a virtual
environment or `node_modules/.bin` there is for agents and checks, which run the repository's code
anyway, and not for git, bwrap, ssh or a pager.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_ROOT = Path("/")
_users_path: str | None = None
"""PATH as the user has it, once `guard` has trimmed this process's own."""


def guard() -> None:
    """Trims this process's PATH, so that whatever it runs, and what that runs, is found safely:
    git's helpers, a pager's shell, ssh's ProxyCommand, a browser."""
    global _users_path
    path = os.environ.get("PATH")
    if path is not None and _users_path is None:
        _users_path = path
        os.environ["PATH"] = trusted_path(path)


def users_environment() -> dict[str, str]:
    """The environment as the user has it: what agents and checks are given is chosen of it."""
    environ = dict(os.environ)
    if _users_path is not None:
        environ["PATH"] = _users_path
    return environ


def find(name: str, path: str | None = None) -> str:
    """The program's absolute path on the trusted part of `path` (default: PATH), or ""."""
    return shutil.which(name, path=trusted_path(path)) or ""


def find_all_users(name: str, path: str | None) -> str:
    """As `find`, also in the checkout: for agents, which a project may have installed."""
    return shutil.which(name, path=absolute_path(path)) or ""


def absolute_path(path: str | None = None) -> str:
    """`path` (default: PATH) without relative and empty entries."""
    return os.pathsep.join(entry for entry in _entries(path) if entry.startswith("/"))


def trusted_path(path: str | None = None) -> str:
    """`path` (default: PATH) without these and without what lies in the current checkout."""
    with suppress(OSError):  # a folder that is gone is no checkout
        return _trusted(absolute_path(path), str(Path.cwd()))
    return absolute_path(path)


def distrusted_entries(path: str | None = None) -> tuple[str, ...]:
    """The entries of `path` (default: the user's PATH) that Hydra does not look into; an empty one
    is told as `.`."""
    path = users_environment().get("PATH") if path is None else path
    trusted = trusted_path(path).split(os.pathsep)
    return tuple(dict.fromkeys(entry or "." for entry in _entries(path) if entry not in trusted))


def _entries(path: str | None) -> list[str]:
    # Not `or`: an empty PATH is one empty entry, the current folder.
    return (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep)


@lru_cache(maxsize=16)
def _trusted(path: str, cwd: str) -> str:
    tops = tuple(_checkouts(Path(cwd)))
    entries = path.split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if not _lies_in(entry, tops))


def _lies_in(entry: str, tops: tuple[Path, ...]) -> bool:
    # By its name as well: a link there is the repository's to turn.
    names = (Path(os.path.normpath(entry)), Path(os.path.realpath(entry)))
    return any(name.is_relative_to(top) for name in names for top in tops)


def _checkouts(folder: Path) -> Iterator[Path]:
    """The checkouts around `folder`, and where one is a linked worktree the main one; not HOME
    and not / (dotfiles, /etc): there it would be everything."""
    home = os.path.realpath(os.environ.get("HOME", "/"))
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git") and place not in (_ROOT, Path(home)):
            yield place
            yield from _main_checkout(place / ".git")


def _main_checkout(git_file: Path) -> Iterator[Path]:
    # `gitdir: MAIN/.git/worktrees/NAME`; no git is asked, for git is what is looked for.
    with suppress(OSError, ValueError):
        git_dir = git_file.read_text().removeprefix("gitdir:").strip()
        if Path(git_dir).parent.name == "worktrees" and Path(git_dir).parents[1].name == ".git":
            yield Path(git_dir).parents[2]

"""The collector's index: copied with its mtime, refreshed while the agent thinks, used in a copy.

A file whose mtime is not older than the index is read again by git, or an edit in the second of
the checkout would be missed: that is why every copy keeps the index's own mtime.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hydra.git.runner import run

_GITLINK = b"\x00\x00\xe0\x00"
"""The mode field of a submodule's entry, in every version of the index."""


def copy_index(source: Path, target: Path) -> None:
    """Copies an index with its mtime, atomically. Raises `OSError`."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    half = target.with_name(f"{target.name}.{os.getpid()}.new")
    shutil.copy2(source, half)
    half.replace(target)


@contextmanager
def draft(index: Path) -> Iterator[Path]:
    """A copy of `index` to work on (or a name with nothing there yet); gone afterwards.

    Whatever kills git or Hydra half-way, `index` itself stays whole and without a lock.
    """
    index.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(index.parent)
    folder = Path(tempfile.mkdtemp(prefix=f"index-{os.getpid()}-", dir=index.parent))
    try:
        copy = folder / "index"
        with suppress(OSError):
            shutil.copy2(index, copy)
        yield copy
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Removes drafts of a Hydra that was killed; those of a living one may be in use."""
    for left in folder.glob("index-*-*"):
        if not _lives(left.name.split("-")[1]):
            shutil.rmtree(left, ignore_errors=True)


def _lives(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True


def refresh(index: Path, *, patches: Path, worktree: Path) -> bool:
    """Lets `index` forget what is only racy: what has changed is still seen, by its content.

    Worth it once, more than a second after the checkout. False where git could not do it.
    """
    with draft(index) as copy:
        done = run(
            *("update-index", "-q", "--ignore-submodules", "--refresh"),
            git_dir=patches,
            work_tree=worktree,
            index=copy,
            isolated=True,
            check=False,
        )
        # 1 only says that something has changed.
        if done.code not in (0, 1) or not copy.exists():
            return False
        copy.replace(index)
    return True


def may_hold_gitlinks(index: Path) -> bool:
    """False where the index surely names no submodule: a search through its bytes."""
    return _GITLINK in index.read_bytes()

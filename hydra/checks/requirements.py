"""What of a patch asks for other packages than those in the folders that a check is shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hydra.analysis.notices.manifests import MOST_BYTES
from hydra.analysis.notices.requirements import asks_for_others, is_requirement, set_up_for
from hydra.config.check_specs import in_folder, typed
from hydra.errors import HydraError
from hydra.git.contents import contents, sizes
from hydra.git.diff import TreeChange, TreeEntry, changes
from hydra.text import of_run, shell_quoted


def changed_requirements(patches: Path, commit: str, place: str = "") -> str:
    """What a check that fails on `commit` may lack, as a sentence with its cure as one types it in
    `place`; "" where the commit changes no manifest and no lockfile of what it stands on. Blocks.
    """
    try:
        paths = other_requirements(patches, changes(patches, f"{commit}^", commit))
    except HydraError:
        return ""
    if not paths:
        return ""
    name = min(paths, key=len).decode("utf-8", "backslashreplace")
    command = next(filter(None, map(_install, paths)), "")
    setup = shell_quoted(typed(command, place)) if command else "COMMAND"
    cure = f"hydra check{of_run(patches.parent.name)} --setup {setup}"
    return f"its dependencies changed ({name}) and were not installed: {cure} tests it with them"


def _install(path: bytes) -> str:
    folder, _, name = path.rpartition(b"/")
    command = set_up_for(name)
    return in_folder(command, os.fsdecode(folder)) if command else ""


def other_requirements(patches: Path, touched: Iterable[TreeChange]) -> list[bytes]:
    """The manifests and lockfiles among these changes that ask for other packages now."""
    return [*_changed(patches, touched)]


def _changed(patches: Path, touched: Iterable[TreeChange]) -> Iterator[bytes]:
    files = [change for change in touched if is_requirement(change.path)]
    blobs = [entry.oid for change in files for entry in _blobs(change)]
    small = [oid for oid, size in sizes(patches, blobs).items() if size <= MOST_BYTES]
    texts = contents(patches, small)
    for change in files:
        old, new = (texts.get(entry.oid) if entry else None for entry in (change.old, change.new))
        if asks_for_others(change.path, old, new):
            yield change.path


def _blobs(change: TreeChange) -> Iterator[TreeEntry]:
    yield from (entry for entry in (change.old, change.new) if entry is not None)

"""What of a patch asks for other packages than those in the folders that a check is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from hydra.errors import HydraError
from hydra.git.changes import Change, Entry, changes
from hydra.git.contents import contents, sizes
from hydra.remarks.manifests import MOST_BYTES
from hydra.remarks.requirements import asks_for_others, is_requirement, set_up_for


def changed_requirements(patches: Path, commit: str) -> str:
    """What a check that fails on `commit` may lack, as a sentence with its cure; "" where the
    commit changes no manifest and no lockfile of what it stands on. Blocks."""
    try:
        paths = [*_changed(patches, commit)]
    except HydraError:
        return ""
    if not paths:
        return ""
    name = min(paths, key=len).decode("utf-8", "backslashreplace")
    command = next(filter(None, map(set_up_for, paths)), "COMMAND")
    step = f"--setup {json.dumps(command, ensure_ascii=False)} installs them"
    return f"its dependencies changed ({name}) and were not installed: {step}"


def _changed(patches: Path, commit: str) -> Iterator[bytes]:
    touched = changes(patches, f"{commit}^", commit)
    files = [change for change in touched if is_requirement(change.path)]
    blobs = [entry.oid for change in files for entry in _blobs(change)]
    small = [oid for oid, size in sizes(patches, blobs).items() if size <= MOST_BYTES]
    texts = contents(patches, small)
    for change in files:
        old, new = (texts.get(it.oid) if it else None for it in (change.old, change.new))
        if asks_for_others(change.path, old, new):
            yield change.path


def _blobs(change: Change) -> Iterator[Entry]:
    yield from (entry for entry in (change.old, change.new) if entry is not None)

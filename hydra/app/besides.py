"""What is to be said of a landing besides its files: hooks, remarks, patches that are not whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hydra.app import runs
from hydra.app.composing import Made
from hydra.app.runs import Place
from hydra.git.changes import Change
from hydra.git.touched import touched
from hydra.model import Remark
from hydra.remarks import remarks
from hydra.store import RunRecord


def remarks_of(place: Place, record: RunRecord, made: Made) -> tuple[Remark, ...]:
    """What it touches that deserves a look."""
    _, files = touched(record.patches, made.head, made.result)
    return remarks(files, place.repository.config.get("core.hookspath", ""))


def hooks_of(place: Place, files: Sequence[Change]) -> tuple[str, ...]:
    """The user's hooks that `git merge` or `git commit` would have run, those that it brings too
    (a core.hooksPath in the tree)."""
    repository = place.repository
    named = repository.config.get("core.hookspath")
    folder = (
        repository.root / Path(named).expanduser() if named else repository.common_dir / "hooks"
    )
    brought = {
        os.path.normpath(repository.root / os.fsdecode(change.path))
        for change in files
        if change.new is not None and change.new.mode == "100755"
    }
    names = ("pre-merge-commit", "pre-commit", "prepare-commit-msg", "commit-msg")
    after_it = ("post-commit", "post-merge", "reference-transaction")
    return tuple(
        name
        for name in (*names, *after_it)
        if os.access(folder / name, os.X_OK) or os.path.normpath(folder / name) in brought
    )


def notes_of(record: RunRecord, made: Made) -> tuple[str, ...]:
    """That a patch is not whole, a sentence each."""
    notes = []
    for lane in made.lanes:
        patch = runs.read(record).lanes.get(lane, {}).get("patch")
        missing = patch.get("incomplete") if isinstance(patch, dict) else ""
        if missing:
            notes.append(f"the patch of {lane} is INCOMPLETE: {missing}")
    return tuple(notes)

"""What may be offered to land as one stands: not what has landed, and not what would be refused."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hydra.errors import HydraError
from hydra.git.diff import changes
from hydra.git.runner import run as git
from hydra.git.runner import split
from hydra.race.recovery import runs
from hydra.race.recovery.retention import whole_lanes
from hydra.records.store.reader import RunRecord
from hydra.report.document import record as record_of
from hydra.report.document import records, text
from hydra.report.race_end import next_to_land

Document = Mapping[str, Any]


def with_candidates(
    document: Document, root: Path, record: RunRecord | None = None
) -> dict[str, Any]:
    """A result or a verdict with what the lines to type depend on: for a person's eyes, never
    recorded. Of a race that has just ended (no `record`) nothing can have landed; it is said of
    its patches that one may land next what they touch that is changed in the checkout."""
    run = record or RunRecord(Path(text(document, "folder")))
    facts: dict[str, Any] = {
        "detached": is_detached(root) or _is_behind(root, text(document, "base")),
        "uncommitted": runs.is_uncommitted(run),
    }
    if record is not None:
        facts["landed"] = landed_lanes(record, root)
    else:
        facts["dirty"] = {} if facts["uncommitted"] else dict(_dirty(document, root))
    verdict = document.get("verdict")
    inner = {"verdict": {**verdict, **facts}} if isinstance(verdict, Mapping) else {}
    return {**document, **facts, **inner}


def _dirty(document: Document, root: Path) -> Iterator[tuple[str, list[str]]]:
    """By lane, what a landing of its patch would refuse to touch."""
    verdict, folder = record_of(document, "verdict"), text(document, "folder")
    if not folder:
        return
    for lane in next_to_land(verdict, records(document, "lanes")):
        patch = record_of(lane, "patch")
        with suppress(HydraError, OSError):  # a landing says it then
            ends = text(patch, "base"), text(patch, "commit")
            touched = changes(Path(folder, "patches.git"), *ends)
            yield (
                text(lane, "lane"),
                _changed_here(root, [change.path for change in touched[:_LOOKED_AT]]),
            )


_LOOKED_AT = 500
"""Paths of a patch that git is asked about: they go on its command line."""


def _changed_here(root: Path, paths: Sequence[bytes]) -> list[str]:
    if not paths:
        return []
    terms = ("--porcelain", "-z", "--untracked-files=all", "--ignored", "--no-renames")
    named = [f":(top,literal){os.fsdecode(path)}" for path in paths]
    status = git("status", *terms, "--ignore-submodules=dirty", "--", *named, cwd=root)
    return [os.fsdecode(entry[3:]) for entry in split(status.stdout)]


def is_detached(root: Path) -> bool:
    """Whether HEAD is on no branch, so that a landing needs one."""
    try:
        return git("symbolic-ref", "-q", "HEAD", cwd=root, check=False).code != 0
    except (HydraError, OSError):  # the repository has gone since
        return False


def _is_behind(root: Path, base: str) -> bool:
    """Whether the race began from commits that the branch has not yet: what lands has them too."""
    names = ("rev-list", "--left-right", "--count", f"HEAD...{base}")
    try:
        lacks, more = git(*names, cwd=root, check=False).line.split()
    except (HydraError, OSError, ValueError):  # one of the two is not there
        return False
    return lacks == "0" and more != "0"


def landed_lanes(record: RunRecord, root: Path) -> list[str]:
    """Lanes that stand as a whole where they were landed."""
    landings = [landing for landing in runs.landings(record) if _is_in_place(landing, root)]
    return [lane for landing in landings for lane in whole_lanes(landing)]


def _is_in_place(landing: Mapping[str, Any], root: Path) -> bool:
    if landing.get("undone") is not None:
        return False
    commit, ref = str(landing.get("commit") or ""), str(landing.get("ref") or "HEAD")
    question = ("merge-base", "--is-ancestor", commit, ref)
    return not commit or git(*question, cwd=root, check=False).code == 0

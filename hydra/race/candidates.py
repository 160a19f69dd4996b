"""What may be offered to land as one stands: not what has landed, and not what would be refused."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra.errors import HydraError
from hydra.git.diff import changes
from hydra.git.runner import run as git
from hydra.git.runner import split
from hydra.landing.record import LandingRecord, landings
from hydra.race.recovery import runs
from hydra.ranking.model import EndedRace, Verdict
from hydra.records.codec import shaped
from hydra.records.store.reader import RunRecord
from hydra.report.ranking import to_land


def with_candidates(verdict: Verdict, root: Path, record: RunRecord | None = None) -> Verdict:
    """A verdict with what the lines to type depend on. Of a race that has just ended (no `record`)
    nothing can have landed; it is said of its patches that one may land next what they touch that
    is changed in the checkout."""
    run = record or RunRecord(Path(verdict.folder))
    uncommitted = runs.is_uncommitted(run)
    fresh = record is None and not uncommitted
    return replace(
        verdict,
        detached=is_detached(root) or _is_behind(root, verdict.base),
        uncommitted=uncommitted,
        landed=tuple(landed_lanes(record, root)) if record is not None else (),
        dirty=dict(_dirty(verdict, root)) if fresh else {},
    )


def of_race(race: EndedRace, verdict: Mapping[str, Any] | None) -> Verdict:
    """The verdict of a race that has just ended; one without lanes where it was not judged."""
    if verdict is not None:
        return shaped(verdict, Verdict)
    return unjudged(race)


def unjudged(race: EndedRace) -> Verdict:
    """What stands in for a verdict that there is not."""
    return Verdict(run=race.run, base=race.base, folder=race.folder or "", lanes=())


def _dirty(verdict: Verdict, root: Path) -> Iterator[tuple[str, list[str]]]:
    """By lane, what a landing of its patch would refuse to touch."""
    for lane in to_land(verdict):
        if not verdict.folder or lane.patch is None:
            continue
        with suppress(HydraError, OSError):  # a landing says it then
            patches = Path(verdict.folder, "patches.git")
            touched = changes(patches, lane.patch.base, lane.patch.commit)
            yield lane.lane, _changed_here(root, [row.path for row in touched[:_LOOKED_AT]])


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
    standing = (landing for landing in landings(record.folder) if _is_in_place(landing, root))
    return [lane for landing in standing for lane in landing.whole]


def _is_in_place(landing: LandingRecord, root: Path) -> bool:
    if landing.undone is not None:
        return False
    question = ("merge-base", "--is-ancestor", landing.commit, landing.ref)
    return not landing.commit or git(*question, cwd=root, check=False).code == 0

"""All that a verdict is made of: what each lane left, what its checks said, what was tried since.

Whoever gathers it reads files and git; whoever judges it reads this alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from hydra.analysis.patch import FileChange
from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckResult
from hydra.git.commits import Hunks
from hydra.landing.hunks import Hunk
from hydra.records.outcome import Patch, Usage


class LaneEvidence(Struct, frozen=True, kw_only=True):
    """One lane: how it ended, its patch, and its checks, held against the base's.

    `ended` is "" where it completed and its checks could run, else why not in a clause; `tree`
    names the patch's tree, so that identical patches are seen; `hunks` are read where a lane brings
    tests in code. `moved`: its branch is another patch
    by now than the one that the race took and checked; what was checked is then left out.
    """

    lane: str
    adapter: str = ""
    status: str = "completed"
    ended: str = ""
    patch: Patch | None = None
    tree: str = ""
    files: tuple[FileChange, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None
    moved: bool = False
    baseline: tuple[CheckResult, ...] | None = None
    """The base's results on the grounds of its own; None: the run's."""


class ReviewTest(Struct, frozen=True, kw_only=True):
    """A test that an agent was asked for, since it would tell patches apart, and that does so.

    `ends` holds by lane whether it passes; a lane that it was not tried on is not there. `file` is
    the record of it, from the run's folder.
    """

    id: str
    agent: str
    ends: Mapping[str, bool]
    on_base: bool | None = None
    check: str = ""
    file: str = ""


class Note(Struct, frozen=True):
    """What a reviewer (a model) says of the patches. It never changes a rank."""

    reviewer: str
    text: str


class EarlierCommit(Struct, frozen=True):
    """A commit of the base's history, and what it changed, without its texts."""

    oid: str
    subject: str
    files: tuple[FileChange, ...]


class Evidence(Struct, frozen=True, kw_only=True):
    """All of one run. `protected` are the paths that no patch may touch, as hydra.toml names them:
    a file, a folder, or a pattern of git's wildmatch. `tests` are texts of the base's tests by
    path, as many as were read; `paths` those of all the base's files; `history` its last commits,
    the newest first, and `hunks` what these and the patches change in files that both touch. `task`
    is what was asked of the lanes ("": unknown)."""

    run: str
    base: str
    lanes: tuple[LaneEvidence, ...]
    baseline: tuple[CheckResult, ...] = ()
    trials: tuple[Trial, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    tests: Mapping[str, str] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    review_tests: tuple[ReviewTest, ...] = ()
    notes: tuple[Note, ...] = ()
    protected: tuple[str, ...] = ()
    history: tuple[EarlierCommit, ...] = ()
    hunks: Hunks = field(default_factory=dict)
    task: str = ""

    def baseline_of(self, lane: LaneEvidence) -> tuple[CheckResult, ...]:
        """The base's results that a lane's are held against."""
        return self.baseline if lane.baseline is None else lane.baseline

    @property
    def checked(self) -> bool:
        """Whether any check ran, on the base or on a patch."""
        return bool(self.baseline) or any(lane.checks for lane in self.lanes)

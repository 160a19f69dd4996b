"""All that a verdict is made of: what each lane left, what its checks said, what was tried since.

Whoever gathers it reads files and git; whoever judges it reads this alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hydra.checks.record import CheckResult
from hydra.model import Patch, Usage, Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One path of a patch, before and after; a rename is a deletion and an addition.

    Modes are git's, "" where it was, or is, not there. `old` and `new` are the texts, None where
    there is none, where it is binary, or where it was too large to be read: `unread` tells the
    last from the others. `insertions` and `deletions` are None for a binary file.
    """

    path: str
    old_mode: str = ""
    new_mode: str = ""
    old_oid: str = ""
    new_oid: str = ""
    binary: bool = False
    insertions: int | None = None
    deletions: int | None = None
    old: str | None = None
    new: str | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneEvidence:
    """One lane: how it ended, its patch, and its checks, held against the base's.

    `ended` is "" where it completed and its checks could run, else why not in a clause; `tree`
    names the patch's tree, so that identical patches are seen. `moved`: its branch is another patch
    by now than the one that the race took and checked; what was checked is then left out.
    """

    lane: str
    adapter: str = ""
    status: str = "completed"
    ended: str = ""
    patch: Patch | None = None
    tree: str = ""
    files: tuple[FileChange, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None
    moved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One check that was run on a tree that no lane left as it is.

    `protected`: a lane's patch with the base's tests (`configuration`: and what
    configures them). `cross`: the tests of `author` on the patch of `on`, or on the base where
    `on` is "". `canary`: tests that must fail on the patch of `on`; `passes` names what passes all
    the same. `paths` are the files put back or brought; `result` is compared with the base's own.
    """

    kind: Literal["protected", "cross", "canary"]
    on: str
    result: CheckResult
    author: str = ""
    paths: tuple[str, ...] = ()
    configuration: bool = False
    passes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTried:
    """A trial that was not made, and why, in a clause ("the limit of 40 runs was reached")."""

    kind: Literal["protected", "cross", "canary"]
    on: str
    author: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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


@dataclass(frozen=True, slots=True)
class Note:
    """What a reviewer (a model) remarked on a lane. It never changes a rank."""

    lane: str
    reviewer: str
    text: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All of one run. `protected` are the paths that no patch may touch, as hydra.toml names them:
    a file, a folder, or a pattern of git's wildmatch. `tests` are texts of the base's tests by
    path, as many as were read; `paths` those of all the base's files."""

    run: str
    base: str
    lanes: tuple[LaneEvidence, ...]
    baseline: tuple[CheckResult, ...] = ()
    trials: tuple[Trial, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    tests: Mapping[str, str] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    asked: tuple[Asked, ...] = ()
    notes: tuple[Note, ...] = ()
    protected: tuple[str, ...] = ()
    weights: Weights = field(default_factory=Weights)

    @property
    def checked(self) -> bool:
        """Whether any check ran, on the base or on a patch."""
        return bool(self.baseline) or any(lane.checks for lane in self.lanes)

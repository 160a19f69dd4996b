"""What came of an attempt, and of a race, as docs/reference/json.md has it."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, field
from msgspec.structs import force_setattr, replace

from hydra.errors import (
    EXIT_INTERRUPTED,
    EXIT_NO_USABLE_LANE,
    EXIT_OK,
    EXIT_TERMINATED,
    Failure,
)
from hydra.records.codec import DiskName, as_json
from hydra.records.plan import LANE_HEAD, RACE_HEAD, RacePlan


class Status(StrEnum):
    """The one outcome of an attempt."""

    COMPLETED = "completed"
    NO_CHANGES = "no_changes"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    NOT_STARTED = "not_started"


class ExitStatus(Struct, frozen=True, kw_only=True):
    """How an agent's process ended, and what it left running (killed since).

    Exactly one of `code` and `signal` is set, or neither when the keeper itself was lost.
    """

    code: int | None = None
    signal: int | None = None
    survivors: tuple[str, ...] = ()
    keeper_lost: bool = False


class Usage(Struct, frozen=True, kw_only=True):
    """What an attempt cost. None is unknown, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def numbers(self) -> dict[str, int | float]:
        """What of it is known, by name."""
        numbers = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: number for name, number in numbers.items() if number is not None}


class Estimate(Struct, frozen=True):
    """What an attempt's tokens would cost by `Rates`, where its agent tells no cost."""

    cost_usd: float
    prices_of: str | None
    source: str


class Remark(Struct, frozen=True):
    """What a patch touches that deserves a look before it lands. `kind` is one of
    docs/reference/landing.md; `path` is from the tree's top, "" where several are counted
    together."""

    kind: str
    path: str
    text: str


class Patch(Struct, frozen=True, kw_only=True):
    """An attempt's work as a commit on the base, in the run's `patches.git`. `notes` name what
    deserves a look, as a file left out for its size; `remarks` what it touches that is not ordinary
    code. An empty patch has `files == 0` and `commit == base`."""

    commit: DiskName
    base: DiskName
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    incomplete: str = ""
    notes: tuple[str, ...] = ()
    left_behind: int = 0
    stranded: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    empty: bool = True
    """Whether the attempt changed nothing."""

    def __post_init__(self) -> None:
        force_setattr(self, "empty", self.files == 0)

    def as_event(self) -> dict[str, object]:
        """What `patch_taken` says of it."""
        names = ("commit", "files", "insertions", "deletions", "incomplete")
        return {name: getattr(self, name) for name in names} | {"stranded": len(self.stranded)}


class Attempt(Struct, frozen=True, kw_only=True):
    """One of a lane's attempts, beside its result."""

    attempt: int
    status: Status
    failure: Failure | None = field(name="error", default=None)
    commit: DiskName | None = None
    usage: Usage = Usage()
    usage_estimate: Estimate | None = None
    seconds: float = 0.0

    @classmethod
    def of(cls, outcome: Outcome) -> Attempt:
        """What of it stands beside the lane's result."""
        same = {name: getattr(outcome, name) for name in cls.__struct_fields__ if name != "commit"}
        return cls(commit=None if outcome.patch is None else outcome.patch.commit, **same)


class Outcome(Struct, frozen=True, kw_only=True):
    """How an attempt ended: one status, the failure if any, the patch whatever the status.

    Behind the head of its `LanePlan` it is a lane of result.json, and it is what `lane_ended` says.
    """

    lane: DiskName
    attempt: int = 1
    attempts: tuple[Attempt, ...] = ()
    """All of the lane's, in order, once it is a document."""
    status: Status
    usable: bool = False
    """Completed, its patch whole and not empty, and no required check holds it back."""
    held_back: tuple[str, ...] = ()
    """Why a required check keeps it from being usable, a sentence each."""
    checks: tuple[Mapping[str, Any], ...] = ()
    """What came of each check, as docs/reference/json.md has it."""
    failure: Failure | None = field(name="error", default=None)
    patch: Patch | None = None
    usage: Usage = Usage()
    usage_estimate: Estimate | None = None
    seconds: float = 0.0
    session: str = ""
    message: str = ""
    plan: str | None = None
    """Where the plan that it ended on is kept, from the run's folder; None where it made none."""
    exit: ExitStatus | None = None
    warnings: tuple[str, ...] = ()
    others: tuple[Outcome, ...] = ()
    """The lane's other attempts, where it was tried more than once; in memory alone."""

    def __post_init__(self) -> None:
        patch = self.patch
        is_whole = patch is not None and not patch.empty and not patch.incomplete
        usable = self.status is Status.COMPLETED and is_whole and not self.held_back
        force_setattr(self, "usable", usable)
        force_setattr(self, "seconds", round(self.seconds, 3))

    @property
    def last(self) -> Outcome:
        """The last attempt, whose ground was left; an earlier one may be the lane's result."""
        return max((self, *self.others), key=lambda outcome: outcome.attempt)

    def document(self) -> dict[str, Any]:
        """It as JSON has it, every field present."""
        tries = sorted((self, *self.others), key=lambda outcome: outcome.attempt)
        document: dict[str, Any] = as_json(
            replace(self, attempts=tuple(map(Attempt.of, tries)), others=UNSET)
        )
        return document


class RaceResult(Struct, frozen=True, kw_only=True):
    """One race, ended: its lanes' outcomes in the order of the plan.

    `interrupted` is the number of the signal that ended it early, 0 for none.
    """

    run: str
    outcomes: tuple[Outcome, ...]
    seconds: float
    interrupted: int = 0
    folder: Path | None = None
    warnings: tuple[str, ...] = ()
    baseline: tuple[Mapping[str, object], ...] = ()
    """What came of each check on the base."""
    verdict: Mapping[str, object] | None = None
    """The verdict's document (docs/reference/json.md); None where the race could not be judged."""

    @property
    def usable(self) -> bool:
        """Whether at least one lane is usable."""
        return any(outcome.usable for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """What `hydra race` exits with: 130 or 143 when interrupted; 0 where a lane is proved, or
        where no check was asked for and the race's only lane is usable; else 1."""
        if self.interrupted:
            return EXIT_INTERRUPTED if self.interrupted == signal.SIGINT else EXIT_TERMINATED
        if self.verdict is not None:
            proved = self.verdict.get("exit_code") == EXIT_OK
        else:
            checked = self.baseline or any(outcome.checks for outcome in self.outcomes)
            proved = self.usable and not checked and len(self.outcomes) == 1
        return EXIT_OK if proved else EXIT_NO_USABLE_LANE

    def document(self, plan: RacePlan) -> dict[str, Any]:
        """result.json, every field present: each lane's outcome behind what its plan begins with,
        in the order of the plan."""
        planned = plan.document()
        lanes = {lane["lane"]: lane for lane in planned["lanes"]}
        return {
            **{name: planned[name] for name in RACE_HEAD},
            "kind": "result",
            "baseline": list(self.baseline),
            "lanes": [
                {**{name: lanes[end.lane][name] for name in LANE_HEAD}, **end.document()}
                for end in self.outcomes
            ],
            "verdict": self.verdict,
            "usable": self.usable,
            "exit_code": self.exit_code,
            "interrupted": signal.Signals(self.interrupted).name if self.interrupted else None,
            "seconds": round(self.seconds, 3),
            "folder": None if self.folder is None else str(self.folder),
            "warnings": [*plan.warnings, *(w for w in self.warnings if w not in plan.warnings)],
        }

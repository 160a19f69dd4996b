"""What came of an attempt, and of a race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hydra.errors import Failure


class Status(StrEnum):
    """The one outcome of an attempt."""

    COMPLETED = "completed"
    NO_CHANGES = "no_changes"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    NOT_STARTED = "not_started"


class ExitStatus(NamedTuple):
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


class Estimate(NamedTuple):
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
    """An attempt's work as a commit on the base, in the run's `patches.git`.

    `incomplete` says why something may be missing ("" when whole); `notes` name what deserves a
    look (a nested repository taken as files, a file left out for its size); `left_behind` counts
    the files, stashes and branches that the lane alone has, which is therefore kept; `stranded` are
    the refs of `patches.git` with work that was in no file of the worktree; `remarks` what it
    touches that is not ordinary code. An empty patch has `files == 0` and `commit == base`.
    """

    commit: str
    base: str
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    incomplete: str = ""
    notes: tuple[str, ...] = ()
    left_behind: int = 0
    stranded: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the attempt changed nothing."""
        return self.files == 0

    def as_event(self) -> dict[str, object]:
        """What `patch_taken` says of it."""
        return {
            "commit": self.commit,
            "files": self.files,
            "insertions": self.insertions,
            "deletions": self.deletions,
            "incomplete": self.incomplete,
            "stranded": len(self.stranded),
        }


class Outcome(Struct, frozen=True, kw_only=True):
    """How an attempt ended: one status, the failure if any, the patch whatever the status."""

    lane: str
    attempt: int
    status: Status
    failure: Failure | None = None
    patch: Patch | None = None
    usage: Usage = Usage()
    exit: ExitStatus | None = None
    seconds: float = 0.0
    message: str = ""
    session: str = ""
    warnings: tuple[str, ...] = ()
    checks: tuple[Mapping[str, object], ...] = ()
    """What came of each check, as docs/reference/json.md has it."""
    held_back: tuple[str, ...] = ()
    """Why a required check keeps it from being usable, a sentence each."""
    plan: str = ""
    """Where the plan that it ended on is kept, from the run's folder; "" where it made none."""
    others: tuple[Outcome, ...] = ()
    """The lane's other attempts, where it was tried more than once."""

    @property
    def usable(self) -> bool:
        """Completed, its patch whole and not empty, and no required check holds it back."""
        return (
            self.status is Status.COMPLETED
            and self.patch is not None
            and not self.patch.empty
            and not self.patch.incomplete
            and not self.held_back
        )


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


def select_attempt(attempts: Sequence[Outcome]) -> Outcome:
    """A lane's result: its last attempt with a patch, else its last; the others beside it."""
    worked = [
        attempt for attempt in attempts if attempt.patch is not None and not attempt.patch.empty
    ]
    result = (worked or attempts)[-1]
    return replace(result, others=tuple(attempt for attempt in attempts if attempt is not result))

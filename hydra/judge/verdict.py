"""A verdict: a rank, mergeable or not, a confidence, and sentences. Every number has its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["proved", "untested", "broken", "held_back"]
"""`proved`: a test ran that tells the patch from the base, it passes, and nothing speaks against
it. `untested`: no such test ran. `broken`: what passed on the base fails with it, or what failed
there fails still. `held_back`: something else speaks against it, as a test that it weakens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One sentence. `kind` says what it is about: gate, base, protected, cross, agreement, build,
    lint, scope, risk, size, speed, unknown or note. `file` is where its numbers stand, from the
    run's folder, or ""; `path` the file of the patch it is about, `line` the line there."""

    kind: str
    text: str
    file: str = ""
    path: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How often a winner like this one was right, in the measured pools (docs/selection.md).

    `share` is from 0 to 1, None where nothing was measured for such a case; `word` is high, fair,
    low or unknown; `why` is a clause.
    """

    word: Literal["high", "fair", "low", "unknown"]
    share: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One part of the score. `value` is from 0 to 100, None where it is not known: it then leaves
    the denominator. `formula` is the sum that gave it, with its numbers."""

    name: str
    weight: float
    value: float | None
    formula: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The Rust Hydra's score, shown beside the verdict; `total` None where nothing is known."""

    total: float | None
    dimensions: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneVerdict:
    """One lane's. `rank` from 1; lanes of one rank are tied, and `tied` names the others.

    None as a rank: there is no patch to rank. `state` is what it is, and `reason` why, in one
    sentence. `gates` are the reasons why it is not mergeable,
    empty where it is; `reasons` all others, the weightiest first; `why` is the one sentence that a
    table has room for. `chance` is what the tests of all lanes say of it (`selection`), None
    where there were none that tell lanes apart.
    """

    lane: str
    rank: int | None
    mergeable: bool
    state: State
    reason: str
    tied: tuple[str, ...] = ()
    gates: tuple[Reason, ...] = ()
    reasons: tuple[Reason, ...] = ()
    why: str = ""
    chance: float | None = None
    score: Score | None = None


Cell = Literal["passed", "failed", "not run", "not tried", "own"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossTest:
    """One new test of one lane, and how it ended on each lane's patch and on the base.

    `cells` holds, by lane, passed, failed, not run (the check did not name it) or not tried.
    `weighs` is False where it says nothing of the lanes, and `says` why: "fails on every patch",
    "passes on the base", "flaky". `files` has the check's own record for each cell.
    """

    id: str
    author: str
    check: str
    base: Cell
    cells: Mapping[str, Cell]
    weighs: bool
    says: str = ""
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Lanes whose patches are the same: `identical` byte for byte, or `equivalent` but for
    formatting, comments and the order of imports; `alike` pass and fail the same tests."""

    kind: Literal["identical", "equivalent", "alike"]
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A function (or a file, where `name` is "") that several lanes changed."""

    path: str
    name: str
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One run's. `lanes` stand in the order of their ranks, those without a patch last.

    `top` is the one lane to land, "" on a tie or where none is proved (where no check ran: where
    none is mergeable); `says` is the sentence for it. `checked`: whether any check ran.
    `not_tried` says, a sentence each, what the cap has cut.
    """

    run: str
    lanes: tuple[LaneVerdict, ...]
    top: str
    says: str
    confidence: Confidence
    checked: bool = True
    cross: tuple[CrossTest, ...] = ()
    groups: tuple[Group, ...] = ()
    shared: tuple[Shared, ...] = ()
    not_tried: tuple[str, ...] = ()
    notes: tuple[Reason, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether a lane is proved; where no check ran, whether one is mergeable."""
        return any(may_land(lane.state, lane.mergeable, self.checked) for lane in self.lanes)


Way = Literal["itself", "name", "override"]
"""What lands a patch: the ranking, its lane's name, or a person's reason."""


def way_to_land(state: object, mergeable: object, checked: object) -> Way:
    """What a patch needs in order to land: nothing, its lane's name, or a person's reason."""
    if may_land(state, mergeable, checked):
        return "itself"
    return "name" if state == "untested" else "override"


def may_land(state: object, mergeable: object, checked: object) -> bool:
    """Whether a patch lands without being named."""
    return state == "proved" or (checked is False and mergeable is True)

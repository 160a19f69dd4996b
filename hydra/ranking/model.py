"""A verdict: a rank, gates, a confidence, and sentences. Every number has its file."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any, Literal

from msgspec import Struct

from hydra.analysis.equivalence.model import Group, Shared

State = Literal["proved", "untested", "broken", "held_back"]
"""`proved`: a test ran that tells the patch from the base, it passes, and nothing speaks against
it. `untested`: no such test ran, or what fails on the base fails still. `broken`: something got
worse, as a test that passed on the base. `held_back`: something else speaks against it, as a test
that it weakens."""


class Reason(Struct, frozen=True, kw_only=True):
    """One sentence. `kind` says what it is about: gate, decision, base, protected, cross,
    agreement, build, lint, scope, risk or unknown. `file` is where its numbers
    stand, from the run's folder, or ""; `path` the file of the patch it is about, `line` the line
    there."""

    kind: str
    text: str
    file: str = ""
    path: str = ""
    line: int | None = None


Proof = Literal["tests", "checks", "new", ""]
"""What proves a patch: `tests` of the base that it mends, `checks` of the user's that name no test,
or `new` tests; "" where nothing does."""


class WinnerConfidence(Struct, frozen=True, kw_only=True):
    """How often a winner like this one was right, in the measured pools (docs/why/selection.md).

    `share` is from 0 to 1, None where nothing was measured for such a case; `word` is high, fair,
    low or unknown; `why` is a clause. `agree`: how many patches end alike on the new tests, the
    winner among them, None where that is not known.
    """

    word: Literal["high", "fair", "low", "unknown"]
    share: float | None = None
    why: str = ""
    agree: int | None = None
    proof: Proof = ""


class LaneVerdict(Struct, frozen=True, kw_only=True):
    """One lane's. `rank` from 1; lanes of one rank are tied, and `tied` names the others.

    None as a rank: there is no patch to rank. `state` is what it is, and `reason` why, in one
    sentence. `gates` are what speaks against it, empty where nothing does; `reasons` all
    others, the weightiest first; `why` is the one sentence that a table has room for. `chance` is
    what the tests of all lanes say of it (`selection`), None where there were none that tell lanes
    apart.

    `own_version` are tests that failed on the base and pass by its own version of them alone, or of
    what they stand on.

    `decision` is what it leaves to the user, a clause after the lane's name ("changes what test_up
    expects: 2 -> 3"), "" where there is nothing to decide; `agreed` False where no independent
    patch agrees. A part of it that takes a file of its reasons of kind `decision` asks as it does.
    """

    lane: str
    rank: int | None
    state: State
    reason: str
    tied: tuple[str, ...] = ()
    gates: tuple[Reason, ...] = ()
    reasons: tuple[Reason, ...] = ()
    why: str = ""
    chance: float | None = None
    own_version: tuple[str, ...] = ()
    decision: str = ""
    agreed: bool = True

    @property
    def passes_gates(self) -> bool:
        """Whether it has a patch and nothing speaks against it."""
        return self.rank is not None and not self.gates


Cell = Literal["passed", "failed", "not run", "not tried", "own"]

ASKED_OF = "asked of "
"""What stands before an agent's name as the author of tests that it was asked for; no lane's name
has a blank."""


class CrossTest(Struct, frozen=True, kw_only=True):
    """One new test of one lane, and how it ended on each lane's patch and on the base; `changed`:
    a test of the base's, which fails there by this lane's version of it.

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
    changed: bool = False
    files: Mapping[str, str]

    @property
    def is_from_review(self) -> bool:
        """Whether it is no lane's: an agent was asked for it."""
        return self.author.startswith(ASKED_OF)


class Verdict(Struct, frozen=True, kw_only=True):
    """One run's. `lanes` stand in the order of their ranks, those without a patch last.

    `top` is the one lane to land, "" on a tie or where none is proved (where no check ran, it is
    the race's only lane, if that passes its gates); `says` is the sentence for it. `checked`: does
    the race have any result of a check; `tested`: does one say something of a patch. `picks`
    take the code of one lane and the tests of the top, where the two are equal in all tests
    (`together`). `not_tried` says, a sentence each, what the cap has cut.
    """

    run: str
    lanes: tuple[LaneVerdict, ...]
    top: str
    says: str
    confidence: WinnerConfidence
    checked: bool = True
    tested: bool = True
    cross: tuple[CrossTest, ...] = ()
    groups: tuple[Group, ...] = ()
    shared: tuple[Shared, ...] = ()
    picks: tuple[str, ...] = ()
    not_tried: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether a lane is proved; of a race of one lane without a check, whether that
        passes its gates."""
        alone = is_alone(self.checked, self.lanes)
        return any(may_land(lane.state, lane.passes_gates, alone) for lane in self.lanes)


def is_alone(checked: object, lanes: Sized) -> bool:
    """Whether no check ran in a race of one lane: there is nothing to choose, and nothing to choose
    by is missed."""
    return checked is False and len(lanes) == 1


def passes_gates(lane: Mapping[str, Any]) -> bool:
    """Whether a lane of a verdict's document has a patch, and nothing speaks against it."""
    return lane.get("rank") is not None and not lane.get("gates")


Way = Literal["itself", "name", "yes", "override"]
"""What lands a patch: the ranking, its lane's name, a person's yes to its decision, or a person's
reason."""


def way_to_land(
    state: object,
    passes: object,
    alone: object,
    decision: object = "",
    agreed: object = True,
) -> Way:
    """What a patch needs in order to land: nothing, its lane's name, a yes, or a person's reason.
    One that needs a yes is the top all the same where its state makes it that. `alone`: see
    `is_alone`."""
    if may_land(state, passes, alone, decision, agreed):
        return "itself"
    if state != "untested" and not may_land(state, passes, alone):
        return "override"
    return "yes" if _is_open(decision, agreed) else "name"


def may_land(
    state: object,
    passes: object,
    alone: object,
    decision: object = "",
    agreed: object = True,
) -> bool:
    """Whether a patch lands without being named, and without a yes; of its state alone, without its
    decision: whether it may be the top."""
    answer = state == "proved" or (alone is True and passes is True)
    return answer and not _is_open(decision, agreed)


def _is_open(decision: object, agreed: object) -> bool:
    """Whether a decision is a person's: no independent patch agrees with what it demands."""
    return bool(decision) and agreed is False

"""A verdict: a rank, gates, a confidence, and sentences. Every number has its file.

It is what `hydra compare --json` prints and result.json keeps: docs/reference/json.md has each
field. What the judge itself does not say of a run, `document` puts beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import force_setattr, replace

from hydra.analysis.equivalence.groups import Group, Shared
from hydra.analysis.made_folders import MadeFolder
from hydra.checks.record import CheckDocument
from hydra.errors import Failure
from hydra.ranking.evidence import Note
from hydra.records.codec import DiskName, as_json
from hydra.records.outcome import Attempt, Estimate, Patch, Usage
from hydra.records.plan import Confinement

SCHEMA = 1
"""Version of the document. A field may be added under it; none changes its meaning or goes."""

State = Literal["proved", "untested", "broken", "held_back"]
"""`proved`: a test ran that tells the patch from the base, it passes, and nothing speaks against
it. `untested`: no such test ran, or what fails on the base fails still. `broken`: something got
worse, as a test that passed on the base. `held_back`: something else speaks against it, as a test
that it weakens."""


class Reason(Struct, frozen=True, kw_only=True):
    """One sentence. `kind` says what it is about: gate, decision, base, protected, cross,
    agreement, build, lint, scope, risk or unknown. `file` is where its numbers stand, from the
    run's folder; `path` the file of the patch it is about, `line` the line there."""

    kind: str
    text: str
    file: str | None = None
    path: str | None = None
    line: int | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "file", self.file or None)
        force_setattr(self, "path", self.path or None)


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
    share: Annotated[float, Meta(ge=0, le=1)] | None = None
    why: str = ""
    agree: int | None = None
    proof: Proof = ""


class ProtectedTrial(Struct, frozen=True, kw_only=True):
    """How a patch did with the base's own tests (`paths`); its settings too: `configuration`."""

    check: str
    status: str
    says: str
    details: str | None = None
    paths: tuple[str, ...] = ()
    configuration: bool = False


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file of a patch; `lanes` are all that change it."""

    path: str
    added: int | None = None
    deleted: int | None = None
    status: str = "modified"
    binary: bool = False
    lanes: tuple[str, ...] = ()
    generated: bool = False
    vendored: bool = False


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
    expects: 2 -> 3"), None where there is nothing to decide; `agreed` False where no independent
    patch agrees. A part of it that takes a file of its reasons of kind `decision` asks as it does.

    `status` and `message` are its outcome's, as are `patch`, `usage` and `seconds`.
    """

    lane: DiskName
    adapter: str = ""
    model: str | None = None
    label: str | None = None
    rank: int | None
    tied: tuple[str, ...] = ()
    state: State
    reason: str
    decision: str | None = None
    agreed: bool = True
    status: str = ""
    why: str = ""
    gates: tuple[Reason, ...] = ()
    reasons: tuple[Reason, ...] = ()
    own_version: tuple[str, ...] = ()
    chance: float | None = None
    checks: tuple[CheckDocument, ...] = ()
    protected: tuple[ProtectedTrial, ...] = ()
    patch: Patch | None = None
    files: tuple[ChangedFile, ...] = ()
    made: tuple[MadeFolder, ...] = ()
    usage: Usage = Usage()
    usage_estimate: Estimate | None = None
    seconds: float | None = None
    message: str = ""

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

    `top` is the one lane to land, None on a tie or where none is proved (where no check ran, it is
    the race's only lane, if that passes its gates); `says` is the sentence for it. `checked`: does
    the race have any result of a check; `tested`: does one say something of a patch. `picks`
    (and, of tests that lie in code, `hunks`) take the code of one lane and the tests of the top,
    where the two are equal in all tests (`together`). `not_tried` says, a sentence each, what the
    cap has cut.

    `round` is the newest round of checks that it stands on, and `consult` the newest question to a
    model; `check_now` the line that tests it where nothing did, as one types it in the folder
    `typed_in` of the checkout.
    """

    schema: int = SCHEMA
    kind: str = "verdict"
    run: DiskName
    base: DiskName = ""
    base_name: str | None = None
    title: str | None = None
    repository: DiskName | None = None
    top: str | None = None
    says: str = ""
    checked: bool = True
    tested: bool = True
    interrupted: str | None = None
    confidence: WinnerConfidence = WinnerConfidence(word="unknown")
    lanes: tuple[LaneVerdict, ...]
    baseline: tuple[CheckDocument, ...] = ()
    cross: tuple[CrossTest, ...] = ()
    groups: tuple[Group, ...] = ()
    shared: tuple[Shared, ...] = ()
    picks: tuple[str, ...] = ()
    hunks: tuple[str, ...] = ()
    not_tried: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    separated: Mapping[str, Any] | None = None
    folder: DiskName = ""
    exit_code: int = 0
    warnings: tuple[str, ...] = ()
    uncommitted: bool = False
    round: int | None = None
    check_now: str = ""
    typed_in: DiskName = ""
    consult: int | None = None
    # For a person's eyes alone, as the checkout stands by now; never recorded.
    detached: bool = False
    landed: tuple[str, ...] = ()
    dirty: Mapping[str, Sequence[str]] = {}

    def document(self) -> dict[str, Any]:
        """It as JSON has it."""
        memory = dict.fromkeys(("detached", "landed", "dirty"), UNSET)
        document: dict[str, Any] = as_json(replace(self, **memory))
        return document

    def lane(self, name: str | None) -> LaneVerdict | None:
        """One lane of it, if it has one of that name."""
        return next((lane for lane in self.lanes if lane.lane == name), None)

    @property
    def is_alone(self) -> bool:
        """Whether no check ran in a race of one lane."""
        return is_alone(self.checked, self.lanes)

    def lands(self, lane: LaneVerdict) -> bool:
        """Whether it is proved; in a race of one lane without a check, whether nothing speaks
        against it."""
        return may_land(lane.state, lane.passes_gates, self.is_alone)

    def way_to_land(self, lane: LaneVerdict) -> Way:
        """What it needs in order to land."""
        passes = lane.passes_gates
        return way_to_land(lane.state, passes, self.is_alone, lane.decision, lane.agreed)

    @property
    def usable(self) -> bool:
        """Whether a lane is proved; of a race of one lane without a check, whether that
        passes its gates."""
        return any(map(self.lands, self.lanes))


class LaneResult(Struct, frozen=True, kw_only=True):
    """A lane of result.json, as a verdict and a report go by it; of a race that has none,
    as far as it is known: `status` may then be "running" or "broken off"."""

    lane: DiskName
    adapter: str = ""
    label: str = ""
    model: str | None = None
    sandbox: str = ""
    attempt: int = 1
    attempts: tuple[Attempt, ...] = ()
    status: str = ""
    usable: bool = False
    held_back: tuple[str, ...] = ()
    checks: tuple[CheckDocument, ...] = ()
    failure: Failure | None = field(name="error", default=None)
    patch: Patch | None = None
    usage: Usage = Usage()
    usage_estimate: Estimate | None = None
    seconds: float | None = None
    message: str = ""
    plan: str | None = None
    warnings: tuple[str, ...] = ()


class EndedRace(Struct, frozen=True, kw_only=True):
    """result.json, as a verdict and a report go by it. Its verdict is read apart from it
    (`race.verdict`): a newer one than is known leaves the rest to be shown."""

    run: DiskName = ""
    repository: DiskName = ""
    base: DiskName = ""
    base_name: str = ""
    title: str = ""
    confinement: Confinement = Confinement(kind="none")
    baseline: tuple[CheckDocument, ...] = ()
    lanes: tuple[LaneResult, ...] = ()
    verdict: Mapping[str, Any] | UnsetType | None = UNSET
    interrupted: str | None = None
    seconds: float | None = None
    folder: DiskName | None = None
    warnings: tuple[str, ...] = ()


def is_alone(checked: bool, lanes: Sized) -> bool:
    """Whether no check ran in a race of one lane: there is nothing to choose, and nothing to choose
    by is missed."""
    return not checked and len(lanes) == 1


Way = Literal["itself", "name", "yes", "override"]
"""What lands a patch: the ranking, its lane's name, a person's yes to its decision, or a person's
reason."""


def way_to_land(
    state: str, passes: bool, alone: bool, decision: str | None = None, agreed: bool = True
) -> Way:
    """What a patch needs in order to land: nothing, its lane's name, a yes, or a person's reason.
    One that needs a yes is the top all the same where its state makes it that. `alone`: see
    `is_alone`."""
    if may_land(state, passes, alone, decision, agreed):
        return "itself"
    if state != "untested" and not may_land(state, passes, alone):
        return "override"
    return "yes" if decision and not agreed else "name"


def may_land(
    state: str, passes: bool, alone: bool, decision: str | None = None, agreed: bool = True
) -> bool:
    """Whether a patch lands without being named, and without a yes; of its state alone, without its
    decision: whether it may be the top."""
    return (state == "proved" or (alone and passes)) and not (decision and not agreed)

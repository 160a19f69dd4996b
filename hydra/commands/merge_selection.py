"""What is to be landed: what a person names, else the top of the ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from hydra import executables
from hydra.commands.merge_checks import Check
from hydra.commands.merge_tree import is_whole, picked, placed, whole_files
from hydra.errors import Exhausted, HydraError, LandingRefused, RecordError, Refused, UsageError
from hydra.landing.compose import LanePart
from hydra.landing.picks import Pick
from hydra.landing.record import RuledLane
from hydra.race.recovery import runs
from hydra.race.recovery.runs import RunReading
from hydra.race.verdict import judgement, judgement_to_land
from hydra.ranking.model import LaneVerdict, Verdict
from hydra.records.store.reader import RunRecord
from hydra.report.ranking import (
    OVERRIDE,
    STATES,
    gate_paths,
    is_all_untested,
    is_held_back_whole,
    landing_options,
    lands_by_name,
    question,
    untested_steps,
)
from hydra.report.text import quote
from hydra.text import joined, of_run

NONE = Verdict(run="", lanes=())
"""Where there is none to go by."""

Confirm = Callable[[str], bool]
"""Asks a person whether what this sentence says may land."""


class MergeRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for: a lane, or picks; neither is the top of the ranking. `commit` False
    is --no-commit, `override` why one lands that is not proved.

    `message` None is the task's own; `edit` gives a text to the user's editor and takes it back.
    `warn` is told, before anything is touched, why what is to land is not proved; `tell`, what is
    waited for. `confirm` asks
    for the yes that a patch may need; None: nobody can be asked.
    """

    run: str = ""
    lane: str = ""
    picks: tuple[Pick, ...] = ()
    without: tuple[Pick, ...] = ()
    branch: str = ""
    commit: bool = True
    dry_run: bool = False
    message: str | None = None
    edit: Callable[[str, str], str] | None = None
    check: Check | None = None
    override: str | None = None
    warn: Callable[[str], object] = lambda _: None
    tell: Callable[[str], object] = lambda _: None
    confirm: Confirm | None = None
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)
    directory: Path | None = None

    @property
    def commits(self) -> bool:
        """Whether a commit is made."""
        return self.commit or bool(self.branch)

    @property
    def where(self) -> str:
        """Where it is to land, as it was typed."""
        if self.branch:
            return f" --branch {quote(self.branch)}"
        return "" if self.commit else " --no-commit"


class MergeSelection(Struct, frozen=True, kw_only=True):
    """Each lane's part, and what the verdict says of each lane that is taken whole, or whose part
    counts as the lane: for the record.

    `picks` are what was picked, () for a whole lane. `override` is the reason for which one lands
    that is not proved, "" without one; `confirmed` what a person said yes to, a sentence for each
    lane; `unread` why there is no verdict to go by.
    """

    parts: tuple[LanePart, ...]
    picks: tuple[Pick, ...] = ()
    verdict: tuple[RuledLane, ...] = ()
    override: str = ""
    confirmed: tuple[str, ...] = ()
    unread: str = ""
    judged: Verdict = NONE
    """The verdict that was gone by, whole."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why what is taken whole is not proved, what its code does all the same, and what was left
        to decide of which nobody was asked, a sentence each."""
        gates = (
            f"{lane.lane} is {STATES.get(lane.state, lane.state)}: {why}"
            for lane in self.verdict
            if lane.rank is not None  # an empty patch is refused as that
            for why in lane.against
        )
        decisions = (f"{row.lane} {row.decision}" for row in self.verdict if row.decision)
        unasked = (decision for decision in decisions if decision not in self.confirmed)
        buts = (f"{lane.lane} {lane.but}" for lane in self.verdict if lane.but)
        return (*((self.unread,) if self.unread else ()), *gates, *buts, *unasked)


def chosen(reading: RunReading, request: MergeRequest, scratch: Path) -> MergeSelection:
    """What lands. Raises `UsageError`, and `LandingRefused` where the ranking does not choose,
    where it lands for a reason only and none was given, or where a person does not say yes to it.

    `request.without` is left out of a whole lane, whichever that is. Where it is to land is in each
    line to type again.
    """
    record, lane, picks, without = reading.run, request.lane, request.picks, request.without
    if request.override is not None and not request.override.strip():
        raise UsageError("--override has no reason", hint=OVERRIDE.strip())
    if lane and picks:
        raise UsageError(
            "a lane and picks were given: which is it?",
            hint=f"all of it: --pick {lane}:. beside the other picks",
        )
    if picks and without:
        raise UsageError("--except goes with a whole lane, not with picks", hint="pick less")
    reason = (request.override or "").strip()
    rest = "".join(f" --except {quote(pick.other or pick.path or '.')}" for pick in without)
    options = request.where or landing_options(runs.is_uncommitted(record))
    where = f"{rest}{of_run(record.id)}{options}"
    if lane or picks:
        line = f"{_typed(lane, picks)}{where}"
        verdict, unread = _verdict(reading, request.environ, line, reason)
    else:
        verdict, unread = _judgement(reading, request.environ, where), ""
        lane = _top(record, verdict, rest, options, reason)
    if without:
        excluded = placed(record, [replace(pick, lane=lane) for pick in without])
        picks = (Pick(lane, ""), *excluded)
    parts = picked(record, picks or [Pick(lane, "")], scratch)
    checks, is_rest = request.check is not None, bool(without)
    whole = [
        part.lane
        for part in parts
        if _counts_as_lane(record, part, verdict, checks, is_rest=is_rest)
    ]
    line = f"{_typed(lane, () if without else picks)}{where}"
    _check_states(verdict, whole, line, reason)
    more = f"hydra compare{of_run(record.id)}"
    confirmed = () if reason else _confirmed(verdict, whole, line, more, request.confirm)
    ruled = tuple(_ruled(row, verdict) for name in whole if (row := verdict.lane(name)))
    return MergeSelection(
        parts=parts,
        picks=picks,
        verdict=ruled,
        override=reason,
        confirmed=confirmed,
        unread=unread,
        judged=verdict,
    )


def _verdict(
    reading: RunReading, environ: Mapping[str, str], line: str, reason: str
) -> tuple[Verdict, str]:
    """The verdict, without lanes where there is none; and why it cannot be read. Raises
    `LandingRefused` where it cannot, and no reason was given."""
    try:
        return judgement_to_land(reading, environ) or NONE, ""
    except Exhausted:
        raise
    except HydraError as error:
        if reason:
            return NONE, error.message
        first = f"{error.hint}; " if error.hint else ""
        raise LandingRefused(
            f"nothing was landed: {error.message}",
            hint=f"{first}to land it all the same: hydra merge{line}{OVERRIDE}",
        ) from error


def _counts_as_lane(
    record: RunRecord, part: LanePart, verdict: Verdict, checks: bool, *, is_rest: bool
) -> bool:
    """Whether a part is all of its lane's patch. Of less the checks decide, unless there are none,
    or it takes a file in which lies what speaks against the lane, or what it leaves to decide: any
    file, where none is named for that. What `is_rest` of a whole lane counts as the lane where that
    is held back for what lies in no file."""
    if is_whole(record, part):
        return True
    if (lane := verdict.lane(part.lane)) is None:
        return False
    asks = bool(question(lane, verdict))
    if not asks and not _needs_reason(verdict, part.lane):
        return False
    decided = checks and verdict.checked
    against = gate_paths(lane)
    anywhere = (asks and not against) or (is_rest and is_held_back_whole(lane))
    return not decided or anywhere or not against.isdisjoint(whole_files(record, part))


def _typed(lane: str, picks: Sequence[Pick]) -> str:
    """What lands, as one types it."""
    options = (
        f" --hunk {quote(pick.shown)}"
        if pick.path is None
        else f" --pick {quote(Pick(pick.lane, path=pick.path or '.').shown)}"
        for pick in picks
    )
    return "".join(options) or f" {quote(lane)}"


def _check_states(verdict: Verdict, lanes: Sequence[str], line: str, reason: str) -> None:
    """Raises `LandingRefused` where one of them lands for a reason only, and none was given."""
    mine = filter(None, map(verdict.lane, lanes))
    barred = [lane for lane in mine if not reason and _needs_reason(verdict, lane.lane)]
    if barred:
        raise LandingRefused(
            f"nothing was landed: {barred[0].lane} is {_state(barred[0])}",
            hint=f"to land it all the same: hydra merge{line}{OVERRIDE}",
        )


def _confirmed(
    verdict: Verdict, lanes: Sequence[str], line: str, more: str, confirm: Confirm | None
) -> tuple[str, ...]:
    """What a person has said yes to. Raises `LandingRefused` for a no, and where nobody is there
    to be asked."""
    rows = filter(None, map(verdict.lane, lanes))
    questions = tuple(filter(None, (question(row, verdict) for row in rows)))
    if not questions:
        return ()
    request = "; ".join(questions)
    if confirm is None:
        raise LandingRefused(
            f"nothing was landed: {request}; without a terminal you cannot be asked",
            hint=f"to land it all the same: hydra merge{line}{OVERRIDE}",
        )
    if not confirm(request):
        raise LandingRefused("nothing was landed: you said no", hint=f"`{more}` says more of it")
    return questions


def _needs_reason(verdict: Verdict, lane: str) -> bool:
    """Whether it has a patch that lands only for a reason that a person gives."""
    mine = verdict.lane(lane)
    return bool(mine and mine.rank is not None and not lands_by_name(mine, verdict))


def _judgement(reading: RunReading, environ: Mapping[str, str], where: str) -> Verdict:
    try:
        return judgement(reading, environ)
    except Exhausted:
        raise
    except (Refused, RecordError) as error:
        override = OVERRIDE if isinstance(error, RecordError) else ""
        raise type(error)(
            f"no lane was named, and there is no ranking to take one from: {error.message}",
            hint=f"name the lane: hydra merge LANE{where}{override}; "
            f"`hydra runs show {reading.run.id}` lists them",
        ) from error


def _top(record: RunRecord, verdict: Verdict, rest: str, options: str, reason: str) -> str:
    """The one lane to land. Raises `LandingRefused` with the lines to type instead, each with
    `rest`, what is left out."""
    if verdict.top:
        return verdict.top
    untested = is_all_untested(verdict)
    ranked = [lane for lane in verdict.lanes if lane.rank is not None]
    able = [lane for lane in ranked if untested and lane.state == "untested"]
    first = able or [lane for lane in ranked if untested or lane.rank == 1]
    names = [lane.lane for lane in first]
    if not first:
        raise LandingRefused(
            "nothing was landed: no lane has a patch",
            hint=f"`hydra runs show {record.id}` says why",
        )
    run = of_run(record.id)
    how = f"{rest}{run}{options or landing_options(verdict.uncommitted)}"
    lines = "".join(
        f"\nhydra merge {quote(name)}{how}{OVERRIDE if _needs_reason(verdict, name) else ''}"
        for name in names
    )
    cannot = "; --override does not choose between them" if reason else ""
    if untested and (not reason or len(first) > 1):
        _, test, when = untested_steps(verdict)
        raise LandingRefused(
            f"nothing was landed: nothing was tested, and there is no first{cannot}",
            hint=f"{when}: {test}\nor look (hydra compare{run}), then name one:{lines}",
        )
    if len(first) > 1 and any(map(verdict.lands, first)):
        tied = f"{joined(names)} are tied"
        raise LandingRefused(
            f"nothing was landed: {tied}{cannot}",
            hint=f"look (hydra compare{run}), then name one:{lines}",
        )
    if not reason or len(first) > 1:
        many = len(verdict.lanes) > 1
        unproved = f"no patch is proved; {names[0]}, which comes first," if many else names[0]
        raise LandingRefused(
            f"nothing was landed: {unproved} is {_state(first[0])}",
            hint=f"hydra compare{run} says more; to land it all the same:{lines}",
        )
    return names[0]


def _state(lane: LaneVerdict) -> str:
    """Its state, and why in one sentence."""
    return f"{STATES[lane.state]}: {lane.reason or '; '.join(gate.text for gate in lane.gates)}"


def _ruled(lane: LaneVerdict, verdict: Verdict) -> RuledLane:
    return RuledLane(
        lane=lane.lane,
        rank=lane.rank,
        state=lane.state,
        reason=lane.reason,
        decision=lane.decision,
        agreed=lane.agreed,
        checked=verdict.checked,
        gates=tuple(gate.text for gate in lane.gates),
    )

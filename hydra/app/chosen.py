"""What is to be landed: what a person names, else the top of the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.app.judgement import Verdict, judgement, judgement_to_land, lands, lane_of
from hydra.errors import LandingRefused, RecordError, Refused, UsageError
from hydra.git.runner import is_unanswered
from hydra.landing.picks import Pick
from hydra.reporters.ranking import OVERRIDE, landing_options, lands_by_name, state_words
from hydra.reporters.text import quote
from hydra.store import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The picks, and what the verdict says of each lane that is taken whole: for the record.

    `override` is the reason for which one lands that is not proved, "" without one.
    """

    picks: tuple[Pick, ...]
    verdict: tuple[Mapping[str, Any], ...] = ()
    override: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why what is taken whole is not proved, a sentence each."""
        return tuple(
            f"{lane['lane']} is {state_words(lane)}: {why}"
            for lane in self.verdict
            for why in _against(lane)
        )


def chosen(
    record: RunRecord,
    lane: str,
    picks: Sequence[Pick],
    *,
    run: str,
    override: str | None,
    environ: Mapping[str, str],
    options: str = "",
) -> Chosen:
    """What lands. Raises `UsageError`, and `LandingRefused` where the ranking does not choose.

    `run` is how the run was named, "" for the latest, and `options` where it is to land: the lines
    to type name both again.
    """
    if override is not None and not override.strip():
        raise UsageError("--override has no reason", hint=OVERRIDE.strip())
    if lane and picks:
        raise UsageError(
            "a lane and picks were given: which is it?",
            hint=f"all of it: --pick {lane}:. beside the other picks",
        )
    reason = (override or "").strip()
    if picks:
        whole = [pick.lane for pick in picks if pick.path == ""]
        known = judgement_to_land(record, environ) if whole else None
        shown = "".join(f" {_typed(pick)}" for pick in picks)
        _check_states(known or {}, whole, f"{shown}{_of_run(run)}{options}", reason)
        told = [lane_of(known, it) for it in dict.fromkeys(whole)] if known else []
        kept = tuple(_kept(one, known or {}) for one in told if one)
        return Chosen(picks=tuple(picks), verdict=kept, override=reason)
    verdict = judgement_to_land(record, environ) if lane else _judgement(record, environ)
    if lane:
        _check_states(verdict or {}, [lane], f" {quote(lane)}{_of_run(run)}{options}", reason)
    lane = lane or _top(verdict or {}, _of_run(run), options, reason)
    mine = lane_of(verdict, lane) if verdict else {}
    return Chosen(
        picks=(Pick(lane, ""),),
        verdict=(_kept(mine, verdict or {}),) if mine else (),
        override=reason,
    )


def _typed(pick: Pick) -> str:
    if pick.path is None:
        return f"--hunk {quote(pick.shown)}"
    whole = Pick(pick.lane, path=pick.path or ".")
    return f"--pick {quote(whole.shown)}"


def _of_run(run: str) -> str:
    return f" -r {quote(run)}" if run else ""


def _check_states(verdict: Verdict, lanes: Sequence[str], line: str, reason: str) -> None:
    """Raises `LandingRefused` where one of them lands for a reason only, and none was given."""
    barred = [lane for lane in lanes if not reason and _needs_reason(verdict, lane)]
    if barred:
        raise LandingRefused(
            f"nothing was landed: {barred[0]} is {_why(lane_of(verdict, barred[0]))}",
            hint=f"to land it all the same: hydra merge{line}{OVERRIDE}",
        )


def _needs_reason(verdict: Verdict, lane: str) -> bool:
    """Whether it has a patch that lands only for a reason that a person gives."""
    mine = lane_of(verdict, lane) if verdict else {}
    return mine.get("rank") is not None and not lands_by_name(mine, verdict)


def _judgement(record: RunRecord, environ: Mapping[str, str]) -> Verdict:
    try:
        return judgement(record, environ)
    except (Refused, RecordError) as error:
        if is_unanswered(error):
            raise
        raise type(error)(
            f"no lane was named, and there is no ranking to take one from: {error.message}",
            hint="name the lane: hydra merge LANE; `hydra runs show` lists them",
        ) from error


def _top(verdict: Verdict, named: str, options: str, reason: str) -> str:
    """The one lane to land. Raises `LandingRefused` with the lines to type instead."""
    if verdict.get("top"):
        return str(verdict["top"])
    first = [lane for lane in verdict["lanes"] if lane.get("rank") == 1]
    names = [str(lane["lane"]) for lane in first]
    if not first:
        raise LandingRefused(
            "nothing was landed: no lane has a patch", hint="`hydra runs show` says why"
        )
    how = f"{named}{options or landing_options(verdict)}"
    lines = ", or ".join(f"hydra merge {quote(name)}{how}" for name in names)
    if len(first) > 1 and any(lands(verdict, name) for name in names):
        tied = f"{', '.join(names[:-1])} and {names[-1]} are tied"
        cannot = "; --override does not choose between them" if reason else ""
        raise LandingRefused(
            f"nothing was landed: {tied}{cannot}",
            hint=f"look (hydra compare{named}), then name one: {lines}",
        )
    if not reason or len(first) > 1:
        override = OVERRIDE if any(_needs_reason(verdict, it) for it in names) else ""
        raise LandingRefused(
            f"nothing was landed: {_unproved(first[0], len(verdict['lanes']))}",
            hint=f"hydra compare{named} says more; to land it all the same: {lines}{override}",
        )
    return names[0]


def _unproved(lane: Mapping[str, Any], of: int) -> str:
    """Why the first in rank does not land by itself."""
    if of == 1:
        return f"{lane['lane']} is {_why(lane)}"
    return f"no patch is proved; {lane['lane']}, which comes first, is {_why(lane)}"


def _why(lane: Mapping[str, Any]) -> str:
    """Its state, and why in one sentence."""
    return f"{state_words(lane)}: {lane.get('reason') or '; '.join(_texts(lane))}"


def _kept(lane: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    names = ("lane", "rank", "state", "reason", "mergeable")
    kept = {name: lane.get(name) for name in names}
    return {**kept, "checked": verdict.get("checked"), "gates": _texts(lane)}


def _against(lane: Mapping[str, Any]) -> list[str]:
    """Its gates; else why it is not proved, where checks ran."""
    if gates := list(lane["gates"]):
        return gates
    unproved = lane["state"] != "proved" and lane["checked"] is not False
    return [str(lane["reason"])] if unproved and lane["reason"] else []


def _texts(lane: Mapping[str, Any]) -> list[str]:
    return [str(gate.get("text", "")) for gate in lane.get("gates") or ()]

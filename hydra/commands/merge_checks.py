"""What is to be landed is checked before anything is touched: again, unless it was in its race."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from signal import SIGINT
from typing import Any

from hydra.checks.record import CheckDocument, CheckStatus
from hydra.commands.merge_tree import ComposedTree, tree_of
from hydra.errors import (
    LandingInterrupted,
    LandingRefused,
    LandingTerminated,
    RecordError,
    Refused,
)
from hydra.git import patches
from hydra.race.recovery import runs
from hydra.race.recovery.runs import RunReading
from hydra.race.verdict import is_anew
from hydra.ranking.model import LaneResult, LaneVerdict, Verdict
from hydra.records.codec import as_json, shaped
from hydra.records.store.reader import RunRecord
from hydra.text import fail, join_names, of_run, passes, plural

Check = Callable[[RunRecord, str], Mapping[str, Any]]
"""Runs the checks of a run on a commit in its patches.git: `ok`, `why`, what a record
keeps, and `interrupted` (a signal's number) where they did not come to their end."""


def checked(
    reading: RunReading, tree: ComposedTree, check: Check, verdict: Verdict, *, ruled: bool = False
) -> Mapping[str, Any]:
    """What came of the checks on this composition. Raises `LandingRefused` where one holds it back.

    A lane that lands as it is, where the race began, is the very tree that its race has checked,
    or `hydra check` since: then `verdict` has the results. `ruled`: what was found
    there holds nothing back, for the lane's state has decided, or a person's reason; what is found
    only now still does.
    """
    record, since = reading.run, is_anew(reading.race, verdict)
    # With the checks that count: those of its race, or those run since.
    lanes = [verdict.lane(name) if since else reading.lanes.get(name) for name in tree.lanes]
    document = _by_now(reading, tree, lanes, since=since)
    if document is None:
        commit = patches.commit_tree(
            record.patches, tree=tree.result, base=tree.head, message="to be checked\n"
        )
        try:
            document = check(record, commit)
        except (Refused, RecordError) as refused:
            # What helps may be an option of `hydra check`, which a landing has not.
            says = f"hydra check{of_run(record.id)} says what helps"
            way = says if "--" in refused.hint else refused.hint
            raise LandingRefused(
                f"nothing was landed: its checks cannot be run: {refused.message}",
                hint=f"{way}; or land it unchecked: --no-check",
            ) from refused
    if number := document.get("interrupted"):
        stopped = LandingInterrupted if number == SIGINT else LandingTerminated
        raise stopped(
            "nothing was landed: its checks were interrupted",
            hint="land again; or land it unchecked: --no-check",
        )
    is_known = bool(document.get("recorded"))
    failing = "" if is_known else "; ".join(_new_failures(reading, tree, document, lanes))
    is_known = ruled and (is_known or _is_known(lanes, document))
    if failing or not (document["ok"] or is_known):
        raise LandingRefused(
            f"nothing was landed: {failing if is_known else document['why'] or failing}",
            hint=f"{_output(record, document)}--no-check lands it all the same",
        )
    return document


CheckedLane = LaneVerdict | LaneResult | None


def _is_known(lanes: Sequence[CheckedLane], document: Mapping[str, Any]) -> bool:
    """Whether all that checks hold against it now they have held against each of its lanes."""
    against = _against(_results(document))
    return bool(against) and all(lane and against <= _against(lane.checks) for lane in lanes)


def _against(checks: Sequence[CheckDocument]) -> set[tuple[str, str]]:
    return {(check.check, check.held_back) for check in checks if check.held_back}


def _new_failures(
    reading: RunReading,
    tree: ComposedTree,
    document: Mapping[str, Any],
    lanes: Sequence[CheckedLane],
) -> Iterator[str]:
    """Tests that fail here, and neither did on the base nor do with a lane's own patch; and those
    that failed on the base and that each lane mends, where there are several or the branch has
    moved: of a part of one, left alone, nobody has said that it mends them."""
    is_moved = tree.head != tree.base and len(tree.lanes) == 1
    is_moved = is_moved and tree.tree == tree_of(
        reading.run, runs.commit_of(reading.run, tree.lanes[0])
    )
    own = {
        (check.check, name)
        for lane in tree.lanes
        if lane in reading.lanes
        for check in reading.lanes[lane].checks
        for name in _new_failing(check)
    }
    for check in _results(document):
        names = [name for name in _new_failing(check) if (check.check, name) not in own]
        if names and check.required:
            verb = "fails" if len(names) == 1 else "fail"
            tests = f"{plural(len(names), 'test')} that did not run on the base"
            yield f"{check.check}: {tests} {verb}: {join_names(names, _NAMED)}"
        still = check.comparison.still_failing if check.comparison and check.required else ()
        mended = [name for name in still if all(name in _mends(lane, check) for lane in lanes)]
        if mended and (len(lanes) > 1 or is_moved):
            with_all = " and ".join(f"with {lane}" for lane in tree.lanes)
            tests = f"{plural(mended, 'test')} that {passes(mended)} {with_all}"
            fails = f"{fail(mended)} in what would land"
            yield f"{check.check}: {tests} {fails}: {join_names(mended, _NAMED)}"


def _mends(lane: CheckedLane, check: CheckDocument) -> Sequence[str]:
    """What failed on the base and passes with all of a lane's patch."""
    own = (row for row in (lane.checks if lane else ()) if row.check == check.check)
    return next((row.comparison.fixed for row in own if row.comparison), ())


_NAMED = 3
"""Tests that a sentence names."""


def _results(document: Mapping[str, Any]) -> tuple[CheckDocument, ...]:
    return shaped(document.get("checks", ()), tuple[CheckDocument, ...])


def _output(record: RunRecord, document: Mapping[str, Any]) -> str:
    """Where it can be read what the first check that did not pass has printed, if anywhere."""
    names = (check.output for check in _results(document) if check.status is not CheckStatus.PASSED)
    files = (record.folder / name for name in names if name)
    return next((f"its output is in {file}; " for file in files if file.is_file()), "")


def _new_failing(check: CheckDocument) -> Sequence[str]:
    return check.comparison.new_failing if check.comparison else ()


_NOT_TO_ITS_END = (CheckStatus.INTERRUPTED, CheckStatus.NOT_RUN)


def _by_now(
    reading: RunReading, tree: ComposedTree, lanes: Sequence[CheckedLane], *, since: bool
) -> Mapping[str, Any] | None:
    """What was found of this very tree, in its race or since."""
    if len(tree.lanes) != 1 or tree.head != tree.base:
        return None
    ((name,), (lane,), record) = tree.lanes, lanes, reading.run
    in_race = reading.lanes.get(name)
    if in_race is None or lane is None or not lane.checks:
        return None
    if any(check.status in _NOT_TO_ITS_END for check in lane.checks):
        return None
    commit = runs.commit_of(record, name)
    if in_race.patch and in_race.patch.commit != commit:
        return None  # its branch was moved since: what was checked is another patch
    if tree_of(record, commit) != tree.result:
        return None
    by_checks = tuple(check.held_back for check in lane.checks if check.held_back)
    against = by_checks if since else in_race.held_back
    checks, why = as_json(lane.checks), "; ".join(against)
    return {"ok": not against, "why": why, "checks": checks, "recorded": True, "since": since}

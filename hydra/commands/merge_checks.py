"""What is to be landed is checked before anything is touched: again, unless it was in its race."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from signal import SIGINT
from typing import Any

from hydra.checks.record import CheckStatus
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
from hydra.race.verdict import Verdict, is_anew, lane_of
from hydra.records.store.reader import RunRecord
from hydra.text import join_names, of_run, plural

Check = Callable[[RunRecord, str], Mapping[str, Any]]
"""Runs the checks of a run on a commit in its patches.git: `ok`, `why`, what a record
keeps, and `interrupted` (a signal's number) where they did not come to their end."""


def checked(
    record: RunRecord, tree: ComposedTree, check: Check, verdict: Verdict, *, ruled: bool = False
) -> Mapping[str, Any]:
    """What came of the checks on this composition. Raises `LandingRefused` where one holds it back.

    A lane that lands as it is, where the race began, is the very tree that its race has checked,
    or `hydra check` since: then `verdict` has the results. `ruled`: what was found
    there holds nothing back, for the lane's state has decided, or a person's reason; what is found
    only now still does.
    """
    document = _by_now(record, tree, verdict)
    if document is None:
        commit = patches.commit_tree(
            record.patches, tree=tree.result, base=tree.head, message="to be checked\n"
        )
        try:
            document = check(record, commit)
        except (Refused, RecordError) as refused:
            # What helps may be an option of `hydra check`, which a landing has not.
            way = (
                f"hydra check{of_run(record.id)} says what helps"
                if "--" in refused.hint
                else refused.hint
            )
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
    failing = "" if is_known else "; ".join(_new_failures(record, tree, document))
    is_known = ruled and (is_known or _is_known(record, tree, document, verdict))
    if failing or not (document["ok"] or is_known):
        raise LandingRefused(
            f"nothing was landed: {failing if is_known else document['why'] or failing}",
            hint=f"{_output(record, document)}--no-check lands it all the same",
        )
    return document


def _is_known(
    record: RunRecord, tree: ComposedTree, document: Mapping[str, Any], verdict: Verdict
) -> bool:
    """Whether all that checks hold against it now they have held against each of its lanes."""
    against, anew, rows = _against(document), is_anew(record, verdict), runs.read(record).lanes
    lanes = (lane_of(verdict, lane) if anew else rows.get(lane, {}) for lane in tree.lanes)
    return bool(against) and all(against <= _against(lane) for lane in lanes)


def _against(document: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {
        (result["check"], result["held_back"])
        for result in _results(document)
        if result.get("held_back")
    }


def _new_failures(
    record: RunRecord, tree: ComposedTree, document: Mapping[str, Any]
) -> Iterator[str]:
    """Tests that fail here, and neither did on the base nor do with a lane's own patch."""
    lanes = runs.read(record).lanes
    own = {
        (result.get("check"), name)
        for lane in tree.lanes
        for result in _results(lanes.get(lane, {}))
        for name in _new_failing(result)
    }
    for result in _results(document):
        names = [name for name in _new_failing(result) if (result["check"], name) not in own]
        if names and result.get("required"):
            verb = "fails" if len(names) == 1 else "fail"
            tests = f"{plural(len(names), 'test')} that the base does not have"
            says = f"{tests} {verb}: {join_names(names, _NAMED)}"
            yield f"{result['check']}: {says}"


_NAMED = 3
"""Tests that a sentence names."""


def _results(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    checks = document.get("checks")
    return (
        [check for check in checks if isinstance(check, dict)] if isinstance(checks, list) else []
    )


def _output(record: RunRecord, document: Mapping[str, Any]) -> str:
    """Where it can be read what the first check that did not pass has printed, if anywhere."""
    names = (
        result.get("output") for result in _results(document) if result.get("status") != "passed"
    )
    files = (record.folder / name for name in names if isinstance(name, str))
    return next((f"its output is in {file}; " for file in files if file.is_file()), "")


def _new_failing(result: Mapping[str, Any]) -> list[str]:
    comparison = result.get("comparison")
    names = comparison.get("new_failing") if isinstance(comparison, dict) else None
    return names if isinstance(names, list) else []


_NOT_TO_ITS_END = (CheckStatus.INTERRUPTED, CheckStatus.NOT_RUN)


def _by_now(record: RunRecord, tree: ComposedTree, verdict: Verdict) -> Mapping[str, Any] | None:
    """What was found of this very tree, in its race or since."""
    if len(tree.lanes) != 1 or tree.head != tree.base:
        return None
    (lane,) = tree.lanes
    document = runs.read(record).lanes.get(lane, {})
    results, value = document.get("checks"), document.get("held_back")
    if since := is_anew(record, verdict):
        results = lane_of(verdict, lane).get("checks")
        value = [row["held_back"] for row in results or () if row.get("held_back")]
    if not isinstance(results, list) or not isinstance(value, list) or not results:
        return None
    if any(result.get("status") in _NOT_TO_ITS_END for result in results):
        return None
    commit, patch = runs.commit_of(record, lane), document.get("patch")
    if isinstance(patch, dict) and patch.get("commit") != commit:
        return None  # its branch was moved since: what was checked is another patch
    if tree_of(record, commit) != tree.result:
        return None
    why = "; ".join(map(str, value))
    return {"ok": not value, "why": why, "checks": results, "recorded": True, "since": since}

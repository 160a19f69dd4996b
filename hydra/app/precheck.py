"""What is to be landed is checked before anything is touched: again, unless it was in its race."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from signal import SIGINT
from typing import Any

from hydra.app import runs
from hydra.app.composing import Made, tree_of
from hydra.errors import (
    LandingInterrupted,
    LandingRefused,
    LandingTerminated,
    RecordError,
    Refused,
)
from hydra.git import patches
from hydra.naming import some
from hydra.reporters.text import plural
from hydra.store import RunRecord

Check = Callable[[RunRecord, str], Mapping[str, Any]]
"""Runs the checks of a run on a commit in its patches.git: `ok`, `why`, what a record
keeps, and `interrupted` (a signal's number) where they did not come to their end."""


def checked(
    record: RunRecord, made: Made, check: Check, *, ruled: bool = False
) -> Mapping[str, Any]:
    """What came of the checks on this composition. Raises `LandingRefused` where one holds it back.

    A lane that lands as it is, where the race began, is the very tree that its race has checked.
    `ruled`: what its race has found holds nothing back, for the lane's state has decided, or a
    person's reason; what is found only now still does.
    """
    told = _in_the_race(record, made)
    if told is None:
        commit = patches.commit_tree(
            record.patches, tree=made.result, base=made.head, message="to be checked\n"
        )
        try:
            told = check(record, commit)
        except (Refused, RecordError) as refused:
            raise LandingRefused(
                f"nothing was landed: its checks cannot be run: {refused.message}",
                hint=f"{refused.hint}; or land it unchecked: --no-check",
            ) from refused
    if number := told.get("interrupted"):
        stopped = LandingInterrupted if number == SIGINT else LandingTerminated
        raise stopped(
            "nothing was landed: its checks were interrupted",
            hint="land again; or land it unchecked: --no-check",
        )
    if why := "" if told.get("recorded") else "; ".join(_new_failures(record, made, told)):
        told = {**told, "ok": False, "why": told["why"] or why}
    if not told["ok"] and not (ruled and told.get("recorded")):
        raise LandingRefused(
            f"nothing was landed: {told['why']}",
            hint="`hydra runs show` has the checks' output; --no-check lands it all the same",
        )
    return told


def _new_failures(record: RunRecord, made: Made, told: Mapping[str, Any]) -> Iterator[str]:
    """Tests that fail here, and neither did on the base nor do with a lane's own patch."""
    lanes = runs.read(record).lanes
    own = {
        (result.get("check"), name)
        for lane in made.lanes
        for result in _results(lanes.get(lane, {}))
        for name in _new_failing(result)
    }
    for result in _results(told):
        names = [it for it in _new_failing(result) if (result["check"], it) not in own]
        if names and result.get("required"):
            verb = "fails" if len(names) == 1 else "fail"
            tests = f"{plural(len(names), 'test')} that the base does not have"
            says = f"{tests} {verb}: {some(names, _NAMED)}"
            yield f"{result['check']}: {says}"


_NAMED = 3
"""Tests that a sentence names."""


def _results(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    checks = told.get("checks")
    return [it for it in checks if isinstance(it, dict)] if isinstance(checks, list) else []


def _new_failing(result: Mapping[str, Any]) -> list[str]:
    comparison = result.get("comparison")
    names = comparison.get("new_failing") if isinstance(comparison, dict) else None
    return names if isinstance(names, list) else []


def _in_the_race(record: RunRecord, made: Made) -> Mapping[str, Any] | None:
    if len(made.lanes) != 1 or made.head != made.base:
        return None
    (lane,) = made.lanes
    told = runs.read(record).lanes.get(lane, {})
    results, held = told.get("checks"), told.get("held_back")
    if not isinstance(results, list) or not isinstance(held, list) or not results:
        return None
    if any(result.get("status") in ("interrupted", "not run") for result in results):
        return None
    commit, patch = runs.commit_of(record, lane), told.get("patch")
    if isinstance(patch, dict) and patch.get("commit") != commit:
        return None  # its branch was moved since: what was checked is another patch
    if tree_of(record, commit) != made.result:
        return None
    return {"ok": not held, "why": "; ".join(map(str, held)), "checks": results, "recorded": True}

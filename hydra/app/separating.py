"""`hydra compare --separate AGENT`: tests that tell the leading patches apart, asked of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hydra.app import runs
from hydra.app.apart import Ran, Stage, run_apart
from hydra.app.asker import Asker, ready
from hydra.app.asking import asked
from hydra.app.check import CheckRequest, plan_here
from hydra.app.consult import (
    Consulted,
    failed,
    interrupted,
    patched,
    task_of,
    without_names,
)
from hydra.app.consulted import SCHEMA, SEPARATED, separated
from hydra.app.judgement import judgement
from hydra.errors import Refused
from hydra.git.patches import names
from hydra.judge.asking import excerpts, newtests, prompts
from hydra.judge.asking.leading import leading
from hydra.judge.asking.newtests import NewTest, Places
from hydra.judge.asking.unnamed import Unnamed
from hydra.model import RacePlan
from hydra.store import RunRecord, shared, write_json

NOTHING = "there is nothing to tell apart: the leading patches are one group"

Groups = tuple[tuple[str, ...], ...]


def separate(asker: Asker, run: str = "") -> Consulted:
    """Asks an agent for tests that tell the leading groups apart, and tries them.

    Raises what `review` does, and `Refused`, `UsageError` where the run's checks cannot run here.
    """
    place = runs.here(asker.environ)
    found = runs.find(place, run)
    with shared(found.folder):
        lanes = patched(found)
        groups = leading(judgement(found, asker.environ))
        if len(groups) < 2:
            return Consulted(says=NOTHING)
        check = CheckRequest(run=found.id, environ=asker.environ)
        plan, config, warnings = plan_here(place, found, check)
        plan, groups, cut = _within(plan, groups)
        who = ready(place, asker)
        shown = without_names(found, {group[0]: lanes[group[0]] for group in groups})
        prompt = _prompt(found, plan, shown)
        with asked(place, found, who, prompt) as session:
            answer = session.answer
            if answer.interrupted:
                return interrupted(answer)
            if answer.why:
                return failed(answer)
            tests, refused = _tests(found, lanes, answer.texts)
            stage = Stage(
                place=place,
                found=found,
                plan=plan,
                config=config,
                environ=asker.environ,
                id=session.id,
                folder=session.folder,
                lanes=shown.lanes,
                tell=asker.tell,
            )
            ran = run_apart(stage, tests, _commits(shown, lanes)) if tests else Ran()
            if ran.interrupted:
                session.kept = False
                return interrupted(replace(answer, interrupted=ran.interrupted))
            said = (*warnings, *cut, *refused, *ran.warnings, *answer.remarks)
            document = {
                "schema": SCHEMA,
                "kind": "separated",
                **answer.head(),
                **_result(tests, ran, shown, groups),
                "warnings": list(said),
            }
            write_json(session.folder / SEPARATED, document)
        return Consulted(
            says=_says(answer.agent, document),
            folder=session.folder,
            warnings=tuple(f"{answer.agent}: {one}" for one in said),
        )


def _within(plan: RacePlan, groups: Groups) -> tuple[RacePlan, Groups, tuple[str, ...]]:
    """The plan with the checks that are needed, and as many groups as may be tried."""
    tests = [check for check in plan.checks if check.kind == "test"]
    if not tests:
        raise Refused(
            "this run has no check that runs tests, so no test can tell its patches apart",
            hint="race with --check, or name one now: hydra check --check ...",
        )
    checks = tuple(check for check in plan.checks if check.kind in ("build", "test"))
    most = plan.trials.runs // (2 * len(tests)) - 1
    if most < 2:
        raise Refused(
            f"the limit of {plan.trials.runs} runs leaves no room for trying tests: on the base and"
            f" two patches, twice each, they are {6 * len(tests)}",
            hint="raise judge.trial_runs in hydra.toml",
        )
    cut = groups[most:]
    said = (f"{', '.join(it[0] for it in cut)}: not tried, by judge.trial_runs",) if cut else ()
    return replace(plan, checks=checks), groups[:most], said


def _prompt(found: RunRecord, plan: RacePlan, shown: Unnamed) -> str:
    commands = [check.command for check in plan.checks if check.kind == "test"]
    return prompts.separate(
        task_of(found), shown, commands, newtests.examples(_paths(found, found.base))
    )


def _paths(found: RunRecord, commit: str) -> frozenset[str]:
    return frozenset(
        path.decode("utf-8", "backslashreplace") for path in names(found.patches, commit)
    )


def _tests(
    found: RunRecord, lanes: Mapping[str, str], texts: Sequence[str]
) -> tuple[tuple[NewTest, ...], tuple[str, ...]]:
    base = _paths(found, found.base)
    there = Places.of([base, *(_paths(found, commit) for commit in lanes.values())])
    return newtests.read(texts, there, base)


def _commits(shown: Unnamed, lanes: Mapping[str, str]) -> dict[str, str]:
    return {letter: lanes[lane] for letter, lane in shown.lanes.items()}


def _result(
    tests: Sequence[NewTest], ran: Ran, shown: Unnamed, groups: Groups
) -> dict[str, object]:
    """The part of the document that is about tests; cells go by lane, a group's all alike."""
    of = {group[0]: group for group in groups}
    lanes = {letter: of[lane] for letter, lane in shown.lanes.items()}
    texts = {test.path: test.text for test in tests}
    counting = [row for row in ran.rows if row.counts]
    return {
        "patches": dict(shown.lanes),
        "groups": [list(group) for group in groups],
        "files": [{"path": path, "text": text} for path, text in texts.items()],
        "tests": [
            {
                "id": row.id,
                "path": _path_of(row.id, texts),
                "check": row.check,
                "cells": _by_lane(row.cells, lanes),
                "base": row.base,
                "counts": row.counts,
                "why": row.why,
            }
            for row in ran.rows
        ],
        "separates": bool(counting),
        "shown": [
            {
                "id": row.id,
                "source": excerpts.source(list(texts.values()), row.id),
                "gives": _by_lane(
                    {
                        letter: "passed" if cell == "passed" else ran.said(letter, row)
                        for letter, cell in row.cells.items()
                    },
                    lanes,
                ),
            }
            for row in counting
        ],
    }


def _by_lane(cells: Mapping[str, str], lanes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {lane: cell for letter, cell in cells.items() for lane in lanes[letter]}


def _path_of(id: str, texts: Mapping[str, str]) -> str:
    """The file that a test is in: the one with its name, of several the one that its id names."""
    named = [path for path, text in texts.items() if excerpts.source([text], id)]
    for path in named:
        stem = path.rpartition("/")[2].split(".")[0]
        if stem in id:
            return path
    return named[0] if named else ""


def _says(agent: str, document: Mapping[str, Any]) -> str:
    tests = document["tests"]
    counting = sum(one["counts"] for one in tests)
    if counting:
        return f"{counting} of {len(tests)} tests of {agent}'s tell the leading patches apart"
    if not tests:
        return f"no test of {agent}'s could be tried"
    why = "; ".join(dict.fromkeys(one["why"] for one in tests))
    return f"none of {agent}'s {len(tests)} tests tells the leading patches apart: {why}"


__all__ = ["separate", "separated"]

"""`hydra compare --separate AGENT`: tests that tell patches apart, asked of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.commands.check_plan import plan_here
from hydra.commands.review import excerpts, prompts, test_files
from hydra.commands.review.anonymize import AnonymousPatches
from hydra.commands.review.review import AnswerLines, task_of, unanswered, without_names
from hydra.commands.review.run_tests import ReviewRuns, Stage, run_apart
from hydra.commands.review.session import Asker, ask, ready
from hydra.commands.review.test_files import Places
from hydra.errors import Refused
from hydra.git.patches import names
from hydra.race.check_selection import folder_of
from hydra.race.recovery import runs
from hydra.race.recovery.reviews import SEPARATED
from hydra.race.verdict import judgement
from hydra.ranking.model import Verdict
from hydra.records.codec import SCHEMA
from hydra.records.plan import RacePlan
from hydra.records.store.files import shared, write_json
from hydra.records.store.reader import RunRecord
from hydra.report.compare import answer as answer_in_words
from hydra.text import joined, of_run, were

MOST = 6
"""Groups that are told apart at once."""

Groups = tuple[tuple[str, ...], ...]


def separate(asker: Asker, run: str = "") -> AnswerLines:
    """Asks an agent for tests that tell the groups apart that pass their gates, and tries them.

    Raises what `review` does, and `Refused`, `UsageError` where the run's checks cannot run here.
    """
    place = runs.repository_runs()
    record = runs.find(place, run)
    with shared(record.folder):
        lanes = runs.patched(record)
        groups = patch_groups(judgement(runs.read(record), place.environ))
        if len(groups) < 2:
            return (nothing(groups, all=len(lanes)),), 0
        folder = folder_of(place.repository.root, Path.cwd())
        plan, config, warnings = plan_here(place, record, {}, folder)
        plan, groups, untried, cut = _within(plan, groups)
        who = ready(place, asker)
        shown = without_names(record, {group[0]: lanes[group[0]] for group in groups})
        base = _paths(record, record.base)
        commands = [check.command for check in plan.checks if check.kind == "test"]
        examples = test_files.examples(base)
        prompt = prompts.separate(task_of(record), shown, commands, examples)
        with ask(record, who, prompt) as answer:
            if answer.interrupted or answer.why:
                return unanswered(answer)
            trees = [base, *(_paths(record, commit) for commit in lanes.values())]
            tests, refused = test_files.read(answer.texts, Places.of(trees), base)
            stage = Stage(
                place=place,
                record=record,
                plan=plan,
                config=config,
                id=answer.run,
                folder=answer.folder,
                lanes=shown.lanes,
                untried=untried,
                tell=asker.tell,
            )
            commits = {letter: lanes[lane] for letter, lane in shown.lanes.items()}
            ran = run_apart(stage, tests, commits) if tests else ReviewRuns()
            if ran.interrupted:
                return unanswered(replace(answer, interrupted=ran.interrupted))
            lines = (*warnings, *cut, *refused, *ran.warnings, *answer.remarks)
            document = {
                "schema": SCHEMA,
                "kind": "separated",
                **answer.head(),
                **_result(tests, ran, shown, groups),
                "warnings": list(lines),
            }
            write_json(answer.folder / SEPARATED, document)
    remarks = (f"warning: {answer.agent}: {line}" for line in lines)
    return (*remarks, answer_in_words(document)), 0


def _within(
    plan: RacePlan, groups: Groups
) -> tuple[RacePlan, Groups, tuple[str, ...], tuple[str, ...]]:
    """The plan with the checks that are needed, as many groups as may be tried, the lanes of the
    others, and a sentence on these."""
    tests = [check for check in plan.checks if check.kind == "test"]
    if not tests:
        raise Refused(
            "this run has no check that runs tests, so no test can tell its patches apart",
            hint=f"race with --check, or name one now: hydra check{of_run(plan.run)} --check ...",
        )
    checks = tuple(check for check in plan.checks if check.kind in ("build", "test"))
    most = plan.checking.trials.runs // (2 * len(tests)) - 1
    if most < 2:
        raise Refused(
            f"the limit of {plan.checking.trials.runs} runs leaves no room for trying tests: on "
            f"the base and two patches, twice each, they are {6 * len(tests)}",
            hint="raise judge.trial_runs in hydra.toml",
        )
    room = min(most, MOST)
    untried = tuple(lane for group in groups[room:] for lane in group)
    by = f"the limit of {MOST} groups" if room == MOST else "judge.trial_runs"
    value = (f"{joined(untried)} {were(untried)} not tried, by {by}",) if untried else ()
    return plan.with_checks(commands=checks), groups[:room], untried, value


def _paths(record: RunRecord, commit: str) -> frozenset[str]:
    return frozenset(
        path.decode("utf-8", "backslashreplace") for path in names(record.patches, commit)
    )


def _result(
    texts: Mapping[str, str], ran: ReviewRuns, shown: AnonymousPatches, groups: Groups
) -> dict[str, object]:
    """The part of the document that is about tests; cells go by lane, a group's all alike."""
    of = {group[0]: group for group in groups}
    lanes = {letter: of[lane] for letter, lane in shown.lanes.items()}
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
                        letter: "passed" if cell == "passed" else ran.printed(letter, row)
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


# ---- Which groups of patches are worth telling apart.


def patch_groups(verdict: Verdict) -> Groups:
    """The groups of a verdict, the best first: lanes whose patches are the same or
    equivalent are one group.

    Where some lanes pass their gates, the others do not count.
    """
    lanes = [lane for lane in verdict.lanes if lane.rank is not None]
    lanes = [lane for lane in lanes if lane.passes_gates] or lanes
    same = _same(verdict)
    names = [lane.lane for lane in lanes]
    rows = (tuple(sorted((same.get(name) or {name}) & {*names})) for name in names)
    return tuple(dict.fromkeys(rows))


def nothing(groups: Groups, *, all: int) -> str:
    """Why nobody is asked."""
    if not groups:
        return "there is nothing to tell apart: no lane left a patch"
    (lanes,) = groups
    if len(lanes) == all:
        same = "there is one patch" if all == 1 else "all patches are the same"
        return f"there is nothing to tell apart: {same}"
    alone = "is" if len(lanes) == 1 else "are one patch, and"
    rest = "the only one" if len(lanes) == 1 else "there is no other"
    return f"there is nothing to tell apart: {joined(lanes)} {alone} {rest} that nothing holds back"


def _same(verdict: Verdict) -> dict[str, set[str]]:
    rows: dict[str, set[str]] = {}
    for group in verdict.groups:
        if group.kind == "alike":
            continue
        lanes = {*group.lanes}
        whole = lanes.union(*(rows.get(lane, set()) for lane in lanes))
        rows.update(dict.fromkeys(whole, whole))
    return rows

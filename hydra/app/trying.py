"""Puts the trials of a round together: what its lanes changed, and what their checks said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import trio

from hydra.app.evidence import file_changes
from hydra.checks.kit import Kit, Tell
from hydra.checks.record import CheckResult
from hydra.git.contents import trees
from hydra.model import TrialCap
from hydra.trials.record import Subject, Trials
from hydra.trials.trying import trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What is to be tried: the base, and each lane's commit and results."""

    kit: Kit
    base: str
    on_base: Mapping[str, CheckResult]
    commits: Mapping[str, str]
    results: Mapping[str, tuple[CheckResult, ...]]
    parallel: int = 1


async def try_all(tried: Tried, cap: TrialCap, tell: Tell, stop: trio.CancelScope) -> Trials:
    """Makes the trials of one round. Raises `GitFailed` where its patches cannot be read."""
    if not any(check.kind == "test" for check in tried.kit.checks):
        return Trials()
    subjects = await trio.to_thread.run_sync(_subjects, tried)
    return await trials(
        tried.kit,
        tried.base,
        tried.on_base,
        subjects,
        tell,
        cap=cap,
        parallel=tried.parallel,
        stop=stop,
    )


def _subjects(tried: Tried) -> list[Subject]:
    """Of each lane that changed something and was tried."""
    git_dir = tried.kit.patches
    lanes = [lane for lane in tried.results if tried.results[lane]]
    commits = [tried.commits[lane] for lane in lanes]
    found = file_changes(git_dir, tried.base, commits)
    return [
        Subject(lane=lane, commit=commit, tree=tree, files=files, results=tried.results[lane])
        for lane, commit, tree, files in zip(
            lanes, commits, trees(git_dir, commits), found, strict=True
        )
        if files
    ]

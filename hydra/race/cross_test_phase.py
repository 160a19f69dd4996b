"""Puts the trials of a round together: what its lanes changed, and what their checks said."""

from __future__ import annotations

from collections.abc import Mapping

import trio
from msgspec import Struct

from hydra.checks.collected import collected, patch_files
from hydra.checks.context import CheckContext, Tell
from hydra.checks.cross.record import Trials, TrialSubject
from hydra.checks.cross.scheduler import trials
from hydra.checks.new_tests import CheckedPatch, with_cut_off
from hydra.checks.record import CheckResult
from hydra.git.contents import paths, trees
from hydra.ranking.settled import settled
from hydra.records.request import TrialCap


class CrossTestInputs(Struct, frozen=True, kw_only=True):
    """What is to be tried: the base, and each lane's commit and results."""

    context: CheckContext
    base: str
    on_base: Mapping[str, CheckResult]
    commits: Mapping[str, str]
    results: Mapping[str, tuple[CheckResult, ...]]
    parallel: int = 1


async def run_cross_tests(
    tried: CrossTestInputs, cap: TrialCap, tell: Tell, stop: trio.CancelScope
) -> Trials:
    """Makes the trials of one round. Raises `GitFailed` where its patches cannot be read."""
    if not any(check.kind == "test" for check in tried.context.plan.checks):
        return Trials()
    subjects = await trio.to_thread.run_sync(_subjects, tried)
    return await trials(
        tried.context,
        tried.base,
        tried.on_base,
        subjects,
        tell,
        cap=cap,
        settled=settled,
        parallel=1 if tried.context.uses_host(tried.context.plan.checks) else tried.parallel,
        stop=stop,
    )


def _subjects(tried: CrossTestInputs) -> list[TrialSubject]:
    """Of each lane that changed something and was tried."""
    git_dir = tried.context.patches
    commits = {lane: tried.commits[lane] for lane in tried.results if tried.results[lane]}
    on_base = collected(tried.on_base.values(), paths(git_dir, tried.base))
    files = patch_files(git_dir, tried.base, commits, on_base, tried.results)
    rows = [CheckedPatch(files[lane], tried.results[lane], tried.on_base) for lane in commits]
    results = dict(zip(commits, with_cut_off(rows), strict=True))
    return [
        TrialSubject(
            lane=lane,
            commit=commit,
            tree=tree,
            files=files[lane],
            results=results[lane],
        )
        for (lane, commit), tree in zip(
            commits.items(), trees(git_dir, [*commits.values()]), strict=True
        )
        if files[lane]
    ]

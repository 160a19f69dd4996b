"""One trial after another: its tree, its clean ground, its run; what was run once is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import trio
from msgspec.structs import replace

from hydra.checks.context import CheckContext, Tell
from hydra.checks.cross.plan import TrialJob
from hydra.checks.cross.record import TrialSubject
from hydra.checks.cross.rerun import counted
from hydra.checks.cross.trees import Trees
from hydra.checks.record import CheckResult, CheckStatus, details, file_of
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.round import label
from hydra.checks.suite import CheckSuite
from hydra.log import get_logger
from hydra.records.request import TrialCap
from hydra.records.store.files import write_json
from hydra.text import plural

_log = get_logger(__name__)


class CutShort(Exception):
    """It was not made to its end; says why, in a clause."""


@dataclass
class TrialResult:
    """What came of one check on one tree. `suite` is there where it was run for a trial."""

    result: CheckResult
    suite: CheckSuite | None = None


def _silent(_kind: str, _data: Mapping[str, object]) -> None:
    """What a trial's check does is told as the trial's."""


class Runner:
    """Runs jobs, `parallel` at a time by whoever calls it, within the cap's runs.

    `base` are the base's results by check; `made` what is known by tree and check, at first what
    the lanes' own checks came to.
    """

    def __init__(
        self,
        context: CheckContext,
        trees: Trees,
        base: Mapping[str, CheckResult],
        own: Mapping[str, TrialSubject],
        tell: Tell,
        cap: TrialCap,
        parallel: int,
    ) -> None:
        self.used = 0
        self._context = context
        self._trees = trees
        self._base = base
        self._own = own
        self._tell = tell
        self._cap = cap
        self._free = list(range(parallel))
        self._results: dict[tuple[str, str], TrialResult] = {}
        self._under_way: dict[tuple[str, str], trio.Event] = {}

    def set_results(self, tree: str, results: Sequence[CheckResult]) -> None:
        """What came of checks on a tree that is there without a trial."""
        for result in results:
            if result.network != self._context.network_of(result.check):
                continue
            if result.status is not CheckStatus.INTERRUPTED:
                self._results.setdefault((tree, result.check.name), TrialResult(result))

    async def run(self, job: TrialJob) -> TrialResult:
        """Runs `job`, or finds what the same check on the same tree came to.

        Raises `CutShort` at the cap, `NoSuchTree`, `HydraError`, `OSError`.
        """
        self._may_run()
        commit, tree = await trio.to_thread.run_sync(self._trees.make, job)
        key = (tree, job.check.name)
        while key in self._under_way:
            await self._under_way[key].wait()
        if key not in self._results:
            self._spend()
            done = self._under_way[key] = trio.Event()
            try:
                self._results[key] = await self._run(job, commit)
            finally:
                del self._under_way[key]
                done.set()
        return self._results[key]

    async def again(self, job: TrialJob, result: TrialResult) -> None:
        """One more run of what failed. Raises `CutShort`."""
        if result.suite is None or result.result.again is not None:
            return
        suite = result.suite
        self._spend()
        with self._workspace_of(suite), self._announced(job, suite, again=True):
            await suite.run_again((job.check,))
        await self._keep(result, suite.results[job.check.name])

    async def remark(self, result: TrialResult, text: str) -> None:
        """Says something more of a result, in its file too."""
        if result.suite is not None and text not in result.result.remarks:
            remarks = (*result.result.remarks, text)
            await self._keep(result, replace(result.result, remarks=remarks))

    def _may_run(self) -> None:
        if not self._cap.runs:
            raise CutShort("trials are turned off (trial_runs = 0)")
        if self.used >= self._cap.runs:
            raise CutShort(f"the limit of {plural(self._cap.runs, 'run')} was reached")

    def _spend(self) -> None:
        self._may_run()
        self.used += 1

    async def _run(self, job: TrialJob, commit: str) -> TrialResult:
        context = self._context.with_only(job.check)
        suite = CheckSuite(context, "", commit, job.folder, _silent)
        with self._workspace_of(suite), self._announced(job, suite):
            await suite.run()
        result = TrialResult(suite.results[job.check.name], suite)
        await self._keep(result, result.result)
        return result

    @contextmanager
    def _workspace_of(self, suite: CheckSuite) -> Iterator[None]:
        """A place for its ground that no other trial has now."""
        slot = self._free.pop()
        suite.label = label(self._context, f"_trial-{slot}")
        try:
            yield
        finally:
            self._free.append(slot)

    @contextmanager
    def _announced(
        self, job: TrialJob, suite: CheckSuite, *, again: bool = False
    ) -> Iterator[None]:
        document = {
            "kind": job.kind,
            "on": job.on,
            "author": job.author,
            "check": job.check.name,
            "configuration": bool(job.settings),
            "again": again,
        }
        self._tell("trial_started", document)
        began = trio.current_time()
        try:
            yield
        finally:
            check_result = suite.results[job.check.name]
            result = (check_result.again or check_result) if again else check_result
            ended = {
                "status": result.status.value,
                "says": self._says(job, result),
                "seconds": round(trio.current_time() - began, 3),
            }
            self._tell("trial_ended", {**document, **ended})
            _log.info("trial ended", **document, **ended)

    def _says(self, job: TrialJob, result: CheckResult) -> str:
        own = (
            next(
                (
                    result
                    for result in self._own[job.author].results
                    if result.check.name == job.check.name
                ),
                None,
            )
            if job.author
            else None
        )
        return counted(result, own) if own else result.says

    async def _keep(self, trial_result: TrialResult, result: CheckResult) -> None:
        """Held against the base's, with a file of its own."""
        if result.again is not None and result.again.status is CheckStatus.INTERRUPTED:
            result = replace(result, again=None)
        trial_result.result = compare_to_baseline(result, self._base.get(result.check.name))
        if result.status is not CheckStatus.INTERRUPTED:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._write, trial_result)

    def _write(self, trial_result: TrialResult) -> None:
        result = trial_result.result
        if not result.details and trial_result.suite is not None:  # its ground did not stand
            folder = self._context.folder / trial_result.suite.subfolder
            place = (folder / f"{file_of(result.check)}.json").relative_to(self._context.run_folder)
            trial_result.result = result = replace(result, details=str(place))
            with suppress(OSError):
                folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        with suppress(OSError):
            write_json(self._context.run_folder / result.details, details(result))

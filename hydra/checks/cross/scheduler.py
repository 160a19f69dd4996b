"""The trials of one round, those that say most first, as far as the cap goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.analysis.code_lines import changes_code
from hydra.analysis.tampering.suite import tests_changed
from hydra.checks.context import CheckContext, Tell
from hydra.checks.cross.canary import passing, works
from hydra.checks.cross.plan import Plan, TrialJob, mends, new_ids, plan
from hydra.checks.cross.record import FILE, Trials, TrialSubject, document
from hydra.checks.cross.rerun import alike, doubtful, missed, tells, worse
from hydra.checks.cross.runner import CutShort, Runner, TrialResult
from hydra.checks.cross.trees import NoSuchTree, Trees
from hydra.checks.cross.trial import NO_CANARY, NotTried, Trial
from hydra.checks.record import CheckResult
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.regressions import mends as mends_base
from hydra.config.values import format_duration
from hydra.errors import HydraError
from hydra.git.contents import paths
from hydra.log import bind, get_logger
from hydra.records.request import TrialCap
from hydra.records.store.files import write_json

_log = get_logger(__name__)

_INTERRUPTED = "it was interrupted"

_Work = Callable[[TrialJob], Awaitable[None]]

Settled = Callable[
    [Collection[TrialSubject], Mapping[str, CheckResult], Sequence[Trial], Collection[str]],
    Collection[str],
]
"""Says which lanes are held back whatever more is tried, by the lanes, the base's results, what was
tried so far, and the paths of the base's files. Pure."""


async def trials(
    context: CheckContext,
    commit: str,
    base: Mapping[str, CheckResult],
    subjects: Sequence[TrialSubject],
    tell: Tell,
    *,
    cap: TrialCap,
    settled: Settled,
    parallel: int = 1,
    stop: trio.CancelScope | None = None,
) -> Trials:
    """Tries each patch by the base's own tests, and by the other lanes' new ones.

    `commit` and `base` are the base and what its checks came to; `context` is that of the round
    that checked the lanes. `stop` ends it early; what is there by then is kept, also where it is
    cancelled from outside. What came of it is in the round's folder, too.
    """
    if not subjects or not any(check.kind == "test" for check in context.plan.checks):
        return Trials()
    files = await trio.to_thread.run_sync(paths, context.patches, commit)
    lanes = plan(subjects, context.plan.checks)

    def held_back(runs: Sequence[Trial]) -> Collection[str]:
        return settled(lanes.subjects.values(), base, runs, files)

    trying = _TrialScheduler(context, commit, base, lanes, tell, cap, parallel, held_back)
    try:
        with stop or trio.CancelScope():
            await trying.run()
    finally:
        runs = trying.trials()
        if runs:
            with trio.CancelScope(shield=True), suppress(OSError):
                await trio.to_thread.run_sync(
                    write_json, context.folder / FILE, document(runs, cap)
                )
    return runs


class _TrialScheduler:
    """What was made so far, and why the rest was not."""

    def __init__(
        self,
        context: CheckContext,
        commit: str,
        base: Mapping[str, CheckResult],
        lanes: Plan,
        tell: Tell,
        cap: TrialCap,
        parallel: int,
        settled: Callable[[Sequence[Trial]], Collection[str]],
    ) -> None:
        self._plan = lanes
        self._folder = context.run_folder
        self._own = self._plan.subjects
        self._base = base
        self._commit = commit
        self._settled = settled
        self._tell = tell
        self._cap = cap
        trees = Trees(context, commit, self._own)
        self._runner = Runner(context, trees, base, self._own, tell, cap, parallel)
        self._trees = trees
        self._places = trio.Semaphore(parallel)
        planned = (*self._plan.protected, *self._plan.on_base, *self._plan.cross)
        self._jobs: dict[tuple[str, str], TrialJob] = {
            job.key: job for job in planned if job.kind != "cross" or self._is_sure(job)
        }
        self._results: dict[tuple[str, str], TrialResult] = {}
        self._why: dict[tuple[str, str], str] = {}
        _log.info(
            "trials planned",
            planned=len(self._jobs),
            canaries=len(self._plan.canaries),
            skipped=[f"{skipped.kind} {skipped.on}: {skipped.why}" for skipped in lanes.not_tried],
            most=cap.runs,
        )
        self._codeless: frozenset[str] = frozenset()
        """Lanes that change no line of code: what ends otherwise on them than on the base does so
        by chance."""
        self._late = ""
        self._began = trio.current_time()

    async def run(self) -> None:
        """All of it, or as much as the cap allows."""
        if not self._jobs and not self._plan.canaries:
            return
        deadline = self._began + self._cap.seconds
        with trio.CancelScope(deadline=deadline) as clock:
            try:
                await self._know()
                await self._protected()
                await self._canary()
                await self._cross()
            except Exception as bug:
                self._late = f"Hydra itself failed on its trials: {type(bug).__name__}: {bug}"
                raise
        if clock.cancelled_caught:
            self._late = f"the limit of {format_duration(self._cap.seconds)} was reached"
            _log.info("limit met", limit="trial_time", seconds=self._cap.seconds)

    async def _know(self) -> None:
        """What is known of trees without a trial: the base's, and the lanes' own."""
        tree = await trio.to_thread.run_sync(self._trees.of, self._commit)
        self._runner.set_results(
            tree, [compare_to_baseline(result, result) for result in self._base.values()]
        )
        for subject in self._own.values():
            self._runner.set_results(subject.tree, subject.results)
        self._codeless = await trio.to_thread.run_sync(self._without_code)

    def _without_code(self) -> frozenset[str]:
        return frozenset(lane for lane, own in self._own.items() if not changes_code(own.files))

    async def _protected(self) -> None:
        """Each once, and once more where it does worse than the lane's own tests, or better than
        its code can: it is flaky?"""
        jobs = self._plan.protected
        await self._each(jobs, self._try)
        await self._again([job for job in jobs if self._worse(job) or self._is_lucky(job)])

    async def _canary(self) -> None:
        """Tests that must fail: on the base, where that shows that they run, then on the lanes."""
        jobs = self._plan.canaries
        on_base = {replace(job, on="", settings=()) for job in jobs}
        await self._each(sorted(on_base, key=lambda job: job.key), self._try)
        effective = {job for job in on_base if await self._works(job)}
        for job in jobs:
            base = replace(job, on="", settings=())
            if base not in effective:
                self._why[job.key] = self._why.pop(base.key, NO_CANARY)
                self._jobs[job.key] = job
                self._jobs.pop(base.key, None)
        await self._each([job for job in jobs if job.key not in self._why], self._try)

    async def _works(self, job: TrialJob) -> bool:
        trial = self._results.get(job.key)
        if trial is None:
            return False
        output = self._folder / trial.result.output
        text = await trio.to_thread.run_sync(_bytes, output)
        return works(trial.result, text, self._trees.token)

    async def _cross(self) -> None:
        base = self._plan.on_base
        await self._each(base, self._try)
        stopped = await self._stopped()
        worth = [job for job in self._plan.cross if job.on not in stopped.get(job.author, ())]
        for job in {*self._plan.cross}.difference(worth):
            _log.info("trial skipped", on=job.on, author=job.author, why="its own checks fail")
            self._jobs.pop(job.key, None)
        # Changed tests that ask no more than they did are not worth a run.
        jobs = [job for job in worth if self._brings_new(job) or self._may_tell(job)]
        jobs.sort(key=lambda job: not self._may_tell(job))
        await self._each(jobs, self._try)
        await self._again([job for job in base if self._proves(job) and not self._twice(job)])
        doubtful = [job for job in jobs if self._doubtful(job) and not self._twice(job)]
        await self._again(doubtful + [job for job in jobs if self._is_lucky(job)])

    async def _stopped(self) -> Mapping[str, set[str]]:
        """By author the lanes on which its tests tell nothing more: they are held back. None where
        no other is left: then it is all that tells them apart."""
        stopped = {*await trio.to_thread.run_sync(self._settled, self.trials().runs)}
        able = {*self._own} - stopped
        return {author: stopped - {author} for author in self._own if able - {author}}

    def _twice(self, job: TrialJob) -> bool:
        """Whether all that fails of its author's tests fails on the same code elsewhere as well:
        on a patch that is another in form alone; or, of the base and patches without a line of
        code, on another of these. What fails on other code has its reason there, and may fail here
        by chance."""
        mine = self._results[job.key]
        runs = [
            (other.on, self._results[other.key])
            for other in (*self._plan.on_base, *self._plan.cross)
            if (other.author, other.check) == (job.author, job.check) and other.key in self._results
        ]
        ons = {on for on, result in runs if result is mine}
        same = ons.union(*(self._alike.get(on, ()) for on in ons))
        as_base = {"", *self._codeless}
        same |= as_base if same & as_base else set()
        others = (
            self._misses(job, result, on)
            for on, result in runs
            if on in same and result is not mine
        )
        return self._misses(job, mine, job.on) <= set().union(*others)

    @cached_property
    def _alike(self) -> Mapping[str, tuple[str, ...]]:
        return alike(tuple(self._own.values()))

    def _misses(self, job: TrialJob, result: TrialResult, on: str) -> set[str]:
        own = self._own_result(job.author, job)
        if own is None:
            return set()
        return missed(result.result, own, self._on_base(job), job.paths, self._by_base(on, job))

    def _by_base(self, on: str, job: TrialJob) -> CheckResult | None:
        """A patch's run by the base's version of the tests: its own where it changes none."""
        for other in self._plan.protected:
            if (other.on, other.check) == (on, job.check):
                result = self._results.get(other.key)
                return result.result if result else None
        return self._own_result(on, job) if on else None

    async def _again(self, jobs: Sequence[TrialJob]) -> None:
        """One more run of each; what they share is run for one of them."""
        shared = {id(self._results[job.key]): job for job in reversed(jobs)}
        await self._each(tuple(shared.values())[::-1], self._try_again)

    def _worse(self, job: TrialJob) -> bool:
        result = self._results.get(job.key)
        return result is not None and worse(result.result, self._own_result(job.on, job))

    def _may_tell(self, job: TrialJob) -> bool:
        own = self._own_result(job.author, job)
        return own is not None and tells(self._on_base(job), own, job.paths)

    def _is_sure(self, job: TrialJob) -> bool:
        """Whether it is tried whatever comes of others."""
        return not job.on or self._brings_new(job)

    def _brings_new(self, job: TrialJob) -> bool:
        own = self._own_result(job.author, job)
        return own is not None and any(new_ids(own).values())

    def _proves(self, job: TrialJob) -> bool:
        """Whether a failure on the base may be all that proves a patch: one that mends none of the
        base's, or none but by other tests."""
        result, own = self._results.get(job.key), self._own_result(job.author, job)
        counts = (
            result is not None
            and own is not None
            and doubtful(result.result, own, result.result, job.paths)
        )
        patches = self._own.values()
        return counts and not all(
            mends(patch) and not tests_changed(patch.files) for patch in patches
        )

    def _doubtful(self, job: TrialJob) -> bool:
        result, own = self._results.get(job.key), self._own_result(job.author, job)
        return (
            result is not None
            and own is not None
            and doubtful(
                result.result, own, self._on_base(job), job.paths, self._by_base(job.on, job)
            )
        )

    def _is_lucky(self, job: TrialJob) -> bool:
        """Whether a lane without a line of code passes what fails on the base."""
        result = self._results.get(job.key)
        if result is None or job.on not in self._codeless:
            return False
        if not job.author:
            return mends_base(result.result, self._base.get(job.check.name))
        on_base, own = self._on_base(job), self._own_result(job.author, job)
        if on_base is None or own is None:
            return False
        return not missed(on_base, own, on_base, job.paths) <= self._misses(job, result, job.on)

    def _own_result(self, lane: str, job: TrialJob) -> CheckResult | None:
        results = self._own[lane].results
        return next((result for result in results if result.check.name == job.check.name), None)

    def _on_base(self, job: TrialJob) -> CheckResult | None:
        result = next(
            (
                self._results.get(trial_job.key)
                for trial_job in self._plan.on_base
                if trial_job.author == job.author and trial_job.check == job.check
            ),
            None,
        )
        return result.result if result else None

    async def _each(self, jobs: Sequence[TrialJob], work: _Work) -> None:
        async with trio.open_nursery() as nursery:
            for job in jobs:
                self._jobs.setdefault(job.key, job)
                # Taken here: the jobs begin in their order, whatever Trio does with its tasks.
                await self._places.acquire()
                nursery.start_soon(self._run_job, job, work)

    async def _run_job(self, job: TrialJob, work: _Work) -> None:
        bind(trial=job.kind, on=job.on, author=job.author)
        try:
            await work(job)
        except (CutShort, NoSuchTree) as cut:
            await self._cut(job, str(cut))
        except (HydraError, OSError) as problem:
            await self._cut(job, f"it could not be made: {problem}")
        except Exception as bug:
            # Never another trial's, or the race's, end.
            _log.warning("the trial failed by Hydra's own fault", exc_info=True)
            what = f"Hydra itself failed on it: {type(bug).__name__}: {bug}"
            self._tell("run_warning", {"text": f"a trial: {what}"})
            await self._cut(job, what)
        finally:
            self._places.release()

    async def _try(self, job: TrialJob) -> None:
        self._results[job.key] = await self._runner.run(job)

    async def _try_again(self, job: TrialJob) -> None:
        await self._runner.again(job, self._results[job.key])

    async def _cut(self, job: TrialJob, why: str) -> None:
        """Why it was not made, or what was made of it not once more."""
        _log.info("trial skipped", check=job.check.name, why=why)
        if result := self._results.get(job.key):
            await self._runner.remark(result, f"it was not run once more: {why}")
        else:
            self._why[job.key] = why

    def trials(self) -> Trials:
        """What there is by now, each lane of one tree by itself."""
        runs: list[Trial] = []
        cut = list(self._plan.not_tried)
        for job in self._jobs.values():
            result = self._results.get(job.key)
            if result is not None:
                runs += self._trials(job, result.result)
            else:
                cut += self._not_tried(job)
        spent = trio.current_time() - self._began
        return Trials(
            runs=tuple(runs),
            not_tried=tuple(dict.fromkeys(cut)),
            used=TrialCap(self._runner.used, spent),
        )

    def _trials(self, job: TrialJob, result: CheckResult) -> Iterator[Trial]:
        for on, author in self._pairs(job):
            yield Trial(
                kind=job.kind,
                on=on,
                author=author,
                result=result,
                paths=(*self._trees.added(job), *job.paths),
                configuration=bool(job.settings),
                passes=self._passes(job, result),
            )

    def _passes(self, job: TrialJob, result: CheckResult) -> tuple[str, ...]:
        return passing(result, self._trees.token) if job.kind == "canary" and job.on else ()

    def _not_tried(self, job: TrialJob) -> Iterator[NotTried]:
        why = self._why.get(job.key) or self._late or _INTERRUPTED
        for on, author in self._pairs(job):
            yield NotTried(kind=job.kind, on=on, author=author, why=why)

    def _pairs(self, job: TrialJob) -> Iterator[tuple[str, str]]:
        for on in self._plan.same.get(job.on, ("",)):
            for author in self._plan.same.get(job.author, ("",)):
                yield on, author


def _bytes(path: Path) -> bytes:
    """A check's output; nothing where it is not to be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

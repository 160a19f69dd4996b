"""The trials of one round, those that say most first, as far as the cap goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import trio

from hydra.checks.judging import judge
from hydra.checks.kit import Kit, Tell
from hydra.checks.record import CheckResult
from hydra.config.units import format_duration
from hydra.errors import HydraError
from hydra.git.contents import paths
from hydra.judge.evidence import NotTried, Trial
from hydra.judge.tampering import tests_changed
from hydra.model import TrialCap
from hydra.store import write_json
from hydra.trials.canary import passing, works
from hydra.trials.doubts import doubtful, tells, worse
from hydra.trials.planning import Job, Plan, alone, mends, plan, tests_only
from hydra.trials.record import FILE, Subject, Trials, document
from hydra.trials.running import CutShort, Made, Runner
from hydra.trials.trees import CannotBeMade, Trees

_INTERRUPTED = "it was interrupted"
_NOT_RUN = "the check did not run them on the base"

_Work = Callable[[Job], Awaitable[None]]


async def trials(
    kit: Kit,
    commit: str,
    base: Mapping[str, CheckResult],
    subjects: Sequence[Subject],
    tell: Tell,
    *,
    cap: TrialCap,
    parallel: int = 1,
    stop: trio.CancelScope | None = None,
) -> Trials:
    """Tries each patch by the base's own tests, and by the other lanes' new ones.

    `commit` and `base` are the base and what its checks came to; `kit` is that of the round that
    checked the lanes. `stop` ends it early; what is there by then is kept, also where it is
    cancelled from outside. What came of it is in the round's folder, too.
    """
    if not subjects or not any(check.kind == "test" for check in kit.checks):
        return Trials()
    files = await trio.to_thread.run_sync(paths, kit.patches, commit)
    lanes = plan(subjects, kit.checks, files)
    trying = _Trying(kit, commit, base, lanes, tell, cap, parallel)
    try:
        with stop or trio.CancelScope():
            await trying.run()
    finally:
        found = trying.found()
        if found:
            with trio.CancelScope(shield=True), suppress(OSError):
                await trio.to_thread.run_sync(write_json, kit.folder / FILE, document(found, cap))
    return found


class _Trying:
    """What was made so far, and why the rest was not."""

    def __init__(
        self,
        kit: Kit,
        commit: str,
        base: Mapping[str, CheckResult],
        lanes: Plan,
        tell: Tell,
        cap: TrialCap,
        parallel: int,
    ) -> None:
        self._plan = lanes
        self._folder = kit.run_folder
        self._own = self._plan.subjects
        self._base = base
        self._commit = commit
        self._tell = tell
        self._cap = cap
        trees = Trees(kit, commit, self._own)
        self._runner = Runner(kit, trees, base, self._own, tell, cap, parallel)
        self._trees = trees
        self._places = trio.Semaphore(parallel)
        self._jobs: dict[tuple[str, str], Job] = {
            job.key: job for job in (*self._plan.protected, *self._plan.on_base, *self._plan.cross)
        }
        self._made: dict[tuple[str, str], Made] = {}
        self._why: dict[tuple[str, str], str] = {}
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

    async def _know(self) -> None:
        """What is known of trees without a trial: the base's, and the lanes' own."""
        tree = await trio.to_thread.run_sync(self._trees.of, self._commit)
        self._runner.known(tree, [judge(held, held) for held in self._base.values()])
        for one in self._own.values():
            self._runner.known(one.tree, one.results)

    async def _protected(self) -> None:
        first = self._plan.protected
        await self._steadily(first)
        bad = [job for job in first if self._worse(job)]
        without = [other for job in bad if (other := alone(job, self._own[job.on]))]
        await self._steadily(without)
        cleared = {(job.on, job.check) for job in without if not self._worse(job)}
        bad = [job for job in bad if (job.on, job.check) not in cleared]
        await self._steadily([other for job in bad if (other := tests_only(job))])

    async def _steadily(self, jobs: Sequence[Job]) -> None:
        """Each once, and once more where it does worse than the lane's own tests: it is flaky?"""
        await self._each(jobs, self._try)
        await self._again([job for job in jobs if self._worse(job)])

    async def _canary(self) -> None:
        """Tests that must fail: on the base, where that shows that they run, then on the lanes."""
        jobs = self._plan.canaries
        on_base = {replace(job, on="", settings=()) for job in jobs}
        await self._each(sorted(on_base, key=lambda job: job.key), self._try)
        effective = {job for job in on_base if await self._works(job)}
        for job in jobs:
            base = replace(job, on="", settings=())
            if base not in effective:
                self._why[job.key] = self._why.pop(base.key, _NOT_RUN)
                self._jobs[job.key] = job
                self._jobs.pop(base.key, None)
        await self._each([job for job in jobs if job.key not in self._why], self._try)

    async def _works(self, job: Job) -> bool:
        trial = self._made.get(job.key)
        if trial is None:
            return False
        output = self._folder / trial.result.output
        text = await trio.to_thread.run_sync(_bytes, output)
        return works(trial.result, text, self._trees.token)

    async def _cross(self) -> None:
        await self._each(self._plan.on_base, self._try)
        await self._again([job for job in self._plan.on_base if self._proves(job)])
        jobs = sorted(self._plan.cross, key=lambda job: not self._may_tell(job))
        await self._each(jobs, self._try)
        await self._again([job for job in jobs if self._doubtful(job)])

    async def _again(self, jobs: Sequence[Job]) -> None:
        """One more run of each; what they share is run for one of them."""
        shared = {id(self._made[job.key]): job for job in reversed(jobs)}
        await self._each(tuple(shared.values())[::-1], self._try_again)

    def _worse(self, job: Job) -> bool:
        made = self._made.get(job.key)
        return made is not None and worse(made.result, self._own_result(job.on, job))

    def _may_tell(self, job: Job) -> bool:
        own = self._own_result(job.author, job)
        return own is not None and tells(self._on_base(job), own)

    def _proves(self, job: Job) -> bool:
        """Whether a failure on the base may be all that proves a patch: one that mends none of the
        base's, or none but by other tests."""
        made, own = self._made.get(job.key), self._own_result(job.author, job)
        counts = made is not None and own is not None and doubtful(made.result, own, None)
        patches = self._own.values()
        return counts and not all(mends(one) and not tests_changed(one.files) for one in patches)

    def _doubtful(self, job: Job) -> bool:
        made, own = self._made.get(job.key), self._own_result(job.author, job)
        return (
            made is not None and own is not None and doubtful(made.result, own, self._on_base(job))
        )

    def _own_result(self, lane: str, job: Job) -> CheckResult | None:
        results = self._own[lane].results
        return next((it for it in results if it.check.name == job.check.name), None)

    def _on_base(self, job: Job) -> CheckResult | None:
        made = next(
            (
                self._made.get(one.key)
                for one in self._plan.on_base
                if one.author == job.author and one.check == job.check
            ),
            None,
        )
        return made.result if made else None

    async def _each(self, jobs: Sequence[Job], work: _Work) -> None:
        async with trio.open_nursery() as nursery:
            for job in jobs:
                self._jobs.setdefault(job.key, job)
                # Taken here: the jobs begin in their order, whatever Trio does with its tasks.
                await self._places.acquire()
                nursery.start_soon(self._one, job, work)

    async def _one(self, job: Job, work: _Work) -> None:
        try:
            await work(job)
        except (CutShort, CannotBeMade) as cut:
            await self._cut(job, str(cut))
        except (HydraError, OSError) as problem:
            await self._cut(job, f"it could not be made: {problem}")
        except Exception as bug:
            # Never another trial's, or the race's, end.
            what = f"Hydra itself failed on it: {type(bug).__name__}: {bug}"
            self._tell("run_warning", {"text": f"a trial: {what}"})
            await self._cut(job, what)
        finally:
            self._places.release()

    async def _try(self, job: Job) -> None:
        self._made[job.key] = await self._runner.run(job)

    async def _try_again(self, job: Job) -> None:
        await self._runner.again(job, self._made[job.key])

    async def _cut(self, job: Job, why: str) -> None:
        """Why it was not made, or what was made of it not once more."""
        if made := self._made.get(job.key):
            await self._runner.remark(made, f"it was not run once more: {why}")
        else:
            self._why[job.key] = why

    def found(self) -> Trials:
        """What there is by now, each lane of one tree by itself."""
        cleared = {
            (job.on, job.check)
            for job in self._jobs.values()
            if job.without and job.key in self._made and not self._worse(job)
        }
        runs: list[Trial] = []
        cut = list(self._plan.not_tried)
        for job in self._jobs.values():
            made = self._made.get(job.key)
            if job.kind == "protected" and job.settings:
                counts = bool(job.without) == ((job.on, job.check) in cleared)
                if not counts:
                    continue
            if made is not None:
                runs += self._trials(job, made.result)
            else:
                cut += self._not_tried(job)
        spent = trio.current_time() - self._began
        return Trials(
            runs=tuple(runs),
            not_tried=tuple(dict.fromkeys(cut)),
            used=TrialCap(self._runner.used, spent),
        )

    def _trials(self, job: Job, result: CheckResult) -> Iterator[Trial]:
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

    def _passes(self, job: Job, result: CheckResult) -> tuple[str, ...]:
        return passing(result, self._trees.token) if job.kind == "canary" and job.on else ()

    def _not_tried(self, job: Job) -> Iterator[NotTried]:
        why = self._why.get(job.key) or self._late or _INTERRUPTED
        for on, author in self._pairs(job):
            yield NotTried(kind=job.kind, on=on, author=author, why=why)

    def _pairs(self, job: Job) -> Iterator[tuple[str, str]]:
        for on in self._plan.same.get(job.on, ("",)):
            for author in self._plan.same.get(job.author, ("",)):
                yield on, author


def _bytes(path: Path) -> bytes:
    """A check's output; nothing where it is not to be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

"""One trial after another: its tree, its clean ground, its run; what was run once is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import trio

from hydra.checks.judging import judge
from hydra.checks.kit import Kit, Tell
from hydra.checks.record import CheckResult, Status, details
from hydra.checks.round import label
from hydra.checks.suite import Suite
from hydra.model import Check, TrialCap
from hydra.store import write_json
from hydra.trials.doubts import counted
from hydra.trials.planning import Job
from hydra.trials.record import Subject
from hydra.trials.trees import Trees


class CutShort(Exception):
    """It was not made to its end; says why, in a clause."""


@dataclass
class Made:
    """What came of one check on one tree. `suite` is there where it was run for a trial."""

    result: CheckResult
    suite: Suite | None = None


def _silent(_kind: str, _data: Mapping[str, object]) -> None:
    """What a trial's check does is told as the trial's."""


class Runner:
    """Runs jobs, `parallel` at a time by whoever calls it, within the cap's runs.

    `base` are the base's results by check; `made` what is known by tree and check, at first what
    the lanes' own checks came to.
    """

    def __init__(
        self,
        kit: Kit,
        trees: Trees,
        base: Mapping[str, CheckResult],
        own: Mapping[str, Subject],
        tell: Tell,
        cap: TrialCap,
        parallel: int,
    ) -> None:
        self.used = 0
        self._kit = kit
        self._trees = trees
        self._base = base
        self._own = own
        self._tell = tell
        self._cap = cap
        self._free = list(range(parallel))
        self._made: dict[tuple[str, str], Made] = {}
        self._under_way: dict[tuple[str, str], trio.Event] = {}

    def known(self, tree: str, results: Sequence[CheckResult]) -> None:
        """What came of checks on a tree that is there without a trial."""
        for result in results:
            if result.tree == "clean" and result.status is not Status.INTERRUPTED:
                self._made.setdefault((tree, result.check.name), Made(result))

    async def run(self, job: Job) -> Made:
        """Runs `job`, or finds what the same check on the same tree came to.

        Raises `CutShort` at the cap, `CannotBeMade`, `HydraError`, `OSError`.
        """
        self._may_run()
        commit, tree = await trio.to_thread.run_sync(self._trees.make, job)
        key = (tree, job.check.name)
        while key in self._under_way:
            await self._under_way[key].wait()
        if key not in self._made:
            self._spend()
            done = self._under_way[key] = trio.Event()
            try:
                self._made[key] = await self._run(job, commit)
            finally:
                del self._under_way[key]
                done.set()
        return self._made[key]

    async def again(self, job: Job, made: Made) -> None:
        """One more run of what failed. Raises `CutShort`."""
        if made.suite is None or made.result.again is not None:
            return
        suite = made.suite
        self._spend()
        with self._ground(suite), self._told(job, suite, again=True):
            await suite.run_again((job.check,))
        await self._keep(made, suite.results[job.check.name])

    async def remark(self, made: Made, text: str) -> None:
        """Says something more of a result, in its file too."""
        if made.suite is not None and text not in made.result.remarks:
            remarks = (*made.result.remarks, text)
            await self._keep(made, replace(made.result, remarks=remarks))

    def _may_run(self) -> None:
        if not self._cap.runs:
            raise CutShort("trials are turned off (trial_runs = 0)")
        if self.used >= self._cap.runs:
            many = f"{self._cap.runs:,} run{'s' * (self._cap.runs != 1)}"
            raise CutShort(f"the limit of {many} was reached")

    def _spend(self) -> None:
        self._may_run()
        self.used += 1

    async def _run(self, job: Job, commit: str) -> Made:
        kit = replace(self._kit, checks=_with_builds(self._kit.checks, job.check))
        suite = Suite(kit, "", commit, job.folder, _silent)
        with self._ground(suite), self._told(job, suite):
            await suite.run()
        made = Made(suite.results[job.check.name], suite)
        await self._keep(made, made.result)
        return made

    @contextmanager
    def _ground(self, suite: Suite) -> Iterator[None]:
        """A place for its ground that no other trial has now."""
        slot = self._free.pop()
        suite.label = label(self._kit, f"_trial-{slot}")
        try:
            yield
        finally:
            self._free.append(slot)

    @contextmanager
    def _told(self, job: Job, suite: Suite, *, again: bool = False) -> Iterator[None]:
        told = {
            "kind": job.kind,
            "on": job.on,
            "author": job.author,
            "check": job.check.name,
            "configuration": bool(job.settings),
            "again": again,
        }
        self._tell("trial_started", told)
        began = trio.current_time()
        try:
            yield
        finally:
            held = suite.results[job.check.name]
            result = (held.again or held) if again else held
            ended = {
                "status": result.status.value,
                "says": self._says(job, result),
                "seconds": round(trio.current_time() - began, 3),
            }
            self._tell("trial_ended", {**told, **ended})

    def _says(self, job: Job, result: CheckResult) -> str:
        own = (
            next(
                (it for it in self._own[job.author].results if it.check.name == job.check.name),
                None,
            )
            if job.author
            else None
        )
        return counted(result, own) if own else result.says

    async def _keep(self, made: Made, result: CheckResult) -> None:
        """Held against the base's, with a file of its own."""
        if result.again is not None and result.again.status is Status.INTERRUPTED:
            result = replace(result, again=None)
        made.result = judge(result, self._base.get(result.check.name))
        if result.status is not Status.INTERRUPTED:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._write, made)

    def _write(self, made: Made) -> None:
        result = made.result
        if not result.details and made.suite is not None:  # its ground did not stand
            folder = self._kit.folder / made.suite.files
            place = (folder / f"{result.check.file}.json").relative_to(self._kit.run_folder)
            made.result = result = replace(result, details=str(place))
            with suppress(OSError):
                folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        with suppress(OSError):
            write_json(self._kit.run_folder / result.details, details(result))


def _with_builds(checks: Sequence[Check], check: Check) -> tuple[Check, ...]:
    """The check, after the builds that stand before it."""
    before = checks[: checks.index(check)]
    return (*(one for one in before if one.kind == "build"), check)

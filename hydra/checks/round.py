"""One round of checks: the base once, and each lane's patch as it comes, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import trio

from hydra.checks.built_shares import built_before
from hydra.checks.context import CheckContext, Tell
from hydra.checks.record import CheckResult, CheckStatus, details
from hydra.checks.regressions import base_worth_again, compare_to_baseline, worth_again
from hydra.checks.requirements import changed_requirements
from hydra.checks.suite import CheckSuite
from hydra.log import bind, get_logger
from hydra.records.store.files import write_json
from hydra.workspace.private import LaneWorkspace

_log = get_logger(__name__)

BASE = "_base"
"""The baseline's folder in a round's, and the end of its ground's name; no lane is called so."""


class CheckRun:
    """`parallel` lanes have their checks run at once; the base takes no place of theirs.

    Lanes wait for the base before they are compared, not before they run.
    """

    def __init__(self, context: CheckContext, parallel: int = 1) -> None:
        self.context = context
        self.base: Mapping[str, CheckResult] = {}
        self.ready = trio.Event()
        """The base's results are there, or it is known that there will be none."""
        self._places = trio.Semaphore(parallel)

    def set_baseline(self, base: Mapping[str, CheckResult]) -> None:
        """The base's results, where they are not to be found out here."""
        self.base = base
        self.ready.set()

    async def baseline(self, commit: str, tell: Tell) -> None:
        """Runs the checks on the base. Cancelled, it leaves what it has."""
        bind(lane=BASE)
        suite = CheckSuite(self.context, label(self.context, BASE), commit, BASE, tell)
        try:
            await suite.run()
            again = [result.check for result in suite.results.values() if base_worth_again(result)]
            await suite.run_again(again)
            await self._find_stale(commit, suite, tell)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_rewrite, self.context, suite.results.values())
            self.set_baseline(suite.results)

    async def _find_stale(self, commit: str, suite: CheckSuite, tell: Tell) -> None:
        """Marks what says nothing of any patch, and says so once."""
        if not self.context.copies_installed:
            return
        from hydra.checks.stale import stale_checks  # few environments have such a copy

        stale = await stale_checks(self.context, commit, [*suite.results.values()])
        for name, text in stale.items():
            _log.info("check says nothing", check=name, why=text)
            suite.results[name] = replace(suite.results[name], untested=text)
            tell("run_warning", {"text": f"{name}: {text}"})

    async def lane(
        self,
        name: str,
        commit: str,
        tell: Tell,
        *,
        stop: trio.CancelScope,
        standing: LaneWorkspace | None = None,
    ) -> tuple[CheckResult, ...]:
        """The checks of one patch, held against the base's; `stop` ends them early."""
        bind(lane=name)
        suite = CheckSuite(
            self.context, label(self.context, f"_{name}"), commit, name, tell, standing
        )
        with stop:
            await self._run(suite, tell)
        changed = await self._changed(commit)
        built = await trio.to_thread.run_sync(built_before, self.context, commit)
        results = tuple(
            _built_before(
                compare_to_baseline(result, self._base_of(result), changed),
                self._base_of(result),
                built,
            )
            for result in suite.results.values()
        )
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(_rewrite, self.context, results)
        return results

    async def _run(self, suite: CheckSuite, tell: Tell) -> None:
        if not self._places.value:
            tell("check_waiting", {"for": "place"})
        async with self._places:
            await suite.run()
        if not self.ready.is_set():
            tell("check_waiting", {"for": "baseline"})
            await self.ready.wait()
        again = [
            result.check
            for result in suite.results.values()
            if worth_again(result, self._base_of(result))
        ]
        if again:
            async with self._places:
                await suite.run_again(again)

    async def _changed(self, commit: str) -> str:
        """What a set-up would have installed, where there is none."""
        if self.context.setup:
            return ""
        return await trio.to_thread.run_sync(changed_requirements, self.context.patches, commit)

    def _base_of(self, result: CheckResult) -> CheckResult | None:
        return self.base.get(result.check.name)


def _built_before(result: CheckResult, base: CheckResult | None, built: str) -> CheckResult:
    """With what it loads that was built without the patch: untested, but where it ends otherwise
    than on the base all the same."""
    if not built or result.untested or result.check.kind != "test":
        return result
    changed = result.comparison
    told_apart = changed is not None and (changed.fixed or changed.broken)
    if told_apart or (base is not None and base.status is not result.status):
        return replace(result, remarks=(*result.remarks, built))
    held_back = f"{result.check.name}: {built}" if result.check.required else ""
    return replace(result, untested=built, held_back=held_back)


def label(context: CheckContext, name: str) -> str:
    """A ground's name in this round: rounds of one run may run at once."""
    return name if context.folder.name == "1" else f"_{context.folder.name}-{name.lstrip('_')}"


def _rewrite(context: CheckContext, results: Iterable[CheckResult]) -> None:
    """Each check's own file, now with all that is known of it."""
    for result in results:
        if result.details:
            with suppress(OSError):
                write_json(context.run_folder / result.details, details(result))


def new_folder(run_folder: Path) -> Path:
    """A folder of its own for a round: `checks/1`, `checks/2`, ... Raises `OSError`."""
    top = run_folder / "checks"
    top.mkdir(mode=0o700, exist_ok=True)
    number = 1
    while True:
        with suppress(FileExistsError):
            (top / str(number)).mkdir(mode=0o700)
            return top / str(number)
        number += 1


def held_back(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """Why a patch with these results is not usable, a sentence each."""
    return tuple(result.held_back for result in results if result.held_back)


def interrupted(results: Sequence[CheckResult]) -> bool:
    """Whether any of them was ended before its time."""
    return any(result.status is CheckStatus.INTERRUPTED for result in results)

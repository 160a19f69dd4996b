"""One round of checks: the base once, and each lane's patch as it comes, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import trio

from hydra.checks.judging import base_worth_again, judge, worth_again
from hydra.checks.kit import Kit, Tell
from hydra.checks.record import CheckResult, Status, details
from hydra.checks.requirements import changed_requirements
from hydra.checks.suite import Suite
from hydra.store import write_json
from hydra.workspace import PrivateGround

BASE = "_base"
"""The baseline's folder in a round's, and the end of its ground's name; no lane is called so."""


class Round:
    """`parallel` lanes have their checks run at once; the base takes no place of theirs.

    Lanes wait for the base before they are compared, not before they run.
    """

    def __init__(self, kit: Kit, parallel: int = 1) -> None:
        self.kit = kit
        self.base: Mapping[str, CheckResult] = {}
        self.ready = trio.Event()
        """The base's results are there, or it is known that there will be none."""
        self._places = trio.Semaphore(parallel)

    def known(self, base: Mapping[str, CheckResult]) -> None:
        """The base's results, where they are not to be found out here."""
        self.base = base
        self.ready.set()

    async def baseline(self, commit: str, tell: Tell) -> None:
        """Runs the checks on the base. Cancelled, it leaves what it has."""
        suite = Suite(self.kit, label(self.kit, BASE), commit, BASE, tell)
        try:
            await suite.run()
            again = [held.check for held in suite.results.values() if base_worth_again(held)]
            await suite.run_again(again)
            await self._find_stale(commit, suite, tell)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_rewrite, self.kit, suite.results.values())
            self.known(suite.results)

    async def _find_stale(self, commit: str, suite: Suite, tell: Tell) -> None:
        """Marks what says nothing of any patch, and says so once."""
        if not self.kit.copies_installed:
            return
        from hydra.checks.stale import stale_checks  # few environments have such a copy

        stale = await stale_checks(self.kit, commit, [*suite.results.values()])
        for name, text in stale.items():
            suite.results[name] = replace(suite.results[name], untested=text)
            tell("run_warning", {"text": f"{name}: {text}"})

    async def lane(
        self,
        name: str,
        commit: str,
        tell: Tell,
        *,
        stop: trio.CancelScope,
        standing: PrivateGround | None = None,
    ) -> tuple[CheckResult, ...]:
        """The checks of one patch, held against the base's; `stop` ends them early."""
        suite = Suite(self.kit, label(self.kit, f"_{name}"), commit, name, tell, standing)
        with stop:
            await self._run(suite, tell)
        changed = await self._changed(commit)
        results = tuple(
            judge(held, self._base_of(held), changed) for held in suite.results.values()
        )
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(_rewrite, self.kit, results)
        return results

    async def _run(self, suite: Suite, tell: Tell) -> None:
        if not self._places.value:
            tell("check_waiting", {"for": "place"})
        async with self._places:
            await suite.run()
        if not self.ready.is_set():
            tell("check_waiting", {"for": "baseline"})
            await self.ready.wait()
        again = [
            held.check for held in suite.results.values() if worth_again(held, self._base_of(held))
        ]
        if again:
            async with self._places:
                await suite.run_again(again)

    async def _changed(self, commit: str) -> str:
        """What a set-up would have installed, where there is none."""
        if self.kit.setup:
            return ""
        return await trio.to_thread.run_sync(changed_requirements, self.kit.patches, commit)

    def _base_of(self, held: CheckResult) -> CheckResult | None:
        return self.base.get(held.check.name)


def label(kit: Kit, name: str) -> str:
    """A ground's name in this round: rounds of one run may run at once."""
    return name if kit.folder.name == "1" else f"_{kit.folder.name}-{name.lstrip('_')}"


def _rewrite(kit: Kit, results: Iterable[CheckResult]) -> None:
    """Each check's own file, now with all that is known of it."""
    for result in results:
        if result.details:
            with suppress(OSError):
                write_json(kit.run_folder / result.details, details(result))


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
    return any(result.status is Status.INTERRUPTED for result in results)

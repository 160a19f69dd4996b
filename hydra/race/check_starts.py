"""Before any agent: whether the checks of a race start on its base."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from msgspec.structs import replace

from hydra.config.check_specs import named
from hydra.log import get_logger
from hydra.process.records import CannotStart
from hydra.race.check_hints import fetching, misses_one_of, refusal
from hydra.race.command_context import RunContext
from hydra.race.guesses.commands import guess_checks
from hydra.race.hidden_places import HiddenPlaces
from hydra.race.project_programs import with_own_programs
from hydra.records.plan import RacePlan
from hydra.report.text import duration, gist

if TYPE_CHECKING:
    from hydra.checks.lack import Lack
    from hydra.checks.start import StartReport

_log = get_logger(__name__)


_FIRST = 10.0
"""Seconds of a look, or of one command of it, until it is said what it waits for; then twice as
many each time."""

_LONG = 160


async def startable(
    planned: RacePlan,
    around: RunContext,
    hidden: HiddenPlaces,
    folder: str,
    tell: Callable[[str], None],
) -> RacePlan:
    """The plan, whose checks start on its base; what was guessed is guessed anew once the set-up
    has run. Raises `Refused` where one cannot run, with what helps as one types it in `folder`.
    `tell` is told what is waited for."""
    from hydra.checks.lack import joined
    from hydra.checks.start import look
    from hydra.checks.suite import CheckSuite, NoGround
    from hydra.race.check_kit import kit_of

    context = await trio.to_thread.run_sync(kit_of, planned, around, around.run_folder / "look")
    tell(f"{'setting up, and ' * bool(planned.setup)}looking at how your tests run ...")
    waiting = _Waiting(tell)
    suite = CheckSuite(context, "_look", planned.base, "_look", waiting.take)
    seen: StartReport | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiting.run)
        try:
            async with suite.open_workspace("") as workspace:
                if planned.setup:
                    planned = _set_up(planned, workspace.worktree, folder, around.environ)
                checked = replace(context, plan=planned)
                seen = await look(checked, workspace, suite.tell)
                top, unfetched = workspace.worktree, workspace.empty_submodules
        except (NoGround, CannotStart):
            # Hydra itself, or the set-up, has failed: the lanes and the baseline say it, with all
            # there is to say, and no agent is started after a set-up that failed.
            _log.debug("it is not known whether checks start", exc_info=True)
        nursery.cancel_scope.cancel()
    if seen is None:
        return planned
    missing = await trio.to_thread.run_sync(_missing, planned, around, seen, top)
    _refuse_unfetched(planned, seen, unfetched, folder)
    await trio.to_thread.run_sync(_refuse, planned, hidden, seen, missing, folder)
    misses = joined(lack for lacks in missing.values() for lack in lacks)
    notes = hidden.lacking(misses, "check_ended")
    planned = replace(planned, warnings=(*planned.warnings, *notes))
    return _with_network(_without(planned, seen.empty), seen.on_host)


class _Waiting:
    """Tells which command a look waits for, once it has taken a while."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self._begin("a copy of your checkout")

    def take(self, kind: str, data: Mapping[str, object]) -> None:
        """An event of the look's."""
        if kind in ("setup_started", "check_started"):
            self._begin(str(data["command"]))

    def _begin(self, what: str) -> None:
        self._what = what
        self._since = trio.current_time()
        self._due = self._since + _FIRST

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await trio.sleep_until(self._due)
            seconds = trio.current_time() - self._since
            if seconds < _FIRST:
                continue  # another command has begun meanwhile
            self.tell(f"waiting for {gist(self._what, _LONG)}, for {duration(seconds)} now")
            self._due = self._since + 2 * seconds


def _with_network(planned: RacePlan, on_host: Collection[str]) -> RacePlan:
    """With this machine's network for the checks that do not start without it, which is said."""
    if not on_host:
        return planned
    notes = (
        f"{name} uses this machine's network, one run at a time once no agent runs: without it, it "
        "does not start on the base"
        for name in on_host
    )
    return planned.with_checks(notes, on_host=tuple(on_host))


def _without(planned: RacePlan, empty: Collection[str]) -> RacePlan:
    """Less the guesses that do not apply: there is no test that they would run."""
    gone = [check for check in planned.checks if check.guessed and check.name in empty]
    if not gone:
        return planned
    notes = (f"the guess `{check.command}` is left out: it finds no tests" for check in gone)
    checks = tuple(check for check in planned.checks if check not in gone)
    return planned.with_checks(notes, commands=checks)


def _set_up(planned: RacePlan, tree: Path, folder: str, environ: Mapping[str, str]) -> RacePlan:
    """With the checks as the environments have them that a set-up has made in `tree`."""
    if all(check.guessed for check in planned.checks) and (names := guess_checks(tree, folder)):
        checks = tuple(replace(check, guessed=True) for check in named(names))
        planned = planned.with_checks(commands=checks)
    return with_own_programs(planned, environ, tree)


def _missing(
    planned: RacePlan, around: RunContext, seen: StartReport, top: Path
) -> Mapping[str, Sequence[Lack]]:
    """By check, what it misses of the checkout: it stops no race, for it may be the task to do
    without it, and what lanes leave can be tested with it afterwards."""
    from hydra.checks.run import missing

    return {
        check.name: missing(seen.outputs[check.name], check, around.surplus, top)
        for check in planned.checks
        if check.name in seen.outputs
    }


def _refuse_unfetched(
    planned: RacePlan, seen: StartReport, unfetched: Sequence[str], folder: str
) -> None:
    """No task is to make what a submodule holds; a command may be to test what can be tested."""
    for check in planned.checks:
        output = seen.outputs.get(check.name, "")
        goes_on = "--continue-on-collection-errors" in check.command
        if not goes_on and (name := misses_one_of(output, unfetched)):
            raise refusal(
                f"{name} is a submodule that was never fetched",
                check,
                planned.repository,
                fetching(name, folder),
                setup=planned.setup,
            )


def _refuse(
    planned: RacePlan,
    hidden: HiddenPlaces,
    seen: StartReport,
    missing: Mapping[str, Sequence[Lack]],
    folder: str,
) -> None:
    for check in planned.checks:
        if check.name in seen.problems:
            line = seen.problems[check.name]
            misses = (lack.told_of("a check", folder) for lack in missing.get(check.name, ()))
            ways = (*misses, *hidden.hidden(line, "check_ended"))
            raise refusal(
                line,
                check,
                planned.repository,
                next(iter(ways), ""),
                folder=folder,
                setup=planned.setup,
                shown=planned.confined,
            )

"""Puts the checks of a run together, and runs them in its race."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from msgspec import Struct, field
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.environment import SHARED, matches, secret_values
from hydra.checks.context import CheckContext, Tell
from hydra.checks.record import CheckResult, document
from hydra.checks.round import CheckRun, held_back, new_folder
from hydra.git.background import Later
from hydra.log import get_logger, hide
from hydra.paths import ground_dir
from hydra.process.sandbox.view import View
from hydra.race.check_ground import ground_of
from hydra.race.context import AttemptControl, Emit
from hydra.records.outcome import Outcome
from hydra.records.plan import RacePlan
from hydra.records.request import Permission
from hydra.redaction import Redactor, secret_variables
from hydra.workspace.dependencies import DependencySource
from hydra.workspace.installs import EditableInstall, installs, package_folders
from hydra.workspace.surplus import Surplus

if TYPE_CHECKING:
    from hydra.git.base_commit import Repository

_log = get_logger(__name__)


class CheckEnvironment(Struct, frozen=True, kw_only=True):
    """Where the checks of a run are run. `extra` are the variables that the user's settings name
    for them, `view` gives what they see of this machine, `dependencies` what of the checkout, and
    `surplus` what they do not."""

    repository: Repository
    run_folder: Path
    state: Path
    home: Path
    environ: Mapping[str, str]
    extra: tuple[str, ...] = ()
    view: Callable[[], View]
    dependencies: DependencySource | None = None
    surplus: Later[Surplus] | None = None
    adapters: Collection[Adapter] = field(default_factory=registry.everyone)
    """Whose settings and keys are kept from the checks."""


def kit_of(plan: RacePlan, around: CheckEnvironment, folder: Path | None = None) -> CheckContext:
    """All that the checks of a run work with, writing to `folder`, else to a fresh one. Blocks.

    Raises `OSError` where that cannot be made.
    """
    environ = around.environ
    adapters = around.adapters
    named = [value for adapter in adapters for value in secret_values(adapter.descriptor, environ)]
    secrets = (*named, *secret_variables(environ))
    names = (*SHARED, *around.extra)
    hide(secrets)
    environment = {name: text for name, text in environ.items() if matches(name, names)}
    return CheckContext(
        checks=plan.checks,
        setup=plan.setup,
        copies=plan.copies,
        repository=around.repository,
        patches=around.run_folder / "patches.git",
        run_folder=around.run_folder,
        folder=folder or new_folder(around.run_folder),
        workspace_folder=lambda label: ground_dir(around.state, plan.run, label),
        state=around.state,
        home=around.home,
        environment=environment,
        ground=ground_of(plan, around.repository.root, environment),
        redactor=Redactor(secrets),
        confinement=plan.confinement,
        limits=plan.limits,
        view=around.view,
        dependencies=around.dependencies if plan.confined else None,
        python_path=plan.python_path,
        copies_installed=_copies(plan, around) if plan.confined else (),
        unrestricted=plan.permission is Permission.UNRESTRICTED,
        network=plan.checking.network,
        surplus=around.surplus,
        on_host=frozenset(plan.checking.on_host),
    )


def _copies(plan: RacePlan, around: CheckEnvironment) -> tuple[EditableInstall, ...]:
    """Of the environments in the checkout that its commands are shown."""
    top = around.repository.root
    packages = [path for name in plan.dependencies for path in package_folders(top / name)]
    return tuple(install for install in installs(packages, top) if install.copy)


class CheckPhase:
    """The checks of one race: made at the first need, which is once its agents run."""

    def __init__(self, plan: RacePlan, around: CheckEnvironment, agents_ended: trio.Event) -> None:
        self._plan = plan
        self._around = around
        self._agents_ended = agents_ended
        self._making = trio.Lock()
        self._round: CheckRun | None = None
        self._results: dict[str, tuple[CheckResult, ...]] = {}

    async def baseline(self, emit: Emit) -> None:
        """Runs them on the base. Raises nothing of its own: lanes are then not compared."""
        try:
            round = await self._get()
        except OSError as error:
            emit("run_warning", data={"text": f"the checks cannot be run: {error}"})
            return
        try:
            await round.baseline(self._plan.base, _teller(emit))
        except Exception as bug:
            round.set_baseline({})
            _log.warning("the baseline failed by Hydra's own fault", exc_info=True)
            text = f"Hydra itself failed on the baseline: {type(bug).__name__}: {bug}"
            emit("run_warning", data={"text": text})

    async def lane(self, outcome: Outcome, control: AttemptControl, emit: Emit) -> Outcome:
        """`outcome` with its checks. Only where the patch holds something is there one to check."""
        if outcome.patch is None or outcome.patch.empty:
            _log.info("nothing to check: there is no patch")
            return outcome
        try:
            round = await self._get()
        except OSError as error:
            return replace(outcome, held_back=(f"its checks cannot be run: {error}",))
        commit, tell = outcome.patch.commit, _teller(emit)
        results = await round.lane(outcome.lane, commit, tell, stop=control.checking)
        self._results[outcome.lane] = results
        _log.info("checked", held_back=held_back(results))
        checks = tuple(map(document, results))
        return replace(outcome, checks=checks, held_back=held_back(results))

    async def trials(self, outcomes: Sequence[Outcome], emit: Emit, stop: trio.CancelScope) -> None:
        """Tries what the lanes left by the base's tests and by each other's. It changes nothing of
        their outcomes."""
        if self._round is None or not self._results:
            return
        from hydra.race.cross_test_phase import CrossTestInputs, run_cross_tests

        tried = CrossTestInputs(
            context=self._round.context,
            base=self._plan.base,
            on_base=self._round.base,
            commits={
                outcome.lane: outcome.patch.commit
                for outcome in outcomes
                if outcome.patch is not None
            },
            results={
                outcome.lane: self._results[outcome.lane]
                for outcome in outcomes
                if outcome.lane in self._results
            },
            parallel=self._plan.checking.parallel,
        )
        await run_cross_tests(tried, self._plan.checking.trials, _teller(emit), stop)

    @property
    def base_documents(self) -> tuple[Mapping[str, object], ...]:
        """What came of each on the base."""
        base = self._round.base if self._round else {}
        return tuple(map(document, base.values()))

    async def _get(self) -> CheckRun:
        async with self._making:
            if self._round is None:
                context = await trio.to_thread.run_sync(kit_of, self._plan, self._around)
                self._round = CheckRun(context, self._plan.checking.parallel, self._agents_ended)
            return self._round


def _teller(emit: Emit) -> Tell:
    def tell(kind: str, data: Mapping[str, object]) -> None:
        emit(kind, data=data)

    return tell

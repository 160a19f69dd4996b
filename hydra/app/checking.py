"""Puts the checks of a run together, and runs them in its race."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.environment import SHARED, matches, secret_values
from hydra.bench import Emit, Handle
from hydra.checks.kit import Kit, Tell
from hydra.checks.record import CheckResult, document
from hydra.checks.round import Round, held_back, new_folder
from hydra.model import Outcome, Permission, RacePlan
from hydra.paths import ground_dir
from hydra.sandbox import View
from hydra.secrets import Redactor, looks_secret
from hydra.workspace.dependencies import DependencySource
from hydra.workspace.installs import Install, installs, package_folders

if TYPE_CHECKING:
    from hydra.bench import Bench
    from hydra.git.repository import Repository
    from hydra.workspace import PrivateGround


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the checks of a run are run. `extra` are the variables that the user's settings name
    for them, `view` gives what they see of this machine, `dependencies` what of the checkout."""

    repository: Repository
    run_folder: Path
    state: Path
    home: Path
    environ: Mapping[str, str]
    extra: tuple[str, ...] = ()
    view: Callable[[], View]
    dependencies: DependencySource | None = None
    adapters: Collection[Adapter] = field(default_factory=registry.everyone)
    """Whose settings and keys are kept from the checks."""


def kit_of(plan: RacePlan, around: Surroundings, folder: Path | None = None) -> Kit:
    """All that the checks of a run work with, writing to `folder`, else to a fresh one. Blocks.

    Raises `OSError` where that cannot be made.
    """
    environ = around.environ
    adapters = around.adapters
    named = [value for it in adapters for value in secret_values(it.descriptor, environ)]
    guessed = [value for name, value in environ.items() if value and looks_secret(name)]
    wanted = (*SHARED, *around.extra)
    return Kit(
        checks=plan.checks,
        setup=plan.setup,
        copies=plan.copies,
        repository=around.repository,
        patches=around.run_folder / "patches.git",
        run_folder=around.run_folder,
        folder=folder or new_folder(around.run_folder),
        ground=lambda label: ground_dir(around.state, plan.run, label),
        state=around.state,
        home=around.home,
        environment={name: it for name, it in environ.items() if matches(name, wanted)},
        redactor=Redactor((*named, *guessed)),
        confinement=plan.confinement,
        limits=plan.limits,
        view=around.view,
        dependencies=around.dependencies if plan.confined else None,
        python_path=plan.python_path,
        copies_installed=_copies(plan, around) if plan.confined else (),
        unrestricted=plan.permission is Permission.UNRESTRICTED,
        network=plan.checks_network,
    )


def _copies(plan: RacePlan, around: Surroundings) -> tuple[Install, ...]:
    """Of the environments in the checkout that its commands are shown."""
    top = around.repository.root
    packages = [path for name in plan.dependencies for path in package_folders(top / name)]
    return tuple(install for install in installs(packages, top) if install.copy)


class Checking:
    """The checks of one race: made at the first need, which is once its agents run."""

    def __init__(self, plan: RacePlan, around: Surroundings) -> None:
        self._plan = plan
        self._around = around
        self._making = trio.Lock()
        self._round: Round | None = None
        self._results: dict[str, tuple[CheckResult, ...]] = {}

    async def baseline(self, emit: Emit) -> None:
        """Runs them on the base. Raises nothing of its own: lanes are then not compared."""
        try:
            round = await self._get()
        except OSError as error:
            emit("run_warning", data={"text": f"the checks cannot be run: {error}"})
            return
        try:
            await round.baseline(self._plan.task.base, _teller(emit))
        except Exception as bug:
            round.known({})
            text = f"Hydra itself failed on the baseline: {type(bug).__name__}: {bug}"
            emit("run_warning", data={"text": text})

    async def lane(self, bench: Bench, outcome: Outcome, handle: Handle, emit: Emit) -> Outcome:
        """`outcome` with its checks. Only where the patch holds something is there one to check."""
        if outcome.patch is None or outcome.patch.empty:
            return outcome
        try:
            round = await self._get()
        except OSError as error:
            return replace(outcome, held_back=(f"its checks cannot be run: {error}",))
        results = await round.lane(
            outcome.lane,
            outcome.patch.commit,
            _teller(emit),
            stop=handle.checking,
            standing=self._standing(bench, outcome),
        )
        self._results[outcome.lane] = results
        checks = tuple(map(document, results))
        return replace(outcome, checks=checks, held_back=held_back(results))

    def _standing(self, bench: Bench, outcome: Outcome) -> PrivateGround | None:
        # A later attempt's ground holds nothing of an earlier one's patch.
        if self._plan.checks_tree != "lane" or bench.attempt != outcome.attempt:
            return None
        return _standing(bench)

    async def trials(self, outcomes: Sequence[Outcome], emit: Emit, stop: trio.CancelScope) -> None:
        """Tries what the lanes left by the base's tests and by each other's. It changes nothing of
        their outcomes."""
        if self._round is None or not self._results:
            return
        # In a thread, and not before: it is more code than the checks have.
        await trio.to_thread.run_sync(import_module, "hydra.app.trying")
        from hydra.app.trying import Tried, try_all

        tried = Tried(
            kit=self._round.kit,
            base=self._plan.task.base,
            on_base=self._round.base,
            commits={it.lane: it.patch.commit for it in outcomes if it.patch is not None},
            results={
                it.lane: self._results[it.lane] for it in outcomes if it.lane in self._results
            },
            parallel=self._plan.checks_parallel,
        )
        await try_all(tried, self._plan.trials, _teller(emit), stop)

    @property
    def base_documents(self) -> tuple[Mapping[str, object], ...]:
        """What came of each on the base."""
        base = self._round.base if self._round else {}
        return tuple(map(document, base.values()))

    async def _get(self) -> Round:
        async with self._making:
            if self._round is None:
                kit = await trio.to_thread.run_sync(kit_of, self._plan, self._around)
                self._round = Round(kit, self._plan.checks_parallel)
            return self._round


def _standing(bench: Bench) -> PrivateGround:
    from hydra.workspace import PrivateGround

    assert isinstance(bench.ground, PrivateGround)
    return bench.ground


def _teller(emit: Emit) -> Tell:
    def tell(kind: str, data: Mapping[str, object]) -> None:
        emit(kind, data=data)

    return tell

"""Guesses tried on HEAD without a race: where they would run, confined, in a clean worktree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra import executables, paths
from hydra.adapters import registry
from hydra.adapters.probe import settings
from hydra.adapters.probe.sandbox import try_confinement, try_layers
from hydra.checks.context import CheckContext
from hydra.checks.start import look
from hydra.checks.suite import CheckSuite, NoGround
from hydra.config.check_specs import named
from hydra.config.schema import Config
from hydra.errors import HydraError
from hydra.git import patches
from hydra.process.records import CannotStart
from hydra.race.check_kit import kit_of
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import FROZEN, LOOK, linked, names_of
from hydra.race.plan import with_network
from hydra.race.recovery import runs
from hydra.records.plan import CheckPlan, Confinement, RacePlan
from hydra.records.request import Permission
from hydra.records.store.writer import new_run_id
from hydra.workspace import tree

UNTRIED = "it was not tried: nothing confines it here"


def tried(top: Path, commands: Sequence[str]) -> Mapping[str, str]:
    """By command, the line that says why it cannot start here. Nothing of a stranger's is run where
    nothing confines it: then all of them are untried."""
    if not commands:
        return {}
    environ = executables.users_environment()
    try:
        place = runs.repository_runs(environ, top)
        config = settings.load(top, environ, {})
        confinement = trio.run(try_confinement, environ)
        if not confinement.holds:
            return dict.fromkeys(commands, UNTRIED)
        confinement = trio.run(try_layers, confinement, environ, place.state)
        return _looked(place, config, confinement, commands)
    except (HydraError, OSError) as problem:
        return dict.fromkeys(commands, f"it was not tried: {problem}")


def _looked(
    place: CommandContext, config: Config, confinement: Confinement, commands: Sequence[str]
) -> Mapping[str, str]:
    plan = _plan(place, config, confinement, commands)
    with _ground(place, plan) as folder:
        frozen = paths.ground_dir(place.state, plan.run, FROZEN)
        with linked(plan, place.repository, frozen) as dependencies:
            around = place.run(config, registry.OWN, folder, commands=plan.commands)
            around = replace(around, dependencies=dependencies)
            context = kit_of(plan, around, folder / "look")
            values = trio.run(_looked_at, context, plan.base)
    return {check.command: values[check.name] for check in plan.checks if check.name in values}


async def _looked_at(context: CheckContext, commit: str) -> Mapping[str, str]:
    suite = CheckSuite(context, "_look", commit, "_look", lambda _kind, _data: None)
    try:
        async with suite.open_workspace("") as workspace:
            return (await look(context, workspace, suite.tell)).problems
    except (NoGround, CannotStart):
        return {}  # what Hydra itself cannot find out speaks against no guess


def _plan(
    place: CommandContext, config: Config, confinement: Confinement, commands: Sequence[str]
) -> RacePlan:
    repository = place.repository
    plan = RacePlan(
        run=new_run_id(),
        repository=repository.root,
        base=repository.head,
        lanes=(),
        permission=Permission.FULL_AUTO,
        confinement=confinement,
        limits=config.limits,
        checking=CheckPlan(
            commands=tuple(replace(check, guessed=True) for check in named(commands)),
            network="auto",
        ),
        dependencies=names_of(repository, config, place.environ),
    )
    return with_network(plan)


@contextmanager
def _ground(place: CommandContext, plan: RacePlan) -> Iterator[Path]:
    """A folder among the grounds of races, with what a clean worktree is made of; then gone."""
    folder = paths.ground_dir(place.state, plan.run, LOOK)
    try:
        folder.mkdir(parents=True, mode=0o700)
        patches.create(folder / "patches.git", place.repository, base=plan.base)
        yield folder
    finally:
        with suppress(OSError):
            tree.remove(folder.parent)

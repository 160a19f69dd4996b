"""The checks that a run has by now, and its plan with them: its race's, those that were named
since, none that was dropped.

A name stands for one command, or the results of one would be taken for the other's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.adapters.probe import settings
from hydra.adapters.probe.sandbox import try_confinement, try_layers
from hydra.checks.baseline import all_checks, all_dropped
from hydra.config.schema import Config
from hydra.errors import Refused, UsageError
from hydra.git.base_commit import Repository, check_copies
from hydra.race.check_selection import is_typed, placed, with_paths, with_setup
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import names_of
from hydra.race.installs import find_installs, python_path
from hydra.race.plan import with_network
from hydra.race.project_programs import with_own_programs
from hydra.race.recovery import history, runs
from hydra.records.plan import CheckPlan, RacePlan
from hydra.records.request import Check, Permission
from hydra.records.store.reader import RunRecord
from hydra.redaction import MARK, redacted
from hydra.text import of_run
from hydra.workspace.dependencies import check_shared


def plan_here(
    place: CommandContext, record: RunRecord, flags: Mapping[str, object], folder: str
) -> tuple[RacePlan, Config, tuple[str, ...]]:
    """The run's plan with the checks that are asked for and what confines here now. `flags` are
    dotted keys; without checks among them, the run's own are run again. Those that are named run in
    `folder`, where one stands, as a race's do."""
    runs.check_ended(record)
    root, environ = place.repository.root, place.environ
    config = settings.load(root, environ, with_paths(flags, root, folder))
    config = with_setup(config, folder)
    check_shared(place.repository, config.race.share)
    plan = history.plan(record.folder)
    confinement = trio.run(try_confinement, environ)
    confinement = trio.run(try_layers, confinement, environ, place.state)
    is_asked = is_typed(config, "race.check")
    own = known_checks(record.folder, plan.checks)
    named = is_asked or not own
    checks = placed(config, root, folder) if named else own
    # Of checks that were named since the race nobody has kept who named them.
    trusted = config.checks.trusted if named else _was_trusted(record) and {*own} <= {*plan.checks}
    if not checks:
        raise UsageError(
            f"run {record.id} has no checks, and none are named",
            hint='name one: hydra check --check "pytest -q"; `hydra init` guesses some',
        )
    # Of a race with full access the plan holds none of a repository's own.
    open_walls = plan.permission is Permission.UNRESTRICTED and not plan.checks
    if not trusted and (open_walls or not confinement.holds):
        raise Refused(
            "nothing confines the repository's checks here, so they do not run",
            hint='name them yourself (--check "..."), or put them in your own hydra.toml',
        )
    setup = config.race.setup if is_typed(config, "race.setup") else plan.setup
    _refuse_redacted(record, () if named else checks, () if setup is config.race.setup else setup)
    plan = replace(
        plan,
        checking=CheckPlan(
            commands=checks,
            parallel=config.checks.parallel,
            network=config.checks.network,
            trials=config.trials,
        ),
        limits=config.limits,
        confinement=confinement,
        dependencies=names_of(place.repository, config, environ),
        setup=setup if confinement.holds or config.race.setup_trusted else (),
        copies=_copies(place.repository, config, plan),
    )
    plan = with_network(replace(plan, warnings=()))
    if is_asked:
        plan = with_own_programs(plan, environ)
        commands, notes = named_apart(plan.checks, all_checks(record.folder, ran=True))
        plan = plan.with_checks(notes, commands=commands)
    installed = trio.run(find_installs, plan, root, environ)
    plan = replace(plan, python_path=python_path(installed))
    walls = () if confinement.holds else (f"not confined ({confinement.reason})",)
    return plan, config, (*plan.warnings, *walls)


def _refuse_redacted(record: RunRecord, checks: Sequence[Check], setup: Sequence[str]) -> None:
    """A record has no secret that was typed: what needs one cannot be run by it."""
    places = (("--check", [check.command for check in checks]), ("--setup", setup))
    lost = [option for option, commands in places if MARK.decode() in " ".join(commands)]
    if lost:
        again = " ".join(f'{option} "..."' for option in lost)
        raise Refused(
            f"a secret was typed in {' and '.join(lost)} of run {record.id}: its record has none",
            hint=f"name it again: hydra check{of_run(record.id)} {again}; a $VARIABLE that "
            "[checks] environment names stays in the record",
        )


def _copies(repository: Repository, config: Config, plan: RacePlan) -> tuple[str, ...]:
    # The race has looked at its own, of which some may be gone by now.
    if not is_typed(config, "race.copy"):
        return plan.copies
    check_copies(repository, config.race.copies, text=config.sources["race.copy"])
    return config.race.copies


def _was_trusted(record: RunRecord) -> bool:
    # A plan holds a repository's checks only where something confined them.
    return record.manifest.settings_from.get("race.check", "").startswith(("--", "HYDRA_"))


def known_checks(run_folder: Path, planned: Sequence[Check]) -> tuple[Check, ...]:
    """Those of the race, one that was dropped as it was run since; where it had none, or none is
    left, those that were named since."""
    gone = all_dropped(run_folder)
    since = all_checks(run_folder, ran=True)
    own = (since.get(check.name) if check.name in gone else check for check in planned)
    return tuple(filter(None, own)) or tuple(since.values())


def named_apart(
    checks: Sequence[Check], mapping: Mapping[str, Check]
) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The checks, those under another name whose own is another command's; a sentence for each."""
    taken = {**mapping}
    commands, notes = [], []
    for check in checks:
        name = _free(check, taken)
        if name != check.name:
            other = taken[check.name].command
            notes.append(f"{check.name} is another command here ({other}): this one is {name}")
        taken[name] = check
        commands.append(replace(check, name=name))
    return tuple(commands), tuple(notes)


def _free(check: Check, taken: Mapping[str, Check]) -> str:
    names = (check.name, *(f"{check.name}-{number}" for number in range(2, len(taken) + 3)))
    command = redacted(check.command)  # as it is recorded
    free = (n for n in names if n not in taken or redacted(taken[n].command) == command)
    return next(free)

"""`hydra check`: checks on patches that are there, again or others, and for a landing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import trio

from hydra import executables, paths, probe
from hydra.app import roster, runs, settings
from hydra.app.check_hints import refusal
from hydra.app.checked import Checked, LaneTell, run_round, silent
from hydra.app.checking import Surroundings, kit_of
from hydra.app.dependencies import linked_aside, names_of
from hydra.app.hidden_places import HiddenPlaces
from hydra.app.import_proof import prove
from hydra.app.installs import find_installs, python_path
from hydra.app.own_programs import with_own_programs
from hydra.app.runs import Place
from hydra.app.views import view_source
from hydra.checks.record import document
from hydra.config import Config
from hydra.errors import (
    RecordError,
    Refused,
    UsageError,
)
from hydra.git import patches
from hydra.git.runner import is_unanswered
from hydra.model import Confinement, Permission, RacePlan, TrialCap
from hydra.paths import ground_dir
from hydra.plan import no_private_network
from hydra.recover import record, remove_rounds
from hydra.store import RunRecord, alone, shared, write_json
from hydra.workspace import tree


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What a person asks for. Without lanes: every lane that has a patch. `flags` are dotted keys
    of settings set by flags; without checks among them, the run's own are run again."""

    run: str = ""
    lanes: tuple[str, ...] = ()
    flags: Mapping[str, object] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)
    tell: LaneTell = silent


def check(request: CheckRequest) -> Checked:
    """Runs checks on patches of a run that has ended.

    Raises `UsageError` for an unknown lane or where there are no checks, `Refused` while the run is
    under way, where nothing confines what only the repository names, or where a check's program is
    nowhere: such a round leaves no record. `RecordError`.
    """
    place = runs.here(request.environ)
    found = runs.find(place, request.run)
    with shared(found.folder):
        plan, config, warnings = plan_here(place, found, request)
        subjects = _subjects(found, request.lanes)
        cap = None if request.lanes else plan.trials  # of some lanes alone they say too little
        work = partial(_checked, place, found, plan, config, subjects, request, cap)
        done = trio.run(work)
        _refuse_unstartable(done, place)
        return replace(done, warnings=(*warnings, *done.warnings))


def _refuse_unstartable(done: Checked, place: Place) -> None:
    if (absent := done.unstartable) is None:
        return
    with suppress(OSError):
        tree.remove(done.folder)
    raise refusal(absent.reason, absent.check.command, place.repository.root)


LANDING = "landing"
"""What stands for a lane's name where what is checked is to be landed."""


def check_commit(
    found: RunRecord,
    commit: str,
    *,
    tell: LaneTell = silent,
) -> dict[str, Any]:
    """The run's own checks on a commit (or tree) in its patches.git, held against the run's base.

    `ok`: no required check holds it back; `why`: the first reason; and the document of `check`.
    A run without checks is `ok`, with none. Raises what `check` does.
    """
    request = CheckRequest(tell=tell)
    place = runs.here(request.environ)
    plan = record.plan(found.folder)
    if not plan.checks:
        return {"ok": True, "why": "", "checks": [], "baseline": [], "folder": None}
    commit = _as_commit(found, commit, plan)
    plan, config, warnings = plan_here(place, found, request)
    work = partial(_checked, place, found, plan, config, {LANDING: commit}, request)
    done = replace(trio.run(work), warnings=warnings)
    told = done.document()
    return {
        "ok": not done.held_back and not done.interrupted,
        "why": "it was interrupted" if done.interrupted else "; ".join(done.held_back),
        "interrupted": done.interrupted,
        "checks": [document(result) for result in done.lanes[LANDING]],
        "baseline": told["baseline"],
        "folder": told["folder"],
    }


def _as_commit(found: RunRecord, name: str, plan: RacePlan) -> str:
    from hydra.git.runner import run

    kind = run("cat-file", "-t", name, git_dir=found.patches, isolated=True).line
    if kind != "tree":
        return name
    return patches.commit_tree(
        found.patches, tree=name, base=plan.task.base, message="to be checked\n"
    )


def plan_here(
    place: Place, found: RunRecord, request: CheckRequest
) -> tuple[RacePlan, Config, tuple[str, ...]]:
    """The run's plan with the checks that are asked for and what confines here now."""
    if found.live:
        raise Refused(f"run {found.id} is still running", hint="wait until it has ended")
    config = settings.load(place.repository.root, request.environ, request.flags)
    plan = record.plan(found.folder)
    confinement = trio.run(probe.try_confinement, request.environ)
    confinement = trio.run(probe.try_layers, confinement, request.environ, place.state)
    asked = config.sources.get("race.check") in ("--check", "HYDRA_CHECK")
    checks = config.checks.checks if asked or not plan.checks else plan.checks
    trusted = config.checks.trusted if asked or not plan.checks else _was_trusted(found)
    if not checks:
        raise UsageError(
            f"run {found.id} has no checks, and none are named",
            hint='name one: hydra check --check "pytest -q"; `hydra init` guesses some',
        )
    # Of a race with full access the plan holds none of a repository's own.
    open_walls = plan.permission is Permission.UNRESTRICTED and not plan.checks
    if not trusted and (open_walls or not confinement.holds):
        raise Refused(
            "nothing confines the repository's checks here, so they do not run",
            hint='name them yourself (--check "..."), or put them in your own hydra.toml',
        )
    network = config.checks.network
    if network == "private":
        reason = trio.run(probe.refused_network, confinement, request.environ)
        if reason:
            raise no_private_network(reason)
    plan = replace(
        plan,
        checks=checks,
        checks_network=network,
        checks_parallel=config.checks.parallel,
        trials=config.judge.trials,
        limits=config.limits,
        confinement=confinement,
        dependencies=names_of(place.repository, config, request.environ),
        setup=plan.setup if confinement.holds or config.race.setup_trusted else (),
    )
    plan = with_own_programs(replace(plan, warnings=()), request.environ) if asked else plan
    installed = trio.run(find_installs, plan, place.repository.root, request.environ)
    plan = replace(plan, python_path=python_path(installed))
    notes = plan.warnings if asked else ()
    return plan, config, (*notes, *_warnings(confinement, config))


def _warnings(confinement: Confinement, config: Config) -> tuple[str, ...]:
    told = []
    if not confinement.holds:
        told.append(f"not confined ({confinement.reason})")
    if config.checks.tree == "lane":
        told.append('checks.tree = "lane" is for a race: here they run in clean worktrees')
    return tuple(told)


def _was_trusted(found: RunRecord) -> bool:
    # A plan holds a repository's checks only where something confined them.
    told = found.manifest.get("settings_from")
    where = told.get("race.check", "") if isinstance(told, dict) else ""
    return where.startswith(("--", "HYDRA_"))


def _subjects(found: RunRecord, lanes: Sequence[str]) -> dict[str, str]:
    if lanes:
        return {lane: runs.commit_of(found, lane) for lane in dict.fromkeys(lanes)}
    try:
        held = patches.branches(found.patches)
    except Refused as error:
        if is_unanswered(error):
            raise
        raise RecordError(f"the patches of run {found.id} cannot be read: {error}") from error
    known = [lane for lane in runs.read(found).lanes if lane in held]
    wanted = {lane: held[lane] for lane in known if held[lane] != found.base}
    if not wanted:
        raise Refused(f"no lane of run {found.id} has a patch", hint="`hydra runs show` says why")
    runs.check_patches(found)
    return wanted


async def _checked(
    place: Place,
    found: RunRecord,
    plan: RacePlan,
    config: Config,
    subjects: Mapping[str, str],
    request: CheckRequest,
    cap: TrialCap | None = None,
) -> Checked:
    home = paths.home_dir(request.environ)
    adapters = roster.of_plan(config, plan)
    around = Surroundings(
        repository=place.repository,
        run_folder=found.folder,
        state=place.state,
        home=home,
        environ=request.environ,
        extra=config.checks.environment,
        adapters=adapters,
        view=view_source(
            config=config,
            environ=request.environ,
            home=home,
            state=place.state,
            repository=place.repository,
            adapters={adapter.key(): adapter for adapter in adapters},
        ),
    )
    try:
        kit = await trio.to_thread.run_sync(kit_of, plan, around)
    except OSError as error:
        raise Refused(f"the run's folder cannot be written: {error.strerror}") from error
    frozen = kit.ground(f"_{kit.folder.name}-frozen")
    hidden = HiddenPlaces(
        view=around.view,
        own=(place.repository.root, place.state),
        settings_file=paths.user_config_file(request.environ),
        run_folder=found.folder,
        mounts=plan.dependencies,
    )

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        request.tell(lane, kind, data)
        for text in hidden.notice(kind, data) if plan.confinement.holds else ():
            request.tell("", "run_warning", {"text": text})

    with alone(kit.folder):  # for as long as its grounds are in use
        grounds = ground_dir(place.state, found.id, "x").parent
        await trio.to_thread.run_sync(remove_rounds, found, grounds)
        async with linked_aside(plan, place.repository, frozen) as dependencies:
            kit = replace(kit, dependencies=dependencies)
            await prove(kit, plan.task.base)
            checked = await run_round(
                found, kit, plan.checks_parallel, subjects, plan.task.base, tell, cap
            )
    checked = replace(checked, warnings=(*checked.warnings, *hidden.sentences))
    with suppress(OSError):  # what is shown stands all the same
        write_json(kit.folder / "result.json", checked.document())
        (found.folder / "size.json").unlink(missing_ok=True)
    return checked

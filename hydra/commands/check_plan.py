"""`hydra check`: checks on patches that are there, again or others, and for a landing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import trio
from msgspec import Struct, field
from msgspec.structs import replace

from hydra import executables
from hydra.adapters.probe import available, settings
from hydra.adapters.probe.sandbox import try_confinement, try_layers
from hydra.checks.baseline import LANDING, all_checks
from hydra.checks.record import CheckStatus, document
from hydra.commands.check_round import CheckReport, LaneTell, run_round, silent
from hydra.commands.known_checks import known_checks, named_apart
from hydra.config.schema import Config
from hydra.errors import (
    Refused,
    UsageError,
)
from hydra.git import patches
from hydra.git.base_commit import Repository, check_copies
from hydra.paths import ground_dir
from hydra.race.check_hints import refusal
from hydra.race.check_kit import kit_of
from hydra.race.check_selection import folder_of, placed, with_paths, with_setup
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import linked_aside, names_of
from hydra.race.hidden_places import HiddenPlaces, list_surplus
from hydra.race.installs import find_installs, python_path
from hydra.race.plan import with_network
from hydra.race.project_programs import with_own_programs
from hydra.race.recovery import history, runs
from hydra.race.recovery.retention import remove_rounds
from hydra.records.codec import as_json
from hydra.records.plan import CheckPlan, Confinement, RacePlan
from hydra.records.request import Check, Permission, TrialCap
from hydra.records.store.files import alone, shared, write_json
from hydra.records.store.reader import RunRecord
from hydra.redaction import MARK
from hydra.text import of_run
from hydra.workspace import tree
from hydra.workspace.dependencies import check_shared


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for. Without lanes: every lane that has a patch. `flags` are dotted keys
    of settings set by flags; without checks among them, the run's own are run again. Those that are
    named run in `directory`, as a race's do."""

    run: str = ""
    lanes: tuple[str, ...] = ()
    flags: Mapping[str, object] = field(default_factory=dict)
    directory: Path = field(default_factory=Path.cwd)
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)
    tell: LaneTell = silent


def check(request: CheckRequest) -> CheckReport:
    """Runs checks on patches of a run that has ended.

    Raises `UsageError` for an unknown lane or where there are no checks, `Refused` while the run is
    under way, where nothing confines what only the repository names, or where a check's program is
    nowhere: such a round leaves no record. `RecordError`.
    """
    place = runs.repository_runs(request.environ, request.directory)
    record = runs.find(place, request.run)
    with shared(record.folder):
        plan, config, warnings = plan_here(place, record, request)
        subjects = _subjects(record, request.lanes)
        # Of some lanes alone they say too little.
        cap = None if request.lanes else plan.checking.trials
        work = partial(_checked, place, record, plan, config, subjects, request, cap)
        done = trio.run(work)
        _refuse_unstartable(done, place, folder_of(place.repository.root, request.directory), plan)
        more = () if request.lanes else _drops(done, record.id)
        return replace(done, warnings=(*warnings, *done.warnings, *more))


def _refuse_unstartable(
    done: CheckReport, place: CommandContext, folder: str, plan: RacePlan
) -> None:
    if (absent := done.unstartable) is None:
        return
    with suppress(OSError):
        tree.remove(done.folder)
    way = next((lack.told_of("a check", folder) for lack in absent.missing), "")
    if absent.status is CheckStatus.NO_TESTS:
        raise Refused(
            f"your tests cannot run here: {absent.reason}",
            hint=way or "a check sees the base or a patch, not what only your checkout has",
        )
    raise refusal(
        absent.reason,
        absent.check,
        place.repository.root,
        way,
        folder=folder,
        setup=plan.setup,
        shown=plan.confined,
        racing=False,
    )


def _drops(done: CheckReport, run: str) -> Iterator[str]:
    """How a check goes that tells no patch from the base."""
    for name in done.telling_nothing:
        line = f"hydra check --drop {quote(name)}{of_run(run)}"
        yield f"{name} fails on the base and on every patch: if the mistake is its own, {line}"


def check_commit(
    record: RunRecord,
    commit: str,
    *,
    tell: LaneTell = silent,
) -> dict[str, Any]:
    """The run's own checks on a commit (or tree) in its patches.git, held against the run's base.

    `ok`: no required check holds it back; `why`: the first reason; and the document of `check`.
    A run without checks is `ok`, with none. Raises what `check` does.
    """
    request = CheckRequest(tell=tell)
    place = runs.repository_runs(request.environ)
    plan = history.plan(record.folder)
    if not known_checks(record.folder, plan.checks):
        return {"ok": True, "why": "", "checks": [], "baseline": [], "folder": None}
    commit = _as_commit(record, commit, plan)
    plan, config, warnings = plan_here(place, record, request)
    work = partial(_checked, place, record, plan, config, {LANDING: commit}, request)
    done = replace(trio.run(work), warnings=warnings)
    data = as_json(done.document())
    return {
        "ok": not done.held_back and not done.interrupted,
        "why": "it was interrupted" if done.interrupted else "; ".join(done.held_back),
        "interrupted": done.interrupted,
        "checks": [document(result) for result in done.lanes[LANDING]],
        "baseline": data["baseline"],
        "folder": data["folder"],
    }


def _as_commit(record: RunRecord, name: str, plan: RacePlan) -> str:
    from hydra.git.runner import run

    kind = run("cat-file", "-t", name, git_dir=record.patches, isolated=True).line
    if kind != "tree":
        return name
    return patches.commit_tree(record.patches, tree=name, base=plan.base, message="to be checked\n")


def plan_here(
    place: CommandContext, record: RunRecord, request: CheckRequest
) -> tuple[RacePlan, Config, tuple[str, ...]]:
    """The run's plan with the checks that are asked for and what confines here now."""
    runs.check_ended(record)
    folder = folder_of(place.repository.root, request.directory)
    flags = with_paths(request.flags, place.repository.root, folder)
    config = with_setup(settings.load(place.repository.root, request.environ, flags), folder)
    check_shared(place.repository, config.race.share)
    plan = history.plan(record.folder)
    confinement = trio.run(try_confinement, request.environ)
    confinement = trio.run(try_layers, confinement, request.environ, place.state)
    is_asked = _is_asked(config, "race.check")
    own = known_checks(record.folder, plan.checks)
    named = is_asked or not own
    checks = placed(config, place.repository.root, folder) if named else own
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
    setup = config.race.setup if _is_asked(config, "race.setup") else plan.setup
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
        dependencies=names_of(place.repository, config, request.environ),
        setup=setup if confinement.holds or config.race.setup_trusted else (),
        copies=_copies(place.repository, config, plan),
    )
    plan = with_network(replace(plan, warnings=()))
    if is_asked:
        plan = with_own_programs(plan, request.environ)
        commands, notes = named_apart(plan.checks, all_checks(record.folder, ran=True))
        plan = plan.with_checks(notes, commands=commands)
    installed = trio.run(find_installs, plan, place.repository.root, request.environ)
    plan = replace(plan, python_path=python_path(installed))
    return plan, config, (*plan.warnings, *_warnings(confinement))


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
    if not _is_asked(config, "race.copy"):
        return plan.copies
    check_copies(repository, config.race.copies, text=config.sources["race.copy"])
    return config.race.copies


def _is_asked(config: Config, key: str) -> bool:
    """Whether a flag names it, or a variable in its place: else it is as in the race."""
    return config.sources.get(key, "").startswith(("--", "HYDRA_"))


def _warnings(confinement: Confinement) -> tuple[str, ...]:
    return () if confinement.holds else (f"not confined ({confinement.reason})",)


def _was_trusted(record: RunRecord) -> bool:
    # A plan holds a repository's checks only where something confined them.
    return record.manifest.settings_from.get("race.check", "").startswith(("--", "HYDRA_"))


def _subjects(record: RunRecord, lanes: Sequence[str]) -> dict[str, str]:
    if lanes:
        return {lane: runs.commit_of(record, lane) for lane in dict.fromkeys(lanes)}
    subjects = runs.patched(record)
    runs.check_patches(record)
    return subjects


async def _checked(
    place: CommandContext,
    record: RunRecord,
    plan: RacePlan,
    config: Config,
    subjects: Mapping[str, str],
    request: CheckRequest,
    cap: TrialCap | None = None,
) -> CheckReport:
    adapters = available.of_plan(config, plan)
    folder = folder_of(place.repository.root, request.directory)
    around = place.run(config, adapters, record.folder, commands=plan.commands)
    surplus = list_surplus(around, plan, folder)
    around = replace(around, surplus=surplus)
    try:
        context = await trio.to_thread.run_sync(kit_of, plan, around)
        if LANDING in subjects:
            (context.folder / LANDING).mkdir(mode=0o700)
    except OSError as error:
        raise Refused(f"the run's folder cannot be written: {error.strerror}") from error
    frozen = context.workspace_folder(f"_{context.folder.name}-frozen")
    hidden = HiddenPlaces.of(around, surplus, confined=plan.confinement.holds)

    def warn(text: str) -> None:
        request.tell("", "run_warning", {"text": text})

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        request.tell(lane, kind, data)
        if hidden.concerns(kind, data):
            looks.send_nowait(partial(hidden.notice, kind, data))

    with alone(context.folder):  # for as long as its grounds are in use
        path = ground_dir(place.state, record.id, "x").parent
        await trio.to_thread.run_sync(remove_rounds, record, path)
        async with linked_aside(plan, place.repository, frozen) as dependencies:
            context = replace(context, dependencies=dependencies)
            async with hidden.beside(warn) as looks:
                parallel = plan.checking.parallel
                checked = await run_round(record, context, parallel, subjects, plan.base, tell, cap)
    checked = replace(checked, warnings=(*checked.warnings, *hidden.sentences))
    with suppress(OSError):  # what is shown stands all the same
        write_json(context.folder / "result.json", as_json(checked.document()))
    return checked

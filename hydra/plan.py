"""Config, flags and probes to a `RacePlan`: everything that is decided before anything runs.

Pure: no I/O, so `--dry-run` prints exactly what a race would do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hydra.adapters.contract import Adapter, Descriptor
from hydra.adapters.environment import names
from hydra.config import Config
from hydra.config.records import Remote
from hydra.errors import (
    AgentError,
    BinaryMissing,
    Failure,
    NoAgentReady,
    Refused,
    UnsupportedFlag,
    UsageError,
)
from hydra.model import (
    Check,
    Confinement,
    DetectResult,
    Lane,
    LanePlan,
    Permission,
    Place,
    RacePlan,
    Rates,
    SpawnRequest,
    Task,
    Tier,
)
from hydra.paths import ground_dir
from hydra.remote.names import HOME, WORK, carried, folder_of
from hydra.remote.there import There
from hydra.wanted import Wanted, check_mapped, wanted
from hydra.workspace import LANE_HOME, worktree_name

SUBJECT, BODY = 72, 4000
"""Characters of the task in a patch's commit: in its first line, and in all."""

FULL = Permission.FULL_AUTO

EXPERIMENTAL_FLAG = "--allow-experimental-adapters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the app has found out before a plan is made."""

    run: str
    state: Path
    task: Task
    lanes: tuple[Lane, ...]
    config: Config
    adapters: Mapping[str, Adapter]
    found: Mapping[str, DetectResult]
    confinement: Confinement
    environment_names: Collection[str]
    instructions: Mapping[str, tuple[str, ...]]
    as_root: bool
    elsewhere: Mapping[tuple[str, str], There] = field(default_factory=dict)
    """What was found on remotes, by agent and remote."""
    warnings: tuple[str, ...] = ()


def make(known: Known) -> RacePlan:
    """The plan of one race.

    Raises `NoAgentReady` where no lane could start, `Refused` where a permission was asked for
    outright that nothing here can confine.
    """
    race = known.config.race
    permission = race.permission or Permission.FULL_AUTO
    lanes = tuple(_lane(known, lane) for lane in known.lanes)
    if all(lane.failure is not None for lane in lanes):
        raise NoAgentReady(_why_none(lanes), hint="`hydra doctor` shows what each agent needs")
    plan = RacePlan(
        run=known.run,
        task=known.task,
        lanes=lanes,
        permission=permission,
        confinement=known.confinement,
        limits=known.config.limits,
        max_parallel=race.max_parallel,
        network=race.network,
        copies=race.copies,
        setup=race.setup if known.confinement.holds or race.setup_trusted else (),
        checks=_checks(known),
        checks_parallel=known.config.checks.parallel,
        checks_tree=known.config.checks.tree,
        checks_network=known.config.checks.network,
        trials=known.config.judge.trials,
        keep=race.keep,
        retry=known.config.retry,
        warnings=known.warnings,
    )
    return replace(plan, warnings=(*known.warnings, *_warnings(known, plan)))


def _checks(known: Known) -> tuple[Check, ...]:
    """The checks that may run here. Raises `Refused` for a network that nothing can keep apart."""
    checks = known.config.checks
    if not known.confinement.holds and not checks.trusted:
        return ()
    if checks.checks and checks.network == "private" and not known.confinement.holds:
        raise no_private_network(known.confinement.reason)
    return checks.checks


def no_private_network(reason: str) -> Refused:
    """What is raised where checks ask for a network of their own and it cannot be had."""
    return Refused(
        f'checks.network = "private" cannot be had here ({reason})',
        hint="leave checks.network at host, or install bubblewrap where it is missing",
    )


def patch_message(plan: RacePlan, lane: LanePlan) -> str:
    """What the commit of a lane's patch says: the task, and trailers for who and where."""
    trailers = [f"Hydra-Agent: {lane.lane.adapter} {lane.version}".rstrip()]
    if lane.lane.model:
        trailers.append(f"Hydra-Model: {lane.lane.model}")
    trailers.append(f"Hydra-Run: {plan.run}")
    return f"{_told(plan.task)}\n\n" + "\n".join(trailers) + "\n"


def _told(task: Task) -> str:
    """The task as a commit's subject, and whole below where that is not all of it."""
    text = task.prompt.strip()
    subject = text.splitlines()[0] if text else task.title
    if len(subject) > SUBJECT:
        subject = f"{subject[: SUBJECT - 4].rpartition(' ')[0] or subject[: SUBJECT - 4]} ..."
    return subject if subject == text else f"{subject}\n\n{text[:BODY]}"


def choose_lanes(
    asked: tuple[Lane, ...], found: Mapping[str, DetectResult], adapters: Mapping[str, Adapter]
) -> tuple[Lane, ...]:
    """The lanes asked for, or one of every ready Tier-1 agent. Raises `NoAgentReady`."""
    if asked:
        return asked
    ready = tuple(
        Lane(id=key, adapter=key)
        for key in found
        if found[key].ready and adapters[key].descriptor.tier is Tier.TIER1
    )
    if ready:
        return ready
    reasons = "; ".join(
        f"{key}: {result.error.message}" for key, result in found.items() if result.error
    )
    raise NoAgentReady(
        f"no agent is ready ({reasons or 'none was probed'})",
        hint="`hydra doctor` says what each one needs; `hydra demo` works without any",
    )


def check_experimental(
    lanes: tuple[Lane, ...], adapters: Mapping[str, Adapter], allowed: bool
) -> None:
    """Raises `UsageError` where a lane's adapter is one that Hydra does not run, or is experimental
    and that was not allowed."""
    for lane in lanes:
        told = adapters[lane.adapter].descriptor
        if told.unrunnable:
            raise UsageError(
                f"Hydra does not run {lane.adapter}: {told.unrunnable}",
                hint="race another agent: `hydra agents` lists them",
            )
        if adapters[lane.adapter].descriptor.tier is Tier.EXPERIMENTAL and not allowed:
            raise UsageError(
                f"{lane.adapter} is an experimental adapter",
                hint=f"add {EXPERIMENTAL_FLAG} to race it all the same",
            )


def _lane(known: Known, lane: Lane) -> LanePlan:
    descriptor = known.adapters[lane.adapter].descriptor
    asked = wanted(known.config, lane)
    remote = known.config.remotes[asked.remote] if asked.remote else None
    found, as_root, told = _found(known, lane, remote)
    model, rates, remarks = _model(known, descriptor, asked)
    effective = _permission(known, lane.adapter, asked.permission, remote)
    ground = ground_dir(known.state, known.run, lane.id)
    worktree = ground / worktree_name(known.task.repository)
    place = Path(folder_of(remote, known.run, lane.id)) if remote else ground
    stands = place / WORK / worktree.name if remote else worktree
    planned = LanePlan(
        lane=replace(lane, model=asked.model, effort=asked.effort),
        label=descriptor.label,
        tier=descriptor.tier,
        soft_sandbox=descriptor.sandbox == "soft",
        version=found.version if found else "",
        worktree=worktree,
        permission=effective,
        budget=asked.budget,
        env_names=_environment(known, descriptor, asked.environment, remote),
        warnings=(*(found.warnings if found else ()), *remarks, *told),
        third_party=descriptor.third_party,
        rates=rates,
        remote=Place(remote.name, remote.mode, remote.target, str(place)) if remote else None,
    )
    if found is None or not found.ready:
        return replace(planned, failure=_unready(lane, found))
    request = SpawnRequest(
        prompt=known.task.prompt,
        worktree=stands,
        permission=effective,
        model=model,
        network=known.config.race.network,
        # There it is the user who answers for what confines it: full-auto was asked for outright.
        confined=known.confinement.holds if remote is None else asked.permission is FULL,
        masked=known.confinement.holds and not (remote or effective is Permission.UNRESTRICTED),
        as_root=as_root,
        instructions=known.instructions.get(lane.adapter, ()),
        extra_args=known.config.agent(lane.adapter).args,
        home=place / (HOME if remote else LANE_HOME),
        effort=asked.effort,
        preface=asked.preface,
        budget=asked.budget,
        service_tier=asked.service_tier,
    )
    try:
        if remote is not None:
            _check_carried(descriptor, remote)
        check_mapped(descriptor, request)
        command = known.adapters[lane.adapter].build_command(request, found)
    except AgentError as error:
        return replace(planned, failure=error.failure)
    return replace(planned, command=command)


def _found(
    known: Known, lane: Lane, remote: Remote | None
) -> tuple[DetectResult | None, bool, tuple[str, ...]]:
    """The agent where it will run, whether as root, and what deserves a word."""
    if remote is None:
        return known.found.get(lane.adapter), known.as_root, ()
    there = known.elsewhere.get((lane.adapter, remote.name))
    told = [f"not confined by Hydra: it runs on {remote.target}"]
    if known.config.race.setup:
        told.append("the set-up is not run for it, neither here nor there")
    if there is None:
        return None, False, tuple(told)
    return there.result, there.root, (*told, *there.remarks)


def _environment(
    known: Known, told: Descriptor, extra: Collection[str], remote: Remote | None
) -> tuple[str, ...]:
    pick = names if remote is None else carried
    return tuple(sorted(pick(told, known.environment_names, extra)))


def _check_carried(told: Descriptor, remote: Remote) -> None:
    """Raises `UnsupportedFlag` for an agent that a line to a shell does not serve."""
    why = "it needs a terminal" if told.pty else ""
    if told.protocol == "http":
        why = "it is a server, to be called on its own machine"
    if why:
        raise UnsupportedFlag(
            f"{told.label} cannot run on {remote.target}: {why}",
            adapter=told.key,
            hint=f"race it here, or another agent on {remote.name}",
            reason="capability",
        )


def _model(
    known: Known, told: Descriptor, asked: Wanted
) -> tuple[str | None, Rates | None, tuple[str, ...]]:
    """What the CLI is told of the model, its prices, and what deserves a word."""
    if asked.model is None:
        return None, None, ()
    from hydra.models.catalog import with_own  # not before: most races name no model
    from hydra.models.choosing import choose

    catalog = with_own(known.config.models.items())
    choice = choose(catalog, asked.model, agent=told.key, families=told.families)
    # A service tier has prices of its own, which nobody here knows.
    return choice.word, None if asked.service_tier else choice.rates, choice.remarks


def _permission(
    known: Known, key: str, asked: Permission | None, remote: Remote | None
) -> Permission:
    """Full-auto stands where something confines the agent: Hydra, or the agent's own sandbox; and
    elsewhere where it was asked for outright, for what confines there Hydra cannot know."""
    permission = asked or Permission.FULL_AUTO
    held = known.confinement.holds if remote is None else asked is not None
    if permission is not Permission.FULL_AUTO or held:
        return permission
    if known.adapters[key].descriptor.confines_itself:
        return permission
    if asked is not None:
        raise Refused(
            f"{key} cannot run full-auto here: nothing confines it ({known.confinement.reason})",
            hint="install bubblewrap, or race with --permission edit",
        )
    return Permission.EDIT


def _unready(lane: Lane, found: DetectResult | None) -> Failure:
    if found is not None and found.error is not None:
        return found.error
    return BinaryMissing(
        f"{lane.adapter} was not found",
        adapter=lane.adapter,
        hint=f"`hydra agents {lane.adapter}` says how to install it",
    ).failure


def _why_none(lanes: tuple[LanePlan, ...]) -> str:
    reasons = "; ".join(
        f"{lane.lane.id}: {lane.failure.message}" for lane in lanes if lane.failure is not None
    )
    return f"no lane can start ({reasons})"


def _warnings(known: Known, plan: RacePlan) -> list[str]:
    warnings = []
    if plan.permission is Permission.UNRESTRICTED:
        warnings.append(
            "--unsafe-full-access: the agents can read and change everything that you can"
        )
    elif not known.confinement.holds:
        lowered = [
            lane.lane.id
            for lane in plan.lanes
            if lane.permission is Permission.EDIT
            and plan.permission is Permission.FULL_AUTO
            and lane.remote is None
        ]
        edit_only = f"; {', '.join(lowered)}: edits only, no commands" if lowered else ""
        warnings.append(f"not confined ({known.confinement.reason}){edit_only}")
    if known.config.race.setup and not plan.setup:
        warnings.append(
            "the repository's set-up commands are skipped: nothing confines them here "
            "(--setup, or your own hydra.toml, runs them all the same)"
        )
    if known.config.checks.checks and not plan.checks:
        names = ", ".join(check.name for check in known.config.checks.checks)
        warnings.append(
            f"the repository's checks are skipped ({names}): nothing confines them here "
            "(--check, or your own hydra.toml, runs them all the same)"
        )
    return warnings

"""One lane's plan: where its agent runs, with which model, permission and variables, and its line.

What keeps a lane from starting is kept in its plan, so that the others race without it. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hydra.adapters.contract import Adapter, Descriptor
from hydra.adapters.environment import names
from hydra.adapters.flag_proof import unproved_flags
from hydra.config import Config
from hydra.config.records import Remote
from hydra.errors import AgentError, BinaryMissing, Failure, Refused, UnsupportedFlag
from hydra.model import (
    Confinement,
    DetectResult,
    Lane,
    LanePlan,
    Permission,
    Place,
    Rates,
    SpawnRequest,
    Task,
)
from hydra.paths import ground_dir
from hydra.remote.names import HOME, WORK, carried, folder_of
from hydra.remote.there import There
from hydra.wanted import Wanted, check_mapped, wanted
from hydra.workspace import LANE_HOME, worktree_name


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
    left_out: tuple[Failure, ...] = ()
    """Why agents that would race by themselves do not."""
    dependencies: tuple[str, ...] = ()
    """The checkout's, by `dependency_names`."""
    warnings: tuple[str, ...] = ()


MOUNTS_STAY = (
    "These folders are mounts and cannot be removed or renamed themselves (rm: Device or resource "
    "busy); remove what is in them instead, as `npm ci` does:"
)


def plan_lane(known: Known, lane: Lane) -> LanePlan:
    """What this lane will run, and where; its `failure` says why it cannot start.

    Raises `Refused` where a permission was asked for outright that nothing here can confine.
    """
    descriptor = known.adapters[lane.adapter].descriptor
    asked = wanted(known.config, lane)
    remote = known.config.remotes[asked.remote] if asked.remote else None
    found, as_root, told = _found(known, lane, remote)
    model, rates, remarks = _model(known, descriptor, asked)
    effective = _permission(known, lane.adapter, asked.permission, remote)
    ground = ground_dir(known.state, known.run, lane.id)
    place = Path(folder_of(remote, known.run, lane.id)) if remote else ground
    planned = LanePlan(
        lane=replace(lane, model=asked.model, effort=asked.effort),
        label=descriptor.label,
        tier=descriptor.tier,
        soft_sandbox=descriptor.sandbox == "soft",
        version=found.version if found else "",
        worktree=ground / worktree_name(known.task.repository),
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
    request = _request(known, asked, planned, place, model=model, as_root=as_root)
    try:
        if remote is not None:
            _check_carried(descriptor, remote)
        check_mapped(descriptor, request, effort_at=asked.effort_at, tier_at=asked.tier_at)
        command = known.adapters[lane.adapter].build_command(request, found)
    except AgentError as error:
        return replace(planned, failure=error.failure)
    unproved = unproved_flags(known.adapters[lane.adapter], found, command.args)
    return replace(planned, command=command, warnings=(*planned.warnings, *unproved))


def _request(
    known: Known, asked: Wanted, planned: LanePlan, place: Path, *, model: str | None, as_root: bool
) -> SpawnRequest:
    """What its adapter is asked for. `place` is the lane's folder where its agent runs."""
    here, key = planned.remote is None, planned.lane.adapter
    return SpawnRequest(
        prompt=known.task.prompt,
        worktree=_worktree(known, planned) if here else place / WORK / planned.worktree.name,
        permission=planned.permission,
        model=model,
        network=known.config.race.network,
        # There it is the user who answers for what confines it: full-auto was asked for outright.
        confined=known.confinement.holds if here else asked.permission is Permission.FULL_AUTO,
        masked=here
        and known.confinement.holds
        and planned.permission is not Permission.UNRESTRICTED,
        as_root=as_root,
        instructions=known.instructions.get(key, ()),
        extra_args=known.config.agent(key).args,
        home=place / (LANE_HOME if here else HOME),
        effort=asked.effort,
        preface=_preface(known, asked) if here else asked.preface,
        budget=asked.budget,
        service_tier=asked.service_tier,
    )


def _preface(known: Known, asked: Wanted) -> str:
    """With what an agent cannot find out but by failing: a mount's own folder stays."""
    top = known.task.repository
    folders = [name for name in known.dependencies if (top / name).is_dir()]
    if not (folders and known.confinement.holds):
        return asked.preface
    text = f"{MOUNTS_STAY} {', '.join(folders)}"
    return "\n\n".join(filter(None, (asked.preface.strip(), text)))


def _worktree(known: Known, planned: LanePlan) -> Path:
    """Where its agent sees it: where something confines it, at the path of the user's checkout."""
    confined = known.confinement.holds and planned.permission is not Permission.UNRESTRICTED
    return known.task.repository if confined else planned.worktree


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
        raise _unconfined(key, known.confinement.reason)
    return Permission.EDIT


def _unconfined(key: str, reason: str) -> Refused:
    message = f"{key} cannot run full-auto here: nothing confines it ({reason})"
    hint = "install bubblewrap, or race with --permission edit"
    failure = Failure(
        kind="SpawnFailed", reason="not_confined", message=message, adapter=key, hint=hint
    )
    return Refused(message, hint=hint, failures=(failure,))


def _unready(lane: Lane, found: DetectResult | None) -> Failure:
    if found is not None and found.error is not None:
        return found.error
    return BinaryMissing(
        f"{lane.adapter} was not found",
        adapter=lane.adapter,
        hint=f"`hydra agents {lane.adapter}` says how to install it",
    ).failure

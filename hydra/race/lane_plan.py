"""One lane's plan: where its agent runs, with which model, permission and variables, and its line.

What keeps a lane from starting is kept in its plan, so that the others race without it. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.adapters.contract import Adapter, Descriptor
from hydra.adapters.environment import names
from hydra.adapters.remote.spec import HOME, WORK, RemoteDetection, carried, folder_of
from hydra.adapters.supported import check_supported
from hydra.config.schema import LOCAL, Config, Profile, Remote
from hydra.errors import AgentError, BinaryMissing, Failure, Refused, UnsupportedFlag
from hydra.paths import ground_dir
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.plan import Confinement, LanePlan, Rates, RemotePlace
from hydra.records.request import Budget, Lane, Permission
from hydra.workspace.names import LANE_HOME, worktree_name


class PlanInputs(Struct, frozen=True, kw_only=True):
    """What is known before a plan is made."""

    run: str
    state: Path
    prompt: str
    repository: Path
    base: str
    base_name: str = ""
    lanes: tuple[Lane, ...]
    config: Config
    adapters: Mapping[str, Adapter]
    detections: Mapping[str, DetectResult]
    confinement: Confinement
    environment_names: Collection[str]
    instructions: Mapping[str, tuple[str, ...]]
    as_root: bool
    elsewhere: Mapping[tuple[str, str], RemoteDetection] = field(default_factory=dict)
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


def plan_lane(inputs: PlanInputs, lane: Lane) -> LanePlan:
    """What this lane will run, and where; its `failure` says why it cannot start.

    Raises `Refused` where a permission was asked for outright that nothing here can confine.
    """
    descriptor = inputs.adapters[lane.adapter].descriptor
    config, options = inputs.config, resolve_options(inputs.config, lane)
    remote = config.remotes[options.remote] if options.remote else None
    result, as_root, lines = _detection(inputs, lane, remote)
    model, rates, remarks = _model(inputs, descriptor, options)
    effective = _permission(inputs, lane.adapter, options.permission, remote)
    path = ground_dir(inputs.state, inputs.run, lane.id)
    place = Path(folder_of(remote, inputs.run, lane.id)) if remote else path
    planned = LanePlan(
        id=lane.id,
        adapter=lane.adapter,
        model=options.model,
        effort=options.effort,
        profile=lane.profile or None,
        label=descriptor.label,
        tier=descriptor.tier,
        sandbox="soft" if descriptor.sandbox == "soft" else "hard",
        version=result.version if result else "",
        worktree=path / worktree_name(inputs.repository),
        permission=effective,
        budget=options.budget,
        env_names=_environment(inputs, descriptor, options.environment, remote),
        warnings=(*(result.warnings if result else ()), *remarks, *lines),
        third_party=descriptor.third_party is not None,
        origin=descriptor.third_party,
        rates=rates,
        remote=RemotePlace(remote.name, remote.mode, remote.target, str(place)) if remote else None,
    )
    if result is None or not result.ready:
        return replace(planned, failure=_unready(lane, result))
    request = _request(inputs, options, planned, place, model=model, as_root=as_root)
    try:
        if remote is not None:
            _check_carried(descriptor, remote)
        at = {"effort_at": effort_at(config, lane), "tier_at": tier_at(config, lane)}
        check_supported(descriptor, request, **at)
        command = inputs.adapters[lane.adapter].build_command(request, result)
    except AgentError as error:
        return replace(planned, failure=error.failure)
    return replace(planned, built=command)


def _request(
    inputs: PlanInputs,
    options: Profile,
    planned: LanePlan,
    place: Path,
    *,
    model: str | None,
    as_root: bool,
) -> SpawnRequest:
    """What its adapter is asked for. `place` is the lane's folder where its agent runs."""
    is_local, key = planned.remote is None, planned.adapter
    return SpawnRequest(
        prompt=inputs.prompt,
        worktree=_worktree(inputs, planned) if is_local else place / WORK / planned.worktree.name,
        permission=planned.permission,
        model=model,
        network=inputs.config.race.network,
        # There it is the user who answers for what confines it: full-auto was asked for outright.
        confined=inputs.confinement.holds
        if is_local
        else options.permission is Permission.FULL_AUTO,
        masked=is_local
        and inputs.confinement.holds
        and planned.permission is not Permission.UNRESTRICTED,
        as_root=as_root,
        instructions=inputs.instructions.get(key, ()),
        extra_args=inputs.config.agent(key).args,
        home=place / (LANE_HOME if is_local else HOME),
        effort=options.effort,
        preface=_preface(inputs, options) if is_local else options.preface,
        budget=options.budget,
        background=inputs.config.limits.background,
        service_tier=options.service_tier,
    )


def _preface(inputs: PlanInputs, options: Profile) -> str:
    """With what an agent cannot find out but by failing: a mount's own folder stays."""
    top = inputs.repository
    folders = [name for name in inputs.dependencies if (top / name).is_dir()]
    if not (folders and inputs.confinement.holds):
        return options.preface
    text = f"{MOUNTS_STAY} {', '.join(folders)}"
    return "\n\n".join(filter(None, (options.preface.strip(), text)))


def _worktree(inputs: PlanInputs, planned: LanePlan) -> Path:
    """Where its agent sees it: where something confines it, at the path of the user's checkout."""
    confined = inputs.confinement.holds and planned.permission is not Permission.UNRESTRICTED
    return inputs.repository if confined else planned.worktree


def _detection(
    inputs: PlanInputs, lane: Lane, remote: Remote | None
) -> tuple[DetectResult | None, bool, tuple[str, ...]]:
    """The agent where it will run, whether as root, and what deserves a word."""
    if remote is None:
        return inputs.detections.get(lane.adapter), inputs.as_root, ()
    detection = inputs.elsewhere.get((lane.adapter, remote.name))
    lines = [f"not confined by Hydra: it runs on {remote.target}"]
    if inputs.config.race.setup:
        lines.append("the set-up is not run for it, neither here nor there")
    if detection is None:
        return None, False, tuple(lines)
    return detection.result, detection.root, (*lines, *detection.remarks)


def _environment(
    inputs: PlanInputs, descriptor: Descriptor, extra: Collection[str], remote: Remote | None
) -> tuple[str, ...]:
    pick = names if remote is None else carried
    return tuple(sorted(pick(descriptor, inputs.environment_names, extra)))


def _check_carried(descriptor: Descriptor, remote: Remote) -> None:
    """Raises `UnsupportedFlag` for an agent that a line to a shell does not serve."""
    if descriptor.protocol == "http":
        raise UnsupportedFlag(
            f"{descriptor.label} cannot run on {remote.target}: it is a server, to be called on its"
            " own machine",
            adapter=descriptor.key,
            hint=f"race it here, or another agent on {remote.name}",
            reason="capability",
        )


def _model(
    inputs: PlanInputs, descriptor: Descriptor, options: Profile
) -> tuple[str | None, Rates | None, tuple[str, ...]]:
    """What the CLI is told of the model, its prices, and what deserves a word."""
    if options.model is None:
        return None, None, ()
    from hydra.adapters.models.catalog import with_own  # not before: most races name no model
    from hydra.adapters.models.selection import choose

    catalog = with_own(inputs.config.models.items())
    choice = choose(catalog, options.model, agent=descriptor.key, families=descriptor.families)
    # A service tier has prices of its own, which nobody here knows.
    return choice.argument, None if options.service_tier else choice.rates, choice.remarks


def _permission(
    inputs: PlanInputs, key: str, grant: Permission | None, remote: Remote | None
) -> Permission:
    """Full-auto stands where something confines the agent: Hydra, or the agent's own sandbox; and
    elsewhere where it was asked for outright, for what confines there Hydra cannot know."""
    permission = grant or Permission.FULL_AUTO
    holds = inputs.confinement.holds if remote is None else grant is not None
    if permission is not Permission.FULL_AUTO or holds:
        return permission
    if inputs.adapters[key].descriptor.confines_itself:
        return permission
    if grant is not None:
        raise _unconfined(key, inputs.confinement.reason)
    return Permission.EDIT


def _unconfined(key: str, reason: str) -> Refused:
    message = f"{key} cannot run full-auto here: nothing confines it ({reason})"
    hint = "install bubblewrap, or race with --permission edit"
    failure = Failure(
        kind="SpawnFailed", reason="not_confined", message=message, adapter=key, hint=hint
    )
    return Refused(message, hint=hint, failures=(failure,))


def _unready(lane: Lane, result: DetectResult | None) -> Failure:
    if result is not None and result.error is not None:
        return result.error
    return BinaryMissing(
        f"{lane.adapter} was not found",
        adapter=lane.adapter,
        hint=f"`hydra agents {lane.adapter}` says how to install it",
    ).failure


# ---- What one lane asks for, from its `-a`, its profile, its agent's settings and the race's
# flags.
#
# The nearer word wins: `-a codex:gpt-5.5@high`, then the profile, then the race, then the agent's
# own table. What an adapter maps nothing for is refused by name before anything is spawned. Pure.

_NO_PROFILE = Profile(agent="")
_GRANTS = (Permission.PLAN, Permission.EDIT, Permission.FULL_AUTO, Permission.UNRESTRICTED)


def resolve_options(config: Config, lane: Lane) -> Profile:
    """What this lane asks for: its profile, and what that leaves to others. `permission` None:
    nobody named one; `remote` "" is this machine."""
    profile = config.profiles.get(lane.profile, _NO_PROFILE)
    agent = config.agent(lane.adapter)
    return replace(
        profile,
        model=lane.model or profile.model or agent.model,
        effort=lane.effort or profile.effort or config.race.effort or agent.effort,
        permission=_lower(config.race.permission, profile.permission),
        budget=smaller(config.budget, profile.budget),
        service_tier=profile.service_tier or agent.service_tier,
        environment=(*agent.environment, *profile.environment),
        remote="" if (place := profile.remote or agent.remote) == LOCAL else place,
    )


def tier_at(config: Config, lane: Lane) -> str:
    """Where the service tier stands that `resolve_options` takes; "" for nowhere."""
    in_profile = bool(config.profiles.get(lane.profile, _NO_PROFILE).service_tier)
    value = in_profile or config.agent(lane.adapter).service_tier
    return _table(lane, in_profile=in_profile) if value else ""


def effort_at(config: Config, lane: Lane) -> str:
    """The same of its effort: `@high`, `--effort`, `[profiles.reviewer]`."""
    if lane.effort:
        return f"@{lane.effort}"
    in_profile = config.profiles.get(lane.profile, _NO_PROFILE).effort is not None
    if config.race.effort and not in_profile:
        source = config.sources.get("race.effort", "--effort")
        return f"[race] in {source}" if "/" in source else source
    value = in_profile or config.agent(lane.adapter).effort
    return _table(lane, in_profile=in_profile) if value else ""


def _table(lane: Lane, *, in_profile: bool) -> str:
    return f"[profiles.{lane.profile}]" if in_profile else f"[agents.{lane.adapter}]"


def _lower(race: Permission | None, profile: Permission | None) -> Permission | None:
    """A profile's permission holds, but no further than the race's where one was asked for."""
    if race is None or profile is None:
        return profile or race
    if race in _GRANTS and profile in _GRANTS:
        return min(race, profile, key=_GRANTS.index)
    if Permission.PLAN in (race, profile):
        return Permission.PLAN
    # What `default` and `config` grant is the CLI's own: no more than full-auto is all one knows.
    return profile if race in (Permission.FULL_AUTO, Permission.UNRESTRICTED) else race


def smaller(budget: Budget, other: Budget) -> Budget:
    """The smaller of each part."""
    documents = {}
    for part in Budget.__struct_fields__:
        items = [v for b in (budget, other) if (v := getattr(b, part)) is not None]
        documents[part] = min(items, default=None)
    return Budget(**documents)

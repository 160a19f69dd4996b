"""What one lane asks for, from its `-a`, its profile, its agent's settings and the race's flags.

The nearer word wins: `-a codex:gpt-5.5@high`, then the profile, then the race, then the agent's own
table. What an adapter maps nothing for is refused by name before anything is spawned. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from hydra.adapters.contract import Descriptor
from hydra.config import Config
from hydra.config.records import HERE, Profile
from hydra.errors import UnsupportedFlag
from hydra.model import Budget, Effort, Lane, Permission, SpawnRequest

_NO_PROFILE = Profile(agent="")
_GRANTS = (Permission.PLAN, Permission.EDIT, Permission.FULL_AUTO, Permission.UNRESTRICTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One lane's wishes. `permission` None: nobody named one. `effort_at` and `tier_at` say where
    those two were written: `@high`, `--effort`, `[profiles.reviewer]`; "" for nowhere."""

    model: str | None
    effort: Effort | None
    permission: Permission | None
    preface: str
    budget: Budget
    service_tier: str
    environment: tuple[str, ...]
    remote: str
    """The remote on which it runs, "" for this machine."""
    effort_at: str
    tier_at: str


def wanted(config: Config, lane: Lane) -> Wanted:
    """What this lane asks for."""
    profile = config.profiles.get(lane.profile, _NO_PROFILE)
    agent = config.agent(lane.adapter)
    tier = profile.service_tier or agent.service_tier
    return Wanted(
        model=lane.model or profile.model or agent.model,
        effort=lane.effort or profile.effort or config.race.effort or agent.effort,
        permission=_lower(config.race.permission, profile.permission),
        preface=profile.preface,
        budget=smaller(config.budget, profile.budget),
        service_tier=tier,
        environment=(*agent.environment, *profile.environment),
        remote=_elsewhere(profile.remote or agent.remote),
        effort_at=_effort_at(config, lane),
        tier_at=_table(lane, in_profile=bool(profile.service_tier)) if tier else "",
    )


def _effort_at(config: Config, lane: Lane) -> str:
    """Where the effort stands that `wanted` takes."""
    if lane.effort:
        return f"@{lane.effort}"
    in_profile = config.profiles.get(lane.profile, _NO_PROFILE).effort is not None
    if config.race.effort and not in_profile:
        source = config.sources.get("race.effort", "--effort")
        return f"[race] in {source}" if "/" in source else source
    asked = in_profile or config.agent(lane.adapter).effort
    return _table(lane, in_profile=in_profile) if asked else ""


def _table(lane: Lane, *, in_profile: bool) -> str:
    return f"[profiles.{lane.profile}]" if in_profile else f"[agents.{lane.adapter}]"


def _elsewhere(remote: str) -> str:
    return "" if remote == HERE else remote


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


def smaller(one: Budget, other: Budget) -> Budget:
    """The smaller of each part."""
    kept = {}
    for field in fields(Budget):
        known = [v for b in (one, other) if (v := getattr(b, field.name)) is not None]
        kept[field.name] = min(known, default=None)
    return Budget(**kept)


def check_mapped(
    told: Descriptor, request: SpawnRequest, *, effort_at: str = "", tier_at: str = ""
) -> None:
    """Raises `UnsupportedFlag` for what this agent's CLI has no way to do. The places are those of
    `Wanted`: the hint names what the user wrote."""
    if request.effort is not None and request.effort not in told.efforts:
        known = ", ".join(told.efforts)
        raise _refused(
            told,
            f"{told.label} has no option for effort {request.effort}"
            + (f" (it has {known})" if known else ": how hard it thinks cannot be asked for"),
            _without("effort", effort_at or f"@{request.effort} (or --effort)", told.key),
        )
    if told.modes and request.permission not in told.modes:
        # Unrestricted is a flag of its own, for all lanes: none of what --permission takes.
        known = ", ".join(mode for mode in told.modes if mode != Permission.UNRESTRICTED)
        raise _refused(
            told,
            f"{told.label} has nothing like permission {request.permission} (it has {known})",
            f"race {told.key} with one of those",
        )
    if request.service_tier and request.service_tier not in told.service_tiers:
        known = ", ".join(told.service_tiers) or "none"
        raise _refused(
            told,
            f"{told.label} has no service tier {request.service_tier!r} (it has {known})",
            _without(
                "service_tier", tier_at or f"[agents.{told.key}], or of the profile", told.key
            ),
        )


def _without(word: str, where: str, key: str) -> str:
    return f"take {word} out of {where}" if where[0] == "[" else f"leave {where} out for {key}"


def _refused(told: Descriptor, message: str, hint: str) -> UnsupportedFlag:
    return UnsupportedFlag(message, adapter=told.key, hint=hint, reason="capability")

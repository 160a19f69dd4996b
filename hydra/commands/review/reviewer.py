"""Who is asked, and whether they can be: found out before anything is sent to anybody."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import trio
from msgspec import Struct, field

from hydra import executables, paths
from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.probe import available, settings
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.sandbox import try_confinement, try_layers
from hydra.adapters.registry import check_experimental
from hydra.config.schema import Config
from hydra.errors import Failure, NoAgentReady, Refused, UsageError
from hydra.race.command_context import CommandContext
from hydra.race.disk_space import check_room
from hydra.records.agent import DetectResult
from hydra.records.plan import Confinement
from hydra.records.request import Lane

BUDGET = 300.0
"""Seconds that an agent has in all, unless the user says otherwise."""

Tell = Callable[[str], None]
"""Takes one line for a person on what goes on."""


def silent(_line: str) -> None:
    """Tells nobody."""


class Asker(Struct, frozen=True, kw_only=True):
    """Who is asked, and for how long. `budget` is in seconds."""

    agent: str
    budget: float = BUDGET
    experimental: bool = False
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)
    tell: Tell = silent


class Ready(CommandContext, frozen=True, kw_only=True):
    """An agent that can be asked here: all that was found out before anything is sent to it."""

    asker: Asker
    config: Config
    lane: Lane
    adapter: Adapter
    detection: DetectResult
    confinement: Confinement


def ready(place: CommandContext, asker: Asker) -> Ready:
    """Raises `UsageError` for an agent that is unknown, or experimental and not allowed,
    `NoAgentReady`, `Refused` where nothing would keep it from writing."""
    flags = {"race.allow_experimental_adapters": True} if asker.experimental else {}
    config = settings.load(place.repository.root, asker.environ, flags)
    lane, adapter = _named(asker.agent, config)
    settings.check_folders(config, (lane.adapter,), place.home)
    check_room(place.state, place.folder, config.limits.disk_floor)
    confinement, result = trio.run(_probe, place, adapter, config)
    if not result.ready:
        error = result.error or Failure(kind="BinaryMissing", message="it was not found")
        message = f"{lane.adapter} is not ready: {error.message}"
        raise NoAgentReady(message, hint=error.hint, failures=(error,))
    descriptor = adapter.descriptor
    if not (confinement.holds or descriptor.confines_itself or descriptor.sandbox == "hard"):
        raise Refused(
            f"nothing keeps {lane.adapter} from writing here ({confinement.reason})",
            hint="install bubblewrap, or ask an agent that has a sandbox of its own",
        )
    return Ready(
        repository=place.repository,
        state=place.state,
        environ=place.environ,
        asker=asker,
        config=config,
        lane=lane,
        adapter=adapter,
        detection=result,
        confinement=confinement,
    )


def _named(agent: str, config: Config) -> tuple[Lane, Adapter]:
    adapters = available.of_race(config, (agent,)).adapters
    lanes = registry.lanes((agent,), adapters, config.agents_of_profiles)
    if len(lanes) > 1:
        raise UsageError(f"{agent!r}: one agent is asked, once", hint=f"say {lanes[0].adapter}")
    (lane,) = lanes
    adapter = registry.get(lane.adapter, adapters)
    allowed = config.race.allow_experimental
    check_experimental((lane,), {lane.adapter: adapter}, allowed, to="ask")
    return lane, adapter


async def _probe(
    place: CommandContext, adapter: Adapter, config: Config
) -> tuple[Confinement, DetectResult]:
    confinement = await try_confinement(place.environ)
    confinement = await try_layers(confinement, place.environ, place.state)
    around = ProbeContext(
        environ=place.environ,
        home=place.home,
        confinement=confinement,
        state=place.state,
        paths=settings.programs(config),
        extra_names=settings.extra_names(config),
        show=config.show,
        cache_file=paths.cache_dir(place.environ) / "probes.json",
    )
    results = await detect_all([adapter], around)
    return confinement, results[adapter.key()]

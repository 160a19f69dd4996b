"""Which lanes of a race run elsewhere, and what is known of their agents there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hydra import paths
from hydra.adapters import registry
from hydra.adapters.probe.cache import ELSEWHERE
from hydra.adapters.remote.spec import RemoteDetection
from hydra.race.lane_plan import resolve_options
from hydra.race.preflight import RaceInputs
from hydra.records.request import Lane

Elsewhere = Mapping[tuple[str, str], RemoteDetection]
"""What was found on remotes, by agent and remote."""


def lanes_here(inputs: RaceInputs) -> list[str]:
    """The agents that are asked to run on this machine, each once."""
    names = (
        lane.adapter for lane in inputs.lanes if not resolve_options(inputs.config, lane).remote
    )
    return list(dict.fromkeys(names))


async def look_elsewhere(inputs: RaceInputs) -> Elsewhere:
    """Every agent that is asked to run elsewhere, as it is found there; no remote is asked else."""
    lanes = list(_lanes_elsewhere(inputs))
    if not lanes:
        return {}
    from hydra.adapters.remote.probe import RemoteAgent, look_for  # not before: few races have any

    agents = [
        RemoteAgent(
            adapter=inputs.adapters[lane.adapter],
            remote=inputs.config.remotes[resolve_options(inputs.config, lane).remote],
            extra=resolve_options(inputs.config, lane).environment,
        )
        for lane in lanes
    ]
    cache = paths.cache_dir(inputs.request.environ) / ELSEWHERE
    return await look_for(agents, inputs.request.environ, cache)


def _lanes_elsewhere(inputs: RaceInputs) -> Iterator[Lane]:
    lanes = inputs.lanes or tuple(Lane(id=key, adapter=key) for key in registry.TIER1)
    return (lane for lane in lanes if resolve_options(inputs.config, lane).remote)

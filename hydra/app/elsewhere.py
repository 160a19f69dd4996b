"""Which lanes of a race run elsewhere, and what is known of their agents there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hydra import paths
from hydra.adapters import registry
from hydra.app.scene import Scene
from hydra.model import Lane
from hydra.remote.there import There
from hydra.wanted import wanted

Elsewhere = Mapping[tuple[str, str], There]
"""What was found on remotes, by agent and remote."""


def lanes_here(scene: Scene) -> list[str]:
    """The agents that are asked to run on this machine, each once."""
    asked = (lane.adapter for lane in scene.asked if not wanted(scene.config, lane).remote)
    return list(dict.fromkeys(asked))


async def look_elsewhere(scene: Scene) -> Elsewhere:
    """Every agent that is asked to run elsewhere, as it is found there; no remote is asked else."""
    lanes = list(_lanes_elsewhere(scene))
    if not lanes:
        return {}
    from hydra.remote.looking import Wanted, look_for  # not before: few races have any

    agents = [
        Wanted(
            adapter=scene.adapters[lane.adapter],
            remote=scene.config.remotes[wanted(scene.config, lane).remote],
            extra=wanted(scene.config, lane).environment,
        )
        for lane in lanes
    ]
    cache = paths.cache_dir(scene.request.environ) / "probes-elsewhere.json"
    return await look_for(agents, scene.request.environ, cache)


def _lanes_elsewhere(scene: Scene) -> Iterator[Lane]:
    asked = scene.asked or tuple(Lane(id=key, adapter=key) for key in registry.TIER1)
    return (lane for lane in asked if wanted(scene.config, lane).remote)

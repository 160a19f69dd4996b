"""Asks the model servers of this machine what they have: on loopback alone, and only when asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import trio

from hydra.models.local import KINDS, Kind, Server, base_url, models_of
from hydra.process.http import Caller, Request

LONGEST = 0.5
"""Seconds for all of them together."""

_BYTES = 1024 * 1024


def discover(environ: Mapping[str, str]) -> tuple[Server, ...]:
    """Every kind of server, in the order of `KINDS`. Takes `LONGEST` seconds at most."""
    return trio.run(_discover, environ)


async def _discover(environ: Mapping[str, str]) -> tuple[Server, ...]:
    said: dict[str, bytes] = {}
    urls = {kind.name: base_url(kind, environ) for kind in KINDS}
    with trio.move_on_after(LONGEST):
        async with trio.open_nursery() as nursery:
            for kind in KINDS:
                if url := urls[kind.name]:
                    tell = partial(said.__setitem__, kind.name)
                    asked = Request(kind.name, "GET", url + kind.path)
                    Caller(nursery, tell, _BYTES).start(asked)
    return tuple(_server(kind, urls[kind.name], said.get(kind.name)) for kind in KINDS)


def _server(kind: Kind, url: str, line: bytes | None) -> Server:
    if not url:
        why = f"{kind.variable} names no port of this machine's loopback: it is not asked"
        return Server(kind.name, url, problem=why, there=False)
    if line is None:
        return Server(kind.name, url, problem=f"no answer within {LONGEST:g} s")
    told = json.loads(line)
    if told["hydra"] == "http_failed":
        # Nobody listens: trio says so in these words.
        refused = "attempts to connect" in told["text"]
        return Server(kind.name, url, problem="" if refused else told["text"], there=not refused)
    models = models_of(told["body"]) if told["status"] == 200 else None
    if models is None:
        why = f"it answered with status {told['status']}, and no list of models"
        return Server(kind.name, url, problem=why)
    return Server(kind.name, url, models)

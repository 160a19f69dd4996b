"""Asks the model servers of this machine what they have: on loopback alone, and only when asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import trio

from hydra.adapters.models.local import KINDS, Server, ServerKind, base_url, models_of
from hydra.process.http import Caller, HttpRequest

LONGEST = 2.0
"""Seconds for all of them together: only one that listens and says nothing takes so long."""

_BYTES = 1024 * 1024


def discover(environ: Mapping[str, str]) -> tuple[Server, ...]:
    """Every kind of server, in the order of `KINDS`. Takes `LONGEST` seconds at most."""
    return trio.run(_discover, environ)


async def _discover(environ: Mapping[str, str]) -> tuple[Server, ...]:
    contents: dict[str, bytes] = {}
    urls = {kind.name: base_url(kind, environ) for kind in KINDS}
    with trio.move_on_after(LONGEST):
        async with trio.open_nursery() as nursery:
            for kind in KINDS:
                if url := urls[kind.name]:
                    tell = partial(contents.__setitem__, kind.name)
                    request = HttpRequest(kind.name, "GET", url + kind.path)
                    Caller(nursery, tell, _BYTES).start(request)
    return tuple(_server(kind, urls[kind.name], contents.get(kind.name)) for kind in KINDS)


def _server(kind: ServerKind, url: str, line: bytes | None) -> Server:
    if not url:
        why = f"{kind.variable} names no port of this machine's loopback: it is not asked"
        return Server(kind.name, url, problem=why, is_up=False)
    if line is None:
        return Server(kind.name, url, problem=f"no answer within {LONGEST:g} s")
    document = json.loads(line)
    if document["hydra"] == "http_failed":
        # Nobody listens: trio says so in these words.
        refused = "attempts to connect" in document["text"]
        return Server(
            kind.name, url, problem="" if refused else document["text"], is_up=not refused
        )
    models = models_of(document["body"]) if document["status"] == 200 else None
    if models is None:
        why = f"it answered with status {document['status']}, and no list of models"
        return Server(kind.name, url, problem=why)
    return Server(kind.name, url, models)

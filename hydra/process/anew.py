"""Further tries of a start whose confinement fell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import trio

from hydra.log import get_logger
from hydra.process.records import CannotStart

_log = get_logger(__name__)

WAITS = (0.0, 0.1, 0.4)
"""Seconds before each further try: a folder may take a while to be removed, file by file."""

P = ParamSpec("P")
T = TypeVar("T")


def anew(start: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`start`, which raises `CannotStart`, tried anew where that is `passing`.

    bwrap mounts by name what was there when its command line was computed. Another program may have
    removed it since (a temporary file in /etc that was to be covered): computed anew, it is left
    out. Nothing was executed by then, so nothing is done twice.
    """

    @wraps(start)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        for seconds in WAITS:
            try:
                return await start(*args, **kwargs)
            except CannotStart as error:
                if not error.passing:
                    raise
                _log.info("to be started anew", after=str(error), seconds=seconds)
            await trio.sleep(seconds)
        return await start(*args, **kwargs)

    return again

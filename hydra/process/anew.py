"""One more try of a start whose confinement fell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from hydra.process.records import CannotStart

P = ParamSpec("P")
T = TypeVar("T")


def anew(start: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`start`, which raises `CannotStart`, with a second try where that is `passing`.

    bwrap mounts by name what was there when its command line was computed. Another program may have
    removed it since (a temporary file in /etc that was to be covered): computed anew, it is left
    out. Nothing was executed by then, so nothing is done twice.
    """

    @wraps(start)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await start(*args, **kwargs)
        except CannotStart as error:
            if not error.passing:
                raise
        return await start(*args, **kwargs)

    return again

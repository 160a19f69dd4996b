"""What is done for a lane beside its agent: a warm index, its sign-in, what its own files tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import trio

from hydra.workspace import Ground

SETTLE_AFTER = 1.5
"""Seconds after opening before the collector's index is refreshed: git calls a file racy that was
written within the index's own second."""
CREDENTIAL_TICK = 2.0
SIDE_FILES = 5.0
"""Seconds for reading what an agent's own records tell."""


async def tend(ground: Ground) -> None:
    """What is done while an agent thinks: a warm index, and fresh credentials. Until cancelled."""
    await trio.sleep(SETTLE_AFTER)
    await trio.to_thread.run_sync(_quietly, ground.settle)
    while True:
        await trio.sleep(CREDENTIAL_TICK)
        if ground.credentials_changed():
            await trio.to_thread.run_sync(_quietly, ground.give_back)
        await trio.to_thread.run_sync(_quietly, ground.take_in)


async def give_back(ground: Ground) -> str:
    """Refreshed credentials go to the user's own folder, whatever else is being ended.

    A sentence where they could not: a service may have taken the old ones back.
    """
    try:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(ground.give_back)
    except Exception as error:  # no lane ends for it
        why = getattr(error, "strerror", None) or error
        return f"its renewed sign-in could not be given back ({why})"
    return ""


async def side_files(ground: Ground, patterns: Iterable[str]) -> dict[str, bytes]:
    """What stands in the agent's own records, by pattern; what cannot be read soon is not there."""
    found: dict[str, bytes] = {}

    def read(pattern: str) -> None:
        found[pattern] = ground.side_file(pattern)

    # An agent can make that folder large, deep and odd.
    with trio.move_on_after(SIDE_FILES, shield=True):
        for pattern in patterns:
            await trio.to_thread.run_sync(_quietly, partial(read, pattern), abandon_on_cancel=True)
    return dict(found)


def _quietly(work: Callable[[], None]) -> None:
    # Conveniences that are done again (or not needed) at the end: no lane ends for them.
    with suppress(Exception):
        work()

"""A short command: probes, set-up, checks. The same keeper, so that it leaves nothing either."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import trio

from hydra.log import get_logger
from hydra.process.child import ANSWER, Child, OnChunk, anew, streams
from hydra.process.limits import outlasts
from hydra.process.records import CommandResult, Wrap, plain
from hydra.process.spawn import sealed, spawn_keeper

_log = get_logger(__name__)


def _forget(_chunk: bytes) -> None:
    pass


@anew
async def run(
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout: float,  # noqa: ASYNC109  not a cancellation: what it wrote by then is the answer
    wrap: Wrap = plain,
    stdin: bytes = b"",
    output_limit: int = 1024**2,
    on_output: OnChunk = _forget,
    waits_for_core: bool = False,
) -> CommandResult:
    """Runs `argv` in its own session for at most `timeout` seconds, with `stdin` as its input.

    At the limit it is killed with all it started; what it had written by then is kept. `on_output`
    gets all of both outputs as it comes; it must be quick and must not raise. With `waits_for_core`
    the time until it has one does not count. Raises `CannotStart` when the program was never
    executed.
    """
    began = time.monotonic()
    out, err = _CappedOutput(output_limit, on_output), _CappedOutput(output_limit, on_output)
    source = sealed(stdin)
    try:
        async with (
            spawn_keeper(argv, env=env, cwd=cwd, stdin=source, wrap=wrap) as child,
            streams(child, out.take, err.take),
        ):
            timed_out = await _ended_late(child, timeout, waits_for_core)
            if timed_out:
                _log.info("limit met", limit="timeout", seconds=timeout, program=argv[0])
    finally:
        os.close(source)
    if not timed_out:
        child.require_started(argv[0], err.data.decode(errors="replace"))
    ended = child.exit
    code = -ended.signal if ended.signal is not None else ended.code
    return CommandResult(
        exit_code=None if timed_out else code,
        stdout=out.data,
        stderr=err.data,
        timed_out=timed_out,
        seconds=time.monotonic() - began,
        survivors=ended.survivors,
    )


async def _ended_late(child: Child, seconds: float, waits_for_core: bool) -> bool:
    if waits_for_core:
        if not await outlasts(child, seconds):
            return False
    else:
        with trio.move_on_after(seconds):
            await child.finished.wait()
            return False
    child.signal(signal.SIGKILL)
    with trio.move_on_after(ANSWER):
        await child.finished.wait()
    return True


class _CappedOutput:
    """The first `limit` bytes of a stream; the rest is read, passed on and forgotten."""

    def __init__(self, limit: int, pass_on: OnChunk) -> None:
        self._limit = limit
        self._pass_on = pass_on
        self._parts: list[bytes] = []
        self._size = 0

    def take(self, chunk: bytes) -> None:
        self._pass_on(chunk)
        if self._size < self._limit:
            self._parts.append(chunk[: self._limit - self._size])
            self._size += len(self._parts[-1])

    @property
    def data(self) -> bytes:
        return b"".join(self._parts)

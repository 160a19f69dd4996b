"""Retention: what goes by itself goes while a race's agents think, and what does not is counted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import trio

from hydra.errors import HydraError
from hydra.log import get_logger
from hydra.records.request import Limits

_log = get_logger(__name__)

START_AFTER = 2.0
"""Seconds into a race: by then its agents have been started, and nothing waits for Hydra."""


class Housekeeping:
    """What is done beside one race. `hint` is for its end: "" where there is nothing to say."""

    def __init__(self, state: Path, runs: Path, limits: Limits) -> None:
        self.hint = ""
        self._state = state
        self._runs = runs
        self._limits = limits
        self._ended = False

    async def run(self) -> None:
        """Sweeps once. It never raises, and cancelling waits for nothing: what it had begun to
        remove is gone on with by the next command."""
        await trio.sleep(START_AFTER)
        await trio.to_thread.run_sync(self._keep, abandon_on_cancel=True)

    def end(self) -> None:
        """The race is over: nothing more is begun."""
        self._ended = True

    def _keep(self) -> None:
        from hydra.race.recovery.retention import over_limits, sweep  # not before: a start

        try:
            gone = sweep(self._state, self._limits, lambda: self._ended)
            if not self._ended:
                self.hint = over_limits(self._runs, self._state, self._limits)
            _log.info("housekeeping is done", removed=gone)
        except Exception:
            # A race is not told of it: whatever it was, the next one tries again.
            _log.warning("housekeeping failed", exc_info=True)


def hint(runs: Path, state: Path, environ: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    """What `hydra runs` says of the runs over the limits, given their sizes; "" for nothing.

    The limits are the user's own; where their settings cannot be read, nothing is said here.
    """
    from hydra import paths
    from hydra.config.load import load, read_file
    from hydra.race.recovery.retention import over_limits

    with suppress(HydraError):
        file = read_file(paths.user_config_file(environ))
        return over_limits(runs, state, load(user=file, environ=environ).limits, sizes)
    return ""

"""Reads that do not wait for each other: a start is mostly git processes, a few ms each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """`work` under way in a thread of its own.

    No executor: `concurrent.futures` takes longer to import than it would save here.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._value: list[T] = []
        self._problem: BaseException | None = None
        within = copy_context()  # what the log says of whose work it is
        self._thread = threading.Thread(
            target=within.run, args=(self._run,), name="hydra-read", daemon=True
        )
        self._thread.start()

    def result(self) -> T:
        """What `work` gave. Waits for it; raises what it raised."""
        self._thread.join()
        if self._problem is not None:
            raise self._problem
        return self._value[0]

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until it has ended, however; False where that takes longer than `seconds`."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._value.append(self._work())
        except BaseException as problem:  # told to whoever asks for the result
            self._problem = problem

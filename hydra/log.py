"""Diagnosis: what Hydra decides and spawns, for whoever looks for a fault (`-v`, `HYDRA_LOG`).

Every room takes its logger from here, says one line where it decides or spawns, and knows nothing
of where that goes. Off, as it is but for who asked, a line costs one look at a name; structlog,
which is half of a start, is imported by what `turn_on` is given and by nobody else. Lines are for
people who look for a fault, in no promised form: what a program reads is in the events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class Diagnosis(Protocol):
    """Where lines go, once somebody asked for them. Nothing of it raises, waits or prints."""

    shows: bool
    """Whether lines go to stderr, where nothing may then be drawn over."""

    def write(self, level: str, room: str, event: str, facts: Mapping[str, Any]) -> None:
        """One line."""

    def bind(self, facts: Mapping[str, Any]) -> None:
        """`bind`, where it is on."""

    def bound(self, facts: Mapping[str, Any]) -> AbstractContextManager[Any]:
        """`bound`, where it is on."""

    def hide(self, secrets: Iterable[str]) -> None:
        """`hide`, where it is on."""

    def copy_to(self, file: Path) -> None:
        """`copy_to`, where it is on."""


_diagnosis: Diagnosis | None = None


class Logger:
    """One room's. `info` is what was decided or spawned, `debug` how; of either only `-vv` and the
    files show what is in `more`. With `exc_info=True` the traceback is in it."""

    __slots__ = ("_room",)

    def __init__(self, room: str) -> None:
        self._room = room

    def debug(self, event: str, **facts: Any) -> None:
        """A detail."""
        if _diagnosis is not None:
            _diagnosis.write("debug", self._room, event, facts)

    def info(self, event: str, **facts: Any) -> None:
        """What was decided, spawned, or has ended."""
        if _diagnosis is not None:
            _diagnosis.write("info", self._room, event, facts)

    def warning(self, event: str, **facts: Any) -> None:
        """What should not have been."""
        if _diagnosis is not None:
            _diagnosis.write("warning", self._room, event, facts)


def get_logger(name: str) -> Logger:
    """The logger of the module `name`."""
    return Logger(name.removeprefix("hydra."))


def bind(**facts: Any) -> None:
    """This task, and all that it starts from now on, says `facts` (run, lane, attempt) too."""
    if _diagnosis is not None:
        _diagnosis.bind(facts)


def bound(**facts: Any) -> AbstractContextManager[Any]:
    """What is said within it has `facts` too."""
    return nullcontext() if _diagnosis is None else _diagnosis.bound(facts)


def hide(secrets: Iterable[str]) -> None:
    """Takes these values out of every line from now on."""
    if _diagnosis is not None:
        _diagnosis.hide(secrets)


def copy_to(file: Path) -> None:
    """Writes all there is, from the command's begin on, to this file too."""
    if _diagnosis is not None:
        _diagnosis.copy_to(file)


def shows() -> bool:
    """Whether lines go to stderr, where nothing may then be drawn over."""
    return _diagnosis is not None and _diagnosis.shows


def turn_on(diagnosis: Diagnosis | None) -> None:
    """From now on lines go to `diagnosis`; None: nowhere any more."""
    global _diagnosis
    _diagnosis = diagnosis

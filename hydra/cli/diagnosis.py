"""Where the lines of `hydra/log.py` go: stderr (`-v`, `-vv`), HYDRA_LOG's file, the run's folder.

structlog puts them together and writes them; each place has a thread of its own, for a terminal
that is held up, or a disk that hangs, is not to hold up a race. What trio, GitPython and others log
by the standard library comes the same way, from warnings on.
"""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import IO, Any

import structlog

from hydra import log
from hydra.cli.streams import write_through
from hydra.redaction import Redactor, secret_variables
from hydra.report.text import clean

Line = MutableMapping[str, Any]

WAITING = 10_000
"""Lines that may wait for a place to take them; what comes then is counted and lost."""
EARLY = 2_000
"""Lines kept for the run's own file, which there is no folder for yet."""
LAST_WORDS = 2.0
"""Seconds that a slow place has left once the command has ended."""
LONGEST = 20_000
"""Characters of a value: a task can be longer than a log is read for."""

_WHERE = ("run", "lane", "attempt")
_NOTHING: tuple[object, ...] = (None, "", (), [])


def start(verbosity: int, file: str, environ: Mapping[str, str] = os.environ) -> StructuredLog:
    """Begins to log. Raises nothing: a log that cannot be written stops nobody."""
    diagnosis = StructuredLog(secret_variables(environ))
    diagnosis.show(verbosity)
    if file:
        diagnosis.add_file(Path(file))
    diagnosis.tell_problems()
    log.turn_on(diagnosis)
    logging.getLogger().handlers[:] = [_Foreign(diagnosis)]
    logging.getLogger().setLevel(logging.WARNING)
    return diagnosis


class StructuredLog:
    """`log.Diagnosis`: lines without secrets, with what is bound, to every place that is open."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.shows = False
        self._verbosity = 0
        self._console = structlog.dev.ConsoleRenderer(colors=False, sort_keys=False)
        self._secrets: frozenset[str] = frozenset()
        self._redactor = Redactor(())
        self._early: deque[Line] | None = deque(maxlen=EARLY)
        self._problems: list[str] = []
        self._places: list[_Place] = []
        self._order = threading.RLock()  # what is collected meanwhile may have something to say too
        self.hide(secrets)

    def show(self, verbosity: int) -> None:
        """On stderr from now on: at 1 what was decided and spawned, at 2 with details."""
        if verbosity and not self.shows:
            self._places.append(_Place("", sys.stderr, self._for_person, self._problems))
            self.shows = True
        self._verbosity = max(verbosity, self._verbosity)

    def write(self, level: str, room: str, event: str, facts: Mapping[str, Any]) -> None:
        """One line to every place."""
        try:
            line = self._line(level, room, event, facts)
        except Exception as bug:  # whatever somebody wanted to say, a race is not to end by it
            line = {"timestamp": time.time(), "level": "warning", "logger": room, "event": event}
            line["unsaid"] = type(bug).__name__
        with self._order:
            if self._early is not None:
                self._early.append(line)
            for place in self._places:
                place.take(line)

    def bind(self, facts: Mapping[str, Any]) -> None:
        """By context variables, which Trio's tasks and worker threads inherit."""
        structlog.contextvars.bind_contextvars(**facts)

    def bound(self, facts: Mapping[str, Any]) -> AbstractContextManager[Any]:
        """The same for a while."""
        return structlog.contextvars.bound_contextvars(**facts)

    def hide(self, secrets: Iterable[str]) -> None:
        """Takes these values out of every line from now on."""
        values = self._secrets.union(filter(None, secrets))
        if values != self._secrets:
            self._secrets, self._redactor = values, Redactor(values)

    def copy_to(self, file: Path) -> None:
        """The run's own file, with what was said before there was one."""
        with self._order:
            self.add_file(file)
            self._early = None

    def add_file(self, file: Path) -> None:
        """One more file of JSON lines, 0600 where it is new. No FIFO without a reader holds it."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            stream = FileIO(os.open(file, flags, 0o600), "w")
        except (OSError, ValueError) as error:  # a NUL in its name
            self._problems.append(_unwritable(file, error))
            return
        place = _Place(str(file), stream, _for_programs, self._problems)
        with self._order:
            for line in self._early or ():
                place.take(line)
            self._places.append(place)

    def stop(self) -> None:
        """Writes what waits, and says in one line each what could not be written."""
        log.turn_on(None)
        logging.getLogger().handlers[:] = []
        closed = [place.close() for place in self._places]
        if all(closed):
            self.tell_problems()

    def tell_problems(self) -> None:
        """One line for each that has not been told. Not while a table is drawn."""
        for text in dict.fromkeys(self._problems):
            with suppress(OSError, ValueError):
                sys.stderr.write(f"hydra: {clean(text)}\n")
        self._problems.clear()

    def _line(self, level: str, room: str, event: str, facts: Mapping[str, Any]) -> Line:
        bound = structlog.contextvars.get_contextvars()
        line = {
            **{"timestamp": time.time(), "level": level, "logger": room, "event": event},
            **{name: bound[name] for name in _WHERE if name in bound},
            **bound,
            **{name: value for name, value in facts.items() if value not in _NOTHING},
        }
        whole = structlog.processors.format_exc_info(None, level, line)
        return {name: self._harmless(value) for name, value in whole.items()}

    def _harmless(self, value: object) -> Any:
        """As JSON has it and without secrets; as it is now, whatever becomes of it later."""
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return round(value, 6)
        if isinstance(value, Mapping):
            return {self._harmless(name): self._harmless(item) for name, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._harmless(item) for item in value]
        text = os.fsdecode(value) if isinstance(value, bytes) else str(value)
        return self._redactor.text(text)[:LONGEST]

    def _for_person(self, line: Line) -> str:
        """As a person reads it; "" for what was not asked for."""
        if self._verbosity > 1:
            line = _flat(line)
        elif line["level"] == "debug":
            return ""
        # The renderer lets control sequences of agents through (14 of 16 that were tried).
        shown = {
            name: clean(value, multiline=name == "exception") if isinstance(value, str) else value
            for name, value in line.items()
            if name != "more"
        }
        shown["timestamp"] = f"{datetime.fromtimestamp(line['timestamp']):%H:%M:%S.%f}"[:-3]
        return str(self._console(None, line["level"], shown))


class _Foreign(logging.Handler):
    """What is logged by the standard library, as a line."""

    def __init__(self, diagnosis: StructuredLog) -> None:
        super().__init__()
        self._diagnosis = diagnosis

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        facts = {"exc_info": record.exc_info} if record.exc_info else {}
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        self._diagnosis.write(level, record.name, text, facts)


class _Place:
    """One place that lines go to, by a thread of its own. `name` is "" where nobody needs to be
    told that it is gone: then it is stderr itself."""

    def __init__(
        self,
        name: str,
        stream: IO[Any],
        render: Callable[[Line], str],
        problems: list[str],
    ) -> None:
        self._name = name
        self._stream = stream
        self._render = render
        self._problems = problems
        self._waiting: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._lost = 0
        self._thread = threading.Thread(target=self._run, name="hydra-log", daemon=True)
        self._thread.start()

    def take(self, line: Line) -> None:
        """Never waits."""
        if self._waiting.qsize() < WAITING:
            self._waiting.put(line)
        else:
            self._lost += 1

    def close(self) -> bool:
        """Waits for what is still to be written, but not for ever. False where it is stderr, and
        somebody holds it up."""
        self._waiting.put(None)
        self._thread.join(LAST_WORDS)
        if self._thread.is_alive():
            self._lost += self._waiting.qsize()
        if self._lost:
            where = f"the log {self._name}" if self._name else "the log"
            self._problems.append(f"{self._lost} lines of {where} were not written: it is too slow")
        return bool(self._name) or not self._thread.is_alive()

    def _run(self) -> None:
        works = True
        while (line := self._waiting.get()) is not None:
            # One that has failed takes everything, so that nothing more is counted as lost.
            works = works and self._write(line)
        if self._name:  # by whom it was written, however late that ends
            with suppress(OSError):
                self._stream.close()

    def _write(self, line: Line) -> bool:
        try:
            if text := self._render(line):
                write_through(self._stream, f"{text}\n".encode("utf-8", "backslashreplace"))
        except (OSError, ValueError) as error:
            if self._name:
                self._problems.append(_unwritable(self._name, error))
            return False
        return True


def _unwritable(file: Path | str, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"the log {file} cannot be written: {why}"


def _for_programs(line: Line) -> str:
    when = datetime.fromtimestamp(line["timestamp"], UTC).isoformat(timespec="milliseconds")
    return str(_json(None, "", {**_flat(line), "timestamp": when}))


_json = structlog.processors.JSONRenderer()


def _flat(line: Line) -> Line:
    """With what is in `more` beside all else."""
    plain = {name: value for name, value in line.items() if name != "more"}
    return {**plain, **line.get("more", {})}

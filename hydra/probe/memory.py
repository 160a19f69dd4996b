"""What programs have answered before, and how long each took: one small file."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

_SCHEMA = 2
_MOST = 300
"""Answers kept: the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a program gave for one question, whoever asked. `exit_code` None: it was ended."""

    argv: tuple[str, ...]
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    seconds: float = 0.0


class Memory:
    """Answers by key, and seconds by line. Without a file it remembers for as long as it lives."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        held = _load(path)
        self._answers = _table(held, "answers")
        self._seconds = _table(held, "seconds")
        self._changed = False

    def answer(self, key: str) -> Answer | None:
        """What is remembered; None for nothing, for what is too old, or what somebody changed."""
        held = self._answers.get(key)
        if not isinstance(held, dict):
            return None
        fields = {name: value for name, value in held.items() if name not in ("since", "until")}
        try:
            now = time.time()
            # A clock that was set back makes nothing younger.
            if held["until"] is not None and not held["since"] <= now < held["until"]:
                return None
            return Answer(**{**fields, "argv": tuple(held["argv"])})
        except (TypeError, KeyError):
            return None

    def keep(self, key: str, answer: Answer, lasts: float | None) -> None:
        """Remembers it, for `lasts` seconds (None: as long as there is room)."""
        now = time.time()
        self._changed = True
        self._answers.pop(key, None)
        until = None if lasts is None else now + lasts
        self._answers[key] = {**asdict(answer), "since": now, "until": until}

    def seconds(self, line: str) -> float | None:
        """How long it took when it was last run, whichever version it was."""
        held = self._seconds.get(line)
        return float(held) if isinstance(held, int | float) else None

    def took(self, line: str, seconds: float) -> None:
        """Remembers how long it took."""
        self._changed = True
        self._seconds.pop(line, None)
        self._seconds[line] = round(seconds, 3)

    def save(self) -> None:
        """Writes what has changed; one that cannot be written is only slower next time."""
        if self._path is None or not self._changed:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            fresh.write_text(self._text())
            fresh.chmod(0o600)
            fresh.replace(self._path)
        except OSError:
            return

    def _text(self) -> str:
        answers = dict(list(self._answers.items())[-_MOST:])
        seconds = dict(list(self._seconds.items())[-_MOST:])
        return json.dumps({"schema": _SCHEMA, "answers": answers, "seconds": seconds})


def _table(held: dict[str, object], name: str) -> dict[str, object]:
    found = held.get(name) if held.get("schema") == _SCHEMA else None
    return found if isinstance(found, dict) else {}


def _load(path: Path | None) -> dict[str, object]:
    if path is None:
        return {}
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}

"""What programs have answered before: one small file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace

from hydra.adapters.contract import Probe
from hydra.records.agent import ProbeOutput
from hydra.records.codec import parse, shaped

_SCHEMA = 2
_MOST = 300
"""Answers kept: the newest."""

ELSEWHERE = "probes-elsewhere.json"
"""The file in the cache folder of what programs on other machines have answered."""

WRAPPER_LASTS = 3600.0
"""Seconds for which an answer counts where what was asked may start another program today than it
did yesterday: a shell wrapper here, any program elsewhere."""

LASTS = 7 * 86400.0
"""The same of any other program, as long as its file is the same."""


def output_for(answer: ProbeOutput, probe: Probe) -> ProbeOutput:
    """What a program gave for a question, whoever asked, as the answer to one adapter's."""
    text, aside = answer.stdout, answer.stderr
    if probe.stderr and not text.strip():
        text, aside = aside, text
    return replace(answer, name=probe.name, stdout=text, stderr=aside)


class _Row(ProbeOutput, frozen=True, kw_only=True):
    """An answer as it is kept: when it was given, and until when it counts."""

    since: float
    until: float


class Memory:
    """Answers by key. Without a file it remembers for as long as it lives."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._answers = _load(path)
        self._changed = False

    def answer(self, key: str) -> ProbeOutput | None:
        """What is remembered; None for nothing, for what is too old, or what somebody changed."""
        try:
            row = shaped(self._answers[key], _Row)
        except (KeyError, ValueError):
            return None
        # A clock that was set back makes nothing younger.
        if not row.since <= time.time() < row.until:
            return None
        return shaped(self._answers[key], ProbeOutput)

    def keep(self, key: str, answer: ProbeOutput, lasts: float) -> None:
        """Remembers it, for `lasts` seconds."""
        now = time.time()
        self._changed = True
        self._answers.pop(key, None)
        self._answers[key] = {**to_builtins(answer), "since": now, "until": now + lasts}

    def save(self) -> None:
        """Writes what has changed; one that cannot be written is only slower next time."""
        if self._path is None or not self._changed:
            return
        answers = dict(list(self._answers.items())[-_MOST:])
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            fresh.write_text(json.dumps({"schema": _SCHEMA, "answers": answers}))
            fresh.chmod(0o600)
            fresh.replace(self._path)
        except OSError:
            return


def _load(path: Path | None) -> dict[str, object]:
    try:
        document = parse(path.read_bytes()) if path is not None else {}
    except (OSError, ValueError):
        return {}
    answers = document.get("answers") if document.get("schema") == _SCHEMA else None
    return answers if isinstance(answers, dict) else {}


# ---- What changes when a program does: what an answer is remembered by.

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh", "fish"})


class ProgramIdentity(NamedTuple):
    """`text` is "" where the program cannot be looked at. `wrapper`: a shell script, which may
    start another program today than it did yesterday without a byte of its own being changed."""

    text: str
    wrapper: bool = False


def identify(binary: Path) -> ProgramIdentity:
    """Of the program as it is called, and of the file that it leads to: the name counts beside it,
    for one shim may be many programs (mise, volta)."""
    try:
        real = Path(os.path.realpath(binary))
        stat = real.stat()
        with real.open("rb") as file:
            head = file.read(256)
    except (OSError, ValueError):
        return ProgramIdentity("")
    stamp = f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}"
    terms = os.fsdecode(head[2:].partition(b"\n")[0]).split() if head.startswith(b"#!") else []
    return ProgramIdentity(
        f"{binary}\n{real}:{stamp}", any(Path(term).name in SHELLS for term in terms)
    )

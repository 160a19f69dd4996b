"""What programs have answered before: one small file."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from hydra import executables
from hydra.adapters.contract import Probe
from hydra.records.agent import ProbeOutput

_SCHEMA = 2
_MOST = 300
"""Answers kept: the newest."""

ELSEWHERE = "probes-elsewhere.json"
"""The file in the cache folder of what programs on other machines have answered."""

WRAPPER_LASTS = 3600.0
"""Seconds for which an answer counts where what was asked may start another program today than it
did yesterday: a shell wrapper here, any program elsewhere."""


class CachedAnswer(Struct, frozen=True, kw_only=True):
    """What a program gave for one question, whoever asked. `exit_code` None: it was ended."""

    argv: tuple[str, ...]
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    seconds: float = 0.0

    def output(self, probe: Probe) -> ProbeOutput:
        """The same as the answer to one adapter's question."""
        text, aside = self.stdout, self.stderr
        if probe.stderr and not text.strip():
            text, aside = aside, text
        return ProbeOutput(
            name=probe.name,
            argv=self.argv,
            exit_code=self.exit_code,
            stdout=text,
            stderr=aside,
            timed_out=self.timed_out,
            seconds=self.seconds,
        )


class Memory:
    """Answers by key. Without a file it remembers for as long as it lives."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._answers = _load(path)
        self._changed = False

    def answer(self, key: str) -> CachedAnswer | None:
        """What is remembered; None for nothing, for what is too old, or what somebody changed."""
        content = self._answers.get(key)
        if not isinstance(content, dict):
            return None
        fields = {name: value for name, value in content.items() if name not in ("since", "until")}
        try:
            now = time.time()
            # A clock that was set back makes nothing younger.
            if content["until"] is not None and not content["since"] <= now < content["until"]:
                return None
            return CachedAnswer(**{**fields, "argv": tuple(content["argv"])})
        except (TypeError, KeyError):
            return None

    def keep(self, key: str, answer: CachedAnswer, lasts: float | None) -> None:
        """Remembers it, for `lasts` seconds (None: as long as there is room)."""
        now = time.time()
        self._changed = True
        self._answers.pop(key, None)
        until = None if lasts is None else now + lasts
        self._answers[key] = {**asdict(answer), "since": now, "until": until}

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
        return json.dumps({"schema": _SCHEMA, "answers": answers})


def _load(path: Path | None) -> dict[str, object]:
    if path is None:
        return {}
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    is_ours = isinstance(document, dict) and document.get("schema") == _SCHEMA
    answers = document.get("answers") if is_ours else None
    return answers if isinstance(answers, dict) else {}


# ---- What changes when a program does: what an answer is remembered by.

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh", "fish"})

_HEAD = 64 * 1024
"""Bytes of a shell wrapper that are read."""
_NAMED = 16
"""Files that a wrapper names: so many are looked at."""
_PATH = re.compile(rb"/[^\s'\"`$;&|<>(){}\\*?=:]+")


class ProgramIdentity(NamedTuple):
    """`text` is "" where the program cannot be looked at. `wrapper`: a shell script, which may
    start another program today than it did yesterday without a byte of its own being changed."""

    text: str
    wrapper: bool = False


def identify(binary: Path, path: str | None) -> ProgramIdentity:
    """Of the program as it is called, and of what it leads to; `path` is the PATH.

    The name counts beside the file, for one shim may be many programs (mise, volta). Of a script
    its interpreter counts, of a shell script also the files that it names in full.
    """
    real = os.path.realpath(binary)
    stamp = _stamp(real)
    if not stamp:
        return ProgramIdentity("")
    parts = [str(binary), stamp]
    head = _beginning(real, 256)
    if not head.startswith(b"#!"):
        return ProgramIdentity("\n".join(parts))
    interpreter = _interpreter(head, path)
    parts.append(_stamp(interpreter))
    if Path(interpreter).name not in SHELLS:
        return ProgramIdentity("\n".join(parts))
    named = dict.fromkeys(_PATH.findall(_beginning(real, _HEAD).partition(b"\n")[2]))
    parts += filter(None, (_stamp(os.fsdecode(name)) for name in list(named)[:_NAMED]))
    return ProgramIdentity("\n".join(parts), wrapper=True)


def _interpreter(head: bytes, path: str | None) -> str:
    """What a `#!` line starts; behind `env`, the program that PATH has of that name."""
    terms = os.fsdecode(head[2:].partition(b"\n")[0]).split()
    if not terms:
        return ""
    if Path(terms[0]).name != "env":
        return terms[0]
    name = next((term for term in terms[1:] if not term.startswith("-") and "=" not in term), "")
    return executables.find_all_users(name, path) or name


def _stamp(path: str) -> str:
    try:
        real = os.path.realpath(path)
        stat = Path(real).stat()
    except (OSError, ValueError):
        return ""
    return f"{real}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}"


def _beginning(path: str, size: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(size)
    except OSError:
        return b""

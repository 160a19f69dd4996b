"""What changes when a program does: what an answer is remembered by."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from hydra import executables

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh", "fish"})

_HEAD = 64 * 1024
"""Bytes of a shell wrapper that are read."""
_NAMED = 16
"""Files that a wrapper names: so many are looked at."""
_PATH = re.compile(rb"/[^\s'\"`$;&|<>(){}\\*?=:]+")


class Identity(NamedTuple):
    """`text` is "" where the program cannot be looked at. `wrapper`: a shell script, which may
    start another program today than it did yesterday without a byte of its own being changed."""

    text: str
    wrapper: bool = False


def identify(binary: Path, path: str | None) -> Identity:
    """Of the program as it is called, and of what it leads to; `path` is the PATH.

    The name counts beside the file, for one shim may be many programs (mise, volta). Of a script
    its interpreter counts, of a shell script also the files that it names in full.
    """
    real = os.path.realpath(binary)
    stamp = _stamp(real)
    if not stamp:
        return Identity("")
    parts = [str(binary), stamp]
    head = _beginning(real, 256)
    if not head.startswith(b"#!"):
        return Identity("\n".join(parts))
    interpreter = _interpreter(head, path)
    parts.append(_stamp(interpreter))
    if Path(interpreter).name not in SHELLS:
        return Identity("\n".join(parts))
    named = dict.fromkeys(_PATH.findall(_beginning(real, _HEAD).partition(b"\n")[2]))
    parts += filter(None, (_stamp(os.fsdecode(name)) for name in list(named)[:_NAMED]))
    return Identity("\n".join(parts), wrapper=True)


def _interpreter(head: bytes, path: str | None) -> str:
    """What a `#!` line starts; behind `env`, the program that PATH has of that name."""
    words = os.fsdecode(head[2:].partition(b"\n")[0]).split()
    if not words:
        return ""
    if Path(words[0]).name != "env":
        return words[0]
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
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

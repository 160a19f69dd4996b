"""An editor as a process of its own: it saves every 5-50 ms, and enters each save in a ledger.

A save is entered once it is complete: what the ledger holds was written, and its editor has been
told so. Every save has bytes of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WAYS = ("in place", "cut", "rename", "append", "chmod", "same size and time", "late")
_BITS = (0o600, 0o640, 0o644, 0o755)


@dataclass(frozen=True)
class Save:
    """The last of one path. `whole`: the file is `text` and nothing else; `mode` None: not set."""

    text: str = ""
    whole: bool = False
    mode: int | None = None


class Editor:
    """`paths` are relative to `root`; `start` and `stop` are the storm's, the rest the child's."""

    def __init__(self, root: Path, ledger: Path, paths: Sequence[str], chance: random.Random):
        self._root, self._ledger, self._chance = root, ledger, chance
        self._paths = list(paths)
        self._open: dict[str, int] = {}
        self._number = 0
        self._stopped = False
        self._pid = 0

    def start(self, delay: float) -> None:
        """Begins after `delay` seconds."""
        self._ledger.write_text("")
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._edit(delay)
            finally:
                os._exit(0)

    def stop(self) -> dict[str, Save]:
        """Ends it in order; the last save of each path."""
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        return last_saves(self._ledger)

    def _edit(self, delay: float) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        late = [path for path in self._paths if self._chance.random() < 0.1][:20]
        for path in late:
            with _suppressed():
                self._open[path] = os.open(self._root / path, os.O_RDWR)
        self._paths = [path for path in self._paths if path not in self._open] or self._paths
        time.sleep(delay)  # no barrier: the point is that the moment is arbitrary
        storm = os.getppid()
        while not self._stopped and os.getppid() == storm:
            with _suppressed():
                self._save()
            time.sleep(self._chance.uniform(0.005, 0.05))
        self._save_late(*self._open)

    def _stop(self, *_: object) -> None:
        self._stopped = True

    def _save(self) -> None:
        way = self._chance.choice(WAYS)
        if way == "late":
            self._save_late(*list(self._open)[:1])
            return
        path = self._chance.choice(self._paths)
        self._number += 1
        text = f"save {os.getpid()}.{self._number} of {path}\n" * self._chance.randint(1, 30)
        file = self._root / path
        match way:
            case "in place":
                _write(os.open(file, os.O_RDWR), text, cut=True)
            case "cut":
                _write(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), text)
            case "rename":
                file.with_name(f"{file.name}~{self._number}").write_text(text)
                file.with_name(f"{file.name}~{self._number}").rename(file)
            case "append":
                _write(os.open(file, os.O_WRONLY | os.O_APPEND), text)
            case "chmod":
                mode = self._chance.choice(_BITS)
                _chmod(file, mode)
                self._enter(path, mode=mode)
                return
            case _:
                text = _over(file, text)
        self._enter(path, text, whole=way != "append")

    def _save_late(self, *paths: str) -> None:
        """By a descriptor that has been open since before the landing."""
        for path in paths:
            self._number += 1
            text = f"late save {os.getpid()}.{self._number} of {path}\n"
            _write(self._open.pop(path), text, cut=True)
            self._enter(path, text, whole=True)

    def _enter(
        self, path: str, text: str = "", whole: bool = False, mode: int | None = None
    ) -> None:
        with self._ledger.open("a") as ledger:
            ledger.write(json.dumps([path, text, whole, mode]) + "\n")


def last_saves(ledger: Path) -> dict[str, Save]:
    """What each path was saved as at last: the text, and the mode if that was set since."""
    saves: dict[str, Save] = {}
    for line in ledger.read_text().splitlines():
        path, text, whole, mode = json.loads(line)
        before = saves.get(path, Save())
        saves[path] = Save(text, whole) if mode is None else Save(before.text, before.whole, mode)
    return saves


def _write(fd: int, text: str, cut: bool = False) -> None:
    try:
        if cut:
            os.ftruncate(fd, 0)
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _chmod(file: Path, mode: int) -> None:
    """Of a file; a folder may have taken its place by now."""
    fd = os.open(file, os.O_RDWR)
    try:
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def _over(file: Path, text: str) -> str:
    """Over a file's bytes, which keeps its size and gets its mtime back."""
    fd = os.open(file, os.O_RDWR)
    try:
        facts = os.fstat(fd)
        data = text.encode().ljust(facts.st_size, b".")[: facts.st_size]
        os.pwrite(fd, data, 0)
        os.utime(fd, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        return data.decode()
    finally:
        os.close(fd)


class _suppressed:
    """Around a save that could not be: its folder or file is not there at that instant."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, OSError)

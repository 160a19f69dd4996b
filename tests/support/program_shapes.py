"""Programs in HOME in the shapes in which people have them, with somebody's things beside each.

A shape (tests/data/program_shapes.toml) is steps of `KIND PATH [TARGET]`, below HOME: `run` a
script, `elf` a compiled program, `by` a script that is run by TARGET, `link`, `on` a folder that
PATH names, `file` with TARGET as its text, `all` makes everything in a folder executable, `set`
names a folder by the variable TARGET; `work` lays somebody's things into a folder, `secret` a file.
Whatever may be executed and links on PATH to it are tried.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.tables import table

WORK = """letter.txt plan taxes.pdf deep/diary.md deep/er/list.csv project/.git/config
project/notes.py project/src/key.txt photos/me.jpg .notes"""

BIN = ".local/bin"

SHAPES = tuple(
    f"{line}; link {BIN}/s{number} {first.split()[1]}; work {Path(first.split()[1]).parent}"
    for number, line in enumerate(table("program_shapes")["linked"].strip().splitlines())
    for first in [line.split(";")[0]]
) + tuple(table("program_shapes")["others"].strip().splitlines())


@dataclass
class Shapes:
    """All of them laid into one HOME."""

    home: Path
    path: list[Path] = field(default_factory=list)
    programs: list[Path] = field(default_factory=list)
    secrets: dict[str, Path] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    not_runnable: tuple[str, ...] = ("n1", "n2")

    def lay(self, shapes: Sequence[str] = SHAPES) -> None:
        """Lays the shapes."""
        self.path.append(self.home / BIN)
        for step in (step for shape in shapes for step in shape.split(";")):
            self.step(step)
        self.programs = [path for path in self.programs if path.name not in self.not_runnable]

    def step(self, step: str) -> None:
        """One step of a shape."""
        kind, name, target = (*step.split(), "")[:3]
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        getattr(self, f"_{kind}")(path, target)

    def _run(self, path: Path, _: str) -> None:
        self._write(path, "#!/bin/sh\nexit 0\n", 0o755)
        self._try(path)

    def _by(self, path: Path, interpreter: str) -> None:
        self._write(path, f"#!{self.home}/{interpreter}\n", 0o755)
        self._try(path)

    def _elf(self, path: Path, _: str) -> None:
        shutil.copy("/bin/true", path)
        self._try(path)

    def _link(self, path: Path, target: str) -> None:
        beside = target.startswith("..") or "." in path.name
        path.symlink_to(target if beside else self.home / target)
        self._try(path)

    def _on(self, path: Path, _: str) -> None:
        self.path.append(path)

    def _set(self, path: Path, name: str) -> None:
        self.variables[name] = str(path)

    def _file(self, path: Path, text: str) -> None:
        home, _, base = text.partition("=")
        self._write(path, f"{home} = {self.home}/{base}\n" if base else text)

    def _all(self, folder: Path, _: str) -> None:
        for path in (path for path in folder.rglob("*") if path.is_file()):
            path.chmod(0o755)

    def _work(self, folder: Path, _: str) -> None:
        for name in WORK.split():
            self._secret(folder / name, "")

    def _secret(self, path: Path, _: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        secret = f"canary-{len(self.secrets):04d}-{secrets.token_hex(4)}"
        self.secrets[secret] = path
        self._write(path, secret)

    def _write(self, path: Path, text: str, mode: int = 0o644) -> None:
        path.write_text(text)
        path.chmod(mode)

    def _try(self, path: Path) -> None:
        folders = (self.home / BIN, *self.path)
        if path.is_file() and (path.parent in folders or not path.is_symlink()):
            self.programs.append(path)

"""What one program stands on: its installation, its interpreter, the base of its environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hydra.process.sandbox.exposure import ShownPlaces
from hydra.process.sandbox.lookups import (
    entries_of,
    is_file,
    is_folder,
    is_program,
    is_program_by_name,
    programs_in,
)
from hydra.process.sandbox.masks import is_telling
from hydra.process.sandbox.tables import BESIDE, ENVIRONMENT_PARTS, OF_ENVIRONMENTS, ON_PATH, ROOTS
from hydra.process.sandbox.view import is_system

_DEPTH = 8
"""Interpreters of interpreters."""

_HEAD = 512
"""Bytes of a program in which its interpreter is named."""

_WRAPPER = 16 * 1024
"""Bytes of a script that is looked through for the program that it wraps."""

_EXEC = re.compile(rb"^#![^\n]*/sh\n'''exec' \"?([^\"\s]+)")
"""How pip names an interpreter whose path has spaces or is too long for the kernel."""


class Programs:
    """Shows programs with all that they need to run."""

    def __init__(self, places: ShownPlaces) -> None:
        self._places = places
        self._seen: set[Path] = set()
        self._bases_seen: set[Path] = set()
        self._above: dict[Path, Path | None] = {Path("/"): None}
        self._whole_installations: set[Path] = set()
        by_name = {name: parts for name, parts in ROOTS.items() if "/" not in name}
        self._dotted = {name: parts for name, parts in by_name.items() if name.startswith(".")}

    def show(self, path: Path, reason: str, *, whole: bool = False, depth: int = 0) -> None:
        """One program by any of its names. `whole`: its folder comes along, as a racing agent's
        does."""
        real = self._places.links.resolve(path)
        self._environments(path, reason)
        if real in self._seen or depth > _DEPTH or not _is_program(real):
            return
        self._seen.add(real)
        if not is_system(real):
            self._installation(real, reason, whole=whole)
        interpreter = _interpreter(real)
        if interpreter is None:
            return
        self.show(interpreter, f"runs {real.name}", depth=depth + 1)
        for named in _named_in(real) if whole else ():
            self.show(named, f"{real.name} names it", whole=True, depth=depth + 1)

    def show_folder(self, folder: Path, reason: str) -> None:
        """Of a folder its programs: as a whole where nothing else lies in it, or where what does is
        covered (a folder on PATH)."""
        programs = [path for path in programs_in(folder) if not is_telling(path.name)]
        entries = [entry for entry in entries_of(folder) if not entry.is_symlink()]
        covered = len(entries) - len(programs) <= (len(programs) if reason == ON_PATH else 0)
        whole = covered and not any(entry.is_dir() for entry in entries)
        whole = whole and self._places.admits(folder, reason)
        for path in (folder,) if whole else programs:
            self._places.show(path, reason)

    def base_of(self, environment: Path) -> None:
        """The Python that a virtual environment was made from."""
        if environment in self._bases_seen:
            return
        self._bases_seen.add(environment)
        try:
            text = (environment / "pyvenv.cfg").read_text(errors="replace")
        except OSError:
            return
        if base := re.search(r"^home\s*=\s*(/.+?)\s*$", text, re.M):
            self.show(Path(base[1]) / "python3", f"base of {environment}")

    def _environments(self, path: Path, reason: str) -> None:
        """A link in a virtual environment is that environment's own program."""
        for place in self._places.links.on_the_way(path):
            if not is_system(place):
                self._environment(place, reason)

    def _installation(self, real: Path, reason: str, *, whole: bool) -> None:
        """The first that fits: a root's row, an environment, node_modules; else the program alone:
        what it needs besides, its user shows."""
        self._places.show(real, reason)
        if real.parent in self._whole_installations:
            return
        if self._known_root(real, reason) or self._environment(real, reason):
            self._whole_installations.add(real.parent)
            return
        modules = next((at for at in reversed(real.parents) if at.name == "node_modules"), None)
        if modules is not None:
            self._places.show(modules, reason)
        elif whole and self._places.admits(real.parent, reason):
            self.show_folder(real.parent, reason)

    def _known_root(self, real: Path, reason: str) -> bool:
        for top, parts in self._roots_above(real):
            self._places.show_parts(top, parts, reason)
            for other in BESIDE.get(top.name, ()):
                self._places.show_parts(top.parent / other, ROOTS[other], reason)
            self._environment(real, reason)
            return True
        return False

    def _roots_above(self, real: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
        home = self._places.home
        for parent in real.parents:
            below = str(parent.relative_to(home)) if home in parent.parents else ""
            if below in ROOTS:
                yield parent, ROOTS[below]
            elif parent.name in self._dotted:  # another HOME's, or one that was moved
                yield parent, self._dotted[parent.name]

    def _environment(self, real: Path, reason: str) -> bool:
        """Whether it belongs to a virtual or a conda environment, which is shown whole."""
        top = self._environment_above(real.parent)
        if top is None:
            return False
        self.show_environment(top, reason)
        return True

    def _environment_above(self, folder: Path) -> Path | None:
        # Asked for every program on PATH, of which most lie in a few folders.
        if folder not in self._above:
            is_environment = is_file(folder / "pyvenv.cfg") or is_folder(folder / "conda-meta")
            self._above[folder] = (
                folder if is_environment else self._environment_above(folder.parent)
            )
        return self._above[folder]

    def show_environment(self, top: Path, reason: str) -> None:
        """A virtual or conda environment: as a whole, unless it was made where other things lie."""
        parts = ENVIRONMENT_PARTS if holds_work(top) else ()
        self._places.show_parts(top, parts, reason)
        self.base_of(top)


def holds_work(environment: Path) -> bool:
    """Whether other things than its own lie in a virtual or conda environment."""
    return not OF_ENVIRONMENTS.issuperset(entry.name for entry in entries_of(environment))


def _interpreter(program: Path) -> Path | None:
    """What its first line names, if it has such a line."""
    try:
        with program.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    if not head.startswith(b"#!"):
        return None
    named = _EXEC.match(head) or re.match(rb"#!\s*(/[^\s]+)", head)
    return Path(os.fsdecode(named[1])) if named else None


def _named_in(script: Path) -> Iterator[Path]:
    """The programs that a wrapper names by their whole paths: an agent may be behind one."""
    try:
        with script.open("rb") as file:
            text = file.read(_WRAPPER)
    except OSError:
        return
    named = dict.fromkeys(re.findall(rb"(?<![\w.$}~/])/[\w.+@/-]+", text))
    paths = (Path(os.fsdecode(name)) for name in named)
    yield from (path for path in paths if not is_system(path) and is_program(path))


def _is_program(real: Path) -> bool:
    """A file that may be executed, and no document or key of a disk where everything may be."""
    return is_program(real) and is_program_by_name(real) and not is_telling(real.name)

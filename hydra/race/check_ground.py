"""What the checks of a run stand on, beside a commit and a network, as one word."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from hydra.records.plan import RacePlan
from hydra.workspace.installs import package_folders

_OF_TERMINALS = ("TERM", "COLORTERM")
_CACHES = frozenset((".mypy_cache", ".ruff_cache", "__pycache__"))
_INSTALLED = (".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml")
"""What a package manager writes into node_modules whenever it has changed them."""


def ground_of(plan: RacePlan, top: Path, environment: Mapping[str, str]) -> str:
    """The same for the same set-up, copies, packages, variables and confinement. `top` is the
    checkout's. No value can be read from it. Blocks."""
    variables = {name: environment[name] for name in environment if name not in _OF_TERMINALS}
    parts = (
        *(plan.setup, plan.copies, plan.python_path, plan.confinement.kind, plan.permission.value),
        sorted(variables.items()),
        [*_stamps(top / name for name in plan.copies)],
        [*_packages(top, plan.dependencies if plan.confined else ())],
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _packages(top: Path, folders: Iterable[str]) -> Iterator[object]:
    """The shared folders, and the packages in those that hold some."""
    for folder in folders:
        if folder in _CACHES:
            continue
        yield folder
        for place in package_folders(top / folder):
            with suppress(OSError):
                yield sorted(path.name for path in place.iterdir() if path.name not in _CACHES)
        yield from _stamps(top / folder / name for name in _INSTALLED)


def _stamps(paths: Iterable[Path]) -> Iterator[object]:
    for path in paths:
        with suppress(OSError):
            stat = path.lstat()
            yield path.name, stat.st_size, stat.st_mtime_ns

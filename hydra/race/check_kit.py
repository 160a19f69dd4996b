"""What the checks of a run work with, and stand on: put together once for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from hydra.adapters.environment import SHARED, matches, secret_values
from hydra.checks.context import CheckContext
from hydra.checks.round import new_folder
from hydra.log import hide
from hydra.race.check_hints import installing
from hydra.race.command_context import RunContext
from hydra.records.plan import RacePlan
from hydra.redaction import Redactor, secret_variables
from hydra.workspace.installs import EditableInstall, installs, package_folders


def kit_of(plan: RacePlan, around: RunContext, folder: Path | None = None) -> CheckContext:
    """All that the checks of a run work with, writing to `folder`, else to a fresh one. Blocks.

    Raises `OSError` where that cannot be made.
    """
    environ, adapters = around.environ, around.adapters.values()
    named = [value for adapter in adapters for value in secret_values(adapter.descriptor, environ)]
    secrets = (*named, *secret_variables(environ))
    names = (*SHARED, *around.config.checks.environment)
    hide(secrets)
    environment = {name: text for name, text in environ.items() if matches(name, names)}
    return CheckContext(
        plan=plan,
        repository=around.repository,
        patches=around.run_folder / "patches.git",
        run_folder=around.run_folder,
        folder=folder or new_folder(around.run_folder),
        state=around.state,
        home=around.home,
        environment=environment,
        ground=_ground_of(plan, around.repository.root, environment),
        redactor=Redactor(secrets),
        view=around.view,
        dependencies=around.dependencies if plan.confined else None,
        copies_installed=_copies(plan, around.repository.root) if plan.confined else (),
        set_up_line="" if plan.setup else _set_up_line(plan, around.repository.root),
        surplus=around.surplus,
    )


def _set_up_line(plan: RacePlan, top: Path) -> str:
    lines = (installing("not found", check.command, top) for check in plan.checks)
    return next(filter(None, lines), "")


def _copies(plan: RacePlan, top: Path) -> tuple[EditableInstall, ...]:
    """Of the environments in the checkout that its commands are shown."""
    packages = [path for name in plan.dependencies for path in package_folders(top / name)]
    return tuple(install for install in installs(packages, top) if install.copy)


# ---- What they stand on, beside a commit and a network, as one word.

_OF_TERMINALS = ("TERM", "COLORTERM")
_CACHES = frozenset((".mypy_cache", ".ruff_cache", "__pycache__"))
_INSTALLED = (".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml")
"""What a package manager writes into node_modules whenever it has changed them."""


def _ground_of(plan: RacePlan, top: Path, environment: Mapping[str, str]) -> str:
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

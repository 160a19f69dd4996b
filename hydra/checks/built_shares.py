"""Shared folders that a script of the project builds: what tests load of them was built without a
patch that touches their sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from hydra.analysis.notices.places import is_test
from hydra.checks.builders import COMPILED, builder_of
from hydra.checks.context import CheckContext
from hydra.config.check_specs import split_folder, typed
from hydra.errors import HydraError
from hydra.git.diff import changes
from hydra.text import of_run, shell_quoted
from hydra.workspace.dependencies import is_installed

_MANIFESTS = ("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "Makefile")
_TO_READ = re.compile(rb"\.(?:md|mdx|rst|txt|adoc)$")


def built_before(context: CheckContext, commit: str) -> str:
    """That a check on `commit` loads what was built without it, as a sentence with its cure; ""
    where it does not. Blocks."""
    built = [*_built(context)] if context.dependencies is not None else []
    try:
        touched = changes(context.patches, f"{commit}^", commit) if built else []
    except HydraError:
        return ""
    paths = [row.path for row in touched if not (_TO_READ.search(row.path) or is_test(row.path))]
    for folder, command in built:
        if any(_is_source(path.decode("utf-8", "replace"), folder, context) for path in paths):
            run, setup = context.patches.parent.name, shell_quoted(typed(command, context.place))
            cure = f"hydra check{of_run(run)} --setup {setup}"
            return f"{folder} is your checkout's, built without this patch: {cure} builds it anew"
    return ""


def _built(context: CheckContext) -> Iterator[tuple[PurePosixPath, str]]:
    """Shared folders that no package manager fills and no set-up builds, with what builds them."""
    assert context.dependencies is not None
    top = context.repository.root
    for folder in context.dependencies().folders:
        if is_installed(folder) or not COMPILED.fullmatch(folder.name):
            continue
        command = builder_of(f"{folder}/x", f"{folder}/", top)
        if command and not _is_set_up(command, context.plan.setup):
            yield folder, command


def _is_set_up(command: str, setup: Sequence[str]) -> bool:
    return any(split_folder(command)[1] in step for step in setup)


def _is_source(path: str, folder: PurePosixPath, context: CheckContext) -> bool:
    """Whether it lies in the package whose folder it is."""
    top = context.repository.root
    above = [top / at for at in folder.parents]
    package = next((at for at in above if any((at / name).is_file() for name in _MANIFESTS)), top)
    return (top / path).is_relative_to(package) and not Path(path).is_relative_to(folder)

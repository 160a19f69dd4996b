"""A check's bare `pytest` is the project's own, as in what Hydra guesses: the one of PATH knows
nothing of the project's packages."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from hydra.config.check_specs import in_folder, split_folder, words_of
from hydra.race.guesses.python import ENVIRONMENTS
from hydra.records.plan import RacePlan
from hydra.records.request import Check

_SIMPLE = re.compile(r"[^;&|<>()`$\n]+")
_FOLDERS = (*((name, "bin") for name in ENVIRONMENTS), ("node_modules", ".bin"))


def with_own_programs(
    planned: RacePlan, environ: Mapping[str, str], tree: Path | None = None
) -> RacePlan:
    """The plan with the programs of the checkout's environments, which lanes have, in its checks; a
    warning says each. Of `tree`, what a set-up has made there. Nothing changes where an environment
    is activated."""
    if _is_activated(environ) or not (tree or planned.confined):
        return planned
    checks = tuple(_check(check, planned, tree) for check in planned.checks)
    notes = (
        _note(new, words_of(split_folder(old.command)[1])[0], environ)
        for old, new in zip(planned.checks, checks, strict=True)
        if old != new
    )
    return planned.with_checks(notes, commands=checks)


def _is_activated(environ: Mapping[str, str]) -> bool:
    """Whether a person has chosen an environment; conda's first is nobody's choice."""
    chosen = environ.get("CONDA_PREFIX") and environ.get("CONDA_DEFAULT_ENV") != "base"
    return bool(environ.get("VIRTUAL_ENV") or chosen)


def _check(check: Check, planned: RacePlan, tree: Path | None) -> Check:
    top = tree or planned.repository
    folder, command = split_folder(check.command)
    program = next(iter(words_of(command)), "")
    if check.guessed or not _SIMPLE.fullmatch(command) or not re.fullmatch(r"[\w.+-]+", program):
        return check
    shown = None if tree else planned.dependencies
    own = next(_programs(top, top / folder, program, shown), None)
    if own is None:
        return check
    before, _, after = re.split(rf"(?<!\S)({re.escape(program)})(?!\S)", command, maxsplit=1)
    command = f"{before}{os.path.relpath(own, top / folder)}{after}"
    return replace(check, command=in_folder(command, folder))


def _programs(
    top: Path, place: Path, program: str, shown: tuple[str, ...] | None
) -> Iterator[Path]:
    for above in (folder for folder in (place, *place.parents) if folder.is_relative_to(top)):
        for name, binaries in _FOLDERS:
            own = above / name / binaries / program
            is_shown = shown is None or str((above / name).relative_to(top)) in shown
            if is_shown and os.access(own, os.X_OK):
                yield own


def _note(check: Check, program: str, environ: Mapping[str, str]) -> str:
    own = next(iter(words_of(split_folder(check.command)[1])))
    elsewhere = shutil.which(program, path=environ.get("PATH", os.defpath))
    instead = f"not {elsewhere}" if elsewhere else "none is on PATH"
    return f"check {check.name}: {program} is the project's {own} ({instead})"

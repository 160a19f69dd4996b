"""Checks, set-up and paths as they were named where one stands; else what the files there say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra.config.check_specs import in_folder, named, split_folders
from hydra.config.load import DEFAULT
from hydra.config.schema import Config
from hydra.race.guesses.commands import guess_checks
from hydra.records.request import Check, Permission


def with_checks(config: Config, top: Path, folder: str, *, none: bool = False) -> Config:
    """The settings of a race that begins in `folder` of the checkout at `top`; `none`: without
    checks."""
    checks = replace(config.checks, **_checks(config, top, folder, none))
    return replace(with_setup(config, folder), checks=checks)


def with_setup(config: Config, folder: str) -> Config:
    """The settings, with a set-up that was typed run in `folder`, where one stands."""
    race = config.race
    if not (race.setup and is_typed(config, "race.setup")):
        return config
    setup = tuple(in_folder(name, folder) for name in race.setup)
    return replace(config, race=replace(race, setup=setup))


def _checks(config: Config, top: Path, folder: str, none: bool) -> dict[str, Any]:
    checks = config.checks.checks
    if none:
        return {"checks": ()}
    if not checks:
        if config.sources["race.check"] != DEFAULT or config.race.permission is Permission.PLAN:
            return {}
        commands = tuple(replace(check, guessed=True) for check in named(guess_checks(top, folder)))
        return {"checks": commands, "trusted": False} if commands else {}
    return {"checks": placed(config, top, folder)}


def placed(config: Config, top: Path, folder: str) -> tuple[Check, ...]:
    """The checks of the settings; those that were typed run in `folder`, where one stands."""
    checks = config.checks.checks
    if folder and is_typed(config, "race.check"):
        return tuple(_placed(check, top, folder) for check in checks)
    return checks


def _placed(check: Check, top: Path, folder: str) -> Check:
    """Run where one stands; a line that says so already, as Hydra's own do, is left as it is."""
    if split_folders(check.command)[0][:1] == [folder] and not (top / folder / folder).is_dir():
        return check
    return replace(check, name=f"{folder}: {check.name}", command=in_folder(check.command, folder))


def is_typed(config: Config, key: str) -> bool:
    """Whether a flag or a variable names it, and no file: a file's commands run at the top."""
    return config.sources.get(key, "").startswith(("--", "HYDRA_"))


def folder_of(top: Path, directory: Path) -> str:
    """Where in the checkout one stands, "" for its top."""
    real = directory.resolve()
    if not real.is_relative_to(top.resolve()):
        return ""
    name = real.relative_to(top.resolve()).as_posix()
    return "" if name == "." else name


# ---- What `--copy` and `--share` name below the top: from where one stands, else from the top.

_PATHS = ("race.copy", "race.share")


def with_paths(flags: Mapping[str, object], top: Path, folder: str) -> dict[str, object]:
    """The flags of a race that begins in `folder` of the checkout at `top`, with the paths that
    are there from `folder` as they are called from the top."""
    placed = dict(flags)
    for key in _PATHS:
        names = flags.get(key)
        if folder and isinstance(names, Sequence) and not isinstance(names, str):
            placed[key] = tuple(_path(str(name), top, folder) for name in names)
    return placed


def _path(name: str, top: Path, folder: str) -> str:
    path = os.path.normpath(f"{folder}/{name}")
    inside = not (Path(name).is_absolute() or path.startswith("../"))
    return path if inside and os.path.lexists(top / path) else name

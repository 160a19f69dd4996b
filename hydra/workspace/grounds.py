"""The ground that a killed Hydra has left, for a recovery."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra.records.codec import DiskName, shaped
from hydra.records.request import Limits
from hydra.records.store.files import read_object
from hydra.workspace.credentials import give_back_all
from hydra.workspace.private import RECORD, LaneWorkspace
from hydra.workspace.renewal import Renewal


def standing_ground(
    *,
    base: str,
    lane: str,
    run_folder: Path,
    path: Path,
    worktree: Path,
    patches: Path,
    limits: Limits,
) -> LaneWorkspace:
    """The ground that a killed Hydra has left, by its own record: `snapshot` and `remove` it."""
    recorded = _recorded(run_folder, lane)
    place = _part(recorded, "place", DiskName, "")
    return LaneWorkspace(
        repository=None,
        base=base,
        lane=lane,
        run_folder=run_folder,
        path=path,
        patches=patches,
        limits=limits,
        home=path,
        confined=True,
        copies=_part(recorded, "copies", tuple[DiskName, ...], ()),
        worktree=worktree,
        stamps=_part(recorded, "set_up", dict[DiskName, tuple[int, ...]], None),
        place=Path(place) if place else None,
        lent=_part(recorded, "objects", tuple[Path, ...], ()),
    )


def _part(recorded: Mapping[str, object], name: str, kind: Any, default: Any) -> Any:
    """What it has written down under that name; the default where that is not there, or damaged."""
    try:
        return shaped(recorded[name], kind)
    except (KeyError, ValueError):
        return default


def give_back_standing(run_folder: Path, lane: str, *, refused: bool = False) -> list[Renewal]:
    """What `give_back` would have done for that ground. Raises `OSError`; `KeyError` and
    `TypeError` where its record is damaged."""
    return give_back_all(_recorded(run_folder, lane).get("config"), refused=refused)


def _recorded(run_folder: Path, lane: str) -> dict[str, object]:
    try:
        return read_object(run_folder / "lanes" / lane / RECORD)
    except (OSError, ValueError):
        return {}

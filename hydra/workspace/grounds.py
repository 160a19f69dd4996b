"""The ground that a killed Hydra has left, for a recovery."""

from __future__ import annotations

from pathlib import Path

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
    copies, place = recorded.get("copies"), recorded.get("place")
    lent, stamps = recorded.get("objects"), recorded.get("set_up")
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
        copies=copies if isinstance(copies, list) else (),
        worktree=worktree,
        stamps=stamps if isinstance(stamps, dict) else None,
        place=Path(place) if place and isinstance(place, str) else None,
        lent=[Path(str(folder)) for folder in lent] if isinstance(lent, list) else (),
    )


def give_back_standing(run_folder: Path, lane: str, *, refused: bool = False) -> list[Renewal]:
    """What `give_back` would have done for that ground. Raises `OSError`; `KeyError` and
    `TypeError` where its record is damaged."""
    return give_back_all(_recorded(run_folder, lane).get("config"), refused=refused)


def _recorded(run_folder: Path, lane: str) -> dict[str, object]:
    try:
        return read_object(run_folder / "lanes" / lane / RECORD)
    except (OSError, ValueError):
        return {}

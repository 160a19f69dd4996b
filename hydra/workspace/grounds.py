"""The ground that a killed Hydra has left, for a recovery."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

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
    recorded = _Note()
    with suppress(ValueError):  # of another shape: what can be taken is taken
        recorded = shaped(_recorded(run_folder, lane), _Note)
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
        copies=recorded.copies,
        worktree=worktree,
        stamps=recorded.set_up,
        place=Path(recorded.place) if recorded.place else None,
        lent=recorded.objects,
    )


class _Note(Struct):
    """What a ground has written down of itself, but for its settings."""

    copies: tuple[DiskName, ...] = ()
    set_up: Mapping[DiskName, tuple[int, ...]] = {}
    place: DiskName = ""
    objects: tuple[Path, ...] = ()


def give_back_standing(run_folder: Path, lane: str, *, refused: bool = False) -> list[Renewal]:
    """What `give_back` would have done for that ground. Raises `OSError`; `KeyError` and
    `TypeError` where its record is damaged."""
    return give_back_all(_recorded(run_folder, lane).get("config"), refused=refused)


def _recorded(run_folder: Path, lane: str) -> dict[str, object]:
    try:
        return read_object(run_folder / "lanes" / lane / RECORD)
    except (OSError, ValueError):
        return {}

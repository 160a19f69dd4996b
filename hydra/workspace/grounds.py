"""A lane's ground for a plan, or for a recovery: which folders are its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hydra.git.base_commit import Repository, included
from hydra.records.codec import DiskName, shaped
from hydra.records.request import Limits
from hydra.records.store.files import read_object
from hydra.workspace.credentials import ConfigCopies, Named, give_back_all
from hydra.workspace.dependencies import DependencySource
from hydra.workspace.names import LANE_HOME, worktree_name
from hydra.workspace.private import RECORD, LaneWorkspace
from hydra.workspace.renewal import Renewal


def private_ground(
    *,
    repository: Repository,
    base: str,
    lane: str,
    run_folder: Path,
    path: Path,
    patches: Path,
    home: Path,
    confined: bool,
    copies: Sequence[str],
    limits: Limits,
    of_a_lane: bool = False,
    commits: bool = False,
    litter: Sequence[str] = (),
    folders: Sequence[Named] = (),
    dependencies: DependencySource | None = None,
    python_path: Sequence[str] = (),
) -> LaneWorkspace:
    """A lane's ground, not yet opened. `folders` are the agent's own, each with the value of its
    variable.

    `copies` are paths from the repository's root (`check_copies` has passed them); what the
    user's .worktreeinclude names comes along. `of_a_lane`: `base` is what an agent made, so that
    only those content filters run which patches.git holds. `commits`: its agent's own sandbox is to
    let it write its repository. `litter` are names at the worktree's
    top that the agent makes for itself. With `dependencies`, its commands see the worktree at the
    checkout's path, and these there. `python_path` are its folders that PYTHONPATH names.
    """
    return LaneWorkspace(
        repository=repository,
        worktree=path / worktree_name(repository.root),
        base=base,
        lane=lane,
        run_folder=run_folder,
        path=path,
        patches=patches,
        limits=limits,
        settings=ConfigCopies(folders, home=home, place=path / LANE_HOME),
        confined=confined,
        copies=tuple(dict.fromkeys((*copies, *included(repository)))),
        litter=litter,
        of_a_lane=of_a_lane,
        commits=commits,
        place=repository.root if dependencies is not None else None,
        dependencies=dependencies,
        python_path=python_path,
    )


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
        worktree=worktree,
        base=base,
        lane=lane,
        run_folder=run_folder,
        path=path,
        patches=patches,
        limits=limits,
        settings=ConfigCopies((), home=path, place=path),
        confined=True,
        copies=recorded.copies,
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

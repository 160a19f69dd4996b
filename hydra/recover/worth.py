"""What would be lost with a run, what it takes on the disk, and how old it is."""

from __future__ import annotations

import os
import time
from calendar import timegm
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hydra.errors import HydraError
from hydra.git import patches
from hydra.git.runner import run as git
from hydra.model import Limits, Status
from hydra.paths import ground_dir
from hydra.store import RunRecord, disk_usage, read_object, write_json
from hydra.workspace import tree

_SIZE = "size.json"

Document = Mapping[str, object]


def started(run: RunRecord) -> float:
    """When it began, in seconds since 1970: as it was recorded, else as its id says."""
    with suppress(HydraError):
        told = run.manifest.get("started")
        if isinstance(told, int | float):
            return told
    try:
        return timegm(time.strptime(run.id[:15], "%Y%m%dt%H%M%S"))
    except ValueError:  # a folder that somebody has named
        return time.time()


def grounds(run: RunRecord, state: Path) -> tuple[Path, ...]:
    """The grounds of its lanes that still stand."""
    try:
        return tuple(sorted(ground_dir(state, run.id, "x").parent.iterdir()))
    except OSError:
        return ()


def measure(run: RunRecord, state: Path) -> int:
    """Bytes that its record and its grounds take: a walk over all of it."""
    return disk_usage(run.folder) + sum(map(disk_usage, grounds(run, state)))


def size(run: RunRecord, state: Path) -> int:
    """The same, as it was `noted` while the same grounds stood; else measured."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = read_object(run.folder / _SIZE)
        if told["grounds"] == _names(run, state):
            return int(told["bytes"])
    return measure(run, state)


def noted(run: RunRecord, state: Path) -> int:
    """`size`, kept for the next who asks; only of a run that has ended."""
    ended = (run.folder / "result.json").exists()
    if not ended or (run.folder / _SIZE).exists():
        return size(run, state)
    found = measure(run, state)
    with suppress(OSError):
        told = {"schema": 1, "bytes": found, "grounds": _names(run, state)}
        write_json(run.folder / _SIZE, told)
    return found


def holds_work(run: RunRecord, state: Path) -> bool:
    """Whether something may be lost with it, as its result tells: cheap, and rather yes than no."""
    try:
        result = run.result
        lanes = _lanes(result) if result else None
    except HydraError:
        return True
    if lanes is not None and not grounds(run, state) and all(map(_is_empty, lanes)):
        return False
    return not is_landed(run, state)


def is_empty(run: RunRecord, state: Path) -> bool:
    """Whether nothing at all would be lost: no patch, no stash, no file in a worktree that stands.

    False where anything of it cannot be read.
    """
    try:
        result, head = run.result, run.manifest.get("head")
        if result is None or not isinstance(head, str) or result.get("base") != head:
            return False  # not ended; or it holds changes that the user had not committed
        lanes = _lanes(result)
        if not all(map(_is_empty, lanes)) or patches.with_work(run.patches, head):
            return False
        ended = (run.folder / "result.json").stat().st_mtime
        return _only_the_base(run, state, lanes, head, ended)
    except (HydraError, OSError):
        return False


def is_landed(run: RunRecord, state: Path) -> bool:
    """Whether a patch of it stands on one of the user's branches, and no worktree is kept.

    Who lands one lane has decided against the others. A landing without a commit, one that was
    taken back, one whose branch no longer holds it, and one of picked parts do not count; nor does
    any of a run that holds changes which the user had not committed.
    """
    if grounds(run, state):
        return False
    with suppress(HydraError, OSError, ValueError, KeyError, TypeError):
        if run.manifest["head"] != run.manifest["base"]:
            return False
        root = Path(str(run.manifest["repository"]))
        for path in sorted((run.folder / "landings").glob("*.json")):
            told = read_object(path)
            whole = not told["picks"] or any(pick.endswith(":") for pick in told["picks"])
            if whole and told["undone"] is None and told["commit"] and _holds(root, told):
                return True
    return False


def _holds(root: Path, landing: Document) -> bool:
    words = ("merge-base", "--is-ancestor", str(landing["commit"]), str(landing["ref"]))
    return git(*words, cwd=root, check=False).code == 0


def _lanes(result: Document) -> list[Document]:
    lanes = result.get("lanes")
    return [lane for lane in lanes if isinstance(lane, dict)] if isinstance(lanes, list) else []


def _is_empty(lane: Document) -> bool:
    patch = lane.get("patch")
    if isinstance(patch, dict):
        return not (
            patch.get("files")
            or patch.get("incomplete")
            or patch.get("left_behind")
            or patch.get("stranded")
        )
    error = lane.get("error")
    # A fault of Hydra's own is told in the same words, and an agent may have worked before it.
    ours = isinstance(error, dict) and error.get("reason") in ("hydra_bug", "record", "exhausted")
    return lane.get("status") == Status.NOT_STARTED and lane.get("exit") is None and not ours


def _only_the_base(
    run: RunRecord, state: Path, lanes: list[Document], base: str, ended: float
) -> bool:
    """Whether the worktrees that stand hold no file but the base's, and none changed since."""
    standing = grounds(run, state)
    if not standing:
        return True
    worktrees = {lane.get("lane"): lane.get("worktree") for lane in lanes}
    names = patches.names(run.patches, base)
    for ground in standing:
        worktree = worktrees.get(ground.name)
        if not isinstance(worktree, str) or not Path(worktree).is_relative_to(ground):
            return False
        if tree.changed_since(Path(worktree), ended) is not None:
            return False
        if not _holds_only(worktree, names) or not _is_unchanged(run, ground.name, worktree, base):
            return False
    return True


def _is_unchanged(run: RunRecord, lane: str, worktree: str, base: str) -> bool:
    """Whether a patch taken now would be empty: times tell nothing of a file that was changed
    while rivals still worked, or after the clock was set back."""
    from hydra.git.collector import collect  # not in the way of `hydra runs`

    taken = collect(
        patches=run.patches,
        worktree=Path(worktree),
        base=base,
        index=run.folder / "lanes" / lane / "index",
        limits=Limits(),
    )
    words = ("rev-parse", "--verify", f"{base}^{{tree}}")
    same = taken.tree == git(*words, git_dir=run.patches, isolated=True).line
    return same and not taken.incomplete and not taken.left_behind


def _holds_only(worktree: str, names: frozenset[bytes]) -> bool:
    top = os.fsencode(worktree)
    for folder, folders, files in os.walk(top, onerror=_raise):
        here = os.path.relpath(folder, top)
        found = (os.path.normpath(os.path.join(here, name)) for name in (*folders, *files))  # noqa: PTH118
        if any(name not in names and name != b".git" for name in found):
            return False
        if b".git" in folders:
            return False  # a repository of its own: a lane's .git is a file
    return True


def _raise(error: OSError) -> None:
    raise error


def _names(run: RunRecord, state: Path) -> list[str]:
    return [ground.name for ground in grounds(run, state)]

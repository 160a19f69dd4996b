"""Takes what stands in a lane's worktree as a tree in the run's patches.git.

git never runs with a gitdir, an index or a configuration that an agent could have written:
GIT_DIR is the run's own patches.git, the index is a copy made right after Hydra's checkout, and
the lane's folder is only GIT_WORK_TREE. So a broken or hostile .git, a stale index.lock, stashes,
other branches, skip-worktree bits, replace refs and info/exclude of the agent have no part in it.

`git add -A` is not used: it stops at the first thing it cannot take, and runs `git status` inside
submodules. `diff-files` and `ls-files` name what changed, `update-index` takes exactly that, so
every path has passed the limits first and one bad path costs only itself.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hydra.git.diff import EMPTY_TREE, TreeChange
from hydra.git.forced_files import forced, sparse
from hydra.git.index import FULL, draft, may_hold_gitlinks, take, tracked
from hydra.git.lane_folder import LaneFolder
from hydra.git.nested_repos import expand, seen_repositories
from hydra.git.runner import GitError, GitFailed, GitKilled
from hydra.git.snapshot_limits import within_count, within_size
from hydra.git.snapshot_state import SnapshotSession, WorktreeLost, names
from hydra.git.sources import LaneRepository, SubmoduleWork
from hydra.git.submodule_work import changed_submodules
from hydra.git.tree_scan import Survey, first_paths, survey
from hydra.records.request import Limits

TIME_LIMIT = 600.0
"""Seconds for one collection, all told; 200,000 files need far less."""


class Snapshot(Struct, frozen=True, kw_only=True):
    """A tree in patches.git. `incomplete` says why something may be missing ("" when whole).

    `left_behind` counts the files that the limits keep out: they are in the worktree alone.
    `staged` is what the agent's indexes have against the base, by where each lies;
    `repositories` are the folders in the tree with a .git of their own that no rule ignores, each
    with the commits of it that the base and the tree name; `submodules` are what was changed in
    those that stay links.
    """

    tree: str
    incomplete: str = ""
    notes: tuple[str, ...] = ()
    left_behind: int = 0
    staged: Mapping[Path, tuple[TreeChange, ...]] = msgspec.field(default_factory=dict)
    repositories: tuple[tuple[bytes, tuple[str, ...]], ...] = ()
    submodules: tuple[SubmoduleWork, ...] = ()


@dataclass(slots=True)
class _Changes:
    gone: list[bytes]
    present: list[bytes]
    others: list[bytes]


def collect(
    *,
    patches: Path,
    worktree: Path,
    base: str,
    index: Path,
    exclude: Sequence[str] = (),
    limits: Limits,
    nested: bool = True,
    lane: LaneFolder | None = None,
    sources: Sequence[LaneRepository] = (),
) -> Snapshot:
    """The worktree's files as a tree; `index` is only read.

    `exclude` are paths that Hydra copied in (never taken unless tracked). `nested` takes the
    files of repositories inside the tree; without it the tree is the user's own, and nothing in it
    is opened. `sources` are the repositories of the tree's own agent, `lane` is where they and
    those inside the tree may lie. Raises `WorktreeLost`; everything else that goes wrong gives a
    tree and the word incomplete.
    """
    check_worktree(worktree)
    deadline = time.monotonic() + TIME_LIMIT
    earlier: list[str] = []
    for last in (False, False, True):
        with draft(index) as copy:
            session = SnapshotSession(
                patches=patches,
                worktree=worktree,
                index=copy,
                base=base,
                limits=limits,
                exclude=names(exclude),
                deadline=deadline,
                lane=lane,
                sources=tuple(sources),
                survey=Survey(is_users=not nested),
            )
            collected = _attempt(session, nested)
        earlier += session.survey.notes()
        if last or not session.broken:
            break
    return replace(collected, notes=(*collected.notes, *dict.fromkeys(earlier)))


def _attempt(session: SnapshotSession, nested: bool) -> Snapshot:
    session.objects.mkdir()
    try:
        tree = _tree(session, nested)
    except (GitError, OSError) as failed:
        session.lost.append(str(failed))
        session.broken = isinstance(failed, GitKilled) or _may_mend(failed)
        tree = f"{session.base}^{{tree}}"
    return _collected(session, tree)


def _may_mend(failed: Exception) -> bool:
    """As where a `git gc` of the user's took an object away meanwhile."""
    if not isinstance(failed, GitFailed) or failed.timed_out or failed.stopped:
        return False
    return not any(clause in failed.result.stderr for clause in FULL)


def check_worktree(worktree: Path) -> None:
    """Raises `WorktreeLost` unless the lane's folder is a real folder with something in it."""
    try:
        if not stat.S_ISDIR(worktree.lstat().st_mode):
            raise WorktreeLost(f"the worktree was replaced by something else: {worktree}")
        if not os.access(worktree, os.R_OK | os.X_OK):
            worktree.chmod(0o700)
        with os.scandir(worktree) as entries:
            empty = next(entries, None) is None
    except OSError as error:
        raise WorktreeLost(f"the worktree is gone: {worktree} ({error.strerror})") from error
    if empty:
        raise WorktreeLost(f"the worktree was emptied, its .git file too: {worktree}")


def _tree(session: SnapshotSession, nested: bool) -> str:
    changes = _changes(session)
    modules = changed_submodules(session) if nested and may_hold_gitlinks(session.index) else {}
    # First, as git answers nothing about a path inside what its index calls a submodule.
    take(session, gone=[*changes.gone, *modules], present=[])
    others = expand(session, changes.others) if nested else _files(session, changes.others)
    others += [path for files in modules.values() for path in files]
    others += forced(session, others)
    others = [path for path in others if not session.excluded(path)]
    present = [*changes.present, *within_count(session, others)]
    take(session, gone=[], present=within_size(session, present))
    session.repositories = seen_repositories(session) if nested else []
    tree = session.git("write-tree", "--missing-ok").line
    session.keep(tree)
    if tree == EMPTY_TREE[len(tree)]:
        session.notes.append("every file of the base is deleted")
    return tree


def _changes(session: SnapshotSession) -> _Changes:
    try:
        return _listed(session)
    except GitFailed:
        # An index that is lost, cut or split: the base's own, slower as it has no times.
        session.index.unlink(missing_ok=True)
        return _listed(session)


def _listed(session: SnapshotSession) -> _Changes:
    if not session.index.exists():
        _fresh_index(session)
    # Imported here: it takes longer than a race needs to its agents' start.
    from concurrent.futures import ThreadPoolExecutor

    # All at once: the survey wakes a git that waits on a FIFO called .gitattributes.
    with ThreadPoolExecutor(2) as beside:
        within, other = copy_context(), copy_context()  # what the log says of whose work it is
        tracked_paths = beside.submit(within.run, tracked, session)
        future = beside.submit(other.run, _index_paths, session)
        session.survey = survey(session.top, is_users=session.survey.is_users)
        others = _others(session, future.result())
        gone, present = tracked_paths.result()
    if session.survey.opened:  # what lay behind a closed folder looked deleted, or not there
        (gone, present), others = tracked(session), _others(session)
    closed = tuple(session.survey.closed)  # what nobody could look into is not deleted
    gone = _deleted(session, gone)
    return _Changes([path for path in gone if not path.startswith(closed)], present, others)


def _deleted(session: SnapshotSession, gone: list[bytes]) -> list[bytes]:
    """Without what the agent's own sparse checkout has only taken out of sight."""
    hidden = sparse(session).intersection(gone) if gone else ()
    if hidden:
        session.notes.append(
            f"not deleted, as git sparse-checkout took it out: {first_paths([*hidden])}"
        )
    return [path for path in gone if path not in hidden]


def _index_paths(session: SnapshotSession) -> frozenset[bytes]:
    """Every path in the index, and the one at the top that git never takes."""
    return frozenset((b".git", *session.paths("ls-files", "--cached", "-z")))


def _others(session: SnapshotSession, contents: frozenset[bytes] = frozenset()) -> list[bytes]:
    """Untracked paths that no ignore rule names; git walks the tree again only if there are any."""
    texts = session.survey.files
    session.survey.files = None  # nobody else needs them
    if texts is not None and contents.issuperset(texts):
        return []
    return session.paths("ls-files", "--others", "--exclude-standard", "-z")


def _fresh_index(session: SnapshotSession) -> None:
    # Only -u marks what a sparse checkout leaves out, so it writes; to a place of its own.
    place = session.index.with_name("tree")
    place.mkdir(exist_ok=True)
    sparse = session.git("config", "--type=bool", "core.sparsecheckout", check=False)
    update = ("-u",) if sparse.line == "true" else ("-i",)
    session.git("read-tree", "-m", *update, session.base, work_tree=place)


def _files(session: SnapshotSession, others: list[bytes]) -> list[bytes]:
    folders = [path for path in others if path.endswith(b"/")]
    if folders:
        session.notes.append(f"repositories inside the tree stay out: {first_paths(folders)}")
    return [path for path in others if not path.endswith(b"/")]


def _collected(session: SnapshotSession, tree: str) -> Snapshot:
    if session.survey.closed:
        session.lost.append(f"could not be read: {first_paths(session.survey.closed)}")
    if tree.endswith("^{tree}"):
        tree = session.git("rev-parse", "--verify", tree).line
    return Snapshot(
        tree=tree,
        incomplete="; ".join(session.lost),
        notes=tuple(dict.fromkeys(session.notes)),
        left_behind=session.left_behind,
        staged=session.staged,
        repositories=tuple(session.repositories),
        submodules=tuple(session.works),
    )

"""From a lane, or picks of several, to one tree: on the base, then on the user's branch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hydra.analysis.made_folders import by_hand, made_folders
from hydra.errors import LandingRefused, UsageError
from hydra.git.attributes import asks_for_lfs, content, runs_lfs
from hydra.git.diff import TreeChange, changes, renames
from hydra.git.merge import three_way
from hydra.git.runner import run
from hydra.landing.compose import LanePart, bring, compose
from hydra.landing.picks import LanePatch, Pick
from hydra.race.command_context import CommandContext
from hydra.race.recovery import runs
from hydra.race.recovery.runs import RunReading
from hydra.records.store.reader import RunRecord
from hydra.report.text import quote
from hydra.text import join_names


class ComposedTree(Struct, frozen=True, kw_only=True):
    """A composition on its way: `tree` on `base`, `result` the same on `head`."""

    base: str
    tree: str
    head: str
    result: str
    lanes: tuple[str, ...]
    dirty: frozenset[bytes]


def composed(
    place: CommandContext,
    record: RunRecord,
    parts: Sequence[LanePart],
    *,
    commits: bool,
    branch: bool,
) -> ComposedTree:
    """What is picked, as a tree on where the branch stands now. Raises `LandingRefused`.

    `commits`: it shall become a commit, which a race from uncommitted changes does not allow;
    `branch`: of a new branch, which begins where the race did if that is ahead.
    """
    base, repository = record.base, place.repository
    # The user's own uncommitted files in the base of an --include-dirty race.
    head = record.manifest.head or base
    rows = changes(record.patches, head, base) if head != base else ()
    dirty = frozenset(change.path for change in rows)
    if dirty and commits:
        raise LandingRefused(
            "nothing was landed: this race began from uncommitted changes (--include-dirty), and a "
            "commit would take them along, or be without what the patch was made and checked on",
            hint="land it without a commit: --no-commit",
        )
    tree = compose(record.patches, base, parts)
    head = base if dirty else repository.head
    if head != base and _is_behind(repository.root, head, base):
        if not branch:
            raise LandingRefused(
                f"nothing was landed: the race began from {base[:10]}, which is ahead of "
                f"{repository.branch or 'HEAD'}: the patch would land without what it was made on",
                hint=f"take that first: git merge --ff-only {base[:10]}; then land again, or land "
                "both on a branch of their own: --branch NAME",
            )
        head = base
    lanes, result = tuple(part.lane for part in parts), tree
    if head != base:
        result = bring(record.patches, base=base, tree=tree, head=head, lanes=lanes)
    return ComposedTree(base=base, tree=tree, head=head, result=result, lanes=lanes, dirty=dirty)


def _is_behind(root: Path, head: str, base: str) -> bool:
    """Whether `base` has all commits of `head`."""
    return run("merge-base", "--is-ancestor", head, base, cwd=root, check=False).code == 0


def picked(record: RunRecord, picks: Sequence[Pick], scratch: Path) -> tuple[LanePart, ...]:
    """Each lane's part of what is picked. Raises `UsageError` for a pick that fits nothing."""
    commits = {pick.lane: runs.commit_of(record, pick.lane) for pick in picks}
    if len(commits) == 1 and all(pick.path == "" and not pick.without for pick in picks):
        ((lane, commit),) = commits.items()
        return (LanePart(lane=lane, tree=tree_of(record, commit), commit=commit),)
    parts: list[LanePart] = []
    for lane, commit in commits.items():
        patch = LanePatch(record.patches, record.base, lane, commit)
        parts.append(patch.part([pick for pick in picks if pick.lane == lane], scratch))
    return tuple(parts)


def placed(record: RunRecord, picks: Iterable[Pick]) -> tuple[Pick, ...]:
    """The picks, each with the one path that its lane changes: from where one stands, else from the
    top, as every screen prints it. Raises `UsageError` where the lane changes both."""
    return tuple(
        _placed(record, pick, pick.other)
        if pick.path and pick.other not in ("", pick.path)
        else pick
        for pick in picks
    )


def _placed(record: RunRecord, pick: Pick, other: str) -> Pick:
    lane, path = pick.lane, pick.path or ""
    commit = runs.commit_of(record, lane)
    changed = [os.fsdecode(change.path) for change in changes(record.patches, record.base, commit)]
    if not any(_is_in(name, other) for name in changed):
        return replace(pick, path=path, other="")
    if not any(_is_in(name, path) for name in changed):
        return replace(pick, path=other, other="")
    above = os.path.relpath(other, path.removesuffix(f"/{other}"))
    option, whose = ("--except", "") if pick.without else ("--pick", f"{lane}:")
    ways = (quote(f"{whose}./{other}"), quote(f"{whose}{above}"))
    raise UsageError(
        f"{other} may be {path} from here or {other} from the top, and lane {lane} changes both",
        hint=f"say which: {option} {ways[0]}, or {option} {ways[1]}",
    )


def _is_in(path: str, named: str) -> bool:
    return path == named or path.startswith(f"{named}/")


def is_whole(record: RunRecord, part: LanePart) -> bool:
    """Whether the part is all of its lane's patch, in however many picks."""
    return part.tree == tree_of(record, part.commit)


def whole_files(record: RunRecord, part: LanePart) -> frozenset[str]:
    """The files that the part takes as its lane left them, named as a verdict names them."""
    contents = {change.path for change in changes(record.patches, part.tree, part.commit)}
    mine = {change.path for change in changes(record.patches, record.base, part.commit)}
    return frozenset(path.decode("utf-8", "backslashreplace") for path in mine - contents)


def notes_of(
    place: CommandContext,
    reading: RunReading,
    parts: Sequence[LanePart],
    picks: Sequence[Pick],
    tree: ComposedTree,
    files: Sequence[TreeChange],
) -> tuple[str, ...]:
    """That a patch is not whole, what of it stays out and may be missed, or what it needs, a
    sentence each."""
    notes, record, lanes = [], reading.run, reading.lanes
    for part in parts:
        lane = lanes.get(part.lane)
        if lane and lane.patch and lane.patch.incomplete:
            notes.append(f"the patch of {part.lane} is INCOMPLETE: {lane.patch.incomplete}")
        if any(pick.without for pick in picks):
            notes += _left_out(record, part)
    notes += _without_its_base(place, record, tree)
    if any(change.path.rpartition(b"/")[2] == b".gitattributes" for change in files):
        notes += _first_of_lfs(place, record, tree)
    return tuple(notes)


def _without_its_base(
    place: CommandContext, record: RunRecord, tree: ComposedTree
) -> Iterator[str]:
    """A sentence where the race began from changes that the branch has in no form."""
    root, head, base = place.repository.root, tree.head, tree.base
    if head == base or _is_behind(root, base, head):
        return
    shared = run("merge-base", head, base, cwd=root, check=False).line
    if not shared:
        return
    merged = three_way(record.patches, base=shared, ours=head, theirs=base)
    if merged.conflicts or merged.tree != tree_of(record, head):
        yield (
            f"the race began from {base[:10]}, which has changes that "
            f"{place.repository.branch or 'HEAD'} lacks: the patch lands without them "
            f"(git merge {base[:10]} brings them)"
        )


def _first_of_lfs(place: CommandContext, record: RunRecord, tree: ComposedTree) -> Iterator[str]:
    """A sentence where a patch is the first to ask for Git LFS, and something is to be set up."""
    patches, repository = record.patches, place.repository
    if asks_for_lfs(patches, tree.head) or not asks_for_lfs(patches, tree.result):
        return
    named = repository.config.get("core.hookspath")
    hooks = repository.root / Path(named).expanduser() if named else repository.common_dir / "hooks"
    if not runs_lfs(patches):
        yield "it asks for Git LFS, which was not set up for the race: its files come as they are"
    elif b"lfs" not in content(hooks / "pre-push"):
        yield "Git LFS is new here: git lfs install --local, or your pushes leave its files behind"


def _left_out(record: RunRecord, part: LanePart) -> Iterator[str]:
    """A sentence for what --except has left out of a lane and a person may miss: what people write
    beside what a build made, and a file of which the other side, before it was moved, goes."""
    rest = {os.fsdecode(row.path): row for row in changes(record.patches, part.tree, part.commit)}
    files = {path: change.old is None for path, change in rest.items()}
    if written := by_hand(files, made_folders(files)):
        look = "looks" if len(written) == 1 else "look"
        yield f"{join_names(written)} {look} written by hand and {_is(written)} left out"
    pairs = renames(record.patches, record.base, part.commit)
    moved = [(os.fsdecode(old), os.fsdecode(new)) for old, new in pairs]
    if gone := [(old, new) for old, new in moved if new in rest and old not in rest]:
        yield (
            f"{join_names([old for old, _ in gone])} {_is(gone)} deleted, and "
            f"{join_names([new for _, new in gone])}, with the same in it, left out"
        )


def _is(values: Sized) -> str:
    return "is" if len(values) == 1 else "are"


def tree_of(record: RunRecord, commit: str) -> str:
    """The tree of a commit in the run's patches.git."""
    terms = ("rev-parse", "--verify", f"{commit}^{{tree}}")
    return run(*terms, git_dir=record.patches, isolated=True).line

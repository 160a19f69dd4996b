"""From a lane, or picks of several, to one tree: on the base, then on the user's branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra.app import runs
from hydra.app.runs import Place
from hydra.errors import LandingRefused
from hydra.git.changes import changes
from hydra.git.runner import run
from hydra.landing.compose import Part, bring, compose
from hydra.landing.picks import LanePatch, Pick
from hydra.store import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A composition on its way: `tree` on `base`, `result` the same on `head`."""

    base: str
    tree: str
    head: str
    result: str
    lanes: tuple[str, ...]
    dirty: frozenset[bytes]


def composed(
    place: Place, record: RunRecord, picks: Sequence[Pick], scratch: Path, *, commits: bool
) -> Made:
    """What is picked, as a tree on where the branch stands now. Raises `LandingRefused`.

    `commits`: it shall become a commit, which a race from uncommitted changes does not allow.
    """
    base, repository = record.base, place.repository
    dirty = _dirty(record, base)
    if dirty and commits:
        raise LandingRefused(
            "nothing was landed: this race began from uncommitted changes (--include-dirty), and "
            "a commit would take those along",
            hint="land it without a commit: --no-commit",
        )
    tree = _picked(record, base, picks, scratch)
    head = base if dirty else repository.head
    result = tree if head == base else bring(record.patches, base=base, tree=tree, head=head)
    lanes = tuple(dict.fromkeys(pick.lane for pick in picks))
    return Made(base=base, tree=tree, head=head, result=result, lanes=lanes, dirty=dirty)


def _picked(record: RunRecord, base: str, picks: Sequence[Pick], scratch: Path) -> str:
    commits = {pick.lane: runs.commit_of(record, pick.lane) for pick in picks}
    if len(commits) == 1 and all(pick.path == "" for pick in picks):
        return tree_of(record, commits[picks[0].lane])
    parts: list[Part] = []
    for lane, commit in commits.items():
        patch = LanePatch(record.patches, base, lane, commit)
        parts.append(patch.part([pick for pick in picks if pick.lane == lane], scratch))
    return compose(record.patches, base, parts)


def _dirty(record: RunRecord, base: str) -> frozenset[bytes]:
    """The user's own uncommitted files in the base of an --include-dirty race."""
    head = record.manifest.get("head")
    if not isinstance(head, str) or head == base:
        return frozenset()
    return frozenset(change.path for change in changes(record.patches, head, base))


def tree_of(record: RunRecord, commit: str) -> str:
    """The tree of a commit in the run's patches.git."""
    words = ("rev-parse", "--verify", f"{commit}^{{tree}}")
    return run(*words, git_dir=record.patches, isolated=True).line

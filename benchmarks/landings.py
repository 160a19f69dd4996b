"""Landing a large patch, in process and without checks, against git's own fast-forward."""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks.measure import Result, interleave, milliseconds, ratio
from benchmarks.place import Place
from hydra.git import base_commit, patches
from hydra.git.diff import difference
from hydra.git.export import bring, make_commit
from hydra.landing import transaction
from hydra.landing.journal import LandingOrder, LandingStore

FILES, CHANGED = 20_000, 2_000
_WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


def landing(place: Place) -> list[Result]:
    """A patch of 2,000 files on 20,000: landed, then `git merge --ff-only` of the same commit."""
    root = place.repository(FILES)
    base = place.git(root, "rev-parse", "HEAD")
    branch = place.git(root, "symbolic-ref", "HEAD")
    tree = _patch(place, root)
    store = place.folder / "landing.git"
    patches.create(store, base_commit.read(root), base=base)
    desk = LandingStore(place.folder / "desk")
    turn = 0

    def hydra() -> float:
        nonlocal turn
        turn += 1
        began = time.perf_counter()
        item = base_commit.read(root)
        fresh = place.folder / "fresh"
        commit = make_commit(
            store,
            fresh,
            tree=tree,
            head=base,
            message=b"land\n",
            identity={"user.name": "Ada", "user.email": "ada@example.com"},
            environ=os.environ,
        )
        entry = difference(store, base, tree)
        order = LandingOrder(
            id=str(turn),
            run="benchmark",
            repository=item,
            patches=store,
            changes=entry.files,
            ref=branch,
            head=base,
            commit=commit,
            reason="landed",
            bring=lambda: bring(store, fresh, item, entry, tree, commit),
        )
        with desk.alone():
            transaction.move(order, desk)
        seconds = time.perf_counter() - began
        _back(place, root, base)
        return seconds

    def by_hand() -> float:
        began = time.perf_counter()
        place.git(root, "merge", "-q", "--ff-only", "patch")
        seconds = time.perf_counter() - began
        _back(place, root, base)
        return seconds

    taken = interleave(max(place.runs, 5), {"hand": by_hand, "hydra": hydra})
    value, best = ratio(taken["hydra"], taken["hand"])
    return [
        Result(
            case=f"landing {CHANGED:,} files on {FILES:,}",
            against="git merge --ff-only",
            value=value,
            best=best,
            target=2.0,
            why="every file that is touched is read anew first (git trusts its times), is written "
            "beside the tree, then changes places",
            note=f"{milliseconds(taken['hand'])} -> {milliseconds(taken['hydra'])}, "
            "reading the repository, the commit and its objects included",
        )
    ]


def _patch(place: Place, root: Path) -> str:
    """Commits every tenth file changed on a branch; gives its tree, back on the first branch."""
    first = place.git(root, "rev-parse", "--abbrev-ref", "HEAD")
    place.git(root, "checkout", "-q", "-b", "patch")
    names = place.git(root, "ls-files").splitlines()[:: FILES // CHANGED]
    for name in names:
        (root / name).write_text(f"changed = {name!r}\n" * 40)
    place.git(root, *_WHO, "commit", "-q", "-a", "-m", "patch")
    place.git(root, "checkout", "-q", first)
    return place.git(root, "rev-parse", "patch^{tree}")


def _back(place: Place, root: Path, base: str) -> None:
    place.git(root, "reset", "-q", "--hard", base)
    time.sleep(1.1)  # else the next look finds every file racy, as git calls it
    place.git(root, "update-index", "-q", "--refresh")

"""Two trees that grew from one, brought together by git in a repository of Hydra's own.

Nothing here sees a work tree or an index. Merge drivers are programs, and the patches' gitdir
switches them off (patches.create); git's own text merge is what remains.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from hydra.errors import Refused
from hydra.git.patches import WHO
from hydra.git.runner import Result, run, split

_RENAMES = (("merge.directoryRenames", "false"), ("merge.conflictStyle", "merge"))
"""A file that one side added to a folder that the other side renamed stays where it was put."""


class Conflict(Struct, frozen=True):
    """One path both sides changed. `lines` are the first and last of each place, in the merged
    text; () where it is no matter of lines. `reason` is git's own word: `contents`,
    `modify/delete`, `rename/delete`, `binary` ...; `modes` where only these differ."""

    path: bytes
    reason: str
    lines: tuple[tuple[int, int], ...] = ()


class MergeResult(Struct, frozen=True):
    """The tree that came of it; with conflicts, it holds their markers and is not for use."""

    tree: str
    conflicts: tuple[Conflict, ...] = ()


def three_way(git_dir: Path, *, base: str, ours: str, theirs: str) -> MergeResult:
    """Merges two trees by exactly this base. Raises `Refused` where git itself cannot.

    git 2.38 finds the base by history alone (`--merge-base` is new in 2.40), so each tree gets a
    commit of its own, and the two sides' have the base's as their parent.
    """
    root = _commit(git_dir, base)
    sides = (_commit(git_dir, ours, root), _commit(git_dir, theirs, root))
    result = run(
        *("merge-tree", "--write-tree", "-z", "--messages", "--allow-unrelated-histories", *sides),
        git_dir=git_dir,
        isolated=True,
        check=False,
        config=_RENAMES,
        timeout=300,
    )
    if result.code == 0:
        return MergeResult(split(result.stdout)[0].decode())
    if result.code == 1:  # anything above is no conflict but an error
        return _conflicts(result, sides)
    raise Refused(
        f"git could not merge: {result.reason or f'exit {result.code}'}",
        hint="an object may be missing, as in a partial clone: bring it with git fetch",
    )


def _commit(git_dir: Path, tree: str, *parents: str) -> str:
    above = [term for parent in parents for term in ("-p", parent)]
    return run(
        *("commit-tree", *above, "-m", "a side of a merge", f"{tree}^{{tree}}"),
        git_dir=git_dir,
        isolated=True,
        extra_env=WHO,
    ).line


def _conflicts(result: Result, sides: tuple[str, str]) -> MergeResult:
    # TREE, then (MODE OID STAGE TAB PATH) each, an empty field, then the messages.
    fields = result.stdout.split(b"\0")
    tree, end = fields[0].decode(), fields.index(b"", 1)
    aside = re.compile(rb"~(?:%s|%s)(?:_\d+)?$" % (sides[0].encode(), sides[1].encode()))
    contents: dict[bytes, set[bytes]] = {}
    for facts, _, path in (field.partition(b"\t") for field in fields[1:end]):
        _, oid, stage = facts.split(b" ")
        # What cannot stand under its own name is put aside by git, beside the path that is meant.
        names = contents.setdefault(aside.sub(b"", path), set())
        names.update([oid] if stage != b"1" else [])
    told_of = reversed(_messages(fields[end + 1 :]))  # the first word on a path counts
    reasons = {aside.sub(b"", path): reason for path, reason in told_of}
    conflicts = []
    for path in dict.fromkeys((*contents, *reasons)):
        reason = reasons.get(path, "conflict")
        if reason == "contents" and len(contents.get(path, ())) == 1:
            reason = "modes"  # git calls it so too where the contents agree
        conflicts.append(Conflict(path, reason))
    return MergeResult(tree, tuple(conflicts))


def _messages(fields: list[bytes]) -> list[tuple[bytes, str]]:
    """(path, reason) of each message that tells of a conflict.

    Each is: how many paths, the paths, a short stable type, and a sentence.
    """
    pairs: list[tuple[bytes, str]] = []
    at = 0
    while at < len(fields) and fields[at].isdigit():
        count = int(fields[at])
        paths, kind = fields[at + 1 : at + 1 + count], fields[at + 1 + count]
        if kind.startswith(b"CONFLICT"):
            reason = kind.removeprefix(b"CONFLICT").strip(b" ()").decode("ascii", "replace")
            pairs += ((path, reason) for path in paths[:1])
        at += count + 3
    return pairs

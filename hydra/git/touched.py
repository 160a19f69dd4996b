"""What is known of a patch's files for `hydra.remarks`: names, modes and sizes, and the few
contents that say something. Nothing is checked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from hydra.git.changes import LINK, MODULE, Change, Entry, changes, read_change
from hydra.git.patches import Stat, count, numstat
from hydra.git.runner import GitFailed, run, split
from hydra.remarks import Touched, is_manifest
from hydra.remarks.manifests import MOST_BYTES

_LINK_BYTES = 4096

_NOTHING = Entry("", "")

_READ = 200
"""Contents read of one patch, at most."""


def touched(git_dir: Path, old: str, new: str) -> tuple[list[Stat], tuple[Touched, ...]]:
    """The lines of each changed file (`patches.numstat`), and what is known of it.

    Two git commands, and one more where a manifest or a symlink is touched. What an object that is
    missing (a partial clone) would say is left out. Raises `GitFailed`.
    """
    if old == new:
        return [], ()
    found, stats = _listed(git_dir, old, new)
    binary = {path for path, added, _ in stats if added is None}
    sizes = _sizes(git_dir, found)
    wanted = list(_wanted(found, sizes))[:_READ]
    texts = _contents(git_dir, wanted) if wanted else {}
    return stats, tuple(_fact(change, binary, sizes, texts) for change in found)


def _listed(git_dir: Path, old: str, new: str) -> tuple[tuple[Change, ...], list[Stat]]:
    words = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--no-abbrev")
    quiet = ("--no-ext-diff", "--no-textconv", "--end-of-options", old, new, "--")
    try:
        told = run(*words, *quiet, git_dir=git_dir, isolated=True, timeout=300).stdout
    except GitFailed:
        return changes(git_dir, old, new), numstat(git_dir, old, new)
    fields = split(told)
    raw = sum(1 for _ in takewhile(lambda field: field.startswith(b":"), fields[::2])) * 2
    found = zip(fields[:raw:2], fields[1:raw:2], strict=True)
    counted = (entry.split(b"\t", 2) for entry in fields[raw:])
    return (
        tuple(read_change(facts, path) for facts, path in found),
        [(path, count(added), count(deleted)) for added, deleted, path in counted],
    )


def _sizes(git_dir: Path, found: Sequence[Change]) -> dict[str, int]:
    """Bytes of each new blob, and of the old one of what may be read."""
    names = {entry.oid for change in found for entry in _blobs(change)}
    if not names:
        return {}
    stdin = "".join(f"{name}\n" for name in names).encode()
    words = ("cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer")
    told = run(*words, git_dir=git_dir, stdin=stdin, isolated=True, timeout=300, check=False)
    pairs = (line.split(" ") for line in told.stdout.decode("ascii", "replace").splitlines())
    return {name: int(size) for name, size in pairs if size.isdigit()}


def _blobs(change: Change) -> Iterator[Entry]:
    if change.new is not None and change.new.mode != MODULE:
        yield change.new
    if change.old is not None and change.old.mode.startswith("100") and is_manifest(change.path):
        yield change.old


def _wanted(found: Sequence[Change], sizes: Mapping[str, int]) -> Iterator[str]:
    """What is read: where a symlink points, and a manifest before and after."""
    for change in found:
        link = change.new is not None and change.new.mode == LINK
        most = _LINK_BYTES if link else MOST_BYTES
        if link or is_manifest(change.path):
            for entry in _blobs(change):
                if sizes.get(entry.oid, most + 1) <= most:
                    yield entry.oid


def _contents(git_dir: Path, names: Sequence[str]) -> dict[str, bytes]:
    stdin = "".join(f"{name}\n" for name in names).encode()
    words = ("cat-file", "--batch", "--buffer")
    told = run(*words, git_dir=git_dir, stdin=stdin, isolated=True, timeout=300, check=False)
    found: dict[str, bytes] = {}
    rest = memoryview(told.stdout)
    while rest:
        # NAME SP TYPE SP SIZE LF, the content, LF; or NAME SP missing LF.
        head, _, _ = bytes(rest[:200]).partition(b"\n")
        name, *facts = head.decode("ascii", "replace").split(" ")
        start = len(head) + 1
        size = int(facts[1]) + 1 if len(facts) == 2 else 0
        if size:
            found[name] = bytes(rest[start : start + size - 1])
        rest = rest[start + size :]
    return found


def _fact(
    change: Change, binary: set[bytes], sizes: Mapping[str, int], texts: Mapping[str, bytes]
) -> Touched:
    old, new = change.old or _NOTHING, change.new or _NOTHING
    return Touched(
        path=change.path,
        old_mode=old.mode,
        new_mode=new.mode,
        old_oid=old.oid,
        new_oid=new.oid,
        binary=change.path in binary and new.mode.startswith("100"),
        size=sizes.get(new.oid),
        old=texts.get(old.oid),
        new=texts.get(new.oid),
    )

"""What patches change, with the texts before and after: read from objects, nothing checked out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from hydra.git.diff import MODULE, TreeChange, TreeEntry, changes, read_raw
from hydra.git.patches import Stat, count, numstat
from hydra.git.runner import GitError, run, split

FILE_BYTES = 2 * 1024**2
"""A larger content is not read."""

ALL_BYTES = 256 * 1024**2
"""Bytes read of all patches together; what comes after is not read."""


def read_changes(
    git_dir: Path, base: str, commits: Sequence[str]
) -> tuple[list[tuple[tuple[TreeChange, ...], list[Stat]]], dict[str, bytes]]:
    """What each commit changes against `base`, in git's order, and the contents before and after by
    their ids, but for what is not read; a rename is two entries.

    One diff for each commit, and two git commands for all contents. Raises `GitFailed`.
    """
    pairs = {commit: listed(git_dir, base, commit) for commit in dict.fromkeys(commits)}
    entries = [
        entry
        for tree_changes, _ in pairs.values()
        for change in tree_changes
        for entry in _blobs(change)
    ]
    texts = contents(git_dir, _worth_reading(sizes(git_dir, (entry.oid for entry in entries))))
    return [pairs[commit] for commit in commits], texts


def listed(git_dir: Path, old: str, new: str) -> tuple[tuple[TreeChange, ...], list[Stat]]:
    """Each path that differs, and its lines, in one look. Raises `GitFailed`.

    Where an object that is needed for counting is missing (a partial clone), names alone.
    """
    if old == new:
        return (), []
    terms = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--no-abbrev")
    quiet = ("--no-ext-diff", "--no-textconv", "--end-of-options", old, new, "--")
    try:
        output = run(*terms, *quiet, git_dir=git_dir, isolated=True, timeout=300).stdout
    except GitError:
        return changes(git_dir, old, new), numstat(git_dir, old, new)
    fields = split(output)
    raw = sum(1 for _ in takewhile(lambda field: field.startswith(b":"), fields[::2])) * 2
    counted = (entry.split(b"\t", 2) for entry in fields[raw:])
    stats = [(path, count(added), count(deleted)) for added, deleted, path in counted]
    return read_raw(fields[:raw]), stats


def sizes(git_dir: Path, names: Iterable[str], *, check: bool = False) -> dict[str, int]:
    """Bytes of each object, in the order asked for; one that is missing is left out. With `check`
    raises `GitError` where git cannot go on, as with a damaged one."""
    output = _read(git_dir, "--batch-check=%(objectname) %(objectsize)", names, check)
    pairs = (line.split(" ") for line in output.decode("ascii", "replace").splitlines())
    return {name: int(size) for name, size in pairs if size.isdigit()}


def contents(git_dir: Path, names: Iterable[str], *, check: bool = False) -> dict[str, bytes]:
    """Each object's bytes; one that is missing is left out. `check` is as in `sizes`."""
    mapping: dict[str, bytes] = {}
    rest = memoryview(_read(git_dir, "--batch", names, check))
    while rest:
        # NAME SP TYPE SP SIZE LF, the content, LF; or NAME SP missing LF.
        head, _, _ = bytes(rest[:200]).partition(b"\n")
        name, *facts = head.decode("ascii", "replace").split(" ")
        start = len(head) + 1
        size = int(facts[1]) + 1 if len(facts) == 2 else 0
        if size:
            mapping[name] = bytes(rest[start : start + size - 1])
        rest = rest[start + size :]
    return mapping


def _read(git_dir: Path, how: str, names: Iterable[str], check: bool) -> bytes:
    documents = dict.fromkeys(names)
    if not documents:
        return b""
    stdin = "".join(f"{name}\n" for name in documents).encode()
    terms = ("cat-file", how, "--buffer")
    return run(*terms, git_dir=git_dir, stdin=stdin, isolated=True, timeout=300, check=check).stdout


def files(git_dir: Path, tree: str) -> dict[bytes, str]:
    """The blob of each ordinary file of a tree, by path. Raises `GitFailed`."""
    output = run("ls-tree", "-r", "-z", tree, git_dir=git_dir, isolated=True, timeout=300).stdout
    values: dict[bytes, str] = {}
    for entry in split(output):
        facts, _, path = entry.partition(b"\t")
        mode, _, oid = facts.decode("ascii").split(" ")
        if mode.startswith("100"):
            values[path] = oid
    return values


def paths(git_dir: Path, tree: str) -> frozenset[str]:
    """The ordinary files of a tree, with names as texts have them. Raises `GitFailed`."""
    return frozenset(path.decode("utf-8", "backslashreplace") for path in files(git_dir, tree))


MOST_MATCHING, MATCHING_BYTES = 300, 4 * 1024**2
"""Files, and bytes of them, in which a line is looked for."""


def matching(git_dir: Path, tree: str, lines: Iterable[str]) -> dict[str, str] | None:
    """The texts of a tree, by path, that have a line of one of these patterns, as grep -E has them;
    None where there are too many. Raises `GitFailed`."""
    terms = ("grep", "-l", "-z", "-I", "-E", *(term for line in lines for term in ("-e", line)))
    result = run(*terms, tree, git_dir=git_dir, isolated=True, timeout=300, check=False)
    names = [name.removeprefix(f"{tree}:".encode()) for name in split(result.stdout)]
    oids = files(git_dir, tree) if names else {}
    values = {name: oids[name] for name in names if name in oids}
    bytes_of = sizes(git_dir, values.values())
    if result.code > 1 or len(names) > MOST_MATCHING or sum(bytes_of.values()) > MATCHING_BYTES:
        return None
    texts = contents(git_dir, values.values())
    return {
        name.decode("utf-8", "backslashreplace"): texts[oid].decode("utf-8", "backslashreplace")
        for name, oid in values.items()
        if oid in texts
    }


def trees(git_dir: Path, commits: Sequence[str]) -> list[str]:
    """The tree of each commit. Raises `GitFailed`."""
    if not commits:
        return []
    named = (f"{commit}^{{tree}}" for commit in commits)
    return run("rev-parse", *named, git_dir=git_dir, isolated=True).stdout.decode().split()


def _blobs(change: TreeChange) -> Iterator[TreeEntry]:
    for entry in (change.old, change.new):
        if entry is not None and entry.mode != MODULE:
            yield entry


def _worth_reading(values: Mapping[str, int]) -> Iterator[str]:
    remaining = ALL_BYTES
    for name, size in values.items():
        if size <= min(FILE_BYTES, remaining):
            remaining -= size
            yield name

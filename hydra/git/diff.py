"""What one tree changes against another, path by path."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from hydra.git.runner import run, split

_ODD = frozenset(("", ".", ".."))


def module_folders(git_dir: Path, commit: str, paths: Iterable[bytes]) -> dict[bytes, Path]:
    """Each submodule's, from the gitdir that it belongs to. One without a name, or with a name that
    git would refuse, has a folder by its path."""
    names = _names(git_dir, commit)
    return {path: Path("modules", _folder(path, names)) for path in paths}


def _names(git_dir: Path, commit: str) -> dict[bytes, str]:
    terms = ("-z", "--get-regexp", r"^submodule\..*\.path$")
    answer = run(
        *("config", f"--blob={commit}:.gitmodules", *terms),
        git_dir=git_dir,
        isolated=True,
        check=False,
    )
    entries = (entry.partition(b"\n") for entry in split(answer.stdout))
    paths = {key[len(b"submodule.") : -len(b".path")]: path for key, _, path in entries}
    return {path: os.fsdecode(name) for name, path in paths.items()}


def _folder(path: bytes, names: dict[bytes, str]) -> str:
    name = names.get(path, "")
    parts = name.split("/")
    above = ("/".join(parts[:number]) for number in range(1, len(parts)))
    if _ODD.isdisjoint(parts) and not {*names.values()}.intersection(above):
        return name
    return os.fsdecode(path).replace("%", "%25").replace("/", "%2f")


LINK, EXECUTABLE, MODULE, _TREE = "120000", "100755", "160000", "040000"
"""Modes as git writes them: a symlink, a file with its x bit, a submodule's commit, a folder."""

EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The empty tree, by the length of an object's name."""


class TreeEntry(Struct, frozen=True, order=True):
    """One path's place in a tree or an index: its mode and its object's name."""

    mode: str
    oid: str


class TreeChange(Struct, frozen=True):
    """One path. `old` None: it is new; `new` None: it goes."""

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None

    @property
    def reversed(self) -> TreeChange:
        """The way back."""
        return TreeChange(self.path, self.new, self.old)


def changes(git_dir: Path, old: str, new: str) -> tuple[TreeChange, ...]:
    """Every path that differs between two trees (or commits), in git's order; no renames."""
    return () if old == new else _read(git_dir, old, new)


class TreeDifference(NamedTuple):
    """`files` as `changes` has them. `objects` are the names of all below the new tree that the
    old one has not in their places: with the tree itself all that who has the old one needs."""

    files: tuple[TreeChange, ...]
    objects: tuple[str, ...]


def difference(git_dir: Path, old: str, new: str) -> TreeDifference:
    """What one tree has against another."""
    both = () if old == new else _read(git_dir, old, new, "-t")
    files = tuple(c for c in both if not (_is(c.old, _TREE) or _is(c.new, _TREE)))
    return TreeDifference(files, objects(both))


def objects(changes: Iterable[TreeChange]) -> tuple[str, ...]:
    """The names of the new ones; a submodule's commit is none of them."""
    return tuple(c.new.oid for c in changes if c.new is not None and c.new.mode != MODULE)


def _read(git_dir: Path, old: str, new: str, *more: str) -> tuple[TreeChange, ...]:
    terms = ("diff-tree", "-r", *more, "-z", "--raw", "--no-renames", "--no-abbrev")
    trees = ("--end-of-options", old, new, "--")
    return read_raw(split(run(*terms, *trees, git_dir=git_dir, isolated=True, timeout=300).stdout))


def _is(entry: TreeEntry | None, mode: str) -> bool:
    return entry is not None and entry.mode == mode


def renames(git_dir: Path, old: str, new: str) -> tuple[tuple[bytes, bytes], ...]:
    """(from, to) of each file that was moved, half of it or more unchanged, as git holds it."""
    terms = ("diff-tree", "-r", "-z", "--name-status", "-M50%", "-l1000", "--diff-filter=R")
    output = run(*terms, "--end-of-options", old, new, "--", git_dir=git_dir, isolated=True).stdout
    fields = split(output)
    return tuple(zip(fields[1::3], fields[2::3], strict=True))


def tree_with(
    git_dir: Path, base: str, entries: Mapping[bytes, TreeEntry | None], scratch: Path
) -> str:
    """The tree of `base` with these entries in their places (None: gone), made in `git_dir`.

    `scratch` is a folder for an index of its own.
    """
    index = scratch / "tree-index"
    run("read-tree", base, git_dir=git_dir, index=index, isolated=True)
    gone = TreeEntry("0", "0" * len(base))
    # What goes, first: a file may take the place of a folder.
    shown = sorted(((entry or gone), path) for path, entry in entries.items())
    lines = (f"{entry.mode} {entry.oid}\t".encode() + path for entry, path in shown)
    stdin = b"".join(line + b"\0" for line in lines)
    terms = ("update-index", "-z", "--index-info")
    run(*terms, git_dir=git_dir, index=index, stdin=stdin, isolated=True)
    return run("write-tree", "--missing-ok", git_dir=git_dir, index=index, isolated=True).line


def kinds_at(git_dir: Path, commit: str, paths: Collection[bytes]) -> dict[bytes, str]:
    """What stands at each of these paths in a commit's tree: `blob`, `tree` (a folder) or `commit`
    (a submodule); one where nothing stands is left out."""
    terms = ("ls-tree", "-r", "-t", "-z", commit)
    contents = split(run(*terms, git_dir=git_dir, isolated=True, timeout=300).stdout)
    entries = (entry.partition(b"\t") for entry in contents)
    return {path: facts.split(b" ")[1].decode() for facts, _, path in entries if path in paths}


def write_blob(git_dir: Path, data: bytes) -> str:
    """`data` as a blob in `git_dir`, byte for byte."""
    return run("hash-object", "-w", "--stdin", git_dir=git_dir, stdin=data, isolated=True).line


def read_blob(git_dir: Path, oid: str) -> bytes:
    """A blob's bytes."""
    return run("cat-file", "blob", oid, git_dir=git_dir, isolated=True).stdout


def links_in(listed: bytes) -> dict[bytes, str]:
    """The submodules in the output of `ls-files --stage -z` or `ls-tree -r -z`."""
    links = {}
    for entry in split(listed):
        if entry.startswith(MODULE.encode()):
            head, _, path = entry.partition(b"\t")
            links[path] = max(head.split(b" "), key=len).decode()
    return links


def read_raw(fields: Sequence[bytes]) -> tuple[TreeChange, ...]:
    """All of git's raw diff, as `-z` has it."""
    return tuple(map(read_change, fields[::2], fields[1::2]))


def read_change(facts: bytes, path: bytes) -> TreeChange:
    """One entry of git's raw diff: `:100644 100755 OLD NEW M` and its path."""
    old_mode, new_mode, old, new, _ = facts[1:].decode().split(" ")
    return TreeChange(path, _entry(old_mode, old), _entry(new_mode, new))


def _entry(mode: str, oid: str) -> TreeEntry | None:
    return None if mode == "000000" else TreeEntry(mode, oid)

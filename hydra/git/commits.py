"""The last commits of a history, what each changed, and line by line where that is asked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct

from hydra.git.contents import FILE_BYTES
from hydra.git.diff import TreeChange, read_change
from hydra.git.runner import GitError, run, split

_BEGINS = b"\x01"

MOST_PATHS = 1_000
"""Paths whose lines are read; of more, those that the newest commits changed."""


class Commit(Struct, frozen=True):
    """One commit, held against its first parent."""

    oid: str
    parent: str
    subject: str
    changes: tuple[TreeChange, ...]


class ChangedLines(Struct, frozen=True):
    """Lines that follow one another and were changed. Places are lines from 0 on, before and
    after; of lines that were only added, or only removed, the one that they stood before."""

    old_at: int
    removed: tuple[bytes, ...]
    new_at: int
    added: tuple[bytes, ...]


Hunks = Mapping[tuple[str, str], Sequence[ChangedLines]]
"""By the objects before and after, "" where there is none; of renamed files too."""


def recent(git_dir: Path, start: str, most: int) -> tuple[Commit, ...]:
    """The last `most` commits up to `start`, the newest first; not one without a parent, which has
    changed nothing. Raises `GitFailed` where history is missing (a partial clone)."""
    terms = ("--first-parent", "--diff-merges=first-parent", "--raw", "-r", "-z", "--no-renames")
    form = "--format=%x01%H %P%x00%s"
    output = run(
        *("log", "-n", str(most), *terms, "--no-abbrev", "--no-show-signature", form, start, "--"),
        git_dir=git_dir,
        isolated=True,
    ).stdout
    return tuple(_read(iter(split(output))))


def _read(fields: Iterator[bytes]) -> Iterator[Commit]:
    names: list[str] = []
    subject, changes = "", list[TreeChange]()
    for field in fields:
        line = field.lstrip(b"\n")
        if line.startswith(_BEGINS):
            if len(names) > 1:
                yield Commit(names[0], names[1], subject, tuple(changes))
            names, changes = line[1:].decode().split(), []
            subject = next(fields, b"").decode("utf-8", "replace")
        elif line.startswith(b":"):
            changes.append(read_change(line, next(fields, b"")))
    if len(names) > 1:
        yield Commit(names[0], names[1], subject, tuple(changes))


def hunks(
    git_dir: Path,
    base: str,
    patches: Sequence[str],
    history: Sequence[Commit],
    paths: Collection[bytes],
) -> Hunks:
    """What `patches` change of `base`, and what its `history` has changed, in those of `paths` that
    both have to do with. Empty where contents are missing (a partial clone)."""
    named, names = set(paths), dict[bytes, None]()
    for commit in history:
        touched = [change for change in commit.changes if change.path in named]
        if any(change.old is None for change in touched):  # it may have had another name before
            touched += [change for change in commit.changes if change.new is None]
        names |= dict.fromkeys(change.path for change in touched)
        named.update(names)
    if not names:
        return {}
    pairs = [(commit, base) for commit in patches] + [(row.oid, row.parent) for row in history]
    terms = ("diff-tree", "--stdin", "-r", "-p", "-U0", "-M", f"-l{MOST_PATHS}", "--full-index")
    with suppress(GitError):
        output = run(
            *(*terms, "--no-ext-diff", "--no-textconv", "--"),
            *islice(names, MOST_PATHS),
            git_dir=git_dir,
            isolated=True,
            stdin="".join(f"{new} {old}\n" for new, old in pairs).encode(),
            extra_env={"GIT_LITERAL_PATHSPECS": "1"},
            config=(("core.bigFileThreshold", str(FILE_BYTES)),),
        ).stdout
        return _read_hunks(iter(output.split(b"\n")))
    return {}


_INDEX = re.compile(rb"index (?:0+|([0-9a-f]+))\.\.(?:0+|([0-9a-f]+))(?: |$)")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def _read_hunks(lines: Iterator[bytes]) -> Hunks:
    mapping: dict[tuple[str, str], list[ChangedLines]] = {}
    own: list[ChangedLines] = []
    for line in lines:
        if match := _INDEX.match(line):
            before, after = (oid.decode() for oid in match.groups(default=b""))
            own = mapping[before, after] = []
        elif match := _HUNK.match(line):
            old_at, old, new_at, new = (int(number) for number in match.groups(default=b"1"))
            texts = (text for text in lines if not text.startswith(b"\\"))
            removed = tuple(text[1:] for text in islice(texts, old))
            added = tuple(text[1:] for text in islice(texts, new))
            own.append(ChangedLines(old_at - bool(old), removed, new_at - bool(new), added))
    return mapping

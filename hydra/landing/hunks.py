"""A patch in the pieces that can be picked, each with an id that stays the same.

The diff is always made in one way, whatever anybody's settings are: histogram, three lines of
context, no renames. A hunk's id is a hash of its path, its base blob, its place and its lines, so
the same change in two lanes has one id. What has no lines to choose from (a new, deleted or binary
file, a symlink, a submodule) is one hunk; so is a file's mode.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from hydra.git.diff import TreeChange, changes
from hydra.git.runner import run

_DIFF = (
    *("diff-tree", "-r", "-p", "-U3", "--no-renames", "--full-index", "--no-color"),
    *("--no-ext-diff", "--no-textconv", "--diff-algorithm=histogram", "--no-indent-heuristic"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", "--ignore-submodules=none"),
)
_SIZE = (("core.bigFileThreshold", "512m"),)
"""git's own default: a file above it has no lines. The user's would change what hunks there are."""

_HEAD = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SECTION = re.compile(rb"^diff --git ", re.M)


class Edit(Struct, frozen=True):
    """Lines `old` from line `start` on (the first is 0) become `new`; each with its line end."""

    start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


class Hunk(Struct, frozen=True):
    """One piece of a patch. `kind` is `lines`, `mode` or `whole`; `head` is git's `@@` line or what
    becomes of the file; `body` the lines as a diff shows them."""

    id: str
    change: TreeChange
    kind: str
    head: str
    body: bytes = b""
    edits: tuple[Edit, ...] = ()

    @property
    def path(self) -> bytes:
        """The file it is of."""
        return self.change.path


def hunks(git_dir: Path, base: str, commit: str) -> tuple[Hunk, ...]:
    """All hunks of a patch, in the order of its diff."""
    changed = changes(git_dir, base, commit)
    terms = (*_DIFF, "--end-of-options", base, commit, "--")
    text = run(*terms, git_dir=git_dir, isolated=True, timeout=300, config=_SIZE).stdout
    starts = [section.start() for section in _SECTION.finditer(text)]
    sections = [text[a:b] for a, b in pairwise([*starts, len(text)])]
    pieces: list[Hunk] = []
    for change in changed:
        # git shows a file that became another kind of thing as a deletion and a creation.
        mine, sections = sections[: _sections(change)], sections[_sections(change) :]
        pieces += _of(change, mine)
    return tuple(pieces)


def apply(blob: bytes, edits: Iterable[Edit]) -> bytes:
    """`blob` with these edits of it. Raises `ValueError` where one does not fit."""
    lines = split_lines(blob)
    contents: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        end = edit.start + len(edit.old)
        if edit.start < at or tuple(lines[edit.start : end]) != edit.old:
            raise ValueError(f"an edit of line {edit.start + 1} does not fit")
        contents += (*lines[at : edit.start], *edit.new)
        at = end
    return b"".join((*contents, *lines[at:]))


def split_lines(blob: bytes) -> list[bytes]:
    """Lines as git counts them: a newline ends one, and nothing else does."""
    lines = [line + b"\n" for line in blob.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _sections(change: TreeChange) -> int:
    if change.old is None or change.new is None:
        return 1
    return 1 if _kind(change.old.mode) == _kind(change.new.mode) else 2


def _kind(mode: str) -> str:
    return mode[:3]


def _of(change: TreeChange, sections: Sequence[bytes]) -> Iterator[Hunk]:
    old, new = change.old, change.new
    lines = list(_line_hunks(change, sections[0])) if len(sections) == 1 else []
    if old is None or new is None or not lines or not old.mode.startswith("100"):
        if old and new and old.oid == new.oid:
            yield _mode(change)
        else:
            body = b"".join(section[section.find(b"\n@@ ") + 1 :] for section in sections if lines)
            yield Hunk(_id(change, b"whole", _result(change)), change, "whole", _what(change), body)
        return
    if old.mode != new.mode:
        yield _mode(change)
    yield from lines


def _mode(change: TreeChange) -> Hunk:
    assert change.old is not None
    assert change.new is not None
    text = f"mode {change.old.mode} -> {change.new.mode}"
    return Hunk(_id(change, text.encode()), change, "mode", text)


def _what(change: TreeChange) -> str:
    if change.old is None:
        return "new file"
    if change.new is None:
        return "deleted file"
    same = _kind(change.old.mode) == _kind(change.new.mode)
    return "changed as a whole" if same else "became another kind of file"


def _line_hunks(change: TreeChange, section: bytes) -> Iterator[Hunk]:
    lines = section.split(b"\n")
    starts = [n for n, line in enumerate(lines) if line.startswith(b"@@ ")]
    if section.endswith(b"\n"):
        lines.pop()
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        head = _HEAD.match(lines[start])
        assert head is not None
        # git counts an empty range from the line before it.
        first = int(head[1]) - (head[2] != b"0")
        body = lines[start + 1 : end]
        edits = tuple(_edits(body, first))
        yield Hunk(
            id=_id(change, *(_exactly(edit) for edit in edits)),
            change=change,
            kind="lines",
            head=lines[start].decode("utf-8", "replace"),
            body=b"\n".join(body) + b"\n",
            edits=edits,
        )


def _exactly(edit: Edit) -> bytes:
    """Its place and its lines, so that no two edits of a file are written the same."""
    place = b"%d,%d,%d\n" % (edit.start, len(edit.old), len(edit.new))
    return place + b"".join((*edit.old, *edit.new))


def _edits(body: Sequence[bytes], first: int) -> Iterator[Edit]:
    at, start = first, first
    old: list[bytes] = []
    new: list[bytes] = []
    last: list[bytes] = []
    for line in body:
        mark, text = line[:1], line[1:] + b"\n"
        if mark == b"\\":  # "No newline at end of file", of the line before
            if last:
                last[-1] = last[-1][:-1]
            continue
        if mark == b"-":
            old.append(text)
            last, at = old, at + 1
        elif mark == b"+":
            new.append(text)
            last = new
        else:
            if old or new:
                yield Edit(start, tuple(old), tuple(new))
            old, new, last = [], [], []
            at += 1
        if not old and not new:
            start = at
    if old or new:
        yield Edit(start, tuple(old), tuple(new))


def _id(change: TreeChange, *what: bytes) -> str:
    base = change.old.oid if change.old else "new"
    return hashlib.sha256(b"\0".join((change.path, base.encode(), *what))).hexdigest()


def _result(change: TreeChange) -> bytes:
    return f"{change.new.mode} {change.new.oid}".encode() if change.new else b"gone"

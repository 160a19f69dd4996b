"""The last commits of a history, and what each changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hydra.git.diff import TreeChange, read_change
from hydra.git.runner import run, split

_BEGINS = b"\x01"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, held against its first parent."""

    oid: str
    subject: str
    changes: tuple[TreeChange, ...]


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
                yield Commit(names[0], subject, tuple(changes))
            names, changes = line[1:].decode().split(), []
            subject = next(fields, b"").decode("utf-8", "replace")
        elif line.startswith(b":"):
            changes.append(read_change(line, next(fields, b"")))
    if len(names) > 1:
        yield Commit(names[0], subject, tuple(changes))

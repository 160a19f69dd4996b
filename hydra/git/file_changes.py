"""What patches change, as whoever judges it reads it: texts, not bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.git.contents import read_changes
from hydra.git.diff import MODULE, TreeChange, TreeEntry
from hydra.git.patches import Stat

_ABSENT = TreeEntry("", "")


def file_changes(git_dir: Path, base: str, commits: Sequence[str]) -> list[tuple[FileChange, ...]]:
    """What each commit changes against `base`. Raises `GitFailed`."""
    pairs, contents = read_changes(git_dir, base, commits)

    @cache  # one string for one object, however many lanes have it
    def text(oid: str) -> str | None:
        data = contents.get(oid)
        return None if data is None else data.decode("utf-8", "backslashreplace")

    return [tuple(_files(changes, stats, text)) for changes, stats in pairs]


def without_texts(change: TreeChange) -> FileChange:
    """One path, with what it was and is, and not what it says."""
    old, new = change.old or _ABSENT, change.new or _ABSENT
    return FileChange(
        path=change.path.decode("utf-8", "backslashreplace"),
        old_mode=old.mode,
        new_mode=new.mode,
        old_oid=old.oid,
        new_oid=new.oid,
    )


def _files(
    changes: Sequence[TreeChange], stats: Sequence[Stat], text: Callable[[str], str | None]
) -> Iterator[FileChange]:
    lines = {path: (added, deleted) for path, added, deleted in stats}
    for change in changes:
        added, deleted = lines.get(change.path, (None, None))
        entries = [entry or _ABSENT for entry in (change.old, change.new)]
        binary = added is None
        old, new = (None if binary else text(entry.oid) for entry in entries)
        missing = [
            entry
            for entry, content in zip(entries, (old, new), strict=True)
            if content is None and entry.mode not in ("", MODULE)
        ]
        yield replace(
            without_texts(change),
            binary=binary,
            insertions=added,
            deletions=deleted,
            old=old,
            new=new,
            unread=bool(missing) and not binary,
        )

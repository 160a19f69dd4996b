"""What patches change, as whoever judges it reads it: texts, not bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.git.contents import FileCount, read_changes
from hydra.git.diff import MODULE, TreeChange, TreeEntry

_ABSENT = TreeEntry("", "")


def file_changes(git_dir: Path, base: str, commits: Sequence[str]) -> list[tuple[FileChange, ...]]:
    """What each commit changes against `base`. Raises `GitFailed`."""
    texts: dict[str, str] = {}
    rows = read_changes(git_dir, base, commits)
    return [tuple(_file(content, texts) for content in counts) for counts in rows]


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


def _file(content: FileCount, texts: dict[str, str]) -> FileChange:
    change: TreeChange = content.change
    old, new = change.old or _ABSENT, change.new or _ABSENT
    binary = content.added is None
    before = None if binary else _text(old.oid, content.old, texts)
    after = None if binary else _text(new.oid, content.new, texts)
    missing = [
        entry
        for entry, text in ((old, before), (new, after))
        if text is None and entry.mode not in ("", MODULE)
    ]
    return replace(
        without_texts(change),
        binary=binary,
        insertions=content.added,
        deletions=content.deleted,
        old=before,
        new=after,
        unread=bool(missing) and not binary,
    )


def _text(oid: str, data: bytes | None, texts: dict[str, str]) -> str | None:
    """One string for one object, however many lanes have it."""
    if data is None:
        return None
    if oid not in texts:
        texts[oid] = data.decode("utf-8", "backslashreplace")
    return texts[oid]

"""A word on every patch: each remark has a kind, a path and a sentence."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterator, Sequence

from hydra.analysis.notices.manifests import MOST_BYTES, dependencies, install_scripts, is_manifest
from hydra.analysis.notices.places import (
    EXECUTABLE,
    LINK,
    MODULE,
    PLACES,
    TouchedPath,
    is_test,
    kind_of,
)
from hydra.records.outcome import Remark

LARGE = 1024 * 1024
"""Bytes from which a file is called large."""

MOST = 20
"""Remarks of one kind; the rest are counted in one more, of no path."""

_NAMES = 20
_LONGEST = 120


def remarks(files: Sequence[TouchedPath], hooks: str = "") -> tuple[Remark, ...]:
    """What deserves a look, in the patch's order. `hooks` is the user's core.hooksPath."""
    notes: list[Remark] = []
    seen: Counter[str] = Counter()
    for remark in _all(files, hooks):
        seen[remark.kind] += 1
        if seen[remark.kind] <= MOST:
            notes.append(remark)
    pairs = ((kind, count - MOST) for kind, count in seen.items() if count > MOST)
    return (*notes, *(Remark(kind, "", f"and {count} more") for kind, count in pairs))


def _all(files: Sequence[TouchedPath], hooks: str) -> Iterator[Remark]:
    placed = [file for file in files if file.new_mode and not file.old_mode]
    moved = {file.new_oid for file in placed} | {_name(file.path) for file in placed}
    for file in files:
        path = file.path.decode("utf-8", "backslashreplace")
        for kind, text in _of(file, hooks):
            yield Remark(kind, path, text)
        gone = file.old_mode and not file.new_mode
        if gone and is_test(file.path) and not {file.old_oid, _name(file.path)} & moved:
            yield Remark("deleted_test", path, "a test's file is deleted")


def _of(file: TouchedPath, hooks: str) -> Iterator[tuple[str, str]]:
    place = kind_of(file.path, hooks)
    if place:
        yield place, f"{_verb(file)}: {PLACES[place]}"
    if is_manifest(file.path):
        yield from _packages(file)
    if file.new_mode == LINK:
        yield _link(file)
    elif file.new_mode == MODULE:
        was = "a new submodule" if not file.old_mode else "a submodule"
        yield "submodule", f"{was}, at {file.new_oid[:12]}"
    elif file.old_mode == MODULE:
        yield "submodule", "a submodule is removed"
    if file.new_mode == EXECUTABLE and file.old_mode != EXECUTABLE:
        yield "executable", "made executable" if file.old_mode else "a new executable"
    yield from _weight(file)


def _verb(file: TouchedPath) -> str:
    if not file.old_mode:
        return "new"
    return "changed" if file.new_mode else "deleted"


def _packages(file: TouchedPath) -> Iterator[tuple[str, str]]:
    if not file.new_mode or file.new_mode == LINK:
        return
    unread = file.new is None or (file.old_mode.startswith("100") and file.old is None)
    old, new = dependencies(file.path, file.old), dependencies(file.path, file.new)
    if unread or old is None or new is None:
        size = f" (over {MOST_BYTES // 1024} KiB)" if (file.size or 0) > MOST_BYTES else ""
        yield "dependency", f"cannot be read{size}: its dependencies are not known"
        return
    if added := sorted(new - old):
        many = "dependencies" if len(added) > 1 else "dependency"
        rest = f" and {len(added) - _NAMES} more" if len(added) > _NAMES else ""
        names = ", ".join(name[:_LONGEST] for name in added[:_NAMES])
        yield "dependency", f"new {many}: {names}{rest}"
    before, after = install_scripts(file.path, file.old), install_scripts(file.path, file.new)
    if before is not None and after is not None:
        changed = [name for name in after if after[name] != before.get(name)]
        if changed:
            yield "build", f"runs on install: {', '.join(changed)}"


def _link(file: TouchedPath) -> tuple[str, str]:
    if file.new is None:
        return "symlink", "a symlink"
    target = file.new.decode("utf-8", "backslashreplace")
    text = target[:_LONGEST]
    where = os.path.normpath(os.path.join(os.path.dirname(b"./" + file.path), file.new))  # noqa: PTH118, PTH120
    parts = where.split(b"/")
    if where.startswith(b"/") or parts[0] == b"..":
        return "symlink_outside", f"points outside the tree: {text}"
    if any(part.lower() == b".git" for part in parts):
        return "symlink_outside", f"points into git's own folder: {text}"
    return "symlink", f"points to {text}"


def _weight(file: TouchedPath) -> Iterator[tuple[str, str]]:
    if not file.new_mode.startswith("100"):
        return
    size = "" if file.size is None else _size(file.size)
    if file.binary:
        yield "binary", f"a binary file{', ' if size else ''}{size}"
    if file.size is not None and file.size >= LARGE:
        yield "large", size


def _size(count: int) -> str:
    for unit, bytes_ in (("MiB", 1024 * 1024), ("KiB", 1024)):
        if count >= bytes_:
            return f"{count / bytes_:.1f} {unit}"
    return f"{count} bytes"


def _name(path: bytes) -> str:
    return os.path.basename(path).decode("utf-8", "replace")  # noqa: PTH119

"""What the page carries of the patches: a row for each file, and apart from it each file's hunks.

A change that several lanes made is carried once. The rows are read when the page opens, a file's
hunks when a person opens that file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct

from hydra.analysis.made_folders import folder_of, made_folders
from hydra.ranking.model import LaneVerdict
from hydra.report.html.harmless import code
from hydra.report.hunks import short_ids
from hydra.report.text import clean, quote

if TYPE_CHECKING:
    from hydra.landing.hunks import Hunk


_ENDINGS = {
    "bash": "sh bash zsh",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "css": "css",
    "go": "go",
    "ini": "ini toml cfg conf properties",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "json": "json jsonc",
    "kotlin": "kt kts",
    "makefile": "mk mak",
    "markdown": "md markdown",
    "php": "php",
    "python": "py pyi pyw",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "sql": "sql",
    "swift": "swift",
    "typescript": "ts tsx mts cts",
    "xml": "xml html htm svg xhtml vue",
    "yaml": "yml yaml",
}
_BY_ENDING = {ending: name for name, all_of in _ENDINGS.items() for ending in all_of.split()}
_BY_NAME = {"makefile": "makefile", "dockerfile": "dockerfile", "rakefile": "ruby"}


def language_of(path: str) -> str:
    """The grammar's name, or "" for none."""
    place = PurePosixPath(path.lower())
    return _BY_NAME.get(place.name) or _BY_ENDING.get(place.suffix[1:], "")


def languages_of(paths: Iterable[str]) -> list[str]:
    """All that these files need, once each."""
    return sorted({name for path in paths if (name := language_of(path))})


HUNK_LIMIT = 4_000_000
"""Bytes of one hunk that the page carries, in whole lines; the rest is counted."""
TOTAL_LIMIT = 48_000_000
"""Bytes of all hunks."""

Json = dict[str, object]


class PagePatch(Struct, frozen=True, kw_only=True):
    """One lane's patch in pieces; `moved` are (from, to); `problem` says why there are none."""

    lane: str
    hunks: Sequence[Hunk] = ()
    moved: Sequence[tuple[bytes, bytes]] = ()
    problem: str = ""


@dataclass(slots=True)
class _File:
    lanes: dict[int, list[object]] = field(default_factory=dict)
    moved: dict[int, bytes] = field(default_factory=dict)
    hunks: dict[str, Json] = field(default_factory=dict)


def carry(
    patches: Sequence[PagePatch], lanes: Sequence[LaneVerdict]
) -> tuple[list[Json], list[Json]]:
    """The rows of all files that any lane touches, by path, and each one's hunks.

    `lanes` are the verdict's, in the patches' order: they know what is binary or generated.
    """
    files: dict[bytes, _File] = {}
    budget = [TOTAL_LIMIT]
    for number, patch in enumerate(patches):
        shorts = short_ids(patch.hunks)
        for hunk in patch.hunks:
            file = files.setdefault(hunk.path, _File())
            _count(file.lanes.setdefault(number, [_status(hunk), 0, 0]), hunk)
            entry = file.hunks.get(hunk.id)
            if entry is None:
                entry = file.hunks[hunk.id] = _entry(hunk, budget)
            owners = entry["lanes"]
            assert isinstance(owners, list)
            owners.append([number, shorts[hunk.id]])
        for old, new in patch.moved:
            for content, other in ((old, new), (new, old)):
                if content in files:
                    files[content].moved[number] = other
    flags: dict[str, set[str]] = {}
    for row in (row for lane in lanes for row in lane.files):
        marks = {flag for flag in ("binary", "generated", "vendored") if getattr(row, flag)}
        flags.setdefault(clean(row.path), set()).update(marks)
    folders = _build_folders(files)
    paths = sorted(files)
    places = {path: at for at, path in enumerate(paths)}
    rows = [_row(path, files[path], flags, places, folders) for path in paths]
    return rows, [{"hunks": list(files[path].hunks.values())} for path in paths]


def _status(hunk: Hunk) -> str:
    if hunk.change.old is None:
        return "added"
    return "deleted" if hunk.change.new is None else "modified"


def _count(figures: list[object], hunk: Hunk) -> None:
    added, deleted = _figures(hunk)
    assert isinstance(figures[1], int)
    assert isinstance(figures[2], int)
    figures[1:] = [figures[1] + added, figures[2] + deleted]


def _figures(hunk: Hunk) -> tuple[int, int]:
    if hunk.kind != "whole":
        added = sum(len(edit.new) for edit in hunk.edits)
        return added, sum(len(edit.old) for edit in hunk.edits)
    body = b"\n" + hunk.body
    return body.count(b"\n+"), body.count(b"\n-")


def _entry(hunk: Hunk, budget: list[int]) -> Json:
    body, content = _within(hunk.body, min(HUNK_LIMIT, budget[0]))
    budget[0] -= len(body)
    entry: Json = {"kind": hunk.kind, "head": code(hunk.head), "lanes": []}
    if body:
        entry["body"] = code(os.fsdecode(body.removesuffix(b"\n")))
    if content:
        entry["left"] = [content.count(b"\n"), len(content)]
    return entry


def _within(body: bytes, limit: int) -> tuple[bytes, bytes]:
    if len(body) <= limit:
        return body, b""
    # Only a line may be cut that is by itself too long.
    end = body.rfind(b"\n", 0, limit) + 1
    end = end or limit
    return body[:end], body[end:]


def _build_folders(files: Mapping[bytes, _File]) -> Mapping[str, int]:
    """The folders that a build may have left."""
    return made_folders(
        {
            os.fsdecode(path): all(row[0] == "added" for row in file.lanes.values())
            for path, file in files.items()
        }
    )


def _row(
    path: bytes,
    file: _File,
    flags: Mapping[str, set[str]],
    places: Mapping[bytes, int],
    folders: Mapping[str, int],
) -> Json:
    name = os.fsdecode(path)
    shown = clean(name)
    row: Json = {"path": shown, "lanes": {str(n): list(f) for n, f in file.lanes.items()}}
    if (quoted := quote(name)) != shown:
        row["arg"] = quoted
    if language := language_of(shown):
        row["language"] = language
    moved = {str(n): places[other] for n, other in file.moved.items() if other in places}
    if moved:
        row["moved"] = moved
    row["flags"] = [*sorted(flags.get(shown, ())), *["made"] * bool(folder_of(name, folders))]
    return row

"""How far a patch reaches: what nobody else touched, what is gone, what no one wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from hydra.analysis.equivalence.overlap import alone
from hydra.analysis.generated import generated, vendored
from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.test_files import holds_tests

_NAMED = 3
"""Files that one sentence names; the rest are counted."""

_LONGEST = 120


def scope(lane: str, lanes: Mapping[str, Sequence[FileChange]]) -> tuple[Finding, ...]:
    """The remarks on how far a lane's patch reaches, held against the other lanes' patches.

    Kinds: `alone`, `deleted`, `generated` and `vendored`.
    """
    return tuple(_all(lane, lanes))


def _all(lane: str, lanes: Mapping[str, Sequence[FileChange]]) -> Iterator[Finding]:
    files = sorted(lanes.get(lane, ()), key=lambda file: file.path)
    only = alone(lanes).get(lane, ())
    if only:
        yield _finding("alone", f"is alone in touching {_names(only)}", only)
    if gone := _deleted(files):
        yield _finding("deleted", f"deletes {_names(gone)}", gone)
    names = [file.path for file in files if generated(file.path, file.new or file.old)]
    if names:
        yield _finding("generated", f"changes {_names(names, 'generated')}", names)
    others = [file.path for file in files if vendored(file.path)]
    if others:
        yield _finding("vendored", f"changes {_names(others, 'vendored')}", others)


def _deleted(files: Sequence[FileChange]) -> list[str]:
    """What is gone of code, data and documents, and has not moved: no new file has its name or its
    content. Of tests and of what nobody wrote others tell."""
    new = [file for file in files if not file.old_mode]
    moved = {PurePosixPath(file.path).name for file in new} | {file.new_oid for file in new} - {""}
    gone = (file for file in files if not (file.new_mode or holds_tests(file)))
    gone = (file for file in gone if not (vendored(file.path) or generated(file.path, file.old)))
    return [
        file.path
        for file in gone
        if moved.isdisjoint((PurePosixPath(file.path).name, file.old_oid))
    ]


def _finding(kind: str, text: str, paths: Sequence[str]) -> Finding:
    path = paths[0] if len(paths) == 1 else ""
    return Finding(kind=kind, weight="remark", text=text, path=path)


def _names(paths: Sequence[str], kind: str = "") -> str:
    """ "a.py", "2 generated files: a.py, b.py", "5 files: a.py, b.py, c.py and 2 more"."""
    text = ", ".join(path[:_LONGEST] for path in paths[:_NAMED])
    if len(paths) == 1:
        return f"a {kind} file: {text}" if kind else text
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{len(paths)} {kind}{' ' if kind else ''}files: {text}{more}"

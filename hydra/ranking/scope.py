"""How far a patch reaches: what nobody else touched, what no one wrote by hand, and its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from statistics import median

from hydra.analysis.equivalence.normalize import same
from hydra.analysis.equivalence.overlap import alone
from hydra.analysis.finding import Finding
from hydra.analysis.generated import generated, vendored
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.test_files import holds_tests

__all__ = ["generated", "scope", "vendored"]

_NAMED = 3
"""Files that one sentence names; the rest are counted."""

_LONGEST = 120

_FACTOR, _LEAST = 3.0, 50
"""How many times the others' lines, and how many lines, a patch has that is called large."""

_ROUGH = 100
"""Times from which a tenth more says nothing."""

_FACTOR_OF_ONE, _LEAST_OF_ONE = 10.0, 100
"""The same where there is only one other lane: two patches are no measure of each other."""


_MOST_READ = 512 * 1024
"""Characters of files that changed in form only; after so many the rest are not tried."""


def scope(lane: str, lanes: Mapping[str, Sequence[FileChange]]) -> tuple[Finding, ...]:
    """The remarks on how far a lane's patch reaches, held against the other lanes' patches.

    Kinds: `alone`, `deleted`, `generated`, `vendored`, `size`, `formatting` and `mode`.
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
    yield from _size(lane, lanes)
    form, all_read = _only_form(files)
    if form:
        what = "changes only layout, comments or the order of imports in"
        least = "" if all_read or len(form) == 1 else "at least "
        yield _finding("formatting", f"{what} {least}{_names(form)}", form)
    yield from _modes(files)


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


def _size(lane: str, lanes: Mapping[str, Sequence[FileChange]]) -> Iterator[Finding]:
    sizes = {name: _lines(files) for name, files in lanes.items() if files}
    own = sizes.pop(lane, None)
    others = [size for size in sizes.values() if size]
    if not own or not others:
        return
    usual = median(others)
    is_single = len(others) == 1
    factor = own / usual
    if factor < (_FACTOR_OF_ONE if is_single else _FACTOR):
        return
    if own < (_LEAST_OF_ONE if is_single else _LEAST):
        return
    whom = "the other lane" if is_single else f"the median of the {len(others)} other lanes"
    times = f"{factor:.1f}" if factor < _ROUGH else f"{factor:,.0f}"
    text = f"changes {own:,} lines, {times} times as many as {whom} ({usual:,.9g})"
    yield Finding(kind="size", weight="remark", text=text)


def _lines(files: Sequence[FileChange]) -> int | None:
    """Lines added and removed; None where no file has lines that were counted."""
    counted = [
        count for file in files for count in (file.insertions, file.deletions) if count is not None
    ]
    return sum(counted) if counted else None


def _only_form(files: Sequence[FileChange]) -> tuple[list[str], bool]:
    """The files that say after the patch what they said before, in another form; all of them?"""
    names: list[str] = []
    read = 0
    for file in files:
        old, new = file.old, file.new
        if not file.old_mode or not file.new_mode or old is None or new is None or old == new:
            continue
        if read > _MOST_READ:
            return names, False
        if same(file.path, old, new):
            names.append(file.path)
            read += len(old) + len(new)
    return names, True


def _modes(files: Sequence[FileChange]) -> Iterator[Finding]:
    changed = [
        file for file in files if file.old_mode and file.new_mode and file.old_mode != file.new_mode
    ]
    if not changed:
        return
    paths = [file.path for file in changed]
    how = {f"{file.old_mode} to {file.new_mode}" for file in changed}
    all_alike = f" ({how.pop()})" if len(how) == 1 else ""
    yield _finding("mode", f"changes the mode of {_names(paths)}{all_alike}", paths)

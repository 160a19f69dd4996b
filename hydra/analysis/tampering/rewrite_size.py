"""How much of the files that were there a patch replaces."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from hydra.analysis.finding import Finding
from hydra.analysis.notices.places import kind_of
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.languages.python.module import FAILURES, syntax_tree
from hydra.analysis.tampering.test_files import existed, exists
from hydra.text import plural

SMALLEST = 50
"""Lines from which a file is counted: a short one is soon rewritten."""

_SHARE = 0.5
_MOST = 512 * 1024
_FEW, _NEAR = 20, 200
"""New files that may have a line which tells where a file went, and those that are looked into."""


class _FileLoss(Struct, frozen=True):
    """One file: lines that it had, and how many of them are gone."""

    file: FileChange
    lines: int
    gone: int


def rewriting(files: Sequence[FileChange]) -> Iterator[Finding]:
    """One sentence on rewritten files, one on those whose form alone is changed, one on deleted
    files. Lock files are not counted; a file that lies elsewhere now is not deleted."""
    counted = [_counted(file) for file in files if _counts(file)]
    large = [
        loss
        for loss in counted
        if loss.lines >= SMALLEST and loss.gone > loss.lines * _SHARE and exists(loss.file)
    ]
    formal = [loss for loss in large if _formal(loss.file)]
    formal_paths = {loss.file.path for loss in formal}
    rewritten = [loss for loss in large if loss.file.path not in formal_paths]
    if formal:
        yield _finding(_form(formal), formal)
    if rewritten:
        yield _finding(_rewritten(rewritten, counted), rewritten)
    gone = [loss for loss in counted if not exists(loss.file)]
    new = _NewFiles(files) if gone else None
    deleted = [loss for loss in gone if new and not new.has(loss.file)]
    if sum(loss.lines for loss in deleted) >= SMALLEST * 2:
        names = wording.names([loss.file.path for loss in deleted])
        lines = plural(sum(loss.lines for loss in deleted), "line")
        text = f"deletes {plural(len(deleted), 'file')} with {lines} ({names})"
        yield _finding(text, deleted)


def _counts(file: FileChange) -> bool:
    if file.binary or file.old is None or not existed(file):
        return False
    return kind_of(file.path.encode("utf-8", "surrogateescape")) != "lock_file"


def _counted(file: FileChange) -> _FileLoss:
    old = (file.old or "").count("\n") + (not (file.old or "\n").endswith("\n"))
    gone = file.deletions
    if gone is None:
        names = set((file.new or "").split("\n"))
        gone = sum(line not in names for line in (file.old or "").split("\n"))
    return _FileLoss(file, old, min(gone, old))


def _rewritten(many: Sequence[_FileLoss], counted: Sequence[_FileLoss]) -> str:
    gone, lines = sum(loss.gone for loss in many), sum(loss.lines for loss in many)
    amount = f"{gone:,} of {lines:,} lines"
    if len(many) == 1:
        path = many[0].file.path
        whole = gone > lines * 0.9
        return f"rewrites {path} {'nearly whole ' if whole else ''}({amount})"
    whole = gone > lines * 0.9
    names = wording.names([loss.file.path for loss in many])
    how = "nearly whole" if whole else "by more than half"
    touched = sum(loss.lines for loss in counted)
    share = sum(loss.gone for loss in counted)
    rest = ""
    if len(counted) > len(many) and share > touched * _SHARE:
        rest = f"; of all {len(counted):,} files that it changes, {share:,} of {touched:,} lines"
    return f"rewrites {len(many):,} files {how} ({amount}): {names}{rest}"


def _form(many: Sequence[_FileLoss]) -> str:
    ends = all(
        (loss.file.old or "").replace("\r\n", "\n") == (loss.file.new or "").replace("\r\n", "\n")
        for loss in many
    )
    what = "line endings" if ends else "formatting"
    names = wording.names([loss.file.path for loss in many])
    return f"changes only {what} of {plural(len(many), 'file')} ({names})"


def _formal(file: FileChange) -> bool:
    """Whether nothing but spaces, line endings or the way of writing differs."""
    old, new = file.old or "", file.new
    if new is None or len(old) > _MOST or len(new) > _MOST:
        return new is not None and old.replace("\r\n", "\n") == new.replace("\r\n", "\n")
    if "".join(old.split()) == "".join(new.split()):
        return True
    if not file.path.endswith(".py"):
        return False
    try:
        return ast.dump(syntax_tree(old)) == ast.dump(syntax_tree(new))
    except FAILURES:
        return False


class _NewFiles:
    """The files that a patch adds, by their content and by their lines."""

    def __init__(self, files: Sequence[FileChange]) -> None:
        self._files = [file for file in files if not existed(file) and file.new is not None]
        self._texts = {file.new for file in self._files}
        self._oids = {file.new_oid for file in self._files}
        self._lines = [_lines(file.new) for file in self._files]
        self._having = defaultdict[str, list[int]](list)
        for number, lines in enumerate(self._lines):
            for line in lines:
                self._having[line].append(number)

    def has(self, file: FileChange) -> bool:
        """Whether the same content, or most of it, is a new file elsewhere."""
        if file.old in self._texts or (file.old_oid and file.old_oid in self._oids):
            return True
        lines = _lines(file.old)
        return any(
            len(lines & self._lines[number]) > len(lines) * _SHARE
            for number in self._near(lines)
            if _alike(self._files[number].path, file.path)
        )

    def _near(self, lines: Collection[str]) -> Iterator[int]:
        """Those that have a line of these which few have; one that has most of them has such a
        line, unless they are nothing but what all have."""
        rows = [self._having[line] for line in lines if line in self._having]
        least = min(map(len, rows), default=0)
        few = (number for row in rows if len(row) <= max(_FEW, least) for number in row[:_FEW])
        return islice(dict.fromkeys(few), _NEAR)


def _lines(text: str | None) -> set[str]:
    return {line for line in (text or "").split("\n") if line.strip()}


def _alike(path: str, other: str) -> bool:
    same = path.rpartition("/")[2] == other.rpartition("/")[2]
    return same or _ending(path) == _ending(other)


def _ending(path: str) -> str:
    return path.rpartition(".")[2]


def _finding(text: str, many: Sequence[_FileLoss]) -> Finding:
    return Finding(kind="rewrite", weight="remark", text=text, path=many[0].file.path)

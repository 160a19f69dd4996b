"""How much of the files that were there a patch replaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hydra.analysis.equivalence.groups import same
from hydra.analysis.notices.places import kind_of
from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.test_files import existed, exists
from hydra.text import plural

SMALLEST = 50
"""Lines from which a file is counted: a short one is soon rewritten."""

_SHARE = 0.5


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
    formal = [loss for loss in large if _is_form(loss.file)]
    if formal:
        yield _finding(_form(formal), formal)
    if rewritten := [loss for loss in large if loss not in formal]:
        yield _finding(_rewritten(rewritten), rewritten)
    came = _Arrivals(files)
    deleted = [loss for loss in counted if not exists(loss.file) and not came.have(loss.file)]
    if sum(loss.lines for loss in deleted) >= SMALLEST * 2:
        lines = plural(sum(loss.lines for loss in deleted), "line")
        yield _finding(
            f"deletes {plural(deleted, 'file')} with {lines} ({_names(deleted)})", deleted
        )


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


def _rewritten(many: Sequence[_FileLoss]) -> str:
    gone, lines = sum(loss.gone for loss in many), sum(loss.lines for loss in many)
    amount, whole = f"({gone:,} of {lines:,} lines)", gone > lines * 0.9
    if len(many) == 1:
        return f"rewrites {many[0].file.path} {'nearly whole ' if whole else ''}{amount}"
    how = "nearly whole" if whole else "by more than half"
    return f"rewrites {len(many):,} files {how} {amount}: {_names(many)}"


def _form(many: Sequence[_FileLoss]) -> str:
    ends = all(
        (loss.file.old or "").replace("\r\n", "\n") == (loss.file.new or "").replace("\r\n", "\n")
        for loss in many
    )
    what = "line endings" if ends else "formatting"
    return f"changes only {what} of {plural(many, 'file')} ({_names(many)})"


def _is_form(file: FileChange) -> bool:
    """Whether nothing but spaces, line endings or the way of writing differs."""
    old, new = file.old or "", file.new or ""
    return "".join(old.split()) == "".join(new.split()) or same(file.path, old, new)


class _Arrivals:
    """What a patch adds: the contents of new files, and all lines of them."""

    def __init__(self, files: Sequence[FileChange]) -> None:
        new = [file for file in files if not existed(file) and file.new is not None]
        self._oids = {file.new_oid for file in new} - {""}
        self._lines = {line for file in new for line in (file.new or "").split("\n")}

    def have(self, file: FileChange) -> bool:
        """Whether the same content, or most of its lines, stand in new files."""
        lines = {line for line in (file.old or "").split("\n") if line.strip()}
        return file.old_oid in self._oids or len(lines & self._lines) > len(lines) * _SHARE


def _names(many: Sequence[_FileLoss]) -> str:
    return wording.names([loss.file.path for loss in many])


def _finding(text: str, many: Sequence[_FileLoss]) -> Finding:
    return Finding(kind="rewrite", weight="remark", text=text, path=many[0].file.path)

"""How much of the files that were there a patch replaces."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hydra.judge.evidence import FileChange
from hydra.judge.finding import Finding
from hydra.judge.tampering import words
from hydra.judge.tampering.languages.python.module import FAILURES, syntax_tree
from hydra.judge.tampering.places import existed, exists
from hydra.judge.words import number_of
from hydra.remarks.places import kind_of

SMALLEST = 50
"""Lines from which a file is counted: a short one is soon rewritten."""

_SHARE = 0.5
_MOST = 512 * 1024


@dataclass(frozen=True, slots=True)
class _Counted:
    """One file: lines that it had, and how many of them are gone."""

    file: FileChange
    lines: int
    gone: int


def rewriting(files: Sequence[FileChange]) -> Iterator[Finding]:
    """One sentence on rewritten files, one on those whose form alone is changed, one on deleted
    files. Lock files are not counted; a file that lies elsewhere now is not deleted."""
    counted = [_counted(file) for file in files if _counts(file)]
    large = [
        one
        for one in counted
        if one.lines >= SMALLEST and one.gone > one.lines * _SHARE and exists(one.file)
    ]
    formal = [one for one in large if _formal(one.file)]
    formal_paths = {one.file.path for one in formal}
    rewritten = [one for one in large if one.file.path not in formal_paths]
    if formal:
        yield _finding(_form(formal), formal)
    if rewritten:
        yield _finding(_rewritten(rewritten, counted), rewritten)
    deleted = [one for one in counted if not exists(one.file) and not _moved(one.file, files)]
    if sum(one.lines for one in deleted) >= SMALLEST * 2:
        names = words.names([one.file.path for one in deleted])
        lines = number_of(sum(one.lines for one in deleted), "line")
        text = f"deletes {number_of(len(deleted), 'file')} with {lines} ({names})"
        yield _finding(text, deleted)


def _counts(file: FileChange) -> bool:
    if file.binary or file.old is None or not existed(file):
        return False
    return kind_of(file.path.encode("utf-8", "surrogateescape")) != "lock_file"


def _counted(file: FileChange) -> _Counted:
    old = (file.old or "").count("\n") + (not (file.old or "\n").endswith("\n"))
    gone = file.deletions
    if gone is None:
        there = set((file.new or "").split("\n"))
        gone = sum(line not in there for line in (file.old or "").split("\n"))
    return _Counted(file, old, min(gone, old))


def _rewritten(many: Sequence[_Counted], counted: Sequence[_Counted]) -> str:
    gone, lines = sum(one.gone for one in many), sum(one.lines for one in many)
    amount = f"{gone:,} of {lines:,} lines"
    if len(many) == 1:
        path = many[0].file.path
        whole = gone > lines * 0.9
        return f"rewrites {path} {'nearly whole ' if whole else ''}({amount})"
    whole = gone > lines * 0.9
    names = words.names([one.file.path for one in many])
    how = "nearly whole" if whole else "by more than half"
    touched = sum(one.lines for one in counted)
    share = sum(one.gone for one in counted)
    rest = ""
    if len(counted) > len(many) and share > touched * _SHARE:
        rest = f"; of all {len(counted):,} files that it changes, {share:,} of {touched:,} lines"
    return f"rewrites {len(many):,} files {how} ({amount}): {names}{rest}"


def _form(many: Sequence[_Counted]) -> str:
    ends = all(
        (one.file.old or "").replace("\r\n", "\n") == (one.file.new or "").replace("\r\n", "\n")
        for one in many
    )
    what = "line endings" if ends else "formatting"
    names = words.names([one.file.path for one in many])
    return f"changes only {what} of {number_of(len(many), 'file')} ({names})"


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


def _moved(file: FileChange, files: Sequence[FileChange]) -> bool:
    """Whether the same content, or most of it, is a new file elsewhere."""
    lines = {line for line in (file.old or "").split("\n") if line.strip()}
    for other in files:
        if existed(other) or other.new is None:
            continue
        if other.new == file.old or (file.old_oid and other.new_oid == file.old_oid):
            return True
        if other.path.rpartition("/")[2] == file.path.rpartition("/")[2] or _ending(
            other.path
        ) == _ending(file.path):
            there = {line for line in other.new.split("\n") if line.strip()}
            if len(lines & there) > len(lines) * _SHARE:
                return True
    return False


def _ending(path: str) -> str:
    return path.rpartition(".")[2]


def _finding(text: str, many: Sequence[_Counted]) -> Finding:
    return Finding(kind="rewrite", weight="remark", text=text, path=many[0].file.path)

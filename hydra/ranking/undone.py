"""What a patch takes back of the base's last commits."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from pathlib import PurePosixPath

from msgspec import Struct

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.inline_tests import without_tests
from hydra.analysis.tampering.named_data import is_document
from hydra.analysis.tampering.test_files import exists, is_tests
from hydra.git.commits import ChangedLines
from hydra.ranking.evidence import EarlierCommit, Evidence
from hydra.ranking.model import Reason
from hydra.text import NAMED, join_names

_SUBJECT = 60

_LEAST = 2
"""Lines, removed and added, of which it is no chance that they are a commit's."""

_TERM = re.compile(rb"[\w\x80-\xff]+")
_EMPTY = frozenset(b"begin done do else endif end esac fi pass then".split())
"""Words that say nothing alone in a line."""


def undone(files: Sequence[FileChange], evidence: Evidence) -> Iterator[Finding]:
    """A remark for each commit that a patch takes back, whole or in some files."""
    return _findings(_Comparison(files, evidence))


def undoing(files: Sequence[FileChange], evidence: Evidence) -> Reason | None:
    """That is the user's to decide where the patch has other code as well; where it has none,
    taking back is all that it does, and may be the very mend."""
    comparison = _Comparison(files, evidence)
    hits = [*_findings(comparison)]
    if not hits or not comparison.has_more():
        return None
    more = f" (and {len(hits) - 1} more)" if len(hits) > 1 else ""
    return Reason(kind="decision", text=f"{hits[0].text}{more}", path=hits[0].path)


def _findings(comparison: _Comparison) -> Iterator[Finding]:
    for commit, backs in comparison.backs:
        paths = [back.path for back in backs]
        is_whole = len(paths) == len(commit.files) and all(back.is_whole for back in backs)
        part = "" if is_whole else f" in {join_names(paths, NAMED)}"
        text = f"undoes {commit.oid[:7]}{part}: {commit.subject[:_SUBJECT].strip()}"
        yield Finding(kind="undoes", weight="remark", text=text, path=paths[0])


class _Back(Struct, frozen=True):
    """What is taken back of a commit in one file: by these hunks of the patch, or, without any, by
    all that it does to the file."""

    path: str
    is_whole: bool = True
    hunks: frozenset[ChangedLines] = frozenset()


@dataclass(frozen=True)
class _Comparison:
    """A patch, held against the base's history."""

    files: Sequence[FileChange]
    evidence: Evidence

    @cached_property
    def backs(self) -> Sequence[tuple[EarlierCommit, Sequence[_Back]]]:
        """Of each commit, the newest first, what is taken back, if anything is. A file that is
        again as it was before one takes no older one back."""
        own = {file.path: file for file in self.files}
        names: dict[str, str] = {}  # of the base, by those that its files had before
        later = defaultdict[str, list[_Shift]](list)
        rows = []
        for commit in self.evidence.history:
            moves = self._moves(commit)
            files = {names.get(file.path, file.path): file for file in commit.files}
            backs, moved = [], dict[str, str]()
            for name, file in files.items():
                if mine := own.get(name):
                    source = moves.get(file.path, file)
                    hunks = self._hunks(source.old_oid, file.new_oid)
                    restored = None if source is file else own.get(source.path)
                    if restored and restored.new_oid == source.old_oid:
                        is_back = not exists(mine)
                    else:
                        is_back = self._is_as_before(mine, source.old_oid)
                        is_back = is_back and self._stood(mine, hunks)
                    if is_back:
                        backs.append(_Back(name))
                    elif same := self._reversed(mine, hunks, later[name]):
                        backs.append(_Back(name, len(same) == len(hunks), frozenset(same)))
            for back in backs:
                if not back.hunks:
                    del own[back.path]
            for name, file in files.items():
                source = moves.get(file.path, file)
                if name in own:
                    later[name].append(_Shift(self._hunks(source.old_oid, file.new_oid)))
                if source is not file:
                    moved[source.path] = name
            names |= moved
            if backs:
                rows.append((commit, backs))
        return rows

    def has_more(self) -> bool:
        """Whether the patch has code beside what it takes back."""
        whole, hunks = set[str](), set[tuple[str, ChangedLines]]()
        for back in (back for _, backs in self.backs for back in backs):
            whole |= set() if back.hunks else {back.path}
            hunks |= {(back.path, hunk) for hunk in back.hunks}
        for file in self.files:
            if is_tests(file.path) or is_document(file.path) or file.path in whole:
                continue
            row = self._hunks(file.old_oid, file.new_oid)
            rest = [hunk for hunk in row if not _is_of_tests(file, hunk)]
            if not row or {(file.path, hunk) for hunk in rest} - hunks:
                return True
        return False

    def _hunks(self, old: str, new: str) -> Sequence[ChangedLines]:
        return self.evidence.hunks.get((old, new), ())

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        """By objects those that they came of."""
        sources = defaultdict[str, list[str]](list)
        for old, new in self.evidence.hunks:
            sources[new].append(old)
        return sources

    def _moves(self, commit: EarlierCommit) -> dict[str, FileChange]:
        """By the names that a commit gave to files, those files as they were."""
        gone = {file.old_oid: file for file in commit.files if not exists(file)}
        moves = {}
        for file in commit.files if gone else ():
            sources = (file.new_oid, *self._sources.get(file.new_oid, ()))
            source = next((oid for oid in sources if oid in gone), None)
            if source is not None and not file.old_mode:
                moves[file.path] = gone.pop(source)
        return moves

    def _is_as_before(self, mine: FileChange, oid: str) -> bool:
        """Whether a file is again what it was, by other content than the base's. One that is gone
        is not where the task names it, or where its lines are elsewhere."""
        if mine.new_oid != oid or mine.old_oid == oid:
            return False
        return exists(mine) or not (self._is_asked(mine.path) or self._is_moved(mine))

    def _stood(self, mine: FileChange, hunks: Sequence[ChangedLines]) -> bool:
        """Whether any of a commit's lines was taken back: not where a later one had done so."""
        telling = [(_telling(hunk.removed), _telling(hunk.added)) for hunk in hunks]
        if mine.old is None or mine.new is None or not any(map(any, telling)):
            return True
        old, new = ({*_telling(_lines(text))} for text in (mine.old, mine.new))
        gone, back = old - new, new - old
        return any(back.intersection(cut) or gone.intersection(put) for cut, put in telling)

    def _is_moved(self, mine: FileChange) -> bool:
        lines = _telling(_lines(mine.old))
        same = any(file.new_oid == mine.old_oid for file in self.files)
        return same or (bool(lines) and self._stay(lines))

    def _is_asked(self, path: str) -> bool:
        """Whether the task names a file, by its name, with its folders, or one of these."""
        folders = (f"{folder}/" for folder in PurePosixPath(path).parents if folder.name)
        names = "|".join(map(re.escape, (path, PurePosixPath(path).name, *folders)))
        pattern = rf"(?<![\w/.-])(?:\./)?(?:{names})(?!\.?[\w/-])"
        return re.search(pattern, self.evidence.task) is not None

    def _reversed(
        self, mine: FileChange, hunks: Sequence[ChangedLines], later: Sequence[_Shift]
    ) -> list[ChangedLines]:
        """The hunks of a file that are the way back of a commit's, in their places."""
        own = defaultdict[_Lines, list[ChangedLines]](list)
        for hunk in self._hunks(mine.old_oid, mine.new_oid) if hunks and exists(mine) else ():
            own[_telling(hunk.removed), _telling(hunk.added)].append(hunk)
        same, count = [], 0
        for hunk in hunks:
            removed, added = lines = _telling(hunk.added), _telling(hunk.removed)
            back = _near(own[lines], hunk, later) if lines in own else None
            if back and (added or not removed or not self._stay(removed)):
                same.append(back)
                count += len(removed) + len(added)
        return same if count >= _LEAST else []

    def _stay(self, lines: Sequence[bytes]) -> bool:
        """Whether half of these lines or more are still there, wherever the patch has put them."""
        return 2 * (Counter(lines) & self._lost).total() <= len(lines)

    @cached_property
    def _lost(self) -> Counter[bytes]:
        """The lines that no file of the patch has any more."""
        old, new = (
            Counter(line for text in texts for line in _telling(_lines(text)))
            for texts in zip(*((file.old, file.new) for file in self.files), strict=True)
        )
        return old - new


_Lines = tuple[Sequence[bytes], Sequence[bytes]]
"""That were removed, and added."""


def _lines(text: str | None) -> list[bytes]:
    return (text or "").encode().split(b"\n")


def _telling(lines: Iterable[bytes]) -> tuple[bytes, ...]:
    """Without those that are blank, or have nothing but signs or such a word."""
    return tuple(line.strip() for line in lines if {*_TERM.findall(line, 0, 999)} - _EMPTY)


def _is_of_tests(file: FileChange, hunk: ChangedLines) -> bool:
    """Whether it changes nothing but tests that lie in code."""
    sides = ((file.old or "", hunk.removed), (file.new or "", hunk.added))
    return all(
        {*_telling(_lines(text))} - {*_telling(_lines(without_tests(file.path, text)))}
        >= {*_telling(changed)}
        for text, changed in sides
    )


class _Shift:
    """How far a commit has moved the lines of a file."""

    def __init__(self, hunks: Sequence[ChangedLines]) -> None:
        self._starts = [hunk.old_at for hunk in hunks]
        self._ends = [hunk.old_at + len(hunk.removed) for hunk in hunks]
        moved = (len(hunk.added) - len(hunk.removed) for hunk in hunks)
        self._sums = [*accumulate(moved, initial=0)]

    def of(self, start: int, end: int) -> int | None:
        """By how many lines those from `start` to before `end`; None where it changed some."""
        before = bisect_right(self._ends, start)
        return None if bisect_left(self._starts, end) > before else self._sums[before]


def _near(
    backs: Sequence[ChangedLines], hunk: ChangedLines, later: Sequence[_Shift]
) -> ChangedLines | None:
    """The one that stands where a commit has left its lines, and none of the `later` ones, the
    newest first, has changed them. git may begin a hunk at any of several lines that are alike."""
    at, count = hunk.new_at, len(hunk.added)
    for shift in reversed(later):
        lines = shift.of(at, at + count)
        if lines is None:
            return None
        at += lines
    reach = count + len(hunk.removed)
    first = bisect_left(backs, at, key=attrgetter("old_at"))
    near = backs[max(first - 1, 0) : first + 1]
    back = min(near, key=lambda back: abs(back.old_at - at))
    return back if abs(back.old_at - at) <= reach else None

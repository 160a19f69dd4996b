"""The trees that trials run on: a patch with files put back, or with another's tests brought."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.inline_tests import put_back, with_tests
from hydra.analysis.tampering.renames import new_names, with_new_names
from hydra.analysis.tampering.restore import restored
from hydra.analysis.tampering.test_files import supports_tests
from hydra.checks.context import CheckContext
from hydra.checks.cross.canary import candidates, with_canaries
from hydra.checks.cross.plan import TrialJob
from hydra.checks.cross.record import TrialSubject
from hydra.checks.round import label
from hydra.git.contents import files as listed_files
from hydra.git.contents import sizes, trees
from hydra.git.diff import (
    TreeChange,
    TreeEntry,
    changes,
    kinds_at,
    read_blob,
    tree_with,
    write_blob,
)
from hydra.git.patches import commit_tree
from hydra.paths import make_private

_LARGEST = 2 * 1024**2
"""Bytes of a file of settings that is put back in part; a larger one is put back whole."""

_MOST_READ = 20
"""Files of tests that are looked at for one to which tests can be added."""

_MESSAGE = "tried by Hydra, and no patch of anybody's\n"


class NoSuchTree(Exception):
    """There is no such tree; says why, in a clause."""


class Trees:
    """Makes them in the run's patches.git. Nothing is checked out and no ref is set; each method
    blocks."""

    def __init__(
        self, context: CheckContext, base: str, subjects: Mapping[str, TrialSubject]
    ) -> None:
        self._context = context
        self._patches = context.patches
        self._base = base
        self._subjects = subjects
        self._rows: dict[str, dict[_Key, TreeChange]] = {}
        self._canaries: dict[str, tuple[bytes, TreeEntry]] = {}
        self._names: dict[str, dict[str, str]] = {}
        self.token = f"t{secrets.token_hex(5)}"

    def of(self, commit: str) -> str:
        """A commit's tree. Raises `GitFailed`."""
        return trees(self._patches, [commit])[0]

    def make(self, job: TrialJob) -> tuple[str, str]:
        """(commit, tree) of what `job` is to be run on.

        Raises `NoSuchTree`, `GitFailed`, `OSError`.
        """
        onto = self._commit_of(job.on)
        if job.kind == "protected":
            entries = dict(self._put_back(job))
        else:
            settings = {setting.path: self._restored(setting) for setting in self._settings(job)}
            canary = job.kind == "canary"
            entries = settings | (self._canary(job.language) if canary else self._brought(job))
        if names := self._new_names(job.on):
            entries = {path: self._renamed(path, entry, names) for path, entry in entries.items()}
        with self._scratch() as scratch:
            tree = tree_with(self._patches, onto, entries, Path(scratch))
        return commit_tree(self._patches, tree=tree, base=self._base, message=_MESSAGE), tree

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        # Among the grounds: there it is swept where Hydra is killed.
        name = label(self._context, "_trial-tree-")
        path = self._context.workspace_folder(name).parent
        make_private(path)
        return tempfile.TemporaryDirectory(prefix=name, dir=path)

    def _commit_of(self, lane: str) -> str:
        return self._subjects[lane].commit if lane else self._base

    def _changes(self, lane: str, files: Sequence[FileChange]) -> Iterator[TreeChange]:
        """The files with their names as git has them, byte for byte."""
        mapping = self._changed(lane)
        return (mapping[key] for file in files if (key := _key(file)) in mapping)

    def _changed(self, lane: str) -> dict[_Key, TreeChange]:
        if lane not in self._rows:
            tree_changes = changes(self._patches, self._base, self._commit_of(lane))
            self._rows[lane] = {_key_of(change): change for change in tree_changes}
        return self._rows[lane]

    def _put_back(self, job: TrialJob) -> Iterator[tuple[bytes, TreeEntry | None]]:
        inline = {_key(file): file for file in job.tests if not supports_tests(file)}
        for change in self._changes(job.on, job.tests):
            file = inline.get(_key_of(change))
            file = self._exact(file, change) if file else None
            text = put_back(file, self._subjects[job.on].files) if file else None
            if text is None or change.new is None:
                yield change.path, change.old
            else:
                yield change.path, self._written(change.new.mode, text)
        for change in self._settings(job):
            yield change.path, self._restored(change)

    def _exact(self, file: FileChange, change: TreeChange) -> FileChange:
        """With texts of which each byte is known, also where they are no UTF-8."""
        if file.old is None or file.new is None or change.old is None or change.new is None:
            return file
        old, new = (read_blob(self._patches, e.oid) for e in (change.old, change.new))
        pair = (data.decode("utf-8", "surrogateescape") for data in (old, new))
        return replace(file, old=next(pair), new=next(pair))

    def _settings(self, job: TrialJob) -> Iterator[TreeChange]:
        return self._changes(job.on, job.settings)

    def _restored(self, change: TreeChange) -> TreeEntry | None:
        """A file of settings as on the base, as far as it is about tests."""
        old, new = self._text(change.old), self._text(change.new)
        unread = (change.old is not None and old is None) or new is None
        if change.new is None or unread:
            return change.old
        text = restored(change.path.decode("utf-8", "backslashreplace"), old, new)
        if text is None:
            return None
        if text == old:
            return change.old
        return self._written(change.new.mode, text)

    def _new_names(self, lane: str) -> dict[str, str]:
        """What a lane's code calls otherwise than the base's, whose tests are to ask for it."""
        if lane not in self._names:
            self._names[lane] = new_names(self._subjects[lane].files) if lane else {}
        return self._names[lane]

    def _renamed(
        self, path: bytes, entry: TreeEntry | None, names: Mapping[str, str]
    ) -> TreeEntry | None:
        text = self._text(entry)
        if entry is None or text is None:
            return entry
        renamed = with_new_names(path.decode("utf-8", "backslashreplace"), text, names)
        return entry if renamed == text else self._written(entry.mode, renamed)

    def _written(self, mode: str, text: str) -> TreeEntry:
        return TreeEntry(mode, write_blob(self._patches, text.encode("utf-8", "surrogateescape")))

    def _text(self, entry: TreeEntry | None) -> str | None:
        if entry is None or not entry.mode.startswith("100"):
            return None
        if sizes(self._patches, [entry.oid]).get(entry.oid, _LARGEST + 1) > _LARGEST:
            return None
        try:
            return read_blob(self._patches, entry.oid).decode()
        except UnicodeDecodeError:
            return None

    def _canary(self, language: str) -> dict[bytes, TreeEntry | None]:
        """A file of the base's tests with tests that must fail; one for each language."""
        if language not in self._canaries:
            path, text = self._with_canaries(language)
            self._canaries[language] = path, self._written("100644", text)
        path, entry = self._canaries[language]
        return {path: entry}

    def added(self, job: TrialJob) -> tuple[str, ...]:
        """The file that a canary's tests were put into, once it was tried."""
        path, _ = self._canaries.get(job.language, (b"", None))
        return (path.decode("utf-8", "backslashreplace"),) if path else ()

    def _with_canaries(self, language: str) -> tuple[bytes, str]:
        files = {name.decode("utf-8", "backslashreplace"): name for name in self._listing}
        near = [file.path for subject in self._subjects.values() for file in subject.files]
        for path in candidates(files, language, near)[:_MOST_READ]:
            text = self._text(TreeEntry("100644", self._listing[files[path]])) or ""
            if canaries := with_canaries(path, text, self.token):
                return files[path], canaries
        raise NoSuchTree(f"the base has no test in {language.title()} to add one to")

    @cached_property
    def _listing(self) -> dict[bytes, str]:
        return listed_files(self._patches, self._base)

    def _brought(self, job: TrialJob) -> dict[bytes, TreeEntry | None]:
        """The author's files; no link, which could lead anywhere, and no submodule. Of a file of
        code its tests alone."""
        inline = {_key(file) for file in job.tests if not supports_tests(file)}
        entries: dict[bytes, TreeEntry | None] = {}
        for change in self._changes(job.author, job.tests):
            if change.new and change.new.mode.startswith("100"):
                in_code = _key_of(change) in inline
                entry = self._with_tests(job.on, change) if in_code else change.new
                entries |= {change.path: entry} if entry else {}
        if not entries:
            why = "have no place there" if inline else "are no plain files"
            raise NoSuchTree(f"its new tests {why}")
        values = kinds_at(self._patches, self._commit_of(job.on), _places(entries))
        for path in entries:
            for above in _above(path):
                if values.get(above, "tree") != "tree":
                    raise _taken(path, above, "it is no folder there")
            if values.get(path) in ("tree", "commit"):
                raise _taken(path, path, "it is no file there")
        return entries

    def _with_tests(self, on: str, change: TreeChange) -> TreeEntry | None:
        """A file of code as it is there, with the author's tests; None where they change
        nothing."""
        rows = self._changed(on).values() if on else ()
        onto = next((row.new for row in rows if row.path == change.path), change.old)
        if change.new is None or onto is None or not onto.mode.startswith("100"):
            return None
        text, own = (
            read_blob(self._patches, entry.oid).decode("utf-8", "surrogateescape")
            for entry in (onto, change.new)
        )
        name = change.path.decode("utf-8", "backslashreplace")
        brought = with_tests(name, text, own)
        return self._written(onto.mode, brought) if brought != text else None


_Key = tuple[str, str, str]


def _key(file: FileChange) -> _Key:
    return file.path, file.old_oid, file.new_oid


def _key_of(change: TreeChange) -> _Key:
    # As the judge's records have names: two of other bytes may look alike.
    name = change.path.decode("utf-8", "backslashreplace")
    return name, change.old.oid if change.old else "", change.new.oid if change.new else ""


def _places(paths: Mapping[bytes, object]) -> frozenset[bytes]:
    return frozenset(place for path in paths for place in (path, *_above(path)))


def _above(path: bytes) -> Iterator[bytes]:
    at = path.find(b"/")
    while at > 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def _taken(path: bytes, place: bytes, how: str) -> NoSuchTree:
    named, taken = (content.decode("utf-8", "backslashreplace")[-200:] for content in (path, place))
    where = "" if named == taken else f" in {taken}"
    return NoSuchTree(f"{named} has no place{where}: {how}")

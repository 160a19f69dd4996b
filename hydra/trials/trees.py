"""The trees that trials run on: a patch with files put back, or with another's tests brought."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from hydra.checks.kit import Kit
from hydra.checks.round import label
from hydra.git.changes import Change, Entry, changes, kinds_at, read_blob, tree_with, write_blob
from hydra.git.contents import files as listed_files
from hydra.git.contents import sizes, trees
from hydra.git.patches import commit_tree
from hydra.judge.evidence import FileChange
from hydra.judge.tampering import restored
from hydra.paths import make_private
from hydra.trials.canary import candidates, with_canaries
from hydra.trials.planning import Job
from hydra.trials.record import Subject

_LARGEST = 2 * 1024**2
"""Bytes of a file of settings that is put back in part; a larger one is put back whole."""

_MOST_READ = 20
"""Files of tests that are looked at for one to which tests can be added."""

_MESSAGE = "tried by Hydra, and no patch of anybody's\n"


class CannotBeMade(Exception):
    """There is no such tree; says why, in a clause."""


class Trees:
    """Makes them in the run's patches.git. Nothing is checked out and no ref is set; each method
    blocks."""

    def __init__(self, kit: Kit, base: str, subjects: Mapping[str, Subject]) -> None:
        self._kit = kit
        self._patches = kit.patches
        self._base = base
        self._subjects = subjects
        self._known: dict[str, dict[_Key, Change]] = {}
        self._canaries: dict[str, tuple[bytes, Entry]] = {}
        self.token = f"t{secrets.token_hex(5)}"

    def of(self, commit: str) -> str:
        """A commit's tree. Raises `GitFailed`."""
        return trees(self._patches, [commit])[0]

    def make(self, job: Job) -> tuple[str, str]:
        """(commit, tree) of what `job` is to be run on.

        Raises `CannotBeMade`, `GitFailed`, `OSError`.
        """
        onto = self._commit_of(job.on)
        if job.kind == "protected":
            entries = dict(self._put_back(job))
        else:
            settings = {it.path: self._restored(it) for it in self._settings(job)}
            canary = job.kind == "canary"
            entries = settings | (self._canary(job.language) if canary else self._brought(job))
        with self._scratch() as scratch:
            tree = tree_with(self._patches, onto, entries, Path(scratch))
        return commit_tree(self._patches, tree=tree, base=self._base, message=_MESSAGE), tree

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        # Among the grounds: there it is swept where Hydra is killed.
        name = label(self._kit, "_trial-tree-")
        grounds = self._kit.ground(name).parent
        make_private(grounds)
        return tempfile.TemporaryDirectory(prefix=name, dir=grounds)

    def _commit_of(self, lane: str) -> str:
        return self._subjects[lane].commit if lane else self._base

    def _changes(self, lane: str, files: Sequence[FileChange]) -> Iterator[Change]:
        """The files with their names as git has them, byte for byte."""
        if lane not in self._known:
            found = changes(self._patches, self._base, self._commit_of(lane))
            self._known[lane] = {_key_of(change): change for change in found}
        held = self._known[lane]
        return (held[key] for file in files if (key := _key(file)) in held)

    def _put_back(self, job: Job) -> Iterator[tuple[bytes, Entry | None]]:
        for change in self._changes(job.on, (*job.tests, *job.without)):
            yield change.path, change.old
        for change in self._settings(job):
            yield change.path, self._restored(change)

    def _settings(self, job: Job) -> Iterator[Change]:
        return self._changes(job.on, job.settings)

    def _restored(self, change: Change) -> Entry | None:
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
        oid = write_blob(self._patches, text.encode("utf-8", "surrogatepass"))
        return Entry(change.new.mode, oid)

    def _text(self, entry: Entry | None) -> str | None:
        if entry is None or not entry.mode.startswith("100"):
            return None
        if sizes(self._patches, [entry.oid]).get(entry.oid, _LARGEST + 1) > _LARGEST:
            return None
        try:
            return read_blob(self._patches, entry.oid).decode()
        except UnicodeDecodeError:
            return None

    def _canary(self, language: str) -> dict[bytes, Entry | None]:
        """A file of the base's tests with tests that must fail; one for each language."""
        if language not in self._canaries:
            path, text = self._with_canaries(language)
            oid = write_blob(self._patches, text.encode("utf-8", "surrogatepass"))
            self._canaries[language] = path, Entry("100644", oid)
        path, entry = self._canaries[language]
        return {path: entry}

    def added(self, job: Job) -> tuple[str, ...]:
        """The file that a canary's tests were put into, once it was tried."""
        path, _ = self._canaries.get(job.language, (b"", None))
        return (path.decode("utf-8", "backslashreplace"),) if path else ()

    def _with_canaries(self, language: str) -> tuple[bytes, str]:
        files = {name.decode("utf-8", "backslashreplace"): name for name in self._listing}
        near = [file.path for subject in self._subjects.values() for file in subject.files]
        for path in candidates(files, language, near)[:_MOST_READ]:
            text = self._text(Entry("100644", self._listing[files[path]])) or ""
            if canaries := with_canaries(path, text, self.token):
                return files[path], canaries
        raise CannotBeMade(f"the base has no test in {language.title()} to add one to")

    @cached_property
    def _listing(self) -> dict[bytes, str]:
        return listed_files(self._patches, self._base)

    def _brought(self, job: Job) -> dict[bytes, Entry | None]:
        """The author's files; no link, which could lead anywhere, and no submodule."""
        found = self._changes(job.author, job.tests)
        entries = {it.path: it.new for it in found if it.new and it.new.mode.startswith("100")}
        if not entries:
            raise CannotBeMade("its new tests are no plain files")
        there = kinds_at(self._patches, self._commit_of(job.on), _places(entries))
        for path in entries:
            for above in _above(path):
                if there.get(above, "tree") != "tree":
                    raise _taken(path, above, "it is no folder there")
            if there.get(path) in ("tree", "commit"):
                raise _taken(path, path, "it is no file there")
        return dict(entries)


_Key = tuple[str, str, str]


def _key(file: FileChange) -> _Key:
    return file.path, file.old_oid, file.new_oid


def _key_of(change: Change) -> _Key:
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


def _taken(path: bytes, place: bytes, how: str) -> CannotBeMade:
    named, taken = (it.decode("utf-8", "backslashreplace")[-200:] for it in (path, place))
    where = "" if named == taken else f" in {taken}"
    return CannotBeMade(f"{named} has no place{where}: {how}")

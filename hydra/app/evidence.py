"""Gathers what a verdict is made of: a run's record, its patches, its checks and its trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

from hydra.checks.judging import judge
from hydra.checks.record import CheckResult, read
from hydra.checks.recorded import recorded, rounds
from hydra.checks.round import BASE
from hydra.git import contents, patches
from hydra.git.changes import MODULE, Change, Entry
from hydra.git.contents import Content
from hydra.judge.evidence import Asked, Evidence, FileChange, LaneEvidence, Note, NotTried, Trial
from hydra.judge.tampering import is_script
from hydra.model import Patch, Remark, Usage, Weights
from hydra.remarks.places import is_test
from hydra.trials.recorded import read as read_trials

_ABSENT = Entry("", "")

Document = Mapping[str, Any]


def evidence(
    folder: Path,
    base: str,
    lanes: Sequence[Document],
    *,
    protected: Sequence[str] = (),
    weights: Weights | None = None,
    notes: Sequence[Note] = (),
    asked: Sequence[Asked] = (),
) -> Evidence:
    """All that is known of a run's lanes, given as result.json has them.

    Of each check the newest results count, whichever round they are from. Raises `GitFailed`,
    `Refused` where the patches cannot be read.
    """
    git_dir = folder / "patches.git"
    held = {lane: commit for lane, commit in patches.branches(git_dir).items() if commit != base}
    named = [str(lane["lane"]) for lane in lanes]
    with_patch = [lane for lane in named if lane in held]
    commits = [held[lane] for lane in with_patch]
    files = dict(zip(with_patch, file_changes(git_dir, base, commits), strict=True))
    trees = dict(zip(with_patch, contents.trees(git_dir, commits), strict=True))
    baseline = _in_order(_newest(folder, BASE), lanes)
    moved = {str(lane["lane"]) for lane in lanes if _moved(lane, held)}
    trials, not_tried = _trials(folder, {*held} - moved)
    return Evidence(
        run=folder.name,
        base=base,
        lanes=tuple(
            _unchecked(
                replace(
                    _lane(told),
                    tree=trees.get(lane, ""),
                    files=files.get(lane, ()),
                    moved=lane in moved,
                    checks=tuple(
                        judge(result, baseline.get(result.check.name))
                        for result in (() if lane in moved else _results(folder, lane, told))
                    ),
                ),
                told.get("held_back"),
            )
            for lane, told in zip(named, lanes, strict=True)
        ),
        baseline=tuple(baseline.values()),
        tests=base_tests(git_dir, base, [file.path for one in files.values() for file in one]),
        paths=contents.paths(git_dir, base),
        trials=trials,
        not_tried=not_tried,
        notes=tuple(notes),
        asked=tuple(asked),
        protected=tuple(protected),
        weights=weights or Weights(),
    )


def file_changes(git_dir: Path, base: str, commits: Sequence[str]) -> list[tuple[FileChange, ...]]:
    """What each commit changes against `base`, as the judge reads it. Raises `GitFailed`."""
    texts: dict[str, str] = {}
    found = contents.read_changes(git_dir, base, commits)
    return [tuple(_file(content, texts) for content in one) for one in found]


TESTS, TEST_BYTES, ALL_TEST_BYTES = 300, 64 * 1024, 2 * 1024**2
"""The base's files of tests that are read, the bytes of one, and of all."""


def base_tests(git_dir: Path, base: str, touched: Sequence[str]) -> dict[str, str]:
    """Texts of the base's tests, those first whose names have to do with what is touched, and of
    its scripts."""
    stems = {PurePosixPath(path).stem.lower() for path in touched} - {"__init__", "index", "mod"}
    held = {path.decode("utf-8", "backslashreplace"): oid for path, oid in _tests(git_dir, base)}
    near = {path: not any(stem in path.lower() for stem in stems) for path in held}
    names = sorted(held, key=lambda path: (near[path], path))[:TESTS]
    left, wanted = ALL_TEST_BYTES, {}
    known = contents.sizes(git_dir, (held[path] for path in names))
    for path in names:
        size = known.get(held[path], TEST_BYTES + 1)
        if size <= min(TEST_BYTES, left):
            wanted[path] = held[path]
            left -= size
    texts = contents.contents(git_dir, wanted.values())
    return {
        path: texts[oid].decode("utf-8", "backslashreplace")
        for path, oid in wanted.items()
        if oid in texts and b"\0" not in texts[oid]
    }


def _tests(git_dir: Path, base: str) -> Iterator[tuple[bytes, str]]:
    for path, oid in contents.files(git_dir, base).items():
        if is_test(path) or is_script(path.decode("utf-8", "backslashreplace")):
            yield path, oid


def _file(content: Content, texts: dict[str, str]) -> FileChange:
    change: Change = content.change
    old, new = change.old or _ABSENT, change.new or _ABSENT
    binary = content.added is None
    before = None if binary else _text(old.oid, content.old, texts)
    after = None if binary else _text(new.oid, content.new, texts)
    missing = [
        entry
        for entry, text in ((old, before), (new, after))
        if text is None and entry.mode not in ("", MODULE)
    ]
    return FileChange(
        path=change.path.decode("utf-8", "backslashreplace"),
        old_mode=old.mode,
        new_mode=new.mode,
        old_oid=old.oid,
        new_oid=new.oid,
        binary=binary,
        insertions=content.added,
        deletions=content.deleted,
        old=before,
        new=after,
        unread=bool(missing) and not binary,
    )


def _text(oid: str, data: bytes | None, texts: dict[str, str]) -> str | None:
    """One string for one object, however many lanes have it."""
    if data is None:
        return None
    if oid not in texts:
        texts[oid] = data.decode("utf-8", "backslashreplace")
    return texts[oid]


def _moved(told: Document, held: Mapping[str, str]) -> bool:
    """Whether a lane's branch is not the patch that its race has recorded."""
    patch, now = told.get("patch"), held.get(str(told["lane"]))
    taken = patch.get("commit") if isinstance(patch, dict) else None
    return now is not None and bool(taken) and taken != now


def _results(folder: Path, lane: str, told: Document) -> Iterator[CheckResult]:
    """A lane's checks in the order of its race; one that could not begin has no file of its own."""
    found = _newest(folder, lane)
    for document in told.get("checks") or ():
        name = document.get("check") if isinstance(document, dict) else None
        if name in found:
            yield found.pop(name)
        elif name is not None:
            with suppress(KeyError, TypeError, ValueError):
                yield read({**document, "cases": (), "unnamed": ()})
    yield from found.values()


def _newest(folder: Path, name: str) -> dict[str, CheckResult]:
    """By check, the newest result of a lane or of the base; in the order of the oldest round."""
    found: dict[str, CheckResult] = {}
    for round in reversed(rounds(folder)):
        found |= recorded(round / name)
    return found


def _in_order(found: dict[str, CheckResult], lanes: Sequence[Document]) -> dict[str, CheckResult]:
    """As the race's own checks stand in its lanes; files know no order."""
    named = [str(it.get("check")) for lane in lanes for it in lane.get("checks") or ()]
    known = [name for name in dict.fromkeys(named) if name in found]
    return {name: found[name] for name in (*known, *(it for it in found if it not in known))}


def _trials(folder: Path, lanes: set[str]) -> tuple[tuple[Trial, ...], tuple[NotTried, ...]]:
    """The newest of each trial; what was not tried in one round may have been in another."""
    newest: dict[tuple[object, ...], Trial] = {}
    cut: dict[tuple[str, str, str], NotTried] = {}
    for round in reversed(rounds(folder)):
        trials, not_tried = read_trials(round, folder)
        for trial in trials:
            # A check that runs two languages has tests that must fail in each.
            file = trial.paths[:1] if trial.kind == "canary" else ()
            name = trial.result.check.name
            newest[trial.kind, trial.on, trial.author, name, trial.configuration, file] = trial
            cut.pop((trial.kind, trial.on, trial.author), None)
        tried = {key[:3] for key in newest}
        for one in not_tried:
            if (one.kind, one.on, one.author) not in tried:
                cut[one.kind, one.on, one.author] = one
    known = {*lanes, ""}
    return (
        tuple(it for it in newest.values() if it.on in known and it.author in known),
        tuple(it for it in cut.values() if it.on in known and it.author in known),
    )


def _lane(told: Document) -> LaneEvidence:
    status = str(told.get("status", ""))
    usage, seconds = told.get("usage"), told.get("seconds")
    return LaneEvidence(
        lane=str(told["lane"]),
        adapter=str(told.get("adapter") or ""),
        status=status,
        ended="" if status in ("completed", "no_changes") else _ended(told, status),
        patch=_patch(told.get("patch")),
        usage=_usage(usage) if isinstance(usage, dict) else Usage(),
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
    )


def _unchecked(lane: LaneEvidence, held_back: object) -> LaneEvidence:
    """Where its race has recorded why its checks could not run, and none has since."""
    if lane.ended or lane.moved or lane.checks or not isinstance(held_back, list):
        return lane
    return replace(lane, ended=str(next(iter(held_back), "")))


def _ended(told: Document, status: str) -> str:
    error = told.get("error")
    said = str(error.get("message", "")) if isinstance(error, dict) else ""
    word = status.replace("_", " ")
    # Of an interrupted lane its message has the word, of an empty one its state.
    patch = _patch(told.get("patch"))
    if said and (status == "interrupted" or patch is None or patch.empty):
        return said
    return f"{word}: {said}" if said else word


def _usage(told: Document) -> Usage:
    return Usage(**{name.name: told.get(name.name) for name in fields(Usage)})


def _patch(told: object) -> Patch | None:
    if not isinstance(told, dict):
        return None
    return Patch(
        commit=str(told.get("commit", "")),
        base=str(told.get("base", "")),
        files=int(told.get("files") or 0),
        insertions=int(told.get("insertions") or 0),
        deletions=int(told.get("deletions") or 0),
        incomplete=str(told.get("incomplete") or ""),
        notes=tuple(map(str, told.get("notes") or ())),
        remarks=tuple(_remarks(told.get("remarks"))),
    )


def _remarks(told: object) -> Iterator[Remark]:
    for one in told if isinstance(told, list) else ():
        if isinstance(one, dict):
            yield Remark(*(str(one.get(name, "")) for name in ("kind", "path", "text")))

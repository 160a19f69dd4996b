"""What patches change outside of the folders in which all checks ran, packages of a workspace; what
tests they bring that no check ran; and what a build has left in them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from hydra.analysis.made_folders import MadeFolder, by_hand, made_folders
from hydra.analysis.tampering.named_data import is_document
from hydra.analysis.tampering.suite import tests_added
from hydra.analysis.tampering.test_files import existed, is_code, is_named, is_tests
from hydra.checks.collected import collected
from hydra.config.check_specs import split_folders
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.results import RAN
from hydra.text import join_names, joined, plural

NAMED = 3
"""Folders that a sentence names."""


def untested_places(evidence: Evidence) -> Iterator[str]:
    """A sentence for lanes that change the same folders where no check ran."""
    lanes: dict[tuple[str, ...], list[str]] = {}
    for lane in evidence.lanes:
        if places := tuple(unchecked(lane)):
            lanes.setdefault(places, []).append(lane.lane)
    for places, names in lanes.items():
        change = "also changes" if len(names) == 1 else "also change"
        shown = join_names([place.rstrip("/") for place in places], NAMED)
        whose = "its" if len(places) == 1 else "their"
        yield (
            f"{joined(names)} {change} {shown}; {whose} tests were not run "
            "(race from the top, or name a check for them)"
        )


def unrun(lane: LaneEvidence, evidence: Evidence) -> list[str]:
    """New files of tests that none of its checks has run; nothing where the tests of one that ran
    do not say in which files they lie."""
    checks = [check for check in lane.checks if check.check.kind == "test" and check.status in RAN]
    new = [
        file.path
        for file in lane.files
        if not existed(file) and is_tests(file.path) and is_named(file.path) and is_code(file.path)
    ]
    paths = [path for path in new if path in tests_added(lane.files)]
    named = (
        check.tests and "passed" not in check.tests.unnamed and collected([check], evidence.paths)
        for check in checks
    )
    if not (checks and paths and all(named)):
        return []
    ran = collected(checks, paths)
    return [path for path in paths if path not in ran]


def folders_of(lane: LaneEvidence, evidence: Evidence) -> tuple[MadeFolder, ...]:
    """What a build may have left in a lane's patch."""
    files = {file.path: not file.old_mode for file in lane.files}
    folders = made_folders(files, evidence.paths)
    return tuple(
        MadeFolder(folder, count, tuple(by_hand(files, {folder: count})))
        for folder, count in folders.items()
    )


def made_places(evidence: Evidence) -> Iterator[str]:
    """A sentence for lanes whose patches have the same folders of a build's."""
    lanes: dict[tuple[MadeFolder, ...], list[str]] = {}
    for lane in evidence.lanes:
        if folders := folders_of(lane, evidence):
            lanes.setdefault(folders, []).append(lane.lane)
    for folders, names in lanes.items():
        counted = [f"{row.folder.rstrip('/')} ({plural(row.files, 'file')})" for row in folders]
        add = "adds" if len(names) == 1 else "add"
        line = f"{joined(names)} {add} {join_names(counted, NAMED)}, which git does not ignore"
        written = [path for row in folders for path in row.by_hand]
        look = "looks" if len(written) == 1 else "look"
        which = f"; {join_names(written, NAMED)} in there {look} written by hand"
        yield f"{line}{which if written else ''}"


def unchecked(lane: LaneEvidence) -> list[str]:
    """What it changes outside of the folders in which all checks run, documents aside: `tools/`;
    nothing where a check runs at the top, or may reach further."""
    ran = [result.check.command for result in lane.checks if result.status in RAN]
    folders = [_folder_of(command) for command in ran]
    if not folders or not all(folders):
        return []
    paths = [file.path for file in lane.files if not is_document(file.path)]
    outside = [path for path in paths if not any(path.startswith(name) for name in folders)]
    return list(dict.fromkeys(_widest(path, folders) for path in outside))


def _folder_of(command: str) -> str:
    """`packages/api/`; "" for the top, and where it cannot be said."""
    folders, inner = split_folders(command)
    if re.search(r"\.\.|\bcd\s", inner):
        return ""
    folder = posixpath.normpath("/".join(folders))
    return "" if folder.startswith((".", "/")) else f"{folder}/"


def _widest(path: str, folders: Sequence[str]) -> str:
    """The largest folder around it in which no check runs; the file where there is none."""
    above = [path[: index + 1] for index, char in enumerate(path) if char == "/"]
    bare = (at for at in above if not any(folder.startswith(at) for folder in folders))
    return next(bare, path)

"""The page of one run: its verdict, its patches in hunks, its events, put into one file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from hydra.errors import Exhausted, HydraError, Refused
from hydra.git import patches
from hydra.git.diff import renames
from hydra.git.runner import GitFailed
from hydra.landing.hunks import Hunk, hunks
from hydra.ranking.model import Verdict
from hydra.records.events import Event
from hydra.records.store.files import shared
from hydra.records.store.reader import RunRecord
from hydra.report.html.build import build
from hydra.report.html.patches import PagePatch


def page(run: RunRecord, verdict: Verdict) -> bytes:
    """The whole page of a run's verdict, as bytes of HTML.

    What cannot be read of the run is said in the page. Raises `RecordError` where no document of
    the run says what its base was.
    """
    problems: list[str] = []
    with shared(run.folder):
        base = run.base
        branches = _branches(run, problems)
        names = (lane.lane for lane in verdict.lanes)
        page_patches = [_patch(run, base, lane, branches.get(lane)) for lane in names]
        events = list(_events(run, problems))
        plans = dict(_plans(run))
    return build(verdict, page_patches, events, problems=problems, plans=plans)


def _plans(run: RunRecord) -> Iterator[tuple[str, str]]:
    """What lanes planned, where the race asked for that; what cannot be read is not there."""
    with suppress(HydraError, OSError):
        for lane in run.outcomes or ():
            if lane.plan:
                yield lane.lane, (run.folder / lane.plan).read_text("utf-8", "replace")


def _branches(run: RunRecord, problems: list[str]) -> dict[str, str]:
    try:
        return patches.branches(run.patches)
    except Exhausted:  # else each lane "left no patch"
        raise
    except HydraError as error:
        problems.append(f"the patches cannot be read: {error.message}")
        return {}


def _patch(run: RunRecord, base: str, lane: str, commit: str | None) -> PagePatch:
    if commit is None or commit == base:
        return PagePatch(lane=lane, problem="" if commit else "it left no patch")
    try:
        pieces = hunks(run.patches, base, commit)
        return PagePatch(lane=lane, hunks=pieces, moved=_moved(run, base, commit, pieces))
    except GitFailed as error:
        return PagePatch(lane=lane, problem=f"its patch cannot be read: {error.result.reason}")


def _moved(
    run: RunRecord, base: str, commit: str, pieces: Sequence[Hunk]
) -> tuple[tuple[bytes, bytes], ...]:
    gone = any(piece.change.new is None for piece in pieces)
    come = any(piece.change.old is None for piece in pieces)
    return renames(run.patches, base, commit) if gone and come else ()


def _events(run: RunRecord, problems: list[str]) -> Iterator[Event]:
    try:
        yield from run.events()
    except HydraError as error:
        problems.append(f"the timeline is not whole: {error.message}")


# ---- As a file.

PAGE = "compare.html"
"""The page's name in the run's folder."""

_MARK, _HEAD = b'<meta name="generator" content="hydra">', 1024
"""By which a page is known for Hydra's own, and in how many bytes from its beginning."""


def write_page(run: RunRecord, verdict: Verdict, file: Path | None) -> Path:
    """Writes the page whole or not at all; where it lies. None is the run's folder.

    Raises `Refused` where that cannot be written, or where something stands that is no page.
    """
    into = run.folder / PAGE if file is None else file
    _check_place(into)
    data = page(run, verdict)
    try:
        number, name = tempfile.mkstemp(prefix=".compare-", dir=into.parent)
        try:
            with os.fdopen(number, "wb") as out:
                out.write(data)
            if file is not None:  # as any file that a person has made
                os.umask(mask := os.umask(0o077))
                Path(name).chmod(0o666 & ~mask)
            Path(name).replace(into)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(into, error) from error
    return into.absolute()


def _check_place(into: Path) -> None:
    if into.is_dir():
        raise Refused(f"{into} is a folder", hint=f"--html {into / PAGE}")
    try:
        result = into.lstat()
        # Not opened before it is known what it is: a FIFO waits, a device does something.
        ours = S_ISREG(result.st_mode) and (not result.st_size or _is_page(into))
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(into, error) from error
    if not ours:
        raise Refused(
            f"{into} is there already, and is no page of Hydra's", hint="choose another name"
        )


def _is_page(file: Path) -> bool:
    with file.open("rb") as reader:
        return _MARK in reader.read(_HEAD)


def _unwritable(into: Path, error: OSError) -> Refused:
    return Refused(f"{into} cannot be written: {error.strerror}", hint="another: --html FILE")

"""`hydra compare`: the verdict on a run, as data, and its page as a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hydra import executables
from hydra.errors import EXIT_NO_USABLE_LANE, EXIT_OK, Refused
from hydra.race.recovery import runs
from hydra.race.verdict import judgement
from hydra.ranking.model import Verdict
from hydra.records.store.files import shared
from hydra.records.store.reader import RunRecord

PAGE = "compare.html"
"""The page's name in the run's folder."""

_MARK, _HEAD = b'<meta name="generator" content="hydra">', 1024
"""By which a page is known for Hydra's own, and in how many bytes from its beginning."""


class JudgedRun(Struct, frozen=True, kw_only=True):
    """A run and its verdict; ranks are those of all lanes, whichever are told of."""

    record: RunRecord
    verdict: Verdict
    root: Path
    lanes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where a lane may land without being named, of those that are told of."""
        rows = (lane for lane in self.verdict.lanes if not self.lanes or lane.lane in self.lanes)
        return EXIT_OK if any(map(self.verdict.lands, rows)) else EXIT_NO_USABLE_LANE

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return replace(self.verdict, exit_code=self.exit_code).document()


def compare(
    run: str = "",
    lanes: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> JudgedRun:
    """The verdict on the run that is named. `lanes` are those to be told of in full; () is all.

    Raises `UsageError` for an unknown run or lane, `Refused` for a run under way, `RecordError`.
    """
    environ = executables.users_environment() if environ is None else environ
    place = runs.repository_runs(environ, directory)
    record = runs.find(place, run)
    with shared(record.folder):
        runs.check_patches(record)
        reading = runs.read(record)
        verdict = judgement(reading, environ)
    for lane in lanes:
        runs.check_lane(reading, lane)
    return JudgedRun(
        record=record,
        verdict=verdict,
        root=place.repository.root,
        lanes=tuple(dict.fromkeys(lanes)),
    )


def page_of(compared: JudgedRun) -> bytes:
    """The whole page. Raises `RecordError` where the patches cannot be read."""
    from hydra.commands.html_page import page
    from hydra.commands.merge_candidates import with_candidates

    with shared(compared.record.folder):
        return page(
            compared.record, with_candidates(compared.verdict, compared.root, compared.record)
        )


def write_page(compared: JudgedRun, file: Path | None) -> Path:
    """Writes the page whole or not at all; where it lies. None is the run's folder.

    Raises `Refused` where that cannot be written, or where something stands that is no page.
    """
    into = compared.record.folder / PAGE if file is None else file
    _check_place(into)
    data = page_of(compared)
    try:
        number, name = tempfile.mkstemp(prefix=".compare-", dir=into.parent)
        try:
            with os.fdopen(number, "wb") as out:
                out.write(data)
            if file is not None:  # as any file that a person has made
                Path(name).chmod(0o666 & ~_umask())
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


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def open_page(file: Path) -> bool:
    """Shows it in the user's browser; False where there is none that could."""
    import webbrowser

    try:
        return webbrowser.open(file.as_uri())
    except (webbrowser.Error, OSError, ValueError):
        return False

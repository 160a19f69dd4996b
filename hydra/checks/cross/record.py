"""What came of a round's trials, and the document that the round's folder keeps of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.checks.baseline import base_of, of_round, recorded
from hydra.checks.cross.trial import Kind, NotTried, Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.record import read as read_result
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.round import BASE
from hydra.records.codec import DiskName, as_json, shaped
from hydra.records.request import TrialCap
from hydra.records.store.files import read_known

T = TypeVar("T")

FILE = "trials.json"
"""The document, in the round's folder; the results of each run lie in `trials/` beside it."""


class TrialSubject(Struct, frozen=True, kw_only=True):
    """One lane as its trials see it: its patch, what that changes, and its checks, judged."""

    lane: str
    commit: str
    tree: str
    files: tuple[FileChange, ...] = ()
    results: tuple[CheckResult, ...] = ()


class Trials(Struct, frozen=True, kw_only=True):
    """What was tried and what was not. `used` is what it cost."""

    runs: tuple[Trial, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    used: TrialCap = field(default_factory=lambda: TrialCap(0, 0.0))

    def __bool__(self) -> bool:
        """Whether there was anything to try."""
        return bool(self.runs or self.not_tried)


class _Run(Struct, frozen=True, kw_only=True):
    """A trial as the document has it: `details` and `output` are files, from the run's folder."""

    kind: Kind
    on: DiskName
    author: DiskName
    paths: tuple[str, ...]
    configuration: bool
    passes: tuple[str, ...] = ()
    check: str
    status: CheckStatus
    details: DiskName
    output: str | None
    seconds: float


_SAME = tuple(name for name in Trial.__struct_fields__ if name in _Run.__struct_fields__)


def document(trials: Trials, cap: TrialCap) -> dict[str, object]:
    """JSON-ready."""
    used = replace(trials.used, seconds=round(trials.used.seconds, 3))
    return {
        "schema": 1,
        "kind": "trials",
        "runs": as_json([_run(trial) for trial in trials.runs]),
        "not_tried": as_json(trials.not_tried),
        "cap": as_json(cap),
        "used": as_json(used),
    }


def _run(trial: Trial) -> _Run:
    result = trial.result
    return _Run(
        **{name: getattr(trial, name) for name in _SAME},
        check=result.check.name,
        status=result.status,
        details=result.details,
        output=result.output or None,
        seconds=round(result.seconds, 3),
    )


# ---- A round's trials read back from its folder: what is damaged is left out, nothing is raised.

_DAMAGE = (OSError, ValueError, KeyError, TypeError)


def read(round_folder: Path, run_folder: Path) -> tuple[tuple[Trial, ...], tuple[NotTried, ...]]:
    """What was tried in that round, held against the base's own checks, and what was not."""
    try:
        data = read_known(round_folder / FILE)
    except (OSError, ValueError):
        return (), ()
    base = _Base(round_folder, run_folder)
    runs = (_trial(run, run_folder, base) for run in _rows(data, "runs", _Run))
    return tuple(filter(None, runs)), tuple(_rows(data, "not_tried", NotTried))


def _rows(data: Mapping[str, Any], name: str, kind: type[T]) -> Iterator[T]:
    rows = data.get(name)
    for row in rows if isinstance(rows, list) else ():
        with suppress(ValueError):
            yield shaped(row, kind)


def _trial(run: _Run, run_folder: Path, base: _Base) -> Trial | None:
    try:
        result = of_round(_result(run_folder, run.details), base.round)
    except _DAMAGE:
        return None
    same = {name: getattr(run, name) for name in _SAME}
    return Trial(**same, result=compare_to_baseline(result, base.of(result)))


def _result(run_folder: Path, name: str) -> CheckResult:
    inside = PurePosixPath(name)
    if inside.is_absolute() or ".." in inside.parts:
        raise ValueError(f"{name} lies outside of the run's folder")
    path = run_folder / inside
    return replace(read_result(read_known(path)), again=_again(path.with_suffix(".again.json")))


def _again(path: Path) -> CheckResult | None:
    try:
        again = read_result(read_known(path))
    except _DAMAGE:
        return None
    return None if again.status is CheckStatus.INTERRUPTED else again


class _Base:
    """The base's results: the round's own, else the newest that it went by, of that command."""

    def __init__(self, round_folder: Path, run_folder: Path) -> None:
        self.round = round_folder
        self._run_folder = run_folder
        self._results: dict[str, CheckResult | None] = dict(recorded(round_folder / BASE))

    def of(self, result: CheckResult) -> CheckResult | None:
        name = result.check.name
        if name not in self._results:
            results = base_of(self._run_folder, (result.check,), result.ground, self.round)
            self._results[name] = results[name] if results else None
        return self._results[name]

"""What came of a round's trials, and the document that the round's folder keeps of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.checks.baseline import base_of, of_round, recorded
from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.record import read as read_result
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.round import BASE
from hydra.records.request import TrialCap
from hydra.records.store.files import read_object

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


def document(trials: Trials, cap: TrialCap) -> dict[str, object]:
    """JSON-ready: `details` and `output` are files, from the run's folder."""
    return {
        "schema": 1,
        "kind": "trials",
        "runs": [_run(trial) for trial in trials.runs],
        "not_tried": [
            {"kind": tried.kind, "on": tried.on, "author": tried.author, "why": tried.why}
            for tried in trials.not_tried
        ],
        "cap": {"runs": cap.runs, "seconds": cap.seconds},
        "used": {"runs": trials.used.runs, "seconds": round(trials.used.seconds, 3)},
    }


def _run(trial: Trial) -> dict[str, object]:
    result = trial.result
    return {
        "kind": trial.kind,
        "on": trial.on,
        "author": trial.author,
        "paths": list(trial.paths),
        "configuration": trial.configuration,
        "passes": list(trial.passes),
        "check": result.check.name,
        "status": result.status.value,
        "details": result.details,
        "output": result.output or None,
        "seconds": round(result.seconds, 3),
    }


# ---- A round's trials read back from its folder: what is damaged is left out, nothing is raised.

_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)

Kind = Literal["protected", "cross", "canary"]


def read(round_folder: Path, run_folder: Path) -> tuple[tuple[Trial, ...], tuple[NotTried, ...]]:
    """What was tried in that round, held against the base's own checks, and what was not."""
    try:
        data = read_object(round_folder / FILE)
    except _DAMAGE:
        return (), ()
    base = _Base(round_folder, run_folder)
    runs = tuple(filter(None, (_trial(row, run_folder, base) for row in _list(data, "runs"))))
    cut = tuple(filter(None, map(_not_tried, _list(data, "not_tried"))))
    return runs, cut


def _list(value: object, name: str) -> Iterator[Mapping[str, Any]]:
    documents = value.get(name) if isinstance(value, dict) else None
    for row in documents if isinstance(documents, list) else ():
        if isinstance(row, dict):
            yield row


def _trial(data: Mapping[str, Any], run_folder: Path, base: _Base) -> Trial | None:
    try:
        result = of_round(_result(run_folder, data["details"]), base.round)
        return Trial(
            kind=_kind(data["kind"]),
            on=str(data["on"]),
            author=str(data["author"]),
            paths=tuple(map(str, data["paths"])),
            configuration=bool(data["configuration"]),
            passes=tuple(map(str, data.get("passes", ()))),
            result=compare_to_baseline(result, base.of(result)),
        )
    except _DAMAGE:
        return None


def _not_tried(data: Mapping[str, Any]) -> NotTried | None:
    try:
        return NotTried(
            kind=_kind(data["kind"]),
            on=str(data["on"]),
            author=str(data["author"]),
            why=str(data["why"]),
        )
    except _DAMAGE:
        return None


def _kind(value: object) -> Kind:
    if value == "protected":
        return "protected"
    if value == "cross":
        return "cross"
    if value == "canary":
        return "canary"
    raise ValueError(f"no trial is of the kind {value!r}")


def _result(run_folder: Path, name: str) -> CheckResult:
    inside = PurePosixPath(name)
    if inside.is_absolute() or ".." in inside.parts:
        raise ValueError(f"{name} lies outside of the run's folder")
    path = run_folder / inside
    return replace(read_result(read_object(path)), again=_again(path.with_suffix(".again.json")))


def _again(path: Path) -> CheckResult | None:
    try:
        again = read_result(read_object(path))
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

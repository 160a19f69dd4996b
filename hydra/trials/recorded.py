"""A round's trials read back from its folder: what is damaged is left out, nothing is raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from hydra.checks.judging import judge
from hydra.checks.record import CheckResult, Status
from hydra.checks.record import read as read_result
from hydra.checks.recorded import base_of, recorded
from hydra.checks.round import BASE
from hydra.judge.evidence import NotTried, Trial
from hydra.store import read_object
from hydra.trials.record import FILE

_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)

Kind = Literal["protected", "cross", "canary"]


def read(round_folder: Path, run_folder: Path) -> tuple[tuple[Trial, ...], tuple[NotTried, ...]]:
    """What was tried in that round, held against the base's own checks, and what was not."""
    try:
        told = read_object(round_folder / FILE)
    except _DAMAGE:
        return (), ()
    base = _Base(round_folder, run_folder)
    runs = tuple(filter(None, (_trial(one, run_folder, base) for one in _list(told, "runs"))))
    cut = tuple(filter(None, map(_not_tried, _list(told, "not_tried"))))
    return runs, cut


def _list(told: object, name: str) -> Iterator[Mapping[str, Any]]:
    held = told.get(name) if isinstance(told, dict) else None
    for one in held if isinstance(held, list) else ():
        if isinstance(one, dict):
            yield one


def _trial(told: Mapping[str, Any], run_folder: Path, base: _Base) -> Trial | None:
    try:
        result = _result(run_folder, told["details"])
        return Trial(
            kind=_kind(told["kind"]),
            on=str(told["on"]),
            author=str(told["author"]),
            paths=tuple(map(str, told["paths"])),
            configuration=bool(told["configuration"]),
            passes=tuple(map(str, told.get("passes", ()))),
            result=judge(result, base.of(result)),
        )
    except _DAMAGE:
        return None


def _not_tried(told: Mapping[str, Any]) -> NotTried | None:
    try:
        return NotTried(
            kind=_kind(told["kind"]),
            on=str(told["on"]),
            author=str(told["author"]),
            why=str(told["why"]),
        )
    except _DAMAGE:
        return None


def _kind(word: object) -> Kind:
    if word == "protected":
        return "protected"
    if word == "cross":
        return "cross"
    if word == "canary":
        return "canary"
    raise ValueError(f"no trial is of the kind {word!r}")


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
    return None if again.status is Status.INTERRUPTED else again


class _Base:
    """The base's results: the round's own, else the newest that the run has of that command."""

    def __init__(self, round_folder: Path, run_folder: Path) -> None:
        self._run_folder = run_folder
        self._known: dict[str, CheckResult | None] = dict(recorded(round_folder / BASE))

    def of(self, result: CheckResult) -> CheckResult | None:
        name = result.check.name
        if name not in self._known:
            found = base_of(self._run_folder, (result.check,))
            self._known[name] = found[name] if found else None
        return self._known[name]

"""A baseline that a run has recorded, read back: the same command on the same base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hydra.checks.record import CheckResult, Status, read
from hydra.checks.round import BASE
from hydra.model import Check
from hydra.store import read_object


def base_of(run_folder: Path, checks: Sequence[Check]) -> Mapping[str, CheckResult] | None:
    """The newest results on the base of every one of `checks`; None unless all of them are there.

    Only results that say something of the base count: not one that was interrupted, or whose
    program was missing, or that was of an installed copy.
    """
    found: dict[str, CheckResult] = {}
    for round in rounds(run_folder):
        results = recorded(round / BASE)
        for check in checks:
            if check.name not in found and (result := _of_base(results.get(check.name), check)):
                found[check.name] = result
    return (
        {check.name: found[check.name] for check in checks} if len(found) == len(checks) else None
    )


def recorded(folder: Path) -> dict[str, CheckResult]:
    """By check, all results of one round on one commit: a lane's folder in it, or the base's.

    Without what they came to beside the base's. What cannot be read is left out.
    """
    found: dict[str, CheckResult] = {}
    for path in sorted(folder.glob("*.json")):
        if not path.name.endswith((".again.json", ".build.json")) and (held := _read(path)):
            again = _read(path.with_suffix(".again.json"))
            found[held.check.name] = replace(held, again=again)
    return found


def rounds(run_folder: Path) -> list[Path]:
    """The folder of each round of checks, the newest first."""
    try:
        named = [path for path in (run_folder / "checks").iterdir() if path.name.isdecimal()]
    except OSError:
        return []
    return sorted(named, key=lambda path: int(path.name), reverse=True)


def _of_base(held: CheckResult | None, check: Check) -> CheckResult | None:
    if held is None or held.check.command != check.command:
        return None
    if held.untested or held.status not in (Status.PASSED, Status.FAILED, Status.NO_TESTS):
        return None
    return replace(held, check=check)


def _read(path: Path) -> CheckResult | None:
    try:
        return read(read_object(path))
    except (OSError, ValueError, KeyError, TypeError):
        return None

"""What a run's rounds of checks have recorded, read back: of its lanes, and of its base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.checks.record import INTERNAL, UNCOLLECTED, CheckResult, CheckStatus, read
from hydra.checks.round import BASE
from hydra.records.codec import shaped
from hydra.records.request import Check
from hydra.records.store.files import read_known

LANDING = "_landing"
"""The folder, in its round's, of what was checked to be landed; no lane is called so. It is there
from the round's beginning, or a killed landing's would count as the lanes'."""


def base_of(
    run_folder: Path, checks: Sequence[Check], ground: str, round: Path | None = None
) -> Mapping[str, CheckResult] | None:
    """The newest results on the base of every one of `checks`, on that ground; None unless all of
    them are there.

    Those that `round` can go by (None: that are there by now). Only results that say something of
    the base count: not one that was interrupted, or whose program was missing, or that was of an
    installed copy; nor an older one of that ground, since the verdict goes by the newest.
    """
    rounds = lane_rounds(run_folder)
    if round is not None:
        rounds = [path for path in rounds if int(path.name) <= int(round.name)]
    results = newest(run_folder, BASE, rounds)
    usable = [_of_base(results.get(check.name), check, ground) for check in checks]
    check_results = {result.check.name: result for result in usable if result is not None}
    return check_results if len(check_results) == len(usable) else None


def newest(
    run_folder: Path,
    name: str,
    rounds: Sequence[Path] | None = None,
    same: Sequence[str] = (),
    like: CheckResult | None = None,
) -> dict[str, CheckResult]:
    """By check, the newest result of a lane or of the base that says something of it, else the
    newest; in the order of the oldest round. Of all rounds, or of `rounds`, the newest first; of
    those alone that can be held against `like`.

    `same` are lanes that left the same tree: what came of that in a clean worktree is the lane's
    too, where a round has nothing of its own."""
    results: dict[str, CheckResult] = {}
    for round in reversed(lane_rounds(run_folder) if rounds is None else rounds):
        for gone in dropped(round):
            results.pop(gone, None)
        for folder in (*same, name):
            for check, result in recorded(round / folder).items():
                if like is not None and result.differs(like):
                    continue
                # What could not run this time takes nothing back of what did before.
                if check not in results or _has_run(result) or not _has_run(results[check]):
                    results[check] = result
    return results


def all_checks(run_folder: Path, *, ran: bool = False) -> dict[str, Check]:
    """The checks that its rounds have results of, by name; `ran`: that say something."""
    folders = {path.name for round in lane_rounds(run_folder) for path in round.glob("*")}
    return {
        name: result.check
        for folder in sorted(folders)
        for name, result in newest(run_folder, folder).items()
        if _has_run(result) or not ran
    }


DROPPED = "dropped.json"
"""The file of a round that drops checks: what rounds before it say of them does not count."""


def dropped(round: Path) -> frozenset[str]:
    """The names that a round drops."""
    try:
        return shaped(read_known(round / DROPPED).get("checks"), frozenset[str])
    except (OSError, ValueError):
        return frozenset()


def all_dropped(run_folder: Path) -> frozenset[str]:
    """All names that were ever dropped: what the race itself has recorded of them is void."""
    return frozenset().union(*map(dropped, lane_rounds(run_folder)))


def _has_run(result: CheckResult) -> bool:
    ran = result.status in (CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.TIMED_OUT)
    return ran and not result.untested and not {UNCOLLECTED, INTERNAL}.intersection(result.remarks)


_FURTHER = (".again.json", ".build.json")
"""Ends of the files of a check's further runs."""


def recorded(folder: Path) -> dict[str, CheckResult]:
    """By check, all results of one round on one commit: a lane's folder in it, or the base's.

    Without what they came to beside the base's. What cannot be read is left out.
    """
    results: dict[str, CheckResult] = {}
    for path in sorted(folder.glob("*.json")):
        if not path.name.endswith(_FURTHER) and (result := _read(path)):
            again = _read(path.with_suffix(".again.json"))
            again = None if again and again.differs(result) else again
            results[result.check.name] = of_round(replace(result, again=again), folder.parent)
    return results


def of_round(result: CheckResult, round: Path) -> CheckResult:
    """A result of a round, whose own ground is one that no other round's may be taken for where an
    older Hydra has not written down what it was."""
    return result if result.ground else replace(result, ground=f"of round {round.name}")


def lane_rounds(run_folder: Path) -> list[Path]:
    """The folder of each round of checks on lanes' patches, the newest first.

    A landing's is none: what is checked there is no lane's patch, and says nothing of any.
    """
    try:
        named = [path for path in (run_folder / "checks").iterdir() if path.name.isdecimal()]
    except OSError:
        return []
    of_lanes = (path for path in named if not (path / LANDING).is_dir())
    return sorted(of_lanes, key=lambda path: int(path.name), reverse=True)


def newest_round(folder: Path) -> int | None:
    """The number of a run's newest round of checks on lanes' patches; None without any."""
    rounds = lane_rounds(folder)
    return int(rounds[0].name) if rounds else None


def _of_base(result: CheckResult | None, check: Check, ground: str) -> CheckResult | None:
    if result is None or (result.check.command, result.ground) != (check.command, ground):
        return None
    if result.untested or result.status not in (
        CheckStatus.PASSED,
        CheckStatus.FAILED,
        CheckStatus.NO_TESTS,
    ):
        return None
    return replace(result, check=check)


def _read(path: Path) -> CheckResult | None:
    try:
        return read(read_known(path))
    except (OSError, ValueError):
        return None

"""The verdict on a run as it stands: the recorded one, or made anew where there is more by now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra.app import runs
from hydra.checks.recorded import rounds
from hydra.errors import HydraError, RecordError, Refused
from hydra.git import patches
from hydra.git.runner import is_unanswered
from hydra.recover.consults import FOLDER
from hydra.store import RunRecord

Verdict = Mapping[str, Any]

# The judge is imported only to judge: most commands read what is recorded, or need none.


def judgement(record: RunRecord, environ: Mapping[str, str] | None = None) -> Verdict:
    """The verdict's document.

    Raises `Refused` for a run that is under way, `RecordError` for one that is damaged or whose
    patches cannot be read, `ConfigError`.
    """
    if record.live:
        raise Refused(
            f"run {record.id} is still running", hint="wait until it has ended; `hydra runs` shows"
        )
    reading = runs.read(record)
    if reading.damage is not None:
        raise reading.damage
    known = recorded_verdict(reading.result)
    if known is not None and _is_fresh(record, known):
        return known
    from hydra.app import verdicts

    try:
        return verdicts.judged(record, environ)
    except (KeyError, TypeError, ValueError) as damage:
        raise RecordError(
            f"run {record.id} cannot be judged: its record is not what Hydra writes ({damage!r})",
            hint="its patches are kept apart from it: `hydra diff LANE`",
        ) from damage


def known_judgement(record: RunRecord) -> Verdict | None:
    """The same where its race has recorded a verdict; None where it has not, or where that cannot
    be made anew. It raises nothing: what is asked for is something else."""
    try:
        known = recorded_verdict(runs.read(record).result)
        return None if known is None else judgement(record)
    except HydraError:
        return None


def judgement_to_land(record: RunRecord, environ: Mapping[str, str]) -> Verdict | None:
    """The same for what is about to land: also of a race that was ended at once, or killed and
    recovered. Its result has a place for the verdict and none in it, and it is judged now.

    Raises `Refused` where git could not be asked."""
    try:
        result = runs.read(record).result
        return judgement(record, environ) if result is not None and "verdict" in result else None
    except HydraError as error:
        if is_unanswered(error):  # else a lane would land as one that nothing speaks against
            raise
        return None


def recorded_verdict(result: Mapping[str, object] | None) -> Verdict | None:
    """The verdict that a result has, if any. Raises `RecordError` for a newer Hydra's."""
    known = None if result is None else result.get("verdict")
    if not isinstance(known, dict):
        return None
    from hydra.reporters.verdict import SCHEMA

    schema = known.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise RecordError(
            f"the verdict of run {known.get('run')} is from a newer Hydra "
            f"(schema {schema}, known: {SCHEMA})",
            hint="update Hydra to read it",
        )
    if schema is True or schema != SCHEMA or not _is_whole(known):
        raise RecordError(
            f"the verdict of run {known.get('run')} is not what Hydra writes",
            hint="its patches are kept apart from it: `hydra diff LANE`",
        )
    return known


def _is_whole(known: Mapping[str, Any]) -> bool:
    """Whether lanes have what is read of them, and the top is one that may land."""
    lanes = known.get("lanes")
    if not isinstance(lanes, list) or not all(_is_lane(lane) for lane in lanes):
        return False
    top = known.get("top")
    return not top or any(it["lane"] == top and it["mergeable"] and it["rank"] for it in lanes)


def _is_lane(lane: object) -> bool:
    return (
        isinstance(lane, dict)
        and isinstance(lane.get("lane"), str)
        and isinstance(lane.get("mergeable"), bool)
        and isinstance(lane.get("rank"), int | None)
        and isinstance(lane.get("patch"), dict | None)
        and all(_are_records(lane.get(name)) for name in ("gates", "reasons"))
    )


def _are_records(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def newest_round(folder: Path) -> int | None:
    """The number of a run's newest round of checks; None without any."""
    found = rounds(folder)
    return int(found[0].name) if found else None


def lane_of(verdict: Verdict, lane: str) -> Mapping[str, Any]:
    """One lane of it; empty where it has none of that name."""
    return next((it for it in verdict["lanes"] if it["lane"] == lane), {})


def lands(verdict: Verdict, lane: str) -> bool:
    """Whether it is proved; where no check ran, whether nothing speaks against it."""
    from hydra.judge.verdict import may_land

    mine = lane_of(verdict, lane)
    return may_land(mine.get("state"), mine.get("mergeable"), verdict.get("checked"))


def _is_fresh(record: RunRecord, known: Verdict) -> bool:
    if known.get("round") != newest_round(record.folder):
        return False
    if not all("state" in lane for lane in known["lanes"]):  # an older Hydra's, without states
        return False
    if (record.folder / FOLDER).is_dir():  # agents were asked since: a race itself asks none
        return False
    try:
        held = patches.branches(record.patches)
    except Refused as refused:
        if is_unanswered(refused):
            raise
        return True  # what cannot be read now was read then
    taken = {lane["lane"]: (lane.get("patch") or {}).get("commit") for lane in known["lanes"]}
    return all(held[lane] == taken[lane] for lane in taken if lane in held and taken[lane])

"""The verdict on a run, from its record: at a race's end, and whenever it is asked for again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from hydra import executables
from hydra.adapters.probe import settings
from hydra.checks.baseline import newest_round
from hydra.checks.lack import VARIABLE, joined, options
from hydra.config.check_specs import typed
from hydra.config.schema import Config
from hydra.errors import Exhausted, RecordError, Refused
from hydra.git import patches
from hydra.log import bound, get_logger
from hydra.race.check_selection import folder_of
from hydra.race.guesses.commands import guess_checks
from hydra.race.recovery import history, review_records, runs
from hydra.race.recovery.reviews import FOLDER
from hydra.ranking.collect import evidence
from hydra.ranking.document import verdict_document
from hydra.ranking.evidence import Evidence
from hydra.ranking.verdict import rank
from hydra.records.codec import shaped
from hydra.records.store.reader import RunRecord
from hydra.text import of_run, shell_quoted

_log = get_logger(__name__)


def judged(run: RunRecord, environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """The verdict document of a run that has ended, made anew from all that its record holds.

    Raises `RecordError` where its patches cannot be read, `ConfigError` for a damaged hydra.toml.
    """
    environ = executables.users_environment() if environ is None else environ
    reading = runs.read(run)
    document = reading.result or {**reading.manifest, "lanes": list(reading.lanes.values())}
    root = Path(str(document.get("repository") or history.manifest(run.folder)["repository"]))
    config = settings.load(root, environ, {})
    return of_result(run.folder, run.base, document, config, folder_of(root, Path.cwd()))


def of_result(
    folder: Path, base: str, result: Mapping[str, Any], config: Config, place: str = ""
) -> Mapping[str, Any]:
    """The same from the result as it is about to be recorded; `place` is where in the checkout one
    types what it offers. Raises `RecordError`."""
    manifest = history.manifest(folder)
    try:
        facts = evidence(
            folder,
            base,
            [lane for lane in result.get("lanes") or () if isinstance(lane, dict)],
            protected=config.judge.protected_paths,
            notes=review_records.notes(folder),
            tests=review_records.telling_tests(folder),
            task=str(manifest.get("prompt") or ""),
        )
    except Exhausted:
        raise
    except Refused as error:
        raise RecordError(
            f"the patches of run {folder.name} cannot be read: {error}",
            hint=f"what the lanes said is in {folder}/lanes",
        ) from error
    document = verdict_document(rank(facts), facts, result, str(folder), place)
    with bound(run=folder.name):
        _say(document)
    return {
        **document,
        "uncommitted": runs.is_uncommitted(RunRecord(folder)),
        "separated": review_records.separated(folder),
        "round": newest_round(folder),
        "check_now": "" if document["tested"] else _check_now(folder, result, facts, place),
        "typed_in": place,
        "consult": review_records.newest(folder),
    }


def _check_now(folder: Path, result: Mapping[str, Any], facts: Evidence, place: str) -> str:
    """The line that tests the patches of a race in which nothing did: its own checks, which it did
    not come to or that could not run, with what they miss of the checkout, else those that its
    project is likely to have."""
    line = f"hydra check{of_run(folder.name)}"
    with suppress(RecordError):  # its plan is no part of the evidence
        if (plan := history.plan(folder)).checks:
            missing = joined(lack for check in facts.baseline for lack in check.missing)
            lacks = [lack for lack in missing if not (lack.show or lack.option == VARIABLE)]
            named = {"--copy": plan.copies, "--setup": plan.setup}  # these would be in their place
            values = {lack.option: named.get(lack.option, ()) for lack in lacks}
            own = (options(option, values[option], place) for option in values if values[option])
            return " ".join((line, *own, *(lack.line(place) for lack in lacks)))
    top = Path(str(result.get("repository") or history.manifest(folder)["repository"]))
    guesses = [typed(guess, place) for guess in guess_checks(top)] or ["COMMAND"]
    return f"{line}{''.join(f' --check {shell_quoted(guess)}' for guess in guesses)}"


def _say(document: Mapping[str, Any]) -> None:
    for lane in document["lanes"]:
        names = ("rank", "state", "reason")
        details = {name: lane[name] for name in ("why", "decision", "gates", "reasons")}
        _log.info("judged", **{name: lane[name] for name in ("lane", *names)}, more=details)
    _log.info("verdict", top=document["top"], says=document["says"])


# ---- The verdict on a run as it stands: the recorded one, or made anew where there is more by now.

Verdict = Mapping[str, Any]

# The judge is imported only to judge: most commands read what is recorded, or need none.


def judgement(record: RunRecord, environ: Mapping[str, str] | None = None) -> Verdict:
    """The verdict's document. It is made now for a run that was ended at once, or killed.

    Raises `Refused` for a run that is under way, or where git could not be asked, `RecordError` for
    one that is damaged or whose patches cannot be read, `ConfigError`: else a lane would land as
    one that nothing speaks against.
    """
    if record.live:
        raise Refused(
            f"run {record.id} is still running", hint="wait until it has ended; `hydra runs` shows"
        )
    reading = runs.read(record)
    if reading.damage is not None:
        raise reading.damage
    document = recorded_verdict(reading.result)
    if document is not None and _is_fresh(record, document):
        return _typed_here(document)
    try:
        return judged(record, environ)
    except (KeyError, TypeError, ValueError) as damage:
        raise RecordError(
            f"run {record.id} cannot be judged: its record is not what Hydra writes ({damage!r})",
            hint=f"its patches are kept apart from it: `hydra diff LANE{of_run(record.id)}`",
        ) from damage


def _typed_here(document: Verdict) -> Verdict:
    """With the line that tests it now as one types it where one stands."""
    line, place = document.get("check_now"), str(document.get("typed_in") or "")
    folder = folder_of(Path(str(document.get("repository"))), Path.cwd()) if line else place
    if folder == place:
        return document
    path = os.path.relpath(f"/{place}", f"/{folder}")
    return {**document, "check_now": f"cd {shlex.quote(path)} && {line}", "typed_in": folder}


def judgement_to_land(
    record: RunRecord, environ: Mapping[str, str] | None = None
) -> Verdict | None:
    """The same, also of a race that was broken off and is not recovered yet; None where its result
    has no place for a verdict."""
    reading = runs.read(record)
    has_place = reading.result is None or "verdict" in reading.result
    return judgement(record, environ) if has_place or reading.damage else None


def recorded_verdict(result: Mapping[str, object] | None) -> Verdict | None:
    """The verdict that a result has, if any. Raises `RecordError` for a newer Hydra's."""
    value = None if result is None else result.get("verdict")
    if result is None or not isinstance(value, dict):
        return None
    run = result.get("run")
    from hydra.ranking.document import SCHEMA

    schema = value.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise RecordError(
            f"the verdict of run {run} is from a newer Hydra (schema {schema}, known: {SCHEMA})",
            hint="update Hydra to read it",
        )
    if schema is True or schema != SCHEMA or not _is_whole(value):
        raise RecordError(
            f"the verdict of run {run} is not what Hydra writes",
            hint=f"its patches are kept apart from it: `hydra diff LANE{of_run(str(run))}`",
        )
    return value


class _RecordedLane(Struct):
    """What is read of every lane of a verdict."""

    lane: str
    gates: list[dict[str, Any]]
    reasons: list[dict[str, Any]]
    rank: int | None = None
    patch: dict[str, Any] | None = None
    decision: str | None = None
    agreed: bool | None = None


class _RecordedVerdict(Struct):
    lanes: list[_RecordedLane]
    top: str | None = None


def _is_whole(document: Mapping[str, Any]) -> bool:
    """Whether lanes have what is read of them, and the top is one that may land."""
    from hydra.ranking.model import passes_gates

    try:
        top = shaped(document, _RecordedVerdict).top
    except ValueError:
        return False
    return not top or any(lane["lane"] == top and passes_gates(lane) for lane in document["lanes"])


def lane_of(verdict: Verdict, lane: str) -> Mapping[str, Any]:
    """One lane of it; empty where it has none of that name."""
    return next((row for row in verdict["lanes"] if row["lane"] == lane), {})


def is_anew(record: RunRecord, verdict: Verdict) -> bool:
    """Whether it stands on checks that were run after the race."""
    if not verdict.get("round"):
        return False
    recorded = recorded_verdict(runs.read(record).result) or {}
    return bool(verdict["round"] != recorded.get("round"))


def lands(verdict: Verdict, lane: str) -> bool:
    """Whether it is proved; in a race of one lane without a check, whether nothing speaks against
    it."""
    from hydra.ranking.model import is_alone, may_land, passes_gates

    mine = lane_of(verdict, lane)
    alone = is_alone(verdict.get("checked"), verdict["lanes"])
    return may_land(mine.get("state"), passes_gates(mine), alone)


def _is_fresh(record: RunRecord, document: Verdict) -> bool:
    if document.get("round") != newest_round(record.folder):
        return False
    if (record.folder / FOLDER).is_dir():  # agents were asked since: a race itself asks none
        return False
    try:
        values = patches.branches(record.patches)
    except Exhausted:
        raise
    except Refused:
        return True  # what cannot be read now was read then
    taken = {lane["lane"]: (lane.get("patch") or {}).get("commit") for lane in document["lanes"]}
    return all(values[lane] == taken[lane] for lane in taken if lane in values and taken[lane])

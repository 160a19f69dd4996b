"""The verdict on a run, from its record: at a race's end, and whenever it is asked for again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

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
from hydra.race.recovery import history, reviews, runs
from hydra.race.recovery.reviews import FOLDER
from hydra.race.recovery.runs import RunReading
from hydra.ranking.collect import evidence
from hydra.ranking.document import whole
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import SCHEMA, EndedRace, Verdict
from hydra.ranking.verdict import rank
from hydra.records.codec import as_json, shaped
from hydra.records.store.reader import RunRecord
from hydra.text import of_run, shell_quoted

_log = get_logger(__name__)


def of_result(folder: Path, base: str, race: EndedRace, config: Config, place: str = "") -> Verdict:
    """The verdict on a run, made anew from its result as it is, or is about to be recorded; `place`
    is where in the checkout one types what it offers. Raises `RecordError`."""
    try:
        facts = evidence(
            folder,
            base,
            race.lanes,
            protected=config.protected_paths,
            notes=reviews.notes(folder),
            tests=reviews.telling_tests(folder),
            task=history.manifest(folder).prompt,
        )
    except Exhausted:
        raise
    except Refused as error:
        raise RecordError(
            f"the patches of run {folder.name} cannot be read: {error}",
            hint=f"what the lanes said is in {folder}/lanes",
        ) from error
    verdict = whole(rank(facts), facts, race, str(folder), place)
    with bound(run=folder.name):
        _say(verdict)
    return replace(
        verdict,
        uncommitted=runs.is_uncommitted(RunRecord(folder)),
        separated=reviews.separated(folder),
        round=newest_round(folder),
        check_now="" if verdict.tested else _check_now(folder, race, facts, place),
        typed_in=place,
        consult=reviews.newest(folder),
    )


def _check_now(folder: Path, race: EndedRace, facts: Evidence, place: str) -> str:
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
    top = Path(race.repository or history.manifest(folder).repository)
    guesses = [typed(guess, place) for guess in guess_checks(top)] or ["COMMAND"]
    return f"{line}{''.join(f' --check {shell_quoted(guess)}' for guess in guesses)}"


def _say(verdict: Verdict) -> None:
    for lane in verdict.lanes:
        names = ("why", "decision", "gates", "reasons")
        details = {name: as_json(getattr(lane, name)) for name in names}
        named = {"lane": lane.lane, "rank": lane.rank, "state": lane.state, "reason": lane.reason}
        _log.info("judged", **named, more=details)
    _log.info("verdict", top=verdict.top, says=verdict.says)


# ---- The verdict on a run as it stands: the recorded one, or made anew where there is more by now.


def judgement(reading: RunReading, environ: Mapping[str, str] | None = None) -> Verdict:
    """The verdict on it. It is made now, from all that its record holds, for a run that was ended
    at once, or killed, and where there is more by now.

    Raises `Refused` for a run that is under way, or where git could not be asked, `RecordError` for
    one that is damaged or whose patches cannot be read, `ConfigError`: else a lane would land as
    one that nothing speaks against.
    """
    record, race = reading.run, reading.race
    if reading.live:
        raise Refused(
            f"run {record.id} is still running", hint="wait until it has ended; `hydra runs` shows"
        )
    if reading.damage is not None:
        raise reading.damage
    verdict = recorded_verdict(race)
    if verdict is not None and _is_fresh(record, verdict):
        return _typed_here(verdict)
    environ = executables.users_environment() if environ is None else environ
    try:
        root = Path(race.repository or reading.manifest.repository)
        config = settings.load(root, environ, {})
        return of_result(record.folder, record.base, race, config, folder_of(root, Path.cwd()))
    except (KeyError, TypeError, ValueError) as damage:
        raise RecordError(
            f"run {record.id} cannot be judged: its record is not what Hydra writes ({damage!r})",
            hint=f"its patches are kept apart from it: `hydra diff LANE{of_run(record.id)}`",
        ) from damage


def _typed_here(verdict: Verdict) -> Verdict:
    """With the line that tests it now as one types it where one stands."""
    line, place = verdict.check_now, verdict.typed_in
    folder = folder_of(Path(str(verdict.repository)), Path.cwd()) if line else place
    if folder == place:
        return verdict
    path = os.path.relpath(f"/{place}", f"/{folder}")
    return replace(verdict, check_now=f"cd {shlex.quote(path)} && {line}", typed_in=folder)


def judgement_to_land(
    reading: RunReading, environ: Mapping[str, str] | None = None
) -> Verdict | None:
    """The same, also of a race that was broken off and is not recovered yet; None where its result
    has no place for a verdict."""
    has_place = reading.result is None or reading.race.verdict is not UNSET
    return judgement(reading, environ) if has_place or reading.damage else None


def recorded_verdict(race: EndedRace) -> Verdict | None:
    """The verdict that a result has, if any. Raises `RecordError` for a newer Hydra's, or for one
    whose top is no lane that may land."""
    if not isinstance(document := race.verdict, Mapping):
        return None
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise RecordError(
            f"the verdict of run {race.run} is from a newer Hydra "
            f"(schema {schema}, known: {SCHEMA})",
            hint="update Hydra to read it",
        )
    with suppress(ValueError):
        verdict = shaped(document, Verdict)
        top = verdict.lane(verdict.top)
        if schema == SCHEMA and (not verdict.top or (top and top.passes_gates)):
            return verdict
    raise RecordError(
        f"the verdict of run {race.run} is not what Hydra writes",
        hint=f"its patches are kept apart from it: `hydra diff LANE{of_run(race.run)}`",
    )


def is_anew(race: EndedRace, verdict: Verdict) -> bool:
    """Whether it stands on checks that were run after the race."""
    if not verdict.round:
        return False
    recorded = recorded_verdict(race)
    return verdict.round != (recorded and recorded.round)


def _is_fresh(record: RunRecord, verdict: Verdict) -> bool:
    if verdict.round != newest_round(record.folder):
        return False
    if (record.folder / FOLDER).is_dir():  # agents were asked since: a race itself asks none
        return False
    try:
        values = patches.branches(record.patches)
    except Exhausted:
        raise
    except Refused:
        return True  # what cannot be read now was read then
    taken = {lane.lane: lane.patch.commit for lane in verdict.lanes if lane.patch}
    return all(values.get(lane, taken[lane]) == taken[lane] for lane in taken)

"""The checks that a run has by now: its race's, those that were named since, none that was dropped.

A name stands for one command, or the results of one would be taken for the other's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.checks import baseline
from hydra.checks.round import new_folder
from hydra.errors import Refused, UsageError
from hydra.race.recovery import runs
from hydra.records.request import Check
from hydra.records.store.files import shared, write_json
from hydra.records.store.reader import RunRecord
from hydra.redaction import redacted


def known_checks(run_folder: Path, planned: Sequence[Check]) -> tuple[Check, ...]:
    """Those of the race, one that was dropped as it was run since; where it had none, or none is
    left, those that were named since."""
    gone = baseline.all_dropped(run_folder)
    since = baseline.all_checks(run_folder, ran=True)
    own = (since.get(check.name) if check.name in gone else check for check in planned)
    return tuple(filter(None, own)) or tuple(since.values())


def named_apart(
    checks: Sequence[Check], mapping: Mapping[str, Check]
) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The checks, those under another name whose own is another command's; a sentence for each."""
    taken = {**mapping}
    commands, notes = [], []
    for check in checks:
        name = _free(check, taken)
        if name != check.name:
            other = taken[check.name].command
            notes.append(f"{check.name} is another command here ({other}): this one is {name}")
        taken[name] = check
        commands.append(replace(check, name=name))
    return tuple(commands), tuple(notes)


def _free(check: Check, taken: Mapping[str, Check]) -> str:
    names = (check.name, *(f"{check.name}-{number}" for number in range(2, len(taken) + 3)))
    command = redacted(check.command)  # as it is recorded
    free = (n for n in names if n not in taken or redacted(taken[n].command) == command)
    return next(free)


def drop(run: str, names: Sequence[str]) -> tuple[RunRecord, Path]:
    """Leaves checks out of what a run's verdict is made of. What they came to stays in its folder.

    The run, and the folder of the round that says so. Raises `UsageError` for a check that the run
    does not have, `Refused` while it is under way.
    """
    record = runs.find(runs.repository_runs(), run)
    runs.check_ended(record)
    with shared(record.folder):
        texts = _names(record)
        for name in names:
            if name not in texts:
                hint = f"its checks: {', '.join(texts)}" if texts else "it has none"
                raise UsageError(f"run {record.id} has no check {name!r}", hint=hint)
        try:
            folder = new_folder(record.folder)
            write_json(folder / baseline.DROPPED, {"schema": 1, "checks": list(names)})
        except OSError as error:
            raise Refused(f"the run's folder cannot be written: {error.strerror}") from error
    return record, folder


def _names(record: RunRecord) -> list[str]:
    own = [check.check for lane in runs.read(record).race.lanes for check in lane.checks]
    gone = baseline.all_dropped(record.folder)
    since = baseline.all_checks(record.folder)
    return [*dict.fromkeys((*(name for name in own if name not in gone), *since))]

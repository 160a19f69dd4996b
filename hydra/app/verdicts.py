"""The verdict on a run, from its record: at a race's end, and whenever it is asked for again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra import executables
from hydra.app import consulted, runs, settings
from hydra.app.evidence import evidence
from hydra.app.judgement import newest_round
from hydra.config import Config
from hydra.errors import RecordError, Refused
from hydra.git.runner import is_unanswered
from hydra.judge.rank import verdict
from hydra.recover import record
from hydra.reporters.verdict import verdict_document
from hydra.store import RunRecord


def judged(run: RunRecord, environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """The verdict document of a run that has ended, made anew from all that its record holds.

    Raises `RecordError` where its patches cannot be read, `ConfigError` for a damaged hydra.toml.
    """
    environ = executables.users_environment() if environ is None else environ
    reading = runs.read(run)
    known = reading.result or {**reading.manifest, "lanes": list(reading.lanes.values())}
    root = Path(str(known.get("repository") or record.manifest(run.folder)["repository"]))
    return of_result(run.folder, run.base, known, settings.load(root, environ, {}))


def of_result(
    folder: Path, base: str, result: Mapping[str, Any], config: Config
) -> Mapping[str, Any]:
    """The same from the result as it is about to be recorded. Raises `RecordError`."""
    try:
        known = evidence(
            folder,
            base,
            [lane for lane in result.get("lanes") or () if isinstance(lane, dict)],
            protected=config.judge.protected_paths,
            weights=config.judge.weights,
            notes=consulted.notes(folder),
            asked=consulted.asked(folder),
        )
    except Refused as error:
        if is_unanswered(error):
            raise
        raise RecordError(
            f"the patches of run {folder.name} cannot be read: {error}",
            hint=f"what the lanes said is in {folder}/lanes",
        ) from error
    told = verdict_document(verdict(known), known, result, str(folder))
    return {
        **told,
        "uncommitted": record.manifest(folder).get("head", base) != base,
        "separated": consulted.separated(folder),
        "round": newest_round(folder),
        "consult": consulted.newest(folder),
    }

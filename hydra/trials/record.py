"""What came of a round's trials, and the document that the round's folder keeps of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hydra.checks.record import CheckResult
from hydra.judge.evidence import FileChange, NotTried, Trial
from hydra.model import TrialCap

FILE = "trials.json"
"""The document, in the round's folder; the results of each run lie in `trials/` beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One lane as its trials see it: its patch, what that changes, and its checks, judged."""

    lane: str
    commit: str
    tree: str
    files: tuple[FileChange, ...] = ()
    results: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What was tried and what was not. `used` is what it cost."""

    runs: tuple[Trial, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    used: TrialCap = field(default_factory=lambda: TrialCap(0, 0.0))

    def __bool__(self) -> bool:
        """Whether there was anything to try."""
        return bool(self.runs or self.not_tried)


def document(found: Trials, cap: TrialCap) -> dict[str, object]:
    """JSON-ready: `details` and `output` are files, from the run's folder."""
    return {
        "schema": 1,
        "kind": "trials",
        "runs": [_run(trial) for trial in found.runs],
        "not_tried": [
            {"kind": it.kind, "on": it.on, "author": it.author, "why": it.why}
            for it in found.not_tried
        ],
        "cap": {"runs": cap.runs, "seconds": cap.seconds},
        "used": {"runs": found.used.runs, "seconds": round(found.used.seconds, 3)},
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

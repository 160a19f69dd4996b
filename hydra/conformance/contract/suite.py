"""The whole offline suite: every check on every subject, as cases. Nothing here raises for what
an adapter does; an exception of its is a difference."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from hydra.adapters import registry
from hydra.conformance import recorded
from hydra.conformance.contract import (
    descriptor,
    detection,
    endings,
    hostile,
    lines,
    prompts,
    streams,
)
from hydra.conformance.contract.subject import (
    NO_RECORDINGS,
    ContractCheck,
    ContractSubject,
    NotCheckable,
)
from hydra.conformance.recorded import Recording
from hydra.conformance.results import Case, CaseVerdict

SUITE = "contract"
MOST = 50
"""Differences of one case that are told; of more, how many there were."""

CHECKS: tuple[ContractCheck, ...] = (
    *descriptor.CHECKS,
    *detection.CHECKS,
    *lines.CHECKS,
    *prompts.CHECKS,
    *streams.CHECKS,
    *endings.CHECKS,
    *hostile.CHECKS,
)


def built_in() -> list[ContractSubject]:
    """Hydra's own adapters with their recordings."""
    return [ContractSubject(adapter, recorded.root()) for adapter in registry.everyone()]


def names() -> list[str]:
    """Every check by name, in the order in which they run."""
    return [check.name for check in CHECKS]


def run(subject: ContractSubject, *, only: Sequence[str] = ()) -> Iterator[Case]:
    """One subject's cases. `only` are names, or patterns such as `lines.*`."""
    for check in CHECKS:
        if _selected(check.name, only):
            yield from _cases(subject, check)


def _selected(name: str, only: Iterable[str]) -> bool:
    texts = tuple(only)
    return not texts or any(fnmatchcase(name, pattern) for pattern in texts)


def _cases(subject: ContractSubject, check: ContractCheck) -> Iterator[Case]:
    if check.whole is not None:
        yield _case(subject, check, None)
        return
    recordings = subject.versions()
    cases = [_case(subject, check, recording) for recording in recordings]
    tried = [case for case in cases if case.verdict is not CaseVerdict.SKIPPED]
    # Of an old version often only the help text was kept: that is said once for each check, and
    # only where there is no version at all that it was tried on.
    reason = cases[-1].reason if cases else NO_RECORDINGS
    yield from tried or [_synthetic(subject, check, CaseVerdict.SKIPPED, reason=reason)]


def _case(subject: ContractSubject, check: ContractCheck, recording: Recording | None) -> Case:
    began = time.monotonic()
    differences: list[str] = []
    count = 0
    try:
        for text in _subject_text(subject, check, recording):
            count += 1
            if count <= MOST:
                differences.append(text)
    except NotCheckable as error:
        return _synthetic(subject, check, CaseVerdict.SKIPPED, recording, reason=str(error))
    except Exception as error:  # whatever a stranger's adapter raises
        differences.append(_raised(error))
    if count > MOST:
        differences.append(f"and {count - MOST} more")
    verdict = CaseVerdict.FAILED if differences else CaseVerdict.PASSED
    return _synthetic(
        subject,
        check,
        verdict,
        recording,
        differences=tuple(differences),
        seconds=time.monotonic() - began,
    )


def _subject_text(
    subject: ContractSubject, check: ContractCheck, recording: Recording | None
) -> Iterable[str]:
    if check.whole is not None:
        return check.whole(subject)
    assert check.versioned is not None
    assert recording is not None
    return check.versioned(subject, recording)


def _raised(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno} in {last.name}"
    return f"it raises {type(error).__name__}: {str(error)[:300]} ({where})"


def _synthetic(
    subject: ContractSubject,
    check: ContractCheck,
    verdict: CaseVerdict,
    recording: Recording | None = None,
    *,
    differences: tuple[str, ...] = (),
    reason: str = "",
    seconds: float = 0.0,
) -> Case:
    return Case(
        suite=SUITE,
        agent=subject.key,
        name=check.name,
        verdict=verdict,
        version=recording.version if recording else "",
        differences=differences,
        reason=reason,
        seconds=seconds,
        evidence=str(recording.folder) if recording else "",
    )

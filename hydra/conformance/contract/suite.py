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
    detecting,
    endings,
    hostile,
    lines,
    prompts,
    streams,
)
from hydra.conformance.contract.subject import NO_RECORDINGS, Check, NotTried, Subject
from hydra.conformance.recorded import Recording
from hydra.conformance.results import Case, Verdict

SUITE = "contract"
MOST = 50
"""Differences of one case that are told; of more, how many there were."""

CHECKS: tuple[Check, ...] = (
    *descriptor.CHECKS,
    *detecting.CHECKS,
    *lines.CHECKS,
    *prompts.CHECKS,
    *streams.CHECKS,
    *endings.CHECKS,
    *hostile.CHECKS,
)


def built_in() -> list[Subject]:
    """Hydra's own adapters with their recordings, but for those that it never runs."""
    runs = (one for one in registry.everyone() if not one.descriptor.unrunnable)
    return [Subject(adapter, recorded.root()) for adapter in runs]


def names(subject: Subject) -> list[str]:
    """Every check by name, in the order in which they run."""
    from hydra.conformance.contract import limits

    return [*(check.name for check in CHECKS), *limits.NAMES]


def run(subject: Subject, *, only: Sequence[str] = (), races: bool = True) -> Iterator[Case]:
    """One subject's cases. `only` are names, or patterns such as `lines.*`."""
    return run_all([subject], only=only, races=races)


def run_all(
    subjects: Sequence[Subject], *, only: Sequence[str] = (), races: bool = True
) -> Iterator[Case]:
    """The cases of several, in order; their races are shared, and run beside the rest."""
    from hydra.conformance.contract import limits

    wanted = [name for name in limits.NAMES if _wanted(name, only)]
    racing = limits.begin(subjects, wanted) if races and wanted else None
    try:
        for subject in subjects:
            for check in CHECKS:
                if _wanted(check.name, only):
                    yield from _cases(subject, check)
        if racing is not None:
            yield from racing.cases()
    finally:
        if racing is not None:
            racing.close()


def _wanted(name: str, only: Iterable[str]) -> bool:
    told = tuple(only)
    return not told or any(fnmatchcase(name, pattern) for pattern in told)


def _cases(subject: Subject, check: Check) -> Iterator[Case]:
    if check.whole is not None:
        yield _case(subject, check, None)
        return
    there = subject.versions()
    made = [_case(subject, check, recording) for recording in there]
    tried = [case for case in made if case.verdict is not Verdict.SKIPPED]
    # Of an old version often only the help text was kept: that is said once for each check, and
    # only where there is no version at all that it was tried on.
    reason = made[-1].reason if made else NO_RECORDINGS
    yield from tried or [_made(subject, check, Verdict.SKIPPED, reason=reason)]


def _case(subject: Subject, check: Check, recording: Recording | None) -> Case:
    began = time.monotonic()
    differences: list[str] = []
    count = 0
    try:
        for text in _told(subject, check, recording):
            count += 1
            if count <= MOST:
                differences.append(text)
    except NotTried as error:
        return _made(subject, check, Verdict.SKIPPED, recording, reason=str(error))
    except Exception as error:  # whatever a stranger's adapter raises
        differences.append(_raised(error))
    if count > MOST:
        differences.append(f"and {count - MOST} more")
    verdict = Verdict.FAILED if differences else Verdict.PASSED
    return _made(
        subject,
        check,
        verdict,
        recording,
        differences=tuple(differences),
        seconds=time.monotonic() - began,
    )


_OF_WHAT_RUNS = ("detect.recorded", "prompt.too_long")
"""What is asked only of an agent that Hydra runs."""


def _told(subject: Subject, check: Check, recording: Recording | None) -> Iterable[str]:
    why = subject.adapter.descriptor.unrunnable
    if why and check.name in _OF_WHAT_RUNS:
        raise NotTried(f"Hydra does not run it: {why}")
    if check.whole is not None:
        return check.whole(subject)
    assert check.versioned is not None
    assert recording is not None
    return check.versioned(subject, recording)


def _raised(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno} in {last.name}"
    return f"it raises {type(error).__name__}: {str(error)[:300]} ({where})"


def _made(
    subject: Subject,
    check: Check,
    verdict: Verdict,
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

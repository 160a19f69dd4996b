"""`hydra conformance`: every adapter held against its contract, its real CLI and its last version.

The parts in order: the adapters that are asked for, the contract cases, the installed CLIs in every
situation, what is recorded of them, what has changed since an older version; all in one report.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hydra import __version__
from hydra.conformance.command.contract import contract_cases, tell
from hydra.conformance.command.request import ConformanceRequest
from hydra.conformance.command.subjects import chosen
from hydra.conformance.results import Case, Network, Report, VersionChange
from hydra.errors import EXIT_TERMINATED

if TYPE_CHECKING:
    from hydra.conformance.command.drift import Pair
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.conformance.report.progress import Progress


class ConformanceReport(Struct, frozen=True):
    """The report, the scratch folder of the live part where it was kept, and which versions were
    compared: agent, old, new."""

    report: Report
    folder: Path | None = None
    compared: tuple[tuple[str, str, str], ...] = ()

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        from hydra.conformance.report.document import conformance_document

        folder = None if self.folder is None else str(self.folder)
        return conformance_document(self.report, folder=folder, compared=self.compared)


@dataclass(slots=True)
class _Findings:
    """What has come together so far."""

    cases: list[Case] = field(default_factory=list)
    changes: list[VersionChange] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    recorded: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    compared: list[tuple[str, str, str]] = field(default_factory=list)
    network: Network | None = None
    folder: Path | None = None

    def compare(self, pairs: Sequence[Pair]) -> None:
        """Adds what changed in each pair of versions."""
        from hydra.conformance.command.drift import changes

        self.compared += [(subject.key, old.name, new.name) for subject, old, new in pairs]
        self.changes += changes(pairs)


def conformance(request: ConformanceRequest, watcher: Progress) -> ConformanceReport:
    """Tries all that is asked for. A case that fails is in the report, and raises nothing.

    Raises `UsageError` for a name that nobody has, `NoAgentReady` where nothing can run live,
    `Refused` where there is no room for it or a place cannot be written.
    """
    started, began = time.time(), time.monotonic()
    findings = _Findings()
    picked = chosen(request.agents, request.adapters, request.fixtures, request.environ)
    findings.warnings += picked.problems
    with _ended_by_signals():
        if request.live or request.record:
            _with_clis(request, picked.subjects, watcher, findings)
        else:
            _offline(request, picked.subjects, watcher, findings)
    report = Report(
        hydra=__version__,
        platform=sys.platform,
        started=started,
        seconds=time.monotonic() - began,
        versions=findings.versions,
        third_party=tuple(subject.key for subject in picked.subjects if subject.third_party),
        cases=tuple(findings.cases),
        changes=tuple(findings.changes),
        network=findings.network,
        recorded=tuple(findings.recorded),
        warnings=tuple(findings.warnings),
        named={subject.key: _named(subject, request) for subject in picked.subjects},
    )
    return ConformanceReport(report, findings.folder, tuple(findings.compared))


def _named(subject: ContractSubject, request: ConformanceRequest) -> tuple[str, ...]:
    by_spec = subject.spec in request.adapters
    fixtures = () if request.fixtures is None else ("--fixtures", str(request.fixtures))
    return (*(("--adapter", subject.spec) if by_spec else (subject.key,)), *fixtures)


def _contract(
    request: ConformanceRequest,
    subjects: Sequence[ContractSubject],
    watcher: Progress,
    findings: _Findings,
) -> None:
    for subject in subjects:
        if newest := subject.newest():
            findings.versions[subject.key] = newest.version
    findings.cases += contract_cases(request.cases, subjects, watcher)


def _offline(
    request: ConformanceRequest,
    subjects: Sequence[ContractSubject],
    watcher: Progress,
    findings: _Findings,
) -> None:
    """The contract, and what changed between two recorded versions."""
    from hydra.conformance.command import drift

    pairs = list(drift.recorded_pairs(request.drift, subjects)) if request.drift else []
    _contract(request, subjects, watcher, findings)
    findings.compare(pairs)


def _with_clis(
    request: ConformanceRequest,
    subjects: Sequence[ContractSubject],
    watcher: Progress,
    findings: _Findings,
) -> None:
    """The same with what is installed: asked, and with `live` run in every situation."""
    # Before any thread, and so before trio: only then all that is started stays inside.
    from hydra.conformance.live import network

    watch = network.enter()
    from hydra.conformance.command import live, stored_records
    from hydra.conformance.command.drift import find_old
    from hydra.conformance.live.run import case

    old = find_old(request.drift, subjects) if request.drift else None
    with live.scratch(request.environ, keep=request.keep) as folder:
        run = live.Run(request=request, folder=folder, report=lambda item: tell(watcher, item))
        ready = live.ready(subjects, run)
        if not request.situations:
            _contract(request, subjects, watcher, findings)
        findings.versions |= ready.versions
        if request.keep:
            watcher.keeping(folder)
        if request.live:
            watcher.began("live", len(ready.situations) * len(ready.programs))
            findings.cases += ready.cases
        observed = live.observed(ready, run) if request.live else []
        findings.cases += [case(met, keep=request.keep) for met in observed]
        if request.record:
            findings.recorded += stored_records.record(ready, observed, findings.cases, run)
        if old is not None:
            findings.warnings += stored_records.not_compared(ready, old, request.drift)
            findings.compare(stored_records.pairs(ready, observed, findings.cases, run, old))
        findings.folder = folder if request.keep else None
    findings.network = watch.report()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end it in order, as Ctrl-C does: as one, which trio understands too.

    As in a race, a SIGHUP that is ignored already (nohup) stays so, and a SIGINT does not.
    """
    numbers: list[int] = []

    def end(number: int, _: object) -> None:
        numbers.append(number)
        signal.raise_signal(signal.SIGINT)

    rows = [signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        rows.append(hangup)
    before = {number: signal.signal(number, end) for number in rows}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except BaseException:  # out of trio it comes as a group
        if numbers:
            raise SystemExit(EXIT_TERMINATED) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

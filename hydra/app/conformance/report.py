"""`hydra conformance`: every adapter held against its contract, its real CLI and its last version.

The parts in order: the adapters that are asked for, the contract cases, the installed CLIs in every
situation, what is recorded of them, what has changed since an older version; all in one report.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra import __version__, executables
from hydra.app.conformance.contract import Watcher, contract_cases, tell
from hydra.app.conformance.subjects import chosen
from hydra.conformance.results import Case, Change, Network, Report
from hydra.errors import EXIT_TERMINATED

if TYPE_CHECKING:
    from hydra.app.conformance.drift import Pair
    from hydra.conformance.contract.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRequest:
    """What is asked for. Without `live` no CLI is started, and nothing is needed.

    `agents` are keys, `adapters` a third party's (`module:NAME`); both empty: all that are known.
    `cases` and `situations` are names, empty for all. `fixtures` is the folder of the recordings,
    None for the usual ones. `drift` is the older version, "" for none. `jobs` run at once.
    """

    agents: Sequence[str] = ()
    adapters: Sequence[str] = ()
    fixtures: Path | None = None
    cases: Sequence[str] = ()
    live: bool = False
    situations: Sequence[str] = ()
    jobs: int = 2
    drift: str = ""
    record: bool = False
    keep: bool = False
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)


@dataclass(frozen=True, slots=True)
class Conformed:
    """The report, the scratch folder of the live part where it was kept, and which versions were
    compared: agent, old, new."""

    report: Report
    folder: Path | None = None
    compared: tuple[tuple[str, str, str], ...] = ()

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        from hydra.reporters.conformance.document import conformance_document

        folder = None if self.folder is None else str(self.folder)
        return conformance_document(self.report, folder=folder, compared=self.compared)


@dataclass(slots=True)
class _Found:
    """What has come together so far."""

    cases: list[Case] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    recorded: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    compared: list[tuple[str, str, str]] = field(default_factory=list)
    network: Network | None = None
    folder: Path | None = None

    def compare(self, pairs: Sequence[Pair]) -> None:
        """Adds what changed in each pair of versions."""
        from hydra.app.conformance.drift import changes

        self.compared += [(subject.key, old.name, new.name) for subject, old, new in pairs]
        self.changes += changes(pairs)


def conformance(request: ConformanceRequest, watcher: Watcher) -> Conformed:
    """Tries all that is asked for. A case that fails is in the report, and raises nothing.

    Raises `UsageError` for a name that nobody has, `NoAgentReady` where nothing can run live,
    `Refused` where there is no room for it or a place cannot be written.
    """
    started, began = time.time(), time.monotonic()
    found = _Found()
    picked = chosen(request.agents, request.adapters, request.fixtures, request.environ)
    found.warnings += picked.problems
    with _ended_by_signals():
        if request.live or request.record:
            _with_clis(request, picked.subjects, watcher, found)
        else:
            _offline(request, picked.subjects, watcher, found)
    report = Report(
        hydra=__version__,
        platform=sys.platform,
        started=started,
        seconds=time.monotonic() - began,
        versions=found.versions,
        third_party=tuple(subject.key for subject in picked.subjects if subject.third_party),
        cases=tuple(found.cases),
        changes=tuple(found.changes),
        network=found.network,
        recorded=tuple(found.recorded),
        warnings=tuple(found.warnings),
        named={subject.key: _named(subject, request) for subject in picked.subjects},
    )
    return Conformed(report, found.folder, tuple(found.compared))


def _named(subject: Subject, request: ConformanceRequest) -> tuple[str, ...]:
    by_spec = subject.spec in request.adapters
    fixtures = () if request.fixtures is None else ("--fixtures", str(request.fixtures))
    return (*(("--adapter", subject.spec) if by_spec else (subject.key,)), *fixtures)


def _contract(
    request: ConformanceRequest, subjects: Sequence[Subject], watcher: Watcher, found: _Found
) -> None:
    for subject in subjects:
        if newest := subject.newest():
            found.versions[subject.key] = newest.version
    found.cases += contract_cases(request.cases, subjects, watcher)


def _offline(
    request: ConformanceRequest, subjects: Sequence[Subject], watcher: Watcher, found: _Found
) -> None:
    """The contract, and what changed between two recorded versions."""
    from hydra.app.conformance import drift as drift

    pairs = list(drift.recorded_pairs(request.drift, subjects)) if request.drift else []
    _contract(request, subjects, watcher, found)
    found.compare(pairs)


def _with_clis(
    request: ConformanceRequest, subjects: Sequence[Subject], watcher: Watcher, found: _Found
) -> None:
    """The same with what is installed: asked, and with `live` run in every situation."""
    # Before any thread, and so before trio: only then all that is started stays inside.
    from hydra.conformance.live import network

    watch = network.enter()
    from hydra.app.conformance import kept as kept
    from hydra.app.conformance import live as live
    from hydra.app.conformance.drift import find_old

    old = find_old(request.drift, subjects) if request.drift else None
    with live.scratch(request.environ, keep=request.keep) as folder:
        run = live.Run(request=request, folder=folder, told=lambda case: tell(watcher, case))
        ready = live.ready(subjects, run)
        if not request.situations:
            _contract(request, subjects, watcher, found)
        found.versions |= ready.versions
        if request.live:
            watcher.began("live", len(ready.situations) * len(ready.programs))
            found.cases += ready.cases
        observed = live.observed(ready, run) if request.live else []
        found.cases += [live.case_of(met, keep=request.keep) for met in observed]
        if request.record:
            found.recorded += kept.record(ready, observed, found.cases, run)
        if old is not None:
            found.warnings += kept.not_compared(ready, old, request.drift)
            found.compare(kept.pairs(ready, observed, found.cases, run, old))
        found.folder = folder if request.keep else None
    found.network = watch.report()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end it in order, as Ctrl-C does: as one, which trio understands too.

    As in a race, a SIGHUP that is ignored already (nohup) stays so, and a SIGINT does not.
    """
    told: list[int] = []

    def end(number: int, _: object) -> None:
        told.append(number)
        signal.raise_signal(signal.SIGINT)

    known = [signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        known.append(hangup)
    before = {number: signal.signal(number, end) for number in known}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except BaseException:  # out of trio it comes as a group
        if told:
            raise SystemExit(EXIT_TERMINATED) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

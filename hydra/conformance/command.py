"""`hydra conformance`: every adapter held against its contract, its real CLI and its last version.

The parts in order: the adapters that are asked for, the contract cases, the installed CLIs in every
situation, what is recorded of them, what has changed since an older version; all in one report.
"""

from __future__ import annotations

import contextlib
import fnmatch
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

import hydra
from hydra import executables
from hydra.conformance import recorded
from hydra.conformance.contract import suite
from hydra.conformance.results import Case, Compared, Report
from hydra.conformance.selection import chosen, find_old, recorded_pairs
from hydra.errors import EXIT_TERMINATED, Refused, UsageError
from hydra.text import nearest

if TYPE_CHECKING:
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.conformance.live.installed import Installed
    from hydra.conformance.live.observation import Observation
    from hydra.conformance.report import Progress
    from hydra.conformance.selection import Old, Pair

SITUATIONS = "situations"
"""The folder in the scratch folder in which they are run."""

UNKNOWN = "unknown"
"""What a version is called whose text nobody understands, where two are compared."""


class ConformanceRequest(Struct, frozen=True, kw_only=True):
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


def conformance(request: ConformanceRequest, watcher: Progress) -> Report:
    """Tries all that is asked for. A case that fails is in the report, and raises nothing.

    Raises `UsageError` for a name that nobody has, `NoAgentReady` where nothing can run live,
    `Refused` where there is no room for it or a place cannot be written.
    """
    began = time.monotonic()
    subjects, problems = chosen(request.agents, request.adapters, request.fixtures, request.environ)
    report = Report(
        hydra=hydra.__version__,
        platform=sys.platform,
        started=time.time(),
        third_party=[subject.key for subject in subjects if subject.third_party],
        warnings=list(problems),
        named={subject.key: _named(subject, request) for subject in subjects},
    )
    call = _Call(request, subjects, watcher, report)
    with _ended_by_signals():
        if request.live or request.record:
            call.with_clis()
        else:
            call.offline()
    report.seconds = time.monotonic() - began
    return report


def _named(subject: ContractSubject, request: ConformanceRequest) -> tuple[str, ...]:
    by_spec = subject.spec in request.adapters
    fixtures = () if request.fixtures is None else ("--fixtures", str(request.fixtures))
    return (*(("--adapter", subject.spec) if by_spec else (subject.key,)), *fixtures)


def contract_cases(
    names: Sequence[str], subjects: Sequence[ContractSubject], watcher: Progress
) -> list[Case]:
    """Every case of the contract, or those that are asked for by name or pattern (`lines.*`).

    Raises `UsageError` for one that is no case's.
    """
    _check_names(names, suite.names(), "no case is called")
    watcher.began("contract", 0)
    cases = []
    for subject in subjects:
        for case in suite.run(subject, only=names):
            cases.append(case)
            watcher.ended(case)
    return cases


def _check_names(names: Sequence[str], texts: Sequence[str], otherwise: str) -> None:
    """Raises `UsageError`, which begins `otherwise`, for a name or pattern that fits no text."""
    for name in names:
        if not fnmatch.filter(texts, name):
            near = nearest(name, texts)
            hint = f"the nearest is {near}; " if near else ""
            raise UsageError(
                f"{otherwise} {name}", hint=f"{hint}`hydra conformance --list` has them"
            )


@dataclass(slots=True)
class _Call:
    """One call: what is asked for, of whom, and what has come of it so far."""

    request: ConformanceRequest
    subjects: Sequence[ContractSubject]
    watcher: Progress
    report: Report

    def offline(self) -> None:
        """The contract, and what changed between two recorded versions."""
        drift = self.request.drift
        pairs = recorded_pairs(drift, self.subjects) if drift else []
        self._contract()
        self._compare(pairs)

    def with_clis(self) -> None:
        """The same with what is installed: asked, and with `live` run in every situation."""
        # Before any thread, and so before trio: only then all that is started stays inside.
        from hydra.conformance.live import network

        watch = network.enter()
        from hydra.conformance.live.installed import ready
        from hydra.conformance.live.run import case
        from hydra.conformance.live.situation import names

        request, report = self.request, self.report
        old = find_old(request.drift, self.subjects) if request.drift else None
        _check_names(request.situations, names(), "there is no situation")
        with _scratch(request) as folder:
            probes = folder / "probes"
            clis = ready(self.subjects, request.agents, request.environ, probes, raced=request.live)
            if not request.situations:
                self._contract()
            report.versions |= clis.versions
            if request.keep:
                self.watcher.keeping(folder)
            observed: list[Observation] = []
            if request.live:
                situations = tuple(dict.fromkeys(request.situations)) or tuple(names())
                self.watcher.began("live", len(situations) * len(clis.programs))
                report.cases += clis.cases
                observed = self._observed(clis, folder, situations)
            report.cases += [case(met, keep=request.keep) for met in observed]
            if request.record:
                self._record(clis, observed)
            if old is not None:
                self._compare_live(clis, observed, folder, old)
            report.folder = folder if request.keep else None
        report.network = watch.report()

    def _contract(self) -> None:
        for subject in self.subjects:
            if newest := subject.newest():
                self.report.versions[subject.key] = newest.version
        self.report.cases += contract_cases(self.request.cases, self.subjects, self.watcher)

    def _compare(self, pairs: Sequence[Pair]) -> None:
        """Adds what changed in each pair of versions."""
        from hydra.conformance.drift import compare

        for subject, old, new in pairs:
            self.report.compared.append(Compared(subject.key, old.name, new.name))
            self.report.changes += compare(subject.adapter, old, new)

    def _observed(
        self, clis: Installed, folder: Path, situations: Sequence[str]
    ) -> list[Observation]:
        """Every situation that was asked for, with each CLI that can be raced."""
        from hydra.conformance.live.run import case, observe

        return observe(
            [subject.adapter for subject in clis.subjects],
            clis.programs,
            only=situations,
            jobs=self.request.jobs,
            folder=folder / SITUATIONS,
            progress=lambda met: self.watcher.ended(case(met)),
        )

    def _record(self, clis: Installed, observed: Sequence[Observation]) -> None:
        """Writes what was seen below `--fixtures`, scrubbed. Raises `Refused`."""
        root = self.request.fixtures or recorded.root()
        if self.request.fixtures is None and root.is_relative_to(Path(hydra.__file__).parent):
            raise Refused(
                f"--record would write into the installed package: {root}",
                hint="name a folder of yours: --record --fixtures DIR",
            )
        try:
            paths = self._written(root, clis, observed, self.report.cases)
        except OSError as error:
            raise Refused(
                f"{root} cannot be written: {error.strerror}", hint="name another: --fixtures DIR"
            ) from error
        self.report.recorded += map(str, paths)

    def _written(
        self,
        root: Path,
        clis: Installed,
        observed: Sequence[Observation],
        cases: Sequence[Case],
        unknown: str = "",
    ) -> list[Path]:
        from hydra.conformance.recording import record

        return record(
            root,
            observed,
            cases,
            {key: agent.answers for key, agent in clis.agents.items()},
            adapters=[subject.adapter for subject in clis.subjects],
            whole=bool(observed) and not self.request.situations,
            unknown=unknown,
        )

    def _compare_live(
        self, clis: Installed, observed: Sequence[Observation], folder: Path, old: Old
    ) -> None:
        """Each agent's older version, recorded or run now, against what is installed."""
        from hydra.conformance.live.installed import of_programs

        folders, programs = old
        new, before = folder / "new", dict(folders)
        self._written(new, clis, observed, self.report.cases, UNKNOWN)
        if programs:  # run in the same situations
            place = folder / "older"
            older = of_programs(clis, self.request.environ, place / "probes", programs)
            situations = tuple(dict.fromkeys(met.situation for met in observed))
            met = self._observed(older, place, situations) if situations else []
            self._written(place / "recorded", older, met, (), UNKNOWN)
            before |= {
                key: place / "recorded" / key / (version or UNKNOWN)
                for key, version in older.versions.items()
            }
        self.report.warnings += [
            f"--drift: {self.request.drift} names no version of {key}, so it was not compared"
            for key in clis.agents
            if key not in before
        ]
        self._compare(
            [
                (subject, before[key], new / key / (clis.versions[key] or UNKNOWN))
                for subject in clis.subjects
                if (key := subject.key) in before and key in clis.agents
            ]
        )


@contextlib.contextmanager
def _scratch(request: ConformanceRequest) -> Iterator[Path]:
    """A fresh folder outside /tmp, where Hydra keeps no state; removed at the end unless kept, and
    in any case where nothing was run in it.

    Raises `Refused` where there is no place or no room for it.
    """
    from hydra.adapters.probe import settings
    from hydra.conformance.race_run import new_folder, scratch_root
    from hydra.disk import below_minimum
    from hydra.workspace.tree import remove

    floor = settings.load(None, request.environ, {}).limits.disk_floor
    low = below_minimum((scratch_root(request.environ),), floor)
    if low is not None:
        raise Refused(
            str(low), hint="make room; the floor is limits.disk_floor in your own hydra.toml"
        )
    folder = new_folder("hydra-conformance-", request.environ)
    try:
        yield folder
    finally:
        if not (request.keep and (folder / SITUATIONS).exists()):
            with contextlib.suppress(OSError):
                remove(folder)


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

"""What conformance found, for a person: a table, what failed and why, what drifted, what to do;
and how far it has come, painted or in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from hydra.conformance.results import Case, CaseVerdict, Compared, Network, Report, VersionChange
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import clean, cut, hanging, quote
from hydra.text import plural

_COLUMNS = (
    Column("agent", least=10),
    Column("version", least=8, optional=1),
    Column("suite"),
    Column("passed", right=True),
    Column("failed", right=True),
    Column("skipped", right=True),
    Column("summed", right=True),
)
NAMED = 4
"""Skipped cases that are named of one agent and one reason: the rest is counted."""

LISTED = 20
"""Changes that Hydra does not mind, of one agent, that are listed: the rest is counted."""

_PAGE = "docs/reference/conformance.md"


def conformance_text(report: Report, width: int | None, color: bool = False) -> str:
    """The report; ends with a newline. `width` None: nothing is wrapped (a pipe)."""
    rows = [_row(report, *group, cases) for group, cases in report.groups().items()]
    folders = Counter(file.rpartition("/")[0] for file in report.recorded)  # a run writes hundreds
    recorded = [f"{plural(number, 'file')} in {folder}" for folder, number in folders.items()]
    blocks = [
        table(rows, _COLUMNS, width, color) if rows else [],
        *(_failure(case, width, color) for case in report.ended(CaseVerdict.FAILED)),
        _listed("skipped", _skips(report), width),
        *(_drift(pair, changes, width, color) for pair, changes in report.drifts().items()),
        _network(report.network, width, color),
        _listed("warning", report.warnings, width),
        _listed("recorded", recorded, width),
        _end(report, width, color),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def took(seconds: float) -> str:
    """`0.4 s`, `12 s`, `2 min 5 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def counted(cases: Sequence[Case]) -> list[str]:
    """How many passed, failed and were skipped, and the seconds of all."""
    counts = Counter(case.verdict for case in cases)
    seconds = took(sum(case.seconds for case in cases))
    return [*(str(counts[verdict]) for verdict in CaseVerdict), seconds]


def party(report: Report, agent: str) -> str:
    """What stands behind the name of a third party's."""
    return " (third party)" if agent in report.third_party else ""


def _row(report: Report, agent: str, suite: str, cases: Sequence[Case]) -> list[Cell]:
    passed, failed, *rest = counted(cases)
    return [
        f"{agent}{party(report, agent)}",
        report.version_of(agent, cases) or "-",
        suite,
        StyledText(passed, "good" if passed != "0" else ""),
        StyledText(failed, "bad" if failed != "0" else ""),
        *rest,
    ]


def _failure(case: Case, width: int | None, color: bool) -> list[str]:
    head = f"{case.who}, {case.suite}: {case.name}"
    lines = _painted("failed  ", head, width, "bad", color)
    lines += _listed("-", case.differences, width, indent=8)
    return lines + hanging("-> ", case.evidence, width, indent=8)


def _skips(report: Report) -> Iterator[str]:
    """One line for each agent and reason: what could not be tried here is mostly one thing."""
    skips: dict[tuple[str, str], list[str]] = {}
    for case in report.ended(CaseVerdict.SKIPPED):
        reason = case.reason or "no reason was given"
        skips.setdefault((case.agent, reason), []).append(case.name)
    for (agent, reason), names in skips.items():
        more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
        yield f"{agent}: {', '.join((*names[:NAMED], *more))}: {reason}"


def _drift(
    pair: Compared, changes: Sequence[VersionChange], width: int | None, color: bool
) -> list[str]:
    minded = [change for change in changes if change.minds]
    count = f"{plural(len(changes), 'change')}, Hydra minds {len(minded) or 'none'}"
    head = f"{pair.agent} {pair.old} -> {pair.new}: {count if changes else 'nothing has changed'}"
    lines = _painted("drift   ", head, width, "bad" if minded else "bold", color)
    for change in minded:
        lines += hanging("! ", change.text, width, indent=8)
        lines += hanging("Hydra minds: ", change.minds, width, indent=10)
    rest = [change.text for change in changes[len(minded) :]]
    lines += _listed("-", rest[:LISTED], width, indent=8)
    more = f"{'':8}and {len(rest) - LISTED} more: --json has all"
    return [*lines, more] if len(rest) > LISTED else lines


def network_sentence(network: Network) -> str:
    """`0 packets off loopback (watched)`, what was tried, or why it was not watched."""
    if not network.watched:
        return f"not watched: {network.reason or 'no reason was given'}"
    which = f"; tried: {', '.join(network.tried)}" if network.tried else ""
    return f"{plural(network.packets, 'packet')} off loopback (watched){which}"


def _network(network: Network | None, width: int | None, color: bool) -> list[str]:
    if network is None:
        return []
    style = "" if network.watched and not network.is_departed else "warn"
    return _painted("network ", network_sentence(network), width, style, color)


def _painted(head: str, text: str, width: int | None, style: str, color: bool) -> list[str]:
    return [paint(line, style, color) for line in hanging(head, text, width)]


def _listed(label: str, texts: Iterable[str], width: int | None, indent: int = 0) -> list[str]:
    return [line for text in texts for line in hanging(f"{label} ", text, width, indent)]


def _end(report: Report, width: int | None, color: bool) -> list[str]:
    parts = [f"{len(report.ended(verdict))} {verdict}" for verdict in CaseVerdict]
    if report.changes:
        changes = plural(len(report.changes), "change")
        parts.append(f"{changes} ({report.minded} that Hydra minds)")
    value = f"{', '.join(parts)} in {took(report.seconds)}"
    lines = _painted("", value, width, "bad" if report.differs else "good", color)
    # Never wrapped: they are to be copied.
    return lines + [f"next: {clean(step)}" for step in next_steps(report)]


def next_steps(report: Report) -> Iterator[str]:
    """What a person does now; nothing where all is as expected and nothing is kept."""
    if failed := report.ended(CaseVerdict.FAILED):
        yield _alone(failed[0], report)
    if report.minded:
        yield f"what Hydra minds needs a change in the agent's adapter: {_PAGE}"
    if report.network is not None and report.network.tried:
        yield f"what a CLI tried may be a switch that its adapter lacks: {_PAGE}"
    if report.folder is not None:
        yield f"rm -rf {quote(str(report.folder))}   # what --keep left"


def _alone(case: Case, report: Report) -> str:
    live = case.suite == "live"
    if live and case.name == "detect":  # no situation: it comes before all of them
        return "hydra doctor   # what is found of that agent"
    how = ("--live", "--keep", "--situation") if live else ("--case",)
    terms = report.named.get(case.agent) or (case.agent,)
    again = " ".join(map(quote, ("hydra", "conformance", *how, case.name, *terms)))
    return f"{again}   # that case alone"


class Progress:
    """Told of each suite and each case; writes to a terminal, or to a log.

    On a terminal (`size` gives its columns) it is one line, repainted. In a log it is a line for
    each live situation, which takes seconds, and one for all cases of the contract.
    """

    def __init__(self, write: Callable[[str], None], size: Callable[[], int] | None) -> None:
        self._write = write
        self._size = size
        self._suite = ""
        self._count = self._done = self._failed = 0

    def began(self, suite: str, count: int) -> None:
        """A suite begins; `count` is how many cases it has, 0 where that is not known."""
        self._close_suite()
        self._suite, self._count, self._done, self._failed = suite, count, 0, 0
        self._paint("")

    def keeping(self, folder: Path) -> None:
        """What is run will lie there, however it ends."""
        self._write(f"keeping {clean(str(folder))}\n")

    def ended(self, case: Case) -> None:
        """One case has ended."""
        self._done += 1
        self._failed += case.verdict is CaseVerdict.FAILED
        if self._size is None and case.suite == "live":
            verdict = "" if case.verdict is CaseVerdict.PASSED else f": {case.verdict}"
            head = f"{took(case.seconds):>6}  {clean(case.who)}  {clean(case.name)}"
            self._write(f"{head}{verdict}\n")
        # Two versions of one agent may run, one after the other.
        self._paint(f"{case.who}: {case.name}")

    def close(self) -> None:
        """Nothing more will come: takes the line off the terminal."""
        self._close_suite()
        if self._size is not None:
            self._write("\r\x1b[K")

    def _close_suite(self) -> None:
        if self._size is None and self._suite == "contract":
            self._write(f"contract: {plural(self._done, 'case')}{self._failures()}\n")
        self._suite = ""

    def _failures(self) -> str:
        return f", {self._failed} failed" if self._failed else ""

    def _paint(self, name: str) -> None:
        if self._size is None:
            return
        of = f" of {self._count}" if self._count else ""
        line = f"{self._suite}  {self._done}{of}{self._failures()}  {name}"
        # One column stays free: a full line would wrap, and leave its first half behind.
        self._write(f"\r\x1b[K{cut(clean(line), self._size() - 1)}")

"""The matrix of what is proved of each agent, made from its records and its recordings.

Nothing in it is typed by hand: a cell is verified by a situation that passed live, observed by a
recorded help text, and unknown otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hydra.adapters.proofs import proven_capabilities, records
from hydra.adapters.proofs.records import DIMENSIONS, PLATFORMS, Record
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.notes import is_real
from hydra.records.agent import Confidence, Tier
from hydra.records.codec import SCHEMA
from hydra.report.document import Document, nulled
from hydra.report.listing import TIERS
from hydra.report.markdown import code, inert, rows_table
from hydra.report.table import Column, StyledText, table

COLUMNS = (*DIMENSIONS, *PLATFORMS)

GENERATE = "hydra conformance --matrix --markdown > docs/reference/agents.md"

SHORT = ("headless", "stream", "edit", "usage", "sandbox", "interrupt", "network_off")
"""The columns of the page's first table: the rest stand in each agent's own."""

MEANING = {
    "headless": "runs a task without a terminal, to its end",
    "stream": "what it prints is understood, line by line",
    "edit": "changes a file",
    "create": "makes a file",
    "delete": "deletes a file",
    "plan": "`--permission plan`: looks, and changes nothing",
    "denials": "a tool that was refused is told as refused",
    "thinking": "its thinking is told apart from its answer",
    "usage": "says what it used",
    "errors": "a service's error ends the lane with its kind and reason",
    "retries": "it tries again by itself, and Hydra waits",
    "limits": "its own limits, and Hydra's, end it with their reason",
    "interrupt": "SIGINT and SIGTERM while a tool runs: its work is kept",
    "sandbox": "confined as in a race, it did not write what it may not",
    "prompt": "a prompt that looks like an option, or has 200 kB, arrives as it is",
    "network_off": "`--no-network` keeps its tools off the network",
    "linux": "situations passed on Linux",
    "macos": "situations passed on macOS",
    "windows": "situations passed on Windows",
}

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_STYLES = {Confidence.VERIFIED: "good", Confidence.OBSERVED: "", Confidence.UNKNOWN: "dim"}

_HEAD = """\
# What is proved of each agent

This page is generated (`{generate}`);
nobody types into it. It says of each agent what Hydra has seen it do, in which version, on which
day, and where the recording of it lies.

- **verified**: a situation that shows it passed with the real CLI, which `hydra conformance
  --live` ran against a scripted model server on loopback. The evidence is the recorded stream.
- **observed**: a flag for it stands in a recorded help text (of a platform: the offline part of
  `hydra conformance` passed there). Nobody has seen it work.
- **unknown**: nothing here shows it.

A situation that fails in a newer version takes *verified* away, and the table names that version.
What an agent cannot do, and Hydra therefore refuses by name, is unknown as well.
`hydra agents NAME` holds the same against the version that is installed with you.

**Platforms.** Races run on Linux. On macOS and Windows probes and the offline part of
`hydra conformance` run and a race is refused, so nothing is verified live there: *unknown* is what
the table says until somebody records it."""


class Cell(Struct, frozen=True):
    """What is known of one dimension of one agent. `evidence` is below `fixtures/adapters/`;
    `note` says in which version it failed, or what else there is to know."""

    confidence: Confidence = Confidence.UNKNOWN
    version: str = ""
    date: str = ""
    platform: str = ""
    evidence: str = ""
    note: str = ""


class AgentSection(Struct, frozen=True):
    """One agent on a page of what is proved of them."""

    agent: str
    label: str
    tier: Tier
    third_party: bool

    @property
    def tier_text(self) -> str:
        """`tier 1`, or `experimental, third party`."""
        return f"{TIERS[self.tier]}{', third party' if self.third_party else ''}"

    @property
    def heading(self) -> str:
        """Its title in Markdown."""
        return f"## {inert(self.label)} ({code(self.agent)}, {self.tier_text})"


class MatrixRow(AgentSection, frozen=True):
    """One agent, its cells by column in the matrix's order."""

    cells: Mapping[str, Cell]


class Matrix(Struct, frozen=True, kw_only=True):
    """Agents by dimensions; the last columns are the platforms."""

    rows: tuple[MatrixRow, ...]

    def cell(self, agent: str, column: str) -> Cell:
        """One cell. Raises `KeyError` where there is none."""
        return {row.agent: row.cells for row in self.rows}[agent][column]

    def document(self) -> Document:
        """The matrix as JSON-ready data; what is unknown is null."""
        agents = nulled(to_builtins(self.rows))
        return {"schema": SCHEMA, "kind": "matrix", "columns": list(COLUMNS), "agents": agents}

    def text(self, width: int | None, color: bool = False) -> str:
        """A line for each dimension, a column for each agent."""
        columns = (Column(""), *(Column(row.agent, least=10) for row in self.rows))
        lines = [
            [StyledText(name), *(_styled(row.cells[name]) for row in self.rows)] for name in COLUMNS
        ]
        return "\n".join(table(lines, columns, width, color)) + "\n"

    def markdown(self) -> str:
        """The whole page `docs/reference/agents.md`; ends with a newline."""
        shown = (*SHORT, *PLATFORMS)
        first = [
            (code(row.agent), row.tier_text, *(_marked(row.cells[name]) for name in shown))
            for row in self.rows
        ]
        blocks = [
            _HEAD.format(generate=GENERATE),
            rows_table(("Agent", "Tier", *map(_title, shown)), first),
            *(block for row in self.rows for block in (row.heading, _table(row))),
        ]
        return "\n\n".join(blocks) + "\n"


def _table(row: MatrixRow) -> str:
    lines = [
        (
            _title(name),
            MEANING[name],
            _marked(cell),
            code(cell.version),
            cell.date if _DAY.fullmatch(cell.date) else inert(cell.date),
            _link(cell.evidence, row.third_party),
        )
        for name, cell in row.cells.items()
    ]
    return rows_table(("What", "It means", "", "Version", "Date", "Evidence"), lines)


def _link(evidence: str, third_party: bool) -> str:
    name = code(evidence.rpartition("/")[2])
    return name if third_party or not name else f"[{name}](../../fixtures/adapters/{evidence})"


def _marked(cell: Cell) -> str:
    return "; ".join(filter(None, (cell.confidence.value, inert(cell.note))))


def _styled(cell: Cell) -> StyledText:
    parts = (cell.confidence.value, cell.version, cell.note and f"({cell.note})")
    style = "warn" if cell.note else _STYLES[cell.confidence]
    return StyledText(" ".join(filter(None, parts)), style)


def _title(name: str) -> str:
    own = {"macos": "macOS", "linux": "Linux", "windows": "Windows"}
    return own.get(name, name.replace("_", " "))


def matrix(subjects: Sequence[ContractSubject], *, all: bool = False) -> Matrix:
    """A row for each adapter, in their order; one of a third party without records only if `all`.

    Raises `RecordError` for a record that is damaged or from a newer Hydra.
    """
    read = [(each, records.read_all(each.recordings, each.key)) for each in subjects]
    shown = [pair for pair in read if pair[1] or all or not pair[0].third_party]
    return Matrix(rows=tuple(_row(*pair) for pair in shown))


def _row(subject: ContractSubject, entries: Sequence[Record]) -> MatrixRow:
    cells = dict.fromkeys(COLUMNS, Cell()) | _observed(subject)
    for name in DIMENSIONS:
        proof = proven_capabilities.standing(entries, name)
        if proof is not None and proof.passed:
            cell = Cell(Confidence.VERIFIED, proof.version, proof.date, proof.platform)
            cells[name] = replace(cell, evidence=proof.evidence)
        elif proof is not None:
            cells[name] = replace(cells[name], evidence=proof.evidence, note=proof.note)
    for record in entries:  # the newest of a platform comes last
        if record.platform in PLATFORMS and verdicts(record):
            cells[record.platform] = _platform(record)
    descriptor = subject.adapter.descriptor
    return MatrixRow(subject.key, descriptor.label, descriptor.tier, subject.third_party, cells)


def _observed(subject: ContractSubject) -> dict[str, Cell]:
    """The dimensions whose flags stand in the newest recorded help, by the adapter's own table."""
    real = [recording for recording in subject.versions() if is_real(recording.folder)]
    if not real:
        return {}
    flags = subject.detect(subject.probes(real[-1])).flags
    version = real[-1].version
    cell = Cell(Confidence.OBSERVED, version, evidence=f"{real[-1].agent}/{version}")
    names = proven_capabilities.tied(subject.adapter, flags)
    return {dimension: cell for name in names for dimension in proven_capabilities.BEHIND[name]}


def _platform(record: Record) -> Cell:
    """Verified where situations passed, and nothing failed."""
    failed = [name for name, passed in verdicts(record).items() if not passed]
    best = Confidence.VERIFIED if record.situations else Confidence.OBSERVED
    confidence = Confidence.UNKNOWN if failed else best
    evidence = f"{record.agent}/{record.version}/{record.name}"
    note = f"{', '.join(failed)} failed in {record.version}" if failed else ""
    return Cell(confidence, record.version, record.date, record.platform, evidence, note)


def verdicts(record: Record) -> dict[str, bool]:
    """Whether each of its situations, and each case of the offline suite, has passed."""
    return {name: proof.passed for name, proof in record.situations.items()} | {**record.contract}

"""The matrix of what is proved of each agent, made from its records and its recordings.

Nothing in it is typed by hand: a cell is verified by a situation that passed live, observed by a
recorded help text, and unknown otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import proven_capabilities, records
from hydra.adapters.proofs.records import DIMENSIONS, PLATFORMS, Record
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.notes import is_real
from hydra.conformance.recorded import Recording
from hydra.records.agent import Confidence, Tier
from hydra.records.codec import SCHEMA
from hydra.report.document import Document
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
the table says until somebody records it.
"""


class Cell(Struct, frozen=True):
    """What is known of one dimension of one agent. `evidence` is below `fixtures/adapters/`;
    `note` says in which version it failed, or what else there is to know."""

    confidence: Confidence = Confidence.UNKNOWN
    version: str = ""
    date: str = ""
    platform: str = ""
    evidence: str = ""
    note: str = ""


class MatrixRow(Struct, frozen=True, kw_only=True):
    """One agent, its cells by column in the matrix's order."""

    agent: str
    label: str
    tier: Tier
    third_party: bool
    cells: dict[str, Cell]


class Matrix(Struct, frozen=True, kw_only=True):
    """Agents by dimensions; the last columns are the platforms."""

    rows: tuple[MatrixRow, ...]

    def cell(self, agent: str, column: str) -> Cell:
        """One cell. Raises `KeyError` where there is none."""
        return {row.agent: row.cells for row in self.rows}[agent][column]

    def document(self) -> Document:
        """The matrix as JSON-ready data; what is unknown is null."""
        agents = []
        for row in self.rows:
            cells = {
                name: {key: value or None for key, value in asdict(cell).items()}
                for name, cell in row.cells.items()
            }
            agents.append({**asdict(row), "tier": row.tier.value, "cells": cells})
        return {"schema": SCHEMA, "kind": "matrix", "columns": list(COLUMNS), "agents": agents}

    def text(self, width: int | None, color: bool = False) -> str:
        """A line for each dimension, a column for each agent."""
        columns = (Column(""), *(Column(row.agent, least=10) for row in self.rows))
        lines: list[list[str | StyledText]] = [
            [name, *(_styled(row.cells[name]) for row in self.rows)] for name in COLUMNS
        ]
        return "\n".join(table(lines, columns, width, color)) + "\n"

    def markdown(self) -> str:
        """The whole page `docs/reference/agents.md`; ends with a newline."""
        shown = (*SHORT, *PLATFORMS)
        first = [
            [
                code(row.agent),
                tier_named(row.tier, row.third_party),
                *(_cell_text(row.cells[name]) for name in shown),
            ]
            for row in self.rows
        ]
        blocks = [
            _HEAD.format(generate=GENERATE).rstrip("\n"),
            rows_table(["Agent", "Tier", *map(_title, shown)], first),
            *(block for row in self.rows for block in _agent(row)),
        ]
        return "\n\n".join(blocks) + "\n"


def matrix(subjects: Sequence[ContractSubject], *, all: bool = False) -> Matrix:
    """A row for each adapter, in their order; one of a third party without records only if `all`.

    Raises `RecordError` for a record that is damaged or from a newer Hydra.
    """
    return Matrix(
        rows=tuple(
            _row(subject, entries)
            for subject in subjects
            if (entries := records.read_all(subject.recordings, subject.key))
            or all
            or not subject.third_party
        )
    )


def _row(subject: ContractSubject, entries: Sequence[Record]) -> MatrixRow:
    real = [recording for recording in subject.versions() if is_real(recording.folder)]
    seen = _observed(subject.adapter, real[-1]) if real else {}
    cells = {name: _dimension(entries, name, seen.get(name, Cell())) for name in DIMENSIONS}
    return MatrixRow(
        agent=subject.key,
        label=subject.adapter.descriptor.label,
        tier=subject.adapter.descriptor.tier,
        third_party=subject.third_party,
        cells=cells | {name: _platform(entries, name) for name in PLATFORMS},
    )


def _observed(adapter: Adapter, recording: Recording) -> dict[str, Cell]:
    """The dimensions whose flags stand in the recorded help, by the adapter's own table."""
    descriptor = adapter.descriptor
    result = adapter.detect(descriptor.binaries[0], recording.probes(descriptor.probes))
    names = proven_capabilities.tied(adapter, result.flags)
    cell = Cell(
        confidence=Confidence.OBSERVED,
        version=recording.version,
        evidence=f"{recording.agent}/{recording.version}",
    )
    return {dimension: cell for name in names for dimension in proven_capabilities.BEHIND[name]}


def _dimension(entries: Sequence[Record], name: str, otherwise: Cell) -> Cell:
    proof = proven_capabilities.standing(entries, name)
    if proof is None:
        return otherwise
    if not proof.passed:
        seen, version = otherwise.confidence, otherwise.version
        return Cell(seen, version, evidence=proof.evidence, note=proof.note)
    return Cell(Confidence.VERIFIED, proof.version, proof.date, proof.platform, proof.evidence)


def _platform(entries: Sequence[Record], name: str) -> Cell:
    """The newest record of that platform: verified where situations passed, and none failed."""
    for record in reversed(entries):
        if record.platform != name or not (record.situations or record.contract):
            continue
        failed = [*_failed(record)]
        confidence = Confidence.VERIFIED if record.situations else Confidence.OBSERVED
        return Cell(
            confidence=Confidence.UNKNOWN if failed else confidence,
            version=record.version,
            date=record.date,
            platform=name,
            evidence=f"{record.agent}/{record.version}/{record.name}",
            note=f"{', '.join(failed)} failed in {record.version}" if failed else "",
        )
    return Cell()


def _failed(record: Record) -> Iterator[str]:
    yield from (name for name, proof in record.situations.items() if not proof.passed)
    yield from (name for name, passed in record.contract.items() if not passed)


def _styled(cell: Cell) -> StyledText:
    parts = (cell.confidence.value, cell.version, cell.note and f"({cell.note})")
    text = " ".join(part for part in parts if part)
    return StyledText(text, "warn" if cell.note else _STYLES[cell.confidence])


def _agent(row: MatrixRow) -> list[str]:
    lines = [
        [
            _title(name),
            MEANING.get(name, ""),
            _cell_text(cell),
            code(cell.version),
            cell.date if _DAY.fullmatch(cell.date) else inert(cell.date),
            _evidence(cell, row),
        ]
        for name, cell in row.cells.items()
    ]
    head = ["What", "It means", "", "Version", "Date", "Evidence"]
    tier = tier_named(row.tier, row.third_party)
    return [f"## {inert(row.label)} ({code(row.agent)}, {tier})", rows_table(head, lines)]


def tier_named(tier: Tier, third_party: bool) -> str:
    """`tier 1`, or `experimental, third party`."""
    return f"{TIERS[tier]}, third party" if third_party else TIERS[tier]


def _cell_text(cell: Cell) -> str:
    return f"{cell.confidence.value}; {inert(cell.note)}" if cell.note else cell.confidence.value


def _evidence(cell: Cell, row: MatrixRow) -> str:
    if not cell.evidence:
        return ""
    name = cell.evidence.rstrip("/").split("/")[-1]
    if row.third_party:
        return code(name)
    return f"[{code(name)}](../../fixtures/adapters/{cell.evidence})"


def _title(name: str) -> str:
    return {"macos": "macOS", "linux": "Linux", "windows": "Windows"}.get(
        name, name.replace("_", " ")
    )

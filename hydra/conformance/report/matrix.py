"""The matrix of what is proved of each agent: a table for a terminal, a page, a document."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import asdict

from hydra.records.agent import Confidence, Tier
from hydra.records.codec import SCHEMA
from hydra.report import table as tables
from hydra.report.document import Document
from hydra.report.listing import TIERS
from hydra.report.markdown import code, inert, rows_table
from hydra.report.table import Column, StyledText

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
    """One agent, its cells in the order of the matrix's columns."""

    agent: str
    label: str
    tier: Tier
    third_party: bool
    cells: tuple[Cell, ...]


class Matrix(Struct, frozen=True, kw_only=True):
    """Agents by dimensions; the last columns are the platforms."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]

    def cell(self, agent: str, column: str) -> Cell:
        """One cell. Raises `KeyError` where there is none."""
        for row in self.rows:
            if row.agent == agent and column in self.columns:
                return row.cells[self.columns.index(column)]
        raise KeyError((agent, column))


def matrix_document(matrix: Matrix) -> Document:
    """The matrix as JSON-ready data; what is unknown is null."""
    return {
        "schema": SCHEMA,
        "kind": "matrix",
        "columns": list(matrix.columns),
        "agents": [
            {
                "agent": row.agent,
                "label": row.label,
                "tier": row.tier.value,
                "third_party": row.third_party,
                "cells": {
                    name: {key: value or None for key, value in asdict(cell).items()}
                    for name, cell in zip(matrix.columns, row.cells, strict=True)
                },
            }
            for row in matrix.rows
        ],
    }


def matrix_text(matrix: Matrix, *, width: int | None, color: bool = False) -> str:
    """A line for each dimension, a column for each agent."""
    columns = (Column(""), *(Column(row.agent, least=10) for row in matrix.rows))
    lines: list[list[tables.Cell]] = [
        [name, *(_styled(row.cells[place]) for row in matrix.rows)]
        for place, name in enumerate(matrix.columns)
    ]
    return "\n".join(tables.table(lines, columns, width, color)) + "\n"


def _styled(cell: Cell) -> StyledText:
    return StyledText(_brief(cell), "warn" if cell.note else _STYLES[cell.confidence])


def _brief(cell: Cell) -> str:
    parts = (cell.confidence.value, cell.version, cell.note and f"({cell.note})")
    return " ".join(part for part in parts if part)


def matrix_markdown(matrix: Matrix) -> str:
    """The whole page `docs/reference/agents.md`; ends with a newline."""
    shown = [name for name in (*SHORT, *matrix.columns[-3:]) if name in matrix.columns]
    first = [
        [
            code(row.agent),
            tier_named(row.tier, row.third_party),
            *(_cell_text(row.cells[matrix.columns.index(name)]) for name in shown),
        ]
        for row in matrix.rows
    ]
    blocks = [
        _HEAD.format(generate=GENERATE).rstrip("\n"),
        rows_table(["Agent", "Tier", *(_title(name) for name in shown)], first),
        *(block for row in matrix.rows for block in _agent(matrix, row)),
    ]
    return "\n\n".join(blocks) + "\n"


def _agent(matrix: Matrix, row: MatrixRow) -> list[str]:
    lines = [
        [
            _title(name),
            MEANING.get(name, ""),
            _cell_text(cell),
            code(cell.version),
            cell.date if _DAY.fullmatch(cell.date) else inert(cell.date),
            _evidence(cell, row),
        ]
        for name, cell in zip(matrix.columns, row.cells, strict=True)
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

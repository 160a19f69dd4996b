"""What `hydra conformance --list` names: the contract's cases, the situations, the versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hydra.report.markdown import code, inert
from hydra.report.table import Column, table

SCHEMA = 1


class Names(Struct, frozen=True, kw_only=True):
    """Cases of every agent, situations with what each is about, recorded versions by agent."""

    cases: Sequence[str]
    situations: Mapping[str, str]
    versions: Mapping[str, Sequence[str]]


def names_document(names: Names) -> dict[str, object]:
    """As JSON-ready data."""
    return {
        "schema": SCHEMA,
        "kind": "conformance names",
        "cases": {agent: list(names.cases) for agent in names.versions},
        "situations": [{"name": name, "about": text} for name, text in names.situations.items()],
        "recorded": {agent: list(names) for agent, names in names.versions.items()},
    }


def names_text(names: Names, width: int | None) -> str:
    """A block for each kind; ends with a newline."""
    cases = [[name, ""] for name in names.cases]
    situations = [[name, about] for name, about in names.situations.items()]
    versions = [[agent, ", ".join(texts) or "none"] for agent, texts in names.versions.items()]
    columns = (Column("name"), Column("about", wraps=True, least=30))
    lines: list[str] = []
    for title, rows in (
        ("cases of the contract (--case)", cases),
        ("situations (--live --situation)", situations),
        ("recorded versions (--drift)", versions),
    ):
        lines += [title, *table(rows, columns, width, False, header=False), ""]
    return "\n".join(lines[:-1]) + "\n"


def names_markdown(names: Names) -> str:
    """The same as lists."""
    lines = ["### Cases of the contract", ""]
    lines += [f"- {code(name)}" for name in names.cases]
    lines += ["", "### Situations", ""]
    lines += [f"- {code(name)}: {inert(about)}" for name, about in names.situations.items()]
    lines += ["", "### Recorded versions", ""]
    lines += [
        f"- {code(a)}: {inert(', '.join(texts) or 'none')}" for a, texts in names.versions.items()
    ]
    return "\n".join(lines) + "\n"

"""What `hydra conformance --list` names: the contract's cases, the situations, the versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hydra.report.markdown import code, inert
from hydra.report.table import Column, table

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Cases and recorded versions by agent, situations with what each is about."""

    cases: Mapping[str, Sequence[str]]
    situations: Mapping[str, str]
    versions: Mapping[str, Sequence[str]]

    @property
    def agents_of(self) -> dict[str, list[str]]:
        """Each case with the agents that have it."""
        rows: dict[str, list[str]] = {}
        for agent, names in self.cases.items():
            for name in names:
                rows.setdefault(name, []).append(agent)
        return rows


def names_document(names: Names) -> dict[str, object]:
    """As JSON-ready data."""
    return {
        "schema": SCHEMA,
        "kind": "conformance names",
        "cases": {agent: list(cases) for agent, cases in names.cases.items()},
        "situations": [{"name": name, "about": text} for name, text in names.situations.items()],
        "recorded": {agent: list(names) for agent, names in names.versions.items()},
    }


def names_text(names: Names, width: int | None) -> str:
    """A block for each kind; ends with a newline."""
    all = len(names.cases)
    cases = [
        [name, "" if len(agents) == all else f"({', '.join(agents)})"]
        for name, agents in names.agents_of.items()
    ]
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
    lines += [
        f"- {code(name)}: {inert(', '.join(texts))}" for name, texts in names.agents_of.items()
    ]
    lines += ["", "### Situations", ""]
    lines += [f"- {code(name)}: {inert(about)}" for name, about in names.situations.items()]
    lines += ["", "### Recorded versions", ""]
    lines += [
        f"- {code(a)}: {inert(', '.join(texts) or 'none')}" for a, texts in names.versions.items()
    ]
    return "\n".join(lines) + "\n"

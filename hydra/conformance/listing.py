"""What `hydra conformance --list` names: the contract's cases, the situations, the versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.live.situation import load_all
from hydra.conformance.recorded import versions
from hydra.records.codec import SCHEMA
from hydra.report.document import Document
from hydra.report.markdown import code, inert
from hydra.report.table import Column, table


class Names(Struct, frozen=True, kw_only=True):
    """Cases of every agent, situations with what each is about, recorded versions by agent."""

    cases: Sequence[str]
    situations: Mapping[str, str]
    versions: Mapping[str, Sequence[str]]

    def document(self) -> Document:
        """As JSON-ready data."""
        situations = [{"name": name, "about": about} for name, about in self.situations.items()]
        return {
            "schema": SCHEMA,
            "kind": "conformance names",
            "cases": {agent: list(self.cases) for agent in self.versions},
            "situations": situations,
            "recorded": dict(self.versions),
        }

    def text(self, width: int | None, color: bool = False) -> str:
        """A block for each kind; ends with a newline."""
        columns = (Column("name"), Column("about", wraps=True, least=30))
        titles = (
            "cases of the contract (--case)",
            "situations (--live --situation)",
            "recorded versions (--drift)",
        )
        blocks = [
            [title, *table(list(map(list, rows.items())), columns, width, color, header=False)]
            for title, rows in zip(titles, self._blocks(), strict=True)
        ]
        return "\n\n".join("\n".join(block) for block in blocks) + "\n"

    def markdown(self) -> str:
        """The same as lists."""
        titles = ("Cases of the contract", "Situations", "Recorded versions")
        blocks = [
            f"### {title}\n\n" + "\n".join(f"- {_entry(*row)}" for row in rows.items())
            for title, rows in zip(titles, self._blocks(), strict=True)
        ]
        return "\n\n".join(blocks) + "\n"

    def _blocks(self) -> tuple[Mapping[str, str], ...]:
        numbers = {agent: ", ".join(texts) or "none" for agent, texts in self.versions.items()}
        return dict.fromkeys(self.cases, ""), self.situations, numbers


def _entry(name: str, about: str) -> str:
    return f"{code(name)}: {inert(about)}" if about else code(name)


def names(subjects: Sequence[ContractSubject]) -> Names:
    """The names of what can be tried on them."""
    return Names(
        cases=suite.names(),
        situations={situation.name: situation.about for situation in load_all()},
        versions={subject.key: versions(subject.recordings, subject.key) for subject in subjects},
    )

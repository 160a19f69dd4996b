"""What `hydra conformance` tells without running an agent: names, the matrix, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hydra.conformance import recorded
from hydra.conformance.command.contract import contract_cases
from hydra.conformance.command.request import ConformanceRequest
from hydra.conformance.command.subjects import ConformanceSubjects, chosen
from hydra.errors import Refused

if TYPE_CHECKING:
    from hydra.conformance.report.progress import Progress


class FactsTable(Struct, frozen=True):
    """The same facts in three forms; `text` is given the width (None: any) and if to colour."""

    document: Mapping[str, Any]
    markdown: str
    text: Callable[[int | None, bool], str]


def facts(name: str, request: ConformanceRequest, watcher: Progress) -> FactsTable:
    """`name` is listing, matrix or promotion. Raises as `chosen` does.

    Only promotion takes its time: it runs the contract, of which `watcher` is told.
    """
    subjects = chosen(request.agents, request.adapters, request.fixtures, request.environ)
    if name == "promotion":
        return _promotion(subjects, watcher)
    named = bool(request.agents or request.adapters)
    return _matrix(subjects, named) if name == "matrix" else _listing(subjects)


def _listing(subjects: ConformanceSubjects) -> FactsTable:
    from hydra.conformance.contract import suite
    from hydra.conformance.live.situation import load_all
    from hydra.conformance.report.names import Names, names_document, names_markdown, names_text

    names = Names(
        cases=suite.names(),
        situations={situation.name: situation.about for situation in load_all()},
        versions={
            subject.key: recorded.versions(subject.recordings, subject.key)
            for subject in subjects.subjects
        },
    )
    return FactsTable(
        names_document(names), names_markdown(names), lambda width, color: names_text(names, width)
    )


def _matrix(subjects: ConformanceSubjects, named: bool) -> FactsTable:
    from hydra.conformance.matrix import matrix
    from hydra.conformance.report.matrix import matrix_document, matrix_markdown, matrix_text

    grid = matrix(
        recorded.root(),
        [subject.adapter for subject in subjects.subjects],
        elsewhere=_elsewhere(subjects),
        third_party=_third_party(subjects),
        all=named,
    )
    return FactsTable(
        matrix_document(grid),
        matrix_markdown(grid),
        lambda width, color: matrix_text(grid, width=width, color=color),
    )


def _promotion(subjects: ConformanceSubjects, watcher: Progress) -> FactsTable:
    from hydra.conformance.promotion import promotion
    from hydra.conformance.report.promotion import (
        promotion_document,
        promotion_markdown,
        promotion_text,
    )

    promotions = promotion(
        recorded.root(),
        [subject.adapter for subject in subjects.subjects],
        contract_cases((), subjects.subjects, watcher),
        elsewhere=_elsewhere(subjects),
        third_party=_third_party(subjects),
    )
    return FactsTable(
        promotion_document(promotions),
        promotion_markdown(promotions),
        lambda width, color: promotion_text(promotions, width=width, color=color),
    )


def _elsewhere(subjects: ConformanceSubjects) -> dict[str, Path]:
    return {subject.key: subject.recordings for subject in subjects.subjects}


def _third_party(subjects: ConformanceSubjects) -> list[str]:
    return [subject.key for subject in subjects.subjects if subject.third_party]


def write_junit(file: Path, document: Mapping[str, Any]) -> None:
    """Writes the file whole, over one that is there. Raises `Refused` where that cannot be."""
    from hydra.conformance.report.junit import conformance_junit

    data = conformance_junit(document)
    try:
        file.write_bytes(data)
    except OSError as error:
        raise Refused(
            f"{file} cannot be written: {error.strerror}", hint="name another file: --junit FILE"
        ) from error

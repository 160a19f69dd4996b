"""What `hydra conformance` tells without running an agent: names, the matrix, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra import executables
from hydra.app.conformance.contract import Watcher, contract_cases
from hydra.app.conformance.subjects import Chosen, chosen
from hydra.conformance import recorded
from hydra.errors import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsRequest:
    """Of whom; as in `ConformanceRequest`."""

    agents: Sequence[str] = ()
    adapters: Sequence[str] = ()
    fixtures: Path | None = None
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)


@dataclass(frozen=True, slots=True)
class Told:
    """The same facts in three forms; `text` is given the width (None: any) and if to colour."""

    document: Mapping[str, Any]
    markdown: str
    text: Callable[[int | None, bool], str]


def facts(name: str, request: FactsRequest, watcher: Watcher) -> Told:
    """`name` is listing, matrix or promotion. Raises as `chosen` does.

    Only promotion takes its time: it runs the contract, of which `watcher` is told.
    """
    found = chosen(request.agents, request.adapters, request.fixtures, request.environ)
    if name == "promotion":
        return _promotion(found, watcher)
    named = bool(request.agents or request.adapters)
    return _matrix(found, named) if name == "matrix" else _listing(found)


def _listing(found: Chosen) -> Told:
    from hydra.conformance.contract import suite
    from hydra.conformance.live.situation import load_all
    from hydra.reporters.conformance.names import Names, names_document, names_markdown, names_text

    told = Names(
        cases={subject.key: suite.names(subject) for subject in found.subjects},
        situations={one.name: one.about for one in load_all()},
        versions={
            subject.key: recorded.versions(subject.recordings, subject.key)
            for subject in found.subjects
        },
    )
    return Told(
        names_document(told), names_markdown(told), lambda width, color: names_text(told, width)
    )


def _matrix(found: Chosen, named: bool) -> Told:
    from hydra.conformance.matrix import matrix
    from hydra.reporters.conformance.matrix import matrix_document, matrix_markdown, matrix_text

    told = matrix(
        recorded.root(),
        [subject.adapter for subject in found.subjects],
        elsewhere=_elsewhere(found),
        third_party=_third_party(found),
        all=named,
    )
    return Told(
        matrix_document(told),
        matrix_markdown(told),
        lambda width, color: matrix_text(told, width=width, color=color),
    )


def _promotion(found: Chosen, watcher: Watcher) -> Told:
    from hydra.conformance.promotion import promotion
    from hydra.reporters.conformance.promotion import (
        promotion_document,
        promotion_markdown,
        promotion_text,
    )

    told = promotion(
        recorded.root(),
        [subject.adapter for subject in found.subjects],
        contract_cases((), found.subjects, watcher),
        elsewhere=_elsewhere(found),
        third_party=_third_party(found),
    )
    return Told(
        promotion_document(told),
        promotion_markdown(told),
        lambda width, color: promotion_text(told, width=width, color=color),
    )


def _elsewhere(found: Chosen) -> dict[str, Path]:
    return {subject.key: subject.recordings for subject in found.subjects}


def _third_party(found: Chosen) -> list[str]:
    return [subject.key for subject in found.subjects if subject.third_party]


def case_names() -> list[str]:
    """The cases of Hydra's own adapters, each once."""
    from hydra.conformance.contract import suite

    return list(dict.fromkeys(name for one in suite.built_in() for name in suite.names(one)))


def write_junit(file: Path, document: Mapping[str, Any]) -> None:
    """Writes the file whole, over one that is there. Raises `Refused` where that cannot be."""
    from hydra.reporters.conformance.junit import conformance_junit

    data = conformance_junit(document)
    try:
        file.write_bytes(data)
    except OSError as error:
        raise Refused(
            f"{file} cannot be written: {error.strerror}", hint="name another file: --junit FILE"
        ) from error

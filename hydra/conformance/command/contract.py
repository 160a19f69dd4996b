"""Runs the contract suite on the adapters that are asked for, and tells how far it has come."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hydra.conformance.contract import suite
from hydra.conformance.results import Case
from hydra.errors import UsageError
from hydra.text import nearest

if TYPE_CHECKING:
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.conformance.report.progress import Progress


def contract_cases(
    names: Sequence[str], subjects: Sequence[ContractSubject], watcher: Progress
) -> list[Case]:
    """Every case, or those that are asked for by name or pattern (`lines.*`).

    Raises `UsageError` for one that is no case's.
    """
    check_names(names, suite.names(), "no case is called")
    watcher.began("contract", 0)
    cases = []
    for subject in subjects:
        for case in suite.run(subject, only=names):
            cases.append(case)
            tell(watcher, case)
    return cases


def check_names(names: Sequence[str], texts: Sequence[str], otherwise: str) -> None:
    """Raises `UsageError`, which begins `otherwise`, for a name or pattern that fits no text."""
    for name in names:
        if not fnmatch.filter(texts, name):
            near = nearest(name, texts)
            hint = f"the nearest is {near}; " if near else ""
            raise UsageError(
                f"{otherwise} {name}", hint=f"{hint}`hydra conformance --list` has them"
            )


def tell(watcher: Progress, case: Case) -> None:
    """Tells of a case that has ended."""
    # Two versions of one agent may run, one after the other.
    agent = f"{case.agent} {case.version}".strip()
    watcher.ended(agent, case.suite, case.name, case.verdict.value, case.seconds)

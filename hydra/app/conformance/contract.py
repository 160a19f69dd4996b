"""Runs the contract suite on the adapters that are asked for, and tells how far it has come."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hydra.conformance import racing
from hydra.conformance.contract import suite
from hydra.conformance.results import Case
from hydra.errors import UsageError

if TYPE_CHECKING:
    from hydra.conformance.contract.subject import Subject


class Watcher(Protocol):
    """Who is told how far it has come."""

    def began(self, suite: str, count: int) -> None:
        """A suite begins; `count` is how many cases it has, 0 where that is not known."""

    def ended(self, agent: str, suite: str, name: str, verdict: str, seconds: float) -> None:
        """One case has ended."""


def contract_cases(
    asked: Sequence[str], subjects: Sequence[Subject], watcher: Watcher
) -> list[Case]:
    """Every case, or those that are asked for by name or pattern (`lines.*`).

    Raises `UsageError` for one that is no case's.
    """
    _check_names(asked, subjects)
    watcher.began("contract", 0)
    made = []
    try:
        for case in suite.run_all(subjects, only=asked):
            made.append(case)
            tell(watcher, case)
    except KeyboardInterrupt:
        racing.end_all()
        raise
    return made


def _check_names(asked: Sequence[str], subjects: Sequence[Subject]) -> None:
    known = list(dict.fromkeys(name for subject in subjects for name in suite.names(subject)))
    for name in asked:
        if not fnmatch.filter(known, name):
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = f"the nearest is {near[0]}; " if near else ""
            raise UsageError(
                f"no case is called {name}", hint=f"{hint}`hydra conformance --list` has them"
            )


def tell(watcher: Watcher, case: Case) -> None:
    """Tells of a case that has ended."""
    # Two versions of one agent may run, one after the other.
    agent = f"{case.agent} {case.version}".strip()
    watcher.ended(agent, case.suite, case.name, case.verdict.value, case.seconds)

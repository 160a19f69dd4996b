"""A check that was run on a tree that no lane left as it is, or that was not run, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from hydra.checks.record import CheckResult

Kind = Literal["protected", "cross", "canary"]

NO_CANARY = "the check did not run them on the base"
"""Why tests that must fail were not tried on a patch: the check runs none of their language."""


class Trial(Struct, frozen=True, kw_only=True):
    """One check that was run on a tree that no lane left as it is.

    `protected`: a lane's patch with the base's tests (`configuration`: and what
    configures them). `cross`: the tests of `author` on the patch of `on`, or on the base where
    `on` is "". `canary`: tests that must fail on the patch of `on`; `passes` names what passes all
    the same. `paths` are the files put back or brought; `result` is compared with the base's own.
    """

    kind: Kind
    on: str
    result: CheckResult
    author: str = ""
    paths: tuple[str, ...] = ()
    configuration: bool = False
    passes: tuple[str, ...] = ()


def put_back(trials: Iterable[Trial], on: str, check: str) -> CheckResult | None:
    """A lane's check with the base's tests, and with what configures them if it changed that."""
    runs = [
        trial
        for trial in trials
        if (trial.kind, trial.on, trial.result.check.name) == ("protected", on, check)
    ]
    return max(runs, key=lambda trial: trial.configuration).result if runs else None


class NotTried(Struct, frozen=True, kw_only=True):
    """A trial that was not made, and why, in a clause ("the limit of 40 runs was reached")."""

    kind: Kind
    on: str
    author: str = ""
    why: str = ""

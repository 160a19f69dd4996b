"""Where agents that speak the Agent Client Protocol differ, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from re import Pattern

from hydra.model import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """Where agents differ. `modes` are its words for a permission, the first that it offers is
    taken; `sign_in` ids of methods that need no person; `usage` where totals are told (`Spent`).

    `trouble` is how a failure of the model's service begins that is told as a message, behind
    which the agent says that it is done; `retry` how a try is told that failed, `notice` what else
    is told as a message and is none of the model's. `meta` is its name in `_meta`, where it tells
    its thread's status: `systemError` where a turn broke off. `forgets`: of some calls the end is
    not told.
    """

    label: str
    modes: Mapping[Permission, tuple[str, ...]] = field(default_factory=dict)
    sign_in: tuple[str, ...] = ()
    usage: str = "answer"
    trouble: Pattern[str] | None = None
    retry: Pattern[str] | None = None
    notice: Pattern[str] | None = None
    meta: str = ""
    forgets: bool = False

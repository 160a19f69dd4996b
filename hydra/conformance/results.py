"""What conformance found, as records: a case for each thing that was tried, and all of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field


class CaseVerdict(StrEnum):
    """How one case ended. A case that could not be tried is never one that passed."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Case(Struct, frozen=True, kw_only=True):
    """One thing that was tried on one agent.

    `suite` is `contract` (the adapter by itself) or `live` (the installed CLI).
    `differences` are sentences, each of which names the flag, the field or the event; `reason` is
    why it was skipped; `evidence` a file or folder that shows it, or "".
    """

    suite: str
    agent: str
    name: str
    verdict: CaseVerdict
    version: str = ""
    differences: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    evidence: str = ""


class VersionChange(Struct, frozen=True, kw_only=True):
    """One thing that two versions of a CLI have differently, in one sentence.

    `what` is help, event, field or outcome; `how` appeared, vanished or changed; `minds` says what
    Hydra loses by it, "" where it does not mind.
    """

    agent: str
    old: str
    new: str
    what: str
    how: str
    name: str
    text: str
    minds: str = ""


class Network(Struct, frozen=True, kw_only=True):
    """What left, or tried to leave, the machine during a live run.

    `watched` is False where it could not be seen, `reason` then says why. `tried` are the names
    and addresses, each once; `packets` those that went towards anything but loopback.
    """

    watched: bool
    reason: str = ""
    packets: int = 0
    tried: tuple[str, ...] = ()

    @property
    def is_departed(self) -> bool:
        """Whether anything did."""
        return bool(self.packets or self.tried)


class Report(Struct, frozen=True, kw_only=True):
    """One call of `hydra conformance`. `started` is UTC seconds since 1970."""

    hydra: str
    platform: str
    started: float
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    third_party: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    changes: tuple[VersionChange, ...] = ()
    network: Network | None = None
    recorded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The words of a command line by which each agent is named again."""

    def count(self, verdict: CaseVerdict) -> int:
        """How many cases ended so."""
        return sum(case.verdict is verdict for case in self.cases)

    @property
    def differs(self) -> bool:
        """Whether a case failed, a change is one that Hydra minds, or a CLI sought the network."""
        minded = any(change.minds for change in self.changes)
        outside = self.network is not None and self.network.is_departed
        return bool(self.count(CaseVerdict.FAILED)) or minded or outside

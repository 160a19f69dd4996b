"""What conformance found, as records: a case for each thing that was tried, and all of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, field, to_builtins

from hydra.errors import EXIT_NO_USABLE_LANE, EXIT_OK
from hydra.records.codec import SCHEMA
from hydra.report.document import nulled


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
    version: str = ""
    name: str
    verdict: CaseVerdict
    seconds: float = 0.0
    differences: tuple[str, ...] = ()
    reason: str = ""
    evidence: str = ""

    @property
    def who(self) -> str:
        """The agent with its version."""
        return f"{self.agent} {self.version}".strip()


class VersionChange(Struct, frozen=True):
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


class Compared(Struct, frozen=True):
    """Two versions that were held against each other, whether or not something had changed."""

    agent: str
    old: str
    new: str


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


class Report(Struct, kw_only=True):
    """One call of `hydra conformance`: it grows as its parts end.

    `started` is UTC seconds since 1970. `folder` is the scratch folder of the live part, where it
    was kept. `named` are the words of a command line by which each agent is named again.
    """

    hydra: str
    platform: str
    started: float
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    third_party: Sequence[str] = ()
    cases: list[Case] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    changes: list[VersionChange] = field(default_factory=list)
    network: Network | None = None
    recorded: list[str] = field(default_factory=list)
    folder: Path | None = None
    warnings: list[str] = field(default_factory=list)
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def ended(self, verdict: CaseVerdict) -> list[Case]:
        """The cases that ended so, in their order."""
        return [case for case in self.cases if case.verdict is verdict]

    @property
    def minded(self) -> int:
        """How many changes Hydra minds."""
        return sum(bool(change.minds) for change in self.changes)

    @property
    def differs(self) -> bool:
        """Whether a case failed, a change is one that Hydra minds, or a CLI sought the network."""
        outside = self.network is not None and self.network.is_departed
        return bool(self.ended(CaseVerdict.FAILED)) or bool(self.minded) or outside

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return EXIT_NO_USABLE_LANE if self.differs else EXIT_OK

    def groups(self) -> dict[tuple[str, str], list[Case]]:
        """The cases by agent and suite, in the order in which they were met."""
        groups: dict[tuple[str, str], list[Case]] = {}
        for case in self.cases:
            groups.setdefault((case.agent, case.suite), []).append(case)
        return groups

    def drifts(self) -> dict[Compared, list[VersionChange]]:
        """What changed between two versions, what Hydra minds first; empty where nothing did."""
        drifts: dict[Compared, list[VersionChange]] = {pair: [] for pair in self.compared}
        for change in sorted(self.changes, key=lambda change: not change.minds):
            pair = Compared(change.agent, change.old, change.new)
            drifts.setdefault(pair, []).append(change)
        return drifts

    def version_of(self, agent: str, cases: Sequence[Case]) -> str:
        """The version that these cases are of; how many, where several; "" where none is known."""
        versions = {case.version for case in cases if case.version}
        if len(versions) > 1:
            return f"{len(versions)} versions"
        return versions.pop() if versions else self.versions.get(agent, "")

    def document(self) -> dict[str, Any]:
        """What `--json` prints. Every field is always there; what is unknown is null."""
        data = nulled(to_builtins(self, enc_hook=str))
        if self.network is not None and not self.network.watched:
            data["network"]["packets"] = None
        counts = {verdict.value: len(self.ended(verdict)) for verdict in CaseVerdict}
        return {
            "schema": SCHEMA,
            "kind": "conformance",
            **data,
            "counts": counts,
            "exit_code": self.exit_code,
        }

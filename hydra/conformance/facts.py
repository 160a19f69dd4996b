"""What the rules of promotion judge an agent by, gathered from its files and the suite's cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Record
from hydra.conformance import notes
from hydra.conformance.notes import Issue
from hydra.conformance.recorded import recordings
from hydra.conformance.results import Case, CaseVerdict

LINES, DETECTION, LIMITS = ("lines", "prompt"), ("detect",), ("limits",)
PARSER = ("streams", "endings", "hostile")
"""The offline suite's cases by what they are about: a case is called `<group>.<name>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that one agent is judged by.

    `cases` says of each case of the offline suite whether it passed (a skipped one is not there);
    `issues` is None where nobody keeps a list; `noted` whether its research note is whole;
    `streams` counts the recorded streams of the real CLI whose events somebody has put down;
    `real` is False where its answers to probes were written by hand.
    """

    adapter: Adapter
    records: Sequence[Record] = ()
    cases: Mapping[str, bool] = field(default_factory=dict)
    issues: Sequence[Issue] | None = None
    noted: bool = False
    streams: int = 0
    real: bool = True
    third_party: bool = False

    @property
    def key(self) -> str:
        """The name users type."""
        return self.adapter.key()

    def of(self, *groups: str) -> dict[str, bool]:
        """The cases of these groups: `lines` are those called `lines.<something>`."""
        return {name: passed for name, passed in self.cases.items() if _group(name) in groups}


def gather(
    adapter: Adapter, root: Path, *, cases: Iterable[Case] = (), third_party: bool = False
) -> Facts:
    """The facts of one agent whose files lie in `root`.

    `cases` are the suite's own of this run; of a group that has none there, those of the newest
    record count. Raises `RecordError` or `ConfigError` for a file that cannot be understood.
    """
    key = adapter.key()
    entries = records.read_all(root, key)
    versions = [recording for recording in recordings(root, key) if notes.is_real(recording.folder)]
    return Facts(
        adapter=adapter,
        records=entries,
        cases=_with_recorded(_tried(cases, key), entries),
        issues=notes.issues(root, key),
        noted=notes.noted(root, key),
        streams=sum(
            stream.expected is not None and not stream.synthetic
            for recording in versions
            for stream in recording.streams()
        ),
        real=bool(versions),
        third_party=third_party or adapter.descriptor.third_party is not None,
    )


def _with_recorded(tried: Mapping[str, bool], entries: Sequence[Record]) -> dict[str, bool]:
    last = next((record.contract for record in reversed(entries) if record.contract), {})
    groups = {_group(name) for name in tried}
    return {
        **{name: passed for name, passed in last.items() if _group(name) not in groups},
        **tried,
    }


def _group(name: str) -> str:
    return name.partition(".")[0]


def _tried(cases: Iterable[Case], key: str) -> dict[str, bool]:
    """A case that was tried on several versions passed where it passed on each."""
    tried: dict[str, bool] = {}
    for case in cases:
        mine = case.agent == key and case.suite == "contract"
        if mine and case.verdict is not CaseVerdict.SKIPPED:
            passed = case.verdict is CaseVerdict.PASSED
            tried[case.name] = tried.get(case.name, True) and passed
    return tried

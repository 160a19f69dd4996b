"""What the records prove of a CLI, laid over what its adapter claims. Pure.

A claim is never `verified` because somebody wrote so: only a situation that passed live makes it
that, for the version it passed in, until a situation fails in a newer one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from hydra.adapters import versions
from hydra.adapters.contract import Adapter
from hydra.conformance.records import Proof, Record
from hydra.model import Capability, CapabilitySet, Confidence, Status

BEHIND: Mapping[str, tuple[str, ...]] = {
    "json_stream": ("stream",),
    "plain_text": ("headless",),
    "force_edit_mode": ("edit",),
    "sandbox_controls": ("sandbox",),
    "approval_controls": ("plan", "denials"),
    "session_resume": ("resume",),
    "emits_usage": ("usage",),
}
"""The seed's capabilities, each with the dimensions that have to hold for it."""

TRY_IT = "hydra conformance --live"


class Standing(NamedTuple):
    """What the records say of one dimension: the situation that decides, and where it was met.

    `refused`: Hydra starts no race with it, since the agent cannot do it. Where that was expected
    the situation passed, and yet it proves nothing of the agent: `passed` is then False.
    """

    passed: bool
    version: str
    date: str
    platform: str
    situation: str
    evidence: str
    refused: bool = False

    @property
    def note(self) -> str:
        """Why it is not proved; "" where it is."""
        if self.refused:
            return "Hydra refuses it"
        return "" if self.passed else f"{self.situation} failed in {self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """Which version of an agent was tried live, held against the one that is installed.

    `installed` is `same`, `newer` or `older` than the tried one, or `unknown`; `passed` counts
    situations, `failed` names them.
    """

    version: str
    hydra: str
    platform: str
    date: str
    passed: int
    failed: tuple[str, ...]
    installed: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {**asdict(self), "failed": list(self.failed)}


def standing(records: Sequence[Record], dimension: str) -> Standing | None:
    """What the newest version that was tried for it says; None where none was.

    `records` as `read_all` gives them. Of one situation the newest Hydra's word counts, on each
    platform by itself; a single failure outweighs all that passed.
    """
    tried = [(record, name, proof) for record, name, proof in _last(records, dimension)]
    if not tried:
        return None
    newest = [one for one in tried if one[0].version == tried[-1][0].version]
    failed = [one for one in newest if not one[2].passed]
    started = [one for one in newest if not _refused(one[2])]
    with_stream = [one for one in started if one[2].stream]
    record, name, proof = (failed or with_stream or started or newest)[-1]
    return Standing(
        passed=proof.passed and not _refused(proof),
        version=record.version,
        date=record.date,
        platform=record.platform,
        situation=name,
        evidence=f"{record.agent}/{record.version}/{proof.stream or record.name}",
        refused=_refused(proof),
    )


def _refused(proof: Proof) -> bool:
    """Whether it passed because no race was started, as it should be."""
    return proof.passed and proof.status == Status.NOT_STARTED


def _last(records: Sequence[Record], dimension: str) -> Iterator[tuple[Record, str, Proof]]:
    """Each situation that has to do with it, once for a version and platform."""
    last: dict[tuple[str, str, str], tuple[Record, Proof]] = {}
    for record in records:
        for name, proof in record.situations.items():
            last[record.version, record.platform, name] = record, proof
    for (_, _, name), (record, proof) in last.items():
        if dimension in proof.proves:
            yield record, name, proof


def tied(adapter: Adapter, flags: frozenset[str]) -> frozenset[str]:
    """The capabilities that the adapter has with these flags and would not have without any."""
    having, lacking = adapter.capabilities(flags), adapter.capabilities(frozenset())
    return frozenset(
        name for name, one in having.items() if one.present and not getattr(lacking, name).present
    )


def earned(
    claims: CapabilitySet,
    records: Sequence[Record],
    *,
    shown: Collection[str] = (),
    shown_in: str = "",
) -> CapabilitySet:
    """The claims with the confidence that the records give them.

    `shown` are those whose flag stands in the help text of version `shown_in`: no more than
    observed. What a descriptor calls verified by itself is unknown until something proves it.
    """
    given = {}
    for name, claim in claims.items():
        held = claim
        if claim.confidence is Confidence.VERIFIED:
            held = replace(claim, confidence=Confidence.UNKNOWN, seen_in="")
        if name in shown and held.confidence is Confidence.UNKNOWN:
            held = replace(held, confidence=Confidence.OBSERVED, seen_in=shown_in)
        given[name] = _weighed(held, [standing(records, one) for one in BEHIND[name]])
    return CapabilitySet(**given)


def _weighed(held: Capability, found: Sequence[Standing | None]) -> Capability:
    known = [one for one in found if one is not None]
    failed = next((one for one in known if not one.passed), None)
    if failed is not None:
        return replace(held, note=f"{held.note}; {failed.note}" if held.note else failed.note)
    if not held.present or not known or len(known) < len(found):
        return held
    oldest = min(known, key=lambda one: versions.parts(one.version))
    return replace(held, confidence=Confidence.VERIFIED, seen_in=oldest.version)


def proved(records: Sequence[Record], installed: str) -> Proved | None:
    """The version whose live record counts here: the installed one's, else the newest.

    None where nothing was tried live. `installed` is "" where none was found.
    """
    live = [record for record in records if record.situations]
    if not live:
        return None
    chosen = next((one for one in reversed(live) if one.version == installed), live[-1])
    failed = [name for name, proof in chosen.situations.items() if not proof.passed]
    return Proved(
        version=chosen.version,
        hydra=chosen.hydra,
        platform=chosen.platform,
        date=chosen.date,
        passed=len(chosen.situations) - len(failed),
        failed=tuple(failed),
        installed=_compared(installed, chosen.version),
    )


def _compared(installed: str, tried: str) -> str:
    if not installed:
        return "unknown"
    if installed == tried:
        return "same"
    if versions.older(installed, tried):
        return "older"
    return "newer" if versions.older(tried, installed) else "unknown"


def says(one: Proved | None, installed: str) -> str:
    """The same as a sentence for a person."""
    if one is None:
        return f"never tried live; {TRY_IT} does"
    where = f"{one.version} ({one.platform}, {one.date})"
    told = f"verified in {where}" if not one.failed else f"tried in {where}"
    if one.failed:
        told += f", where {', '.join(one.failed)} failed"
    if one.installed == "same":
        return f"{told}, which is the one here"
    if one.installed == "unknown":
        return told if not installed else f"{told}; this one is {installed}"
    return f"{told}; this one, {installed}, is {one.installed}"

"""What the records prove of a CLI, laid over what its adapter claims. Pure.

A claim is never `verified` because somebody wrote so: only a situation that passed live makes it
that, for the version it passed in, until a situation fails in a newer one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hydra.adapters import detection
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs.records import Proof, Record
from hydra.records.agent import Capability, CapabilitySet, Confidence
from hydra.records.outcome import Status

BEHIND: Mapping[str, tuple[str, ...]] = {
    "json_stream": ("stream",),
    "plain_text": ("headless",),
    "force_edit_mode": ("edit",),
    "sandbox_controls": ("sandbox",),
    "approval_controls": ("plan", "denials"),
    "session_resume": (),
    "emits_usage": ("usage",),
}
"""The seed's capabilities, each with the dimensions that have to hold for it."""

TRY_IT = "hydra conformance --live"


class DimensionProof(NamedTuple):
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


class ProvenVersion(Struct, frozen=True, kw_only=True):
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


def standing(records: Sequence[Record], dimension: str) -> DimensionProof | None:
    """What the newest version that was tried for it says; None where none was.

    `records` as `read_all` gives them. Of one situation the newest Hydra's word counts, on each
    platform by itself; a single failure outweighs all that passed.
    """
    tried = [(record, name, proof) for record, name, proof in _last(records, dimension)]
    if not tried:
        return None
    newest = [row for row in tried if row[0].version == tried[-1][0].version]
    failed = [row for row in newest if not row[2].passed]
    started = [row for row in newest if not _refused(row[2])]
    with_stream = [row for row in started if row[2].stream]
    record, name, proof = (failed or with_stream or started or newest)[-1]
    return DimensionProof(
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
        name
        for name, capability in having.items()
        if capability.present and not getattr(lacking, name).present
    )


def proven(
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
    capabilities = {}
    for name, claim in claims.items():
        capability = claim
        if claim.confidence is Confidence.VERIFIED:
            capability = replace(claim, confidence=Confidence.UNKNOWN, seen_in="")
        if name in shown and capability.confidence is Confidence.UNKNOWN:
            capability = replace(capability, confidence=Confidence.OBSERVED, seen_in=shown_in)
        capabilities[name] = _weighed(
            capability, [standing(records, name) for name in BEHIND[name]]
        )
    return CapabilitySet(**capabilities)


def _weighed(capability: Capability, proofs: Sequence[DimensionProof | None]) -> Capability:
    dimension_proofs = [proof for proof in proofs if proof is not None]
    failed = next((proof for proof in dimension_proofs if not proof.passed), None)
    if failed is not None:
        return replace(
            capability, note=f"{capability.note}; {failed.note}" if capability.note else failed.note
        )
    if not capability.present or not dimension_proofs or len(dimension_proofs) < len(proofs):
        return capability
    oldest = min(dimension_proofs, key=lambda proof: detection.parts(proof.version))
    return replace(capability, confidence=Confidence.VERIFIED, seen_in=oldest.version)


def proved(records: Sequence[Record], installed: str) -> ProvenVersion | None:
    """The version whose live record counts here: the installed one's, else the newest.

    None where nothing was tried live. `installed` is "" where none was found.
    """
    live = [record for record in records if record.situations]
    if not live:
        return None
    chosen = next((record for record in reversed(live) if record.version == installed), live[-1])
    failed = [name for name, proof in chosen.situations.items() if not proof.passed]
    return ProvenVersion(
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
    if detection.older(installed, tried):
        return "older"
    return "newer" if detection.older(tried, installed) else "unknown"


def says(version: ProvenVersion | None, installed: str) -> str:
    """The same as a sentence for a person."""
    if version is None:
        return f"never tried live; {TRY_IT} does"
    where = f"{version.version} ({version.platform}, {version.date})"
    text = f"verified in {where}" if not version.failed else f"tried in {where}"
    if version.failed:
        text += f", where {', '.join(version.failed)} failed"
    if version.installed == "same":
        return f"{text}, which is the one here"
    if version.installed == "unknown":
        return text if not installed else f"{text}; this one is {installed}"
    return f"{text}; this one, {installed}, is {version.installed}"

"""One agent as JSON: its descriptor, and what was found of it here (docs/json.md)."""

from __future__ import annotations

from hydra.model import CapabilitySet, DetectResult
from hydra.reporters import agent_facts
from hydra.reporters.document import Document, origin_document
from hydra.reporters.listing import AgentRow


def agent_document(row: AgentRow) -> Document:
    """Every field always there; `found` is null where the agent was not probed, `proved` where no
    version of it was tried live."""
    descriptor, found, proof, health = row.descriptor, row.found, row.proof, row.health
    return {
        "key": descriptor.key,
        "label": descriptor.label,
        "homepage": descriptor.homepage,
        "tier": descriptor.tier.value,
        "third_party": descriptor.third_party is not None,
        "origin": origin_document(descriptor.third_party),
        "sandbox": descriptor.sandbox,
        "programs": [*descriptor.binaries, *descriptor.generic_binaries],
        "protocol": descriptor.protocol,
        "stream_format": descriptor.stream_format,
        "live_input": descriptor.live_input,
        "minimum_version": descriptor.minimum_version or None,
        "exit_codes": {str(code): what for code, what in descriptor.exit_codes.items()},
        "install": descriptor.install_hint,
        "sign_in": descriptor.sign_in_hint,
        **agent_facts.document(descriptor),
        "capabilities": _capabilities(descriptor.capabilities),
        "found": None if found is None else _found(found),
        "health": health.state.value,
        "why": health.why or None,
        "until": health.until,
        "next": health.next,
        "proved": None if proof is None else dict(proof),
    }


def _found(found: DetectResult) -> Document:
    return {
        "ready": found.ready,
        "program": str(found.binary) if found.binary else None,
        "version": found.version or None,
        "signed_in": found.sign_in.value,
        "signed_in_detail": found.sign_in_detail or None,
        "capabilities": _capabilities(found.capabilities),
        "warnings": list(found.warnings),
        "error": found.error.as_dict() if found.error else None,
    }


def _capabilities(held: CapabilitySet) -> Document:
    return {
        name: {
            "present": one.present,
            "confidence": one.confidence.value,
            "seen_in": one.seen_in or None,
            "note": one.note or None,
        }
        for name, one in held.items()
    }

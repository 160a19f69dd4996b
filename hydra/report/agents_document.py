"""One agent as JSON: its descriptor, and what was found of it here (docs/reference/json.md)."""

from __future__ import annotations

from hydra.records.agent import DetectResult
from hydra.records.codec import as_json
from hydra.report import listing
from hydra.report.document import Document, nulled
from hydra.report.listing import AgentRow


def agent_document(row: AgentRow) -> Document:
    """Every field always there; `found` is null where the agent was not probed, `proved` where no
    version of it was tried live."""
    descriptor, result, proof, health = row.descriptor, row.detection, row.proof, row.health
    return {
        "key": descriptor.key,
        "label": descriptor.label,
        "homepage": descriptor.homepage,
        "tier": descriptor.tier.value,
        "third_party": descriptor.third_party is not None,
        "origin": as_json(descriptor.third_party),
        "sandbox": descriptor.sandbox,
        "programs": [*descriptor.binaries, *descriptor.generic_binaries],
        "protocol": descriptor.protocol,
        "stream_format": descriptor.stream_format,
        "minimum_version": descriptor.minimum_version or None,
        "exit_codes": {str(code): what for code, what in descriptor.exit_codes.items()},
        "install": descriptor.install_hint,
        "sign_in": descriptor.sign_in_hint,
        **listing.document(descriptor),
        "capabilities": nulled(as_json(descriptor.capabilities)),
        "found": None if result is None else _detection(result),
        "health": health.state.value,
        "why": health.why or None,
        "next": health.next,
        "proved": None if proof is None else dict(proof),
    }


def _detection(result: DetectResult) -> Document:
    return {
        "ready": result.ready,
        "program": str(result.binary) if result.binary else None,
        "version": result.version or None,
        "signed_in": result.sign_in.value,
        "signed_in_detail": result.sign_in_detail or None,
        "capabilities": nulled(as_json(result.capabilities)),
        "warnings": list(result.warnings),
        "error": as_json(result.error),
    }

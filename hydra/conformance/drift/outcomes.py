"""What came of the same situation under two versions: Hydra's outcome, as the records have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hydra.adapters.proofs.records import Proof
from hydra.conformance.drift.sides import HAND, Side
from hydra.conformance.drift.streams import change
from hydra.conformance.results import VersionChange


def changes(old: Side, new: Side) -> list[VersionChange]:
    """One line for each situation that came out differently, then what was not compared."""
    version_changes = []
    alike = []
    for name in sorted(set(old.proofs) & set(new.proofs)):
        was, now = old.proofs[name], new.proofs[name]
        lost = [] if now.passed else ["it does not go as Hydra expects"]
        if lines := list(_differences(was, now)):
            text = f"situation {name}: {'; '.join(lines)}"
            version_changes.append(change(old, new, "outcome", "changed", name, text, lost))
        elif was.passed and not now.passed:
            alike.append(name)
    if alike:
        text = f"with the same outcome, but not as expected any more: {', '.join(alike)}"
        lost = ["they do not go as Hydra expects; the live run says why"]
        version_changes.append(change(old, new, "outcome", "changed", ", ".join(alike), text, lost))
    return [*version_changes, *_not_compared(old, new)]


def _differences(was: Proof, now: Proof) -> Iterator[str]:
    before, after = _ending(was), _ending(now)
    if before != after:
        yield f"it ends as {after}, it was {before}"
    if was.exit != now.exit:
        yield f"the CLI ends with {_exit(now.exit)}, it was {_exit(was.exit)}"
    yield from _events(was, now)
    yield from _usage(was, now)
    if was.patch != now.patch:
        yield f"the patch is {_patch(now.patch)}, it was {_patch(was.patch)}"


def _ending(proof: Proof) -> str:
    why = "/".join(part for part in (proof.error, proof.error_reason) if part)
    return f"{proof.status or 'unknown'}{f' ({why})' if why else ''}"


def _exit(document: Mapping[str, Any]) -> str:
    if document.get("signal"):
        return f"signal {document['signal']}"
    return f"exit {document.get('code')}"


def _events(was: Proof, now: Proof) -> Iterator[str]:
    """By which events there are: their order is the model's as much as the CLI's."""
    gone, come = (
        sorted(set(was.events) - set(now.events)),
        sorted(set(now.events) - set(was.events)),
    )
    if gone:
        yield f"Hydra sees no {', '.join(gone)} any more"
    if come:
        yield f"Hydra now sees {', '.join(come)}"


def _usage(was: Proof, now: Proof) -> Iterator[str]:
    before = {name for name, is_told in was.usage.items() if is_told}
    after = {name for name, is_told in now.usage.items() if is_told}
    if before - after:
        yield f"usage has no {', '.join(sorted(before - after))} any more"
    if after - before:
        yield f"usage now has {', '.join(sorted(after - before))}"


def _patch(values: Mapping[str, str]) -> str:
    return ", ".join(f"{letter} {path}" for path, letter in sorted(values.items())) or "empty"


def _not_compared(old: Side, new: Side) -> Iterator[VersionChange]:
    for side, other, how in ((old, new, "vanished"), (new, old, "appeared")):
        only = sorted(side.situations - other.situations)
        lines = [name for name in only if not name.startswith(HAND)]
        if by_hand := len(only) - len(lines):
            line = "a stream" if by_hand == 1 else f"{by_hand} streams"
            lines.append(f"{line} recorded by hand")
        if lines:
            text = f"not compared, only {side.version} has: {', '.join(lines)}"
            yield change(old, new, "outcome", how, "not compared", text)
    both = [name for name in old.proofs if _ran(old, name) and _ran(new, name)]
    short = sorted(name for name in both if name not in old.streams or name not in new.streams)
    if short:
        text = f"events not compared, a side has kept no stream: {', '.join(short)}"
        yield change(old, new, "outcome", "changed", "not compared", text)


def _ran(side: Side, name: str) -> bool:
    """Whether the CLI was started at all: what Hydra refuses has no events to compare."""
    return name in side.proofs and bool(side.proofs[name].exit)

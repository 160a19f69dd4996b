"""Which events and fields appeared, vanished or changed, over the situations that both have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hydra.conformance.drift import ablation
from hydra.conformance.drift.impact import Ablation, Examiner
from hydra.conformance.drift.schemas import NO_JSON, Shape, holder, infer, lines_of
from hydra.conformance.drift.sides import Side, events_of, shared
from hydra.conformance.results import VersionChange

Shapes = Mapping[str, Shape]

_SAMPLES: Mapping[str, object] = {
    "null": None,
    "boolean": True,
    "number": 0,
    "string": "",
    "list": [],
    "object": {},
}


@dataclass(frozen=True, slots=True)
class StreamDifference:
    """One field of one type of event. `how` is appeared, vanished or changed; `detail` says to
    what it changed, "" otherwise."""

    kind: str
    how: str
    path: str
    detail: str = ""


def changes(old: Side, new: Side) -> list[VersionChange]:
    """Events first, then fields; each group of fields that Hydra does not mind is one line."""
    both = shared(old, new)
    before, after = infer(events_of(old, both)), infer(events_of(new, both))
    examiner = Examiner(old, new)
    version_changes = [*_events(old, new, before, after, examiner)]
    rest: list[StreamDifference] = []
    for difference in _differences(before, after):
        lost: dict[str, None] = {}
        for part in _ablations(difference, before, after):
            lost.update(dict.fromkeys(examiner.losses(part)))
        if lost:
            detail = f" ({difference.detail})" if difference.detail else ""
            text = f"{difference.kind}: {difference.path} {difference.how}{detail}"
            name = f"{difference.kind}.{difference.path}"
            version_changes.append(change(old, new, "field", difference.how, name, text, lost))
        else:
            rest.append(difference)
    return version_changes + _grouped(old, new, rest)


# events


def _events(
    old: Side, new: Side, before: Shapes, after: Shapes, examiner: Examiner
) -> Iterable[VersionChange]:
    for kind in sorted(set(before) - set(after)):
        lost = examiner.losses(ablation.event(kind))
        yield change(old, new, "event", "vanished", kind, f"event {kind} vanished", lost)
    for kind in sorted(set(after) - set(before)):
        text = f"event {kind} appeared: {_taken(new, kind)}"
        yield change(old, new, "event", "appeared", kind, text)


def _taken(new: Side, kind: str) -> str:
    """What the adapter makes of one such line."""
    parser = new.adapter.parser()
    for stream in new.streams.values():
        for line in stream.lines:
            if next((name == kind for name, _ in lines_of([line])), False):
                events = parser.parse_line(line)
                subs = {event.sub for event in events if event.kind == "progress"}
                if kind == NO_JSON or "malformed" in subs:
                    return "passed over, counted as malformed"
                if "unknown" in subs:
                    return "passed over, counted as unknown"
                names = sorted({f"{e.kind}/{e.sub}".rstrip("/") for e in events})
                return f"read as {', '.join(names)}" if names else "known, tells nothing"
    return "not read"


# fields


def _differences(before: Shapes, after: Shapes) -> list[StreamDifference]:
    differences: list[StreamDifference] = []
    for kind in sorted(set(before) & set(after)):
        was, now = before[kind], after[kind]
        gone, come = _tops(was, now), _tops(now, was)
        differences += [StreamDifference(kind, "vanished", path) for path in gone]
        differences += [StreamDifference(kind, "appeared", path) for path in come]
        for path in sorted(set(was.fields) & set(now.fields)):
            if detail := _changed(was, now, path):
                differences.append(StreamDifference(kind, "changed", path, detail))
    return differences


def _tops(shape: Shape, other: Shape) -> list[str]:
    """Paths of `shape` that `other` lacks, but for those inside one that is listed already.

    Where the other side has not what would hold it, that is what is listed, or nothing is known.
    """
    missing = shape.listed - other.paths
    return sorted(path for path in missing if holder(path) in other.paths)


def _changed(was: Shape, now: Shape, path: str) -> str:
    before, after = was.fields[path], now.fields[path]
    lines = []
    if before.types != after.types:
        lines.append(f"{_or(before.types)} is now {_or(after.types)}")
    if was.always(path) and not now.always(path):
        lines.append("not always there any more")
    elif now.always(path) and not was.always(path):
        lines.append("now always there")
    return ", ".join(lines)


def _or(types: set[str]) -> str:
    return " or ".join(sorted(types))


def _ablations(difference: StreamDifference, before: Shapes, after: Shapes) -> list[Ablation]:
    if difference.how == "appeared":
        return []
    gone = ablation.field(difference.kind, difference.path)
    if difference.how == "vanished":
        return [gone]
    was, now = before[difference.kind], after[difference.kind]
    fresh = sorted(now.fields[difference.path].types - was.fields[difference.path].types)
    tried = [ablation.value(difference.kind, difference.path, _SAMPLES[kind]) for kind in fresh]
    rarer = was.always(difference.path) and not now.always(difference.path)
    return [*tried, gone] if rarer else tried


# lines


def _grouped(old: Side, new: Side, differences: list[StreamDifference]) -> list[VersionChange]:
    """One line for the fields that went the same way in the same events."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for difference in differences:
        line = f"{difference.path} ({difference.detail})" if difference.detail else difference.path
        kinds.setdefault((difference.how, line), []).append(difference.kind)
    fields: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (how, line), events in kinds.items():
        fields.setdefault((how, tuple(events)), []).append(line)
    version_changes = []
    for (how, same), paths in sorted(fields.items(), key=lambda group: group[0][1]):
        named = ", ".join(same)
        what = f"{len(paths)} fields {how}" if len(paths) > 1 else f"a field {how}"
        text = f"{named}: {what}: {', '.join(paths)}"
        version_changes.append(change(old, new, "field", how, named, text))
    return version_changes


def change(
    old: Side, new: Side, what: str, how: str, name: str, text: str, lost: Iterable[str] = ()
) -> VersionChange:
    """A change between these two versions; `lost` are the sentences of what Hydra minds."""
    return VersionChange(
        agent=old.adapter.descriptor.key,
        old=old.version,
        new=new.version,
        what=what,
        how=how,
        name=name,
        text=text,
        minds="; ".join(lost),
    )

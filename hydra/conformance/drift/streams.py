"""Which events and fields appeared, vanished or changed, over the situations that both have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hydra.conformance.drift import ablation
from hydra.conformance.drift.minds import Ablation, Examiner
from hydra.conformance.drift.schemas import NO_JSON, Shape, holder, infer, lines_of
from hydra.conformance.drift.sides import Side, events_of, shared
from hydra.conformance.results import Change

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
class Difference:
    """One field of one type of event. `how` is appeared, vanished or changed; `detail` says to
    what it changed, "" otherwise."""

    kind: str
    how: str
    path: str
    detail: str = ""


def changes(old: Side, new: Side) -> list[Change]:
    """Events first, then fields; each group of fields that Hydra does not mind is one line."""
    both = shared(old, new)
    before, after = infer(events_of(old, both)), infer(events_of(new, both))
    examiner = Examiner(old, new)
    made = [*_events(old, new, before, after, examiner)]
    rest: list[Difference] = []
    for one in _differences(before, after):
        lost: dict[str, None] = {}
        for part in _ablations(one, before, after):
            lost.update(dict.fromkeys(examiner.losses(part)))
        if lost:
            text = f"{one.kind}: {one.path} {one.how}{f' ({one.detail})' if one.detail else ''}"
            name = f"{one.kind}.{one.path}"
            made.append(change(old, new, "field", one.how, name, text, lost))
        else:
            rest.append(one)
    return made + _grouped(old, new, rest)


# events


def _events(
    old: Side, new: Side, before: Shapes, after: Shapes, examiner: Examiner
) -> Iterable[Change]:
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


def _differences(before: Shapes, after: Shapes) -> list[Difference]:
    found: list[Difference] = []
    for kind in sorted(set(before) & set(after)):
        was, now = before[kind], after[kind]
        gone, come = _tops(was, now), _tops(now, was)
        found += [Difference(kind, "vanished", path) for path in gone]
        found += [Difference(kind, "appeared", path) for path in come]
        for path in sorted(set(was.fields) & set(now.fields)):
            if detail := _changed(was, now, path):
                found.append(Difference(kind, "changed", path, detail))
    return found


def _tops(held: Shape, other: Shape) -> list[str]:
    """Paths of `held` that `other` lacks, but for those inside one that is listed already.

    Where the other side has not what would hold it, that is what is listed, or nothing is known.
    """
    missing = held.listed - other.paths
    return sorted(path for path in missing if holder(path) in other.paths)


def _changed(was: Shape, now: Shape, path: str) -> str:
    before, after = was.fields[path], now.fields[path]
    told = []
    if before.types != after.types:
        told.append(f"{_or(before.types)} is now {_or(after.types)}")
    if was.always(path) and not now.always(path):
        told.append("not always there any more")
    elif now.always(path) and not was.always(path):
        told.append("now always there")
    return ", ".join(told)


def _or(types: set[str]) -> str:
    return " or ".join(sorted(types))


def _ablations(one: Difference, before: Shapes, after: Shapes) -> list[Ablation]:
    if one.how == "appeared":
        return []
    gone = ablation.field(one.kind, one.path)
    if one.how == "vanished":
        return [gone]
    was, now = before[one.kind], after[one.kind]
    fresh = sorted(now.fields[one.path].types - was.fields[one.path].types)
    tried = [ablation.value(one.kind, one.path, _SAMPLES[kind]) for kind in fresh]
    rarer = was.always(one.path) and not now.always(one.path)
    return [*tried, gone] if rarer else tried


# lines


def _grouped(old: Side, new: Side, found: list[Difference]) -> list[Change]:
    """One line for the fields that went the same way in the same events."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for one in found:
        told = f"{one.path} ({one.detail})" if one.detail else one.path
        kinds.setdefault((one.how, told), []).append(one.kind)
    fields: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (how, told), events in kinds.items():
        fields.setdefault((how, tuple(events)), []).append(told)
    made = []
    for (how, same), paths in sorted(fields.items(), key=lambda group: group[0][1]):
        named = ", ".join(same)
        what = f"{len(paths)} fields {how}" if len(paths) > 1 else f"a field {how}"
        text = f"{named}: {what}: {', '.join(paths)}"
        made.append(change(old, new, "field", how, named, text))
    return made


def change(
    old: Side, new: Side, what: str, how: str, name: str, text: str, lost: Iterable[str] = ()
) -> Change:
    """A change between these two versions; `lost` are the sentences of what Hydra minds."""
    return Change(
        agent=old.adapter.descriptor.key,
        old=old.version,
        new=new.version,
        what=what,
        how=how,
        name=name,
        text=text,
        minds="; ".join(lost),
    )

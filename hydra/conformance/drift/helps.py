"""Which options, values and commands of the help texts appeared or vanished; does Hydra mind.

An option is taken out of the older help text, and the adapter is asked again: does it still find
itself able to race, does it build the same lines, which capabilities has it lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hydra.conformance.drift import abilities, helptexts
from hydra.conformance.drift.helptexts import commands, names, values
from hydra.conformance.drift.sides import Side
from hydra.conformance.drift.streams import change
from hydra.conformance.results import VersionChange


def changes(old: Side, new: Side) -> list[VersionChange]:
    """The version's text, then each help text that both have; then what is lost only together."""
    version_changes = [*_version(old, new)]
    for probe in sorted(set(old.helps) & set(new.helps)):
        version_changes += _options(old, new, probe)
        version_changes += _values(old, new, probe)
        version_changes += _commands(old, new, probe)
    for probe in sorted(set(old.helps) ^ set(new.helps)):
        have = old.version if probe in old.helps else new.version
        text = f"only {have} has its {_title(probe)} recorded: not compared"
        version_changes.append(change(old, new, "help", "changed", probe, text))
    return [*version_changes, *_together(old, new, version_changes)]


def _version(old: Side, new: Side) -> Iterator[VersionChange]:
    before, after = _shape(old.version_text), _shape(new.version_text)
    if not before or not after or before == after:
        return
    lost = []
    line = abilities.detect(old.adapter, old.probes).version
    if line and not abilities.detect(new.adapter, new.probes).version:
        lost = ["its version is not understood, and no version check is made"]
    text = f"the version text reads {after!r}, it read {before!r}"
    yield change(old, new, "help", "changed", "--version", text, lost)


def _shape(text: str) -> str:
    """A version text with every number as N."""
    return re.sub(r"\d+", "N", " ".join(text.split()))


def _options(old: Side, new: Side, probe: str) -> Iterator[VersionChange]:
    before, after = names(old.helps[probe]), names(new.helps[probe])
    quiet = []
    for name in sorted(before - after):
        if lost := _lost(old, probe, helptexts.without(old.helps[probe], name)):
            text = f"{_title(probe)}: {name} vanished"
            yield change(old, new, "help", "vanished", name, text, lost)
        else:
            quiet.append(name)
    yield from _listed(old, new, probe, "option", "vanished", quiet)
    yield from _listed(old, new, probe, "option", "appeared", sorted(after - before))


def _values(old: Side, new: Side, probe: str) -> Iterator[VersionChange]:
    """Options that both have, and that list other values now."""
    was, now = old.helps[probe], new.helps[probe]
    for name in sorted(names(was) & names(now)):
        gone, come = values(was, name) - values(now, name), values(now, name) - values(was, name)
        if not gone and not come:
            continue
        lines = [f"no longer lists {', '.join(sorted(gone))}"] if gone else []
        lines += [f"now lists {', '.join(sorted(come))}"] if come else []
        text = was
        for value in gone:
            text = helptexts.without_value(text, name, value)
        # A list that is gone altogether forbids nothing.
        lost = _lost(old, probe, text) if gone and values(now, name) else []
        line = f"{_title(probe)}: {name} {' and '.join(lines)}"
        yield change(old, new, "help", "changed", name, line, lost)


def _commands(old: Side, new: Side, probe: str) -> Iterator[VersionChange]:
    """Nobody reads these from the help text; what matters is whether Hydra's own lines use one."""
    before, after = commands(old.helps[probe]), commands(new.helps[probe])
    if not before or not after:
        return
    used = abilities.ability_words(old.adapter, old.probes)
    for name in sorted((before - after) & used):
        lost = [f"Hydra runs or asks it by `{name}`"]
        text = f"{_title(probe)}: command {name} vanished"
        yield change(old, new, "help", "vanished", name, text, lost)
    yield from _listed(old, new, probe, "command", "vanished", sorted(before - after - used))
    yield from _listed(old, new, probe, "command", "appeared", sorted(after - before))


def _listed(
    old: Side, new: Side, probe: str, what: str, how: str, texts: Sequence[str]
) -> Iterator[VersionChange]:
    """One line for all that Hydra does not mind."""
    if texts:
        several = f"{len(texts)} {what}s" if len(texts) > 1 else f"{_a(what)} {what}"
        text = f"{_title(probe)}: {several} {how}: {', '.join(texts)}"
        yield change(old, new, "help", how, ", ".join(texts), text)


def _together(
    old: Side, new: Side, version_changes: list[VersionChange]
) -> Iterator[VersionChange]:
    """What the newer help texts as a whole take away, and no single option did."""
    lines = {name for change in version_changes for name in change.minds.split("; ")}
    lost = abilities.fewer(old.adapter, old.probes, new.probes)
    if rest := [text for text in lost if text not in lines]:
        text = "the answers as a whole let Hydra do less"
        yield change(old, new, "help", "changed", "help", text, rest)


def _lost(old: Side, probe: str, text: str) -> list[str]:
    """What the adapter cannot do any more with this help text in place of the recorded one."""
    output = old.probes.get(probe)
    if output is None:
        return []
    changed = {**old.probes, probe: replace(output, stdout=text)}
    return abilities.fewer(old.adapter, old.probes, changed)


def _title(probe: str) -> str:
    return f"{probe.replace('_', ' ')} text"


def _a(term: str) -> str:
    return "an" if term[0] in "aeiou" else "a"

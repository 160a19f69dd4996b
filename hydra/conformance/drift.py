"""What two recorded versions of a CLI have differently, one line each, and whether Hydra minds.

Nothing here is a list of what Hydra needs. The adapter is asked with the answers of both versions,
and reads the streams of both: what it can do or tells no more is minded, and its own sentence says
which option it was. What nobody misses is only named (docs/reference/conformance.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hydra.adapters.command_line import options
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof, definition
from hydra.conformance.contract.lines import PERMISSIONS, SESSION, ask, request
from hydra.conformance.event_shapes import NO_JSON, fields, shapes, typed
from hydra.conformance.recorded import Recording, Stream, parse
from hydra.conformance.results import VersionChange
from hydra.errors import RecordError
from hydra.records.agent import ProbeOutput, SignIn
from hydra.records.events import AgentEvent
from hydra.records.request import Budget, Effort

_HAND = "recorded:"
"""Before the name of a stream that belongs to no live situation: another may have its name."""


class VersionSide(Struct, frozen=True, kw_only=True):
    """One version. `streams` and `proofs` are by situation; a stream may be missing (too long).

    `able` are the things that Hydra does with it, each with what there is to say of it, "" where it
    simply can; `used` the words of the lines by which Hydra runs and asks it.
    """

    adapter: Adapter
    version: str
    text: str
    helps: Mapping[str, str]
    able: Mapping[str, str]
    used: frozenset[str]
    streams: Mapping[str, Stream]
    proofs: Mapping[str, Proof]


class _Versions(NamedTuple):
    old: VersionSide
    new: VersionSide

    def change(
        self, what: str, how: str, name: str, text: str, lost: Iterable[str] = ()
    ) -> VersionChange:
        """`lost` are the sentences that say what Hydra loses by it."""
        return VersionChange(
            agent=self.old.adapter.descriptor.key,
            old=self.old.version,
            new=self.new.version,
            what=what,
            how=how,
            name=name,
            text=text,
            minds="; ".join(lost),
        )


def compare(adapter: Adapter, old: Path, new: Path) -> list[VersionChange]:
    """Every change from one version's folder to the other's, those that Hydra minds first.

    Within that: help texts, events, fields, outcomes. No two lines are the same. Raises
    `RecordError` where a folder or a record in it cannot be read.
    """
    versions = _Versions(_side(adapter, old), _side(adapter, new))
    parts = (_version, _helps, _events, _tells, _outcomes, _not_compared)
    once = dict.fromkeys(change for part in parts for change in part(versions))
    return sorted(once, key=lambda change: not change.minds)


def _side(adapter: Adapter, folder: Path) -> VersionSide:
    if not folder.is_dir():
        raise RecordError(
            f"nothing is recorded in {folder}", hint="hydra conformance --live --record"
        )
    recording = Recording(folder)
    proofs = _proofs(folder)
    owner = {proof.stream: name for name, proof in proofs.items() if proof.stream}
    runs = {f"stream.{s.name}.jsonl": s for s in recording.streams() if not s.synthetic}
    answers = recording.answers(adapter.descriptor.probes)
    # The good answer of several, and a bad one where it gave no other: its sandbox, say.
    able, used = _able(adapter, {name: outputs[0] for name, outputs in answers.items()})
    return VersionSide(
        adapter=adapter,
        version=recording.version,
        text=recording.version_text,
        helps=recording.helps,
        able=able,
        used=used,
        streams={owner.get(file, f"{_HAND}{run.name}"): run for file, run in runs.items()},
        proofs=proofs,
    )


def _proofs(folder: Path) -> dict[str, Proof]:
    """Every situation of the folder, a newer record over an older one. One that is another by now
    has a name of its own: it is compared with what it was on the other side."""
    entries = [records.read(path) for path in sorted(folder.glob("record.*.json"))]
    entries.sort(key=lambda record: (record.date, record.hydra, record.platform))
    proofs = {name: proof for record in entries for name, proof in record.situations.items()}
    return {
        name if proof.definition == definition(name) else f"{name} as it was": proof
        for name, proof in proofs.items()
    }


# what Hydra can do with the answers


_WISHES: Mapping[str, Mapping[str, Any]] = {
    **{f"--permission {mode.value}": {"permission": mode} for mode in PERMISSIONS},
    "a model": {"model": "a-model"},
    "--network": {"network": True},
    "--no-network": {"network": False},
    "instructions of the repository": {"instructions": ("AGENTS.md",)},
    "no confinement": {"confined": False},
    "an effort": {"effort": Effort.HIGH},
    "a budget": {"budget": Budget(turns=9, cost_usd=1.0, seconds=60.0, tool_calls=9)},
    "a copy of a session": {"resume": SESSION, "fork": True},
}


def _able(
    adapter: Adapter, probes: Mapping[str, ProbeOutput]
) -> tuple[dict[str, str], frozenset[str]]:
    # As a signed-in user meets it: how it is signed in here has nothing to do with its version.
    outputs = {name: probe for name, probe in probes.items() if name != "sign_in"}
    result = adapter.detect(f"/opt/agents/{adapter.descriptor.binaries[0]}", outputs)
    result = replace(result, sign_in=SignIn.CONFIRMED)
    values = {
        "version": result.version or "",
        "detect": f"refused: {result.error.message}" if result.error else "",
    }
    used = {arg for probe in adapter.descriptor.probes for arg in probe.args}
    for about, rows in _WISHES.items():
        line = ask(adapter, result, request(**rows))
        if line.refused is not None:
            values[f"line: {about}"] = f"{about} is refused: {line.refused.failure.message}"
        if line.command is not None:
            used.update(line.command.args)
            lost = {name: f"{name} is left out of its line" for name in line.command.dropped}
            values |= lost | {text: text for text in line.command.warnings}
    for name, capability in result.capabilities.items():
        note = f": {capability.note}" if capability.note else ""
        values[f"capability {name}"] = "" if capability.present else f"{name} is lost{note}"
    return values, frozenset(used)


def _fewer(versions: _Versions) -> list[str]:
    """What the newer answers take away: refused first, then each loss once."""
    before, after = versions.old.able, versions.new.able
    if before["detect"] != after["detect"]:
        return [after["detect"]] if after["detect"] else []
    lines = (t for name, t in after.items() if name != "version" and t != before.get(name, ""))
    return list(dict.fromkeys(text for text in lines if text))


# help texts


def _version(versions: _Versions) -> Iterator[VersionChange]:
    """Its version's text, every number as N."""
    before, after = (re.sub(r"\d+", "N", " ".join(side.text.split())) for side in versions)
    if before and after and before != after:
        was, now = (side.able["version"] for side in versions)
        lost = "its version is not understood, and no version check is made"
        text = f"the version text reads {after!r}, it read {before!r}"
        yield versions.change(
            "help", "changed", "--version", text, [lost] if was and not now else []
        )


def _helps(versions: _Versions) -> Iterator[VersionChange]:
    """Each help text that both have; then what is lost beside that."""
    old, new = versions
    lost = _fewer(versions)
    named: set[str] = set()
    for probe in sorted(set(old.helps) & set(new.helps)):
        for change in [*_options(versions, probe, lost), *_commands(versions, probe)]:
            named.update(change.minds.split("; "))
            yield change
    for probe in sorted(set(old.helps) ^ set(new.helps)):
        have = old.version if probe in old.helps else new.version
        text = f"only {have} has its {_title(probe)} recorded: not compared"
        yield versions.change("help", "changed", probe, text)
    if rest := [text for text in lost if not set(text.split("; ")) <= named]:
        text = "the answers as a whole let Hydra do less"
        yield versions.change("help", "changed", "help", text, rest)


def _options(versions: _Versions, probe: str, lost: Sequence[str]) -> Iterator[VersionChange]:
    """Options, and the values that they list; a loss is of the one that it names."""
    was, now = (option_values(side.helps[probe]) for side in versions)
    mine = {
        name: [text for text in lost if re.search(rf"{re.escape(name)}(?![\w-])", text)]
        for name in was
    }
    gone = sorted(was.keys() - now.keys())
    for name in gone:
        if mine[name]:
            text = f"{_title(probe)}: {name} vanished"
            yield versions.change("help", "vanished", name, text, mine[name])
    yield from _listed(versions, probe, "option", "vanished", [n for n in gone if not mine[n]])
    yield from _listed(versions, probe, "option", "appeared", now.keys() - was.keys())
    for name in sorted(was.keys() & now.keys()):
        less, more = sorted(was[name] - now[name]), sorted(now[name] - was[name])
        lines = [f"no longer lists {', '.join(less)}"] if less else []
        lines += [f"now lists {', '.join(more)}"] if more else []
        if lines:
            text = f"{_title(probe)}: {name} {' and '.join(lines)}"
            yield versions.change("help", "changed", name, text, mine[name] if less else ())


def _commands(versions: _Versions, probe: str) -> Iterator[VersionChange]:
    """Nobody reads these from the help text; what matters is whether Hydra's own lines use one."""
    before, after = (commands(side.helps[probe]) for side in versions)
    if not before or not after:
        return
    used = versions.old.used
    for name in sorted((before - after) & used):
        text = f"{_title(probe)}: command {name} vanished"
        lost = [f"Hydra runs or asks it by `{name}`"]
        yield versions.change("help", "vanished", name, text, lost)
    yield from _listed(versions, probe, "command", "vanished", before - after - used)
    yield from _listed(versions, probe, "command", "appeared", after - before)


def _listed(
    versions: _Versions, probe: str, what: str, how: str, names: Iterable[str]
) -> Iterator[VersionChange]:
    """One line for all that Hydra does not mind."""
    if texts := sorted(names):
        count = f"{len(texts)} {what}s" if len(texts) > 1 else f"one {what}"
        text = f"{_title(probe)}: {count} {how}: {', '.join(texts)}"
        yield versions.change("help", how, ", ".join(texts), text)


def _title(probe: str) -> str:
    return f"{probe.replace('_', ' ')} text"


_DEFINED = re.compile(r"^ {0,6}(?:-\w, )?(?P<name>--[a-zA-Z][a-zA-Z0-9-]*)")
_LISTED = re.compile(r"^ {8,}- (?P<value>[\w-]+):")
_COMMAND = re.compile(r"^ {2,4}(?P<name>[a-z][\w-]*)(?:\|[\w-]+)?(?: +[\[<]\S+)*(?:  +\S.*)?$")


def option_values(text: str) -> dict[str, set[str]]:
    """The long options of a help text, each with the values that it lists: in brackets, or (clap's
    long form) a line each."""
    rows: dict[str, set[str]] = {}
    for option in options(text):
        name, _, value = option.partition("=")
        rows.setdefault(name, set()).update({value} - {""})
    name = ""
    for line in text.splitlines():
        if defined := _DEFINED.match(line):
            name = defined["name"]
        elif name in rows and (listed := _LISTED.match(line)):
            rows[name].add(listed["value"])
    return rows


def commands(text: str) -> set[str]:
    """The commands of the section `Commands:`."""
    names, inside = set(), False
    for line in text.splitlines():
        if not line[:1].isspace():
            inside = line.strip() == "Commands:" or (inside and not line.strip())
        elif inside and (match := _COMMAND.match(line)):
            names.add(match["name"])
    return names


# events and their fields


def _events(versions: _Versions) -> Iterator[VersionChange]:
    """Which events and fields appeared, vanished or changed, over the streams that both have; one
    line for the fields that went the same way in the same events."""
    both = sorted(set(versions.old.streams) & set(versions.new.streams))
    before, after = (
        shapes(line for name in both for line in side.streams[name].lines) for side in versions
    )
    for kind in sorted(before.keys() - after.keys()):
        yield versions.change("event", "vanished", kind, f"event {kind} vanished")
    for kind in sorted(after.keys() - before.keys()):
        text = f"event {kind} appeared: {_reading(versions.new, kind)}"
        yield versions.change("event", "appeared", kind, text)
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind in sorted(before.keys() & after.keys()):
        for how, paths in fields(before[kind], after[kind]).items():
            groups.setdefault((how, tuple(paths)), []).append(kind)
    for (how, same), kinds in groups.items():
        named = ", ".join(kinds)
        what = f"{len(same)} fields {how}" if len(same) > 1 else f"one field {how}"
        text = f"{named}: {what}: {', '.join(same)}"
        yield versions.change("field", how, named, text)


def _reading(side: VersionSide, kind: str) -> str:
    """What the adapter makes of the first such line."""
    parser = side.adapter.parser()
    for line in (line for stream in side.streams.values() for line in stream.lines):
        if not any(name == kind for name, _ in typed([line])):
            continue
        names = sorted({f"{e.kind}/{e.sub}".rstrip("/") for e in parser.parse_line(line)})
        if kind == NO_JSON or "progress/malformed" in names:
            return "passed over, counted as malformed"
        if "progress/unknown" in names:
            return "passed over, counted as unknown"
        return f"read as {', '.join(names)}" if names else "known, tells nothing"
    return "not read"


# what comes of a run


def _tells(versions: _Versions) -> Iterator[VersionChange]:
    """What the adapter reads no more in a stream that was recorded by hand: no expectation says
    how it should go. A field that moved to where it is read too is no loss."""
    lost: dict[str, list[str]] = {}
    for name in sorted(set(versions.old.streams) & set(versions.new.streams)):
        if name.startswith(_HAND):
            was, now = (
                dict.fromkeys(_aspects(parse(side.adapter, side.streams[name])))
                for side in versions
            )
            for aspect in was:
                if aspect not in now:
                    lost.setdefault(aspect, []).append(name.removeprefix(_HAND))
    for aspect, names in lost.items():
        text = f"no {aspect} in {', '.join(names)}"
        yield versions.change("outcome", "vanished", aspect, text, [f"{aspect} is unknown"])


def _aspects(events: Iterable[AgentEvent]) -> Iterator[str]:
    """What the events tell: texts and figures by name, what Hydra decides by with its value."""
    for event in events:
        data = event.data
        if event.kind == "usage":
            yield from (f"usage.{name}" for name in data)
        elif event.sub in ("session", "retry"):
            decides = ("permission", "sandbox")
            for name, value in data.items():
                yield f"{event.sub}.{name}{f'={value}' if name in decides else ''}"
        elif event.kind == "tool_call":
            summary = data["summary"] != data["name"]
            parts = {"id": data["id"], "name": data["name"], "summary": summary}
            yield from (f"tool_call.{name}" for name, value in parts.items() if value)
        elif event.kind == "tool_result":
            yield f"tool_result ok={data['ok']}"
        elif event.kind == "failed":
            yield f"failed ({data['error']}/{data['reason']})"
        elif event.kind != "progress":
            yield f"{event.kind}/{event.sub}".rstrip("/")


def _outcomes(versions: _Versions) -> Iterator[VersionChange]:
    """One line for each situation that came out differently under Hydra, by the records."""
    alike = []
    for name in sorted(set(versions.old.proofs) & set(versions.new.proofs)):
        was, now = (side.proofs[name] for side in versions)
        if lines := list(_differences(was, now)):
            text = f"situation {name}: {'; '.join(lines)}"
            lost = [] if now.passed else ["it does not go as Hydra expects"]
            yield versions.change("outcome", "changed", name, text, lost)
        elif was.passed and not now.passed:
            alike.append(name)
    if alike:
        named = ", ".join(alike)
        text = f"with the same outcome, but not as expected any more: {named}"
        lost = ["they do not go as Hydra expects; the live run says why"]
        yield versions.change("outcome", "changed", named, text, lost)


def _differences(was: Proof, now: Proof) -> Iterator[str]:
    for sentence, of in (
        ("it ends as {}, it was {}", _ending),
        ("the CLI ends with {}, it was {}", _exit),
        ("the patch is {}, it was {}", _patch),
    ):
        if of(was) != of(now):
            yield sentence.format(of(now), of(was))
    # Which events there are: their order is the model's as much as the CLI's.
    pairs = (
        ("Hydra sees no {} any more", "Hydra now sees {}", set(was.events), set(now.events)),
        ("usage has no {} any more", "usage now has {}", _usage(was), _usage(now)),
    )
    for less, more, before, after in pairs:
        if before - after:
            yield less.format(", ".join(sorted(before - after)))
        if after - before:
            yield more.format(", ".join(sorted(after - before)))


def _usage(proof: Proof) -> set[str]:
    return {name for name, is_known in proof.usage.items() if is_known}


def _ending(proof: Proof) -> str:
    why = "/".join(part for part in (proof.error, proof.error_reason) if part)
    return f"{proof.status or 'unknown'}{f' ({why})' if why else ''}"


def _exit(proof: Proof) -> str:
    signal = proof.exit.get("signal")
    return f"signal {signal}" if signal else f"exit {proof.exit.get('code')}"


def _patch(proof: Proof) -> str:
    return ", ".join(f"{letter} {path}" for path, letter in sorted(proof.patch.items())) or "empty"


def _not_compared(versions: _Versions) -> Iterator[VersionChange]:
    old, new = versions
    for side, other, how in ((old, new, "vanished"), (new, old, "appeared")):
        mine, theirs = ({*s.streams, *s.proofs} for s in (side, other))
        only = sorted(mine - theirs)
        lines = [name for name in only if not name.startswith(_HAND)]
        if by_hand := len(only) - len(lines):
            line = "a stream" if by_hand == 1 else f"{by_hand} streams"
            lines.append(f"{line} recorded by hand")
        if lines:
            text = f"not compared, only {side.version} has: {', '.join(lines)}"
            yield versions.change("outcome", how, "not compared", text)
    # What Hydra refuses has no exit, and no events to compare.
    ran = [{name for name, proof in s.proofs.items() if proof.exit} for s in versions]
    short = sorted((ran[0] & ran[1]) - (set(old.streams) & set(new.streams)))
    if short:
        text = f"events not compared, a side has kept no stream: {', '.join(short)}"
        yield versions.change("outcome", "changed", "not compared", text)

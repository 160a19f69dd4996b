"""What two recorded versions of a CLI have differently, one line each, and whether Hydra minds.

Nothing here is a list of what Hydra needs. The adapter is asked with the answers of both versions,
and reads the streams of both: what it can do or tells no more is minded, and its own sentence says
which option it was. What nobody misses is only named (docs/reference/conformance.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra.adapters.command_line import options
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof, definition
from hydra.conformance.contract.lines import PERMISSIONS, SESSION, ask, request
from hydra.conformance.event_shapes import NO_JSON, fields, shapes, typed
from hydra.conformance.recorded import Recording, parse
from hydra.conformance.results import VersionChange
from hydra.errors import RecordError
from hydra.records.agent import SignIn
from hydra.records.events import AgentEvent
from hydra.records.request import Budget, Effort

_HAND = "recorded:"
"""Before the name of a stream that belongs to no live situation: another may have its name."""

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

_Change = tuple[str, str, str, str, Iterable[str]]
"""What, how, name and text of a `VersionChange`, and the sentences that say what Hydra loses."""


class _Side:
    """One version. `streams` and `proofs` are by situation; a stream may be missing (too long).

    `able` are the things that Hydra does with it, each with what there is to say of it, "" where it
    simply can; `refused` says why it does not run it at all; `used` are the words of the lines by
    which Hydra runs and asks it.
    """

    def __init__(self, adapter: Adapter, folder: Path) -> None:
        if not folder.is_dir():
            raise RecordError(
                f"nothing is recorded in {folder}", hint="hydra conformance --live --record"
            )
        self.adapter = adapter
        self.recording = Recording(folder)
        self.version = folder.name
        self.helps = self.recording.helps
        self.proofs = _proofs(folder)
        owner = {proof.stream: name for name, proof in self.proofs.items() if proof.stream}
        self.streams = {
            owner.get(f"stream.{run.name}.jsonl", f"{_HAND}{run.name}"): run
            for run in self.recording.streams()
            if not run.synthetic
        }
        # The good answer of several, and a bad one where it gave no other: its sandbox, say. As a
        # signed-in user meets it: how it is signed in here has nothing to do with its version.
        descriptor = adapter.descriptor
        answers = self.recording.answers(descriptor.probes)
        probes = {name: outputs[0] for name, outputs in answers.items() if name != "sign_in"}
        result = adapter.detect(f"/opt/agents/{descriptor.binaries[0]}", probes)
        result = replace(result, sign_in=SignIn.CONFIRMED)
        self.number = result.version or ""
        self.refused = f"refused: {result.error.message}" if result.error else ""
        self.able: dict[str, str] = {}
        self.used = {arg for probe in descriptor.probes for arg in probe.args}
        for about, wish in _WISHES.items():
            line = ask(adapter, result, request(**wish))
            if line.refused is not None:
                self.able[f"line: {about}"] = f"{about} is refused: {line.refused.failure.message}"
            if line.command is not None:
                self.used.update(line.command.args)
                dropped = line.command.dropped
                self.able |= {name: f"{name} is left out of its line" for name in dropped}
                self.able |= {text: text for text in line.command.warnings}
        for name, capability in result.capabilities.items():
            note = f": {capability.note}" if capability.note else ""
            self.able[f"capability {name}"] = "" if capability.present else f"{name} is lost{note}"


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


def compare(adapter: Adapter, old: Path, new: Path) -> list[VersionChange]:
    """Every change from one version's folder to the other's, those that Hydra minds first.

    Within that: help texts, events, fields, outcomes. No two lines are the same. Raises
    `RecordError` where a folder or a record in it cannot be read.
    """
    key, sides = adapter.descriptor.key, (_Side(adapter, old), _Side(adapter, new))
    changes = dict.fromkeys(
        VersionChange(key, old.name, new.name, what, how, name, text, "; ".join(lost))
        for part in (_version, _helps, _events, _tells, _outcomes, _not_compared)
        for what, how, name, text, lost in part(*sides)
    )
    return sorted(changes, key=lambda change: not change.minds)


# help texts


def _version(old: _Side, new: _Side) -> Iterator[_Change]:
    """Its version's text, every number as N."""
    texts = (" ".join(side.recording.version_text.split()) for side in (old, new))
    was, now = (re.sub(r"\d+", "N", text) for text in texts)
    if was and now and was != now:
        text = f"the version text reads {now!r}, it read {was!r}"
        lost = ["its version is not understood, and no version check is made"]
        understood = bool(new.number) or not old.number
        yield "help", "changed", "--version", text, () if understood else lost


def _helps(old: _Side, new: _Side) -> Iterator[_Change]:
    """Each help text that both have; then what is lost beside that."""
    lost = _fewer(old, new)
    named: set[str] = set()
    for probe in sorted(old.helps.keys() & new.helps.keys()):
        title, was, now = _title(probe), old.helps[probe], new.helps[probe]
        for change in (*_options(title, was, now, lost), *_commands(title, was, now, old.used)):
            named.update(change[-1])
            yield change
    for probe in sorted(old.helps.keys() ^ new.helps.keys()):
        have = old.version if probe in old.helps else new.version
        text = f"only {have} has its {_title(probe)} recorded: not compared"
        yield "help", "changed", probe, text, ()
    if rest := [text for text in lost if text not in named]:
        yield "help", "changed", "help", "the answers as a whole let Hydra do less", rest


def _fewer(old: _Side, new: _Side) -> list[str]:
    """What the newer answers take away: refused first, then each loss once."""
    if old.refused != new.refused:
        return [new.refused] if new.refused else []
    lost = (text for name, text in new.able.items() if text != old.able.get(name, ""))
    return list(dict.fromkeys(filter(None, lost)))


def _options(title: str, was: str, now: str, lost: Iterable[str]) -> Iterator[_Change]:
    """Options, and the values that they list; a loss is of the one that it names."""
    before, after = option_values(was), option_values(now)
    mine = {
        name: [text for text in lost if re.search(rf"{re.escape(name)}(?![\w-])", text)]
        for name in before
    }
    yield from _names(title, "option", before.keys(), after.keys(), mine)
    for name in sorted(before.keys() & after.keys()):
        less, more = before[name] - after[name], after[name] - before[name]
        lines = [f"no longer lists {', '.join(sorted(less))}"] if less else []
        lines += [f"now lists {', '.join(sorted(more))}"] if more else []
        if lines:
            text = f"{title}: {name} {' and '.join(lines)}"
            yield "help", "changed", name, text, mine[name] if less else ()


def _commands(title: str, was: str, now: str, used: Set[str]) -> Iterator[_Change]:
    """Nobody reads these from the help text; what matters is whether Hydra's own lines use one."""
    before, after = commands(was), commands(now)
    if before and after:
        lost = {name: [f"Hydra runs or asks it by `{name}`"] for name in before & used}
        yield from _names(title, "command", before, after, lost)


def _names(
    title: str, what: str, before: Set[str], after: Set[str], lost: Mapping[str, list[str]]
) -> Iterator[_Change]:
    """A line for each that Hydra misses, and one for all that it does not mind."""
    missed = sorted(name for name in before - after if lost.get(name))
    for name in missed:
        text = f"{title}: {'' if what == 'option' else 'command '}{name} vanished"
        yield "help", "vanished", name, text, lost[name]
    for how, names in (("vanished", before - after - set(missed)), ("appeared", after - before)):
        if texts := ", ".join(sorted(names)):
            yield "help", how, texts, f"{title}: {_count(names, what)} {how}: {texts}", ()


def _title(probe: str) -> str:
    return f"{probe.replace('_', ' ')} text"


def _count(names: Collection[str], what: str) -> str:
    return f"{len(names)} {what}s" if len(names) > 1 else f"one {what}"


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


def _events(old: _Side, new: _Side) -> Iterator[_Change]:
    """Which events and fields appeared, vanished or changed, over the streams that both have; one
    line for the fields that went the same way in the same events."""
    both = sorted(old.streams.keys() & new.streams.keys())
    before, after = (
        shapes(line for name in both for line in side.streams[name].lines) for side in (old, new)
    )
    for kind in sorted(before.keys() - after.keys()):
        yield "event", "vanished", kind, f"event {kind} vanished", ()
    for kind in sorted(after.keys() - before.keys()):
        yield "event", "appeared", kind, f"event {kind} appeared: {_reading(new, kind)}", ()
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind in sorted(before.keys() & after.keys()):
        for how, paths in fields(before[kind], after[kind]).items():
            groups.setdefault((how, tuple(paths)), []).append(kind)
    for (how, same), kinds in groups.items():
        named = ", ".join(kinds)
        yield "field", how, named, f"{named}: {_count(same, 'field')} {how}: {', '.join(same)}", ()


def _reading(side: _Side, kind: str) -> str:
    """What the adapter makes of the first such line."""
    lines = (line for stream in side.streams.values() for line in stream.lines)
    first = next(line for line in lines if any(name == kind for name, _ in typed([line])))
    events = side.adapter.parser().parse_line(first)
    names = sorted({f"{event.kind}/{event.sub}".rstrip("/") for event in events})
    if kind == NO_JSON or "progress/malformed" in names:
        return "passed over, counted as malformed"
    if "progress/unknown" in names:
        return "passed over, counted as unknown"
    return f"read as {', '.join(names)}" if names else "known, tells nothing"


# what comes of a run


def _tells(old: _Side, new: _Side) -> Iterator[_Change]:
    """What the adapter reads no more in a stream that was recorded by hand: no expectation says
    how it should go. A field that moved to where it is read too is no loss."""
    lost: dict[str, list[str]] = {}
    for name in sorted(old.streams.keys() & new.streams.keys()):
        if name.startswith(_HAND):
            was, now = (
                dict.fromkeys(_aspects(parse(side.adapter, side.streams[name])))
                for side in (old, new)
            )
            for aspect in was:
                if aspect not in now:
                    lost.setdefault(aspect, []).append(name.removeprefix(_HAND))
    for aspect, names in lost.items():
        text = f"no {aspect} in {', '.join(names)}"
        yield "outcome", "vanished", aspect, text, [f"{aspect} is unknown"]


def _aspects(events: Iterable[AgentEvent]) -> Iterator[str]:
    """What the events tell: texts and figures by name, what Hydra decides by with its value."""
    for event in events:
        data = event.data
        if event.kind == "usage":
            yield from (f"usage.{name}" for name in data)
        elif event.sub in ("session", "retry"):
            for name, value in data.items():
                decides = name in ("permission", "sandbox")
                yield f"{event.sub}.{name}{f'={value}' if decides else ''}"
        elif event.kind == "tool_call":
            yield from (f"tool_call.{name}" for name in ("id", "name") if data[name])
            if data["summary"] != data["name"]:
                yield "tool_call.summary"
        elif event.kind == "tool_result":
            yield f"tool_result ok={data['ok']}"
        elif event.kind == "failed":
            yield f"failed ({data['error']}/{data['reason']})"
        elif event.kind != "progress":
            yield f"{event.kind}/{event.sub}".rstrip("/")


def _outcomes(old: _Side, new: _Side) -> Iterator[_Change]:
    """One line for each situation that came out differently under Hydra, by the records."""
    alike = []
    for name in sorted(old.proofs.keys() & new.proofs.keys()):
        was, now = old.proofs[name], new.proofs[name]
        if lines := "; ".join(_differences(was, now)):
            lost = [] if now.passed else ["it does not go as Hydra expects"]
            yield "outcome", "changed", name, f"situation {name}: {lines}", lost
        elif was.passed and not now.passed:
            alike.append(name)
    if named := ", ".join(alike):
        text = f"with the same outcome, but not as expected any more: {named}"
        lost = ["they do not go as Hydra expects; the live run says why"]
        yield "outcome", "changed", named, text, lost


def _differences(was: Proof, now: Proof) -> Iterator[str]:
    sentences = ("it ends as", "the CLI ends with", "the patch is")
    for sentence, before, after in zip(sentences, _end(was), _end(now), strict=True):
        if before != after:
            yield f"{sentence} {after}, it was {before}"
    # Which events there are: their order is the model's as much as the CLI's.
    less, more = set(was.events) - set(now.events), set(now.events) - set(was.events)
    had, has = (
        {name for name, is_known in proof.usage.items() if is_known} for proof in (was, now)
    )
    for sentence, names in (
        ("Hydra sees no {} any more", less),
        ("Hydra now sees {}", more),
        ("usage has no {} any more", had - has),
        ("usage now has {}", has - had),
    ):
        if names:
            yield sentence.format(", ".join(sorted(names)))


def _end(proof: Proof) -> tuple[str, str, str]:
    """How the lane ended, how the CLI, and with which patch."""
    why = "/".join(filter(None, (proof.error, proof.error_reason)))
    signal = proof.exit.get("signal")
    patch = ", ".join(f"{letter} {path}" for path, letter in sorted(proof.patch.items()))
    return (
        f"{proof.status or 'unknown'}{f' ({why})' if why else ''}",
        f"signal {signal}" if signal else f"exit {proof.exit.get('code')}",
        patch or "empty",
    )


def _not_compared(old: _Side, new: _Side) -> Iterator[_Change]:
    for side, other, how in ((old, new, "vanished"), (new, old, "appeared")):
        only = sorted({*side.streams, *side.proofs} - {*other.streams, *other.proofs})
        lines = [name for name in only if not name.startswith(_HAND)]
        if by_hand := len(only) - len(lines):
            line = "a stream" if by_hand == 1 else f"{by_hand} streams"
            lines.append(f"{line} recorded by hand")
        if lines:
            text = f"not compared, only {side.version} has: {', '.join(lines)}"
            yield "outcome", how, "not compared", text, ()
    # What Hydra refuses has no exit, and no events to compare.
    ran = ({name for name, proof in side.proofs.items() if proof.exit} for side in (old, new))
    short = set.intersection(*ran) - (old.streams.keys() & new.streams.keys())
    if short:
        text = f"events not compared, a side has kept no stream: {', '.join(sorted(short))}"
        yield "outcome", "changed", "not compared", text, ()

"""Adds what was seen of an installed CLI to the fixtures: scrubbed, and a record of what it proved.

A version's folder (`hydra.conformance.recorded`) gets its answers to the probes, a stream for each
situation with the events that it gives, and `record.<platform>.<hydra>.json`. Streams that were
recorded by hand stay as they are, and a situation never takes the name of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import asdict, replace

from hydra import __version__
from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof, Record, definition
from hydra.conformance.live.observation import Observation
from hydra.conformance.recorded import Recording, Stream, expectation, parse
from hydra.conformance.results import Case, CaseVerdict
from hydra.conformance.scrub import scrub
from hydra.errors import AuthMissing
from hydra.records.agent import ProbeOutput
from hydra.records.events import Event
from hydra.records.outcome import ExitStatus

LONGEST = 64 * 1024
"""Bytes of a stream, or of its stderr: a longer one is not kept, its proof then names no stream."""

Outputs = Mapping[str, Mapping[str, ProbeOutput]]
"""Answers to probes, by agent and probe."""


def record(
    root: Path,
    observed: Sequence[Observation],
    cases: Sequence[Case] = (),
    outputs: Outputs | None = None,
    *,
    adapters: Iterable[Adapter] | None = None,
    whole: bool = False,
    unknown: str = "",
) -> list[Path]:
    """Writes what was seen below `root`, and says which files it wrote.

    An agent without answers to its probes gets streams only; one that could not be raced, answers
    only. `whole`: all situations were tried, so those of an earlier record that are no more are
    taken away; otherwise they stay. `unknown` is what a version that is not understood is called;
    without it such a CLI is left out. Raises `RecordError` where a record there cannot be read.
    """
    written: list[Path] = []
    for adapter in registry.everyone() if adapters is None else adapters:
        key = adapter.descriptor.key
        own = [
            observation
            for observation in observed
            if observation.agent == key and not observation.reason
        ]
        mine = [replace(observation, version=observation.version or unknown) for observation in own]
        mine = [observation for observation in mine if observation.version]
        answers = (outputs or {}).get(key, {})
        result = adapter.detect(adapter.descriptor.binaries[0], answers) if answers else None
        text = (result.version or unknown) if result else ""
        for version in sorted({observation.version for observation in mine} | ({text} - {""})):
            folder = root / key / version
            folder.mkdir(parents=True, exist_ok=True)
            if version == text:
                written += _answers(folder, adapter, answers)
            seen = [observation for observation in mine if observation.version == version]
            if seen:
                written += _Folder(folder, adapter).add(seen, cases, whole=whole)
            elif result and (result.error is None or result.error.kind == AuthMissing.kind):
                written += _suite_alone(folder, key, version, cases)
    return written


# answers to probes


def _answers(folder: Path, adapter: Adapter, answers: Mapping[str, ProbeOutput]) -> list[Path]:
    written = []
    for probe in adapter.descriptor.probes:
        output = answers.get(probe.name)
        if output is None or output.exit_code is None:
            continue
        stem = probe.name.replace("_", "-")
        plain = stem == "version" or stem.endswith("help")
        if plain and output.exit_code == 0:
            written.append(_write(folder / f"{stem}.txt", scrub(output.stdout)))
        elif not plain and not _answered(folder, adapter, output):
            stem = f"{stem}.{'no' if output.exit_code else 'ok'}"
            written.append(_write(folder / f"{stem}.txt", scrub(output.stdout)))
            if output.stderr:
                written.append(_write(folder / f"{stem}.stderr.txt", scrub(output.stderr)))
    return written


def _answered(folder: Path, adapter: Adapter, output: ProbeOutput) -> bool:
    """Whether an answer to it was recorded by hand that is as good."""
    answers = Recording(folder).answers(adapter.descriptor.probes).get(output.name, [])
    return any((answer.exit_code == 0) == (output.exit_code == 0) for answer in answers)


# streams


class _Folder:
    """One version's streams, exits and record."""

    def __init__(self, folder: Path, adapter: Adapter) -> None:
        self._folder, self._adapter = folder, adapter
        self._exits: dict[str, int] = Recording(folder).document("exits.json") or {}
        entries = [records.read(path) for path in sorted(folder.glob("record.*.json"))]
        self._owned = {p.stream for entry in entries for p in entry.situations.values() if p.stream}

    def add(self, seen: Sequence[Observation], cases: Sequence[Case], *, whole: bool) -> list[Path]:
        """Streams, exits and the record."""
        entry = _fresh(self._folder, seen[0].agent, seen[0].version, cases)
        proofs = {} if whole else dict(entry.situations)
        written: list[Path] = []
        for earlier in entry.situations.values() if whole else ():
            self._remove(earlier.stream)
        for observation in seen:
            name = self._name(observation.situation)
            files = self._stream(observation, name)
            written += files
            stream = f"stream.{name}.jsonl" if files else ""
            proofs[observation.situation] = _proof(observation, stream)
        exits = json.dumps(self._exits, indent=1, sort_keys=True) + "\n"
        written.append(_write(self._folder / "exits.json", exits))
        written.append(records.write(self._folder, replace(entry, situations=proofs)))
        return written

    def _name(self, situation: str) -> str:
        """The situation's, unless a stream that was recorded by hand has that name."""
        file = f"stream.{situation}.jsonl"
        free = file in self._owned or not (self._folder / file).exists()
        return situation if free else f"live-{situation}"

    def _stream(self, observation: Observation, name: str) -> list[Path]:
        """The files of one stream; none where it is too long or nobody knows how it ended."""
        run = observation.run
        ended = run.lane.exit if run.lane else None
        stdout = _shortened(_text(run.raw, run.places))
        stderr = _text(run.raw_stderr, run.places)
        self._remove(f"stream.{name}.jsonl")
        if run.raw is None or max(len(_bytes(text)) for text in (stdout, stderr)) > LONGEST:
            return []
        if ended is None or (ended.code is None and ended.signal is None):
            return []
        self._exits[name] = -(ended.signal or 0) if ended.code is None else ended.code
        stream = Stream(
            name=name,
            lines=_bytes(stdout).split(b"\n"),
            stderr=_bytes(stderr),
            exit=ExitStatus(code=ended.code, signal=ended.signal),
        )
        sides = {number: _text(path, run.places) for number, path in run.sides.items()}
        stream = replace(stream, files={number: _bytes(text) for number, text in sides.items()})
        texts = {".jsonl": stdout, ".expected.json": expectation(parse(self._adapter, stream))}
        if stderr:
            texts[".stderr.txt"] = stderr
        beside = {f"side.{name}.{number}.txt": text for number, text in sides.items()}
        named = {f"stream.{name}{end}": text for end, text in texts.items()} | beside
        return [_write(self._folder / file, text) for file, text in named.items()]

    def _remove(self, file: str) -> None:
        """One stream of an earlier record, with all that belongs to it."""
        if not file:
            return
        stem = file.removesuffix(".jsonl")
        for ending in (".jsonl", ".stderr.txt", ".expected.json"):
            (self._folder / f"{stem}{ending}").unlink(missing_ok=True)
        for side in self._folder.glob(f"side.{stem.removeprefix('stream.')}.[0-9].txt"):
            side.unlink()
        self._exits.pop(stem.removeprefix("stream."), None)


def _suite_alone(folder: Path, agent: str, version: str, cases: Sequence[Case]) -> list[Path]:
    """A record of the offline suite, where no race was run; one that has situations stays."""
    entry = _fresh(folder, agent, version, cases)
    return [records.write(folder, entry)] if entry.contract and not entry.situations else []


# what a record says of one version


def _fresh(folder: Path, agent: str, version: str, cases: Sequence[Case]) -> Record:
    """The record to be written: this day's, with the situations of the one that is there."""
    fresh = Record(
        agent=agent,
        version=version,
        hydra=__version__,
        platform=records.this_platform(),
        date=datetime.now(UTC).date().isoformat(),
        contract={
            case.name: case.verdict is CaseVerdict.PASSED
            for case in cases
            if case.suite == "contract"
            and case.agent == agent
            and case.version in ("", version)
            and case.verdict is not CaseVerdict.SKIPPED
        },
    )
    path = folder / fresh.name
    if not path.is_file():
        return fresh
    record = records.read(path)
    return replace(fresh, situations=record.situations, contract=fresh.contract or record.contract)


def _proof(observation: Observation, stream: str) -> Proof:
    """What one situation gave; `stream` is the file that holds its stream, "" for none."""
    run = observation.run
    ended = run.lane.exit if run.lane else None
    usage = asdict(run.lane.usage) if run.lane else {}
    return Proof(
        passed=not observation.differences,
        status=run.status,
        error=run.error.kind if run.error else "",
        error_reason=run.error.reason if run.error else "",
        exit={"code": ended.code, "signal": ended.signal} if ended else {},
        events=_folded(run.events),
        usage={name: value is not None for name, value in sorted(usage.items())},
        patch=dict(sorted(run.patch.items())),
        stream=stream,
        proves=observation.proves,
        definition=definition(observation.situation),
    )


def _folded(events: Iterable[Event]) -> tuple[str, ...]:
    """`kind/sub` in order, a run of the same once. Notices come as their clock has it: left out."""
    names: list[str] = []
    for event in events:
        name = f"{event.kind}/{event.sub}".rstrip("/")
        if name != "progress/notice" and names[-1:] != [name]:
            names.append(name)
    return tuple(names)


# files


def _text(path: Path | None, places: Mapping[str, str]) -> str:
    if path is None or not path.is_file():
        return ""
    # Bytes that are no UTF-8 come out as they went in.
    return scrub(path.read_bytes().decode("utf-8", "surrogateescape"), places)


def _shortened(text: str) -> str:
    """Without what an agent adds to its list of commands, which no parser reads: with all its
    skills' texts the list of qwen 0.24.4 has 570 kB."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if len(line) > LONGEST // 2 and '"available_commands_update"' in line:
            document = json.loads(line)
            document["params"]["update"].pop("_meta", None)
            lines[number] = json.dumps(document, ensure_ascii=False)
    return "\n".join(lines)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _write(path: Path, text: str) -> Path:
    path.write_bytes(_bytes(text))
    return path

"""One spoiled stream on its whole way, as a lane's goes, and what is wrong with what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from hydra.adapters import registry
from hydra.adapters.codex import ROLLOUT
from hydra.process.control import ProcessControl
from hydra.race import output
from hydra.race.agent_events import differences, feed_clocks
from hydra.race.outcome import AttemptEvidence, classify
from hydra.race.output import OutputReader
from hydra.records.agent import BuiltCommand
from hydra.records.events import AgentEvent, Event, Raw
from hydra.records.outcome import Outcome
from hydra.records.request import Limits
from hydra.records.store.sink import RawSink
from hydra.records.transcript import AgentTranscript
from hydra.redaction import Redactor
from tests.support.stream_bytes import SECRETS
from tests.support.stream_cases import Case
from tests.support.stream_seen import Seen, Tape
from tests.support.stream_watched import Endless, Watched, patience

REDACTOR = Redactor(SECRETS)
COMMAND = BuiltCommand(
    program="/usr/bin/agent",
    args=("--title", "it's"),
    cwd=Path("/lane/shop"),
    expected_settings=(("permission", "acceptEdits"), ("sandbox", "workspace-write")),
)
SLOW = 0.5, 2.0
"""CPU seconds that a stream may take, and more for each MB of it."""
ENDLESS = 20.0
"""CPU seconds after which nobody waits for it any more: what is quadratic takes hours."""


class Lane:
    """Reads one case after the other in the same folder, as `attempt` does it."""

    def __init__(self, folder: Path) -> None:
        self._raw, self._err = folder / "raw.jsonl", folder / "stderr.txt"

    def read(self, case: Case) -> Seen:
        """The case's events, its outcome, and the faults of everything up to there."""
        seen = Seen(case)
        began = time.process_time()
        try:
            with patience(ENDLESS):
                self._read(case, seen)
        except (Exception, Endless) as error:
            seen.faults.append(f"the reading raised {error!r}")
        seen.seconds = time.process_time() - began
        size = (len(case.stdout) + len(case.stderr)) / 1e6
        if seen.seconds > SLOW[0] + SLOW[1] * size:
            seen.faults.append(f"{size:.2f} MB took {seen.seconds:.1f} s")
        for file in (self._raw, self._err):
            file.unlink(missing_ok=True)
        return seen

    def _read(self, case: Case, seen: Seen) -> None:
        watched = Watched(registry.get(case.agent).parser(), seen.faults)
        tape, story, control = Tape(seen), AgentTranscript(), ProcessControl()
        warned: list[str] = []

        def take(event: AgentEvent, raw: Raw | None, recorded: bool = True) -> None:
            story.add(event)
            feed_clocks(control, event)
            if recorded:
                tape.emit(event.kind, event.sub, event.data, source="agent", raw=raw)
            warned.extend(differences(COMMAND, event))

        def fallback(failures: int) -> None:
            watched.raw_mode = True
            tape.emit("parse_fallback", data={"failures": failures})

        reader = OutputReader(
            parser=watched,
            sink=RawSink(self._raw, case.raw_limit),
            stderr_sink=RawSink(self._err, case.raw_limit),
            redactor=REDACTOR,
            emit=take,
            line_limit=case.line_limit,
            on_fallback=fallback,
        )
        _feed(reader, case)
        files = {"stderr": reader.stderr_tail, ROLLOUT: case.stderr}
        for event in output.ending(watched, case.exit, files, REDACTOR):
            take(event, None)
        seen.faults += _endings(seen.events)
        if output.ending(watched, case.exit, files, REDACTOR) != []:
            more = [e.kind for e in output.ending(watched, case.exit, {}, REDACTOR)]
            if set(more) & {"completed", "failed"}:
                seen.faults.append("a second ending when it is asked again")
        seen.faults += _miscounted(case, reader, watched)
        seen.faults += self._misplaced(case, reader, seen.events)
        seen.outcome = _concluded(case, story, reader, tuple(warned))

    def _misplaced(self, case: Case, reader: OutputReader, events: list[Event]) -> Iterator[str]:
        """What of the files is not what was sent, and which events point elsewhere."""
        content = self._raw.read_bytes()
        yield from _unlike("stdout", case.stdout, content, reader.sink)
        yield from _unlike("stderr", case.stderr, self._err.read_bytes(), reader.stderr_sink)
        for event in events:
            if event.raw is None:
                continue
            start, length = event.raw.offset, event.raw.length
            piece = content[start : start + length]
            if len(piece) != length or (start and content[start - 1 : start] != b"\n"):
                yield f"{event.kind} points at {event.raw}, which is no line"
                return


def _feed(reader: OutputReader, case: Case) -> None:
    """Both streams, in pieces as a pipe may bring them."""
    rng = Random(case.salt)
    stdout, stderr = case.stdout, case.stderr
    sizes = rng.choice(((1, 200), (1, 5_000), (65_536, 65_536), (1 << 24, 1 << 24)))
    if len(stdout) > 100_000 and sizes[1] < 60_000:
        sizes = (10_000, 100_000)
    at = other = 0
    while at < len(stdout) or other < len(stderr):
        step = rng.randint(*sizes)
        if at < len(stdout):
            reader.stdout(stdout[at : at + step])
            at += step
        if other < len(stderr) and rng.random() < 0.5:
            reader.stderr(stderr[other : other + step])
            other += step
    reader.close()
    reader.sink.close()
    reader.stderr_sink.close()


def _endings(events: list[Event]) -> Iterator[str]:
    ends = [event.kind for event in events if event.kind in ("completed", "failed")]
    if len(ends) != 1:
        yield f"{len(ends)} endings: {ends}"


def _miscounted(case: Case, reader: OutputReader, watched: Watched) -> Iterator[str]:
    """Each line was told once: as JSON, as text, as too long, or it was blank."""
    form = registry.OWN[case.agent].descriptor.stream_format
    if form in ("text", "json") or case.agent == "opencode-http":
        return  # not one JSON object a line: text, one document, a server's first words
    sent = case.stdout.split(b"\n")
    lines = sum(1 for line in sent if line)
    number = watched.lines + watched.plain - watched.again
    if number + reader.counts.oversized != lines:
        yield f"{lines} lines: {number} told, {reader.counts.oversized} too long"
    inner = watched.parser
    understood, malformed = getattr(inner, "understood", 0), getattr(inner, "malformed", 0)
    if understood + malformed + watched.unknown + watched.blank != watched.lines:
        yield (
            f"{watched.lines} lines of JSON: {understood} understood, {malformed} malformed, "
            f"{watched.unknown} unknown, {watched.blank} blank"
        )
    if (malformed, reader.counts.unknown) != (watched.malformed, watched.unknown):
        yield f"{reader.counts} where {watched.malformed}, {watched.unknown} were told"
    if reader.counts.malformed != malformed - watched.again:
        yield f"{reader.counts} where {malformed} were, {watched.again} of them as text"


def _unlike(name: str, sent: bytes, content: bytes, sink: output.Sink) -> Iterator[str]:
    """What is kept is what was sent, secrets aside: the whole, or a head, a counted gap, a tail."""
    assert isinstance(sink, RawSink)
    expected = b"\n".join([REDACTOR.redact(line)[0] for line in sent.split(b"\n")])
    gap = b'\n{"hydra":"gap","bytes":%d}\n' % sink.dropped
    if not sink.dropped:
        if content != expected:
            yield f"{name}: kept is not what was sent ({_first_difference(content, expected)})"
        return
    head, item, tail = content.partition(gap)
    whole = expected.startswith(head) and expected.endswith(tail)
    if not item or not whole or len(head) + len(tail) + sink.dropped != len(expected):
        yield f"{name}: head, gap and tail are not what was sent"


def _first_difference(content: bytes, other: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(content, other, strict=False)) if a != b), -1)
    return f"at {at}: {content[at : at + 40]!r} for {other[at : at + 40]!r}"


def _concluded(
    case: Case, story: AgentTranscript, reader: OutputReader, warned: tuple[str, ...]
) -> Outcome:
    return classify(
        AttemptEvidence(
            run="r1",
            lane="codex",
            attempt=1,
            descriptor=registry.get(case.agent).descriptor,
            command=COMMAND.argv,
            transcript=story,
            exit=case.exit,
            stopped=case.stopped,
            seconds=61.5,
            patch=case.patch,
            patch_error="" if case.patch else "its worktree is lost\x1b[2J",
            stderr=reader.stderr_tail.decode("utf-8", "replace"),
            counts=reader.counts,
            limits=Limits(),
            warnings=warned,
        )
    )

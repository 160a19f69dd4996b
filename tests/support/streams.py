"""Lines of real agents, spoiled, through all that reads, records and shows a stream.

Every recorded line of fixtures/adapters may be changed by bytes, by JSON, by order and by size. A
stream of them goes the way of a lane's: framed, redacted, kept, parsed, recorded, judged, and shown
in every way. `examined` says what is wrong with what came of it.
"""

from __future__ import annotations

import json
import re
import signal
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import Any

from msgspec.structs import replace

from hydra import adapters
from hydra.adapters import registry
from hydra.adapters.codex import ROLLOUT
from hydra.adapters.contract import Parser
from hydra.errors import KINDS
from hydra.process.control import ProcessControl
from hydra.process.records import End
from hydra.process.sink import RawSink
from hydra.race import output
from hydra.race.agent_events import differences, feed_clocks
from hydra.race.outcome import AttemptEvidence, classify
from hydra.race.output import OutputReader
from hydra.race.transcript import AgentTranscript
from hydra.records.agent import BuiltCommand
from hydra.records.codec import as_json, dump
from hydra.records.events import AGENT_KINDS, AgentEvent, Event, Raw, decode, encode
from hydra.records.outcome import ExitStatus, Outcome, Patch, RaceResult
from hydra.records.request import Limits
from hydra.redaction import Redactor
from hydra.report.html.harmless import whole
from hydra.report.html.timeline import timelines
from hydra.report.live import LiveTable
from hydra.report.stream import PlainLines
from tests.adapter_recordings import FIXTURES, recordings
from tests.support.rendering import summary
from tests.support.sample_race import PLAN, RUN

# ---- What is spoiled, and how.

AGENTS = tuple(registry.OWN)


@cache
def streams(agent: str) -> tuple[tuple[bytes, ...], ...]:
    """Every recorded stream of `agent`, its lines."""
    paths = (path for path in recordings() if path.parent.parent.name == agent)
    rows = (tuple(line for line in path.read_bytes().split(b"\n") if line) for path in paths)
    return tuple(lines for lines in rows if lines)


@cache
def complaints() -> tuple[bytes, ...]:
    """What the CLIs wrote to stderr, each recording's whole."""
    return tuple(path.read_bytes() for path in sorted(FIXTURES.glob("*/*/*.stderr.txt")))


@cache
def words() -> tuple[str, ...]:
    """What the adapters look for in a text: the literal parts of their patterns."""
    literal = re.compile(r"[A-Za-z][A-Za-z0-9' :_/-]{3,}")
    found: set[str] = set()
    for module in iter_modules(adapters.__path__):
        levels: list[Any] = [*vars(import_module(f"{adapters.__name__}.{module.name}")).values()]
        while levels:
            value = levels.pop()
            if isinstance(value, tuple | list | frozenset):
                levels += value
            elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                text = re.sub(r"\\.", "", value.pattern.replace(r"\d", "1"))
                found.update(literal.findall(text))
    return tuple(sorted(found))


SECRETS = ("made-up-secret-value-7Q", 'pa/ss "w\u00f6rd"+=\\1234')
"""Planted into some of the lines: never to be seen again."""
BYTES = (
    *(b"\x00", b"\x1b[2J", b"\x1b]0;owned\x07", b"\x1b]52;c;cm0=\x1b\\", b"\x1b", b"\x07", b"\x7f"),
    *(b"\x9b2J", b"\xc2\x9b2J", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xe2\x80\xae"),
    *(b"\xe2\x81\xa6", b"\xe2\x80\x8b", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\r"),
    *(b"\r\n", b"\t", b"\\", b'"', b"{", b"}", b"[", b",", b"\\u0000", b"\\ud800", b"\\u202e"),
    *(b"\\u001b]52;c;cm0=\\u0007", b"\\u009b2J", b"\\u2028", b"\xf3\xa0\x81\x81", b"\xcc\x81" * 9),
)
"""What is put between bytes: controls of every family, raw and as JSON spells them."""
HARD_TEXTS = (
    *("", " ", "\x00", "\x1b[31mred\x1b[0m", "\x1b]8;;http://a\x1b\\x\x1b]8;;\x1b\\", "\x9b2J\x85"),
    *("\u202eabc", "a\u200bb\u2060", "\u2028\u2029", "\ud800", "\udc80\udfff", "e" + "\u0301" * 40),
    *("\U000e0041\U000e0042", "\ufeff", "-rf", "--help", "<script>|`*_[x](y)", "\r\nback\rfront"),
    *("@everyone #1", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u3164\u2800", "a\tb\vc\fd"),
)
NUMBERS: tuple[Any, ...] = (
    *(0, -1, -0.0, 1e308, -1e308, 5e-324, 2**53 + 1, 10**18, 10**29, 10**30, 10**400),
    *(float("nan"), float("inf"), float("-inf"), True, False),
)


def by_bytes(rng: Random, line: bytes) -> bytes:
    """A bit of it flipped, a part of it alone, split in two, or something between its bytes."""
    at, other = sorted((rng.randrange(len(line) + 1), rng.randrange(len(line) + 1)))
    flipped = bytes(byte ^ 1 << rng.randrange(8) for byte in line[at : at + 1])
    return rng.choice(
        (
            line[:at] + flipped + line[at + 1 :],
            rng.choice((line[:at], line[at:], line[:at] + line[other:], rng.randbytes(at % 60))),
            line[:at] + rng.choice((b"\r", b"\r\n", b"\n", b"\n\n")) + line[at:],
            line[:at] + rng.choice(BYTES) + line[at:other] + rng.choice(BYTES) + line[other:],
        )
    )


def by_json(rng: Random, line: bytes) -> bytes:
    """One value of it gone, of another kind, wrapped, hard to show, or what adapters look for."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return by_bytes(rng, line)
    places = [*_places([value])]
    if not places:
        return line
    holder, key = rng.choice(places)
    old, term = holder[key], rng.choice(words())
    if isinstance(holder, dict) and rng.random() < 0.2:
        holder[rng.choice((f"{key}_2", rng.choice(HARD_TEXTS)))] = holder.pop(key)
    elif isinstance(old, str) and rng.random() < 0.5:
        long = term * (rng.choice((2_000, 40_000)) // len(term)) if rng.random() < 0.05 else ""
        at = rng.randrange(len(old) + 1)
        holder[key] = old[:at] + rng.choice((rng.choice(HARD_TEXTS), f" {term}", long)) + old[at:]
    else:
        deep: Any = "x"
        for level in range(rng.choice((3, 64, 65, 200))):
            deep = [deep] if level % 2 else {"a": deep}
        simple: tuple[Any, ...] = (
            rng.choice(NUMBERS),
            rng.choice(HARD_TEXTS),
            None,
            [],
            {},
            str(old),
        )
        holder[key] = rng.choice((*simple, [old] * 3, {"type": term}, deep))
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _places(level: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Each container in these, with each of its keys or indices."""
    for holder in level:
        if isinstance(holder, dict | list):
            keys = [*holder] if isinstance(holder, dict) else range(len(holder))
            yield from ((holder, key) for key in keys)
            yield from _places([holder[key] for key in keys])


def secret(rng: Random, line: bytes) -> bytes:
    """A secret at any place, as it is or as a CLI would spell it."""
    value = rng.choice(SECRETS)
    once = json.dumps(value)[1:-1]
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in value)
    plain = json.dumps(value, ensure_ascii=False)[1:-1]
    spelled = rng.choice((value, once, plain, escaped, json.dumps(once)[1:-1])).encode()
    places = [match.end() for match in re.finditer(rb'":\s*"', line)] or [0]
    for at in sorted(rng.sample(places, min(len(places), rng.choice((1, 4, 8)))), reverse=True):
        line = line[:at] + spelled + line[at:]
    return line


def doubled(rng: Random, line: bytes) -> bytes:
    """A key that is there twice, or spelled in escapes."""
    if not (keys := [*re.finditer(rb'"(\w+)":', line)]):
        return line
    match = rng.choice(keys)
    spelled = "".join(f"\\u{value:04x}" for value in match[1]).encode()
    put = rng.choice((match[0] + b"null," + match[0], b'"' + spelled + b'":'))
    return line[: match.start()] + put + line[match.end() :]


SPOILS = (by_bytes, by_bytes, by_json, by_json, by_json, secret, doubled)
BASE = "4be1c02a9f0c5d1e7b3a8c6d2f4e5a6b7c8d9e0f"
EXITS = (
    *(ExitStatus(code=code) for code in (0, 0, 0, 1, 2, 101, 130, 137, 143, 255)),
    *(ExitStatus(signal=number) for number in (1, 2, 9, 11, 15)),
    *(ExitStatus(), ExitStatus(keeper_lost=True)),
    ExitStatus(code=0, survivors=("node server.js\x1b[2J", "\u202egnp")),
)
STOPPED = ("idle", "tool", "total", "interrupt", "disk_floor", "sign_in", "stdout_closed")
EMPTY = Patch(commit=BASE, base=BASE)
PATCHES = (
    *(EMPTY, None, replace(EMPTY, incomplete="over 20,000 untracked files")),
    replace(EMPTY, files=2, insertions=18, deletions=4),
    replace(EMPTY, files=1, incomplete="a\x1b]0;x\x07b", notes=("\u202en",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One attempt's output and end. `salt` decides the chunks."""

    agent: str
    stdout: bytes
    stderr: bytes
    exit: ExitStatus
    stopped: str
    patch: Patch | None
    salt: int
    line_limit: int
    raw_limit: int
    width: int


def make(seed: int, number: int) -> Case:
    """The stream of this number: the same one each time, as long as the recordings are."""
    rng = Random(f"{seed}:{number}")
    agent = rng.choice(AGENTS)
    rows = [rng.choice(streams(agent)) for _ in range(rng.choice((1, 1, 4)))]
    rate = rng.choice((0.0, 0.05, 0.3, 0.9))
    every = [line for row in rows for line in row][:300]
    lines = [rng.choice(SPOILS)(rng, line) if rng.random() < rate else line for line in every]
    match rng.randrange(8):
        case 0:
            rng.shuffle(lines)
        case 1:
            lines = [line for line in lines for _ in range(rng.choice((1, 2, 3)))]
        case 2:
            lines = [lines[-1], *lines, lines[-1]]  # the ending first, and twice
        case 3:
            lines = lines[: max(len(lines) * 2 // 3, 1)]  # without one
        case 4:
            lines = [line for line in lines for line in (line, rng.choice((b"", b" ", b"\x00")))]
    if rng.random() < 0.01:
        lines.append(rng.choice((b"x", b"[", b'{"a":', b"\x1b[", b"eyJ", b"\xff")) * 160_000)
    cried = rng.choice(complaints()) if rng.random() < 0.4 else b""
    small = rng.random()
    return Case(
        agent=agent,
        stdout=b"\n".join(lines) + (b"\n" if rng.random() < 0.8 and lines else b""),
        stderr=rng.choice(SPOILS)(rng, cried) if rng.random() < 0.6 else cried,
        exit=rng.choice(EXITS),
        stopped=rng.choice(STOPPED) if rng.random() < 0.1 else "",
        patch=rng.choice(PATCHES),
        salt=rng.getrandbits(32),
        line_limit=rng.choice((1_000, 20_000)) if small < 0.1 else Limits().line_bytes,
        raw_limit=rng.choice((4_000, 40_000)) if small > 0.95 else Limits().raw_bytes,
        width=rng.choice((20, 40, 80, 80, 132)),
    )


# ---- On its way.


class Endless(BaseException):
    """No `Exception`, which the reading would take for an adapter's mistake."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raises `Endless` in what takes longer; the regular expressions of Python let it through."""

    def give_up(number: int, frame: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass
class Watched:
    """A parser that says what it raises before `reading` hides it."""

    parser: Parser
    faults: list[str]

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        return self._try(lambda: self.parser.parse_line(line))

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        return self._try(lambda: self.parser.parse_raw(chunk))

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        return self._try(lambda: self.parser.end(exit, files))

    def _try(self, work: Callable[[], list[AgentEvent]]) -> list[AgentEvent]:
        try:
            return work()
        except Exception as error:
            self.faults.append(f"the parser raised {error!r}")
            raise


@dataclass
class Tape:
    """Numbers events, and proves of each that it can be recorded and read back."""

    events: list[Event] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def emit(
        self, kind: str, sub: str, data: Mapping[str, object], source: str, raw: Raw | None = None
    ) -> None:
        number = len(self.events) + 1
        clocks = {"seq": number, "wall": 1_800_000_000.0 + number, "mono": number / 64}
        about: dict[str, Any] = {"run": RUN, "lane": "codex", "attempt": 1, **clocks}
        event = Event(kind=kind, sub=sub, source=source, raw=raw, data=data, **about)
        line = encode(event)
        if (
            not line.isascii()
            or line.count(b"\n") != 1
            or line[-1:] != b"\n"
            or len(line) > 1 << 20
        ):
            self.faults.append(f"no ASCII line: {line[:200]!r}")
        if decode(line) != event:
            self.faults.append(f"decoded otherwise: {line[:200]!r}")
        if source == "agent" and kind not in AGENT_KINDS:
            self.faults.append(f"an agent's event of kind {kind!r}")
        if kind == "failed" and data.get("error") not in KINDS:
            self.faults.append(f"a failure of no kind: {line[:200]!r}")
        self.events.append(event)


REDACTOR = Redactor(SECRETS)
COMMAND = BuiltCommand(
    program="/usr/bin/agent",
    args=("--title", "it's"),
    cwd=Path("/lane/shop"),
    expected_settings=(("permission", "acceptEdits"), ("sandbox", "workspace-write")),
)
SLOW = 0.5, 2.0
"""CPU seconds that a stream may take, and more for each MB of it; of what is quadratic, hours."""


def read(case: Case, folder: Path, tape: Tape) -> Outcome:
    """The case's events and its outcome, as `attempt` has them."""
    watched = Watched(registry.get(case.agent).parser(), tape.faults)
    story, control, warned = AgentTranscript(), ProcessControl(), list[str]()

    def take(event: AgentEvent, raw: Raw | None, recorded: bool = True) -> None:
        story.add(event)
        feed_clocks(control, event)
        if recorded:
            tape.emit(event.kind, event.sub, event.data, "agent", raw)
        warned.extend(differences(COMMAND, event))

    out, err = folder / "raw.jsonl", folder / "stderr.txt"
    reader = OutputReader(
        parser=watched,
        sink=RawSink(out, case.raw_limit),
        stderr_sink=RawSink(err, case.raw_limit),
        redactor=REDACTOR,
        emit=take,
        line_limit=case.line_limit,
        on_fallback=lambda count: tape.emit("parse_fallback", "", {"failures": count}, "hydra"),
    )
    _feed(reader, case)
    files = {"stderr": reader.stderr_tail, ROLLOUT: case.stderr}
    for event in output.ending(watched, case.exit, files, REDACTOR):
        take(event, None)
    ends = [event.kind for event in tape.events if event.kind in ("completed", "failed")]
    again = [event.kind for event in output.ending(watched, case.exit, {}, REDACTOR)]
    if len(ends) != 1 or {"completed", "failed"} & {*again}:
        tape.faults.append(f"{len(ends)} endings: {ends}, and when it is asked again {again}")
    content = out.read_bytes()
    tape.faults += _unlike("stdout", case.stdout, content, reader.sink)
    tape.faults += _unlike("stderr", case.stderr, err.read_bytes(), reader.stderr_sink)
    for raw in (event.raw for event in tape.events if event.raw):
        piece = content[raw.offset : raw.offset + raw.length]
        before = content[max(raw.offset - 1, 0) : raw.offset]
        if len(piece) != raw.length or before not in (b"", b"\n"):
            tape.faults.append(f"an event points at {raw}, which is no line")
            break
    for file in (out, err):
        file.unlink()
    facts: dict[str, Any] = {"run": "r1", "lane": "codex", "attempt": 1, "command": COMMAND.argv}
    return classify(
        AttemptEvidence(
            **facts,
            descriptor=registry.get(case.agent).descriptor,
            transcript=story,
            end=End(case.exit, case.stopped, 61.5),
            patch=case.patch,
            patch_error="" if case.patch else "its worktree is lost\x1b[2J",
            stderr=reader.stderr_tail.decode("utf-8", "replace"),
            counts=reader.counts,
            limits=Limits(),
            warnings=tuple(warned),
        )
    )


def _feed(reader: OutputReader, case: Case) -> None:
    """Both streams, in pieces as a pipe may bring them."""
    rng = Random(case.salt)
    sizes = rng.choice(((1, 200), (1, 5_000), (65_536, 65_536), (1 << 24, 1 << 24)))
    if len(case.stdout) > 100_000 and sizes[1] < 60_000:
        sizes = (10_000, 100_000)
    at = other = 0
    while at < len(case.stdout) or other < len(case.stderr):
        step = rng.randint(*sizes)
        if at < len(case.stdout):
            reader.stdout(case.stdout[at : at + step])
            at += step
        if other < len(case.stderr) and rng.random() < 0.5:
            reader.stderr(case.stderr[other : other + step])
            other += step
    reader.close()
    reader.sink.close()
    reader.stderr_sink.close()


def _unlike(name: str, sent: bytes, content: bytes, sink: RawSink) -> Iterator[str]:
    """What is kept is what was sent, secrets aside: the whole, or a head, a counted gap, a tail."""
    expected = b"\n".join([REDACTOR.redact(line)[0] for line in sent.split(b"\n")])
    if not sink.dropped:
        if content != expected:
            yield f"{name}: kept is not what was sent"
        return
    head, gap, tail = content.partition(b'\n{"hydra":"gap","bytes":%d}\n' % sink.dropped)
    is_whole = expected.startswith(head) and expected.endswith(tail)
    if not gap or not is_whole or len(head) + len(tail) + sink.dropped != len(expected):
        yield f"{name}: head, gap and tail are not what was sent"


# ---- As it is shown.

_PAINTING = re.compile(r"\x1b\[(?:\?7[hl]|[0-9]*A|[KJ]|(?:0|1|2|31|32|33|36)m)|\r")
"""All that the live table itself sends."""
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
_BAD = (*("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"),)


def harmful(text: str) -> str:
    """A control, format, surrogate, private or unassigned character in `text`, another end of a
    line, or a secret; "" where there is none. Emoji that this Python does not know yet are left as
    the cleaning leaves them."""
    letters = "".join(_CONTROLS.findall(text)) if text.isascii() else text
    for letter in set(letters) - {"\n"}:
        kind = unicodedata.category(letter)
        if kind in _BAD and not (kind == "Cn" and 0x1F000 <= ord(letter) <= 0x1FAFF):
            at = text.index(letter)
            return f"{letter!r} in {text[max(at - 40, 0) : at + 40]!r}"
    return next((f"a secret in {text[:200]!r}" for secret in SECRETS if secret in text), "")


def texts(value: Any) -> Iterator[str]:
    """Every text in a document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for row in value:
            yield from texts(row)


def shown(case: Case, events: list[Event], outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Each way in which a stream is shown."""
    events = [*_framed(events, outcome)]
    lines: list[str] = []
    plain = PlainLines(lines.append)
    painted: list[str] = []
    live = LiveTable(painted.append, lambda: (case.width, 12), color=True)
    for event in events:
        plain.event(event)
        live.event(event)
    live.tick(1e6)
    live.close()
    yield "plain lines", "".join(lines)
    yield "live table", "".join(_PAINTING.sub("", text) for text in painted)
    document = RaceResult(run=RUN, seconds=61.5, outcomes=(outcome,)).document(PLAN)
    dumped = dump(document)
    yield "document", dumped if dumped.isascii() else "\x00"
    yield "summary", summary(json.loads(dumped), width=case.width if case.salt % 3 else None)
    yield "page", "\n".join(texts([whole(json.loads(dumped)), timelines(events)]))


def _framed(events: list[Event], outcome: Outcome) -> Iterator[Event]:
    """The stream's events between those of Hydra that stand around them."""
    first, last = (replace(e, sub="", source="hydra", raw=None) for e in (events[0], events[-1]))
    yield replace(first, kind="run_started", lane="", data={"lanes": ["codex"]})
    for kind in ("lane_opening", "agent_started"):
        yield replace(first, kind=kind, data={})
    yield from events
    for warning in outcome.warnings:
        yield replace(last, kind="lane_warning", data={"text": warning})
    exit = outcome.exit or ExitStatus()
    data: dict[str, Any] = {"code": exit.code, "survivors": list(exit.survivors)}
    yield replace(last, kind="agent_exited", data=data)
    data = {"status": outcome.status.value, "error": as_json(outcome.failure), "seconds": 61.5}
    yield replace(last, kind="lane_ended", data=data)


def examined(case: Case, folder: Path) -> tuple[int, list[str]]:
    """How many events a stream gave, and all that is wrong with it."""
    tape = Tape()
    size = (len(case.stdout) + len(case.stderr)) / 1e6
    try:
        with patience(4 * (SLOW[0] + SLOW[1] * size)):
            outcome = read(case, folder, tape)
        with patience(60.0):
            for event in tape.events:
                if any(secret in text for text in texts(event.data) for secret in SECRETS):
                    tape.faults.append(f"a secret in the event {event.kind}")
            for where, text in shown(case, tape.events, outcome):
                if line := harmful(text):
                    tape.faults.append(f"{where}: {line}")
    except (Exception, Endless) as error:
        tape.faults.append(f"what reads or shows it raised {error!r}")
    return len(tape.events), tape.faults

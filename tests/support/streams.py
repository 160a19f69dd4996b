"""Lines of real agents, spoiled, through all that reads, records and shows a stream.

Every recorded line of fixtures/adapters may be changed by bytes, by JSON, by order and by size. A
stream of them goes the way of a lane's: framed, redacted, kept, parsed, recorded, judged, and shown
in every way. `examined` says what is wrong with what came of it.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import Any, TypeVar

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
from hydra.report.document import result_document
from hydra.report.html.harmless import whole
from hydra.report.html.patches import PagePatch
from hydra.report.html.timeline import timelines
from hydra.report.live import LiveTable
from hydra.report.stream import PlainLines
from tests import adapter_recordings
from tests.support.rendering import build, comment, compare_text, summary
from tests.support.sample_race import PLAN, RUN

T = TypeVar("T")

# ---- What is spoiled, and how.

AGENTS = tuple(registry.OWN)


@cache
def recordings(agent: str) -> tuple[tuple[bytes, ...], ...]:
    """Every recorded stream of `agent`, its lines."""
    rows = (
        tuple(line for line in path.read_bytes().split(b"\n") if line)
        for path in adapter_recordings.recordings()
        if path.parent.parent.name == agent
    )
    return tuple(lines for lines in rows if lines)


@cache
def lines(agent: str) -> tuple[bytes, ...]:
    """Every recorded line of `agent`."""
    return tuple(line for stream in recordings(agent) for line in stream)


@cache
def complaints() -> tuple[bytes, ...]:
    """What the CLIs wrote to stderr, each recording's whole."""
    paths = sorted(adapter_recordings.FIXTURES.glob("*/*/*.stderr.txt"))
    return tuple(path.read_bytes() for path in paths)


@cache
def words() -> tuple[str, ...]:
    """What the adapters look for in a text: the literal parts of all their patterns."""
    literal = re.compile(r"[A-Za-z][A-Za-z0-9' :_/-]{3,}")
    documents = {
        document
        for module in iter_modules(adapters.__path__)
        for pattern in _patterns(vars(import_module(f"{adapters.__name__}.{module.name}")).values())
        for document in literal.findall(re.sub(r"\\.", "", pattern.replace(r"\d", "1")))
    }
    return tuple(sorted(documents))


def _patterns(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            yield value.pattern
        elif isinstance(value, tuple | list | frozenset):
            yield from _patterns(value)


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
_NUMBERS = (
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
    old = holder[key]
    term = rng.choice(words())
    if isinstance(holder, dict) and rng.random() < 0.2:
        holder[rng.choice((f"{key}_2", rng.choice(HARD_TEXTS)))] = holder.pop(key)
    elif isinstance(old, str) and rng.random() < 0.5:
        long = term * (rng.choice((2_000, 40_000)) // len(term))
        more = rng.choice((rng.choice(HARD_TEXTS), f" {term}", long if rng.random() < 0.05 else ""))
        at = rng.randrange(len(old) + 1)
        holder[key] = old[:at] + more + old[at:]
    else:
        deep: Any = "x"
        for level in range(rng.choice((3, 64, 65, 200))):
            deep = [deep] if level % 2 else {"a": deep}
        kinds: tuple[Any, ...] = (
            rng.choice(_NUMBERS),
            rng.choice(HARD_TEXTS),
            None,
            [],
            {},
            [old] * 3,
            str(old),
        )
        holder[key] = rng.choice((*kinds, {"type": term}, deep))
    return json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


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
    spelled = rng.choice(
        (
            value.encode(),
            json.dumps(value)[1:-1].encode(),
            json.dumps(value, ensure_ascii=False)[1:-1].encode(),
            "".join(f"\\u{ord(name):04x}" for name in value).encode(),
            json.dumps(json.dumps(value))[3:-3].encode(),
        )
    )
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
_EXITS = (
    *(ExitStatus(code=code) for code in (0, 0, 0, 1, 2, 101, 130, 137, 143, 255)),
    *(ExitStatus(signal=number) for number in (1, 2, 9, 11, 15)),
    ExitStatus(),
    ExitStatus(code=0, survivors=("node server.js\x1b[2J", "\u202egnp")),
    ExitStatus(keeper_lost=True),
)
_WELL = ExitStatus(code=0)
_STOPPED = ("idle", "tool", "total", "interrupt", "disk_floor", "sign_in", "stdout_closed")
_EMPTY = Patch(commit=BASE, base=BASE)
_PATCHES = (
    *(_EMPTY, None),
    Patch(commit="c" * 40, base=BASE, files=2, insertions=18, deletions=4),
    Patch(commit="c" * 40, base=BASE, files=1, incomplete="a\x1b]0;x\x07b", notes=("\u202en",)),
    Patch(commit=BASE, base=BASE, incomplete="over 20,000 untracked files"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One attempt's output and end. `lines` are joined by newlines; `salt` decides the chunks."""

    agent: str
    lines: tuple[bytes, ...]
    stderr: bytes = b""
    terminated: bool = True
    exit: ExitStatus = _WELL
    stopped: str = ""
    patch: Patch | None = _EMPTY
    salt: int = 0
    line_limit: int = Limits().line_bytes
    raw_limit: int = Limits().raw_bytes
    width: int = 80

    @property
    def stdout(self) -> bytes:
        """All that the agent writes."""
        return b"\n".join(self.lines) + (b"\n" if self.terminated and self.lines else b"")


def make(seed: int, number: int) -> Case:
    """The stream of this number: the same one each time, as long as the recordings are."""
    rng = Random(f"{seed}:{number}")
    agent = rng.choice(AGENTS)
    rows = [rng.choice(recordings(agent)) for _ in range(rng.choice((1, 1, 4)))]
    rate = rng.choice((0.0, 0.05, 0.3, 0.9))
    whole = [line for row in rows for line in row][:300]
    lines = [rng.choice(SPOILS)(rng, line) if rng.random() < rate else line for line in whole]
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
        case _:
            pass
    if rng.random() < 0.01:
        lines.append(rng.choice((b"x", b"[", b'{"a":', b"\x1b[", b"eyJ", b"\xff")) * 160_000)
    cried = rng.choice(complaints()) if rng.random() < 0.4 else b""
    small = rng.random()
    return Case(
        agent=agent,
        lines=tuple(lines),
        stderr=rng.choice(SPOILS)(rng, cried) if rng.random() < 0.6 else cried,
        terminated=rng.random() < 0.8,
        exit=rng.choice(_EXITS),
        stopped=rng.choice(_STOPPED) if rng.random() < 0.1 else "",
        patch=rng.choice(_PATCHES),
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
        return self._try(self.parser.parse_line, line)

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        return self._try(self.parser.parse_raw, chunk)

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        return self._try(lambda files: self.parser.end(exit, files), files)

    def _try(self, work: Callable[[T], list[AgentEvent]], what: T) -> list[AgentEvent]:
        try:
            return work(what)
        except Exception as error:
            self.faults.append(f"the parser raised {error!r}")
            raise


@dataclass
class Seen:
    """All that one stream left behind."""

    case: Case
    events: list[Event] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    outcome: Outcome | None = None
    seconds: float = 0.0


class Tape:
    """Numbers events, and proves of each that it can be recorded and read back."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def emit(
        self,
        kind: str,
        sub: str = "",
        data: Mapping[str, object] | None = None,
        *,
        source: str = "hydra",
        raw: Raw | None = None,
        recorded: bool = True,
    ) -> None:
        if not recorded:
            return
        number = len(self._seen.events) + 1
        event = Event(
            seq=number,
            wall=1_800_000_000.0 + number,
            mono=number / 64,
            run=RUN,
            kind=kind,
            sub=sub,
            source=source,
            lane="codex",
            attempt=1,
            raw=raw,
            data=data or {},
        )
        line = encode(event)
        if (
            not line.isascii()
            or line.count(b"\n") != 1
            or line[-1:] != b"\n"
            or len(line) > 1 << 20
        ):
            self._seen.faults.append(f"no ASCII line: {line[:200]!r}")
        if decode(line) != event:
            self._seen.faults.append(f"decoded otherwise: {line[:200]!r}")
        if source == "agent" and kind not in AGENT_KINDS:
            self._seen.faults.append(f"an agent's event of kind {kind!r}")
        if kind == "failed" and (data or {}).get("error") not in KINDS:
            self._seen.faults.append(f"a failure of no kind: {line[:200]!r}")
        self._seen.events.append(event)


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


def _unlike(name: str, sent: bytes, content: bytes, sink: RawSink) -> Iterator[str]:
    """What is kept is what was sent, secrets aside: the whole, or a head, a counted gap, a tail."""
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
            end=End(case.exit, case.stopped, 61.5),
            patch=case.patch,
            patch_error="" if case.patch else "its worktree is lost\x1b[2J",
            stderr=reader.stderr_tail.decode("utf-8", "replace"),
            counts=reader.counts,
            limits=Limits(),
            warnings=warned,
        )
    )


# ---- As it is shown.

_PAINTING = re.compile(r"\x1b\[(?:\?7[hl]|[0-9]*A|[KJ]|(?:0|1|2|31|32|33|36)m)|\r")
"""All that the live table itself sends."""
_PAGES = 500
"""Of so many streams one is put into a whole page."""


@cache
def forbidden() -> re.Pattern[str]:
    """Control, format, surrogate, private and unassigned characters, and other ends of lines.

    Younger emoji than this Python knows are left out, as the cleaning leaves them.
    """
    bad = (*("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"),)
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if code != 0x0A
        and unicodedata.category(chr(code)) in bad
        and not (0x1F000 <= code <= 0x1FAFF and unicodedata.category(chr(code)) == "Cn")
    ]
    return re.compile("[" + "".join(_ranges(codes)) + "]")


def _ranges(codes: list[int]) -> Iterator[str]:
    start = last = codes[0]
    for code in [*codes[1:], -1]:
        if code != last + 1:
            yield f"\\U{start:08x}-\\U{last:08x}"
            start = code
        last = code


_ASCII = re.compile("[\x00-\x09\x0b-\x1f\x7f]")


def harmful(text: str) -> str:
    """Where in `text` a forbidden character or a secret stands; "" where none does."""
    match = (_ASCII if text.isascii() else forbidden()).search(text)
    if match:
        return f"{match[0]!r} in {text[max(match.start() - 40, 0) : match.end() + 40]!r}"
    for secret in SECRETS:
        if secret in text:
            return f"a secret in {text[max(text.index(secret) - 40, 0) :][:120]!r}"
    return ""


def texts(value: Any) -> Iterator[str]:
    """Every text in a document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, row in value.items():
            yield from texts(key)
            yield from texts(row)
    elif isinstance(value, list | tuple):
        for row in value:
            yield from texts(row)


def faults(seen: Seen, number: int) -> Iterator[str]:
    """What is wrong with what is shown of `seen`, and what it tells that it must not."""
    if seen.outcome is None:
        return
    for event in seen.events:
        for text in texts(event.data):
            if any(secret in text for secret in SECRETS):
                yield f"a secret in the event {event.kind}: {text[:200]!r}"
    for where, text in _shown(seen, seen.outcome, number):
        if line := harmful(text):
            yield f"{where}: {line}"


def _shown(seen: Seen, outcome: Outcome, number: int) -> Iterator[tuple[str, str]]:
    width, events = seen.case.width, [*_framed(seen, outcome)]
    yield "plain lines", "".join(_plain(events))
    yield "live table", "".join(_live(events, width))
    document = result_document(PLAN, RaceResult(run=RUN, seconds=61.5, outcomes=(outcome,)))
    dumped = dump(document)
    yield "document", dumped if dumped.isascii() else "\x00"
    read = json.loads(dumped)
    yield "summary", summary(read, width=width if number % 3 else None)
    verdict = _verdict(read)
    yield "comparison", compare_text(verdict, width=width if number % 3 else None)
    yield "comment", comment(verdict)
    yield "page", "\n".join(texts([whole(verdict), timelines(events)]))
    if number % _PAGES == 0:
        page = build(verdict, [PagePatch(lane=read["lanes"][0]["lane"])], events).decode()
        text = _data_of(page)
        yield "whole page", "\n".join(texts(json.loads(text)))


def _data_of(page: str) -> str:
    start = page.index('<script type="application/json" id="data">') + 42
    return page[start : page.index("</script>", start)]


def _framed(seen: Seen, outcome: Outcome) -> Iterator[Event]:
    """The stream's events between those of Hydra that stand around them."""
    first, last = seen.events[0], seen.events[-1]
    yield replace(
        first,
        kind="run_started",
        sub="",
        source="hydra",
        lane="",
        raw=None,
        data={"lanes": ["codex"]},
    )
    for kind in ("lane_opening", "agent_started"):
        yield replace(first, kind=kind, sub="", source="hydra", raw=None, data={})
    yield from seen.events
    event = replace(last, sub="", source="hydra", raw=None)
    for warning in outcome.warnings:
        yield replace(event, kind="lane_warning", data={"text": warning})
    yield replace(
        event,
        kind="agent_exited",
        data={
            "code": outcome.exit.code if outcome.exit else None,
            "survivors": list(outcome.exit.survivors) if outcome.exit else [],
        },
    )
    error = as_json(outcome.failure)
    yield replace(
        event,
        kind="lane_ended",
        data={"status": outcome.status.value, "error": error, "seconds": 61.5},
    )


def _plain(events: list[Event]) -> list[str]:
    written: list[str] = []
    plain = PlainLines(written.append)
    for event in events:
        plain.event(event)
    return written


def _live(events: list[Event], width: int) -> list[str]:
    written: list[str] = []
    live = LiveTable(written.append, lambda: (width, 12), color=True)
    for event in events:
        live.event(event)
    live.tick(1e6)
    live.close()
    return [_PAINTING.sub("", text) for text in written]


def _verdict(document: dict[str, Any]) -> dict[str, Any]:
    """A verdict's document around the lane: its agent's words in every place for words."""
    (lane,) = document["lanes"]
    data = lane["message"] or (lane["error"] or {}).get("message", "")
    gates = [{"kind": "ending", "text": warning, "path": data[:60]} for warning in lane["warnings"]]
    return {
        "run": RUN,
        "title": data,
        "says": data,
        "base": PLAN.base,
        "folder": "/var/lib/hydra",
        "warnings": lane["warnings"],
        "lanes": [
            {**lane, "rank": 1, "state": "untested", "reason": data, "why": data, "gates": gates}
        ],
    }


def examined(case: Case, lane: Lane, number: int) -> tuple[int, list[str]]:
    """How many events a stream gave, and all that is wrong with it."""
    seen = lane.read(case)
    found = list(seen.faults)
    try:
        with patience(60.0):
            found += faults(seen, number)
    except (Exception, Endless) as error:
        found.append(f"what shows it raised {error!r}")
    return len(seen.events), found

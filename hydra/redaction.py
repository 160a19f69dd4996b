"""What is a secret, and how one is taken out of a line of bytes.

Exact values first, in every form in which a program prints them, then the shapes of well-known
keys. Nothing here backtracks: an unbounded pattern took 4.2 s on 90 kB of `eyJ...`.
"""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

Span = tuple[int, int]
"""Where something starts, and where it has ended."""

MARK = b"[redacted]"
SHORTEST = 8
"""Values with fewer characters are left alone: redacting "true" or "main" would hide the record."""

_SHAPES = (
    (b"sk-", rb"(?=[A-Za-z_-]{0,64}+[0-9])[A-Za-z0-9_-]{20,256}+"),
    (b"ghp_", rb"[A-Za-z0-9]{30,255}+"),
    (b"gho_", rb"[A-Za-z0-9]{30,255}+"),
    (b"ghu_", rb"[A-Za-z0-9]{30,255}+"),
    (b"ghs_", rb"[A-Za-z0-9]{30,255}+"),
    (b"ghr_", rb"[A-Za-z0-9]{30,255}+"),
    (b"github_pat_", rb"[A-Za-z0-9_]{22,255}+"),
    (b"glpat-", rb"[A-Za-z0-9_-]{20,255}+"),
    (b"AKIA", rb"[A-Z0-9]{16}+(?![A-Za-z0-9])"),
    (b"ASIA", rb"[A-Z0-9]{16}+(?![A-Za-z0-9])"),
    (b"AIza", rb"[A-Za-z0-9_-]{35}+"),
    (b"npm_", rb"[A-Za-z0-9]{36}+"),
    (b"xoxb-", rb"[A-Za-z0-9-]{20,255}+"),
    (b"xoxp-", rb"[A-Za-z0-9-]{20,255}+"),
    (b"eyJ", rb"[A-Za-z0-9_-]{17,1024}+\.eyJ[A-Za-z0-9_-]{8,4096}+\.[A-Za-z0-9_-]{0,1024}+"),
)
_LONGEST_SHAPE = 3 + 1024 + 4 + 4096 + 1 + 1024
_PREFIXES = tuple(prefix for prefix, _ in _SHAPES)
_SHAPE = re.compile(b"|".join(prefix + rest for prefix, rest in _SHAPES))

# Every shape begins with this many letters, digits, dashes or underscores, so they are looked for
# only where so many stand together: one pass at 1 GB/s, where a search for each took ten times it.
_RUN = b"a" * 20
_CLASSES = bytes(97 if (i < 128 and chr(i).isalnum()) or i in b"-_" else 32 for i in range(256))
_ESCAPES = b"\\%"
_ESCAPE = re.compile(rb"\\(?:[nrtbf]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}")

_ANY_ESCAPE = re.compile(rb"\\[u/]")
_ASCII_ESCAPE = re.compile(rb"\\(?:u00[2-7]|/)")
"""JSON's escapes of what could stand there as it is."""
_UNESCAPED = re.compile(r"[ !#-.0-\[\]-~]*")
"""Characters that JSON writes in one way, but for those escapes."""

_SECRET_WORDS = frozenset(
    (
        *("KEY", "APIKEY", "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PGPASSWORD", "PASSWD"),
        *("PASS", "PASSPHRASE", "PAT", "CREDENTIAL", "CREDENTIALS", "AUTH", "AUTHORIZATION"),
        *("COOKIE", "BEARER", "DSN", "PRIVATE", "JWT", "PIN", "OTP"),
    )
)
_PLACE_WORDS = frozenset(
    ("FILE", "PATH", "DIR", "SOCK", "SOCKET", "HOME", "URL", "HELPER", "METHOD", "TYPE", "TTL")
)


def looks_secret(name: str) -> bool:
    """Whether an environment variable of this name holds a secret, by the words in it.

    ANTHROPIC_API_KEY and NPM_TOKEN do; SSH_AUTH_SOCK, MAX_TOKENS and GIT_AUTHOR_NAME do not.
    """
    values = re.split(r"[^A-Z0-9]+", name.upper())
    return values[-1] not in _PLACE_WORDS and not _SECRET_WORDS.isdisjoint(values)


class Redactor:
    """Takes known secrets, and what has the shape of one, out of bytes.

    `redact` needs a whole line. A line too long to hold is cut into windows: let go of the first
    `cut(buffer)` bytes, and keep the others in front of what comes next. A window must be longer
    than `overlap`, the length of the longest secret less one.
    """

    def __init__(self, values: Iterable[str]) -> None:
        values = sorted(set(values))
        self._groups = [group for value in values for group in _groups(value)]
        simple = all(_UNESCAPED.fullmatch(value) for value in values)
        self._hiding = _ASCII_ESCAPE if simple else _ANY_ESCAPE
        within = [(group, _in_one_run(group[0])) for group in self._groups]
        self._long = [group for group, long in within if long]
        self._short = [group for group, long in within if not long]
        lengths = [len(form) for _, forms in self._groups for form in forms]
        self.overlap = max([_LONGEST_SHAPE, *lengths]) - 1

    def redact(self, line: bytes) -> tuple[bytes, int]:
        """The line with each secret replaced by `[redacted]`, and how many there were."""
        runs = _runs_in(line)
        forms = self._forms_in(line, runs)
        total = 0
        for form in forms:
            total += line.count(form)
            line = line.replace(form, MARK)
        shapes = list(_shapes_in(line, _runs_in(line) if forms else runs))
        if shapes:
            contents: list[bytes] = []
            at = 0
            for start, stop in shapes:
                contents += (line[at:start], MARK)
                at = stop
            line = b"".join((*contents, line[at:]))
        return line, total + len(shapes)

    def count(self, data: bytes) -> int:
        """How many secrets stand in `data`, of any length; one may count in two of its forms."""
        return sum(1 for _ in self._spans(data))

    def text(self, text: str) -> str:
        """The same for text, where nobody counts."""
        clean, position = self.redact(_encoded(text))
        return clean.decode("utf-8", "surrogateescape") if position else text

    def may_hide(self, line: bytes) -> bool:
        """Whether the escapes in a line of JSON may spell a secret that `redact` did not see."""
        return self._hiding.search(line) is not None

    def cut(self, buffer: bytes) -> int:
        """How many bytes at the start of an unfinished line can be redacted and let go.

        No known value and no shape reaches over the cut. At least the bytes before the last three
        overlaps are let go, whatever stands there, so that the buffer stays bounded.
        """
        end = len(buffer) - self.overlap
        for start, stop in sorted(self._spans(buffer), reverse=True):
            if start < end < stop:
                end = start
        return max(end, len(buffer) - 3 * self.overlap, 0)

    def _forms_in(self, line: bytes, runs: list[Span]) -> list[bytes]:
        hits = [form for probe, forms in self._short if probe in line for form in forms]
        if runs and self._long:
            tokens = b" ".join([line[start:stop] for start, stop in runs])
            hits += [form for probe, forms in self._long if probe in tokens for form in forms]
        # The longest first: a value that begins another must not leave the other's end behind.
        return sorted(hits, key=len, reverse=True)

    def _spans(self, buffer: bytes) -> Iterator[Span]:
        runs = _runs_in(buffer)
        for form in self._forms_in(buffer, runs):
            at = buffer.find(form)
            while at >= 0:
                yield at, at + len(form)
                at = buffer.find(form, at + len(form))
        yield from _shapes_in(buffer, runs)


def _runs_in(line: bytes) -> list[Span]:
    """Where letters, digits, dashes and underscores stand together, `_RUN` of them or more."""
    classes = line.translate(_CLASSES)
    runs = []
    start = classes.find(_RUN)
    while start >= 0:
        stop = classes.find(b" ", start)
        if stop < 0:
            stop = len(line)
        runs.append((start, stop))
        start = classes.find(_RUN, stop)
    return runs


def _shapes_in(line: bytes, runs: list[Span]) -> Iterator[Span]:
    passed = 0
    for first, stop in runs:
        if stop <= passed:  # a shape before it took it along
            continue
        start = max(first, passed)
        # An escape of JSON or of a URL ends in letters; what stands behind it is a start as well.
        if start and line[start - 1] in _ESCAPES:
            escape = _ESCAPE.match(line, start - 1)
            start = escape.end() if escape else start
        if line.startswith(_PREFIXES, start):
            match = _SHAPE.match(line, start)
            if match:
                yield match.span()
                passed = max(stop, match.end())


def _in_one_run(probe: bytes) -> bool:
    return len(probe) >= len(_RUN) and not probe.translate(_CLASSES).strip(b"a")


Group = tuple[bytes, tuple[bytes, ...]]
"""Forms of a value, and the bytes that stand in each of them: one search finds them all."""


def _groups(value: str) -> Iterator[Group]:
    if len(value) < SHORTEST:
        return
    spellings = {_encoded(text) for text in _spellings(value)}
    yield from _grouped(rb"[A-Za-z0-9._-]+", _encoded(value), spellings)
    for standard, for_urls in _in_base64(_encoded(value)):
        yield from _grouped(rb"[A-Za-z0-9]+", standard, {standard, for_urls})


def _grouped(unchanging: bytes, form: bytes, forms: set[bytes]) -> Iterator[Group]:
    contents = sorted(other for other in forms if other and other not in MARK)
    probe = max(re.findall(unchanging, form), key=len, default=b"")
    if len(probe) >= 4:
        yield probe, tuple(contents)
    else:
        yield from ((other, (other,)) for other in contents)


def _encoded(text: str) -> bytes:
    # The environment's values carry bytes that are not UTF-8 as surrogates.
    return text.encode("utf-8", "surrogateescape")


def _spellings(value: str) -> Iterator[str]:
    yield value
    readable = json.dumps(value, ensure_ascii=False)[1:-1]
    for once in (readable, json.dumps(value)[1:-1], readable.replace("/", "\\/")):
        yield once
        yield json.dumps(once, ensure_ascii=False)[1:-1]  # a tool's JSON within a stream's JSON
    raw = _encoded(value)
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)


def _in_base64(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    # Alone, and within something longer (`user:password`), where it can stand at each of three
    # offsets: the characters that it shares with its neighbours are left off.
    for offset in (0, 1, 2):
        padded = bytes(offset) + raw
        first = -(-offset * 8 // 6)
        last = len(padded) * 8 // 6
        yield b64encode(padded)[first:last], urlsafe_b64encode(padded)[first:last]

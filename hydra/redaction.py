"""What is a secret, and how one is taken out of a line of bytes.

Exact values first, in every form in which a program prints them, then the shapes of well-known
keys. Nothing here backtracks: an unbounded pattern took 4.2 s on 90 kB of `eyJ...`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar

from hydra.log import hide

T = TypeVar("T")

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
    *((b"xox%c-" % kind, rb"[A-Za-z0-9-]{20,255}+") for kind in b"abeoprs"),
    (b"eyJ", rb"[A-Za-z0-9_-]{17,1024}+\.eyJ[A-Za-z0-9_-]{8,4096}+\.[A-Za-z0-9_-]{0,1024}+"),
)
_LONGEST_SHAPE = 3 + 1024 + 4 + 4096 + 1 + 1024
_PREFIXES = tuple(prefix for prefix, _ in _SHAPES)

# Every shape begins with this many letters, digits, dashes or underscores, so they are looked for
# only where so many stand together: one pass at 1 GB/s, where a search for each took ten times it.
_RUN = b"a" * 20
_CLASSES = bytes(97 if (i < 128 and chr(i).isalnum()) or i in b"-_" else 32 for i in range(256))
_ESCAPES = b"\\%"
_ESCAPE = re.compile(rb"\\(?:[nrtbf]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}")

_PAIR = re.compile(rb"(?:--)?([A-Za-z_][A-Za-z0-9_-]*)=")
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")

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


@cache
def _shape() -> re.Pattern[bytes]:
    return re.compile(b"|".join(prefix + rest for prefix, rest in _SHAPES))  # 3 ms of a start


def looks_secret(name: str) -> bool:
    """Whether an environment variable of this name holds a secret, by the words in it.

    ANTHROPIC_API_KEY and NPM_TOKEN do; SSH_AUTH_SOCK, MAX_TOKENS and GIT_AUTHOR_NAME do not.
    """
    values = re.split(r"[^A-Z0-9]+", name.upper())
    return values[-1] not in _PLACE_WORDS and not _SECRET_WORDS.isdisjoint(values)


class Redactor:
    """Takes known secrets, those that a person typed, and what has the shape of one out of bytes.

    `redact` needs a whole line. A line too long to hold is cut into windows: let go of the first
    `cut(buffer)` bytes, and keep the others in front of what comes next. A window must be longer
    than `overlap`, the length of the longest secret less one.
    """

    def __init__(self, values: Iterable[str]) -> None:
        values = sorted({*values, *_typed})
        self._groups = [group for value in values for group in _groups(value)]
        simple = all(_UNESCAPED.fullmatch(value) for value in values)
        self._hiding = _ASCII_ESCAPE if simple else _ANY_ESCAPE
        lengths = [len(form) for _, forms in self._groups for form in forms]
        self.overlap = max([_LONGEST_SHAPE, *lengths]) - 1

    def redact(self, line: bytes) -> tuple[bytes, int]:
        """The line with each secret replaced by `[redacted]`, and how many there were."""
        total = 0
        for form in self._forms_in(line):
            total += line.count(form)
            line = line.replace(form, _name_before(form) + MARK)
        shapes = list(_shapes_in(line))
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
        return text if not position else clean.decode("utf-8", _errors(text))

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

    def _forms_in(self, line: bytes) -> list[bytes]:
        hits = [form for probe, forms in self._groups if probe in line for form in forms]
        # The longest first: a value that begins another must not leave the other's end behind.
        return sorted(hits, key=len, reverse=True)

    def _spans(self, buffer: bytes) -> Iterator[Span]:
        for form in self._forms_in(buffer):
            at = buffer.find(form)
            while at >= 0:
                yield at, at + len(form)
                at = buffer.find(form, at + len(form))
        yield from _shapes_in(buffer)


@lru_cache(maxsize=256)
def _name_before(form: bytes) -> bytes:
    """Of a value that goes with its name the name, which is no secret."""
    pair = _PAIR.match(form)
    return pair[0] if pair and looks_secret(pair[1].decode()) else b""


def _runs_in(line: bytes) -> Iterator[Span]:
    """Where letters, digits, dashes and underscores stand together, `_RUN` of them or more."""
    classes = line.translate(_CLASSES)
    start = classes.find(_RUN)
    while start >= 0:
        stop = classes.find(b" ", start)
        stop = len(line) if stop < 0 else stop
        yield start, stop
        start = classes.find(_RUN, stop)


def _shapes_in(line: bytes) -> Iterator[Span]:
    passed = 0
    for first, stop in _runs_in(line):
        if stop <= passed:  # a shape before it took it along
            continue
        start = max(first, passed)
        # An escape of JSON or of a URL ends in letters; what stands behind it is a start as well.
        if start and line[start - 1] in _ESCAPES:
            escape = _ESCAPE.match(line, start - 1)
            start = escape.end() if escape else start
        if line.startswith(_PREFIXES, start):
            match = _shape().match(line, start)
            if match:
                yield match.span()
                passed = max(stop, match.end())


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
    return text.encode("utf-8", _errors(text))


def _errors(text: str) -> str:
    """The environment's values carry bytes that are not UTF-8 as surrogates; an agent's JSON may
    have any other."""
    return "surrogatepass" if _LONE.search(text) else "surrogateescape"


def _spellings(value: str) -> Iterator[str]:
    yield value
    readable = json.dumps(value, ensure_ascii=False)[1:-1]
    for once in (readable, json.dumps(value)[1:-1], readable.replace("/", "\\/")):
        yield once
        yield json.dumps(once, ensure_ascii=False)[1:-1]  # a tool's JSON within a stream's JSON
    from urllib.parse import quote, quote_plus  # not before: a fifth of a start

    raw = _encoded(value)
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)


def _in_base64(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    from base64 import b64encode, urlsafe_b64encode

    # Alone, and within something longer (`user:password`), where it can stand at each of three
    # offsets: the characters that it shares with its neighbours are left off.
    for offset in (0, 1, 2):
        padded = bytes(offset) + raw
        first = -(-offset * 8 // 6)
        last = len(padded) * 8 // 6
        yield b64encode(padded)[first:last], urlsafe_b64encode(padded)[first:last]


# ---- What a person types (the task, a command, an option, a hydra.toml) goes to agents, shells and
# git as it is. Its secrets are looked for where it comes in, and taken out at the doors of the
# record and of the screen.

_typed: frozenset[str] = frozenset()

_URL = re.compile(
    r"""(?P<scheme>\w{0,16})://(?P<name>[^\s/:@'"]{0,8192})(?::(?P<password>[^\s/@'"]{0,8192}))?@"""
)
_LOGIN = re.compile(
    r"""(?<![\w-])(?:curl|https?|xh)\s(?:[^\n;&|]{0,500}?\s)??"""
    r"""(?P<option>(?:-\w{0,9}[auU]|--(?:proxy-)?user|--auth)[\s=]{0,3}"""
    r"""\\?(?P<quote>["']?)(?P<name>[^\s:"']{0,256}):"""
    r"""(?P<password>(?:(?!(?P=quote))["']|[^\n"'\\]){0,4096}?))(?:\\?(?P=quote))(?=[\s"'\\);&|]|\Z)"""
)
_HEADER = re.compile(
    r"""(?<![\w-])(?:-H|--header)[\s=]{0,3}\\?(["'])(?P<name>[\w-]{1,64}):\s{0,3}"""
    r"""(?:[A-Za-z][\w-]{0,31}\s{1,3})?(?P<value>(?:(?!\1)[^\n\\]){1,8192})"""
)
_PEM = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(.*?)(?:-----END|\Z)"
# Prose and code speak of such keys too: lines of one are long, but for its last.
_PEM_LINES = (
    r"(?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{40,}={0,2}"
    r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{1,39}(?=(?:\s|\\[nr])*\Z))?"
)
_NAME = r"""(?<![\w-])((?:--)?[A-Za-z_][\w-]{0,63}+)\\?["']?(\s{0,3}[=:]\s{0,3}|,?\s{1,3})"""
_VALUE = (
    r"""(?:(?:Bearer|Basic|token)\s+)?(?:\\?"([^"\\\n]{1,8192}+)|\\?'([^'\\\n]{1,8192}+)"""
    r"""|([^\s"'`;&|<>()\[\]{},\\]{1,8192}+)(?![(\[]))"""
)
_COMMON = re.compile(
    r"[A-Za-z]?[a-z_-]{0,15}|[A-Z_-]{1,16}|[\w./~-]*\.[a-z]{1,4}|[a-z0-9_.~-]*(?:/[a-z0-9_.-]+)+"
)
"""A mere word, the name of a file: it stands for something else elsewhere."""


def secret_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """What is to be taken out for the variables with the name of a secret: their values; of what
    is short, or `_COMMON`, it together with the name."""
    return tuple(
        value if _is_telling(value) else f"{name}={value}"
        for name, value in environ.items()
        if value and looks_secret(name)
    )


def notice(*texts: str, values: Iterable[str] = (), trusted: bool = True) -> None:
    """From now on no record and no screen has a secret that a person typed in one of `texts`.

    It is one by its form, or because it is one of `values`, or the value of a variable with the
    name of a secret. What is shorter than `SHORTEST`, or `_COMMON`, goes together with the name
    before it; so does all of a text that is a stranger's, who would choose what no screen shows.
    """
    global _typed
    keys = (*values, *secret_variables(os.environ))
    secrets = {key for key in keys if any(key in text for text in texts)}
    for value, named in (pair for text in texts for pair in _secrets_in(text)):
        secrets.add(value if trusted and _is_telling(value) else named)
    if fresh := {secret for secret in secrets if len(secret) >= SHORTEST} - _typed:
        _typed |= fresh
        hide(fresh)


_PLACES = (
    frozenset(("repository", "worktree", "folder", "cwd", "record", "path", "files", "kept"))
    | {"copies", "dependencies", "python_path", "junit", "loose", "exact", "picks", "run"}
    | {"lane", "lanes", "top", "whole", "adapter", "profile", "permission", "status"}
    | {"base", "base_name", "commit", "ref", "branch", "onto", "head", "result"}
)
"""Fields whose texts are read back to find or to restore something: they stay as they are."""


def redacted(document: T) -> T:
    """A text, or the texts of a document, without what `notice` has found."""
    if not _typed or not _redactor(_typed).count(_encoded("\n".join(texts(document)))):
        return document  # at once: an event has ten texts
    clean: T = _redacted(document)
    return clean


def texts(value: object) -> Iterator[str]:
    """Each text in a document, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from texts(inner)


def _redacted(value: Any, *, stays: bool = False) -> Any:
    if isinstance(value, str):
        return value if stays else _redactor(_typed).text(value)
    if isinstance(value, Mapping):
        return {k: _redacted(item, stays=k in _PLACES) for k, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item, stays=stays) for item in value]
    return value


@lru_cache(maxsize=1)
def _redactor(typed: frozenset[str]) -> Redactor:
    return Redactor(typed)


def _secrets_in(text: str) -> Iterator[tuple[str, str]]:
    """Each secret, and it with what shows that it is one."""
    line = _encoded(text)
    alone = [line[start:stop].decode() for start, stop in _shapes_in(line)]
    for key in re.findall(_PEM, text, re.DOTALL):
        for lines in re.findall(_PEM_LINES, key):
            alone += re.split(r"(?:\s|\\[nr])+", lines)
    yield from zip(alone, alone, strict=True)
    for url in _URL.finditer(text):
        is_token = url["scheme"].endswith(("http", "https"))
        yield from _login(url[0], url["name"] if is_token else "", url["password"])
    for option in _LOGIN.finditer(text):
        yield from _login(option["option"], option["name"], option["password"])
    for header in _HEADER.finditer(text):
        if looks_secret(header["name"]) and _is_value(header["value"]):
            yield header["value"], header[0]
    judged = 0  # what stands within a value that is no token is none either
    for pair in re.finditer(_NAME, text):
        name, sign = pair.groups()
        is_option = name.startswith("--")
        is_set = sign == "=" and (name.isupper() or is_option)
        if not looks_secret(name) or (pair.start() < judged and not is_set):
            continue
        rest = re.compile(_VALUE).match(text, pair.end())
        value = next(filter(None, rest.groups())) if rest else ""
        if not rest or not _is_value(value):
            continue
        # Code and prose say such things too: what is a secret has a figure in it.
        may_be = bool(sign.strip(", ")) or is_option or name == "Bearer"
        if is_set or (may_be and _is_token(value)):
            yield value, text[pair.start() : rest.end()]
        elif may_be:
            judged = rest.end()


def _login(named: str, name: str, password: str | None) -> Iterator[tuple[str, str]]:
    """Of what one signs in with; a token stands in the place of the name."""
    if password and _is_value(password):
        yield password, named
    if _is_value(name) and _is_token(name):
        yield name, named


def _is_value(text: str) -> bool:
    """Whether it is one as it stands, and nothing in whose place a shell or a reader puts one."""
    return bool(text) and text[0] not in "$<%*{" and MARK.decode() not in text


def _is_token(value: str) -> bool:
    return bool(re.search("[0-9]", value)) and _is_telling(value)


def _is_telling(value: str) -> bool:
    """Whether it is looked for wherever it stands."""
    return len(value) >= SHORTEST and not _COMMON.fullmatch(value)

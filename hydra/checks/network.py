"""What a check sought outside of its own network, by what it printed; and whether the machine's
gave it that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.checks.record import CheckResult, CheckStatus

_CODES = "ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|getaddrinfo"
_TYPES = (
    r"\w*(?:Connect(?:ion)?(?:Refused)?(?:Error|Timeout|Exception)|ConnectionRefused"
    r"|UnknownHost(?:Exception|Error)?|ServerSelectionTimeout(?:Error)?)"
    r"|net::ERR_(?:ADDRESS|CONNECTION|INTERNET|NAME|NETWORK|PROXY|TIMED|TUNNEL)\w*"
)
"""Names of errors, which begin with their library's: a `FileNotFoundError` is none of them."""
_PHRASES = (
    r"connection refused|actively refused|(?:failure|error|failed) in name resolution"
    r"|name resolution (?:failed|failure|error)|name or service not known|nodename nor servname"
    r"|failed to lookup address|no such host|unknown (?:[\w-]+ ){0,2}host"
    r"|(?:could not|couldn't|cannot|failed to) resolve (?:host|proxy|address|domain)(?: ?name)?"
    r"|could not translate host name|(?:network|host) is unreachable|no route to host"
    r"|cannot assign requested address|(?:can't|cannot|could not|failed to|unable to) connect"
    r"|can't reach (?:\w+ )?(?:server|host)|failed to open tcp connection"
    r"|failed to establish a new connection|connection error|connect error"
    r"|connect(?:ion)? timed out|TypeError: fetch failed|dial (?:tcp|udp)|network error"
)
_SOUGHT = re.compile(rf"(?<!\w)(?:{_CODES}|{_TYPES}|(?i:{_PHRASES}))(?!\w)".encode())
"""Whole words and no parts of others: `ENOTFOUND` stands in `FileNotFoundError` too, but for its
capitals."""
_COLOUR = re.compile(rb"\x1b\[[\d;]*m")
_ADDRESS = re.compile(
    rb"(?:localhost|127\.0\.0\.1|::1)\W{1,4}(?:\((?:127\.0\.0\.1|::1)\)\W{1,3})?"
    rb"(?:port\W{1,3})?(\d{2,5})(?!\.?\d)",
    re.IGNORECASE,
)
"""As clients name where they were refused: `127.0.0.1:5432`, `('localhost', 6379)`, `"localhost"
(127.0.0.1), port 5432`."""

_SERVICES = {
    1433: "SQL Server",
    3306: "MySQL",
    4566: "LocalStack",
    5432: "PostgreSQL",
    5672: "RabbitMQ",
    6379: "Redis",
    9092: "Kafka",
    9200: "Elasticsearch",
    11211: "memcached",
    27017: "MongoDB",
}
_LISTENS = "0A"
"""A socket's state in the kernel's tables."""

_ENDS = 1024 * 1024
"""Bytes at the end of an output that are looked at."""


def seeks_network(output: bytes) -> bool:
    """Whether a program that failed says that something could not be reached."""
    return _SOUGHT.search(_COLOUR.sub(b"", output[-_ENDS:])) is not None


def output_of(run_folder: Path, result: CheckResult) -> bytes:
    """What a check printed, as it is kept; nothing where it cannot be read. Blocks."""
    with suppress(OSError):
        return (run_folder / result.output).read_bytes()
    return b""


def may_need_host(result: CheckResult, output: bytes) -> bool:
    """Whether a check that had a network of its own is worth a run with the machine's."""
    ended = (CheckStatus.FAILED, CheckStatus.TIMED_OUT, CheckStatus.NO_TESTS)
    failed = result.status in (*ended, CheckStatus.PROGRAM_MISSING)
    return failed and result.network == "private" and seeks_network(output)


def goes_away(alone: CheckResult, with_host: CheckResult) -> bool:
    """Whether less fails on the same code once it has the machine's network."""
    return with_host.passed or _passing(with_host) > _passing(alone)


def _passing(result: CheckResult) -> int:
    return result.tests.passed if result.tests is not None else 0


def needs_host(name: str, services: Sequence[str]) -> str:
    """The line that says that a check has the machine's network, and for what."""
    what = f" ({', '.join(services)})" if services else ""
    return (
        f"{name} uses this machine's network{what}, one run at a time once no agent runs: without "
        "it, it fails on the base"
    )


def local_services(output: bytes) -> tuple[str, ...]:
    """What an output names of this machine that listens now: `PostgreSQL on localhost:5432`. It
    reads the kernel's tables, and connects to nothing. Blocks."""
    named = dict.fromkeys(int(match[1]) for match in _ADDRESS.finditer(output[-_ENDS:]))
    if not named:
        return ()
    open_ports = {*_listening("/proc/net/tcp"), *_listening("/proc/net/tcp6")}
    ports = [port for port in named if port in open_ports]
    return tuple(f"{_SERVICES.get(port, 'what listens')} on localhost:{port}" for port in ports)


def _listening(table: str) -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS:
                yield int(fields[1].rpartition(":")[2], 16)

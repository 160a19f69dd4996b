"""What a check sought outside of its own network, by what it printed; and whether the machine's
gave it that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
_SERVICE = re.compile(
    rb"(?<!\w)(?:connect\w*|network\w*|internet|offline|(?:un)?reachable|servers?|services?"
    rb"|databases?|postgres\w*|mysql|mariadb|redis|valkey|mongo\w*|rabbitmq|kafka|memcached"
    rb"|elasticsearch|opensearch|localstack|cassandra|etcd|nats|minio)(?!\w)",
    re.IGNORECASE,
)
"""How reasons of skipped tests name what they talk to."""
_SKIPPED = re.compile(
    rb"(?<!\w)skip(?:ped|ping)?(?!\w)(?: \[\d+\] \S+:\d+)?:?(.*)$", re.IGNORECASE | re.MULTILINE
)
"""A test's line that gives its reason, as unittest, TAP and `pytest -rs` print it."""
_LISTENS = "0A"
"""A socket's state in the kernel's tables."""

_ENDS = 1024 * 1024
"""Bytes at the end of an output that are looked at."""


def seeks_network(output: bytes) -> bool:
    """Whether a program that failed says that something could not be reached."""
    return _SOUGHT.search(_COLOUR.sub(b"", output[-_ENDS:])) is not None


def unreached(output: bytes, reasons: Iterable[str] = ()) -> tuple[str, ...]:
    """What a program that failed says that it could not reach, and what tests were skipped for:
    `localhost:5432`, else `a service`. () where nothing is."""
    parts = [reason.encode("utf-8", "replace") for reason in reasons]
    if seeks_network(output):
        parts.append(output[-_ENDS:])
    if not parts:
        return ()
    ports = dict.fromkeys(int(match[1]) for match in _ADDRESS.finditer(b"\n".join(parts)))
    return tuple(f"{_LOOPBACK}{port}" for port in ports) or (_UNNAMED,)


_LOOPBACK, _UNNAMED = "localhost:", "a service"


def names_service(reason: bytes) -> bool:
    """Whether a test that is skipped for that reason lacks what it talks to."""
    return any(pattern.search(reason) for pattern in (_SOUGHT, _ADDRESS, _SERVICE))


def skipped_for_service(output: bytes) -> list[str]:
    """The reasons of those tests that an output shows to be skipped for lack of a service."""
    lines = (match[1].strip() for match in _SKIPPED.finditer(_COLOUR.sub(b"", output[-_ENDS:])))
    return [line.decode("utf-8", "replace") for line in lines if names_service(line)]


def may_need_host(result: CheckResult) -> bool:
    """Whether a check that had a network of its own is worth a run with the machine's. Blocks."""
    if result.network != "private" or not result.unreached:
        return False
    skips = unreached(b"", result.tests.unserved) if result.tests is not None else ()
    if {*result.unreached} <= {*skips} and _UNNAMED not in skips:
        return bool(local_services(skips))
    return result.status not in _NOT_BEGUN


_NOT_BEGUN = (CheckStatus.INTERRUPTED, CheckStatus.NOT_RUN, CheckStatus.SETUP_FAILED)


def goes_away(alone: CheckResult, with_host: CheckResult) -> bool:
    """Whether the same code lacks less once it has the machine's network: it passes, more of its
    tests do, or it reaches what it did not."""
    if with_host.status in (*_NOT_BEGUN, CheckStatus.TIMED_OUT):
        return False
    passes = with_host.passed and not alone.passed
    reaches = {*with_host.unreached} < {*alone.unreached}
    return passes or reaches or _passing(with_host) > _passing(alone)


_RUNNER_ALONE = re.compile(
    r"(?:\w+=\S* )*(?:\S*/)?(?:python[\d.]* (?:-\S+ )*?-m )?(?:pytest|unittest)(?: [^;&|\n]*)?"
)
"""A command that ends with its tests: what comes after them there is the patch's own."""


def lacks_network_after_tests(result: CheckResult, base: CheckResult | None) -> bool:
    """Whether all tests of a patch pass and something after them could not be reached, where the
    base, whose tests fail without a word of a network, never came so far. That says nothing of the
    patch, and opens no network: its own tests may print it."""
    if result.network != "private" or result.status is not CheckStatus.FAILED:
        return False
    if _RUNNER_ALONE.fullmatch(result.check.command.strip()):
        return False
    if not result.unreached or result.tests is None or not result.tests.passed:
        return False
    is_red = base is not None and base.status is CheckStatus.FAILED and not base.unreached
    return is_red and not result.tests.failed and not result.tests.unserved


def _passing(result: CheckResult) -> int:
    return result.tests.passed if result.tests is not None else 0


def needs_host(result: CheckResult) -> str:
    """The line that says that a check has the machine's network, and for what. Blocks."""
    services = local_services(result.unreached)
    what = f" ({', '.join(services)})" if services else ""
    lacks = "its tests are skipped" if result.passed else "it fails"
    return (
        f"{result.check.name} uses this machine's network{what}, one run at a time once no agent "
        f"runs: without it, {lacks} on the base"
    )


def local_services(names: Iterable[str]) -> tuple[str, ...]:
    """Those of what was not reached that are of this machine and listen now: `PostgreSQL on
    localhost:5432`. It reads the kernel's tables, and connects to nothing. Blocks."""
    named = [int(name.removeprefix(_LOOPBACK)) for name in names if name.startswith(_LOOPBACK)]
    if not named:
        return ()
    open_ports = {*_listening("/proc/net/tcp"), *_listening("/proc/net/tcp6")}
    ports = [port for port in named if port in open_ports]
    return tuple(f"{_SERVICES.get(port, 'what listens')} on {_LOOPBACK}{port}" for port in ports)


def _listening(table: str) -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS:
                yield int(fields[1].rpartition(":")[2], 16)

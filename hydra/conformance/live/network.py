"""The network watch of a live run: nothing leaves, and what tried to leave is named.

`enter` puts this process, and so all that it starts, into a network namespace of its own, with a
loopback alone. Every address belongs to that: what nobody listens for there the kernel itself
refuses at once, so that nobody waits for an answer that cannot come. Unanswered, `claude -p` took
14 s instead of 2.4, `codex exec` 6.6 instead of 1.4 (2.1.330, 0.169.0, both without the switches
that Hydra gives them). A question to any resolver is answered with "no such name"; what goes to an
address that is none of a loopback is named.

Not seen: what goes through a Unix socket to a program outside (nscd, systemd-resolved by nss; a
confined lane has /run hidden), and IPv6 where the kernel has none (it is refused there).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from hydra.conformance.live import loopback
from hydra.conformance.results import Network
from hydra.process.sandbox.trial import trial_argv

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000

MOST = 100
"""Names and addresses that are kept; packets are counted however many there are."""

_NESTED = ("--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--unshare-net", "--", "true")
"""bwrap's words for a sandbox such as Codex makes inside of Hydra's."""

_TRIAL = 10.0
"""Seconds that bwrap's trial may take."""

_ICMP, _TCP, _UDP, _ICMP6 = 1, 6, 17, 58
_PROTOCOLS = {_ICMP: "ICMP", _TCP: "TCP", _UDP: "UDP", _ICMP6: "ICMP"}
_OUTGOING = 4
_DNS = 53
_NO_SUCH_NAME = 0x8183
"""Flags of a DNS answer: an answer, recursion asked for and given, NXDOMAIN."""


class NoNamespace(Exception):
    """No such namespace can be had here; the text says which step failed, and how."""


class Watch:
    """What `enter` gives: a network that is watched, or why there is none. It listens from the
    start, in a thread that ends with the process."""

    def __init__(self, listeners: Sequence[socket.socket] = (), reason: str = "") -> None:
        self.reason = reason
        self._listeners = listeners
        self._lock = threading.Lock()
        self._packets = 0
        self._tried: dict[str, None] = {}
        if listeners:
            threading.Thread(target=self._listen, daemon=True, name="network watch").start()

    @property
    def watched(self) -> bool:
        """Whether this process is in a network of its own."""
        return bool(self._listeners)

    def report(self) -> Network:
        """What was tried so far, what waits in the sockets included. It may be asked for again."""
        if not self.watched:
            return Network(watched=False, reason=self.reason)
        self._drain()
        with self._lock:
            return Network(watched=True, packets=self._packets, tried=tuple(self._tried))

    def _listen(self) -> None:
        while True:
            select.select(self._listeners, [], [])
            self._drain()

    def _drain(self) -> None:
        packets, *resolvers = self._listeners
        with self._lock:
            for resolver in resolvers:  # a name comes before the address that was asked for it
                while name := _answer(resolver):
                    self._keep(f"{name} (DNS)")
            with contextlib.suppress(BlockingIOError):
                while True:
                    data, address = packets.recvfrom(2048)
                    if address[2] == _OUTGOING and (where := target(data)):
                        self._packets += 1
                        self._keep(where)

    def _keep(self, what: str) -> None:
        if len(self._tried) < MOST:
            self._tried[what] = None


def enter() -> Watch:
    """Moves this process into a network namespace of its own: call it before any thread runs.

    As root a network namespace is enough, anybody else gets a user namespace around it in which
    they are themselves. All of it is tried in a child first, bubblewrap inside of it too: where
    that fails, nothing is changed here and the watch says why.
    """
    if sys.platform != "linux":
        return Watch(reason="only Linux has network namespaces")
    if threading.active_count() > 1:
        return Watch(reason="other threads run already, and they would stay outside")
    reason = ""
    for flags in _ways():
        failed = _try(flags)
        if not failed:
            return Watch(_arrange(flags))
        reason = reason or failed
    return Watch(reason=reason)


def _ways() -> list[int]:
    both = NEW_USER | NEW_NETWORK
    return [NEW_NETWORK, both] if os.geteuid() == 0 else [both]


def _try(flags: int) -> str:
    """Why this way does not work, "" where it does. A namespace that was entered cannot be left,
    so a child tries."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = "it ended in the middle"
        try:
            text = _child(flags)
        finally:
            os.write(writer, text.encode()[:2000])
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    if text == _NO_BWRAP and not _confines():
        return ""  # no worse inside than outside
    return text


_NO_BWRAP = "bubblewrap works here, and not in a network namespace: lanes would not be confined"


def _child(flags: int) -> str:
    try:
        _arrange(flags)
    except NoNamespace as error:
        return str(error)
    return "" if _confines() else _NO_BWRAP


def _confines() -> bool:
    """Whether bwrap works, and another inside of it. True where there is none to be tried."""
    program = shutil.which("bwrap")
    if program is None:
        return True
    *trial, _ = trial_argv(program)
    return _runs((*trial, program, *_NESTED))


def _runs(argv: Sequence[str]) -> bool:
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path("/"),
            timeout=_TRIAL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0


def _arrange(flags: int) -> list[socket.socket]:
    """Enters it and makes all there is in it; who listens. Raises `NoNamespace`, half way in."""
    user, group = os.geteuid(), os.getegid()
    with _step("unshare"):
        _unshare(flags)
    if flags & NEW_USER:
        with _step("to map the user"):
            _map(user, group)
    with _step("a loopback for every address"):
        loopback.take_all()
    with _step("to listen"):
        return _listeners()


def _unshare(flags: int) -> None:
    # os.unshare is there from Python 3.12 on.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(ctypes.c_int(flags)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _map(user: int, group: int) -> None:
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")
    (own / "uid_map").write_text(f"{user} {user} 1")
    (own / "gid_map").write_text(f"{group} {group} 1")


@contextlib.contextmanager
def _step(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = f"no network of its own can be had here ({name}: {error.strerror})"
        raise NoNamespace(text) from error


def _listeners() -> list[socket.socket]:
    listeners = [loopback.packets(), loopback.resolver(socket.AF_INET)]
    with contextlib.suppress(OSError):  # a kernel without IPv6
        listeners.append(loopback.resolver(socket.AF_INET6))
    return listeners


def target(data: bytes) -> str:
    """Whom a packet is for: `192.0.2.1:443 (TCP)`, `[2001:db8::1]:53 (UDP)`, `192.0.2.1 (ICMP)`.

    "" for what begins nothing: a connection that goes on, an answer of a resolver, and what the
    kernel says by itself (a port that nobody listens on, who is in a group).
    """
    try:
        version, start = data[0] >> 4, 40 if data[0] >> 4 == 6 else (data[0] & 15) * 4
        protocol, host = data[9], ip_address(data[16:20])
        if version == 6:
            protocol, host = data[6], ip_address(data[24:40])
        body = data[start:]
        if not _begins(protocol, body, host):
            return ""
        port = struct.unpack_from("!H", body, 2)[0] if protocol in (_TCP, _UDP) else 0
    except (IndexError, struct.error, ValueError):
        return "something that is no IP packet"
    text = f"[{host}]" if port and version == 6 else str(host)
    term = _PROTOCOLS.get(protocol, f"protocol {protocol}")
    return f"{text}:{port} ({term})" if port else f"{text} ({term})"


def _begins(protocol: int, body: bytes, host: IPv4Address | IPv6Address) -> bool:
    if protocol == _TCP:
        syn_alone: bool = body[13] & 0x12 == 0x02
        return syn_alone
    if protocol == _UDP:
        return bool(struct.unpack_from("!H", body)[0] != _DNS)
    if protocol in (_ICMP, _ICMP6):
        return body[0] in (8, 128)  # an echo is asked for
    return not host.is_multicast


def _answer(resolver: socket.socket) -> str:
    """Takes the next question, and says that there is no such name; the name, "" for none.

    An answer, and no refusal: musl's resolver hears no ICMP, and waits out its ten seconds.
    """
    while True:
        try:
            message, ancillary, _, source = resolver.recvmsg(4096, 256)
        except BlockingIOError:
            return ""
        name, end = _question(message)
        if not name:
            continue
        counts = struct.pack("!HHHHH", _NO_SUCH_NAME, 1, 0, 0, 0)
        answer = message[:2] + counts + message[12 : end + 4]
        with contextlib.suppress(OSError):  # it waits for its own limit then
            # What came along says who was asked, and so from whom the answer is to come.
            resolver.sendmsg([answer], ancillary, 0, source)
        return name


def _question(message: bytes) -> tuple[str, int]:
    """The name that is asked for, and where it ends; questions have no pointers."""
    if len(message) < 12 or message[2] & 0x80:
        return "", 0
    labels, place = [], 12
    while place < len(message) and 0 < (length := message[place]) < 64:
        label = message[place + 1 : place + 1 + length].decode("latin-1")
        labels.append(label.encode("unicode_escape").decode())  # it is shown to people
        place += 1 + length
    return ".".join(labels), place + 1

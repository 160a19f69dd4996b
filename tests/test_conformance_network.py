"""The network watch: what packets tell, what refuses them, and the namespace itself."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import textwrap
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.conformance.live import network
from hydra.conformance.live.packets import checksum, read, refusal

QUESTION = b"\x12\x34\x01\x00\x00\x01\0\0\0\0\0\0\x07example\x07invalid\0\0\x01\0\x01"
NAMED = ["example.invalid"]

HERE = "import sys; sys.path[:0] = {path!r}\n"
BEFORE = """
import json, os, socket, threading, time
from hydra.conformance.live import namespace, network
outside = os.readlink("/proc/self/ns/net")
"""
ENTER = """
watch = network.enter()
inside = os.readlink("/proc/self/ns/net")

def tell(**more):
    report = watch.report()
    print(json.dumps({"watched": report.watched, "reason": report.reason, "tried": report.tried,
        "packets": report.packets, "moved": inside != outside, **more}))

def refused(attempt):
    assert watch.watched and inside != outside, "nothing may be tried from out there"
    try:
        told = repr(attempt())
    except OSError as error:
        told = type(error).__name__
    return told
"""


def inside(script: str, *, before: str = "") -> dict[str, Any]:
    """Runs `before`, enters, runs the script, in a process of its own; what it has told."""
    text = HERE.format(path=sys.path) + BEFORE + before + ENTER + textwrap.dedent(script)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def entered(script: str) -> dict[str, Any]:
    document = inside(script)
    if not document["watched"]:
        pytest.skip(f"not allowed here: {document['reason']}")
    return document


def ip4(target: str, protocol: int, body: bytes) -> bytes:
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0)
    return header + IPv4Address("198.51.100.1").packed + IPv4Address(target).packed + body


def ip6(target: str, protocol: int, body: bytes) -> bytes:
    header = struct.pack("!IHBB", 6 << 28, len(body), protocol, 64)
    return header + IPv6Address("2001:db8::1").packed + IPv6Address(target).packed + body


def udp(port: int, payload: bytes) -> bytes:
    return struct.pack("!HHHH", 40000, port, 8 + len(payload), 0) + payload


def tcp(port: int, *, flags: int = 0x02, payload: bytes = b"") -> bytes:
    return struct.pack("!HHIIBBHHH", 40000, port, 1000, 0, 5 << 4, flags, 0, 0, 0) + payload


@pytest.mark.parametrize(
    ("data", "where", "names", "kernels"),
    [
        (ip4("192.0.2.1", 6, tcp(443)), "192.0.2.1:443 (TCP)", [], False),
        (ip6("2001:db8::9", 6, tcp(443)), "[2001:db8::9]:443 (TCP)", [], False),
        (ip4("192.0.2.53", 17, udp(53, QUESTION)), "192.0.2.53:53 (UDP)", NAMED, False),
        (
            ip4("192.0.2.53", 6, tcp(53, flags=0x18, payload=b"\0\x21" + QUESTION)),
            "192.0.2.53:53 (TCP)",
            NAMED,
            False,
        ),
        (ip4("224.0.0.251", 17, udp(5353, QUESTION)), "224.0.0.251:5353 (UDP)", NAMED, False),
        (ip4("192.0.2.1", 17, udp(443, QUESTION)), "192.0.2.1:443 (UDP)", [], False),
        (ip4("192.0.2.1", 1, b"\x08\0\0\0\0\0\0\0"), "192.0.2.1 (ICMP)", [], False),
        (ip4("192.0.2.1", 1, b"\x03\x03\0\0\0\0\0\0"), "192.0.2.1 (ICMP)", [], True),
        (ip4("224.0.0.22", 2, b"\x22\0\0\0"), "224.0.0.22 (protocol 2)", [], True),
        (ip6("ff02::2", 58, b"\x85\0\0\0"), "ff02::2 (ICMP)", [], True),
        (ip6("2001:db8::9", 58, b"\x80\0\0\0"), "2001:db8::9 (ICMP)", [], False),
        (ip6("ff02::16", 0, b"\x3a\0\5\2"), "ff02::16 (protocol 0)", [], True),
    ],
)  # fmt: skip
def test_a_packet_is_read(data: bytes, where: str, names: list[str], kernels: bool) -> None:
    packet = read(data)
    assert packet is not None
    assert (packet.where, packet.names, packet.kernels) == (where, names, kernels)


def test_an_answer_is_no_question() -> None:
    answer = QUESTION[:2] + b"\x81\x80" + QUESTION[4:]
    packet = read(ip4("192.0.2.53", 17, udp(53, answer)))
    assert packet is not None
    assert packet.names == []


@pytest.mark.parametrize(
    "data",
    [
        ip4("192.0.2.1", 6, tcp(443, flags=0x04)),
        ip4("224.0.0.251", 17, udp(5353, QUESTION)),
        ip4("192.0.2.1", 1, b"\x03\x03\0\0\0\0\0\0"),
    ],
    ids=["a reset", "a group", "an error"],
)
def test_what_must_not_be_answered_is_not(data: bytes) -> None:
    packet = read(data)
    assert packet is not None
    assert refusal(packet) is None


HEADER = QUESTION[:12]


@given(
    st.binary(max_size=200)
    | st.binary(max_size=80).map(lambda tail: ip4("192.0.2.1", 17, tail))
    | st.binary(max_size=80).map(lambda tail: ip4("192.0.2.1", 17, udp(53, HEADER + tail)))
)
def test_no_bytes_break_the_reader(data: bytes) -> None:
    packet = read(data)
    if packet is not None:
        assert packet.where
        assert all(name.isprintable() for name in packet.names)
        refusal(packet)


def test_the_checksum_is_the_internets() -> None:
    # RFC 1071's own example: these bytes add up to ddf2.
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


def test_nothing_tried_is_nothing_counted() -> None:
    document = entered("tell(raw=namespace.sent())")
    assert document == {
        "watched": True,
        "moved": True,
        "reason": "",
        "tried": [],
        "packets": 0,
        "raw": 0,
    }


def test_an_attempt_is_named_counted_and_refused() -> None:
    document = entered(
        """
        def ask():
            try:
                socket.getaddrinfo("example.invalid", 443)
            except socket.gaierror as error:
                return error.errno == socket.EAI_NONAME
        ended = [
            refused(lambda: socket.create_connection(("192.0.2.1", 443), timeout=20)),
            refused(ask),
        ]
        tell(ended=ended, raw=namespace.sent())
        """
    )
    # Where a packet is swallowed the one is a TimeoutError, the other EAI_AGAIN.
    assert document["ended"] == ["ConnectionRefusedError", "True"]
    assert document["tried"][:2] == ["192.0.2.1:443 (TCP)", "example.invalid (DNS)"]
    assert 1 <= document["packets"] <= document["raw"]


@pytest.mark.parametrize(
    ("family", "server"),
    [("AF_INET", "127.0.0.53"), ("AF_INET", "192.0.2.53"), ("AF_INET6", "2001:db8:1::53")],
)
def test_a_question_to_any_resolver_is_answered_with_no_such_name(family: str, server: str) -> None:
    """Unconnected, as musl asks: it hears no ICMP."""
    if family == "AF_INET6" and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    document = entered(
        f"""
        def ask():
            asking = socket.socket(socket.{family}, socket.SOCK_DGRAM)
            asking.settimeout(20)
            asking.sendto({QUESTION!r}, ({server!r}, 53))
            answer, source = asking.recvfrom(512)
            return source[0], answer[3] & 15
        tell(ended=refused(ask))
        """
    )
    assert document["ended"] == repr((server, 3))
    assert document["tried"][0] == "example.invalid (DNS)"
    assert document["packets"] == (0 if server == "127.0.0.53" else 1)


def test_loopback_is_as_always_and_its_packets_are_left_alone() -> None:
    """The kernel sorts them: a model's answers are megabytes, and none comes up to be read."""
    document = entered(
        """
        from hydra.conformance.live import packet_watch
        seen, take = [], packet_watch.read
        packet_watch.read = lambda data: seen.append(len(data)) or take(data)
        v6 = ["::1"] if os.path.exists("/proc/net/if_inet6") else []
        for address in ("127.0.0.1", *v6):
            listening_there = socket.create_server((address, 0), family=(
                socket.AF_INET6 if ":" in address else socket.AF_INET))
            caller = socket.create_connection(listening_there.getsockname()[:2])
            answering, _ = listening_there.accept()
            caller.sendall(b"a question to the model")
            assert answering.recv(100) == b"a question to the model"
            datagram = socket.socket(caller.family, socket.SOCK_DGRAM)
            datagram.sendto(b"to no resolver", (address, 54))
        watch.report()
        tell(seen=seen, raw=namespace.sent())
        """
    )
    assert (document["seen"], document["raw"], document["tried"]) == ([], 0, [])


def test_a_child_is_in_it_too_and_bubblewrap_confines_there() -> None:
    document = entered(
        """
        import subprocess
        from hydra.conformance.live.network import _confines
        child = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, text=True)
        tell(same=child.stdout.strip() == inside, confines=_confines())
        """
    )
    assert document["same"]
    assert document["confines"] == network._confines()


FAILS = "def fail(*_):\n    raise OSError(1, os.strerror(1))\n"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (f"{FAILS}namespace._unshare = fail", "(unshare: Operation not permitted)"),
        (f"{FAILS}namespace._sockets = fail", "(to listen: Operation not permitted)"),
        (
            "network._confines = lambda: os.readlink('/proc/self/ns/net') == outside",
            "lanes would not be confined",
        ),
        ("threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", "other threads"),
        ("sys.platform = 'darwin'", "only Linux"),
    ],
    ids=["no unshare", "no listening", "no bubblewrap inside", "a thread", "not Linux"],
)
def test_where_it_cannot_be_had_nothing_changes_and_the_reason_is_said(
    broken: str, reason: str
) -> None:
    document = inside("tell()", before=broken)
    assert reason in document["reason"]
    assert not document["watched"]
    assert not document["moved"]

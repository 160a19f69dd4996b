"""The network watch: what is tried in there is named and refused, and what is not is left alone."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.conformance.live import network

QUESTION = b"\x12\x34\x01\x00\x00\x01\0\0\0\0\0\0\x07example\x07invalid\0\0\x01\0\x01"

HERE = "import sys; sys.path[:0] = {path!r}\n"
BEFORE = """
import json, os, socket, threading, time
from hydra.conformance.live import network
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


@given(st.binary(max_size=200) | st.binary(max_size=80).map(lambda tail: b"\x45" + tail))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    where = network.target(data)
    assert where == "" or where.isprintable()


def test_an_attempt_is_named_counted_and_refused_at_once() -> None:
    """Where a packet is swallowed it would be a TimeoutError, or EAI_AGAIN."""
    document = entered(
        """
        def ask():
            try:
                socket.getaddrinfo("example.invalid", 443)
            except socket.gaierror as error:
                return error.errno == socket.EAI_NONAME
        def connected(family, host):
            asking = socket.socket(family, socket.SOCK_DGRAM)
            asking.settimeout(20)
            asking.connect((host, 9))
            asking.send(b"x")
            return asking.recv(1)
        tries = [
            lambda: socket.create_connection(("192.0.2.1", 443), timeout=20),
            lambda: connected(socket.AF_INET, "192.0.2.1"),
        ]
        if socket.has_ipv6:
            tries.append(lambda: socket.create_connection(("2001:db8:1::9", 443), timeout=20))
            tries.append(lambda: connected(socket.AF_INET6, "2001:db8:1::9"))
        tell(ended=[*map(refused, tries), refused(ask)])
        """
    )
    *refusals, name = document["ended"]
    assert ({*refusals}, name) == ({"ConnectionRefusedError"}, "True")
    places = ["192.0.2.1:443 (TCP)", "192.0.2.1:9 (UDP)"]
    places += [f"[2001:db8:1::9]:{end}" for end in ("443 (TCP)", "9 (UDP)")][: len(refusals) - 2]
    assert {"example.invalid (DNS)", *places} <= set(document["tried"])
    assert document["packets"] >= 1


def test_a_group_is_named_and_a_message_that_is_no_question_has_no_name() -> None:
    document = entered(
        f"""
        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        answer = bytearray({QUESTION!r})
        answer[2] = 0x81
        asking.sendto(answer, ("127.0.0.53", 53))
        asking.sendto(b"?", ("127.0.0.53", 53))
        asking.sendto({QUESTION!r}, ("224.0.0.251", 5353))
        tell()
        """
    )
    assert document["tried"] == ["224.0.0.251:5353 (UDP)"]


def test_a_question_to_any_resolver_is_answered_with_no_such_name() -> None:
    """Unconnected, as musl asks: it hears no ICMP."""
    servers = ["127.0.0.53", "192.0.2.53", *(["2001:db8:1::53"] if socket.has_ipv6 else [])]
    document = entered(
        f"""
        def ask(server):
            family = socket.AF_INET6 if ":" in server else socket.AF_INET
            asking = socket.socket(family, socket.SOCK_DGRAM)
            asking.settimeout(20)
            asking.sendto({QUESTION!r}, (server, 53))
            answer, source = asking.recvfrom(512)
            return source[0], answer[3] & 15
        tell(ended=[refused(lambda: ask(server)) for server in {servers!r}])
        """
    )
    assert document["ended"] == [repr((server, 3)) for server in servers]
    assert document["tried"][0] == "example.invalid (DNS)"
    assert document["packets"] == len(servers) - 1  # the first is on loopback


def test_loopback_and_children_are_as_always_and_nothing_tried_is_nothing_counted() -> None:
    """The kernel sorts packets: a model's answers are megabytes, and none comes up to be read."""
    document = entered(
        """
        import subprocess
        seen, take = [], network.target
        network.target = lambda data: seen.append(len(data)) or take(data)
        v6 = ["::1"] if os.path.exists("/proc/net/if_inet6") else []
        for address in ("127.0.0.1", *v6):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            listening_there = socket.create_server((address, 0), family=family)
            caller = socket.create_connection(listening_there.getsockname()[:2])
            answering, _ = listening_there.accept()
            caller.sendall(b"a question to the model")
            assert answering.recv(100) == b"a question to the model"
            socket.socket(family, socket.SOCK_DGRAM).sendto(b"to no resolver", (address, 54))
        child = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, text=True)
        same = child.stdout.strip() == inside
        tell(seen=seen, same=same, confines=network._confines())
        """
    )
    rest = {"reason": "", "tried": [], "packets": 0, "seen": [], "same": True}
    confines = network._confines()  # bubblewrap does there what it does elsewhere
    assert document == {"watched": True, "moved": True, "confines": confines, **rest}


FAILS = "def fail(*_):\n    raise OSError(1, os.strerror(1))\n"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (f"{FAILS}network._unshare = fail", "(unshare: Operation not permitted)"),
        (f"{FAILS}network._listeners = fail", "(to listen: Operation not permitted)"),
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
    assert (document["watched"], document["moved"]) == (False, False)

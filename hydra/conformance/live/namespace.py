"""A network namespace with a loopback and a dead end that has the default route."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from hydra.conformance.live.filters import only_questions
from hydra.conformance.live.netlink import Netlink

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000

DEVICE = "nowhere"
ADDRESS_4, ADDRESS_6 = IPv4Address("198.51.100.1"), IPv6Address("2001:db8::1")
"""The device's own: documentation addresses, which nobody has (RFC 5737, RFC 3849)."""

_LOOPBACK = 1
_ALL_PROTOCOLS = 3


class NoNamespace(Exception):
    """No such namespace can be had here; the text says which step failed, and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sockets:
    """Opened while this process may: what leaves, what loopback carries, and two to refuse by."""

    leaving: socket.socket
    questions: socket.socket
    refuse_4: socket.socket
    refuse_6: socket.socket | None


def arrange(flags: int) -> Sockets:
    """Enters it and makes all there is in it. Raises `NoNamespace`, half way in then."""
    user, group = os.geteuid(), os.getegid()
    with _step("unshare"):
        _unshare(flags)
    if flags & NEW_USER:
        with _step("to map the user"):
            _map(user, group)
    with _step("a device without a wire"), Netlink() as links:
        links.up(_LOOPBACK)
        index = links.add_dead_end(DEVICE)
        with contextlib.suppress(OSError):  # a kernel without IPv6
            links.quiet(index)
        with _step("to listen"):  # before it is up: nothing that it carries is missed
            sockets = _sockets()
        links.up(index, mute=True)
        links.add_address(index, ADDRESS_4)
        links.add_default_route(index, socket.AF_INET)
        with contextlib.suppress(OSError):
            links.add_own_route(ADDRESS_6)
            links.add_address(index, ADDRESS_6)
            links.add_default_route(index, socket.AF_INET6)
    return sockets


def sent() -> int:
    """The packets that the device was given, as the kernel counts them."""
    for line in Path("/proc/self/net/dev").read_text().splitlines():
        name, _, counters = line.partition(":")
        if name.strip() == DEVICE:
            return int(counters.split()[9])
    return 0


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


def _sockets() -> Sockets:
    sixth = None
    with contextlib.suppress(OSError):
        sixth = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    return Sockets(
        leaving=_listener(DEVICE),
        questions=_listener("lo", questions=True),
        refuse_4=socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
        refuse_6=sixth,
    )


def _listener(device: str, *, questions: bool = False) -> socket.socket:
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    if questions:
        only_questions(listener)
    listener.bind((device, _ALL_PROTOCOLS))
    listener.setblocking(False)
    return listener


@contextlib.contextmanager
def _step(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = f"no network of its own can be had here ({name}: {error.strerror})"
        raise NoNamespace(text) from error

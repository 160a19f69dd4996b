"""The loopback of this process' own network namespace, to which every address belongs.

Six requests by rtnetlink are all that it needs, so there is no library and no `ip` program to be
had. Linux only; every call raises `OSError` where the kernel refuses it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
from ipaddress import IPv4Address, IPv6Address

ADDRESS_4, ADDRESS_6 = IPv4Address("198.51.100.1"), IPv6Address("2001:db8::1")
"""Documentation addresses, which nobody has (RFC 5737, RFC 3849): with none but a loopback's own,
glibc asks no resolver for who looks for what this machine could reach (AI_ADDRCONFIG)."""

_SET_LINK, _NEW_ADDRESS, _NEW_ROUTE = 19, 20, 24
_REQUEST_ACK, _NEW = 0x5, 0x600
_ADDRESS, _LOCAL, _OUT = 1, 2, 4
_NO_DETECTION = 0x2
_LOCAL_TABLE, _STATIC, _LOCAL_KIND, _SCOPE_HOST = 255, 4, 2, 254
_ERROR = 2
_UP = 1

_ALL_PROTOCOLS = 3
_ATTACH_FILTER = 26
_PACKET_INFO, _FREE_BIND_6 = 8, 78


def take_all() -> None:
    """Brings it up, and makes every address its own."""
    index = socket.if_nametoindex("lo")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        header = struct.pack("=BBHiII", socket.AF_UNSPEC, 0, 0, index, _UP, _UP)
        _ask(link, _SET_LINK, 0, header)
        _add(link, index, ADDRESS_4)
        with contextlib.suppress(OSError):  # a kernel without IPv6
            _add(link, index, ADDRESS_6)


def _add(link: socket.socket, index: int, address: IPv4Address | IPv6Address) -> None:
    family, bits = _FAMILIES[address.version], address.max_prefixlen
    header = struct.pack("=BBBBI", family, bits, _NO_DETECTION, 0, index)
    packed = address.packed
    _ask(
        link, _NEW_ADDRESS, _NEW, header + _attribute(_LOCAL, packed) + _attribute(_ADDRESS, packed)
    )
    scope = _SCOPE_HOST if address.version == 4 else 0
    kind = (_LOCAL_TABLE, _STATIC, scope, _LOCAL_KIND)
    header = struct.pack("=BBBBBBBBI", family, 0, 0, 0, *kind, 0)
    _ask(link, _NEW_ROUTE, _NEW, header + _attribute(_OUT, struct.pack("=I", index)))


_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


def _ask(link: socket.socket, kind: int, flags: int, body: bytes) -> None:
    link.send(struct.pack("=IHHII", 16 + len(body), kind, flags | _REQUEST_ACK, 1, 0) + body)
    _, answered, _, _, _, code = struct.unpack_from("=IHHIIi", link.recv(65536))
    if answered == _ERROR and code:
        raise OSError(-code, os.strerror(-code))


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def resolver(family: int) -> socket.socket:
    """Hears what any resolver is asked, and may answer in its name."""
    listener = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET:
        listener.setsockopt(socket.IPPROTO_IP, _PACKET_INFO, 1)
    else:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, _FREE_BIND_6, 1)
    listener.bind(("", 53))
    listener.setblocking(False)
    return listener


def packets() -> socket.socket:
    """Hears, each twice, the packets for other addresses than a loopback's: the kernel sorts them,
    for a model's answers are megabytes."""
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    lines = b"".join(struct.pack("=HBBI", *line) for line in _OFF_LOOPBACK)
    buffer = ctypes.create_string_buffer(lines, len(lines))
    program = struct.pack("@HP", len(_OFF_LOOPBACK), ctypes.addressof(buffer))
    listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
    listener.bind(("lo", _ALL_PROTOCOLS))
    listener.setblocking(False)
    return listener


_BYTE, _LOAD, _SHIFT, _EQUAL, _RETURN = 0x30, 0x20, 0x74, 0x15, 0x06
_OFF_LOOPBACK = (
    (_BYTE, 0, 0, 0),
    (_SHIFT, 0, 0, 4),
    (_EQUAL, 0, 2, 4),  # IPv4: not to 127/8
    (_BYTE, 0, 0, 16),
    (_EQUAL, 5, 4, 127),
    (_LOAD, 0, 0, 24),  # IPv6: not to ::1
    (_EQUAL, 0, 2, 0),
    (_LOAD, 0, 0, 36),
    (_EQUAL, 1, 0, 1),
    (_RETURN, 0, 0, 0xFFFF),
    (_RETURN, 0, 0, 0),
)
"""Words of the classic BPF (<linux/bpf_common.h>): what, how many lines to leap if so and if not, a
number."""

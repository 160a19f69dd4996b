"""Links, addresses and routes of this process' own network namespace, by rtnetlink.

Four requests are all that the watch needs, so there is no library and no `ip` program to be had.
Linux only; every call raises `OSError` where the kernel refuses it.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address

_NEW_LINK, _SET_LINK, _NEW_ADDRESS, _NEW_ROUTE = 16, 19, 20, 24
_ERROR = 2
_REQUEST, _ACK, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x200, 0x400
_NEW = _CREATE | _EXCLUSIVE

_NAME, _LINK_INFO, _KIND, _INFO_DATA, _AF_SPEC = 3, 18, 1, 2, 26
_ADDRESS_MODE, _NO_ADDRESS = 8, 1
_SNOOPING = 23
_ADDRESS, _LOCAL = 1, 2
_TARGET, _OUT = 1, 4

_UP, _NO_ARP, _MULTICAST = 0x1, 0x80, 0x1000
_NO_DETECTION = 0x2
_MAIN, _STATIC, _UNICAST = 254, 4, 1
_LOCAL_TABLE, _LOCAL_KIND = 255, 2
_SCOPE_LINK, _SCOPE_ALL = 253, 0


class Netlink:
    """One netlink socket, as a context manager."""

    def __enter__(self) -> Netlink:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def add_dead_end(self, name: str) -> int:
        """A device that counts and drops all it is given; its index. It is down.

        A dummy; a bridge with nothing on it where the kernel has none, which does the same.
        """
        named = _attribute(_NAME, name.encode() + b"\0")
        try:
            self._ask(_NEW_LINK, _NEW, _link(0), [named, _DUMMY])
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            self._ask(_NEW_LINK, _NEW, _link(0), [named, _BRIDGE])
        return socket.if_nametoindex(name)

    def quiet(self, index: int) -> None:
        """No IPv6 address of the kernel's own making: with one it would ask for neighbours."""
        mode = _attribute(_ADDRESS_MODE, bytes([_NO_ADDRESS]))
        spec = _attribute(_AF_SPEC, _attribute(socket.AF_INET6, mode))
        self._ask(_SET_LINK, 0, _link(index), [spec])

    def up(self, index: int, *, mute: bool = False) -> None:
        """The device carries packets. `mute`: no questions about neighbours, and no groups."""
        flags = _UP | _NO_ARP if mute else _UP
        changed = flags | _MULTICAST if mute else flags
        self._ask(_SET_LINK, 0, _link(index, flags, changed), [])

    def add_address(self, index: int, address: IPv4Address | IPv6Address) -> None:
        """An address of that device's alone."""
        family, bits = _family(address), address.max_prefixlen
        header = struct.pack("=BBBBI", family, bits, _NO_DETECTION, _SCOPE_ALL, index)
        packed = address.packed
        contents = [_attribute(_LOCAL, packed), _attribute(_ADDRESS, packed)]
        self._ask(_NEW_ADDRESS, _NEW, header, contents)

    def add_own_route(self, address: IPv4Address | IPv6Address) -> None:
        """What is for this address stays here. The kernel adds that by itself: IPv6 in a while."""
        index, bits = socket.if_nametoindex("lo"), address.max_prefixlen
        kind = (_LOCAL_TABLE, _STATIC, _SCOPE_ALL, _LOCAL_KIND)
        header = struct.pack("=BBBBBBBBI", _family(address), bits, 0, 0, *kind, 0)
        out = _attribute(_OUT, struct.pack("=I", index))
        self._ask(_NEW_ROUTE, _NEW, header, [_attribute(_TARGET, address.packed), out])

    def add_default_route(self, index: int, family: int) -> None:
        """All that is not known otherwise goes to that device."""
        scope = _SCOPE_LINK if family == socket.AF_INET else _SCOPE_ALL
        header = struct.pack("=BBBBBBBBI", family, 0, 0, 0, _MAIN, _STATIC, scope, _UNICAST, 0)
        self._ask(_NEW_ROUTE, _NEW, header, [_attribute(_OUT, struct.pack("=I", index))])

    def _ask(self, kind: int, flags: int, header: bytes, attributes: Iterable[bytes]) -> None:
        body = header + b"".join(attributes)
        flags |= _REQUEST | _ACK
        self._socket.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        answer = self._socket.recv(65536)
        _, answered, _, _, _, code = struct.unpack_from("=IHHIIi", answer)
        if answered == _ERROR and code:
            raise OSError(-code, os.strerror(-code))


def _link(index: int, flags: int = 0, changed: int = 0) -> bytes:
    return struct.pack("=BBHiII", socket.AF_UNSPEC, 0, 0, index, flags, changed)


def _family(address: IPv4Address | IPv6Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def _attribute(kind: int, data: bytes) -> bytes:
    padding = -len(data) % 4
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * padding


_DUMMY = _attribute(_LINK_INFO, _attribute(_KIND, b"dummy"))
# A bridge that follows groups joins some itself, and says so to nobody there.
_BRIDGE = _attribute(
    _LINK_INFO,
    _attribute(_KIND, b"bridge") + _attribute(_INFO_DATA, _attribute(_SNOOPING, b"\0")),
)

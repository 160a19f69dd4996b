"""IP packets read for what somebody tried to reach, and the packets that refuse it. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

ICMP, IGMP, TCP, UDP, ICMP6, HOPS = 1, 2, 6, 17, 58, 0
_PROTOCOLS = {ICMP: "ICMP", TCP: "TCP", UDP: "UDP", ICMP6: "ICMP"}
_DNS = (53, 5353, 5355)
_SYN, _ACK, _RST = 0x02, 0x10, 0x04
_NO_SUCH_NAME = 0x8183
"""Flags of a DNS answer: an answer, recursion asked for and given, NXDOMAIN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One packet. Ports are 0 where its protocol has none; `payload` is what follows their header;
    `start` its beginning, for an ICMP error to quote."""

    source: IPv4Address | IPv6Address
    target: IPv4Address | IPv6Address
    protocol: int
    source_port: int
    port: int
    transport: bytes
    payload: bytes
    start: bytes

    @property
    def kernels(self) -> bool:
        """Whether the kernel sends such a one by itself: who is in a multicast group, IPv6's
        search for neighbours and routers, and "unreachable" for a refusal that came too late."""
        if self.target.is_multicast:
            return self.protocol in (IGMP, ICMP6, HOPS)
        return (self.protocol, self.transport[:1]) in ((ICMP, b"\3"), (ICMP6, b"\1"))

    @property
    def where(self) -> str:
        """`192.0.2.1:443 (TCP)`, `[2001:db8::1]:53 (UDP)`, `192.0.2.1 (ICMP)`."""
        term = _PROTOCOLS.get(self.protocol, f"protocol {self.protocol}")
        host = str(self.target)
        if self.port:
            host = f"[{host}]" if self.target.version == 6 else host
            host = f"{host}:{self.port}"
        return f"{host} ({term})"

    @property
    def names(self) -> list[str]:
        """The names that it asks a DNS server for."""
        return _questions(self.message)

    @property
    def message(self) -> bytes:
        """The DNS message in it, or nothing."""
        if self.port not in _DNS:
            return b""
        return self.payload[2:] if self.protocol == TCP else self.payload


def read(data: bytes) -> Packet | None:
    """A packet from its IP header on; None for what is none, or is cut short."""
    try:
        return _read_4(data) if data[0] >> 4 == 4 else _read_6(data)
    except (IndexError, struct.error, ValueError):
        return None


def _read_4(data: bytes) -> Packet:
    length = (data[0] & 15) * 4
    source, target = IPv4Address(data[12:16]), IPv4Address(data[16:20])
    return _packet(source, target, data[9], data[length:], data[: length + 8])


def _read_6(data: bytes) -> Packet | None:
    if data[0] >> 4 != 6:
        return None
    source, target = IPv6Address(data[8:24]), IPv6Address(data[24:40])
    return _packet(source, target, data[6], data[40:], data[:1000])


def _packet(
    source: IPv4Address | IPv6Address,
    target: IPv4Address | IPv6Address,
    protocol: int,
    transport: bytes,
    start: bytes,
) -> Packet:
    source_port = port = 0
    payload = b""
    if protocol in (TCP, UDP):
        source_port, port = struct.unpack_from("!HH", transport)
        payload = transport[8 if protocol == UDP else (transport[12] >> 4) * 4 :]
    return Packet(
        source=source,
        target=target,
        protocol=protocol,
        source_port=source_port,
        port=port,
        transport=transport,
        payload=payload,
        start=start,
    )


def _questions(message: bytes) -> list[str]:
    if len(message) < 12 or message[2] & 0x80:
        return []
    names, place = [], 12
    for _ in range(min(struct.unpack_from("!H", message, 4)[0], 8)):
        name, place = _name(message, place)
        if not name:
            break
        names.append(name)
        place += 4
    return names


def _name(message: bytes, place: int) -> tuple[str, int]:
    """A name that is written out, and where it ends; questions have no pointers."""
    labels = []
    while place < len(message) and 0 < (length := message[place]) < 64:
        label = message[place + 1 : place + 1 + length].decode("latin-1")
        labels.append(label.encode("unicode_escape").decode())  # it is shown to people
        place += 1 + length
    return ".".join(labels), place + 1


def refusal(packet: Packet) -> bytes | None:
    """The packet that says no at once: a reset, "no such name", or "nobody listens on this port".

    None where an answer would be wrong: to an ICMP error, to a reset, to a group.
    """
    if packet.target.is_multicast:
        return None
    if packet.protocol == TCP:
        return _reset(packet)
    if packet.protocol == UDP:
        return _no_such_name(packet) if packet.names else _unreachable(packet)
    return None


def _reset(packet: Packet) -> bytes | None:
    sequence, flags = struct.unpack_from("!I", packet.transport, 4)[0], packet.transport[13]
    if flags & _RST:
        return None
    follows = (sequence + len(packet.payload) + bool(flags & _SYN)) & 0xFFFFFFFF
    ports = (packet.port, packet.source_port)
    body = struct.pack("!HHIIBBHHH", *ports, 0, follows, 5 << 4, _RST | _ACK, 0, 0, 0)
    return _answer(packet, TCP, body, 16)


def _no_such_name(packet: Packet) -> bytes:
    # Not only ICMP: musl's resolver does not hear it, and waits out its ten seconds.
    message = packet.message
    _, end = _name(message, 12)
    answer = message[:2] + struct.pack("!HHHHH", _NO_SUCH_NAME, 1, 0, 0, 0) + message[12 : end + 4]
    ports = (packet.port, packet.source_port)
    return _answer(packet, UDP, struct.pack("!HHHH", *ports, 8 + len(answer), 0) + answer, 6)


def _unreachable(packet: Packet) -> bytes:
    kind, code, protocol = (3, 3, ICMP) if packet.target.version == 4 else (1, 4, ICMP6)
    return _answer(packet, protocol, struct.pack("!BBHI", kind, code, 0, 0) + packet.start, 2)


def _answer(packet: Packet, protocol: int, body: bytes, checksum_at: int) -> bytes:
    """`body` in an IP packet back to where `packet` came from, with its checksum filled in."""
    source, target = packet.target.packed, packet.source.packed
    pseudo = source + target + struct.pack("!II", len(body), protocol)
    total = checksum(body if protocol == ICMP else pseudo + body)
    body = body[:checksum_at] + struct.pack("!H", total) + body[checksum_at + 2 :]
    if packet.target.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(body), protocol, 64) + source + target + body
    # The kernel fills in the header's own checksum, its length and its number.
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0)
    return header + source + target + body


def checksum(data: bytes) -> int:
    """The Internet's checksum (RFC 1071); never 0, which would say that there is none."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF) or 0xFFFF

"""Ports of this machine on which an agent or a server of a test is to listen, later than now."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path


def free_port() -> int:
    """One that is free, and that the kernel gives to nobody who asks for any.

    One of those, closed again, is soon another test's server or the near end of a connection.
    """
    span = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    first, last = (int(edge) for edge in span)
    ports: list[int] = [*range(10_000, first), *range(last + 1, 65_536)]
    for port in random.SystemRandom().sample(ports, k=min(99, len(ports))):
        with suppress(OSError), socket.create_server(("", port)):
            return port
    raise RuntimeError("no port is free")

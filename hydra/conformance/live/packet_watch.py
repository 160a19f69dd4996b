"""Hears what leaves and what is asked of a resolver, keeps the names, and refuses each at once."""

from __future__ import annotations

import select
import socket
import threading
from dataclasses import dataclass

from hydra.conformance.live.namespace import Sockets, sent
from hydra.conformance.live.packets import Packet, read, refusal

MOST = 100
"""Names and addresses that are kept; packets are counted however many there are."""

_LONGEST = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardPackets:
    """`packets` less those that the kernel sends by itself; `tried` in the order of the attempts:
    `example.invalid (DNS)`, `192.0.2.1:443 (TCP)`."""

    packets: int
    tried: tuple[str, ...]


class Ears:
    """Listens from the start, in a thread that ends with the process."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._lock = threading.Lock()
        self._tried: dict[str, None] = {}
        self._kernels = 0
        threading.Thread(target=self._listen, daemon=True, name="network watch").start()

    def packets(self) -> HeardPackets:
        """All until now, what waits in the sockets included."""
        self._drain()
        with self._lock:
            return HeardPackets(packets=max(0, sent() - self._kernels), tried=tuple(self._tried))

    def _listen(self) -> None:
        both = [self._sockets.leaving, self._sockets.questions]
        while True:
            select.select(both, [], [])
            self._drain()

    def _drain(self) -> None:
        with self._lock:
            for listener in (self._sockets.leaving, self._sockets.questions):
                while (data := _next(listener)) is not None:
                    self._take(read(data), leaving=listener is self._sockets.leaving)

    def _take(self, packet: Packet | None, *, leaving: bool) -> None:
        if packet is None:
            self._keep("something that is no IP packet")
            return
        if leaving and packet.kernels:
            self._kernels += 1
            return
        if not leaving and not packet.message:
            return  # a connection to a resolver that nobody is: the kernel refuses it
        for name in packet.names:
            self._keep(f"{name} (DNS)")
        if leaving:
            self._keep(packet.where)
        self._refuse(packet)

    def _keep(self, what: str) -> None:
        if len(self._tried) < MOST:
            self._tried[what] = None

    def _refuse(self, packet: Packet) -> None:
        # Unanswered, `claude -p` took 14 s instead of 2.4 here, `codex exec` 6.6 instead of 1.4
        # (2.1.330, 0.169.0, both without the switches that Hydra gives them).
        answer = refusal(packet)
        by = self._sockets.refuse_4 if packet.source.version == 4 else self._sockets.refuse_6
        if answer is None or by is None:
            return
        try:
            by.sendto(answer, (str(packet.source), 0))
        except OSError:
            return  # it waits for its own limit then


def _next(listener: socket.socket) -> bytes | None:
    try:
        return listener.recv(_LONGEST)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError:  # the device went
        return None

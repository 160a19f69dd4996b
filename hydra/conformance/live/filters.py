"""A filter in the kernel: of all that loopback carries, only DNS questions come up to Python."""

from __future__ import annotations

import ctypes
import socket
import struct

_ATTACH = 26
_PACKET_TYPE = 0xFFFFF000 + 4
_OUTGOING = 4

# Words of the classic BPF, as <linux/bpf_common.h> puts them together.
_LOAD, _LOAD_HALF, _LOAD_BYTE = 0x20, 0x28, 0x30
_LOAD_HALF_X, _LENGTH_X = 0x48, 0xB1
_SHIFT, _EQUAL, _RETURN = 0x74, 0x15, 0x06

_TAKE, _DROP = 17, 18
_PROGRAM = (
    (_LOAD, 0, 0, _PACKET_TYPE),
    (_EQUAL, 2, _DROP, _OUTGOING),  # loopback shows each packet twice
    (_LOAD_BYTE, 0, 0, 0),
    (_SHIFT, 0, 0, 4),
    (_EQUAL, 5, 11, 4),
    (_LOAD_BYTE, 0, 0, 9),  # IPv4: UDP or TCP, to port 53
    (_EQUAL, 8, 7, socket.IPPROTO_UDP),
    (_EQUAL, 8, _DROP, socket.IPPROTO_TCP),
    (_LENGTH_X, 0, 0, 0),
    (_LOAD_HALF_X, 0, 0, 2),
    (_EQUAL, _TAKE, _DROP, 53),
    (_EQUAL, 12, _DROP, 6),
    (_LOAD_BYTE, 0, 0, 6),  # IPv6
    (_EQUAL, 15, 14, socket.IPPROTO_UDP),
    (_EQUAL, 15, _DROP, socket.IPPROTO_TCP),
    (_LOAD_HALF, 0, 0, 40 + 2),
    (_EQUAL, _TAKE, _DROP, 53),
    (_RETURN, 0, 0, 0xFFFF),
    (_RETURN, 0, 0, 0),
)
"""Each line: what, the line to go on with if so and if not, a number."""


def only_questions(listener: socket.socket) -> None:
    """Lets through what is sent to port 53, by UDP or TCP, and nothing else."""
    lines = b"".join(_encoded(place, *line) for place, line in enumerate(_PROGRAM))
    buffer = ctypes.create_string_buffer(lines, len(lines))
    program = struct.pack("@HP", len(_PROGRAM), ctypes.addressof(buffer))
    listener.setsockopt(socket.SOL_SOCKET, _ATTACH, program)


def _encoded(place: int, code: int, if_so: int, if_not: int, number: int) -> bytes:
    # The kernel counts a jump from the line after it.
    after = place + 1 if code == _EQUAL else 0
    return struct.pack("=HBBI", code, if_so - after, if_not - after, number)

"""What keeps an agent from what no mount hides: signals, abstract sockets, the kernel's key rings,
the limits of its keeper (of its CPU seconds, say: the kernel kills whoever is beyond his).

It is put up in the keeper's child, between fork and exec, by Landlock (Linux 6.12) and seccomp
filters. None forbids a file, the network, ptrace of own children, namespaces or mounts: debuggers
and the agents' own sandboxes need those.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from hydra.process.keeper import KEY_FILTER, LIMIT_FILTER, SCOPE, call

SIGNALS = {SCOPE: "signals"}
"""For the keeper's environment, where nothing confines: no foreign process is signalled, traced."""

_LANDLOCK_CREATE_RULESET, _VERSION, _SCOPES = 444, 1, 6

_CALLS = {
    "x86_64": ((0xC000003E, 248, 302), (0x40000003, 286, 340)),
    "aarch64": ((0xC00000B7, 217, 261), (0x40000028, 309, 369)),
    "riscv64": ((0xC00000F3, 217, 261),),
    "ppc64le": ((0xC0000015, 269, 325),),
    "s390x": ((0x80000016, 278, 334),),
}
"""By machine: (audit architecture, number of add_key, of prlimit64); request_key and keyctl follow
add_key."""

_LOAD, _AND, _EQUAL, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x25, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST_ARGUMENT = 16 if sys.byteorder == "little" else 20  # its lower half: a pid has no more
_NOT_X32 = 0xBFFFFFFF
_ALLOW, _ENOSYS, _EPERM = 0x7FFF0000, 0x00050026, 0x00050001


@cache
def scopes_work() -> bool:
    """Whether this kernel can keep an agent from abstract sockets and foreign signals."""
    if sys.maxsize < 2**32:
        return False
    return call("syscall", _LANDLOCK_CREATE_RULESET, None, 0, _VERSION) >= _SCOPES


@cache
def call_filters() -> dict[str, str]:
    """For the keeper's environment: keyctl's number and the filter that refuses the three calls for
    keys, and that which refuses to limit other processes; empty on a machine whose numbers are not
    known."""
    calls = _CALLS.get(os.uname().machine, ()) if sys.maxsize > 2**32 else ()
    if not calls:
        return {}
    allowed = _step(_RETURN, _ALLOW)
    keys = b"".join(_key_refusal(machine, first) for machine, first, _ in calls) + allowed
    limits = b"".join(_limit_refusal(machine, number) for machine, _, number in calls) + allowed
    return {KEY_FILTER: f"{calls[0][1] + 2}:{keys.hex()}", LIMIT_FILTER: limits.hex()}


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    # struct sock_filter; `yes` and `no` are the steps that are jumped over
    return code.to_bytes(2, sys.byteorder) + bytes((yes, no)) + value.to_bytes(4, sys.byteorder)


def _key_refusal(architecture: int, first: int) -> bytes:
    # As from a kernel without keys, for the three numbers from `first` on.
    return (
        _step(_LOAD, _ARCHITECTURE)
        + _step(_EQUAL, architecture, no=5)
        + _step(_LOAD, _NUMBER)
        + _step(_AND, _NOT_X32)
        + _step(_AT_LEAST, first, no=2)
        + _step(_ABOVE, first + 2, yes=1)
        + _step(_RETURN, _ENOSYS)
    )


def _limit_refusal(architecture: int, number: int) -> bytes:
    # Its own limits (pid 0) everybody may lower.
    return (
        _step(_LOAD, _ARCHITECTURE)
        + _step(_EQUAL, architecture, no=6)
        + _step(_LOAD, _NUMBER)
        + _step(_AND, _NOT_X32)
        + _step(_EQUAL, number, no=3)
        + _step(_LOAD, _FIRST_ARGUMENT)
        + _step(_EQUAL, 0, yes=1)
        + _step(_RETURN, _EPERM)
    )

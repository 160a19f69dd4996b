"""The network watch of a live run: nothing leaves, and what tried to leave is named.

`enter` puts this process, and so all that it starts, into a network namespace of its own. In it
are a loopback, on which the model server listens, and a dummy device with the default route: what
goes anywhere else goes to that device, which counts it and drops it. The watch listens there, and
on the loopback for DNS questions (a resolver may stand on 127.0.0.53), and refuses each attempt at
once, so that nobody waits for an answer that cannot come.

Not seen: what goes through a Unix socket to a program outside (nscd, systemd-resolved by nss; a
confined lane has /run hidden), and IPv6 where the kernel has none (it is refused there).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from hydra.conformance.live.namespace import NEW_NETWORK, NEW_USER, NoNamespace, arrange
from hydra.conformance.live.packet_watch import Ears
from hydra.conformance.results import Network
from hydra.process.sandbox.trial import trial_argv

_NESTED = ("--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--unshare-net", "--", "true")
"""bwrap's words for a sandbox such as Codex makes inside of Hydra's."""

_TRIAL = 10.0
"""Seconds that bwrap's trial may take."""


class Watch:
    """What `enter` gives: a network that is watched, or why there is none."""

    def __init__(self, ears: Ears | None = None, reason: str = "") -> None:
        self._ears = ears
        self.reason = reason

    @property
    def watched(self) -> bool:
        """Whether this process is in a network of its own."""
        return self._ears is not None

    def report(self) -> Network:
        """What was tried so far. It may be asked for again."""
        if self._ears is None:
            return Network(watched=False, reason=self.reason)
        packets = self._ears.packets()
        return Network(watched=True, packets=packets.packets, tried=packets.tried)


def enter() -> Watch:
    """Moves this process into a network namespace of its own: call it before any thread runs.

    As root a network namespace is enough, anybody else gets a user namespace around it in which
    they are themselves. All of it is tried in a child first, bubblewrap inside of it too: where
    that fails, nothing is changed here and the watch says why.
    """
    if sys.platform != "linux":
        return Watch(reason="only Linux has network namespaces")
    if threading.active_count() > 1:
        return Watch(reason="other threads run already, and they would stay outside")
    reason = ""
    for flags in _ways():
        failed = _try(flags)
        if not failed:
            return Watch(Ears(arrange(flags)))
        reason = reason or failed
    return Watch(reason=reason)


def _ways() -> list[int]:
    both = NEW_USER | NEW_NETWORK
    return [NEW_NETWORK, both] if os.geteuid() == 0 else [both]


def _try(flags: int) -> str:
    """Why this way does not work, "" where it does. A namespace that was entered cannot be left,
    so a child tries."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = "it ended in the middle"
        try:
            text = _child(flags)
        finally:
            os.write(writer, text.encode()[:2000])
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    if text == _NO_BWRAP and not _confines():
        return ""  # no worse inside than outside
    return text


_NO_BWRAP = "bubblewrap works here, and not in a network namespace: lanes would not be confined"


def _child(flags: int) -> str:
    try:
        arrange(flags)
    except NoNamespace as error:
        return str(error)
    return "" if _confines() else _NO_BWRAP


def _confines() -> bool:
    """Whether bwrap works, and another inside of it. True where there is none to be tried."""
    program = shutil.which("bwrap")
    if program is None:
        return True
    *trial, _ = trial_argv(program)
    return _runs((*trial, program, *_NESTED))


def _runs(argv: Sequence[str]) -> bool:
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path("/"),
            timeout=_TRIAL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0

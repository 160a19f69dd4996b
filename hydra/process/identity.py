"""Who a process is: a pid is given to strangers later, its start within one boot is not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from hydra.process import procfs
from hydra.records.codec import shaped


class ProcessIdentity(Struct, frozen=True, kw_only=True):
    """One process of one machine's one boot. Empty fields: this system cannot tell.

    `start` is in clock ticks since the boot, `namespace` the PID namespace that the pid is of.
    """

    pid: int = 0
    start: int | None = None
    boot: str = ""
    namespace: str = ""

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity:
        """The process that has this pid now."""
        return cls(pid=pid, start=procfs.started(pid), boot=boot_id(), namespace=_namespace())

    @classmethod
    def read(cls, data: Mapping[str, object]) -> ProcessIdentity:
        """Back from `as_dict`; empty where it is none."""
        try:
            return shaped(data, cls)
        except ValueError:
            return cls()

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return asdict(self)

    @property
    def current(self) -> bool:
        """Whether its pid means anything now and here: the same boot, the same namespace."""
        return bool(self.boot) and self.boot == boot_id() and self.namespace == _namespace()

    @property
    def lives(self) -> bool:
        """Whether it surely still runs: the pid alone is never believed."""
        is_known = self.current and self.start is not None
        return (
            is_known and procfs.started(self.pid) == self.start and not procfs.has_ended(self.pid)
        )


def boot_id() -> str:
    """The kernel's name for this boot; "" where it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115  no path: "pid:[4026531836]"
    except OSError:
        return ""

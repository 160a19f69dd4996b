"""Whether bwrap confines on this machine: tried, not looked up. What confinement promises."""

from __future__ import annotations

from hydra.process.sandbox.mounts import (
    NAMESPACES,
    arguments,
    disarmed,
    kernel_mounts,
    late_mounts,
    scratch_mounts,
    system_mounts,
)
from hydra.records.plan import Confinement

WITH_FULL_ACCESS = ("no process that an agent starts itself outlives its lane",)
"""What holds when `Confinement.kind` is `bwrap`, also where the policy is `unrestricted`."""

PROMISES = (
    "only the lane's own folder, an empty HOME and scratch space can be written",
    "of HOME and the machine only the system, tools and what you show are there, read-only",
    "keys, other agents' settings, your checkout and other repositories are not there",
    *WITH_FULL_ACCESS,
)
"""What holds otherwise."""


def trial_argv(program: str, *, private_network: bool = False) -> tuple[str, ...]:
    """A command that succeeds exactly where `confine` can work."""
    early = (*system_mounts(), *kernel_mounts(), *scratch_mounts())
    mounts = arguments((*early, *late_mounts()))
    network = ("--unshare-net",) if private_network else ()
    documents = (*mounts, "--remount-ro", "/", "--unshare-ipc", *network, *disarmed())
    return (program, *documents, *NAMESPACES, "--", "true")


def judge(program: str, exit_code: int | None, stderr: str) -> Confinement:
    """What the trial showed; `exit_code` None means that it did not end in time.

    An empty `program` stands for "bwrap is not installed".
    """
    if not program:
        return Confinement(kind="none", reason="bubblewrap (bwrap) is not installed")
    if exit_code == 0:
        return Confinement(kind="bwrap", program=program, promises=PROMISES)
    if exit_code is None:
        return Confinement(kind="none", reason="bwrap did not end its trial in time")
    return Confinement(kind="none", reason=_reason(stderr))


def _reason(stderr: str) -> str:
    lines = (line for line in stderr.splitlines() if line.strip())
    message = next(lines, "it gave no reason").removeprefix("bwrap: ").strip()
    if "uid map" in message or "RTM_NEWADDR" in message:
        return f"AppArmor does not let bwrap use user namespaces ({message})"
    if "namespace" in message:
        return f"the kernel or the container refuses namespaces to bwrap ({message})"
    if "mount" in message or "pivot_root" in message:
        return f"the container does not let bwrap mount ({message})"
    if "Unknown option" in message:
        return f"bwrap is too old ({message})"
    return f"bwrap does not work here ({message})"

"""The namespaces of a confined command, and what takes root's powers away."""

from __future__ import annotations

import os

NAMESPACES = ("--unshare-pid", "--as-pid-1", "--new-session")
# No --die-with-parent: it fires when the spawning *thread* ends; the keeper's pipe does its work.
# No --disable-userns: Codex's own sandbox nests inside and needs user namespaces.

FENCED = ("--setenv", "HYDRA_SCOPE", "closed")
"""To the keeper: what no mount hides is kept from the agent too (hydra/process/fence.py)."""

_ROOTS_KERNEL_FILES = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr")
"""What uid 0 may write by owning it, capabilities or not: core_pattern alone is a way out."""


def disarmed() -> list[str]:
    """Takes root's powers: bwrap leaves root every capability, and `mount -o remount,rw /` with
    them. SETFCAP stays, or root could map itself into no namespace of its own (Linux 5.12), which
    Codex's sandbox does; what it gives to files counts for nothing in here (no_new_privs).

    In a user namespace of its own, where there can be one, as an ordinary user's command is anyway:
    the key rings of root's sessions belong to the machine's. The keeper's seccomp filter refuses
    their calls too, on five architectures; without the namespace a start is hardly cheaper (0.1 of
    8 ms, measured 2026-11), and any capability that were left would be the machine's.
    """
    if os.geteuid() != 0:
        return []
    files = (name for name in _ROOTS_KERNEL_FILES if os.access(name, os.F_OK))
    covered = [part for name in files for part in ("--ro-bind", name, name)]
    return [*covered, "--unshare-user-try", "--cap-drop", "ALL", "--cap-add", "CAP_SETFCAP"]

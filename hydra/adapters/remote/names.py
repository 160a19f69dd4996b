"""What a lane's place there is called, and which variables go there with its agent. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hydra.adapters.config_dirs import folders_of
from hydra.adapters.contract import Descriptor
from hydra.adapters.environment import matches
from hydra.config.schema import Remote

HOME, WORK = "home", "work"
"""Below a lane's folder there: files of its agent's own, and the worktree's parent."""


def folder_of(remote: Remote, run: str, lane: str, attempt: int = 1) -> str:
    """The folder that an attempt makes there, and removes."""
    tail = f".{attempt}" if attempt > 1 else ""
    return f"{remote.workdir.rstrip('/')}/hydra-{run}-{lane}{tail}"


def carried(
    descriptor: Descriptor, present: Iterable[str], extra: Iterable[str] = ()
) -> tuple[str, ...]:
    """Those of the names in `present` that go there: the agent's own and the user's `extra`.

    What every lane here gets (PATH, HOME, a proxy) says how this machine is set up; so do the
    folders of the agent's settings.
    """
    texts, more = tuple(present), tuple(extra)
    lines = list(descriptor.environment)
    for switch, names in descriptor.environment_if.items():
        if switch in texts:
            lines += names
    folders = {folder.variable for folder in folders_of(descriptor)}
    return tuple(
        name
        for name in texts
        if name.isidentifier()
        and name.isascii()
        and (matches(name, more) or (matches(name, lines) and name not in folders))
    )

"""What a lane elsewhere is, as data: its place there, which variables go there with its agent, how
the agent was found, and what the carrier is told (a JSON file in the lane's home, which holds
names and never secrets)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct, convert, field, to_builtins

from hydra.adapters.config_dirs import folders_of
from hydra.adapters.contract import Descriptor
from hydra.adapters.environment import matches
from hydra.config.schema import Remote
from hydra.records.agent import DetectResult

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


class RemoteDetection(Struct, frozen=True, kw_only=True):
    """What its probes gave there. `root`: it runs as root. `remarks` are sentences for a person."""

    result: DetectResult
    root: bool = False
    remarks: tuple[str, ...] = ()


class RemoteSpec(Struct, frozen=True, kw_only=True):
    """One attempt elsewhere. `folder` is there, `worktree`, `home` and `scratch` are here.

    `argv`, `env` and `files` are as the adapter built them, with paths there; `files` are (path
    there, text). `names` are carried with the values that they have in the carrier's environment.
    `most` bytes may come back.
    """

    remote: Remote
    folder: str
    worktree: str
    home: str
    scratch: str
    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    live: bool = False
    pipe: bool = False
    most: int = 10**9

    def dumps(self) -> bytes:
        """As JSON."""
        return json.dumps(to_builtins(self)).encode()


def loads(text: bytes) -> RemoteSpec:
    """What `dumps` gave."""
    return convert(json.loads(text), RemoteSpec)

"""What the carrier is told: one JSON file in the lane's home. It holds names, never secrets."""

from __future__ import annotations

import json

from msgspec import Struct, convert, field, to_builtins

from hydra.config.schema import Remote


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

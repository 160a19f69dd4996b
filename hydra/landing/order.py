"""What a landing is asked to do to the user's tree and branch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.git.changes import Change
from hydra.git.found import Repository
from hydra.git.standing import WorkTree
from hydra.landing.attributes import Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One move of the user's tree. `changes` lead from what stands there to what shall.

    `ref` (a full name) moves from `head` to `commit`, by `reason` in its reflog; `commit` "" moves
    none. `loose` and `outside` are as in `Look`. `bring` brings the objects that the index and the
    commit name; it runs in a thread, once nothing is in the way. `document` is written to `record`
    when it stands. `exact` are files with what comes back to a path byte for byte, where git would
    write it otherwise.
    """

    id: str
    run: str
    repository: Repository
    patches: Path
    changes: Sequence[Change]
    ref: str
    head: str
    commit: str
    reason: str = ""
    bring: Callable[[], None] = lambda: None
    loose: Collection[bytes] = ()
    outside: Collection[bytes] = ()
    attributes: Mapping[bytes, Attributes] = field(default_factory=dict)
    flags: Mapping[bytes, Sequence[str]] = field(default_factory=dict)
    exact: Mapping[bytes, Path] = field(default_factory=dict)
    record: Path | None = None
    document: Mapping[str, Any] | None = None

    def tree(self, root: Path, index: Path) -> WorkTree:
        """A work tree at `root`, seen with an index of Hydra's."""
        return WorkTree(self.patches, root, index, len(self.head))

"""A lane's ground over a real repository, and what a test asks of it afterwards."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from hydra.adapters.contract import ConfigFolder
from hydra.git import base_commit
from hydra.git import patches as patch_git
from hydra.git.runner import run
from hydra.records.outcome import Patch
from hydra.records.request import Limits
from hydra.workspace.private import LaneWorkspace
from tests.support.trees import agent as agent
from tests.support.trees import fingerprint as fingerprint


@dataclass(frozen=True)
class Race:
    """One run over one repository: its patches.git and where its lanes go."""

    repo: base_commit.Repository
    patches: Path
    state: Path
    base: str
    limits: Limits = field(default_factory=Limits)

    def ground(
        self,
        lane: str = "claude",
        *,
        base: str = "",
        copies: Sequence[str] = (),
        config: ConfigFolder | None = None,
        config_env: str | None = None,
        home: Path | None = None,
        confined: bool = True,
    ) -> LaneWorkspace:
        return LaneWorkspace(
            repository=self.repo,
            base=base or self.base,
            lane=lane,
            run_folder=self.state / "run",
            path=self.state / "g" / lane,
            patches=self.patches,
            home=home or Path(os.environ["HOME"]),
            folders=[(config, config_env)] if config else (),
            confined=confined,
            copies=copies,
            limits=self.limits,
        )

    def opened(self, lane: str = "claude", **document: object) -> LaneWorkspace:
        ground = self.ground(lane, **document)  # type: ignore[arg-type]
        ground.open()
        return ground

    def limited(self, **values: int) -> Race:
        return dataclasses.replace(self, limits=replace(self.limits, **values))


def race_on(root: Path, state: Path, base: str = "HEAD", allow: Sequence[str] = ()) -> Race:
    repository = base_commit.read(root)
    oid = base_commit.resolve(repository, base)
    patches = state / "run" / "patches.git"
    patch_git.create(patches, repository, base=oid, allow=allow)
    return Race(repository, patches, state, oid)


def take(ground: LaneWorkspace, attempt: int = 1) -> Patch:
    return ground.snapshot(attempt=attempt, message="A task\n\nRun: r1")


def files(race: Race, commit: str) -> dict[bytes, bytes]:
    """Every path of a commit to its content; a submodule to its commit's name."""
    listed = run("ls-tree", "-r", "-z", commit, git_dir=race.patches).stdout
    contents = {}
    for entry in listed.split(b"\0")[:-1]:
        head, _, path = entry.partition(b"\t")
        _, kind, oid = head.split()
        if kind == b"commit":
            contents[path] = oid
        else:
            contents[path] = run("cat-file", "blob", oid, git_dir=race.patches).stdout
    return contents


def changes(race: Race, patch: Patch) -> dict[bytes, bytes | None]:
    """What a patch says: path to new content, None for a deletion."""
    old, new = files(race, patch.base), files(race, patch.commit)
    changed: dict[bytes, bytes | None] = {
        path: new.get(path) for path in old.keys() | new.keys() if old.get(path) != new.get(path)
    }
    return changed

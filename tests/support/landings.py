"""A repository, a run over it whose lanes hold patches, and landings from it: no race is run.

The patches are taken by Hydra's own lanes and collector, so they are what a race would leave.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hydra import paths
from hydra.commands import merge_landing as merge
from hydra.commands import merge_undo
from hydra.commands.merge_selection import MergeRequest
from hydra.git import base_commit
from hydra.records.store.files import write_json
from hydra.report.landing import Landing
from tests.conftest import SCRATCH_ROOT, git
from tests.support.faults import Faults
from tests.support.grounds import Race, race_on
from tests.support.trees import Whole as Whole
from tests.support.trees import everything as everything
from tests.support.trees import leftovers as leftovers

RUN = "20261122t000000-abc"

Edits = Callable[[Path], object]
"""What an agent does in its worktree."""


@dataclass
class Shelf:
    """One run's patches on a repository, ready to be landed."""

    repo: Path
    state: Path
    race: Race
    lanes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, repo: Path, scratch: Path, allow: tuple[str, ...] = ()) -> Shelf:
        """An empty run over `repo` as it stands."""
        state = scratch / "state"
        folder = paths.runs_dir(state, base_commit.read(repo).root) / RUN
        race = race_on(repo, folder.parent / "x", allow=allow)
        folder.parent.mkdir(parents=True, exist_ok=True)
        (folder.parent / "x" / "run").rename(folder)
        (folder.parent / "x").rmdir()
        race = Race(race.repo, folder / "patches.git", state, race.base)
        shelf = cls(repo, state, race)
        shelf._record()
        return shelf

    def lane(self, name: str, edits: Edits) -> str:
        """Adds a lane's patch; its commit."""
        ground = self.race.opened(name)
        edits(ground.worktree)
        patch = ground.snapshot(attempt=1, message=f"The task\n\nHydra-Agent: {name} 1.0\n")
        assert not patch.incomplete, patch.incomplete
        ground.remove()
        self.lanes.append(name)
        self._record()
        return patch.commit

    @property
    def environ(self) -> dict[str, str]:
        """For an app function, or for the command."""
        return {**os.environ, "HYDRA_STATE_DIR": str(self.state)}

    def merge(self, lane: str = "", **document: object) -> Landing:
        """`hydra merge`, in this process. The caller stands in the repository."""
        return merge.merge(MergeRequest(lane=lane, environ=self.environ, **document))  # type: ignore[arg-type]

    def undo(self) -> Landing:
        """`hydra merge --undo`."""
        return merge_undo.undo(self.environ)

    def command(
        self, *args: str, wrap: Sequence[str] = (), **more: str
    ) -> subprocess.CompletedProcess[str]:
        """The real command; `wrap` comes before its line, `more` are variables."""
        return subprocess.run(
            [*wrap, sys.executable, "-m", "hydra", *args],
            cwd=self.repo,
            env=self.environ | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def hit(self, *args: str, at: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """The real command with these faults (tests/support/faults.py), each of which comes."""
        faults = Faults(self.state.parent / "calls")
        done = self.command(*args, **faults.environ(at))
        assert faults.came, (faults.calls, done.stderr)
        return done

    def _record(self) -> None:
        folder = self.race.patches.parent
        head = {"schema": 1, "run": RUN, "repository": str(self.repo), "base": self.race.base}
        lanes = [{"lane": lane, "status": "completed"} for lane in self.lanes]
        (folder / "lock").touch()
        write_json(folder / "manifest.json", {**head, "lanes": self.lanes, "head": self.race.base})
        write_json(folder / "result.json", {**head, "lanes": lanes})


_models: dict[object, Shelf] = {}


def laid(scratch: Path, make: Callable[[Path], Shelf]) -> Shelf:
    """What `make` makes of a scratch folder, in this one: made once by each worker, then copied."""
    if make not in _models:
        folder = Path(tempfile.mkdtemp(prefix="hydra-test-", dir=SCRATCH_ROOT))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _models[make] = make(folder)
    model = _models[make]
    top = model.state.parent
    shutil.copytree(top, scratch, symlinks=True, dirs_exist_ok=True)
    repo = scratch / model.repo.relative_to(top)
    git(repo, "update-index", "-q", "--refresh")
    folder = paths.runs_dir(scratch / "state", repo).parent
    (scratch / model.race.patches.relative_to(top)).parents[2].rename(folder)
    for file in folder.rglob("*"):
        if file.is_file() and bytes(top) in (data := file.read_bytes()):
            file.write_bytes(data.replace(bytes(top), bytes(scratch)))
    patches = folder / model.race.patches.relative_to(model.race.patches.parents[2])
    race = Race(base_commit.read(repo), patches, scratch / "state", model.race.base)
    return Shelf(repo, scratch / "state", race, list(model.lanes))

"""Today's ground (docs/decisions.md, 1): private repository, worktree, own home."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hydra.errors import HydraError, Refused
from hydra.git import patches as patch_git
from hydra.git import worktree as lane_git
from hydra.git.attributes import asks_for_lfs, content, runs_lfs
from hydra.git.base_commit import Repository, included
from hydra.git.index import copy_index, refresh, scratch
from hydra.git.lfs_checkout import LfsFiles
from hydra.git.runner import GitError, GitKilled
from hydra.log import get_logger
from hydra.process.sandbox.layers import Placement
from hydra.records.outcome import Patch
from hydra.records.request import Limits
from hydra.shortage import WAITS, is_passing
from hydra.workspace import reports, tree
from hydra.workspace.copies import copy_exact
from hydra.workspace.credentials import ConfigCopies, Named
from hydra.workspace.dependencies import DependencySource, hides_itself
from hydra.workspace.environments import variables
from hydra.workspace.names import LANE_HOME, USER_HOME, worktree_name
from hydra.workspace.renewal import Renewal
from hydra.workspace.set_up import Stamps, left_out, stamped, unchanged
from hydra.workspace.tree import BorrowedObjects

_log = get_logger(__name__)

if TYPE_CHECKING:
    from hydra.git.lane_folder import LaneFolder
    from hydra.git.secret_scan import Count
    from hydra.git.snapshot import Snapshot
    from hydra.git.sources import LaneRepository
    from hydra.git.stranded_work import StrandedReport

RECORD = "ground.json"
"""Beside the index: what is needed to take the patch should Hydra not live to do so."""


class LaneWorkspace:
    """One lane's folder under the state folder: worktree, home, tmp."""

    def __init__(
        self,
        *,
        repository: Repository | None,
        base: str,
        lane: str,
        run_folder: Path,
        path: Path,
        patches: Path,
        limits: Limits,
        home: Path,
        folders: Sequence[Named] = (),
        confined: bool,
        copies: Sequence[str],
        worktree: Path = Path(),
        of_a_lane: bool = False,
        commits: bool = False,
        litter: Sequence[str] = (),
        stamps: Stamps | None = None,
        place: Path | None = None,
        dependencies: DependencySource | None = None,
        python_path: Sequence[str] = (),
        lent: Sequence[Path] = (),
    ) -> None:
        """`folders` are the agent's own, each with the value of its variable. `copies` are paths
        from the repository's root (`check_copies` has passed them); what the user's
        .worktreeinclude names comes along. `of_a_lane`: `base` is what an agent made, so that only
        those content filters run which patches.git holds. `commits`: its agent's own sandbox is to
        let it write its repository. `litter` are names at the worktree's top that the agent makes
        for itself. With `dependencies`, its commands see the worktree at the checkout's path, and
        these there. `python_path` are its folders that PYTHONPATH names.

        Without a `repository` it cannot be opened: it stands already (`standing_ground`), and only
        then `worktree`, `stamps` and `place` are named, and `lent`, the user's objects folders that
        it was made to borrow from."""
        if repository is not None:
            worktree = path / worktree_name(repository.root)
            copies = tuple(dict.fromkeys((*copies, *included(repository))))
            place = repository.root if dependencies is not None else None
        self.worktree = worktree
        self.notes: tuple[str, ...] = ()
        self.empty_submodules: tuple[str, ...] = ()
        self._repository = repository
        self._base = base
        self._lane = lane
        self._folder = path
        self._git_dir = worktree / ".git"
        self._home = path / LANE_HOME
        self._temporary = path / "tmp"
        self._patches = patches
        self._index = run_folder / "lanes" / lane / "index"
        self._record = run_folder / "lanes" / lane / RECORD
        self._refs = run_folder / "lanes" / lane / "refs"
        self._limits = limits
        self._settings = ConfigCopies(folders, home=home, place=path / LANE_HOME)
        self._confined = confined
        self._copies = tuple(copies)
        self._copied = (*self._copies, *litter)
        self._stamps = stamps or {}
        self._of_a_lane = of_a_lane
        self._commits = commits
        self._dependencies = dependencies
        self.placement = Placement(path=place)
        """At the checkout's path, with its dependencies, where something confines its commands."""
        self._python_path = tuple(python_path)
        self._lent = tuple(lent)
        self._noted = ""
        self.unsynced_credentials = False
        """Whether `sync_credentials_back` failed at last, or refused what may be renewed: it is
        here alone."""
        self.reads_only = False
        """Whether its patch is always empty: what its agent writes is named in `wrote`, no more."""
        self.wrote: tuple[str, ...] = ()

    @property
    def writable(self) -> tuple[Path, ...]:
        """One by one and not the ground itself: a mounted folder cannot be swapped for a link."""
        return (self.worktree, self._home, self._temporary)

    @property
    def home_folder(self) -> Path:
        """Beside its own folders, and in none of them: nothing of Hydra's is read from there."""
        return self._folder / USER_HOME

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """Where the copied settings belong, if confinement can lay them there."""
        return self._settings.binds

    @property
    def environment(self) -> Mapping[str, str]:
        """Temporary files and caches go to the lane, by the variables their owners document.

        XDG_CACHE_HOME moves pip, uv, Go's build cache and most others; npm has its own. Cargo's
        home and Go's modules hold more than a cache (tools, settings, what is downloaded
        already), so they move only where the user's own is read-only anyway.
        """
        cache = self._home / ".cache"
        values = {
            "TMPDIR": str(self._temporary),
            "XDG_CACHE_HOME": str(cache),
            "npm_config_cache": str(cache / "npm"),
        }
        if self._confined:
            values["CARGO_HOME"] = str(cache / "cargo")
            values["GOMODCACHE"] = str(cache / "go-mod")
        if self._python_path:
            values["PYTHONPATH"] = ":".join(str(self.worktree / name) for name in self._python_path)
        values |= variables(self.placement.layer.places.values() if self.placement.layer else ())
        # Nothing can be laid over a folder that is not there, or where nothing confines.
        values |= self._settings.missing() if self._confined else self._settings.variables
        return values

    def open(self) -> None:
        """Private repository, worktree, index, submodules, settings, copied files."""
        try:
            self._open()
        except OSError as error:
            raise Refused(
                f"the lane {self._lane} could not be opened: {error}",
                hint=f"see that {self._folder.parent} can be written and the disk has room",
            ) from error

    def changed_since(self, when: float) -> float | None:
        """One walk of the worktree, and of what was installed beside it."""
        layer = self.placement.layer
        for top in (self.worktree, *((layer.upper,) if layer else ())):
            changed = tree.changed_since(top, when)
            if changed is not None:
                return changed
        return None

    def warm_index(self) -> None:
        """Refreshes the collector's index: a snapshot then costs what changed."""
        refresh(self._index, patches=self._patches, worktree=self.worktree)

    def snapshot(self, *, attempt: int, message: str, secrets_in: Count | None = None) -> Patch:
        """Takes the worktree as a commit in patches.git; again where a git of it was killed, or
        had to do without processes or memory. Raises `WorktreeLost`; all other trouble is the
        patch's incomplete. `secrets_in` counts secrets: a file that holds more than before is
        named in the notes."""
        if self.reads_only:
            with suppress(HydraError, OSError):
                written = sorted(self.written())
                self.wrote = tuple(path.decode("utf-8", "backslashreplace") for path in written)
            return Patch(commit=self._base, base=self._base)
        for wait in (*WAITS, None):
            try:
                with scratch(self._index.parent) as place:
                    return self._taken(attempt, message, secrets_in, place, last=wait is None)
            except GitError as failed:
                _log.info("git failed on the snapshot", why=failed.message, again=wait)
                if wait is None or not isinstance(failed, GitKilled):
                    return self._not_taken_for(failed)
            time.sleep(wait)
            patch_git.unlock(self._patches, self._lane)
        raise AssertionError("the last one is given")

    def _not_taken_for(self, failed: GitError) -> Patch:
        """A full disk, a record that was removed, a git that is killed again and again; a checkout
        that was moved away."""
        from hydra.git.missing_objects import without_base

        why = without_base(self._patches, self._base) or failed.message
        notes = (self._kept_here,)
        return Patch(commit=self._base, base=self._base, incomplete=why, notes=notes)

    @property
    def _kept_here(self) -> str:
        return f"its worktree is kept: {self.worktree}"

    def leave_out_set_up(self) -> None:
        """What a set-up has made by now, and no agent changes, is in no patch of it."""
        from hydra.git.status import new_paths

        with suppress(HydraError, OSError):
            new = new_paths(patches=self._patches, worktree=self.worktree, index=self._index)
            self._stamps = stamped(self.worktree, new)
            self._note()

    def _not_taken(self) -> tuple[str, ...]:
        return (*self._copied, *unchanged(self.worktree, self._stamps))

    def written(self) -> tuple[bytes, ...]:
        """What was written into the worktree since it was opened, by name: changed tracked files,
        and new ones that are not ignored. Raises `GitFailed`."""
        from hydra.git.status import written  # only checks ask

        return written(
            patches=self._patches,
            worktree=self.worktree,
            index=self._index,
            exclude=self._not_taken(),
        )

    def side_file(self, pattern: str) -> bytes:
        """From the settings' copies, else from the lane's own folder beside the worktree."""
        return self._settings.side_file(pattern) or reports.newest(self._home, pattern)

    def credentials_changed(self) -> bool:
        """A look at the copies' inode, size and mtime."""
        return self._settings.changed()

    def sync_credentials_back(self, *, refused: bool = False) -> None:
        """Renewed tokens go to the user's folder, unless the user's own have moved; `refused`: by
        the lane's own word its service refused the sign-in."""
        self.unsynced_credentials = True
        self._settings.give_back(refused=refused)
        self._note()
        self.unsynced_credentials = self._settings.withheld

    def sign_in_notices(self, *, last: bool = False) -> Sequence[Renewal]:
        """What went back since this was last called; at `last` also what is refused, which might
        have gone back later (a refusal of the service is seen after its renewal)."""
        return self._settings.sign_in_notices(last=last)

    def refresh_credentials(self) -> None:
        """The user's credentials, moved since, into this lane."""
        self._settings.take_in()
        self._note()

    def was_opened(self) -> bool:
        """Whether somebody may have stood in it, whatever the events tell: its own note is there,
        which comes when the checkout is done."""
        return self._record.exists() and self.worktree.exists()

    def remove_secrets(self, but: Iterable[str] = ()) -> None:
        """All of its home but the files that are named and the caches: what was installed into the
        worktree may lead there."""
        tree.empty(self._home, but=(".cache", *but))
        for folder in self._folder.glob(f"{USER_HOME}*"):
            if folder != self.worktree and not folder.is_symlink():
                tree.remove(folder)

    def remove(self) -> None:
        """Worktree, repository and home, whatever permissions the agent left; never the record or
        the patches. Raises `OSError`."""
        _log.debug("ground is removed", ground=self._folder)
        if layer := self.placement.layer:
            self.placement = replace(self.placement, layer=layer.unmounted())
        tree.remove(self._folder)

    def _note(self) -> None:
        lent, place = self._settings.lent(), str(self.placement.path or "")
        objects = [str(folder) for folder in self._lent]
        own = {"copies": self._copied, "set_up": self._stamps}
        text = json.dumps({**own, "config": lent, "place": place, "objects": objects})
        if text != self._noted:
            half = self._record.with_suffix(".new")
            half.touch(mode=0o600)
            half.write_text(text)
            half.replace(self._record)
            self._noted = text

    def _open(self) -> None:
        assert self._repository is not None
        # An earlier attempt's: it would make half a checkout look like an agent's work.
        self._record.unlink(missing_ok=True)
        self._folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        for folder in (self._home, self._temporary, self._home / ".cache"):
            folder.mkdir(mode=0o700, exist_ok=True)
        if self._confined:
            self._lead_cargo_home()
        self.worktree.mkdir(exist_ok=True)
        drivers = patch_git.drivers(self._patches) if self._of_a_lane else None
        borrowed = BorrowedObjects(self._folder / "borrowed", self.placement.path is not None)
        lane_git.make(self._git_dir, self._repository, drivers=drivers, alias=borrowed.alias)
        head = self._repository.head
        nearest = lane_git.bring(self._git_dir, self._patches, self._base, head)
        files = LfsFiles()
        if runs_lfs(self._patches) and asks_for_lfs(self._patches, self._base):
            files = LfsFiles.of(self._git_dir, self._base, self._repository, self._patches)
        pointers = lane_git.checkout(
            self._git_dir,
            self.worktree,
            self._base,
            branch=self._repository.branch if nearest == head else None,
            files=files,
            isolated=self._of_a_lane,
        )
        copy_index(self._git_dir / "index", self._index)
        shutil.copyfile(self._git_dir / "packed-refs", self._refs)
        inside = (self.placement.path or self.worktree) / ".git"
        empty, more = lane_git.fill_submodules(
            self._git_dir, self.worktree, self._base, self._repository, inside, borrowed.alias
        )
        lane_git.connect(self._git_dir, self._repository, inside)
        self._lent = tuple(borrowed.folders)
        self._stand(borrowed)
        self._settings.make(self.placement.path, inside if self._commits else None)
        self.notes += self._settings.notes
        if empty:
            names = ", ".join(empty)
            what = "submodules that are not initialised stay empty"
            self.notes += (f"{what}: {names} (git submodule update --init)",)
            self.empty_submodules = empty
        if pointers := pointers + more:
            what = "files of Git LFS that were never fetched stay pointers"
            self.notes += (f"{what}: {pointers} (git lfs pull)",)
        self._note()
        copy_exact(self._repository.root, self.worktree, self._copies)

    def _lead_cargo_home(self) -> None:
        """Cargo looks for its settings in CARGO_HOME: those of the HOME inside lead there."""
        folder = self._home / ".cache" / "cargo"
        folder.mkdir(mode=0o700, exist_ok=True)
        for name in ("config.toml", "config"):
            if not os.path.lexists(folder / name):
                (folder / name).symlink_to(self._settings.home / ".cargo" / name)

    def _stand(self, borrowed: BorrowedObjects) -> None:
        """What its commands see at the checkout's path."""
        place = self.placement.path
        if place is None:
            return
        layer = None
        if self._dependencies is not None:
            dependencies = self._dependencies()
            dependencies.copy_files(self.worktree)
            self.notes += dependencies.notes
            layer = dependencies.layer(self._folder / "layer", self.worktree, place)
        self.placement = Placement(path=place, layer=layer, borrowed=borrowed.names)

    def _taken(
        self,
        attempt: int,
        message: str,
        secrets_in: Count | None,
        scratch: Path,
        *,
        last: bool,
    ) -> Patch:
        from hydra.analysis.notices.notice import remarks
        from hydra.git import snapshot as collector  # not before: agents would wait for it
        from hydra.git.lane_folder import LaneFolder, MountedTree
        from hydra.git.patch_facts import touched
        from hydra.git.secret_scan import noted

        mounted = MountedTree(self.worktree, self.placement.path or self.worktree)
        lane = LaneFolder(self._folder, mounted, scratch, self._lent, self._home)
        sources = self._sources(lane)
        taken = collector.collect(
            patches=self._patches,
            worktree=self.worktree,
            base=self._base,
            index=self._index,
            exclude=self._not_taken(),
            limits=self._limits,
            lane=lane,
            sources=sources,
        )
        # Imported here: it takes longer than a race needs to its agents' start.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as beside:
            counted = beside.submit(
                copy_context().run, touched, self._patches, self._base, taken.tree
            )
            # Before any ref says to a recovery that all of this attempt is taken.
            work = self._stranded(attempt, taken, lane, sources, last=last)
            exposed = self._exposed()
            behind = taken.left_behind + work.left_behind + len(exposed)
            oid = patch_git.commit(
                self._patches,
                tree=taken.tree,
                base=self._base,
                lane=self._lane,
                attempt=attempt,
                message=message,
                incomplete=taken.incomplete,
                behind=behind > 0,
            )
        stats, files = counted.result()
        config = self._repository.config if self._repository else {}
        return Patch(
            commit=oid,
            base=self._base,
            files=len(stats),
            insertions=sum(added or 0 for _, added, _ in stats),
            deletions=sum(deleted or 0 for _, _, deleted in stats),
            incomplete=taken.incomplete,
            notes=(
                *taken.notes,
                *left_out(unchanged(self.worktree, self._stamps)),
                *work.notes,
                *exposed,
                *noted(self._patches, self._base, oid, secrets_in),
                *((self._kept_here,) if taken.incomplete or behind else ()),
            ),
            left_behind=behind,
            stranded=work.refs,
            remarks=remarks(files, config.get("core.hookspath", "")),
        )

    def _exposed(self) -> tuple[str, ...]:
        """A sentence for each dependency folder in which its agent has made work of the project:
        it wrote there, and git no longer ignores it. That lies in the layer alone."""
        from hydra.git.status import exposed

        layer = self.placement.overlaid
        written = [] if layer is None else layer.written(self.placement.path)
        folders = [
            name
            for name in written
            if layer and not hides_itself(layer.upper / name, layer.lower / name)
        ]
        names = exposed(patches=self._patches, worktree=self.worktree, folders=folders)
        return tuple(f"{name} is no longer ignored, and not in the patch" for name in names)

    def _stranded(
        self,
        attempt: int,
        taken: Snapshot,
        lane: LaneFolder,
        sources: Sequence[LaneRepository],
        *,
        last: bool,
    ) -> StrandedReport:
        from hydra.git import stranded, stranded_work

        work = stranded.LaneSources(
            patches=self._patches,
            lane=lane,
            base=self._base,
            taken=taken,
            name=f"{self._lane}/{attempt}",
            limits=self._limits,
            exclude=self._not_taken(),
            sources=tuple(sources),
        )
        try:
            return stranded.keep(work)
        except (GitError, OSError) as failed:
            if is_passing(failed) if isinstance(failed, OSError) else not last:
                raise
            # The patch itself stands.
            return stranded_work.StrandedReport(
                (f"its other work could not be looked at: {failed}",), 1
            )

    def _sources(self, lane: LaneFolder) -> tuple[LaneRepository, ...]:
        """The agent's own repository, with the refs that its lane was made with."""
        from hydra.git import sources, stranded_work

        return sources.lane_sources(lane, stranded_work.handed(content(self._refs)))

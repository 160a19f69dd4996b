"""Repositories inside the lane's tree: their files are taken, their gitdirs never asked.

`git add -A` keeps only a link to a nested repository, and stops altogether at one without a
commit. A submodule of the base stays the link it was while its files are those of the recorded
commit; once they differ, its files are taken, or the agent's work in it would be lost.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hydra.git.bare_repo import borrow_objects
from hydra.git.diff import links_in
from hydra.git.forced_files import inner_names
from hydra.git.repository import modules, objects_folders
from hydra.git.runner import GitFailed, Result, join, run, split
from hydra.git.snapshot_state import SnapshotSession
from hydra.git.sources import LaneRepository, inner_git_dir, inner_source
from hydra.git.tree_scan import files_under, first_paths, shown

_SUBMODULE_LIMIT = 20.0
"""Seconds for one git command that reads objects an agent could have written."""


def expand(session: SnapshotSession, others: list[bytes]) -> list[bytes]:
    """Untracked paths with each nested repository (`name/`) replaced by its files."""
    others = _without_stores(session, _with_mounted(session, others))
    files = [path for path in others if not path.endswith(b"/")]
    for folder in others:
        if folder.endswith(b"/"):
            session.notes.append(f"a repository inside the tree, taken as files: {shown(folder)}")
            inside = list(files_under(session.top, folder, session.survey))
            files += worth_taking(session, folder, inside)
    return files


def _without_stores(session: SnapshotSession, others: list[bytes]) -> list[bytes]:
    """Without what belongs to the lane's own repository where its agent has moved or copied it into
    the tree: such a one borrows the user's objects, as no project's own does."""
    sources = {os.path.realpath(source.git_dir) for source in session.sources}
    for store in session.survey.stores:
        rest = [path for path in others if not path.startswith(store)]
        place = os.path.realpath(session.full(store))
        lent = session.lane is not None and session.lane.was_lent(Path(os.fsdecode(place)))
        if len(rest) == len(others) or not lent:
            continue
        others = rest
        is_own = os.fsdecode(place) in sources
        session.left_behind += not is_own
        what = "the lane's repository" if is_own else "a copy of the lane's repository"
        session.notes.append(f"not in the patch, being {what}: {shown(store)}")
    return others


def _with_mounted(session: SnapshotSession, others: list[bytes]) -> list[bytes]:
    """The same, where git takes a repository for a folder: its .git file has a path that is good
    where the lane's commands had the tree, and not here."""
    folders = [
        folder for folder in sorted(session.survey.repositories) if _is_elsewhere(session, folder)
    ]
    if not folders:
        return others
    tracked = session.paths("ls-tree", "-r", "-z", "--name-only", session.base)
    for folder in folders:
        inside = any(folder.startswith(path) for path in others if path.endswith(b"/"))
        if inside or any((path + b"/").startswith(folder) for path in tracked):
            continue
        if unignored(session, [folder.rstrip(b"/")]):
            others = [*(path for path in others if not path.startswith(folder)), folder]
    return others


def _is_elsewhere(session: SnapshotSession, path: bytes) -> bool:
    folder = Path(os.fsdecode(session.full(path)))
    text = os.path.normpath(inner_git_dir(folder, None))
    return text != str(inner_git_dir(folder, session.mounted)) and is_repository(session, path)


def worth_taking(session: SnapshotSession, folder: bytes, paths: list[bytes]) -> list[bytes]:
    """Those files of a repository inside the tree that no rule ignores, or that its index has.

    What only its own rules ignore is named: nobody but the agent has made these.
    """
    top = folder.rstrip(b"/") + b"/"
    tracked = frozenset(top + name for name in inner_names(session, source_of(session, folder)))
    taken = frozenset(unignored(session, paths)) | tracked
    if ignored := _by_own_rules(session, top, [path for path in paths if path not in taken]):
        session.left_behind += len(ignored)
        session.notes.append(
            f"not in the patch, as the repository {shown(top)} ignores it: {first_paths(ignored)}"
        )
    return [path for path in paths if path in taken]


def _by_own_rules(session: SnapshotSession, top: bytes, ignored: list[bytes]) -> list[bytes]:
    if not ignored:
        return []
    arguments = ("check-ignore", "--no-index", "--verbose", "-z", "--stdin")
    fields = split(session.git(*arguments, stdin=join(ignored), check=False).stdout)
    matches = zip(fields[::4], fields[3::4], strict=True)
    return [path for source, path in matches if source.startswith(top)]


def source_of(session: SnapshotSession, folder: bytes) -> LaneRepository | None:
    """The repository in a folder of the tree, if it is one of this lane's."""
    if session.lane is None:
        return None
    return inner_source(session.lane, session.worktree, folder)


def seen_repositories(session: SnapshotSession) -> list[tuple[bytes, tuple[str, ...]]]:
    """The repositories in the tree that no rule ignores, with the commits that the base and the
    patch name."""
    folders = session.survey.repositories
    if not folders:
        return []
    recorded = links_in(session.git("ls-tree", "-r", "-z", session.base).stdout)
    plain = unignored(session, [folder.rstrip(b"/") for folder in folders])
    for folder in plain:
        if not is_repository(session, folder):
            session.left_behind += 1
            session.notes.append(
                f"not in the patch, git refuses the name: {shown(folder + b'/.git')}"
            )
    named = {folder: (recorded.get(folder), session.moved.get(folder)) for folder in plain}
    return [(folder, tuple(filter(None, oids))) for folder, oids in named.items()]


def is_repository(session: SnapshotSession, path: bytes) -> bool:
    """Whether its .git is one to git; as one of a test's files it may be anything."""
    folder = Path(os.fsdecode(session.full(path)))
    return os.path.exists(inner_git_dir(folder, session.mounted) / "HEAD")  # noqa: PTH110


def unignored(session: SnapshotSession, paths: list[bytes]) -> list[bytes]:
    """Those that no ignore rule of the tree or the user names."""
    if not paths:
        return []
    terms = ("check-ignore", "--no-index", "-z", "--stdin")
    result = session.git(*terms, stdin=join(paths), check=False)
    if result.code not in (0, 1):
        return paths
    ignored = frozenset(result.stdout.split(b"\0"))
    return [path for path in paths if path not in ignored]


def gitlinks(session: SnapshotSession) -> dict[bytes, str]:
    """Path to recorded commit, for each submodule in the index."""
    return links_in(session.git("ls-files", "--stage", "-z").stdout)


class SubmoduleCheck:
    """Compares a submodule's files with a commit, submodules inside it too.

    A throw-away gitdir with the collector's settings borrows every objects folder in which the
    commit may be, the agent's own included: nothing that is written there stays, nothing of the
    agent's configuration is read, and a short limit answers what would take for ever.
    """

    def __init__(self, session: SnapshotSession) -> None:
        self._session = session

    def holds(self, path: bytes, oid: str) -> bool:
        """Whether the files under `path` are those of commit `oid`; False where unknown."""
        folder = Path(os.fsdecode(self._session.full(path)))
        place = self._session.index.parent
        with tempfile.TemporaryDirectory(dir=place, prefix="module-") as name:
            git_dir = Path(name)
            try:
                self._prepare(git_dir, path, oid)
                return self._same(git_dir, folder, path, oid)
            except (GitFailed, OSError):
                return False

    def _prepare(self, git_dir: Path, path: bytes, oid: str) -> None:
        kind = f"--object-format={'sha256' if len(oid) == 64 else 'sha1'}"
        run("init", "--quiet", "--bare", "--template=", kind, git_dir, cwd=git_dir)
        shutil.copyfile(self._session.patches / "config", git_dir / "config")
        borrow_objects(git_dir, _objects(self._session, path))

    def _same(self, git_dir: Path, folder: Path, path: bytes, oid: str) -> bool:
        def git(*args: str) -> Result:
            return run(
                *args,
                git_dir=git_dir,
                work_tree=folder,
                index=git_dir / "index",
                isolated=True,
                timeout=_SUBMODULE_LIMIT,
                check=False,
            )

        if git("read-tree", oid).code != 0:
            return False
        git("update-index", "-q", "--ignore-submodules", "--refresh")
        if git("diff-files", "--quiet", "--ignore-submodules=all").code != 0:
            return False
        others = split(git("ls-files", "--others", "--exclude-standard", "-z").stdout)
        if unignored(self._session, [path + b"/" + name for name in others]):
            return False  # nor do the rules above it name that
        if self._added(path).intersection(split(git("ls-files", "--others", "-z").stdout)):
            return False
        inner = links_in(git("ls-files", "--stage", "-z").stdout)
        return all(
            self.holds(path + b"/" + name, recorded)
            for name, recorded in inner.items()
            if any(files_under(self._session.top, path + b"/" + name, self._session.survey))
        )

    def _added(self, path: bytes) -> frozenset[bytes]:
        """What the agent has in the index of its own checkout, also by force."""
        return inner_names(self._session, source_of(self._session, path))


def _objects(session: SnapshotSession, path: bytes) -> list[Path]:
    """Where a submodule's objects may lie: the run's, the user's, the agent's own copy."""
    places = list(objects_folders(session.patches / "objects"))
    for users in places[1:]:
        for git_dir in (users.parent, *users.parent.glob("worktrees/*")):
            places += modules(git_dir / "modules")
    source = source_of(session, path)
    return [*places, source.objects] if source else places

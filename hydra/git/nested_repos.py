"""Repositories inside the lane's tree: their files are taken, their gitdirs never asked.

`git add -A` keeps only a link to a nested repository, and stops altogether at one without a
commit. A submodule of the base stays the link it was while its files are those of the recorded
commit; once they differ, its files are taken, or the agent's work in it would be lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.git.diff import links_in
from hydra.git.forced_files import inner_names
from hydra.git.runner import join, split
from hydra.git.snapshot_state import SnapshotSession
from hydra.git.sources import LaneRepository, inner_git_dir, inner_source
from hydra.git.tree_scan import files_under, first_paths, shown


def expand(session: SnapshotSession, others: list[bytes]) -> list[bytes]:
    """Untracked paths with each nested repository (`name/`) replaced by its files."""
    others = _without_stores(session, _with_mounted(session, others))
    folders = [path for path in others if path.endswith(b"/")]
    for folder in folders:
        session.notes.append(f"a repository inside the tree, taken as files: {shown(folder)}")
    inside = {folder: list(files_under(session.top, folder, session.survey)) for folder in folders}
    files = [path for path in others if not path.endswith(b"/")]
    return files + worth_taking(session, inside)


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


def worth_taking(session: SnapshotSession, inside: Mapping[bytes, Sequence[bytes]]) -> list[bytes]:
    """Those files of repositories inside the tree, each with all of its files, that no rule
    ignores, or that its index has.

    What only its own rules ignore is named: nobody but the agent has made these.
    """
    paths = [path for files in inside.values() for path in files]
    taken = set(unignored(session, paths))
    for folder in inside:
        top = folder.rstrip(b"/") + b"/"
        taken |= {top + name for name in inner_names(session, source_of(session, folder))}
    rules = _rules(session, [path for path in paths if path not in taken])
    for folder, files in inside.items():
        top = folder.rstrip(b"/") + b"/"
        if ignored := [path for path in files if rules.get(path, b"").startswith(top)]:
            session.left_behind += len(ignored)
            session.notes.append(
                f"not in the patch, as the repository {shown(top)} ignores it: "
                f"{first_paths(ignored)}"
            )
    return [path for path in paths if path in taken]


def _rules(session: SnapshotSession, ignored: list[bytes]) -> dict[bytes, bytes]:
    """Where the rule stands that ignores each of these paths."""
    if not ignored:
        return {}
    arguments = ("check-ignore", "--no-index", "--verbose", "-z", "--stdin")
    fields = split(session.git(*arguments, stdin=join(ignored), check=False).stdout)
    return dict(zip(fields[3::4], fields[::4], strict=True))


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

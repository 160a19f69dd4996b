"""The user's repository before the race: what it is, what it says of files, its pinned base.

Everything else of it stays byte for byte: the one thing that is ever written there is the ref
refs/hydra/RUN/base, which keeps `git gc` from taking the base away under a race.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from hydra.containment import EscapeError, locate
from hydra.errors import Refused, UsageError
from hydra.git.attributes import filters, lfs_missing, settings, unread
from hydra.git.index import copy_users_index
from hydra.git.patches import commit_tree
from hydra.git.repository import Repository, read
from hydra.git.runner import GitFailed, join, run, split
from hydra.git.user_refs import addresses
from hydra.records.request import Limits


def regular_files(repo: Repository, oid: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that are regular files at `oid`, in their own order; no symlinks."""
    if not names:
        return ()
    output = run("ls-tree", "-z", oid, "--", *names, cwd=repo.root, check=False).stdout
    texts = {
        path.decode("utf-8", "surrogateescape")
        for mode, path in (_entry(line) for line in split(output))
        if mode.startswith(b"100")
    }
    return tuple(name for name in names if name in texts)


def _entry(line: bytes) -> tuple[bytes, bytes]:
    facts, _, path = line.partition(b"\t")
    return facts.split(b" ")[0], path


__all__ = [
    "Dirty",
    "Repository",
    "about",
    "check_copies",
    "dirty",
    "dirty_base",
    "filters",
    "ignored",
    "ignored_names",
    "included",
    "lfs_missing",
    "pin",
    "read",
    "resolve",
    "settings",
    "tracked",
    "unpin",
    "unread",
    "untracked",
]

INCLUDE_FILE = ".worktreeinclude"
"""Names ignored files that belong into every worktree, in .gitignore's syntax."""


class Dirty(NamedTuple):
    """How many files of the user's tree are not as in HEAD."""

    tracked: int
    untracked: int

    def __bool__(self) -> bool:
        return bool(self.tracked or self.untracked)


def resolve(repo: Repository, ref: str) -> str:
    """The commit that `ref` names, in full. Raises `UsageError` where there is none."""
    if ref == "HEAD":
        return repo.head
    terms = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    result = run(*terms, cwd=repo.root, check=False) if ref else None
    if result is None or result.code != 0:
        raise UsageError(
            f"there is no commit called {ref!r} in {repo.root}",
            hint="see what there is: git log --oneline --all",
        )
    return result.line


def dirty(repo: Repository) -> Dirty:
    """Counts changed and untracked files; the user's index is not even refreshed."""
    result = run(
        *("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty"),
        "--no-renames",
        cwd=repo.root,
        timeout=300,
    )
    kinds = [entry[:1] for entry in split(result.stdout)]
    untracked = kinds.count(b"?")
    return Dirty(tracked=len(kinds) - untracked, untracked=untracked)


class Bulk(NamedTuple):
    """Untracked files of the user's tree that git does not ignore, in one folder of its top."""

    folder: str
    files: int
    size: int


def bulk(repo: Repository) -> tuple[Bulk, ...]:
    """The same by folder, the largest first; `size` in bytes, links as their own."""
    listed = split(
        run("ls-files", "--others", "--exclude-standard", "-z", cwd=repo.root, timeout=300).stdout
    )
    sizes: dict[bytes, list[int]] = {}
    for path in listed:
        with suppress(OSError):  # it went since
            size = (repo.root / os.fsdecode(path)).lstat().st_size
            sizes.setdefault(path.partition(b"/")[0], []).append(size)
    folders = (Bulk(os.fsdecode(name), len(all_), sum(all_)) for name, all_ in sizes.items())
    return tuple(sorted(folders, key=lambda folder: -folder.size))


def pin(repo: Repository, run_id: str, oid: str) -> None:
    """Keeps `oid` from `git gc` for one run. Raises `Refused` where the repository is read-only."""
    try:
        run("update-ref", "--no-deref", _pin_ref(run_id), oid, cwd=repo.root)
    except GitFailed as failed:
        if run("cat-file", "-e", oid, cwd=repo.root, check=False).code != 0:
            raise Refused(
                f"the commit {oid[:12]} went away as the race began: its branch was moved, and a "
                "git gc took it",
                hint="race again",
            ) from failed
        raise Refused(
            f"the base cannot be kept from git gc: {failed.result.reason}",
            hint=f"Hydra writes one ref a run under {repo.common_dir}/refs/hydra: let it",
        ) from failed


def unpin(repo: Repository, run_id: str, oid: str) -> None:
    """Takes the pin away; nothing happens where there is none, or where it is not at `oid`."""
    run("update-ref", "--no-deref", "-d", _pin_ref(run_id), oid, cwd=repo.root, check=False)
    with suppress(OSError):
        (repo.common_dir / _pin_ref(run_id)).parent.rmdir()  # where git had only locked it
    with suppress(OSError):
        (repo.common_dir / "refs" / "hydra").rmdir()  # stays while another run is pinned


def dirty_base(repo: Repository, patches: Path, head: str, limits: Limits) -> str:
    """The user's tree as it stands, as a commit on `head` in patches.git.

    Neither the user's index nor their objects are written. Repositories inside the tree and
    changes in submodules stay out. Raises `Refused` where something could not be taken.
    """
    from hydra.git.snapshot import collect  # few races need it before their agents run

    index = patches / "base-index"
    copy_users_index(repo, index)
    taken = collect(
        patches=patches, worktree=repo.root, base=head, index=index, limits=limits, nested=False
    )
    index.unlink(missing_ok=True)
    if taken.incomplete:
        raise Refused(
            f"your uncommitted changes cannot all be taken: {taken.incomplete}",
            hint="commit or ignore what is named, or race from HEAD without --include-dirty",
        )
    message = "Uncommitted changes, as the race began"
    return commit_tree(patches, tree=taken.tree, base=head, message=message)


def check_copies(
    repo: Repository, copies: Sequence[str], *, text: str = "--copy"
) -> tuple[str, ...]:
    """What is to be copied, as paths from the root. Raises `UsageError` for what cannot be; `text`
    is what has named them: a flag, or a file and its key."""
    return tuple(_checked_copy(repo, named, text) for named in copies)


def included(repo: Repository) -> tuple[str, ...]:
    """The ignored files of the user's tree that its .worktreeinclude names."""
    if not (repo.root / INCLUDE_FILE).is_file():
        return ()
    terms = ("ls-files", "-z", "--others", "--ignored", f"--exclude-from={INCLUDE_FILE}")
    named = split(run(*terms, cwd=repo.root).stdout)
    if not named:
        return ()
    # Only what git ignores: a file that is merely new belongs to --include-dirty.
    stdin = join(named)
    result = run("check-ignore", "-z", "--stdin", cwd=repo.root, stdin=stdin, check=False)
    return tuple(os.fsdecode(path) for path in split(result.stdout))


def ignored(repo: Repository) -> list[bytes]:
    """What git ignores in the user's tree: files, and folders (with a `/` at the end) of which it
    holds nothing, without what is in them. So is a folder that hides itself: what makes
    environments and caches lays a `.gitignore` in there, which hides that file as well."""
    terms = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    names = split(run(*terms, cwd=repo.root).stdout)
    rules = b"/.gitignore"
    folders = [name.removesuffix(rules[1:]) for name in names if name.endswith(rules)]
    if not folders:
        return names
    options = (
        "--literal-pathspecs",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    )
    own = split(run(*options, "--", *folders, cwd=repo.root).stdout)
    whole = {*folders}.difference(above for name in own for above in _above(name))
    return [*(name for name in names if whole.isdisjoint(_above(name))), *sorted(whole)]


def _above(name: bytes) -> Iterator[bytes]:
    """The folders that it lies in, each with a `/` at the end."""
    return (name[: at + 1] for at, letter in enumerate(name[:-1]) if letter == ord("/"))


def tracked(repo: Repository, names: Sequence[str]) -> list[str]:
    """Those of `names`, from the top, that git holds."""
    if not names:
        return []
    result = run("--literal-pathspecs", "ls-files", "-z", "--", *names, cwd=repo.root)
    return [os.fsdecode(path) for path in split(result.stdout)]


def untracked(repo: Repository) -> list[bytes]:
    """What git does not know in the user's tree and does not ignore, listed as `ignored` does."""
    terms = ("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    return split(run(*terms, cwd=repo.root).stdout)


def namesakes(repo: Repository, name: str) -> list[str]:
    """Ignored files and folders of the user's tree that are called `name`: the three least deep."""
    paths = [PurePosixPath(os.fsdecode(path)) for path in ignored(repo)]
    same = [path for path in paths if path.name == name]
    return [str(path) for path in sorted(same, key=lambda path: len(path.parts))[:3]]


def ignored_names(worktree: Path, names: Sequence[PurePosixPath]) -> list[PurePosixPath]:
    """Those of `names`, folders that need not be there, that git ignores in a lane's worktree."""
    if not names:
        return []
    stdin = join([os.fsencode(f"./{name}/") for name in names])  # a name may begin with `:`
    result = run("check-ignore", "-z", "--stdin", cwd=worktree, stdin=stdin, check=False)
    return [PurePosixPath(os.fsdecode(path)) for path in split(result.stdout)]


def about(repo: Repository, oid: str) -> dict[str, object]:
    """What the record and doctor say of the repository; off the hot path (imports GitPython).

    A trusted read of the user's own gitdir, before any agent runs.
    """
    from git import Repo

    with Repo(repo.root) as repository:
        # GitPython's children inherit GIT_DIR and its like from Hydra's own environment.
        repository.git.update_environment(
            GIT_DIR=str(repo.git_dir),
            GIT_WORK_TREE=str(repo.root),
            GIT_INDEX_FILE=str(repo.git_dir / "index"),
            GIT_OBJECT_DIRECTORY=str(repo.common_dir / "objects"),
            GIT_OPTIONAL_LOCKS="0",
        )
        # As text and not as a Commit: GitPython's objects know no SHA-256.
        terms = ("-1", "--no-show-signature", "--format=%s%x00%an%x00%aI", oid)
        subject, author, date = repository.git.log(*terms).split("\0")
        return {
            "root": str(repo.root),
            "base": oid,
            "subject": subject,
            "author": author,
            "date": date,
            "branch": repo.branch,
            "remotes": addresses(repo),
            "tags": len(repository.tags),
            "object_format": repo.object_format,
            "shallow": repo.shallow,
            "linked": repo.linked,
        }


def _pin_ref(run_id: str) -> str:
    return f"refs/hydra/{run_id}/base"


def _checked_copy(repo: Repository, named: str, text: str) -> str:
    path = PurePosixPath(os.path.normpath(named)) if named else PurePosixPath(".")
    if path.is_absolute() or path.parts[:1] in ((), ("..",), (".git",)):
        raise UsageError(
            f"{text} takes a path inside the repository, from its root: {named!r}",
            hint="for example --copy .env",
        )
    if not os.path.lexists(repo.root / path):
        near = " or ".join(namesakes(repo, path.name))
        hint = f"did you mean {near}?" if near else f"in {repo.root}"
        raise UsageError(f"{text} names a file that is not there: {named}", hint=hint)
    _check_way(repo, named, path, text)
    tracked = run("ls-files", "-z", "--", f":(top,literal){path}", cwd=repo.root).stdout
    if tracked:
        raise UsageError(
            f"{text} names a tracked file, which every lane has anyway: {named}",
            hint="hydra race --include-dirty brings its uncommitted changes",
        )
    return str(path)


def _check_way(repo: Repository, named: str, path: PurePosixPath, text: str) -> None:
    """Before a run is made; the copy itself goes the same way without a link."""
    try:
        way = locate(repo.root, path)
    except EscapeError as error:
        raise UsageError(
            f"{text} names a path outside the repository: {named}; {error}",
            hint="name what lies in the repository itself",
        ) from error
    if ".git" in (part.lower() for part in way.parts[:1]):
        raise UsageError(f"{text} leads into .git through a link: {named}", hint="leave it out")

"""A lane's worktree, the main one of a repository of its own: all an agent does to git stays there.

Its `.git` is a folder, as in the user's checkout, and names no path outside of the lane but that of
the objects which it borrows.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from hydra.errors import Exhausted, Refused
from hydra.git import attributes as frozen
from hydra.git import bare_repo
from hydra.git.background import Later
from hydra.git.diff import links_in, module_folders
from hydra.git.index import may_hold_gitlinks
from hydra.git.lfs_checkout import LfsFiles
from hydra.git.repository import Repository, read
from hydra.git.runner import GitFailed, run
from hydra.git.user_refs import UserRefs, remotes

_CHECKOUT_LIMIT = 900.0
"""Seconds for one checkout: a large tree on a slow disk, or LFS's files."""

_OWN = (
    ("commit.gpgsign", "false"),
    ("tag.gpgsign", "false"),
    ("core.bare", "false"),
    ("core.logallrefupdates", "true"),
    ("core.fsmonitor", "false"),
    ("index.sparse", "false"),
    ("advice.detachedhead", "false"),
)
"""The agent's own commits work without the user's keys; its reflog can bring work back."""

_OWN_COMMITS = 4
"""Commits of Hydra's own, one on another, before one of the user's comes: what is to be checked, a
lane's patch, the changes that a race began from."""

_NO_FILES = LfsFiles()

_MISSING = re.compile(r"^error: unable to read sha1 file of (.*) \(([0-9a-f]+)\)$", re.MULTILINE)
"""What git says of each file whose content a partial clone never fetched."""


def make(
    git_dir: Path,
    repo: Repository,
    *,
    drivers: frozen.Settings | None = None,
    alias: bare_repo.Alias = bare_repo.as_they_are,
) -> None:
    """Makes a lane's repository: the user's objects, branches, tags, name and words on files.

    With `drivers` these are the only content filters that a checkout in it can run: what is
    checked out may name any, being an agent's.
    """
    refs = Later(partial(UserRefs.read, repo))
    config, attributes = _config(repo), b""
    if drivers is not None:
        config = (*_OWN, *frozen.identity(repo), *drivers)
        attributes = frozen.no_others(drivers)
    bare_repo.make(git_dir, repo, alias=alias, config=config, attributes=attributes)
    (git_dir / "hooks").mkdir(exist_ok=True)
    refs.result().write(git_dir)


def checkout(
    git_dir: Path,
    worktree: Path,
    base: str,
    *,
    branch: str | None = None,
    files: LfsFiles = _NO_FILES,
    isolated: bool = False,
) -> int:
    """Checks `base` out, on a `branch` of that name; how many of its files are pointers that LFS
    never fetched. Raises `Refused` with the reason.

    `files` are those that LFS keeps; `isolated`: by the repository's own configuration alone, as
    `make` wrote it with `drivers`.
    """
    head = base
    if branch is not None:
        ref = git_dir / "refs" / "heads" / branch
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(f"{base}\n")
        head = f"ref: refs/heads/{branch}"
    (git_dir / "HEAD").write_bytes(os.fsencode(f"{head}\n"))
    try:
        run(
            *("read-tree", "-u", "--reset", base),
            git_dir=git_dir,
            work_tree=worktree,
            timeout=_CHECKOUT_LIMIT,
            isolated=isolated,
            config=files.config,
        )
        return files.fill(worktree, isolated=isolated, timeout=_CHECKOUT_LIMIT)
    except GitFailed as failed:
        if missing := _MISSING.search(failed.stderr):
            raise _not_here(missing[1], missing[2], base) from failed
        raise Refused(
            f"the worktree could not be made: {failed.message}",
            hint="see that the disk has room, and that git-lfs is there if the repository uses it",
        ) from failed


def connect(git_dir: Path, repo: Repository, inside: Path) -> None:
    """Tells a repository what it is to know when everything is checked out: the user's remotes,
    which git-lfs would ask, and what its own paths are where its commands have it, at `inside`."""
    paths = [("core.attributesfile", str(inside / "info" / "user-attributes"))]
    if "core.hookspath" in repo.config:
        # Only where it is needed: pre-commit refuses to install hooks when the setting is there.
        paths.append(("core.hookspath", str(inside / "hooks")))
    frozen.write_config(git_dir, (*paths, *remotes(repo)))


def _not_here(path: str, oid: str, base: str) -> Refused:
    return Refused(
        f"an object of the base is not in this repository: {oid} ({path})",
        hint="Hydra fetches nothing; in a partial clone this brings what is missing: "
        f"git archive -o /dev/null {base}",
    )


def bring(git_dir: Path, patches: Path, base: str, head: str) -> str:
    """Copies a base of Hydra's own (--include-dirty) out of patches.git, which no agent sees.

    All of it that the nearest commit of the user's has not, also what else of theirs has it now:
    they may forget that while an agent works. Gives that nearest commit, "" where it is far.
    """
    if base == head or _has(git_dir, base):
        return base
    above, nearest = [head], ""
    for number in range(1, _OWN_COMMITS):
        parent = run(
            *("rev-parse", "--verify", "--quiet", f"{base}~{number}"),
            git_dir=patches,
            isolated=True,
            check=False,
        ).line
        if parent and _has(git_dir, parent):
            nearest = parent
            above.append(parent)
            break
    run(
        *("pack-objects", "--revs", "--quiet", git_dir / "objects" / "pack" / "pack"),
        git_dir=patches,
        isolated=True,
        stdin="".join((f"{base}\n", *(f"^{oid}\n" for oid in above))).encode(),
        timeout=300,
    )
    return nearest


def _has(git_dir: Path, commit: str) -> bool:
    return run("cat-file", "-e", commit, git_dir=git_dir, check=False).code == 0


def fill_submodules(
    git_dir: Path,
    worktree: Path,
    base: str,
    repo: Repository,
    inside: Path,
    alias: bare_repo.Alias = bare_repo.as_they_are,
) -> tuple[tuple[str, ...], int]:
    """Checks out the submodules that the user has, from the user's own objects; names the others,
    which stay empty, and counts the files in these that are pointers that LFS never fetched.

    Each gets a private repository too, where git itself has it: a `git submodule update` would need
    the network. `inside` is where the lane's commands have `git_dir`.
    """
    if not may_hold_gitlinks(git_dir / "index"):
        return (), 0
    links = links_in(run("ls-files", "--stage", "-z", git_dir=git_dir).stdout)
    folders = module_folders(git_dir, base, links)
    empty: list[str] = []
    pointers = 0
    for path, oid in links.items():
        name = os.fsdecode(path)
        users = _submodule(repo.root / name, oid)
        if users is None:
            empty.append(name)
            continue
        module, near, folder = git_dir / folders[path], inside / folders[path], worktree / name
        pointers += _fill(module, folder, users, oid, alias)
        inner, more = fill_submodules(module, folder, oid, users, near, alias)
        connect(module, users, near)
        empty += (f"{name}/{path}" for path in inner)
        pointers += more
    return tuple(empty), pointers


def _config(repo: Repository) -> frozen.Settings:
    drivers = (pair for pair in repo.config.items() if pair[0].startswith("filter."))
    return (*_OWN, *frozen.identity(repo), *drivers)


def _fill(module: Path, folder: Path, users: Repository, oid: str, alias: bare_repo.Alias) -> int:
    # Both ways are relative: the tree has another path where its commands have it.
    folder.mkdir(exist_ok=True)
    config = (*_config(users), ("core.worktree", os.path.relpath(folder, module)))
    bare_repo.make(module, users, alias=alias, config=config)
    (folder / ".git").write_bytes(os.fsencode(f"gitdir: {os.path.relpath(module, folder)}\n"))
    has_lfs = frozen.LFS in frozen.asked_filters(users, oid)
    files = LfsFiles.of(module, oid, users) if has_lfs else _NO_FILES
    return checkout(module, folder, oid, files=files)


def _submodule(folder: Path, oid: str) -> Repository | None:
    """The user's own checkout of a submodule, if it holds the commit."""
    if not (folder / ".git").exists():
        return None
    try:
        users = read(folder)
        answer = run("cat-file", "-e", f"{oid}^{{commit}}", cwd=folder, check=False)
    except Exhausted:
        raise
    except Refused:
        return None
    return users if answer.code == 0 else None

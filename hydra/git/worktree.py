"""A lane's own repository and worktree: everything an agent does to git stays in here."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hydra.errors import Refused
from hydra.git import attributes as frozen
from hydra.git import bare_repo
from hydra.git.background import Later
from hydra.git.index import may_hold_gitlinks
from hydra.git.lfs_checkout import LfsFiles
from hydra.git.repository import Repository, read
from hydra.git.runner import GitFailed, is_unanswered, run

_CHECKOUT_LIMIT = 900.0
"""Seconds for one checkout: a large tree on a slow disk, or LFS's files."""

_OWN = (
    ("commit.gpgsign", "false"),
    ("tag.gpgsign", "false"),
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
    """Makes a lane's bare repository: the user's objects, tags, name and words on files.

    With `drivers` these are the only content filters that a checkout in it can run: what is
    checked out may name any, being an agent's.
    """
    tags = Later(partial(_tags, repo))
    if drivers is None:
        bare_repo.make(git_dir, repo, alias=alias, config=_config(git_dir, repo))
    else:
        config = (*_OWN, *frozen.identity(repo), *drivers)
        attributes = frozen.no_others(drivers)
        bare_repo.make(git_dir, repo, alias=alias, config=config, attributes=attributes)
    (git_dir / "hooks").mkdir(exist_ok=True)
    (git_dir / "packed-refs").write_bytes(tags.result())


class CheckedOut(NamedTuple):
    """The index of a tree, and how many of its files are pointers that LFS never fetched."""

    index_file: Path
    pointers: int


def checkout(
    git_dir: Path,
    worktree: Path,
    base: str,
    *,
    files: LfsFiles = _NO_FILES,
    isolated: bool = False,
) -> CheckedOut:
    """Adds the worktree at `base`, detached. Raises `Refused` with the reason.

    `files` are those that LFS keeps; `isolated`: by the repository's own configuration alone, as
    `make` wrote it with `drivers`.
    """
    try:
        run(
            *("worktree", "add", "--quiet", "--detach", worktree, base),
            git_dir=git_dir,
            timeout=_CHECKOUT_LIMIT,
            isolated=isolated,
            config=files.config,
        )
        pointers = files.fill(worktree, isolated=isolated, timeout=_CHECKOUT_LIMIT)
    except GitFailed as failed:
        if missing := _MISSING.search(failed.stderr):
            raise _not_here(missing[1], missing[2], base) from failed
        raise Refused(
            f"the worktree could not be made: {failed.message}",
            hint="see that the disk has room, and that git-lfs is there if the repository uses it",
        ) from failed
    return CheckedOut(_git_dir_of(worktree) / "index", pointers)


def _not_here(path: str, oid: str, base: str) -> Refused:
    return Refused(
        f"an object of the base is not in this repository: {oid} ({path})",
        hint="Hydra fetches nothing; in a partial clone this brings what is missing: "
        f"git archive -o /dev/null {base}",
    )


def bring(git_dir: Path, patches: Path, base: str, head: str) -> None:
    """Copies a base of Hydra's own (--include-dirty) out of patches.git, which no agent sees.

    All of it that the nearest commit of the user's has not, also what else of theirs has it now:
    they may forget that while an agent works.
    """
    if base == head or _has(git_dir, base):
        return
    above = [head]
    for number in range(1, _OWN_COMMITS):
        parent = run(
            *("rev-parse", "--verify", "--quiet", f"{base}~{number}"),
            git_dir=patches,
            isolated=True,
            check=False,
        ).line
        if parent and _has(git_dir, parent):
            above.append(parent)
            break
    run(
        *("pack-objects", "--revs", "--quiet", git_dir / "objects" / "pack" / "pack"),
        git_dir=patches,
        isolated=True,
        stdin="".join((f"{base}\n", *(f"^{oid}\n" for oid in above))).encode(),
        timeout=300,
    )


def _has(git_dir: Path, commit: str) -> bool:
    return run("cat-file", "-e", commit, git_dir=git_dir, check=False).code == 0


class FilledSubmodules(NamedTuple):
    """The submodules that stay empty, and how many files in the others are pointers that LFS never
    fetched."""

    empty: tuple[str, ...] = ()
    pointers: int = 0


def fill_submodules(
    git_dir: Path,
    worktree: Path,
    index: Path,
    repo: Repository,
    alias: bare_repo.Alias = bare_repo.as_they_are,
) -> FilledSubmodules:
    """Checks out the submodules that the user has, from the user's own objects; names the others.

    Each gets a private repository too: a `git submodule update` would need the network.
    """
    if not may_hold_gitlinks(index):
        return FilledSubmodules()
    from hydra.git.nested_repos import links_in  # no start without submodules waits for it

    listed = run("ls-files", "--stage", "-z", git_dir=git_dir, work_tree=worktree, index=index)
    empty: list[str] = []
    pointers = 0
    for path, oid in links_in(listed.stdout).items():
        name = os.fsdecode(path)
        users = _submodule(repo.root / name, oid)
        if users is None:
            empty.append(name)
            continue
        module = git_dir / "modules" / name.replace("%", "%25").replace("/", "%2f")
        folder = worktree / name
        filled = _fill(module, folder, users, oid, alias)
        inner = fill_submodules(module, folder, filled.index_file, users, alias)
        empty += (f"{name}/{path}" for path in inner.empty)
        pointers += filled.pointers + inner.pointers
    return FilledSubmodules(tuple(empty), pointers)


def _config(git_dir: Path, repo: Repository) -> frozen.Settings:
    # Only where it is needed: pre-commit refuses to install hooks when the setting is there.
    hooks = (("core.hookspath", str(git_dir / "hooks")),) if _has_hooks(repo) else ()
    drivers = (pair for pair in repo.config.items() if pair[0].startswith("filter."))
    return (*_OWN, *frozen.identity(repo), *drivers, *hooks)


def _has_hooks(repo: Repository) -> bool:
    return "core.hookspath" in repo.config


def _fill(
    module: Path, folder: Path, users: Repository, oid: str, alias: bare_repo.Alias
) -> CheckedOut:
    # No core.worktree: the folder has another path inside, and its .git file says where it is.
    bare_repo.make(
        module, users, alias=alias, config=(*_config(module, users), ("core.bare", "false"))
    )
    (module / "HEAD").write_text(f"{oid}\n")
    folder.mkdir(exist_ok=True)
    (folder / ".git").write_bytes(b"gitdir: " + os.fsencode(module) + b"\n")
    has_lfs = frozen.LFS in frozen.asked_filters(users, oid)
    files = LfsFiles.of(module, oid, users) if has_lfs else LfsFiles()
    terms = ("read-tree", "-u", "--reset", oid)
    run(*terms, cwd=folder, timeout=_CHECKOUT_LIMIT, config=files.config)
    return CheckedOut(module / "index", files.fill(folder, timeout=_CHECKOUT_LIMIT))


def _submodule(folder: Path, oid: str) -> Repository | None:
    """The user's own checkout of a submodule, if it holds the commit."""
    if not (folder / ".git").exists():
        return None
    try:
        users = read(folder)
        answer = run("cat-file", "-e", f"{oid}^{{commit}}", cwd=folder, check=False)
    except Refused as refused:
        if is_unanswered(refused):
            raise
        return None
    return users if answer.code == 0 else None


def point_back(worktree: Path, place: Path) -> None:
    """The repository takes its worktree for what stands at `place`, where commands see it."""
    (_git_dir_of(worktree) / "gitdir").write_bytes(os.fsencode(place / ".git") + b"\n")


def _git_dir_of(worktree: Path) -> Path:
    output = (worktree / ".git").read_bytes().removeprefix(b"gitdir:").strip()
    return Path(os.fsdecode(output))


def _tags(repo: Repository) -> bytes:
    terms = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
    return b"# pack-refs with: sorted\n" + run(*terms, cwd=repo.root).stdout

"""The run's patches.git: one branch a lane, one ref an attempt, objects that stay Hydra's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from hydra.errors import Refused
from hydra.git import attributes, bare_repo
from hydra.git.repository import Repository
from hydra.git.runner import GitError, GitFailed, run, split

WHO = {
    f"GIT_{role}_{term}": value
    for role in ("AUTHOR", "COMMITTER")
    for term, value in (("NAME", "Hydra"), ("EMAIL", "hydra@localhost"))
}
"""Hydra as an author, for the commits that nobody else ever sees in a history."""


def create(path: Path, repo: Repository, *, base: str = "", allow: Sequence[str] = ()) -> None:
    """Makes the run's patches.git, which is the collector's gitdir too.

    It borrows the user's objects and holds what their repository says of files, frozen in; git
    is only ever run in it with the user's and the system's configuration left out. `allow` names
    the content filters that may run besides LFS's; they run as configured now.
    """
    drivers = attributes.drivers(repo, base, allow)
    bare_repo.make(path, repo, config=drivers, attributes=attributes.no_others(drivers))
    attributes.write_user_settings(repo, path)


def drivers(patches: Path) -> attributes.Settings:
    """The content filters that may run on what a lane made, as `create` froze them."""
    terms = ("config", "--null", "--get-regexp", r"^filter\.")
    result = run(*terms, git_dir=patches, isolated=True, check=False)
    pairs = (entry.partition(b"\n") for entry in split(result.stdout))
    return tuple((os.fsdecode(key), os.fsdecode(value)) for key, _, value in pairs)


def commit(
    patches: Path,
    *,
    tree: str,
    base: str,
    lane: str,
    attempt: int,
    message: str,
    incomplete: str = "",
    behind: bool = False,
) -> str:
    """An attempt's tree as a commit on `base`; the base itself where nothing changed.

    `behind`: some work is in the lane alone, which refs/behind/LANE/ATTEMPT tells a recovery.

    Sets refs/tries/LANE/ATTEMPT, and the lane's branch unless an empty attempt would take the
    place of an earlier one's work; neither where nothing at all could be taken, or a recovery
    would read there that nothing was done. Raises `GitFailed` (a full disk).
    """
    text = message.rstrip("\n") + "\n"
    if incomplete:
        text += f"Hydra-Incomplete: {' '.join(incomplete.split())}\n"
    oid = commit_tree(patches, tree=tree, base=base, message=text)
    if incomplete and oid == base:
        return base
    updates = [f"update refs/tries/{lane}/{attempt} {oid}"]
    if behind:
        updates.append(f"update refs/behind/{lane}/{attempt} {base}")
    branch = f"refs/heads/{lane}"
    if oid != base or branch not in _refs(patches, "refs/heads"):
        updates.append(f"update {branch} {oid}")
    stdin = "".join(f"{line}\n" for line in updates).encode()
    run(
        *("update-ref", "--no-deref", "--stdin"),
        git_dir=patches,
        isolated=True,
        stdin=stdin,
        config=(("core.fsync", "reference"),),
    )
    return oid


def unlock(patches: Path, lane: str) -> None:
    """Removes what a git that was killed has left of its locks on one lane's refs."""
    refs = patches / "refs"
    places = (refs / "tries" / lane, refs / "left" / lane)
    below = (lock for place in places for lock in place.glob("**/*.lock"))
    for lock in (refs / "heads" / f"{lane}.lock", *below):
        lock.unlink(missing_ok=True)


def commit_tree(patches: Path, *, tree: str, base: str, message: str) -> str:
    """A tree as a commit of Hydra's on `base`, on disk for good; no ref is set."""
    if tree == _tree(patches, base):
        return base
    result = run(
        *("commit-tree", "-p", base, tree),
        git_dir=patches,
        isolated=True,
        stdin=message.encode("utf-8", "backslashreplace").replace(b"\0", b""),
        extra_env=WHO,
        config=(("core.fsync", "loose-object"),),
    )
    return result.line


Stat = tuple[bytes, int | None, int | None]

_COUNTED_ALONE = 50
"""Files counted one by one, where git can not count them together."""


def message(patches: Path, commit: str) -> str:
    """The message of a commit."""
    output = run("cat-file", "commit", commit, git_dir=patches, isolated=True).stdout
    return output.partition(b"\n\n")[2].decode("utf-8", "replace")


def editor(patches: Path, environ: Mapping[str, str]) -> str:
    """The editor that git would start, its own setting as it was before the race."""
    own = attributes.user_settings(patches).get("core.editor")
    named = (environ.get("GIT_EDITOR"), own, environ.get("VISUAL"), environ.get("EDITOR"))
    return next((name for name in named if name), "vi")


def users_own(patches: Path) -> dict[str, str]:
    """How the user's git signs, edits and pages, as it was set before the race."""
    return attributes.user_settings(patches)


def numstat(patches: Path, base: str, commit: str) -> list[Stat]:
    """Path, lines added and lines deleted for each changed file.

    None for a binary one, and for one whose old content a partial clone does not have.
    """
    if base == commit:
        return []
    try:
        return _counted(patches, base, commit, "--numstat")
    except GitError:
        changed = [path for path, _, _ in _counted(patches, base, commit, "--name-only")]
    return [_counted_alone(patches, base, commit, path) for path in changed[:_COUNTED_ALONE]] + [
        (path, None, None) for path in changed[_COUNTED_ALONE:]
    ]


def _counted_alone(patches: Path, base: str, commit: str, path: bytes) -> Stat:
    try:
        (alone,) = _counted(patches, base, commit, "--numstat", b":(top,literal)" + path)
    except GitError:
        return (path, None, None)
    return alone


def _counted(patches: Path, base: str, commit: str, how: str, *paths: bytes) -> list[Stat]:
    terms = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", how)
    result = run(*terms, base, commit, "--", *paths, git_dir=patches, isolated=True, timeout=300)
    stats = []
    for entry in split(result.stdout):
        added, deleted, path = entry.split(b"\t", 2) if how == "--numstat" else (b"-", b"-", entry)
        stats.append((path, count(added), count(deleted)))
    return stats


def diff(patches: Path, a: str, b: str, *, paths: Sequence[str] = (), stat: bool = False) -> bytes:
    """One commit against another, without colours; names are quoted as git does, content is
    byte-exact. Neither an external diff nor a textconv runs.

    Raises `Refused` where git cannot show it.
    """
    argv = (
        *(f"--git-dir={patches}", "-c", f"core.hooksPath={os.devnull}", "--no-pager"),
        *("diff", "--no-ext-diff", "--no-textconv", "--color=never"),
        *(("--stat",) if stat else ()),
        *("--end-of-options", a, b, "--", *(f":(top,literal){path}" for path in paths)),
    )
    try:
        return run(*argv, isolated=True, cwd=patches, timeout=300).stdout
    except GitFailed as failed:
        from hydra.git.missing_objects import not_shown  # which reads what this module writes

        why, hint = not_shown(patches, a, b, failed)
        raise Refused(f"the patch cannot be shown: {why}", hint=hint) from failed


def branches(patches: Path) -> dict[str, str]:
    """Each lane that has a branch, and the commit it stands at."""
    refs = _refs(patches, "refs/heads")
    return {name.removeprefix("refs/heads/"): oid for name, oid in refs.items()}


def tries(patches: Path, lane: str) -> dict[int, str]:
    """Each attempt of a lane that has a ref, and its commit."""
    refs = _refs(patches, f"refs/tries/{lane}")
    return {int(name.rpartition("/")[2]): oid for name, oid in refs.items()}


def stranded(patches: Path, lane: str, attempt: int) -> tuple[str, ...]:
    """The refs of an attempt's work that was in no file of its worktree. Raises `GitFailed`."""
    return tuple(_refs(patches, f"refs/left/{lane}/{attempt}"))


def is_behind(patches: Path, lane: str, attempt: int) -> bool:
    """Whether some work of an attempt is in its lane alone. Raises `GitFailed`."""
    return bool(_refs(patches, f"refs/behind/{lane}/{attempt}"))


def with_work(patches: Path, base: str) -> frozenset[str]:
    """The lanes of which any ref is not `base`: branch, try, or work left in stashes and branches.

    Raises `GitFailed`.
    """
    return frozenset(
        ref.split("/")[2] for ref, oid in _refs(patches, "refs").items() if oid != base
    )


def names(patches: Path, commit: str) -> frozenset[bytes]:
    """Every path in a commit's tree, folders too. Raises `GitFailed`."""
    terms = ("ls-tree", "-r", "-t", "-z", "--name-only", commit)
    return frozenset(split(run(*terms, git_dir=patches, isolated=True, timeout=300).stdout))


@lru_cache(maxsize=64)
def _tree(patches: Path, commit: str) -> str:
    terms = ("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}")
    return run(*terms, git_dir=patches, isolated=True).line


def _refs(patches: Path, under: str) -> dict[str, str]:
    terms = ("for-each-ref", "--format=%(objectname) %(refname)", under)
    listed = run(*terms, git_dir=patches, isolated=True).stdout.decode()
    return {name: oid for oid, name in (line.split(" ", 1) for line in listed.splitlines())}


def count(field: bytes) -> int | None:
    """A number of lines as `--numstat` has it; None for a binary file."""
    return None if field == b"-" else int(field)


# ---- Whether a word is the project's own: whether it stands anywhere at a commit.


def strange(git_dir: Path, commit: str, terms: Sequence[str]) -> frozenset[str]:
    """Those of `terms` that stand in no text and in no name of a file at `commit`.

    Upper and lower case are the same. Raises `GitFailed`.
    """
    paths = b"\n".join(names(git_dir, commit)).lower()
    return frozenset(
        term
        for term in terms
        if term.lower().encode() not in paths and not _subject(git_dir, commit, term)
    )


def _subject(git_dir: Path, commit: str, term: str) -> bool:
    terms = ("grep", "--quiet", "--ignore-case", "--fixed-strings", "-I", "-e", term, commit)
    return run(*terms, git_dir=git_dir, isolated=True, timeout=300, check=False).code == 0

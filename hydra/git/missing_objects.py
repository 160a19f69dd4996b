"""Which objects of a patch are not there, and why that is: in arguments that are true."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from hydra.git.diff import difference
from hydra.git.repository import objects_folders
from hydra.git.runner import GitError, GitFailed, run


def problem(patches: Path, base: str, commit: str) -> tuple[str, str]:
    """Why a patch cannot be read, as a clause, and a hint; two empty ones where it can.

    Only what the patch has beside its base is looked at: a partial clone never has the old content
    of every file, and need not.
    """
    try:
        if gone := _gone(patches, (commit, f"{commit}^{{tree}}")):
            return _of_the_patch(gone)
        if _gone(patches, (base, f"{base}^{{tree}}")):
            return _of_the_base(patches, base)
        gone = _gone_below(patches, base, commit)
    except GitFailed as failed:
        look = f"look at the folder itself: {patches.parent}"
        return failed.result.reason or failed.message, look
    return _of_the_patch(gone) if gone else ("", "")


def not_shown(patches: Path, a: str, b: str, failed: GitFailed) -> tuple[str, str]:
    """The same of a diff that git could not make between two commits."""
    for commit in (a, b):
        if _gone(patches, (commit, f"{commit}^{{tree}}")):
            return _of_the_base(patches, a) if commit == a else _of_the_patch([b])
    clause, hint = problem(patches, a, b)
    if clause or not _is_partial(patches):
        return clause or failed.result.reason, hint
    return failed.result.reason, (
        "in a partial clone git itself can fetch what is missing: "
        f"git fetch {shlex.quote(str(patches))} LANE && git diff {a} FETCH_HEAD"
    )


def without_base(patches: Path, base: str) -> str:
    """Why the base is not there, as a clause; "" where it is, or git cannot tell."""
    try:
        gone = _gone(patches, (base, f"{base}^{{tree}}"))
    except GitError:
        return ""
    return _of_the_base(patches, base)[0] if gone else ""


def _gone(patches: Path, names: Iterable[str]) -> list[str]:
    stdin = "".join(f"{name}\n" for name in names).encode()
    arguments = ("cat-file", "--batch-check")
    listed = run(*arguments, git_dir=patches, isolated=True, stdin=stdin).stdout.decode()
    return [line.split(" ")[0] for line in listed.splitlines() if line.endswith(" missing")]


def _gone_below(patches: Path, base: str, commit: str) -> list[str]:
    try:
        return _gone(patches, difference(patches, base, commit).objects)
    except GitFailed:  # a folder is gone, so what is in it is not known
        trees = (f"{commit}^{{tree}}", f"^{base}^{{tree}}")
        arguments = ("rev-list", "--objects", "--no-object-names", "--missing=print", *trees)
        listed = run(*arguments, git_dir=patches, isolated=True, timeout=300).stdout.decode()
        return [line[1:] for line in listed.splitlines() if line.startswith("?")]


def _of_the_patch(gone: list[str]) -> tuple[str, str]:
    more = f" and {len(gone) - 1} more objects" if len(gone) > 1 else ""
    return (
        f"{gone[0].removesuffix('^{tree}')}{more} of it are gone: an older Hydra left in your "
        "repository what a patch shared with other work of yours, and a git gc has taken it away",
        "a backup or a clone of that repository may have them: git fetch from it there",
    )


def _of_the_base(patches: Path, base: str) -> tuple[str, str]:
    users = list(objects_folders(patches / "objects"))[1:]
    if not users:
        return "the repository that it was raced in is gone", "bring it back to its place"
    return (
        f"its base {base[:12]} is not in {users[0].parent} any more",
        "the ref refs/hydra/RUN/base keeps it there: git fetch the commit from where it still is",
    )


def _is_partial(patches: Path) -> bool:
    folders = objects_folders(patches / "objects")
    return any(any((folder / "pack").glob("*.promisor")) for folder in folders)

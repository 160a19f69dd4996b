"""Landings by a table: what refuses one with nothing touched, what one leaves, and its undo."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hydra.errors import HydraError, LandingRefused
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, laid, leftovers
from tests.support.shelf import empty_run, of_claude

TABLE = Path(__file__).parent / "data" / "landings.toml"
ROWS = tomllib.loads(TABLE.read_text(encoding="utf-8"))["row"]


def sh(folder: Path, script: str) -> str:
    environ = {**os.environ, "GIT_EDITOR": "true"}
    for role in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{role}_NAME": "Ada", f"GIT_{role}_EMAIL": "ada@example.com"}
    done = subprocess.run(
        ["sh", "-ec", script], cwd=folder, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def laid_out(row: dict[str, Any], scratch: Path) -> Shelf:
    """The row's repository, with the lane `claude` of its run."""
    if "kind" in row or "before" in row:
        repo = kinds.KINDS[row.get("kind", "plain")](scratch)
        sh(repo, row.get("before", ""))
        shelf = Shelf.of(repo, scratch)
        shelf.lane("claude", lambda tree: sh(tree, row["agent"])) if "agent" in row else None
        if "agent" not in row and "entries" not in row:
            shelf.lane("claude", kinds.work)
    elif "agent" in row:
        shelf = laid(scratch, empty_run)
        shelf.lane("claude", lambda tree: sh(tree, row["agent"]))
    else:
        shelf = laid(scratch, of_claude)
    if "entries" in row:
        kinds.lane_of_entries(shelf, "claude", sh(shelf.repo, row["entries"]))
    sh(shelf.repo, row.get("user", ""))
    return shelf


def stand(repo: Path, row: dict[str, Any]) -> object:
    """All that must be as it was: a pipe cannot be read, nor a branch without a commit."""
    if row.get("pipe"):
        return sorted(path for path in repo.rglob("*") if ".git" not in path.parts)
    if "orphan" in row.get("user", ""):
        return git(repo, "status", "--porcelain")
    return Stand.of(repo)


def written(repo: Path) -> tuple[str, ...]:
    """The paths of the last commit that are files."""
    terms = ("--no-commit-id", "--raw", "--no-abbrev", "--diff-filter=d", "-r", "-z", "HEAD")
    fields = kinds.raw(repo, "diff-tree", *terms).split("\0")
    entries = zip(fields[::2], fields[1::2], strict=False)
    return tuple(path for entry, path in entries if " 160000 " not in entry)


def is_refused(shelf: Shelf, row: dict[str, Any], **more: object) -> None:
    with pytest.raises(HydraError) as caught:
        shelf.merge("claude", **row.get("options", {}), **more)
    assert row.get("says", "in the way") in str(caught.value)
    if "paths" in row:
        assert isinstance(caught.value, LandingRefused)
        reasons = dict(caught.value.paths)
        assert reasons.keys() == row["paths"].keys()
        for path, reason in row["paths"].items():
            assert reason in reasons[path]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_it_lands_whole_and_goes_back_or_is_refused_with_nothing_touched(
    row: dict[str, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scratch)
    shelf = laid_out(row, scratch)
    repo = shelf.repo
    monkeypatch.chdir(repo)
    before = stand(repo, row)
    if "says" in row or "paths" in row:
        is_refused(shelf, row, dry_run=True)
        is_refused(shelf, row)
    else:
        shelf.merge("claude", dry_run=True, **row.get("options", {}))
        assert stand(repo, row) == before
        shelf.merge("claude", **row.get("options", {}))
        assert (stand(repo, row) == before) == row.get("same", False)
        if "options" not in row and "skip-worktree" not in row.get("user", ""):
            assert kinds.unlike_git(repo, written(repo)) == []
        sh(repo, row.get("then", ""))
        assert leftovers(repo) == []
        if not row.get("undo", True):
            return
        shelf.undo()
    if row.get("folders"):  # those that hold a submodule stay
        after = Stand.of(repo)
        assert isinstance(before, Stand)
        assert (after.files, after.index, after.tree) == (before.files, before.index, before.tree)
    else:
        assert stand(repo, row) == before
    sh(repo, row.get("after", ""))
    assert leftovers(repo) == []

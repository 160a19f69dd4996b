"""Every kind of repository: what is read of it, what is refused, what a lane makes of it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from hydra.errors import EXIT_REFUSED, Refused, UsageError
from hydra.git import base_commit, runner
from hydra.records.request import Limits
from tests.conftest import commit, git, make_repository
from tests.support.command import Hydra
from tests.support.grounds import agent, changes, fingerprint, race_on, take
from tests.support.processes import wait_until


def test_what_names_a_commit(repo: Path) -> None:
    repository = base_commit.read(repo)
    git(repo, "tag", "-a", "v1", "-m", "v1")
    for ref in ("HEAD", "main", "v1", repository.head[:8]):
        assert base_commit.resolve(repository, ref) == repository.head
    for ref in ("nowhere", "", "--all", "-h", "HEAD:README.md"):
        with pytest.raises(UsageError, match="no commit called"):
            base_commit.resolve(repository, ref)


def test_dirty_counts_and_leaves_the_index_alone(repo: Path) -> None:
    assert not base_commit.dirty(base_commit.read(repo))
    (repo / "README.md").touch()
    (repo / "src" / "pager.py").write_text("x")
    (repo / "new").mkdir()
    (repo / "new" / "a").write_text("a")
    (repo / "new" / "b\nc").write_text("a")
    (repo / "x.log").write_text("ignored")
    before = fingerprint(repo)
    item = base_commit.dirty(base_commit.read(repo))
    assert (item.tracked, item.untracked) == (1, 2)
    assert fingerprint(repo) == before


def test_a_pin_keeps_the_base_from_gc_and_goes_again(repo: Path) -> None:
    repository = base_commit.read(repo)
    before = fingerprint(repo)
    base_commit.pin(repository, "20260101t000000-abc", repository.head)
    base_commit.pin(repository, "20260101t000000-def", repository.head)
    refs = git(repo, "for-each-ref", "--format=%(refname)", "refs/hydra").splitlines()
    assert refs == [
        "refs/hydra/20260101t000000-abc/base",
        "refs/hydra/20260101t000000-def/base",
    ]
    assert fingerprint(repo) == before
    base_commit.unpin(repository, "20260101t000000-abc", repository.head)
    assert git(repo, "for-each-ref", "refs/hydra").count("\n") == 0
    base_commit.unpin(repository, "20260101t000000-def", repository.head)
    base_commit.unpin(repository, "20260101t000000-def", repository.head)
    assert not (repo / ".git" / "refs" / "hydra").exists()
    assert not (repo / ".git" / "logs" / "refs" / "hydra").exists()


def works(root: Path, scratch: Path) -> None:
    """A race on this repository: its lane looks like a checkout, its patch is what changed."""
    before = fingerprint(root)
    race = race_on(root, scratch / "state")
    ground = race.opened()
    assert git(ground.worktree, "status", "--porcelain") == ""
    assert take(ground, attempt=1).empty
    (ground.worktree / "src" / "pager.py").write_text("fixed\n")
    (ground.worktree / "n\new").write_text("new\n")
    agent(ground.worktree, "git add -A && git commit -qm work && git log -1 --format=%ae")
    patch = take(ground, attempt=2)
    assert changes(race, patch) == {b"src/pager.py": b"fixed\n", b"n\new": b"new\n"}
    assert not patch.incomplete
    git(race.patches, "fsck", "--strict", "claude")
    ground.remove()
    assert not ground.worktree.parent.exists()
    assert fingerprint(root) == before


@pytest.mark.parametrize(
    "name", ["with space", "\u00fcml\u00e4ut", "new\nline", "-dash", "home", '"q']
)
def test_odd_names_of_the_repository(name: str, scratch: Path) -> None:
    works(make_repository(scratch / "in" / name), scratch)


def test_the_users_words_on_files_hold_in_lane_and_patch(repo: Path, scratch: Path) -> None:
    home = Path(os.environ["HOME"])
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.mine\n")
    (home / ".config" / "git" / "attributes").write_text("*.crlf text eol=crlf\n")
    (repo / ".git" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "info" / "exclude").write_text("*.local\n")
    (repo / ".git" / "info" / "attributes").write_text("*.sh text eol=lf\n")
    git(repo, "config", "core.autocrlf", "true")
    (repo / "run.sh").write_bytes(b"echo\n")
    (repo / "id.c").write_bytes(b"$Id$\n")
    (repo / ".gitattributes").write_bytes(b"*.c ident\n")
    commit(repo, "more")
    race = race_on(repo, scratch / "state")
    shutil.rmtree(home / ".config")
    ground = race.opened()
    assert (ground.worktree / "src" / "pager.py").read_bytes().count(b"\r\n") == 2
    assert (ground.worktree / "run.sh").read_bytes() == b"echo\n"
    assert (ground.worktree / "id.c").read_bytes() != b"$Id$\n"
    (race.state / "run" / "lanes" / "claude" / "index").unlink()
    assert take(ground).empty
    for name in ("a.mine", "a.local", "a.log"):
        (ground.worktree / name).write_text("x")
    (ground.worktree / "new.py").write_bytes(b"a\r\nb\r\n")
    with (ground.worktree / "id.c").open("ab") as file:
        file.write(b"more\r\n")
    assert changes(race, take(ground)) == {b"new.py": b"a\nb\n", b"id.c": b"$Id$\nmore\n"}


@pytest.fixture
def no_system_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git-lfs is installed, /etc/gitconfig has its filter; Hydra reads that, as git does."""
    monkeypatch.setitem(runner._ENVIRONMENT, "GIT_CONFIG_NOSYSTEM", "1")


@pytest.mark.parametrize("broken", [None, b"none"])
def test_a_filter_that_unread_attributes_may_ask_for_is_refused(
    hydra: Hydra, broken: bytes | None
) -> None:
    repo = hydra.repo
    (repo / "src" / ".gitattributes").write_text("*.key filter=git-crypt\n")
    commit(repo, "attributes")
    oid = git(repo, "rev-parse", "HEAD:src/.gitattributes")
    file = repo / ".git" / "objects" / oid[:2] / oid[2:]
    file.unlink()
    if broken is not None:
        file.write_bytes(broken)
    assert base_commit.filters(base_commit.read(repo)) == ()
    git(repo, "config", "filter.git-crypt.smudge", "git-crypt smudge")
    race = hydra.run("race", "Do it", "-a", "claude", "--no-check")
    assert race.returncode == EXIT_REFUSED
    assert "this repository may ask (" in race.stderr
    assert oid in race.stderr
    assert ") for the content filter git-crypt\n" in race.stderr
    assert "hint: --allow-filter git-crypt lets it run" in race.stderr


@pytest.mark.usefixtures("no_system_settings")
def test_a_filter_that_may_run_runs_as_it_was_configured(repo: Path, scratch: Path) -> None:
    (repo / ".gitattributes").write_text("*.up filter=strip\n*.down filter=other\n")
    git(repo, "config", "filter.strip.clean", "tr a-z A-Z")
    git(repo, "config", "filter.strip.smudge", "tr A-Z a-z")
    (repo / "a.up").write_text("abc\n")
    commit(repo, "filtered")
    race = race_on(repo, scratch / "state", allow=["strip"]).limited(patch_file_bytes=10)
    git(repo, "config", "filter.strip.clean", "false")
    ground = race.opened()
    assert (ground.worktree / "a.up").read_text() == "abc\n"
    assert take(ground).empty
    (ground.worktree / "b.up").write_text("a long line\n")
    (ground.worktree / "b.down").write_text("down\n")
    agent(ground.worktree, f"git config filter.other.clean 'touch {scratch}/ran'")
    contents = changes(race, take(ground))
    assert contents == {b"b.up": b"A LONG LINE\n", b"b.down": b"down\n"}
    assert not (scratch / "ran").exists()


def test_changes_that_cannot_all_be_taken_are_refused(repo: Path, scratch: Path) -> None:
    race = race_on(repo, scratch / "state")
    for number in range(5):
        (repo / f"n{number}").write_text("x")
    with pytest.raises(Refused, match="cannot all be taken"):
        base_commit.dirty_base(race.repo, race.patches, race.base, Limits(patch_untracked=3))


def test_copies_are_checked_before_anything_starts(repo: Path) -> None:
    (repo / ".env").write_text("A=1\n")
    (repo / "cfg").mkdir()
    (repo / "cfg" / "a b").write_text("x")
    repository = base_commit.read(repo)
    assert base_commit.check_copies(repository, ["./.env", "cfg/", "cfg/a b"]) == (
        ".env",
        "cfg",
        "cfg/a b",
    )
    for bad in ("missing", "README.md", "src", "/etc/passwd", "../x", "", ".", ".git/config"):
        with pytest.raises(UsageError):
            base_commit.check_copies(repository, [bad])


def test_a_copy_through_a_link_is_named_from_where_it_leads(repo: Path, scratch: Path) -> None:
    (scratch / "keys").mkdir()
    (scratch / "keys" / "id").write_text("x")
    (repo / "node_modules").mkdir()
    (repo / "node_modules" / "out").symlink_to(scratch / "keys")
    (repo / "node_modules" / "git").symlink_to("../.git")
    (repo / "node_modules" / "in").symlink_to("../src")
    (repo / "src" / ".env").write_text("x")
    repository = base_commit.read(repo)
    assert base_commit.check_copies(repository, ["node_modules/in/.env"]) == (
        "node_modules/in/.env",
    )
    with pytest.raises(UsageError, match=f"through a link to {scratch / 'keys'}"):
        base_commit.check_copies(repository, ["node_modules/out/id"], text="hydra.toml: race.copy")
    with pytest.raises(UsageError, match=r"into \.git through a link"):
        base_commit.check_copies(repository, ["node_modules/git/config"])


def test_worktreeinclude_names_ignored_files_only(repo: Path) -> None:
    (repo / ".worktreeinclude").write_text(".env\n*.log\nREADME.md\nnew.py\n")
    for name in (".env", "a.log", "new.py", "b.txt"):
        (repo / name).write_text("x")
    (repo / "src" / "c\nd.log").write_text("x")
    repository = base_commit.read(repo)
    assert set(base_commit.included(repository)) == {".env", "a.log", "src/c\nd.log"}
    (repo / ".worktreeinclude").unlink()
    assert base_commit.included(repository) == ()


def test_a_git_that_hangs_is_ended_at_its_limit_with_its_children(
    repo: Path, scratch: Path
) -> None:
    git(repo, "config", "alias.hang", f"!sleep 77 & echo $! > {scratch}/pid; wait")
    for limit in (0.5, 5, 20):  # a busy machine may not have come to the child before the first
        started = time.monotonic()
        with pytest.raises(runner.GitFailed) as caught:
            runner.run("hang", cwd=repo, timeout=limit)
        assert caught.value.timed_out
        assert time.monotonic() - started < limit + 30  # and not the 77 of its child
        if child := (scratch / "pid").exists() and (scratch / "pid").read_text():
            break
    # It was sent SIGKILL, and is seen until the kernel has taken it down.
    assert wait_until(lambda: _over(int(child)))


def _over(pid: int) -> bool:
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True

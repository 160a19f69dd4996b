"""Landing where a repository is in a state of its own: locked, half-done, read-only, borrowed."""

from __future__ import annotations

import hashlib
import os
import shutil
import site
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hydra.errors import HydraError, LandingRefused, Refused
from hydra.git import base_commit, runner
from hydra.git.runner import run
from hydra.landing import transaction
from hydra.landing.journal import DONE, Journal, LandingStore
from hydra.race.recovery.startup import recover
from hydra.records.request import Limits
from tests.conftest import git, make_repository
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, everything, laid, leftovers
from tests.support.shelf import is_old_or_new_wherever_killed, of_claude
from tests.support.surroundings import mounts
from tests.support.trust import ORDINARY, PROJECT, python_for


@pytest.fixture
def shop(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project; the test stands in it."""
    monkeypatch.chdir(scratch)
    repo = kinds.shop(scratch)
    monkeypatch.chdir(repo)
    return repo


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """One lane's work on the project."""
    shelf = laid(scratch, of_claude)
    monkeypatch.chdir(shelf.repo)
    return shelf


def moves(old: str, new: str) -> Callable[[Path], None]:
    """An agent that moves one file."""

    def edits(tree: Path) -> None:
        (tree / old).rename(tree / new)

    return edits


def writes(name: str, data: bytes) -> Callable[[Path], None]:
    """An agent that writes one file."""

    def edits(tree: Path) -> None:
        (tree / name).write_bytes(data)

    return edits


def refused(shelf: Shelf, match: str, **document: object) -> LandingRefused:
    """A landing is refused with these words, and nothing is touched."""
    before = Stand.of(shelf.repo)
    with pytest.raises(LandingRefused, match=match) as caught:
        shelf.merge("claude", **document)
    assert Stand.of(shelf.repo) == before
    return caught.value


def lands(shelf: Shelf, **document: object) -> None:
    """A landing, and its undo, which brings all back."""
    before = Stand.of(shelf.repo)
    shelf.merge("claude", **document)
    if document.get("commit", True):
        assert kinds.unlike_git(shelf.repo) == []
    shelf.undo()
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


# The index


@pytest.mark.slow
@pytest.mark.parametrize("lock", ["HEAD.lock", "refs/heads/main.lock"])
def test_a_branch_that_is_locked_puts_all_back(
    shelf: Shelf, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the last moment; one that is there before is seen before anything moves."""
    file = shelf.repo / ".git" / lock
    monkeypatch.setattr(transaction, "moment", lambda name: file.touch() if name == "ref" else None)
    refused(shelf, "the branch could not be moved")
    kinds.quiet()
    file.unlink()
    lands(shelf)


def test_no_index_at_all(shelf: Shelf) -> None:
    (shelf.repo / ".git" / "index").unlink()
    error = refused(shelf, "in the way")
    assert ("src/pager.py", "changed in your index (staged)") in error.paths
    assert not (shelf.repo / ".git" / "index").exists()


def test_a_patch_that_leaves_nothing_but_a_new_file(shelf: Shelf) -> None:
    def make(tree: Path) -> None:
        for path in tree.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (tree / "only").write_text("this\n")

    shelf.lane("codex", make)
    before = Stand.of(shelf.repo)
    shelf.merge("codex")
    assert everything(shelf.repo).keys() == {"only"}
    shelf.undo()
    assert Stand.of(shelf.repo) == before


def test_a_file_that_is_only_intended_to_be_added(shelf: Shelf) -> None:
    (shelf.repo / "new").mkdir()
    (shelf.repo / "new" / "file.txt").write_text("mine\n")
    git(shelf.repo, "add", "--intent-to-add", "new/file.txt")
    error = refused(shelf, "in the way")
    assert error.paths == (("new/file.txt", "changed in your index (staged)"),)


def _conflict(repo: Path, path: str) -> None:
    """Entries of a conflict with nothing under way, as `git stash pop` leaves them."""
    (repo / path).write_text("stashed\n")
    git(repo, "stash", "-q")
    (repo / path).write_text("committed\n")
    git(repo, "commit", "-qam", "Against it")
    subprocess.run(["git", "stash", "pop"], cwd=repo, capture_output=True, check=False)
    assert git(repo, "ls-files", "-u")


def test_a_path_in_conflict(shop: Path, scratch: Path) -> None:
    _conflict(shop, "src/pager.py")
    shelf = Shelf.of(shop, scratch)
    shelf.lane("claude", kinds.work)
    assert refused(shelf, "in the way").paths == (("src/pager.py", "in conflict in your index"),)


def test_another_path_in_conflict(shop: Path, scratch: Path) -> None:
    _conflict(shop, "staged.txt")
    shelf = Shelf.of(shop, scratch)
    shelf.lane("claude", kinds.work)
    marked = (shop / "staged.txt").read_bytes()
    lands(shelf)
    assert (shop / "staged.txt").read_bytes() == marked


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("change", ["rewritten", "same size and time"])
def test_a_file_that_git_was_told_not_to_look_at(shelf: Shelf, flag: str, change: str) -> None:
    path = shelf.repo / "src" / "pager.py"
    git(shelf.repo, "update-index", flag, "src/pager.py")
    if change == "rewritten":
        path.write_text("mine\n")
    else:
        when, data = path.stat().st_mtime_ns, path.read_bytes()
        path.write_bytes(data.replace(b"n", b"m"))
        os.utime(path, ns=(when, when))
    error = refused(shelf, "in the way")
    assert error.paths == (("src/pager.py", "changed in your tree"),)


# Where HEAD stands


def test_a_detached_head(shelf: Shelf) -> None:
    git(shelf.repo, "checkout", "-q", "--detach")
    refused(shelf, "HEAD is detached")
    lands(shelf, commit=False)
    landing = shelf.merge("claude", branch="try")
    assert git(shelf.repo, "rev-parse", "try") == landing.commit


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert"])
def test_something_is_under_way(shop: Path, scratch: Path, what: str) -> None:
    for branch in ("side", "main"):
        git(shop, "checkout", "-q", *(("-b",) if branch == "side" else ()), branch)
        (shop / "README.md").write_text(f"{branch}\n")
        git(shop, "commit", "-qam", branch)
    shelf = Shelf.of(shop, scratch)
    shelf.lane("claude", kinds.work)
    subprocess.run(["git", what, "side"], cwd=shop, capture_output=True, check=False)
    if what == "rebase":  # its HEAD is elsewhere: the patch is of what it stands on
        assert (shop / ".git" / "rebase-merge").exists()
    refused(shelf, f"a {what} is under way here")
    refused(shelf, f"a {what} is under way here", commit=False)
    before = everything(shop)
    landing = shelf.merge("claude", branch="try")
    assert everything(shop) == before
    assert git(shop, "rev-parse", "try") == landing.commit


def test_a_branch_without_a_commit(shelf: Shelf) -> None:
    git(shelf.repo, "checkout", "-q", "--orphan", "empty")
    before = everything(shelf.repo)
    with pytest.raises(Refused, match="no commit yet"):
        shelf.merge("claude")
    assert everything(shelf.repo) == before


def test_another_branch_is_checked_out_in_the_last_moment(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(shelf.repo)

    def switch(name: str) -> None:
        if name == "index set":
            git(shelf.repo, "symbolic-ref", "HEAD", "refs/heads/other")

    monkeypatch.setattr(transaction, "moment", switch)
    with pytest.raises(transaction.RolledBack, match="another branch was checked out meanwhile"):
        shelf.merge("claude")
    assert everything(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_undo_after_the_branch_moved_in_the_last_moment(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.merge("claude")
    before = Stand.of(shelf.repo)
    other = git(shelf.repo, "commit-tree", "-p", "HEAD", "-m", "elsewhere", "HEAD^{tree}")

    def move(name: str) -> None:
        if name == "ref":
            git(shelf.repo, "update-ref", "refs/heads/main", other)

    monkeypatch.setattr(transaction, "moment", move)
    with pytest.raises(transaction.RolledBack, match="the branch has moved meanwhile"):
        shelf.undo()
    assert git(shelf.repo, "rev-parse", "HEAD") == other
    assert Stand.of(shelf.repo) == before


# Who one is, and with which rights


@pytest.fixture
def anonymous(repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A user whom git does not know."""
    for term in ("name", "email"):
        git(repo, "config", "--unset", f"user.{term}")
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", writes("a", b"a\n"))
    return shelf


def test_nobody_is_refused_with_what_to_do(anonymous: Shelf) -> None:
    process = anonymous.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "git does not know who you are" in process.stderr
    assert "git config --global user.name" in process.stderr
    assert not (anonymous.repo / "a").exists()


def test_a_name_that_was_set_since_the_race_or_in_the_environment_will_do(
    anonymous: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Grace")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "grace@example.com")
    anonymous.merge("claude")
    assert git(anonymous.repo, "log", "-1", "--format=%an <%ae>") == "Grace <grace@example.com>"
    anonymous.undo()
    for name in list(os.environ):
        if name.startswith("GIT_A") or name.startswith("GIT_COMMITTER"):
            monkeypatch.delenv(name)
    git(anonymous.repo, "config", "user.name", "Since")
    git(anonymous.repo, "config", "user.email", "since@example.com")
    anonymous.merge("claude")
    assert git(anonymous.repo, "log", "-1", "--format=%an <%ae>") == "Since <since@example.com>"


def test_a_umask_that_gives_nobody_anything(shelf: Shelf) -> None:
    before = os.umask(0o077)
    try:
        shelf.merge("claude")
        path = shelf.repo / "new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE((path / "file.txt").stat().st_mode) == 0o600
        assert stat.S_IMODE((shelf.repo / "moved.sh").stat().st_mode) == 0o600
        assert git(shelf.repo, "status", "--porcelain") == ""
    finally:
        os.umask(before)


def test_an_executable_is_one_for_those_whom_the_umask_lets(shelf: Shelf) -> None:
    def make(tree: Path) -> None:
        (tree / "tool").write_text("#!/bin/sh\n")
        (tree / "tool").chmod(0o755)

    shelf.lane("codex", make)
    before = os.umask(0o027)
    try:
        shelf.merge("codex")
        assert stat.S_IMODE((shelf.repo / "tool").stat().st_mode) == 0o750
    finally:
        os.umask(before)


def test_a_folder_that_a_group_shares_hands_its_group_on(shelf: Shelf) -> None:
    groups = [ORDINARY] if os.geteuid() == 0 else [g for g in os.getgroups() if g != os.getegid()]
    if not groups:
        pytest.skip("there is only one group to be in")
    src = shelf.repo / "src"
    os.chown(src, -1, groups[0])
    src.chmod(0o2775)

    def make(tree: Path) -> None:
        (tree / "src" / "pager.py").write_text("theirs\n")
        (tree / "src" / "deep").mkdir()
        (tree / "src" / "deep" / "new.py").write_text("theirs\n")
        (tree / "other.py").write_text("theirs\n")

    shelf.lane("codex", make)
    shelf.merge("codex")
    for name in ("pager.py", "deep", "deep/new.py"):
        assert (src / name).stat().st_gid == groups[0], name
    assert (shelf.repo / "other.py").stat().st_gid == os.getegid()


class Account:
    """`hydra` as an ordinary user, to whom the whole scratch folder belongs."""

    def __init__(self, shelf: Shelf, scratch: Path) -> None:
        self.shelf, self.scratch = shelf, scratch
        self.python = python_for(ORDINARY if os.geteuid() == 0 else os.geteuid())
        if not self.python:
            pytest.skip("no Python here that an ordinary user may run")
        (scratch / "home").mkdir()
        scratch.chmod(0o755)
        if os.geteuid() == 0:
            for top, folders, files in os.walk(scratch):
                for name in (".", *folders, *files):
                    os.chown(Path(top, name), ORDINARY, ORDINARY, follow_symlinks=False)

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """The command."""
        account: dict[str, Any] = {}
        if os.geteuid() == 0:
            account = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
        return subprocess.run(
            [self.python, "-m", "hydra", *args],
            cwd=self.shelf.repo,
            env=self._environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **account,
        )

    def _environ(self) -> Mapping[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.scratch / "home"),
            "HYDRA_STATE_DIR": str(self.shelf.state),
            "PYTHONPATH": os.pathsep.join((str(PROJECT), *site.getsitepackages())),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@pytest.fixture
def account(shelf: Shelf, scratch: Path) -> Account:
    return Account(shelf, scratch)


def _folder_to_file(tree: Path) -> None:
    shutil.rmtree(tree / "old")
    (tree / "old").write_text("a file now\n")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["mine", ""])
def test_a_folder_that_cannot_be_looked_into_does_not_go(
    shelf: Shelf, scratch: Path, what: str
) -> None:
    shelf.lane("codex", _folder_to_file)
    closed = shelf.repo / "old" / "closed"
    closed.mkdir()
    if what:
        (closed / what).write_text("mine\n")
    account = Account(shelf, scratch)
    closed.chmod(0)
    process = account.run("merge", "codex", "--no-check")
    assert process.returncode == 5
    assert "old: a folder of yours with other files in it, such as old/closed" in process.stderr
    assert stat.S_IMODE(closed.stat().st_mode) == 0
    closed.chmod(0o700)
    assert [path.name for path in closed.iterdir()] == ([what] if what else [])


@pytest.mark.slow
def test_a_folder_that_lets_nobody_in_is_named(shelf: Shelf, scratch: Path) -> None:
    (shelf.repo / "new").mkdir()
    account = Account(shelf, scratch)
    (shelf.repo / "new").chmod(0)
    for more in ((), ("--dry-run",)):
        process = account.run("merge", "claude", "--no-check", *more)
        assert (process.returncode, "Traceback" in process.stderr) == (5, False), process.stderr
        assert "new/file.txt: its folder cannot be" in process.stderr
    (shelf.repo / "new").chmod(0o300)  # whoever may write there need not read its names
    assert account.run("merge", "claude", "--no-check").returncode == 0
    assert (shelf.repo / "new" / "file.txt").read_text() != ""


@pytest.mark.slow
def test_a_read_only_file_system(shelf: Shelf) -> None:
    before = everything(shelf.repo)
    with mounts() as namespace:
        namespace.read_only(shelf.repo)
        process = subprocess.run(
            [*namespace.wrap(shelf.repo), *shelf_argv(shelf, "merge", "claude", "--no-check")],
            env=shelf.environ,
            capture_output=True,
            text=True,
            check=False,
        )
    assert process.returncode == 5, process.stderr
    assert "Traceback" not in process.stderr
    assert everything(shelf.repo) == before
    lands(shelf)


def shelf_argv(shelf: Shelf, *args: str) -> list[str]:
    """The real command, as `Shelf.command` runs it."""
    import sys

    return [sys.executable, "-m", "hydra", *args]


@pytest.mark.slow
def test_a_git_folder_on_another_file_system(scratch: Path) -> None:
    """Then nothing can be exchanged from there: the staging folder lies in the tree."""
    repo = kinds.shop(scratch)
    disk = scratch / "disk"
    disk.mkdir()
    git(repo, "init", "-q", "--separate-git-dir", str(disk / "shop.git"))
    path = scratch / "kept"
    shutil.copytree(disk / "shop.git", path, symlinks=True)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", kinds.work)
    before = everything(repo)
    with mounts() as namespace:
        namespace.small_disk(disk, "40m")
        namespace.run("cp", "-a", str(path), str(disk / "shop.git"))

        def hydra(*args: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*namespace.wrap(repo), *args],
                env=shelf.environ,
                capture_output=True,
                text=True,
                check=False,
            )

        process = hydra(*shelf_argv(shelf, "merge", "claude", "--no-check"))
        assert process.returncode == 0, process.stderr
        assert hydra("git", "status", "--porcelain").stdout == ""
        undone = hydra(*shelf_argv(shelf, "merge", "--undo"))
        assert undone.returncode == 0, undone.stderr
        assert hydra("git", "status", "--porcelain").stdout == ""
    assert everything(repo) == before
    assert list(repo.glob(".hydra*")) == []


# Submodules and repositories inside


@pytest.fixture
def modules(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A project with the submodule `vendor`, checked out."""
    monkeypatch.chdir(scratch)
    repo = kinds.submodule(scratch)
    inner = repo / "vendor"
    git(inner, "config", "user.name", "Ada")
    git(inner, "config", "user.email", "ada@example.com")
    git(inner, "commit", "-q", "--allow-empty", "-m", "Further")
    git(inner, "checkout", "-q", "--detach", "HEAD~1")
    monkeypatch.chdir(repo)
    return Shelf.of(repo, scratch)


def test_a_submodules_pointer_that_is_changed(modules: Shelf) -> None:
    further = git(modules.repo / "vendor", "rev-parse", "main")
    kinds.lane_of_entries(modules, "claude", f"160000 {further}\tvendor\n")
    before = Stand.of(modules.repo)
    inner = everything(modules.repo / "vendor")
    modules.merge("claude")
    assert git(modules.repo, "rev-parse", "HEAD:vendor") == further
    # As after `git merge`: the pointer has moved, the submodule waits for `submodule update`.
    assert git(modules.repo, "status", "--porcelain") == " M vendor"
    assert everything(modules.repo / "vendor") == inner
    modules.undo()
    assert Stand.of(modules.repo) == before


def test_a_submodule_that_is_added(modules: Shelf) -> None:
    oid = git(modules.repo / "vendor", "rev-parse", "HEAD")
    kinds.lane_of_entries(modules, "claude", f"160000 {oid}\tdeps/more\n")
    before = Stand.of(modules.repo)
    modules.merge("claude")
    assert list((modules.repo / "deps" / "more").iterdir()) == []
    assert git(modules.repo, "status", "--porcelain") == ""
    modules.undo()
    after = Stand.of(modules.repo)
    assert (after.files, after.index, after.tree) == (before.files, before.index, before.tree)


def test_a_submodule_that_is_removed_keeps_its_files(modules: Shelf) -> None:
    kinds.lane_of_entries(modules, "claude", f"0 {'0' * 40}\tvendor\n")
    before = Stand.of(modules.repo)
    modules.merge("claude")
    assert (modules.repo / "vendor" / "src" / "pager.py").is_file()
    assert git(modules.repo, "ls-files", "vendor") == ""
    modules.undo()
    assert Stand.of(modules.repo) == before


@pytest.mark.slow
def test_a_submodule_with_files_does_not_become_a_file(modules: Shelf) -> None:
    blob = git(modules.repo, "rev-parse", "HEAD:README.md")
    kinds.lane_of_entries(modules, "claude", f"100644 {blob}\tvendor\n")
    error = refused(modules, "in the way")
    assert error.paths[0][0] == "vendor"
    git(modules.repo, "submodule", "-q", "deinit", "vendor")
    modules.merge("claude")
    assert (modules.repo / "vendor").read_text() == "# Shop\n"


def test_a_file_that_becomes_a_submodule(modules: Shelf) -> None:
    oid = git(modules.repo / "vendor", "rev-parse", "HEAD")
    kinds.lane_of_entries(modules, "claude", f"0 {'0' * 40}\trun.sh\n160000 {oid}\trun.sh\n")
    before = Stand.of(modules.repo)
    modules.merge("claude")
    assert list((modules.repo / "run.sh").iterdir()) == []
    modules.undo()
    assert Stand.of(modules.repo) == before


@pytest.mark.parametrize("commits", [True, False])
def test_a_repository_of_yours_in_the_way(shelf: Shelf, commits: bool) -> None:
    inner = shelf.repo / "new"
    git(shelf.repo, "init", "-q", "new")
    if commits:
        who = ("-c", "user.name=a", "-c", "user.email=b")
        git(inner, *who, "commit", "-q", "--allow-empty", "-m", "one")
    (inner / "file.txt").write_text("mine\n")
    error = refused(shelf, "in the way")
    assert [path for path, _ in error.paths] == ["new/file.txt"]
    (inner / "file.txt").unlink()
    # git itself would write into it too; its own files are not touched.
    around = everything(inner / ".git")
    lands(shelf)
    assert everything(inner / ".git") == around


# LFS


@pytest.fixture
def lfs(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A project that keeps *.bin in LFS."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    repo = make_repository(scratch / "shop")
    git(repo, "lfs", "install", "--local")
    git(repo, "lfs", "track", "*.bin")
    (repo / "big.bin").write_bytes(b"old" * 1000)
    kinds.commit(repo)
    monkeypatch.chdir(repo)
    return Shelf.of(repo, scratch)


@pytest.mark.slow
def test_lfs_files_and_their_objects_come_over(lfs: Shelf) -> None:
    def make(tree: Path) -> None:
        (tree / "big.bin").write_bytes(b"new" * 1000)
        (tree / "more.bin").write_bytes(b"more" * 1000)
        (tree / "README.md").write_text("# No LFS\n")

    lfs.lane("claude", make)
    before = Stand.of(lfs.repo)
    lfs.merge("claude")
    assert (lfs.repo / "big.bin").read_bytes() == b"new" * 1000
    assert git(lfs.repo, "show", "HEAD:more.bin").startswith("version https://git-lfs")
    for data in (b"new" * 1000, b"more" * 1000):
        oid = hashlib.sha256(data).hexdigest()
        path = lfs.repo / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
        assert path.read_bytes() == data
    assert git(lfs.repo, "status", "--porcelain") == ""
    git(lfs.repo, "lfs", "fsck")
    lfs.undo()
    assert (lfs.repo / "big.bin").read_bytes() == b"old" * 1000
    assert Stand.of(lfs.repo) == before
    assert git(lfs.repo, "status", "--porcelain") == ""


@pytest.mark.slow
def test_lanes_that_add_other_files_of_lfs_land_one_after_the_other(lfs: Shelf) -> None:
    data = {lane: lane.encode() * 1000 for lane in ("claude", "codex", "gemini")}
    store = lfs.repo / ".git" / "lfs" / "objects"

    def landed() -> set[str]:
        digests = {lane: hashlib.sha256(text).hexdigest() for lane, text in data.items()}
        return {lane for lane in data if [*store.rglob(digests[lane])]}

    lfs.lane("first", writes("big.bin", b"newer" * 1000))
    for lane, text in data.items():  # each is opened when the ones before have left their files
        lfs.lane(lane, writes(f"{lane}.bin", text))
    for number, lane in enumerate(data, 1):
        landing = lfs.merge(lane)
        assert [change.path for change in landing.files] == [f"{lane}.bin".encode()]
        assert landed() == {*[*data][:number]}
        assert (lfs.repo / f"{lane}.bin").read_bytes() == data[lane]
        assert git(lfs.repo, "status", "--porcelain") == ""
        git(lfs.repo, "lfs", "fsck")


def test_small_files_beside_lfs_cost_no_git_each(
    lfs: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(tree: Path) -> None:
        (tree / "big.bin").write_bytes(b"new" * 1000)
        for number in range(300):
            (tree / f"n{number}.txt").write_text(f"{number}\n")

    lfs.lane("claude", make)
    argvs: list[list[str]] = []
    start = runner._start

    def counted(argv: list[str], *more: Any) -> subprocess.Popen[bytes]:
        argvs.append(argv)
        return start(argv, *more)

    monkeypatch.setattr(runner, "_start", counted)
    assert len(lfs.merge("claude").files) == 301
    assert len(argvs) < 100


def test_an_lfs_file_that_the_user_changed(lfs: Shelf) -> None:
    lfs.lane("claude", writes("big.bin", b"new" * 9))
    (lfs.repo / "big.bin").write_bytes(b"mine")
    error = refused(lfs, "in the way")
    assert error.paths == (("big.bin", "changed in your tree"),)


def test_a_pointer_to_an_object_that_nobody_has_touches_nothing(lfs: Shelf) -> None:
    """An agent writes a pointer by hand: git-lfs cannot bring it, and fetches from nowhere."""
    oid = "ab" * 32
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12\n"
    lfs.lane("claude", writes("made.bin", text.encode()))
    before = Stand.of(lfs.repo)
    with pytest.raises(HydraError) as caught:
        lfs.merge("claude")
    assert "made.bin" in str(caught.value)
    assert Stand.of(lfs.repo) == before
    assert leftovers(lfs.repo) == []


def test_a_pointer_that_was_never_fetched_moves_as_it_is(lfs: Shelf) -> None:
    pointer = git(lfs.repo, "show", "HEAD:big.bin") + "\n"
    for file in (lfs.repo / ".git" / "lfs" / "objects").rglob("*"):
        if file.is_file():
            file.unlink()
    (lfs.repo / "big.bin").write_text(pointer)
    os.utime(lfs.repo / "big.bin", (1, 1))  # else git asks git-lfs, which leaves a file behind
    git(lfs.repo, "add", "big.bin")
    lfs.lane("claude", moves("big.bin", "moved.bin"))
    before = Stand.of(lfs.repo)
    lfs.merge("claude")
    assert (lfs.repo / "moved.bin").read_text() == pointer
    assert not (lfs.repo / "big.bin").exists()
    assert git(lfs.repo, "status", "--porcelain") == ""
    lfs.undo()
    assert Stand.of(lfs.repo) == before


# From uncommitted changes (--include-dirty)


class Dirty:
    """A race that began from the user's uncommitted files."""

    def __init__(self, repo: Path, scratch: Path) -> None:
        (repo / "README.md").write_text("# Mine\n")
        (repo / "lines.txt").write_text("".join(f"mine {n}\n" for n in range(1, 31)))
        (repo / "staged.txt").write_text("staged\n")
        git(repo, "add", "staged.txt")
        (repo / "untracked.txt").write_text("untracked\n")
        self.shelf = Shelf.of(repo, scratch)
        race = self.shelf.race
        head = race.base
        base = base_commit.dirty_base(race.repo, race.patches, head, Limits())
        object.__setattr__(race, "base", base)
        self.shelf.lane("claude", self.edits)
        self._record(head)

    @staticmethod
    def edits(tree: Path) -> None:
        text = (tree / "lines.txt").read_text()
        (tree / "lines.txt").write_text(text.replace("mine 3\n", "theirs 3\n"))
        (tree / "untracked.txt").write_text("theirs\n")
        (tree / "staged.txt").write_text("theirs\n")
        (tree / "src" / "pager.py").write_text("theirs\n")
        (tree / "new.txt").write_text("theirs\n")

    def _record(self, head: str) -> None:
        import json

        file = self.shelf.race.patches.parent / "manifest.json"
        document = json.loads(file.read_text())
        file.write_text(json.dumps({**document, "head": head}))


@pytest.fixture
def dirty(shop: Path, scratch: Path) -> Shelf:
    return Dirty(shop, scratch).shelf


def test_a_race_from_uncommitted_changes_lands_only_without_a_commit(dirty: Shelf) -> None:
    for values in ({}, {"branch": "try"}):
        assert "--no-commit" in refused(dirty, "without what the patch was made", **values).hint
    before = Stand.of(dirty.repo)
    dirty.merge("claude", commit=False)
    repo = dirty.repo
    assert "theirs 3\n" in (repo / "lines.txt").read_text()
    assert "mine 4\n" in (repo / "lines.txt").read_text()
    assert (repo / "untracked.txt").read_text() == "theirs\n"
    assert (repo / "README.md").read_text() == "# Mine\n"
    # What the user had staged stays as it was staged; the agent's other files are staged.
    assert git(repo, "show", ":staged.txt") == "staged"
    assert git(repo, "diff", "--cached", "--name-only").splitlines() == [
        *("new.txt", "src/pager.py", "staged.txt"),
    ]
    assert git(repo, "ls-files", "untracked.txt") == ""
    dirty.undo()
    assert Stand.of(repo) == before


@pytest.mark.parametrize("name", ["lines.txt", "untracked.txt", "staged.txt"])
def test_a_file_that_was_changed_again_since_is_refused(dirty: Shelf, name: str) -> None:
    (dirty.repo / name).write_text("once more\n")
    error = refused(dirty, "in the way", commit=False)
    assert error.paths == ((name, "changed in your tree"),)


@pytest.mark.slow
def test_such_a_landing_killed_is_old_or_new(dirty: Shelf) -> None:
    is_old_or_new_wherever_killed(dirty, partial(dirty.merge, "claude", commit=False))


# What breaks off in the very last moment


def test_ctrl_c_as_git_has_just_moved_the_branch_stands(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any, **options: Any) -> Any:
        done = run(*args, **options)
        if args[0] == "update-ref":
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr("hydra.landing.transaction.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shelf.merge("claude")
    monkeypatch.undo()
    assert git(shelf.repo, "rev-parse", "HEAD^") == shelf.race.base
    assert kinds.unlike_git(shelf.repo) == []
    assert git(shelf.repo, "status", "--porcelain") == ""
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("moment", ["locked", "journaled moving", "given", "index set", "ref"])
def test_ctrl_c_before_that_puts_all_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    before = Stand.of(shelf.repo)

    def stop(name: str) -> None:
        if name == moment:
            raise KeyboardInterrupt

    monkeypatch.setattr(transaction, "moment", stop)
    with pytest.raises(KeyboardInterrupt):
        shelf.merge("claude")
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_last_note_that_the_disk_does_not_take_puts_all_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Stand.of(shelf.repo)
    plain = LandingStore.write

    def full(self: LandingStore, journal: Journal) -> None:
        if journal.phase == DONE:
            raise OSError(28, "No space left on device")
        plain(self, journal)

    monkeypatch.setattr(LandingStore, "write", full)
    with pytest.raises(LandingRefused, match=r"all is as it was: .*No space left"):
        shelf.merge("claude", commit=False)
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_record_that_the_disk_does_not_take_is_no_word_against_the_landing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hydra.landing import completion

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(completion, "write_record", full)
        with pytest.raises(LandingRefused, match="it has landed, but") as caught:
            shelf.merge("claude")
    assert "the next hydra command finishes it" in caught.value.hint
    lines: list[str] = []
    recover(shelf.environ, lines.append)
    assert len(lines) == 1
    assert "finished" in lines[0]
    assert kinds.unlike_git(shelf.repo) == []
    assert leftovers(shelf.repo) == []
    shelf.undo()


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    yield
    kinds.quiet()

"""Landing in every kind of repository, and on every kind of ground."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.errors import HydraError, LandingRefused
from hydra.git import base_commit
from hydra.race.recovery.startup import recover
from hydra.records.request import Limits
from tests.conftest import git, make_repository
from tests.support import landing_kinds as kinds
from tests.support.faults import HYDRA_DIES
from tests.support.landing_kinds import KINDS, OWN, Stand
from tests.support.landings import Shelf, everything, leftovers
from tests.support.shelf import (
    INDEX,
    LAND,
    MOVED,
    gives,
    is_old_or_new_wherever_killed,
    shelf,
    takes,
)
from tests.support.surroundings import mounts
from tests.support.trust import ORDINARY, Place

__all__ = ["shelf"]

Edits = Callable[[Path], object]

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do that to a file")


def refused(shelf: Shelf, match: str, **options: object) -> LandingRefused:
    """The dry run is refused, and so is the landing, before anything was moved."""
    before = Stand.of(shelf.repo)
    with pytest.raises(LandingRefused, match=match) as caught:
        shelf.merge("claude", dry_run=True, **options)
    names = changed_at(shelf.repo)
    with pytest.raises(LandingRefused, match=match):
        shelf.merge("claude", **options)
    assert changed_at(shelf.repo) == names
    assert Stand.of(shelf.repo) == before
    return caught.value


def changed_at(repo: Path) -> dict[str, int]:
    """When each file had its name last."""
    return {path: (repo / path).lstat().st_ctime_ns for path in everything(repo)}


def writes(name: str, data: bytes) -> Edits:
    """An agent that writes one file."""
    return lambda tree: (tree / name).write_bytes(data)


# Kinds of repositories

QUICK = ("linked-worktree", "sparse-cone", "sha256", "autocrlf")
"""The kinds of the default run; `pytest -m full` has the others."""

OTHERS = [" M README.md", "?? untracked.txt", "MM staged.txt"]


def status(repo: Path) -> list[str]:
    return sorted(git(repo, "status", "--porcelain").splitlines())


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k in QUICK else pytest.mark.full) for k in KINDS]
)
def test_it_lands_beside_other_changes_goes_back_and_is_old_or_new(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(scratch)
    repo = KINDS[kind](scratch)
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch, ("rot",) if kind == "allowed-filter" else ())
    shelf.lane("claude", kinds.work)
    kinds.users_own(repo)
    before = Stand.of(repo)
    (scratch / "ran").unlink(missing_ok=True)  # what plain git ran until now
    shelf.merge("claude")
    after = Stand.of(repo)
    if "sparse" in kind or kind == "partial-clone":
        assert ("new/file.txt" in after.files) == (kind == "sparse-patterns")
        git(repo, "sparse-checkout", "reapply")
        assert Stand.of(repo) == after
    assert kinds.unlike_git(repo) == []
    assert {name: after.files[name] for name in OWN} == {name: before.files[name] for name in OWN}
    assert (after.stash, status(repo), kinds.clean(repo)) == (before.stash, OTHERS, True)
    shelf.undo()
    assert (Stand.of(repo), status(repo), kinds.clean(repo)) == (before, OTHERS, True)
    for place, stands in ((takes("src/pager.py"), before), (MOVED, after)):
        deed = HYDRA_DIES if place == MOVED else "kill"
        assert shelf.hit(*LAND, at={place: deed}).returncode == -9
        recover(shelf.environ, lambda line: None)
        assert (Stand.of(repo), kinds.clean(repo)) == (stands, True), place
    shelf.undo()
    moves_on(shelf, before)
    assert not (scratch / "ran").exists()


def moves_on(shelf: Shelf, before: Stand) -> None:
    """The branch moves in the last moment, which puts all back; then before the landing."""
    repo, hooks = shelf.repo, ("-c", f"core.hooksPath={os.devnull}")
    other = git(repo, "commit-tree", "-p", "HEAD", "-m", "elsewhere", "HEAD^{tree}")
    moves = f"git {' '.join(hooks)} update-ref HEAD {other}"
    assert "the branch has moved meanwhile" in shelf.hit(*LAND, at={INDEX: f"then {moves}"}).stderr
    assert git(repo, "rev-parse", "HEAD") == other
    assert (Stand.of(repo), kinds.clean(repo)) == (before, True)
    lines = (repo / "lines.txt").read_bytes()
    (repo / "lines.txt").write_bytes(lines.replace(b"line 25", b"mine", 1))
    git(repo, *hooks, "commit", "-q", "-m", "Mine", "--only", "lines.txt")
    assert shelf.merge("claude").record.moved
    assert kinds.unlike_git(repo) == []
    output = (repo / "lines.txt").read_bytes()
    assert (b"mine" in output, b"three" in output, kinds.clean(repo)) == (True, True, True)


@pytest.mark.parametrize(
    "kind",
    ["sparse-cone", "sparse-index", pytest.param("sparse-patterns", marks=pytest.mark.full)],
)
@pytest.mark.parametrize("what", ["changed and added", "removed"])
def test_paths_outside_of_a_sparse_checkout_change_in_the_index_alone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, kind: str, what: str
) -> None:
    repo = KINDS[kind](scratch)
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    docs = repo / "docs"

    def edits(tree: Path) -> None:
        (tree / "docs" / "deep").mkdir(parents=True, exist_ok=True)
        for name in ("a.md", "b.md"):
            (tree / "docs" / "deep" / name).write_text("theirs\n")

    if what == "removed":  # no agent removes what its own sparse worktree has not
        kinds.lane_of_entries(shelf, "claude", f"0 {'0' * 40}\tdocs/deep/a.md\n")
    else:
        shelf.lane("claude", edits)
    before = Stand.of(repo)
    shelf.merge("claude")
    assert not docs.exists()
    assert git(repo, "status", "--porcelain") == ""
    listed = git(repo, "ls-files", "-t", "docs").splitlines()
    assert listed == ([] if what == "removed" else ["S docs/deep/a.md", "S docs/deep/b.md"])
    shelf.undo()
    assert Stand.of(repo) == before
    assert not docs.exists()
    if what != "removed":  # one that stands there all the same is the user's
        (docs / "deep").mkdir(parents=True)
        (docs / "deep" / "b.md").write_text("mine\n")
        with pytest.raises(LandingRefused, match="in the way"):
            shelf.merge("claude")
        assert (docs / "deep" / "b.md").read_text() == "mine\n"


@pytest.mark.parametrize("fold", ["true", "false"])
def test_a_sparse_checkout_of_a_folder_deep_down(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, fold: str
) -> None:
    """In a cone, the files beside the way belong to it, the folders beside the way do not."""
    repo = kinds.shop(scratch)
    (repo / "src" / "deep").mkdir()
    (repo / "src" / "deep" / "x").write_text("x\n")
    kinds.commit(repo)
    git(repo, "config", "core.ignoreCase", fold)
    git(repo, "sparse-checkout", "set", "--cone", "src/deep")
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    stays = {"src/beside.py": True, "src/deep/er/y": True, "src/other/z": False}
    names = {**stays, "top.txt": True, "elsewhere/w": False}

    def edits(tree: Path) -> None:
        for name in names:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("new\n")

    shelf.lane("claude", edits)
    shelf.merge("claude")
    assert {name: (repo / name).exists() for name in names} == names
    after = Stand.of(repo)
    git(repo, "sparse-checkout", "reapply")
    assert Stand.of(repo) == after
    assert git(repo, "status", "--porcelain") == ""


# Where git keeps fewer bytes than the user's tree has

DISPLACED = ("src/pager.py", "old/gone.txt", "lines.txt")


def attributes(repo: Path, text: str) -> None:
    (repo / ".gitattributes").write_text(text)
    kinds.commit(repo)


def rewritten(repo: Path, change: Callable[[bytes], bytes]) -> None:
    for name in DISPLACED:
        (repo / name).write_bytes(change((repo / name).read_bytes()))


def lf_under_autocrlf(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")


def crlf_under_an_attribute(repo: Path) -> None:
    attributes(repo, "* text=auto\n")
    rewritten(repo, lambda data: data.replace(b"\n", b"\r\n"))


def another_ident(repo: Path) -> None:
    rewritten(repo, lambda data: data + b"# $Id$\n")
    attributes(repo, "* ident\n")
    rewritten(repo, lambda data: data.replace(b"$Id$", b"$Id: mine $"))


def another_encoding(repo: Path) -> None:
    rewritten(repo, lambda data: data.decode().encode("utf-16"))
    attributes(repo, "".join(f"{name} working-tree-encoding=UTF-16\n" for name in DISPLACED))
    rewritten(repo, lambda data: b"\xfe\xff" + data.decode("utf-16").encode("utf-16-be"))


def unsmudged(repo: Path) -> None:
    git(repo, "config", "filter.rot.clean", "tr a-zA-Z n-za-mN-ZA-M | tr A-Z a-z")
    git(repo, "config", "filter.rot.smudge", "tr a-zA-Z n-za-mN-ZA-M")
    (repo / ".gitattributes").write_text("*.py filter=rot\n*.txt filter=rot\n")
    git(repo, "add", "--renormalize", ".")
    kinds.commit(repo)
    rewritten(repo, bytes.upper)


WAYS = (lf_under_autocrlf, crlf_under_an_attribute, another_ident, another_encoding, unsmudged)


def edit(tree: Path) -> None:
    """What the agent does: two files changed, one gone."""
    (tree / "src/pager.py").write_bytes(b"# anew\n")
    text = (tree / "lines.txt").read_bytes()
    (tree / "lines.txt").write_bytes(text + text)
    (tree / "old/gone.txt").unlink()


def converted(scratch: Path, way: Edits) -> Shelf:
    """One lane's work on a project whose files git sees as unchanged, whatever their bytes are."""
    repo = kinds.shop(scratch)
    way(repo)
    git(repo, "add", "--renormalize", ".")
    assert git(repo, "status", "--porcelain") == ""
    shelf = Shelf.of(repo, scratch, ("rot",) if way is unsmudged else ())
    shelf.lane("claude", edit)
    return shelf


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_an_undo_brings_every_byte_back(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, way: Edits
) -> None:
    monkeypatch.chdir(scratch)
    shelf = converted(scratch, way)
    monkeypatch.chdir(shelf.repo)
    before = everything(shelf.repo)
    for commit in (True, False):
        shelf.merge("claude", commit=commit)
        assert everything(shelf.repo) != before
        shelf.undo()
        assert everything(shelf.repo) == before
        assert git(shelf.repo, "status", "--porcelain") == ""
        assert leftovers(shelf.repo) == []


def test_an_undo_brings_every_byte_back_after_a_kill_and_none_where_they_are_gone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = converted(scratch, lf_under_autocrlf)
    monkeypatch.chdir(shelf.repo)
    before = everything(shelf.repo)
    deeds = {takes("lines.txt"): "kill", gives("lines.txt"): "kill", MOVED: HYDRA_DIES}
    for place, deed in deeds.items():
        assert shelf.hit(*LAND, at={place: deed}).returncode == -9
        recover(shelf.environ, lambda _: None)
        if place == MOVED:
            shelf.undo()
        assert everything(shelf.repo) == before
        assert leftovers(shelf.repo) == []
    shelf.merge("claude")
    landed = everything(shelf.repo)
    folder = shelf.race.patches.parent / "landings"
    record = max(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
    exact = json.loads(record.read_text())["exact"]
    files = [*folder.glob(f"{record.stem}.exact/*")]
    assert {file.name for file in files} == {*exact.values()}
    for file in files:
        file.unlink()
    with pytest.raises(LandingRefused, match="nothing was undone"):
        shelf.undo()
    assert everything(shelf.repo) == landed
    assert leftovers(shelf.repo) == []


# What cannot be changed


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_of_gits(shelf: Shelf, lock: str) -> None:
    (shelf.repo / ".git" / lock).touch()
    error = refused(shelf, "another git is at work")
    assert str(shelf.repo / ".git" / lock) in error.hint
    if lock != "index.lock":  # a landing without a commit moves no branch
        shelf.merge("claude", commit=False)
    (shelf.repo / ".git/refs/heads/try.lock").touch()
    refused(shelf, "another git is at work on try", branch="try")


@root
@pytest.mark.parametrize(
    "path",
    [
        *("src/pager.py", "old/gone.txt", "src", "."),
        *(".git/index", ".git", ".git/objects", ".git/refs/heads", ".git/logs/HEAD"),
    ],
)
def test_a_part_of_the_tree_or_of_gits_that_cannot_be_changed(shelf: Shelf, path: str) -> None:
    place = shelf.repo / path
    for flag in "ai":
        if subprocess.run(["chattr", f"+{flag}", place], capture_output=True).returncode:
            pytest.skip("a file system without attributes")
        try:
            if ".git" not in path:
                error = refused(shelf, "in the way")
                assert any(f"chattr -{flag}" in why for _, why in error.paths)
            elif flag == "i":
                refused(shelf, r"is immutable \(until chattr -i\)")
            elif path.endswith("logs/HEAD"):  # a log that only grows is grown
                shelf.merge("claude")
        finally:
            subprocess.run(["chattr", f"-{flag}", place], check=True)
        if path.endswith("logs/HEAD") and flag == "a":
            shelf.undo()


def hydra(shelf: Shelf, wrap: list[str], *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*wrap, sys.executable, "-m", "hydra", "merge", *args],
        env=shelf.environ,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", ["src/pager.py", "src", ".git"])
def test_a_mount_in_the_tree(shelf: Shelf, path: str) -> None:
    """As containers have them: of the same file system, and yet nothing can be renamed over it."""
    with mounts() as namespace:
        place = str(shelf.repo / path)
        namespace.run("mount", "--bind", place, place)
        for more in (("--dry-run",), ()):
            done = hydra(shelf, namespace.wrap(shelf.repo), "claude", "--no-check", *more)
            if path == ".git":  # the files change places in the tree itself
                assert done.returncode == 0, done.stderr
            else:
                assert (done.returncode, "is a mount of its own" in done.stderr) == (5, True)
    assert list(shelf.repo.glob(".hydra*")) == []


@pytest.mark.slow
def test_a_read_only_file_system(shelf: Shelf) -> None:
    before = everything(shelf.repo)
    with mounts() as namespace:
        namespace.read_only(shelf.repo)
        process = hydra(shelf, namespace.wrap(shelf.repo), "claude", "--no-check")
    assert (process.returncode, "Traceback" in process.stderr) == (5, False), process.stderr
    assert everything(shelf.repo) == before
    shelf.merge("claude")


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
        wrap = namespace.wrap(repo)
        for args in (("claude", "--no-check"), ("--undo",)):
            done = hydra(shelf, wrap, *args)
            assert done.returncode == 0, done.stderr
            shown = subprocess.run([*wrap, "git", "status", "--porcelain"], capture_output=True)
            assert shown.stdout == b""
    assert everything(repo) == before
    assert list(repo.glob(".hydra*")) == []


@pytest.mark.slow
def test_a_folder_that_lets_nobody_in_does_not_go_and_is_named(shelf: Shelf, scratch: Path) -> None:
    def folder_to_file(tree: Path) -> None:
        shutil.rmtree(tree / "old")
        (tree / "old").write_text("a file now\n")

    shelf.lane("codex", folder_to_file)
    closed, new = shelf.repo / "old" / "closed", shelf.repo / "new"
    new.mkdir()
    closed.mkdir()
    (closed / "mine").write_text("mine\n")
    account = Place(scratch, shelf.repo, uid=ORDINARY if os.geteuid() == 0 else os.geteuid())
    if not account.python:
        pytest.skip("no Python here that an ordinary user may run")
    account.hand_over()
    for names in (["mine"], []):
        closed.chmod(0)
        process = account.run("merge", "codex", "--no-check")
        assert process.returncode == 5
        assert "old: a folder of yours with other files in it, such as old/closed" in process.stderr
        assert stat.S_IMODE(closed.stat().st_mode) == 0
        closed.chmod(0o700)
        assert [path.name for path in closed.iterdir()] == names
        (closed / "mine").unlink(missing_ok=True)
    closed.rmdir()
    new.chmod(0)
    for more in ((), ("--dry-run",)):
        process = account.run("merge", "claude", "--no-check", *more)
        assert process.returncode == 5, process.stderr
        assert "new/file.txt: its folder cannot be" in process.stderr
    new.chmod(0o300)  # whoever may write there need not read its names
    assert account.run("merge", "claude", "--no-check").returncode == 0
    assert (new / "file.txt").read_text() != ""


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
def test_lfs_files_and_their_objects_come_over_one_lane_after_the_other(lfs: Shelf) -> None:
    data = {"big": b"new" * 1000, "codex": b"codex" * 1000, "gemini": b"gemini" * 1000}
    store = lfs.repo / ".git" / "lfs" / "objects"
    for lane, text in data.items():  # each is opened when the ones before have left their files
        lfs.lane(lane, writes(f"{lane}.bin", text))
    before = Stand.of(lfs.repo)
    for number, lane in enumerate(data, 1):
        landing = lfs.merge(lane)
        assert [change.path for change in landing.files] == [f"{lane}.bin".encode()]
        digests = {lane: hashlib.sha256(text).hexdigest() for lane, text in data.items()}
        came = [lane for lane, digest in digests.items() if [*store.rglob(digest)]]
        assert came == [*data][:number]
        assert (lfs.repo / f"{lane}.bin").read_bytes() == data[lane]
        assert git(lfs.repo, "show", f"HEAD:{lane}.bin").startswith("version https://git-lfs")
        assert git(lfs.repo, "status", "--porcelain") == ""
        git(lfs.repo, "lfs", "fsck")
    for _ in data:
        lfs.undo()
    assert Stand.of(lfs.repo) == before
    assert git(lfs.repo, "status", "--porcelain") == ""


def test_a_pointer_to_an_object_that_nobody_has_touches_nothing(lfs: Shelf) -> None:
    """An agent writes a pointer by hand: git-lfs cannot bring it, and fetches from nowhere."""
    oid = "ab" * 32
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12\n"
    lfs.lane("claude", writes("made.bin", text.encode()))
    before = Stand.of(lfs.repo)
    with pytest.raises(HydraError, match=r"made\.bin"):
        lfs.merge("claude")
    assert Stand.of(lfs.repo) == before
    assert leftovers(lfs.repo) == []
    lfs.lane("codex", writes("big.bin", b"new" * 9))
    (lfs.repo / "big.bin").write_bytes(b"mine")
    with pytest.raises(LandingRefused) as caught:
        lfs.merge("codex")
    assert caught.value.paths == (("big.bin", "changed in your tree"),)


def test_a_pointer_that_was_never_fetched_moves_as_it_is(lfs: Shelf) -> None:
    pointer = git(lfs.repo, "show", "HEAD:big.bin") + "\n"
    for file in (lfs.repo / ".git" / "lfs" / "objects").rglob("*"):
        if file.is_file():
            file.unlink()
    (lfs.repo / "big.bin").write_text(pointer)
    os.utime(lfs.repo / "big.bin", (1, 1))  # else git asks git-lfs, which leaves a file behind
    git(lfs.repo, "add", "big.bin")
    lfs.lane("claude", lambda tree: (tree / "big.bin").rename(tree / "moved.bin"))
    before = Stand.of(lfs.repo)
    lfs.merge("claude")
    assert (lfs.repo / "moved.bin").read_text() == pointer
    assert not (lfs.repo / "big.bin").exists()
    assert git(lfs.repo, "status", "--porcelain") == ""
    lfs.undo()
    assert Stand.of(lfs.repo) == before


# From uncommitted changes (--include-dirty)


@pytest.fixture
def dirty(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A race that began from the user's uncommitted files."""
    repo = kinds.shop(scratch)
    monkeypatch.chdir(repo)
    (repo / "README.md").write_text("# Mine\n")
    (repo / "lines.txt").write_text("".join(f"mine {n}\n" for n in range(1, 31)))
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "untracked.txt").write_text("untracked\n")
    shelf = Shelf.of(repo, scratch)
    race = shelf.race
    head = race.base
    base = base_commit.dirty_base(race.repo, race.patches, head, Limits())
    object.__setattr__(race, "base", base)

    def edits(tree: Path) -> None:
        text = (tree / "lines.txt").read_text()
        (tree / "lines.txt").write_text(text.replace("mine 3\n", "theirs 3\n"))
        for name in ("untracked.txt", "staged.txt", "src/pager.py", "new.txt"):
            (tree / name).write_text("theirs\n")

    shelf.lane("claude", edits)
    file = race.patches.parent / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "head": head}))
    return shelf


def test_a_race_from_uncommitted_changes_lands_only_without_a_commit(dirty: Shelf) -> None:
    for branch in ("", "try"):
        error = refused(dirty, "without what the patch was made", branch=branch)
        assert "--no-commit" in error.hint
    before, repo = Stand.of(dirty.repo), dirty.repo
    dirty.merge("claude", commit=False)
    text = (repo / "lines.txt").read_text()
    assert ("theirs 3\n" in text, "mine 4\n" in text) == (True, True)
    assert (repo / "untracked.txt").read_text() == "theirs\n"
    assert (repo / "README.md").read_text() == "# Mine\n"
    # What the user had staged stays as it was staged; the agent's other files are staged.
    assert git(repo, "show", ":staged.txt") == "staged"
    names = git(repo, "diff", "--cached", "--name-only").splitlines()
    assert names == ["new.txt", "src/pager.py", "staged.txt"]
    assert git(repo, "ls-files", "untracked.txt") == ""
    dirty.undo()
    assert Stand.of(repo) == before
    for name in ("lines.txt", "untracked.txt", "staged.txt"):
        was = (repo / name).read_bytes()
        (repo / name).write_text("once more\n")
        error = refused(dirty, "in the way", commit=False)
        assert error.paths == ((name, "changed in your tree"),)
        (repo / name).write_bytes(was)


@pytest.mark.slow
def test_such_a_landing_killed_is_old_or_new(dirty: Shelf) -> None:
    is_old_or_new_wherever_killed(dirty, (*LAND, "--no-commit"))

"""Landing: what is taken over, what is left alone, and what refuses it with nothing touched.

Whatever is one row is in tests/data/landings.toml (tests/test_landing_table.py).
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hydra.errors import LandingRefused, UsageError
from hydra.git.patches import commit_tree
from hydra.git.runner import GitFailed, run
from hydra.git.status import WorkTree
from hydra.landing.hunks import hunks
from hydra.landing.picks import Pick
from hydra.race.recovery.retention import is_landed
from hydra.records.store.reader import RunRecord
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support import without_calls
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, Whole, everything, leftovers
from tests.support.shelf import empty_run, fixture_of, shelf
from tests.support.trust import ORDINARY

__all__ = ["shelf"]


empty = fixture_of(empty_run)


def line(number: int, text: str, tree: Path) -> None:
    """Puts that into `lines.txt`."""
    lines = (tree / "lines.txt").read_text().splitlines()
    lines[number - 1] = text
    (tree / "lines.txt").write_text("".join(f"{line}\n" for line in lines))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# What lands


def test_a_patch_lands_as_one_commit_of_the_users_and_leaves_nothing_behind(shelf: Shelf) -> None:
    landing = shelf.merge("claude")
    repo, patches = shelf.repo, shelf.race.patches
    assert git(repo, "rev-parse", "HEAD", "HEAD^") == f"{landing.commit}\n{shelf.race.base}"
    assert git(repo, "rev-parse", "HEAD^{tree}") == git(patches, "rev-parse", "claude^{tree}")
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "log", "-1", "--format=%an %ae %s") == "Ada ada@example.com The task"
    assert "Hydra-Agent: claude 1.0" in git(repo, "log", "-1", "--format=%b")
    assert "hydra merge claude" in git(repo, "reflog", "-1")
    assert not (repo / "old").exists()
    assert leftovers(repo) == []
    git(repo, "fsck", "--strict")


def test_a_branch_that_moved_on_is_merged_with_and_a_conflict_touches_nothing(empty: Shelf) -> None:
    empty.lane("claude", partial(line, 3, "three by claude"))
    empty.lane("codex", partial(line, 20, "twenty by codex"))
    repo = empty.repo
    line(20, "twenty by me", repo)
    git(repo, "commit", "-qam", "Mine")
    assert empty.merge("claude").record.moved
    text = (repo / "lines.txt").read_text().splitlines()
    assert (text[2], text[19]) == ("three by claude", "twenty by me")
    before = Whole.of(repo)
    with pytest.raises(LandingRefused, match="both changed the same place") as caught:
        empty.merge("codex")
    assert caught.value.paths == (("lines.txt", "contents"),)
    assert Whole.of(repo) == before


def test_picks_of_three_lanes_make_one_commit(empty: Shelf) -> None:
    def two_lines(tree: Path) -> None:
        line(3, "claude", tree)
        line(25, "also", tree)

    empty.lane("claude", two_lines)
    empty.lane("codex", kinds.work)
    empty.lane("third", lambda tree: (tree / "old/gone.txt").rename(tree / "moved.txt"))
    patches = empty.race.patches
    pieces = hunks(patches, empty.race.base, git(patches, "rev-parse", "claude"))
    of_three = pieces[0]
    picks = [Pick("claude", hunk=of_three.id[:10]), Pick("codex", path="new")]
    empty.merge(picks=(*picks, Pick("third", path="moved.txt")))
    repo = empty.repo
    assert git(repo, "show", "--name-status", "--format=", "-M", "HEAD").splitlines() == [
        *("M\tlines.txt", "R100\told/gone.txt\tmoved.txt", "A\tnew/file.txt"),
    ]
    text = (repo / "lines.txt").read_text().splitlines()
    assert (text[2], text[24]) == ("claude", "line 25")
    with pytest.raises(UsageError, match="does not change nope") as caught:
        empty.merge(picks=(Pick("codex", path="nope"),))
    assert "it changes lines.txt" in caught.value.hint


@pytest.mark.parametrize("what", ["links", "renames", "links-renames"])
def test_without_hard_links_or_renameat2_it_lands_and_goes_back(shelf: Shelf, what: str) -> None:
    """As on FAT, exFAT, most shares of a VM."""
    kinds.users_own(shelf.repo)
    before = Stand.of(shelf.repo)
    for args in (("claude", "--no-check"), ("--undo",)):
        hydra = (sys.executable, without_calls.__file__, what, sys.executable, "-m", "hydra")
        subprocess.run([*hydra, "merge", *args], cwd=shelf.repo, env=shelf.environ, check=True)
        assert kinds.unlike_git(shelf.repo) == []
        assert leftovers(shelf.repo) == []
    assert Stand.of(shelf.repo) == before


def test_git_knows_what_was_landed_without_reading_it(shelf: Shelf) -> None:
    acts: list[Callable[[], object]] = [partial(shelf.merge, "claude"), shelf.undo]
    for act in acts:
        kinds.aged(shelf.repo)
        act()
        assert git(shelf.repo, "diff-files", "--name-only") == ""
        assert git(shelf.repo, "status", "--porcelain") == ""


def test_a_split_index_keeps_what_it_knows_of_a_file_just_saved(shelf: Shelf) -> None:
    """Saved in the second of its entry, at the same size: git reads such a file again."""
    git(shelf.repo, "config", "core.splitIndex", "true")
    beside = shelf.repo / "beside.txt"
    beside.write_text("one\n")
    then = int(time.time()) - 3600  # no clock can tell the index from the file
    os.utime(beside, (then, then))
    git(shelf.repo, "config", "core.trustctime", "false")
    git(shelf.repo, "add", "beside.txt")
    git(shelf.repo, "commit", "-q", "-m", "beside")
    for index in (shelf.repo / ".git").glob("*index*"):
        os.utime(index, (then, then))
    was = beside.stat()
    beside.write_text("two\n")
    os.utime(beside, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert git(shelf.repo, "--no-optional-locks", "status", "--porcelain") == " M beside.txt"
    shelf.merge("claude")
    assert git(shelf.repo, "status", "--porcelain") == " M beside.txt"


@pytest.mark.slow
@pytest.mark.parametrize(("files", "commit"), [(3, True), (150, False)], ids=["loose", "packed"])
def test_all_objects_come_and_none_names_one_that_did_not(
    empty: Shelf, files: int, commit: bool
) -> None:
    def edits(tree: Path) -> None:
        kinds.work(tree)
        for number in range(files):
            folder = tree / "new" / str(number % 7) / "deep"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.txt").write_text(f"{number}\n")

    empty.lane("claude", edits)
    empty.merge("claude", commit=commit)
    empty.race.patches.rename(empty.race.patches.with_name("away"))
    assert git(empty.repo, "fsck", "--full", "--strict", "--no-dangling") == ""
    git(empty.repo, "write-tree")  # checks that every entry's object is there


def test_hooks_do_not_run_and_are_named(shelf: Shelf, scratch: Path) -> None:
    for name in ("pre-commit", "post-merge", "post-commit", "reference-transaction"):
        hook = shelf.repo / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> {scratch}/ran\n")
        hook.chmod(0o755)
    landing = shelf.merge("claude")
    assert landing.hooks == ("pre-commit", "post-commit", "post-merge", "reference-transaction")
    assert not (scratch / "ran").exists()


def test_a_landed_run_may_go_by_itself_and_one_that_was_taken_back_may_not(shelf: Shelf) -> None:
    record = RunRecord(shelf.race.patches.parent)
    assert not is_landed(record, shelf.state)
    shelf.merge("claude")
    assert is_landed(record, shelf.state)
    git(shelf.repo, "reset", "-q", "--hard", "HEAD^")
    assert not is_landed(record, shelf.state), "the branch no longer holds it"
    git(shelf.repo, "reset", "-q", "--hard", "ORIG_HEAD")
    shelf.undo()
    assert not is_landed(record, shelf.state)
    shelf.merge("claude", commit=False)
    assert not is_landed(record, shelf.state), "nothing holds it but the tree"


# What says no


def test_a_branch_that_is_there_is_told_before_the_checks(shelf: Shelf) -> None:
    def check(record: RunRecord, commit: str) -> dict[str, object]:
        raise AssertionError((record, commit))

    with pytest.raises(LandingRefused, match=r"main is there already, so there can be no main/sub"):
        shelf.merge("claude", branch="main/sub", check=check)
    git(shelf.repo, "branch", "feature/one")
    for name in ("feature", "main"):
        with pytest.raises(LandingRefused, match="is there already"):
            shelf.merge("claude", branch=name, check=check)
    with pytest.raises(UsageError, match="no name for a branch"):
        shelf.merge("claude", branch="a..b", check=check)


@pytest.mark.slow
def test_words_that_say_nothing_and_an_editor_that_gives_none_land_nothing(shelf: Shelf) -> None:
    before = Whole.of(shelf.repo)
    unchecked = ("merge", "claude", "--no-check")
    for terms in (("--branch", ""), ("-m", " ")):
        assert shelf.command(*unchecked, *terms).returncode == 2
    assert shelf.command("merge", "--undo", "--abort").returncode == 2
    for script in ('rm "$0"', 'printf "\\377\\376\\n" > "$0"', "exit 3"):
        process = subprocess.run(
            [sys.executable, "-m", "hydra", *unchecked, "--edit"],
            cwd=shelf.repo,
            env={**shelf.environ, "GIT_EDITOR": f"sh -c '{script}'"},
            capture_output=True,
            text=True,
        )
        assert process.returncode == 2, process.stderr
        assert "your editor did not give a message" in process.stderr
    assert Whole.of(shelf.repo) == before


def test_an_index_that_cannot_be_refreshed_is_no_change_of_the_users(
    shelf: Shelf, scratch: Path
) -> None:
    index = scratch / "index"
    shutil.copyfile(shelf.repo / ".git/index", index)
    tree = WorkTree(shelf.race.patches, shelf.repo, index)
    os.utime(shelf.repo / "run.sh", (1, 1))
    (scratch / "index.lock").touch()  # as a full disk would
    with pytest.raises(GitFailed, match="update-index"):
        tree.refresh()
    (scratch / "index.lock").unlink()
    tree.refresh()
    assert tree.changed() == {}


# Undo


def test_landings_are_undone_one_after_another(shelf: Shelf) -> None:
    shelf.lane("codex", lambda tree: (tree / "more").write_text("more\n"))
    wholes = []
    for lane in ("claude", "codex"):
        wholes.append(Whole.of(shelf.repo))
        shelf.merge(lane)
    for whole in reversed(wholes):
        shelf.undo()
        assert Whole.of(shelf.repo) == whole
    for _ in range(2):
        with pytest.raises(LandingRefused, match="each landing here was undone already"):
            shelf.undo()
    for text in ("{}", "[]", '{"standing": [3]}', "no JSON"):  # a damaged note of the last one
        (note,) = shelf.state.glob("*/landing/last.json")
        note.write_text(text)
        shelf.merge("claude")
        shelf.undo()
        assert Whole.of(shelf.repo) == wholes[0]


def test_undo_refuses_where_something_has_moved(shelf: Shelf) -> None:
    shelf.merge("claude")
    (shelf.repo / "src/pager.py").write_text("mine now\n")
    with pytest.raises(LandingRefused, match="in the way"):
        shelf.undo()
    git(shelf.repo, "commit", "-qam", "Further")
    with pytest.raises(LandingRefused, match="the branch has moved"):
        shelf.undo()


def test_undo_leaves_a_branch_that_another_worktree_is_on(shelf: Shelf, scratch: Path) -> None:
    commit = shelf.merge("claude", branch="try").commit
    git(shelf.repo, "worktree", "add", "-q", str(scratch / "elsewhere"), "try")
    with pytest.raises(LandingRefused, match="another worktree is on that branch"):
        shelf.undo()
    assert git(scratch / "elsewhere", "status", "--porcelain") == ""
    git(scratch / "elsewhere", "checkout", "-q", "--detach")
    git(shelf.repo, "branch", "-m", "try", "tried")
    with pytest.raises(LandingRefused, match="try is not there any more") as caught:
        shelf.undo()
    assert f"if you renamed it, it stays: {commit[:12]}" in caught.value.hint
    git(shelf.repo, "branch", "-m", "tried", "try")
    shelf.undo()
    assert git(shelf.repo, "branch", "--list", "try") == ""


def test_undo_of_a_run_that_was_removed_says_so(shelf: Shelf) -> None:
    landed = shelf.merge("claude").commit
    assert shelf.command("runs", "rm", "--yes", shelf.race.patches.parent.name).returncode == 0
    with pytest.raises(LandingRefused, match="was removed, and its record with it"):
        shelf.undo()
    assert git(shelf.repo, "rev-parse", "HEAD") == landed


@pytest.mark.slow
def test_undo_touches_nothing_where_the_last_landings_record_is_damaged(shelf: Shelf) -> None:
    landed = shelf.merge("claude").commit
    (record,) = (shelf.race.patches.parent / "landings").glob("*.json")
    for damage in (b"{}", b"{garb", b"[" * 200_000):
        record.write_bytes(damage)
        process = shelf.command("merge", "--undo")
        assert (process.returncode, "Traceback" in process.stderr) == (6, False)
        assert "the last landing's record cannot be read" in process.stderr
    assert git(shelf.repo, "rev-parse", "HEAD") == landed


# Names


def crafted(shelf: Shelf, name: bytes, mode: str = "100644", content: bytes = b"theirs\n") -> None:
    """A lane whose patch holds a path that no git would add: made of tree objects alone."""
    store, base = shelf.race.patches, shelf.race.base

    def made(*args: str, stdin: bytes) -> bytes:
        return run(*args, git_dir=store, stdin=stdin, isolated=True).stdout.strip()

    *folders, last = name.split(b"/")
    oid = made("hash-object", "-w", "--stdin", stdin=content)
    entry = b"%s blob %s\t%s\0" % (mode.encode(), oid, last)
    for folder in reversed(folders):
        entry = b"040000 tree %s\t%s\0" % (made("mktree", "-z", stdin=entry), folder)
    entries = run("ls-tree", "-z", base, git_dir=store, isolated=True).stdout + entry
    tree = made("mktree", "-z", stdin=entries).decode()
    commit = commit_tree(store, tree=tree, base=base, message="Do it")
    run("update-ref", "refs/heads/claude", commit, git_dir=store, isolated=True)
    shelf.lanes.append("claude")
    shelf._record()


GITS, OUTSIDE = "git keeps this name", "not a path inside"
HOSTILE = {
    **dict.fromkeys((b".git/hooks/post-merge", b".GIT/config", b"src2/.Git/config"), GITS),
    **dict.fromkeys((b"git~1/config", b".git /x", b".git./x", b".g\xe2\x80\x8cit/x"), GITS),
    **dict.fromkeys((b".git::$INDEX_ALLOCATION/x", b"a\\.git\\hooks\\x"), GITS),
    **dict.fromkeys((b"../outside", b"a/../../outside", b"./here"), OUTSIDE),
}


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[2:-1])
def test_a_path_that_git_would_refuse_is_refused_and_named(empty: Shelf, name: bytes) -> None:
    crafted(empty, name)
    before, around = Stand.of(empty.repo), everything(empty.repo / ".git")
    for options in ({}, {"commit": False}, {"branch": "try"}, {"dry_run": True}):
        with pytest.raises(LandingRefused) as caught:
            empty.merge("claude", **options)
        assert HOSTILE[name] in dict(caught.value.paths)[os.fsdecode(name)], caught.value
    assert Stand.of(empty.repo) == before
    assert not (empty.repo.parent / "outside").exists()
    # Not even an object was brought.
    assert everything(empty.repo / ".git") == around


def test_a_hostile_path_is_shown_safely_and_the_rest_of_its_patch_can_be_picked(
    empty: Shelf,
) -> None:
    crafted(empty, b".g\xe2\x80\x8cit/x\x1b[31m")
    process = empty.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "--pick LANE:PATH" in process.stderr
    assert not {"\u200c", "\x1b"} & set(process.stderr)


def test_a_symlink_that_git_reads_settings_from_is_refused(empty: Shelf) -> None:
    crafted(empty, b".gitmodules", "120000", b"/etc/passwd")
    with pytest.raises(LandingRefused) as caught:
        empty.merge("claude")
    assert caught.value.paths == ((".gitmodules", "git takes no symlink for this file"),)


ODD = (
    *(b"-dash", b"--force", b"new\nline", b"esc\x1b[31mred", b"\xff\xfe\x80", b'quo"te'),
    *(b"tab\there", b"back\\slash", b":(top)magic", b"*", b"[a]", b" space ", b"%s", b"$HOME"),
    *("caf\u00e9".encode(), b"n" * 255, b"/".join([b"d" * 200] * 12) + b"/f"),
)


def write_odd(names: tuple[bytes, ...], tree: Path) -> None:
    for name in names:
        path = Path(os.fsdecode(os.fsencode(tree) + b"/" + name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name)


def test_names_of_every_sort_land_and_go_back_and_are_named_in_the_way(empty: Shelf) -> None:
    empty.lane("claude", partial(write_odd, ODD))
    repo, before = empty.repo, Stand.of(empty.repo)
    process = empty.command("merge", "claude", "--no-check")
    assert process.returncode == 0, process.stderr
    assert "\x1b" not in process.stdout
    files = everything(repo)
    assert [files[os.fsdecode(name)][1] for name in ODD] == [*ODD]
    assert git(repo, "status", "--porcelain") == ""
    empty.undo()
    assert Stand.of(repo) == before
    assert leftovers(repo) == []
    write_odd(ODD[:5], repo)
    before = Stand.of(repo)
    process = empty.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "5 paths are in the way" in process.stderr
    assert "\x1b" not in process.stderr
    assert Stand.of(repo) == before


def test_an_export_of_odd_names_and_carriage_returns_is_taken_by_git_am(
    empty: Shelf, scratch: Path
) -> None:
    repo = empty.repo
    (repo / "crlf.txt").write_bytes(b"a\r\nb\r\nc=1\r\n")
    kinds.commit(repo)
    shelf = Shelf.of(repo, scratch / "other")
    ground = shelf.race.opened("claude")
    write_odd(ODD[:-2], ground.worktree)
    (ground.worktree / "crlf.txt").write_bytes(b"a\r\nB=3D\r\nc=1\r\nlast\r")
    (ground.worktree / "wide.txt").write_text("\u00e4=" * 600 + "\n.\nFrom me\n=\n")
    message = "Die Aufgabe: gr\u00fc\u00dfen = 3"
    patch = ground.snapshot(attempt=1, message=f"{message}\n\nHydra-Agent: x 1.0\n").commit
    ground.remove()
    shelf.lanes.append("claude")
    shelf._record()
    process = shelf.command("diff", "claude", "--mbox", "-o", str(scratch / "mail"))
    assert process.returncode == 0, process.stderr
    git(repo, "am", "-q", str(scratch / "mail"))
    taken = git(shelf.race.patches, "rev-parse", f"{patch}^{{tree}}")
    assert git(repo, "rev-parse", "HEAD^{tree}") == taken
    assert git(repo, "log", "-1", "--format=%s") == message


def test_one_stands_in_a_folder_that_is_emptied(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shelf.repo / "old")
    shelf.merge("claude")
    assert Path.cwd() == shelf.repo / "old"
    assert list((shelf.repo / "old").iterdir()) == []
    shelf.undo()
    assert (shelf.repo / "old" / "gone.txt").read_text() == "goes\n"


# Who one is, and with which rights


def test_nobody_is_refused_with_what_to_do_and_a_name_that_was_set_since_will_do(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for term in ("name", "email"):
        git(repo, "config", "--unset", f"user.{term}")
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", lambda tree: (tree / "a").write_text("a\n"))
    process = shelf.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "git does not know who you are" in process.stderr
    assert "git config --global user.name" in process.stderr
    assert not (repo / "a").exists()
    with monkeypatch.context() as patch:
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "Grace")
            patch.setenv(f"GIT_{role}_EMAIL", "grace@example.com")
        shelf.merge("claude")
    assert git(repo, "log", "-1", "--format=%an <%ae>") == "Grace <grace@example.com>"
    git(repo, "config", "user.name", "Since")
    git(repo, "config", "user.email", "since@example.com")
    shelf.undo()
    shelf.merge("claude")
    assert git(repo, "log", "-1", "--format=%an <%ae>") == "Since <since@example.com>"


def test_modes_are_those_that_the_umask_leaves(empty: Shelf) -> None:
    def edits(tree: Path) -> None:
        kinds.work(tree)
        (tree / "tool").write_text("#!/bin/sh\n")
        (tree / "tool").chmod(0o755)

    empty.lane("claude", edits)
    repo = empty.repo
    for umask, modes in ((0o077, (0o700, 0o600, 0o700)), (0o027, (0o750, 0o640, 0o750))):
        before = os.umask(umask)
        try:
            empty.merge("claude")
        finally:
            os.umask(before)
        assert (mode(repo / "new"), mode(repo / "new/file.txt"), mode(repo / "tool")) == modes
        assert git(repo, "status", "--porcelain") == ""
        empty.undo()


def test_extended_attributes_and_the_owner_stay(shelf: Shelf) -> None:
    changed, gone = shelf.repo / "src/pager.py", shelf.repo / "old/gone.txt"
    owner = ORDINARY if os.geteuid() == 0 else os.geteuid()
    os.chown(changed, owner, -1)
    for path in (changed, gone):
        try:
            os.setxattr(path, "user.note", b"mine\xff")
        except OSError:
            pytest.skip("a file system without extended attributes")
    shelf.merge("claude")
    assert (os.getxattr(changed, "user.note"), changed.stat().st_uid) == (b"mine\xff", owner)
    shelf.undo()
    assert changed.stat().st_uid == owner
    for path in (changed, gone):
        assert os.getxattr(path, "user.note") == b"mine\xff"


def test_a_folder_that_a_group_shares_hands_its_group_on(empty: Shelf) -> None:
    groups = [ORDINARY] if os.geteuid() == 0 else [g for g in os.getgroups() if g != os.getegid()]
    if not groups:
        pytest.skip("there is only one group to be in")
    src = empty.repo / "src"
    os.chown(src, -1, groups[0])
    src.chmod(0o2775)

    def make(tree: Path) -> None:
        (tree / "src" / "deep").mkdir()
        for name in ("src/pager.py", "src/deep/new.py", "other.py"):
            (tree / name).write_text("theirs\n")

    empty.lane("codex", make)
    empty.merge("codex")
    for name in ("pager.py", "deep", "deep/new.py"):
        assert (src / name).stat().st_gid == groups[0], name
    assert (empty.repo / "other.py").stat().st_gid == os.getegid()

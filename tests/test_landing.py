"""Landing: what is taken over, what is left alone, and what refuses it with nothing touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hydra.errors import LandingRefused, UsageError
from hydra.git.runner import GitFailed
from hydra.git.status import WorkTree
from hydra.landing.picks import Pick
from hydra.race.recovery.retention import is_landed
from hydra.records.store.reader import RunRecord
from tests.conftest import git, make_repository
from tests.support.landings import Shelf, Whole, everything, laid, leftovers


def empty_run(scratch: Path) -> Shelf:
    """A repository of a few kinds of files, and an empty run over it."""
    repo = make_repository(scratch / "shop")
    (repo / "old").mkdir()
    (repo / "old" / "gone.txt").write_text("goes\n")
    (repo / "lines.txt").write_text("".join(f"line {n}\n" for n in range(1, 31)))
    (repo / "run.sh").write_text("#!/bin/sh\n")
    (repo / "data.bin").write_bytes(bytes(range(256)))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Second commit")
    return Shelf.of(repo, scratch)


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """That; the test stands in its repository."""
    shelf = laid(scratch, empty_run)
    monkeypatch.chdir(shelf.repo)
    return shelf


def work(tree: Path) -> None:
    """Changes of every kind."""
    (tree / "src" / "pager.py").write_text("def pages(n, size):\n    return -(-n // size)\n")
    shutil.rmtree(tree / "old")
    (tree / "new").mkdir()
    (tree / "new" / "file.txt").write_text("no newline at the end")
    (tree / "run.sh").chmod(0o755)
    (tree / "data.bin").write_bytes(bytes(range(255, -1, -1)))
    (tree / "link").symlink_to("lines.txt")


def test_a_patch_lands_as_one_commit_of_the_users_and_leaves_nothing_behind(shelf: Shelf) -> None:
    patch = shelf.lane("claude", work)
    before = git(shelf.repo, "rev-parse", "HEAD")
    landing = shelf.merge("claude")
    repo = shelf.repo
    assert git(repo, "rev-parse", "HEAD") == landing.commit
    assert git(repo, "rev-parse", "HEAD^") == before
    assert git(repo, "rev-parse", "HEAD^{tree}") == git(
        shelf.race.patches, "rev-parse", f"{patch}^{{tree}}"
    )
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "log", "-1", "--format=%an %ae %s") == "Ada ada@example.com The task"
    assert "Hydra-Agent: claude 1.0" in git(repo, "log", "-1", "--format=%b")
    assert "hydra merge claude" in git(repo, "reflog", "-1")
    assert not (repo / "old").exists()
    assert leftovers(repo) == []
    git(repo, "fsck", "--strict")


def test_undo_brings_everything_back(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    before = Whole.of(shelf.repo)
    shelf.merge("claude")
    shelf.undo()
    assert Whole.of(shelf.repo) == before
    with pytest.raises(LandingRefused, match="undone already"):
        shelf.undo()


def more(tree: Path) -> None:
    (tree / "more").write_text("more\n")


def test_landings_are_undone_one_after_another(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    shelf.lane("codex", more)
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


@pytest.mark.parametrize("text", ["{}", "[]", '{"standing": [3]}', "no JSON"])
def test_a_landing_after_a_damaged_note_of_the_last_one_can_be_undone(
    shelf: Shelf, text: str
) -> None:
    shelf.lane("claude", work)
    shelf.merge("claude")
    shelf.undo()
    before = Whole.of(shelf.repo)
    (note,) = shelf.state.glob("*/landing/last.json")
    note.write_text(text)
    shelf.merge("claude")
    shelf.undo()
    assert Whole.of(shelf.repo) == before


def test_without_a_commit_it_is_staged_and_can_be_undone(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    before = Whole.of(shelf.repo)
    shelf.merge("claude", commit=False)
    assert git(shelf.repo, "diff", "--name-only") == ""
    assert git(shelf.repo, "diff", "--cached", "--name-only").splitlines() == [
        *("data.bin", "link", "new/file.txt", "old/gone.txt", "run.sh", "src/pager.py"),
    ]
    assert git(shelf.repo, "rev-parse", "HEAD") == shelf.race.base
    shelf.undo()
    assert Whole.of(shelf.repo) == before


def test_on_a_new_branch_the_tree_is_not_touched(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    before = everything(shelf.repo)
    landing = shelf.merge("claude", branch="try")
    assert everything(shelf.repo) == before
    assert git(shelf.repo, "rev-parse", "try") == landing.commit
    with pytest.raises(LandingRefused, match="the branch try is there already"):
        shelf.merge("claude", branch="try")
    shelf.undo()
    assert git(shelf.repo, "branch", "--list", "try") == ""


def test_what_the_user_changed_elsewhere_stays_byte_for_byte(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    repo = shelf.repo
    (repo / "README.md").write_text("# Mine\n")
    (repo / "lines.txt").write_text("staged\n")
    git(repo, "add", "lines.txt")
    (repo / "lines.txt").write_text("staged, and changed again\n")
    (repo / "untracked").write_text("u\n")
    (repo / ".env").write_text("SECRET=1\n")
    mine = ("README.md", "lines.txt", "untracked", ".env")
    before = everything(repo)
    shelf.merge("claude")
    after = everything(repo)
    assert {name: after[name] for name in mine} == {name: before[name] for name in mine}
    assert git(repo, "show", ":lines.txt") == "staged"
    assert git(repo, "status", "--porcelain").splitlines() == [
        *(" M README.md", "MM lines.txt", "?? untracked"),
    ]
    shelf.undo()
    assert everything(repo) == before


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("src/pager.py", "dirty", "changed in your tree"),
        ("src/pager.py", "staged", "staged"),
        ("old/gone.txt", "dirty", "changed in your tree"),
        ("old/gone.txt", "deleted", "deleted in your tree"),
        ("new/file.txt", "untracked", "git does not track"),
        ("new", "untracked", "on the way"),
        ("link", "folder", "a folder of yours with other files"),
        ("src/pager.py", "assumed", "changed in your tree"),
    ],
)
def test_what_is_in_the_way_refuses_it_by_name(
    shelf: Shelf, name: str, make: str, reason: str
) -> None:
    shelf.lane("claude", work)
    repo = shelf.repo
    _make(repo, name, make)
    before = Whole.of(repo)
    with pytest.raises(LandingRefused, match="in the way") as caught:
        shelf.merge("claude")
    assert any(reason in why for _, why in caught.value.paths), caught.value.paths
    assert Whole.of(repo) == before
    assert leftovers(repo) == []


def _make(repo: Path, name: str, make: str) -> None:
    path = repo / name
    match make:
        case "dirty":
            path.write_text("mine\n")
        case "staged":
            path.write_text("mine\n")
            git(repo, "add", name)
        case "deleted":
            path.unlink()
        case "untracked":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("mine\n")
        case "folder":
            path.mkdir()
            (path / "mine").write_text("mine\n")
        case "assumed":
            git(repo, "update-index", "--assume-unchanged", name)
            path.write_text("mine\n")


def test_an_ignored_file_is_never_overwritten(shelf: Shelf) -> None:
    shelf.lane("claude", lambda tree: _force(tree, ".env", "THEIRS=1\n"))
    (shelf.repo / ".env").write_text("MINE=1\n")
    with pytest.raises(LandingRefused) as caught:
        shelf.merge("claude")
    assert [path for path, _ in caught.value.paths] == [".env"]
    assert (shelf.repo / ".env").read_text() == "MINE=1\n"


def _force(tree: Path, name: str, text: str) -> None:
    # An agent that takes the file out of .gitignore makes it part of its patch.
    (tree / ".gitignore").write_text("*.log\n")
    (tree / name).write_text(text)


def test_a_branch_that_moved_on_is_merged_with_and_a_conflict_touches_nothing(
    shelf: Shelf,
) -> None:
    shelf.lane("claude", lambda tree: _line(tree, 3, "three by claude"))
    shelf.lane("codex", lambda tree: _line(tree, 20, "twenty by codex"))
    repo = shelf.repo
    _line(repo, 20, "twenty by me")
    git(repo, "commit", "-qam", "Mine")
    landing = shelf.merge("claude")
    assert landing.record.moved
    text = (repo / "lines.txt").read_text().splitlines()
    assert (text[2], text[19]) == ("three by claude", "twenty by me")
    before = Whole.of(repo)
    with pytest.raises(LandingRefused, match="both changed the same place") as caught:
        shelf.merge("codex")
    assert caught.value.paths == (("lines.txt", "contents"),)
    assert Whole.of(repo) == before


def test_a_patch_that_was_made_ahead_of_the_branch_lands_with_what_it_was_made_on(
    shelf: Shelf, scratch: Path
) -> None:
    """As a race with `--base FETCH_HEAD`: from a lane's patch that has not landed."""
    first = shelf.lane("claude", lambda tree: _line(tree, 3, "three by claude"))
    repo = shelf.repo
    git(repo, "fetch", "-q", str(shelf.race.patches), "claude")
    start = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "--detach", "FETCH_HEAD")
    ahead = Shelf.of(repo, scratch / "ahead")
    git(repo, "checkout", "-q", "main")
    ahead.lane("codex", lambda tree: _line(tree, 20, "twenty by codex"))
    before = Whole.of(repo)
    with pytest.raises(LandingRefused, match="which is ahead of main") as caught:
        ahead.merge("codex")
    assert Whole.of(repo) == before
    assert git(repo, "rev-parse", "HEAD") == start
    line = caught.value.hint.removeprefix("take that first: ").partition(";")[0]
    git(repo, *line.split()[1:])
    assert git(repo, "rev-parse", "HEAD") == first
    assert not ahead.merge("codex").record.moved
    text = (repo / "lines.txt").read_text().splitlines()
    assert (text[2], text[19]) == ("three by claude", "twenty by codex")


def _line(tree: Path, number: int, text: str) -> None:
    lines = (tree / "lines.txt").read_text().splitlines()
    lines[number - 1] = text
    (tree / "lines.txt").write_text("".join(f"{line}\n" for line in lines))


def test_picks_of_three_lanes_make_one_commit(shelf: Shelf) -> None:
    shelf.lane("claude", _two_lines)
    shelf.lane("codex", work)
    shelf.lane("third", _rename)
    hunk = next(row for row in _hunks(shelf, "claude") if row.endswith("+claude"))
    shelf.merge(
        picks=(
            Pick("claude", hunk=hunk.split(" ")[0][:10]),
            Pick("codex", path="new"),
            Pick("third", path="moved.txt"),
        )
    )
    repo = shelf.repo
    assert git(repo, "show", "--name-status", "--format=", "-M", "HEAD").splitlines() == [
        *("M\tlines.txt", "R100\told/gone.txt\tmoved.txt", "A\tnew/file.txt"),
    ]
    lines = (repo / "lines.txt").read_text().splitlines()
    assert (lines[2], lines[24]) == ("claude", "line 25")


def _two_lines(tree: Path) -> None:
    _line(tree, 3, "claude")
    _line(tree, 25, "also")


def _rename(tree: Path) -> None:
    (tree / "old/gone.txt").rename(tree / "moved.txt")


def _hunks(shelf: Shelf, lane: str) -> list[str]:
    from hydra.landing.hunks import hunks

    commit = git(shelf.race.patches, "rev-parse", lane)
    pieces = hunks(shelf.race.patches, shelf.race.base, commit)
    return [
        f"{h.id} {b''.join(b'+' + n for e in h.edits for n in e.new).decode().strip()}"
        for h in pieces
    ]


def test_a_pick_that_fits_nothing_is_told_with_what_there_is(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    with pytest.raises(UsageError, match="does not change nope") as caught:
        shelf.merge(picks=(Pick("claude", path="nope"),))
    assert "run.sh" in caught.value.hint or "src/pager.py" in caught.value.hint
    with pytest.raises(UsageError, match="no hunk 'ffff'"):
        shelf.merge(picks=(Pick("claude", hunk="ffff"),))


def test_undo_refuses_where_something_has_moved(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    shelf.merge("claude")
    (shelf.repo / "src/pager.py").write_text("mine now\n")
    with pytest.raises(LandingRefused, match="in the way"):
        shelf.undo()
    git(shelf.repo, "commit", "-qam", "Further")
    with pytest.raises(LandingRefused, match="the branch has moved"):
        shelf.undo()


def test_undo_leaves_a_branch_that_another_worktree_is_on(shelf: Shelf, scratch: Path) -> None:
    shelf.lane("claude", work)
    shelf.merge("claude", branch="try")
    git(shelf.repo, "worktree", "add", "-q", str(scratch / "elsewhere"), "try")
    with pytest.raises(LandingRefused, match="another worktree is on that branch"):
        shelf.undo()
    assert git(scratch / "elsewhere", "status", "--porcelain") == ""
    git(scratch / "elsewhere", "checkout", "-q", "--detach")
    git(shelf.repo, "branch", "-m", "try", "tried")
    with pytest.raises(LandingRefused, match="try is not there any more"):
        shelf.undo()
    git(shelf.repo, "branch", "-m", "tried", "try")
    shelf.undo()
    assert git(shelf.repo, "branch", "--list", "try") == ""


def test_undo_of_a_run_that_was_removed_says_so(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    landed = shelf.merge("claude").commit
    assert shelf.command("runs", "rm", "--yes", shelf.race.patches.parent.name).returncode == 0
    with pytest.raises(LandingRefused, match="was removed, and its record with it"):
        shelf.undo()
    assert git(shelf.repo, "rev-parse", "HEAD") == landed


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"{}", b"[]", b"{garb", b"[" * 200_000])
def test_undo_touches_nothing_where_the_last_landings_record_is_damaged(
    shelf: Shelf, damage: bytes
) -> None:
    shelf.lane("claude", work)
    landed = shelf.merge("claude").commit
    (record,) = (shelf.race.patches.parent / "landings").glob("*.json")
    record.write_bytes(damage)
    process = shelf.command("merge", "--undo")
    assert (process.returncode, "Traceback" in process.stderr) == (6, False)
    assert "the last landing's record cannot be read" in process.stderr
    assert git(shelf.repo, "rev-parse", "HEAD") == landed


@pytest.mark.slow
def test_a_refused_undo_speaks_of_undoing(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    shelf.merge("claude")
    (shelf.repo / "src/pager.py").write_text("mine now\n")
    process = shelf.command("merge", "--undo")
    assert process.returncode == 5
    assert "nothing was undone: 1 path is in the way\n  src/pager.py: changed" in process.stderr
    assert "--branch" not in process.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [("--branch", ""), ("--branch", "a..b"), ("-m", " "), ("--undo", "--abort")],
)
def test_words_that_say_nothing_land_nothing(shelf: Shelf, terms: tuple[str, ...]) -> None:
    shelf.lane("claude", work)
    before = Whole.of(shelf.repo)
    lane = () if "--undo" in terms else ("claude", "--no-check")
    process = shelf.command("merge", *lane, *terms)
    assert process.returncode == 2, process.stderr
    assert Whole.of(shelf.repo) == before


@pytest.mark.slow
@pytest.mark.parametrize("script", ['rm "$0"', 'printf "\\377\\376\\n" > "$0"', "exit 3"])
def test_an_editor_that_gives_no_message_lands_nothing(shelf: Shelf, script: str) -> None:
    shelf.lane("claude", work)
    before = Whole.of(shelf.repo)
    process = subprocess.run(
        [sys.executable, "-m", "hydra", "merge", "claude", "--no-check", "--edit"],
        cwd=shelf.repo,
        env={**shelf.environ, "GIT_EDITOR": f"sh -c '{script}'"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2, process.stderr
    assert "your editor did not give a message" in process.stderr
    assert Whole.of(shelf.repo) == before


def test_a_branch_that_is_there_is_told_before_the_checks(shelf: Shelf) -> None:
    shelf.lane("claude", work)

    def check(record: RunRecord, commit: str) -> dict[str, object]:
        raise AssertionError((record, commit))

    with pytest.raises(LandingRefused, match="is there already"):
        shelf.merge("claude", branch="main", check=check)
    with pytest.raises(LandingRefused, match=r"main is there already, so there can be no main/sub"):
        shelf.merge("claude", branch="main/sub", check=check)
    git(shelf.repo, "branch", "feature/one")
    with pytest.raises(LandingRefused, match=r"feature/one is there already, so there can be no"):
        shelf.merge("claude", branch="feature", check=check)
    with pytest.raises(UsageError, match="no name for a branch"):
        shelf.merge("claude", branch="a..b", check=check)


def test_an_index_that_cannot_be_refreshed_is_no_change_of_the_users(
    shelf: Shelf, scratch: Path
) -> None:
    index = scratch / "index"
    shutil.copyfile(shelf.repo / ".git/index", index)
    tree = WorkTree(shelf.race.patches, shelf.repo, index)
    (shelf.repo / "run.sh").touch()
    os.utime(shelf.repo / "run.sh", (1, 1))
    (scratch / "index.lock").touch()  # as a full disk would
    with pytest.raises(GitFailed, match="update-index"):
        tree.refresh()
    (scratch / "index.lock").unlink()
    tree.refresh()
    assert tree.changed() == {}


@pytest.mark.parametrize("message", ["The task", "Die Aufgabe: gr\u00fc\u00dfen = 3"])
def test_an_export_keeps_carriage_returns_in_git_am(
    shelf: Shelf, scratch: Path, message: str
) -> None:
    lines = shelf.repo / "crlf.txt"
    lines.write_bytes(b"a\r\nb\r\nc=1\r\n")
    git(shelf.repo, "add", "-A")
    git(shelf.repo, "commit", "-qm", "CRLF")
    race = Shelf.of(shelf.repo, scratch / "other")
    long = "\u00e4=" * 600
    ground = race.race.opened("claude")
    (ground.worktree / "crlf.txt").write_bytes(b"a\r\nB=3D\r\nc=1\r\nlast\r")
    (ground.worktree / "wide.txt").write_text(f"{long}\n.\nFrom me\n=\n")
    patch = ground.snapshot(attempt=1, message=f"{message}\n\nHydra-Agent: x 1.0\n").commit
    ground.remove()
    race.lanes.append("claude")
    race._record()
    mail = scratch / "mail"
    process = race.command("diff", "claude", "--mbox", "-o", str(mail))
    assert process.returncode == 0, process.stderr
    git(shelf.repo, "am", "-q", str(mail))
    assert git(shelf.repo, "rev-parse", "HEAD^{tree}") == git(
        race.race.patches, "rev-parse", f"{patch}^{{tree}}"
    )
    assert git(shelf.repo, "log", "-1", "--format=%s") == message


def test_hooks_do_not_run_and_are_named(shelf: Shelf, scratch: Path) -> None:
    shelf.lane("claude", work)
    for name in ("pre-commit", "post-merge", "post-commit", "reference-transaction"):
        hook = shelf.repo / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> {scratch}/ran\n")
        hook.chmod(0o755)
    landing = shelf.merge("claude")
    assert landing.hooks == ("pre-commit", "post-commit", "post-merge", "reference-transaction")
    assert not (scratch / "ran").exists()


@pytest.mark.slow
def test_the_command_says_what_it_did_and_exits_by_the_table(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    (shelf.repo / "run.sh").write_text("mine\n")
    refused = shelf.command("merge", "claude")
    assert refused.returncode == 5
    assert "run.sh: changed in your tree" in refused.stderr
    git(shelf.repo, "checkout", "-q", "run.sh")
    unchecked = shelf.command("merge", "claude")
    assert unchecked.returncode == 5, "without a plan nobody knows its checks"
    assert "--no-check" in unchecked.stderr
    landed = shelf.command("merge", "claude", "--no-check")
    assert landed.returncode == 0, landed.stderr
    assert "landed claude on main" in landed.stdout
    assert shelf.command("merge", "claude").returncode == 5
    unnamed = shelf.command("merge")
    assert unnamed.returncode == 5, "no lane of a record as bare as this one is mergeable"
    assert "claude is held back: changed nothing" in unnamed.stderr
    assert shelf.command("merge", "--undo").returncode == 0


def test_a_landed_run_may_go_by_itself_and_one_that_was_taken_back_may_not(shelf: Shelf) -> None:
    shelf.lane("claude", work)
    run = RunRecord(shelf.race.patches.parent)
    assert not is_landed(run, shelf.state)
    shelf.merge("claude")
    assert is_landed(run, shelf.state)
    git(shelf.repo, "reset", "-q", "--hard", "HEAD^")
    assert not is_landed(run, shelf.state), "the branch no longer holds it"
    git(shelf.repo, "reset", "-q", "--hard", "ORIG_HEAD")
    shelf.undo()
    assert not is_landed(run, shelf.state)
    shelf.merge("claude", commit=False)
    assert not is_landed(run, shelf.state), "nothing holds it but the tree"

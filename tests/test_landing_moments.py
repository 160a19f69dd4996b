"""A landing, and an undo, that is killed or met by somebody else at each of its moments.

It is old or new, never between; and what is saved meanwhile is in the tree, or kept and named.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hydra.commands.merge_undo import abort
from hydra.errors import LandingRefused
from hydra.git.runner import run
from hydra.git.status import WorkTree
from hydra.landing import completion, rollback, swap, transaction
from hydra.landing.journal import DONE, Journal, LandingStore
from hydra.landing.picks import Pick
from hydra.race.recovery.startup import recover
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support import without_calls
from tests.support.forks import forked
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, everything, laid, leftovers
from tests.support.shelf import empty_run, is_old_or_new_wherever_killed, shelf

__all__ = ["shelf"]

SAVED = b"saved just now\n"

Save = Callable[[Path], object]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    yield
    kinds.quiet()


def at(moment: str, act: Callable[[], object]) -> None:
    """Acts once, at that moment of a landing."""
    waiting = [act]
    kinds.watch(lambda name: name == moment and waiting and waiting.pop()())


def refused(act: Callable[[], object]) -> LandingRefused:
    with pytest.raises(LandingRefused) as caught:
        act()
    kinds.quiet()
    return caught.value


def facts(path: Path) -> tuple[int, bytes]:
    return path.stat().st_mode, path.read_bytes()


# Killed


def all_sorts(tree: Path) -> None:
    """A file and a folder change places, too; and names that what stands aside could have."""
    kinds.work(tree)
    shutil.rmtree(tree / ".githooks")
    (tree / ".githooks").write_text("now a file\n")
    (tree / "lines.txt").unlink()
    (tree / "lines.txt" / "deep").mkdir(parents=True)
    (tree / "lines.txt" / "deep" / "x").write_text("now in a folder\n")
    for name in ("staged.txt.aside", "aside", "staged.txt.old"):
        (tree / name).write_text(f"{name}\n")


def of_all_sorts(scratch: Path) -> Shelf:
    shelf = empty_run(scratch)
    shelf.lane("claude", all_sorts)
    shelf.lane("codex", lambda tree: (tree / "c.txt").write_bytes(b"crlf\r\nno newline"))
    kinds.users_own(shelf.repo)
    return shelf


PICKS = (Pick("claude", path="src"), Pick("codex", path="c.txt"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "way",
    [
        *("lane", "undo", "renames", "links-renames"),
        *(pytest.param(way, marks=pytest.mark.full) for way in ("picks", "no-commit")),
    ],
)
def test_killed_at_any_moment_it_stands_or_is_undone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Also where the kernel has no `renameat2`, and the file system no hard links."""
    shelf = laid(scratch, of_all_sorts)
    monkeypatch.chdir(shelf.repo)
    lands = partial(shelf.merge, "claude")
    if way == "undo":
        is_old_or_new_wherever_killed(shelf, shelf.undo, prepare=lands)
    elif way in without_calls.WHAT:
        refuse = partial(without_calls.refuse, way)
        is_old_or_new_wherever_killed(shelf, lands, child=refuse)
    else:
        ways = {
            "picks": partial(shelf.merge, picks=PICKS),
            "no-commit": partial(lands, commit=False),
        }
        is_old_or_new_wherever_killed(shelf, ways.get(way, lands))


def killed_at(shelf: Shelf, moment: str) -> None:
    """A landing that is killed where the like of it came to this moment first."""
    seen: list[str] = []
    transaction.moment = seen.append
    shelf.merge("claude")
    kinds.quiet()
    shelf.undo()
    assert kinds.killed_at(lambda: shelf.merge("claude"), seen.index(moment) + 1)


def test_a_file_changed_after_the_kill_is_not_touched_until_somebody_decides(shelf: Shelf) -> None:
    before = Stand.of(shelf.repo)
    killed_at(shelf, "index")
    mine = shelf.repo / "src" / "pager.py"
    assert "-(-n" in mine.read_text()  # landed already, and then edited by the user
    mine.write_text("edited since\n")
    half = Stand.of(shelf.repo)
    lines: list[str] = []
    recover(shelf.environ, lines.append)
    (line,) = lines
    assert "src/pager.py: changed since it was landed" in line
    assert "hydra merge --abort" in line
    assert Stand.of(shelf.repo) == half
    folder, rest = abort(shelf.environ)
    assert (rest, mine.read_text()) == (("src/pager.py",), "edited since\n")
    assert folder is not None
    mine.write_text(next(folder.iterdir()).read_text())
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_kill_between_taking_a_name_and_filling_it_leaves_nothing_behind(shelf: Shelf) -> None:
    """Git's lock of the index first, then each file's own name and the one it is moved aside to."""
    kinds.users_own(shelf.repo)
    before = Stand.of(shelf.repo)
    number, reserve = 1, swap._reserve

    def lands() -> None:
        left = number

        def taken(fresh: bytes, target: bytes) -> None:
            nonlocal left
            reserve(fresh, target)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        swap._reserve = taken
        without_calls.refuse("links-renames")
        shelf.merge("claude")

    while forked(lands) < 0:
        assert leftovers(shelf.repo) != []
        recover(shelf.environ, lambda line: None)
        assert Stand.of(shelf.repo) == before, number
        assert leftovers(shelf.repo) == [], number
        number += 3
    assert number > 9
    assert kinds.unlike_git(shelf.repo) == []


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        os.mkfifo,
        partial(Path.symlink_to, target="/dev/zero"),
        partial(Path.touch, mode=0),
    ],
)
def test_what_stands_where_another_git_has_its_lock_stays(shelf: Shelf, make: Save) -> None:
    """Laid as a landing was killed that had no lock yet."""
    before = Stand.of(shelf.repo)
    killed_at(shelf, "lock")
    lock = shelf.repo / ".git" / "index.lock"
    make(lock)
    recover(shelf.environ, lambda line: None)
    assert leftovers(shelf.repo) == [lock.name]
    assert Stand.of(shelf.repo) == before


def test_an_empty_file_that_nobody_may_open_is_the_users_own(shelf: Shelf) -> None:
    """Made as a landing was killed that wanted its name."""
    before = Stand.of(shelf.repo)
    killed_at(shelf, "give")
    mine = shelf.repo / "new" / "file.txt"
    mine.touch(mode=0)
    recover(shelf.environ, lambda line: None)
    assert mine.lstat().st_mode & 0o7777 == 0
    mine.unlink()
    mine.parent.rmdir()
    assert Stand.of(shelf.repo) == before


# Met by somebody else


def other_commit(repo: Path) -> str:
    return git(repo, "commit-tree", "-p", "HEAD", "-m", "elsewhere", "HEAD^{tree}")


MEETINGS: dict[str, tuple[str, str, str]] = {
    "a file is made in a folder that goes": (
        *("folder aside", "echo now > old/mine", "was filled meanwhile"),
    ),
    "another branch is checked out": (
        *("index set", "git symbolic-ref HEAD refs/heads/other", "another branch was checked out"),
    ),
    "HEAD is locked": ("ref", "touch .git/HEAD.lock", "the branch could not be moved"),
    "the branch is locked": (
        *("ref", "touch .git/refs/heads/main.lock", "the branch could not be moved"),
    ),
}


@pytest.mark.parametrize("meeting", MEETINGS)
def test_what_comes_in_the_last_moment_puts_all_back(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, meeting: str
) -> None:
    moment, script, why = MEETINGS[meeting]
    shelf = laid(scratch, empty_run)
    monkeypatch.chdir(shelf.repo)

    def edits(tree: Path) -> None:
        shutil.rmtree(tree / "old")
        (tree / "old").write_text("a file now\n")

    shelf.lane("claude", edits)
    before, index = everything(shelf.repo), git(shelf.repo, "ls-files", "--stage")
    at(moment, lambda: subprocess.run(["sh", "-ec", script], cwd=shelf.repo, check=True))
    assert why in refused(lambda: shelf.merge("claude")).message
    if "old/mine" in script:
        assert (shelf.repo / "old" / "mine").read_text() == "now\n"
        (shelf.repo / "old" / "mine").unlink()
    assert (everything(shelf.repo), git(shelf.repo, "ls-files", "--stage")) == (before, index)
    assert leftovers(shelf.repo) == [name for name in ("HEAD.lock",) if name in script]


def test_undo_after_the_branch_moved_in_the_last_moment(shelf: Shelf) -> None:
    shelf.merge("claude")
    before, other = Stand.of(shelf.repo), other_commit(shelf.repo)
    at("ref", lambda: git(shelf.repo, "update-ref", "refs/heads/main", other))
    assert "the branch has moved meanwhile" in refused(shelf.undo).message
    assert git(shelf.repo, "rev-parse", "HEAD") == other
    assert Stand.of(shelf.repo) == before


def test_two_landings_at_once_are_one_after_the_other(shelf: Shelf) -> None:
    processes: list[subprocess.CompletedProcess[str]] = []
    at("give", lambda: processes.append(shelf.command("merge", "claude")))
    shelf.merge("claude")
    assert processes[0].returncode == 5
    assert "another landing is under way" in processes[0].stderr
    assert git(shelf.repo, "log", "--oneline").count("\n") == 2


@pytest.mark.parametrize("moment", ["locked", "journaled moving", "given", "index set", "ref"])
def test_ctrl_c_puts_all_back(shelf: Shelf, moment: str) -> None:
    before = Stand.of(shelf.repo)
    at(moment, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        shelf.merge("claude")
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_ctrl_c_as_git_has_just_moved_the_branch_stands(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any, **options: Any) -> Any:
        done = run(*args, **options)
        if args[0] == "update-ref":
            raise KeyboardInterrupt
        return done

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            shelf.merge("claude")
    assert git(shelf.repo, "rev-parse", "HEAD^") == shelf.race.base
    assert kinds.unlike_git(shelf.repo) == []
    assert git(shelf.repo, "status", "--porcelain") == ""
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
    error = refused(lambda: shelf.merge("claude", commit=False))
    assert "all is as it was: " in error.message
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_record_that_the_disk_does_not_take_is_no_word_against_the_landing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(completion, "write_record", full)
        error = refused(lambda: shelf.merge("claude"))
    assert "it has landed, but" in error.message
    assert "the next hydra command finishes it" in error.hint
    lines: list[str] = []
    recover(shelf.environ, lines.append)
    assert ["finished" in line for line in lines] == [True]
    assert kinds.unlike_git(shelf.repo) == []
    shelf.undo()


# Met by a save


def in_place(path: Path) -> None:
    path.write_bytes(SAVED)


def by_rename(path: Path) -> None:
    path.with_name("fresh~").write_bytes(SAVED)
    path.with_name("fresh~").rename(path)


def private(path: Path) -> None:
    path.chmod(0o600)


def same_size_and_time(path: Path) -> None:
    was = path.stat()
    with path.open("r+b") as file:
        file.write(path.read_bytes().swapcase())
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


SAVES = [in_place, by_rename, private, same_size_and_time]


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("path", ["src/pager.py", "old/gone.txt"], ids=["changed", "removed"])
def test_a_save_right_after_the_files_were_compared(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save, path: str
) -> None:
    mine, compare = shelf.repo / path, WorkTree.refresh
    seen: list[tuple[int, bytes]] = []

    def compared(self: WorkTree) -> bool:
        fine = compare(self)
        if self.index.name == "standing" and not seen:
            save(mine)
            seen.append(facts(mine))
        return fine

    monkeypatch.setattr(WorkTree, "refresh", compared)
    refused(lambda: shelf.merge("claude"))
    assert facts(mine) == seen[0]
    assert git(shelf.repo, "rev-parse", "HEAD") == shelf.race.base
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("save", SAVES)
def test_a_save_right_before_its_file_is_moved_goes_back(shelf: Shelf, save: Save) -> None:
    before = everything(shelf.repo)
    at("give", lambda: [save(path) for path in shelf.repo.glob("src/*.py")])
    error = refused(lambda: shelf.merge("claude"))
    assert "src/pager.py was changed meanwhile" in error.message
    now = everything(shelf.repo)
    changed = {name for name in now if now[name] != before.get(name)}
    assert changed == {"src/pager.py"}
    assert b"-(-n" not in now["src/pager.py"][1]  # it is not what would have landed
    assert leftovers(shelf.repo) == []


def put_after(act: Callable[[bytes], object]) -> Callable[[bytes, bytes], None]:
    """Moves a file to its name, right after `act` of the file."""
    put = swap.put

    def acts_first(fresh: bytes, target: bytes) -> None:
        act(fresh)
        put(fresh, target)

    return acts_first


@pytest.mark.slow
@pytest.mark.parametrize("save", [in_place, by_rename])
@pytest.mark.parametrize("what", ["merge", "undo"])
def test_a_save_between_the_last_look_and_the_move_comes_out_and_goes_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save, what: str
) -> None:
    """No look can see it: what was moved aside does."""
    mine = shelf.repo / "src/pager.py"
    if what == "undo":
        shelf.merge("claude")
    seen: list[tuple[int, bytes]] = []

    def saved(fresh: bytes) -> None:
        if fresh == os.fsencode(mine) and not seen:
            save(mine)
            seen.append(facts(mine))

    monkeypatch.setattr(transaction, "put", put_after(saved))
    error = refused(shelf.undo if what == "undo" else lambda: shelf.merge("claude"))
    assert "src/pager.py was changed meanwhile" in error.message
    assert facts(mine) == seen[0]
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("save", [in_place, by_rename])
@pytest.mark.parametrize("path", ["src/pager.py", "new/file.txt"], ids=["changed", "new"])
def test_a_save_while_all_goes_back_is_newer_and_stays(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save, path: str
) -> None:
    """The branch cannot be moved: as the landed file goes back, it is saved."""
    lock, mine = shelf.repo / ".git/HEAD.lock", shelf.repo / path
    at("ref", lock.touch)
    before = mine.read_bytes() if mine.exists() else b""

    def saved(fresh: bytes) -> None:
        if fresh == os.fsencode(mine):
            save(mine)

    monkeypatch.setattr(rollback, "put", put_after(saved))
    error = refused(lambda: shelf.merge("claude"))
    assert mine.read_bytes() == SAVED
    if before:
        assert Path(dict(error.paths)[path].partition(": ")[2]).read_bytes() == before
    lock.unlink()
    assert leftovers(shelf.repo) == []


def test_a_landed_file_saved_with_its_size_and_time_is_kept_where_all_goes_back(
    shelf: Shelf,
) -> None:
    """By its facts it is the very file that landed; its bytes tell."""
    mine = shelf.repo / "src/pager.py"
    seen: list[bytes] = []

    def save() -> None:
        same_size_and_time(mine)
        seen.append(mine.read_bytes())
        (shelf.repo / ".git/HEAD.lock").touch()

    at("ref", save)
    error = refused(lambda: shelf.merge("claude"))
    assert Path(dict(error.paths)["src/pager.py"].partition(": ")[2]).read_bytes() == seen[0]


def test_a_file_that_was_open_for_writing_comes_back_with_what_was_written(shelf: Shelf) -> None:
    before = everything(shelf.repo)
    with (shelf.repo / "lines.txt").open("ab", buffering=0) as file:
        at("index set", lambda: file.write(SAVED))
        error = refused(lambda: shelf.merge("claude"))
    assert "lines.txt was written to meanwhile" in error.message
    now = everything(shelf.repo)
    assert now.pop("lines.txt")[1] == before.pop("lines.txt")[1] + SAVED
    assert now == before


@pytest.mark.parametrize("path", ["src/pager.py", "old/gone.txt"], ids=["changed", "removed"])
def test_a_late_write_by_who_had_it_open_is_kept_and_named(shelf: Shelf, path: str) -> None:
    """Written as the landing stood already: nothing goes back, and nothing is lost."""
    with (shelf.repo / path).open("ab", buffering=0) as file:
        at("ref set", lambda: file.write(SAVED))
        (entry,) = shelf.merge("claude").record.kept
    assert entry.path == path
    assert Path(entry.file).read_bytes().endswith(SAVED)
    assert leftovers(shelf.repo) == []


def test_what_is_written_after_the_landing_by_who_had_it_open_comes_back_with_an_undo(
    shelf: Shelf,
) -> None:
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        before = (shelf.repo / "src/pager.py").read_bytes()
        shelf.merge("claude")
        file.write(SAVED)
    shelf.undo()
    assert (shelf.repo / "src/pager.py").read_bytes() == before + SAVED
    assert git(shelf.repo, "status", "--porcelain") == " M src/pager.py"


def test_a_late_write_into_a_landed_file_survives_its_undo(shelf: Shelf) -> None:
    shelf.merge("claude")
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        at("ref set", lambda: file.write(SAVED))
        (entry,) = shelf.undo().record.kept
    assert Path(entry.file).read_bytes().endswith(SAVED)


def test_where_the_run_is_on_another_disk_a_file_that_somebody_has_open_is_named(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def on_one_disk(source: bytes | Path, target: bytes | Path) -> None:
        if os.fspath(shelf.state) in os.fsdecode(target):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(source, target)

    monkeypatch.setattr(os, "rename", on_one_disk)
    before = everything(shelf.repo)
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        (entry,) = shelf.merge("claude").record.kept
        assert (entry.path, "has it open" in entry.why) == ("src/pager.py", True)
        file.write(SAVED)
    assert Path(entry.file).read_bytes().endswith(SAVED)
    shelf.undo()
    assert everything(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("with_time", [False, True], ids=["same size", "same size and time"])
def test_a_file_saved_after_its_exchange_is_the_users_change(shelf: Shelf, with_time: bool) -> None:
    kinds.aged(shelf.repo)
    saved = shelf.repo / "src" / "pager.py"

    def save() -> None:
        was = saved.stat()
        text = saved.read_text()
        saved.write_text(text.swapcase())
        while with_time and saved.stat().st_ctime_ns == was.st_ctime_ns:  # the clock's next tick
            saved.write_text(text.swapcase())
        if with_time:
            os.utime(saved, ns=(was.st_atime_ns, was.st_mtime_ns))

    at("refresh", save)
    shelf.merge("claude")
    assert git(shelf.repo, "status", "--porcelain") == " M src/pager.py"

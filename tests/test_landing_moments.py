"""A landing, and an undo, that is killed or met by somebody else at one of its calls.

It is old or new, never between; and what is saved meanwhile is in the tree, or kept and named.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.faults import HYDRA_DIES
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, everything, laid, leftovers
from tests.support.shelf import (
    INDEX,
    JOURNAL,
    LAND,
    LOCK,
    MOVED,
    UNDO,
    empty_run,
    gives,
    is_old_or_new_wherever_killed,
    shelf,
    takes,
)

__all__ = ["shelf"]

SAVED = b"saved just now\n"


def refused(shelf: Shelf, *args: str, at: Mapping[str, str]) -> str:
    """That command is refused; what it says."""
    done = shelf.hit(*args, at=at)
    assert done.returncode == 5, done.stderr
    return done.stderr


def kept(text: str) -> dict[str, Path]:
    """The files that are kept, as a landing or a refusal names them."""
    rows = re.findall(r"(?m)^(?:kept: |  )(\S+)[,:] [^:\n]*: (/.+)$", text)
    return {path: Path(file) for path, file in rows}


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


WAYS: dict[str, list[tuple[str, ...]]] = {
    "lane": [LAND],
    "undo": [LAND, UNDO],
    "links-renames": [LAND],
    "renames": [LAND],
    "picks": [("merge", "--pick", "claude:src", "--pick", "codex:c.txt", "--no-check")],
    "no-commit": [(*LAND, "--no-commit")],
}
GATES = 3
"""Of the first ways each takes other calls, some of them; `pytest -m full` has more of the rest."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=[pytest.mark.full] * (number >= GATES))
        for number, way in enumerate(WAYS)
    ],
)
def test_killed_at_any_call_it_stands_or_is_undone(scratch: Path, way: str) -> None:
    """Hydra, or a git of its own; also where the kernel has no `renameat2`, and the file system no
    hard links."""
    shelf, number = laid(scratch, of_all_sorts), [*WAYS].index(way)
    without = way if "renames" in way else ""
    some = slice(5 * number, None, 15) if number < GATES else slice(0, None, 4)
    is_old_or_new_wherever_killed(shelf, *WAYS[way], without=without, some=some)


def test_a_file_changed_after_the_kill_is_not_touched_until_somebody_decides(shelf: Shelf) -> None:
    before = Stand.of(shelf.repo)
    shelf.hit(*LAND, at={INDEX: "kill"})
    mine = shelf.repo / "src" / "pager.py"
    assert "-(-n" in mine.read_text()  # landed already, and then edited by the user
    mine.write_text("edited since\n")
    half = Stand.of(shelf.repo)
    text = shelf.command("runs").stderr
    assert "src/pager.py: changed since it was landed" in text
    assert "hydra merge --abort" in text
    assert Stand.of(shelf.repo) == half
    done = json.loads(shelf.command("merge", "--abort", "--json").stdout)
    assert (done["left"], mine.read_text()) == (["src/pager.py"], "edited since\n")
    mine.write_text(next(Path(done["kept"]).iterdir()).read_text())
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize(
    "make", ["mkdir {0}", "mkfifo {0}", "ln -s /dev/zero {0}", "touch {0}; chmod 0 {0}"]
)
def test_what_stands_where_another_git_has_its_lock_stays(shelf: Shelf, make: str) -> None:
    """Laid as a landing was killed that had no lock yet."""
    before = Stand.of(shelf.repo)
    shelf.hit(*LAND, at={LOCK: "kill"})
    lock = shelf.repo / ".git" / "index.lock"
    subprocess.run(["sh", "-ec", make.format(lock)], check=True)
    shelf.command("runs")
    assert leftovers(shelf.repo) == [lock.name]
    assert Stand.of(shelf.repo) == before


def test_an_empty_file_that_nobody_may_open_is_the_users_own(shelf: Shelf) -> None:
    """Made as a landing was killed that wanted its name."""
    before = Stand.of(shelf.repo)
    shelf.hit(*LAND, at={takes("link"): "kill"})
    mine = shelf.repo / "new" / "file.txt"
    mine.touch(mode=0)
    shelf.command("runs")
    assert mine.lstat().st_mode & 0o7777 == 0
    mine.unlink()
    mine.parent.rmdir()
    assert Stand.of(shelf.repo) == before


# Met by somebody else


def other_commit(repo: Path) -> str:
    return git(repo, "commit-tree", "-p", "HEAD", "-m", "elsewhere", "HEAD^{tree}")


MEETINGS: dict[str, tuple[str, str, str]] = {
    "a file is made in a folder that goes": (
        *(takes("old"), "echo now > old/mine", "was filled meanwhile"),
    ),
    "another branch is checked out": (
        *(INDEX, "then git symbolic-ref HEAD refs/heads/other"),
        "another branch was checked out",
    ),
    "HEAD is locked": (INDEX, "then touch .git/HEAD.lock", "the branch could not be moved"),
    "the branch is locked": (
        *(INDEX, "then touch .git/refs/heads/main.lock", "the branch could not be moved"),
    ),
}


@pytest.mark.parametrize("meeting", MEETINGS)
def test_what_comes_in_the_last_moment_puts_all_back(scratch: Path, meeting: str) -> None:
    place, script, why = MEETINGS[meeting]
    shelf = laid(scratch, empty_run)

    def edits(tree: Path) -> None:
        shutil.rmtree(tree / "old")
        (tree / "old").write_text("a file now\n")

    shelf.lane("claude", edits)
    before, index = everything(shelf.repo), git(shelf.repo, "ls-files", "--stage")
    assert why in refused(shelf, *LAND, at={place: script})
    if "old/mine" in script:
        assert (shelf.repo / "old" / "mine").read_text() == "now\n"
        (shelf.repo / "old" / "mine").unlink()
    assert (everything(shelf.repo), git(shelf.repo, "ls-files", "--stage")) == (before, index)
    assert leftovers(shelf.repo) == [name for name in ("HEAD.lock",) if name in script]


def test_undo_after_the_branch_moved_in_the_last_moment(shelf: Shelf) -> None:
    assert shelf.command(*LAND).returncode == 0
    before, other = Stand.of(shelf.repo), other_commit(shelf.repo)
    text = refused(shelf, *UNDO, at={INDEX: f"then git update-ref refs/heads/main {other}"})
    assert "the branch has moved meanwhile" in text
    assert git(shelf.repo, "rev-parse", "HEAD") == other
    assert Stand.of(shelf.repo) == before


def test_two_landings_at_once_are_one_after_the_other(shelf: Shelf, scratch: Path) -> None:
    again = (
        f"{sys.executable} -m hydra {' '.join(LAND)} 2>{scratch}/text || echo $? >{scratch}/code"
    )
    assert shelf.hit(*LAND, at={takes("link"): again}).returncode == 0
    assert (scratch / "code").read_text() == "5\n"
    assert "another landing is under way" in (scratch / "text").read_text()
    assert git(shelf.repo, "log", "--oneline").count("\n") == 2


CTRL_C = "kill -INT $PPID"


@pytest.mark.parametrize(
    "place", [LOCK, f"2 {JOURNAL}", gives("link"), INDEX], ids=["lock", "journal", "file", "index"]
)
def test_ctrl_c_puts_all_back(shelf: Shelf, place: str) -> None:
    before = Stand.of(shelf.repo)
    assert shelf.hit(*LAND, at={place: f"then {CTRL_C}"}).returncode == 130
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_ctrl_c_as_git_has_just_moved_the_branch_stands(shelf: Shelf) -> None:
    base = git(shelf.repo, "rev-parse", "HEAD")
    place = HYDRA_DIES.replace("-9", "-INT")
    assert shelf.hit(*LAND, at={MOVED: place}).returncode == 130
    assert git(shelf.repo, "rev-parse", "HEAD^") == base
    assert kinds.unlike_git(shelf.repo) == []
    assert git(shelf.repo, "status", "--porcelain") == ""
    assert leftovers(shelf.repo) == []


def test_a_last_note_that_the_disk_does_not_take_puts_all_back(shelf: Shelf) -> None:
    before = Stand.of(shelf.repo)
    text = refused(shelf, *LAND, "--no-commit", at={f"3 {JOURNAL}": "fail 28"})
    assert "all is as it was: " in text
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_record_that_the_disk_does_not_take_is_no_word_against_the_landing(shelf: Shelf) -> None:
    text = refused(shelf, *LAND, at={"py* rename * */landings/*.json": "fail 28"})
    assert "it has landed, but" in text
    assert "the next hydra command finishes it" in " ".join(text.split())
    assert "finished" in shelf.command("runs").stderr
    assert kinds.unlike_git(shelf.repo) == []
    assert shelf.command(*UNDO).returncode == 0


# Met by a save

SAVES = {
    "in place": "echo saved just now > {0}",
    "by rename": "echo saved just now > {0}~; mv {0}~ {0}",
    "private": "chmod 600 {0}",
    "same size": "tr a-zA-Z A-Za-z <{0} >../same; cat ../same >{0}",
    "same size and time": "cp -p {0} ../old; tr a-zA-Z A-Za-z <../old >{0}; touch -r ../old {0}",
}
SAME = SAVES["same size and time"]
OVER = ["in place", "by rename"]


def then_seen(save: str, path: str) -> str:
    """A save, and a copy of what it made of the file."""
    return f"{save.format(path)}; cp -p {path} ../seen"


@pytest.mark.parametrize(
    ("path", "save"),
    [
        *(("src/pager.py", save) for save in SAVES),
        *(("old/gone.txt", save) for save in OVER),
    ],
)
def test_a_save_before_the_first_file_is_moved(
    shelf: Shelf, scratch: Path, path: str, save: str
) -> None:
    """Right after all of them were compared."""
    base = git(shelf.repo, "rev-parse", "HEAD")
    refused(shelf, *LAND, at={f"2 {JOURNAL}": then_seen(SAVES[save], path)})
    assert facts(shelf.repo / path) == facts(scratch / "seen")
    assert git(shelf.repo, "rev-parse", "HEAD") == base
    assert leftovers(shelf.repo) == []


@pytest.mark.slow
@pytest.mark.parametrize("save", OVER)
@pytest.mark.parametrize("what", ["merge", "undo"])
def test_a_save_between_the_last_look_and_the_move_comes_out_and_goes_back(
    shelf: Shelf, scratch: Path, what: str, save: str
) -> None:
    """No look can see it: what was moved aside does."""
    path, act = "src/pager.py", UNDO if what == "undo" else LAND
    if act is UNDO:
        assert shelf.command(*LAND).returncode == 0
    before = everything(shelf.repo)
    text = refused(shelf, *act, at={takes(path): then_seen(SAVES[save], path)})
    assert "src/pager.py was changed meanwhile" in " ".join(text.split())
    assert facts(shelf.repo / path) == facts(scratch / "seen")
    now = everything(shelf.repo)
    assert {name for name in now if now[name] != before.get(name)} == {path}
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("save", OVER)
@pytest.mark.parametrize("path", ["src/pager.py", "new/file.txt"], ids=["changed", "new"])
def test_a_save_while_all_goes_back_is_newer_and_stays(shelf: Shelf, save: str, path: str) -> None:
    """The branch cannot be moved: as the landed file goes back, it is saved."""
    lock, mine = shelf.repo / ".git/HEAD.lock", shelf.repo / path
    before = mine.read_bytes() if mine.exists() else b""
    back = f"py* rename */shop/{path} *-back"
    text = refused(shelf, *LAND, at={INDEX: f"then touch {lock}", back: SAVES[save].format(path)})
    assert mine.read_bytes() == SAVED
    if before:
        assert kept(text)[path].read_bytes() == before
    lock.unlink()
    assert leftovers(shelf.repo) == []


def test_a_landed_file_saved_with_its_size_and_time_is_kept_where_all_goes_back(
    shelf: Shelf, scratch: Path
) -> None:
    """By its facts it is the very file that landed; its bytes tell."""
    save = f"{then_seen(SAME, 'src/pager.py')}; touch .git/HEAD.lock"
    text = refused(shelf, *LAND, at={INDEX: f"then {save}"})
    assert kept(text)["src/pager.py"].read_bytes() == (scratch / "seen").read_bytes()


@contextmanager
def opened(path: Path) -> Iterator[str]:
    """A program that has it open to write; a line that writes by that."""
    with path.open("ab", buffering=0) as file:
        yield f"then echo saved just now >>/proc/{os.getpid()}/fd/{file.fileno()}"


def test_a_file_that_was_open_for_writing_comes_back_with_what_was_written(shelf: Shelf) -> None:
    before = everything(shelf.repo)
    with opened(shelf.repo / "lines.txt") as writes:
        text = refused(shelf, *LAND, at={INDEX: writes})
    assert "lines.txt was written to meanwhile" in " ".join(text.split())
    now = everything(shelf.repo)
    assert now.pop("lines.txt")[1] == before.pop("lines.txt")[1] + SAVED
    assert now == before


@pytest.mark.parametrize("path", ["src/pager.py", "old/gone.txt"], ids=["changed", "removed"])
def test_a_late_write_by_who_had_it_open_is_kept_and_named(shelf: Shelf, path: str) -> None:
    """Written as the landing stood already: nothing goes back, and nothing is lost."""
    with opened(shelf.repo / path) as writes:
        done = shelf.hit(*LAND, at={MOVED: writes})
    assert kept(done.stdout)[path].read_bytes().endswith(SAVED)
    assert leftovers(shelf.repo) == []


def test_what_is_written_after_the_landing_by_who_had_it_open_comes_back_with_an_undo(
    shelf: Shelf,
) -> None:
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        before = (shelf.repo / "src/pager.py").read_bytes()
        assert shelf.command(*LAND).returncode == 0
        file.write(SAVED)
    assert shelf.command(*UNDO).returncode == 0
    assert (shelf.repo / "src/pager.py").read_bytes() == before + SAVED
    assert git(shelf.repo, "status", "--porcelain") == " M src/pager.py"


def test_a_late_write_into_a_landed_file_survives_its_undo(shelf: Shelf) -> None:
    assert shelf.command(*LAND).returncode == 0
    with opened(shelf.repo / "src/pager.py") as writes:
        done = shelf.hit(*UNDO, at={MOVED: writes})
    assert kept(done.stdout)["src/pager.py"].read_bytes().endswith(SAVED)


def test_where_the_run_is_on_another_disk_a_file_that_somebody_has_open_is_named(
    shelf: Shelf,
) -> None:
    before = everything(shelf.repo)
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        done = shelf.hit(*LAND, at={"py* rename */.hydra-landing-* */landing*/*": "fail 18"})
        assert "has it open" in done.stdout
        file.write(SAVED)
    assert kept(done.stdout)["src/pager.py"].read_bytes().endswith(SAVED)
    assert shelf.command(*UNDO).returncode == 0
    assert everything(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("save", ["same size", "same size and time"])
def test_a_file_saved_after_its_exchange_is_the_users_change(shelf: Shelf, save: str) -> None:
    kinds.aged(shelf.repo)
    script = SAVES[save].format("src/pager.py")
    done = shelf.hit(*LAND, at={gives("src/pager.py"): f"then {script}"})
    assert done.returncode == 0, done.stderr
    assert git(shelf.repo, "status", "--porcelain") == " M src/pager.py"

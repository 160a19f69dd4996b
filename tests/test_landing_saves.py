"""Files that are saved while a landing runs: each save is in the tree, or kept and named."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.errors import LandingRefused
from hydra.git.status import WorkTree
from hydra.landing import rollback, swap, transaction
from tests.conftest import git
from tests.support.landings import Shelf, everything, leftovers
from tests.support.shelf import shelf

__all__ = ["shelf"]

SAVED = b"saved just now\n"

Save = Callable[[Path], None]


def in_place(path: Path) -> None:
    path.write_bytes(SAVED)


def by_rename(path: Path) -> None:
    path.with_name("fresh~").write_bytes(SAVED)
    path.with_name("fresh~").rename(path)


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(SAVED)


def private(path: Path) -> None:
    path.chmod(0o600)


def same_size_and_time(path: Path) -> None:
    facts = path.stat()
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.write(data.swapcase())
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


SAVES = [in_place, by_rename, append, private, same_size_and_time]


def at(monkeypatch: pytest.MonkeyPatch, moment: str, act: Callable[[], object]) -> None:
    """Acts once, at that moment of the landing."""
    waiting = [act]

    def reached(name: str) -> None:
        if name == moment and waiting:
            waiting.pop()()

    monkeypatch.setattr(transaction, "moment", reached)


def facts(path: Path) -> tuple[int, bytes]:
    return path.stat().st_mode, path.read_bytes()


def refused(act: Callable[[], object]) -> LandingRefused:
    with pytest.raises(LandingRefused) as caught:
        act()
    return caught.value


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
def test_a_save_right_before_its_file_is_moved_goes_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save
) -> None:
    mine = shelf.repo / "src/pager.py"
    at(monkeypatch, "give", lambda: list(map(save, shelf.repo.glob("src/*.py"))))
    before = {name: file for name, file in everything(shelf.repo).items() if name[:4] != "src/"}
    refused(lambda: shelf.merge("claude"))
    now = everything(shelf.repo)
    assert {name: file for name, file in now.items() if name[:4] != "src/"} == before
    assert now["src/pager.py"] == facts(mine)
    landed = shelf.race.patches
    assert mine.read_bytes() != subprocess.check_output(
        ["git", "--git-dir", str(landed), "cat-file", "blob", "claude:src/pager.py"]
    )
    assert leftovers(shelf.repo) == []


@pytest.mark.slow
@pytest.mark.parametrize("save", [in_place, by_rename, append])
@pytest.mark.parametrize("what", ["merge", "undo"])
def test_a_save_between_the_last_look_and_the_move_comes_out_and_goes_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save, what: str
) -> None:
    """No look can see it: what was moved aside does."""
    mine = shelf.repo / "src/pager.py"
    if what == "undo":
        shelf.merge("claude")
    seen: list[tuple[int, bytes]] = []
    put = swap.put

    def saved_first(fresh: bytes, target: bytes) -> None:
        if fresh == os.fsencode(mine) and not seen:
            save(mine)
            seen.append(facts(mine))
        put(fresh, target)

    monkeypatch.setattr(transaction, "put", saved_first)
    error = refused(shelf.undo if what == "undo" else lambda: shelf.merge("claude"))
    assert "src/pager.py was changed meanwhile" in error.message
    assert facts(mine) == seen[0]
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("save", [in_place, by_rename])
def test_a_save_while_all_goes_back_is_newer_and_stays(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save
) -> None:
    """The branch cannot be moved: as the landed file goes back, it is saved."""
    lock = shelf.repo / ".git/HEAD.lock"
    at(monkeypatch, "ref", lock.touch)
    mine, put = shelf.repo / "src/pager.py", swap.put

    def saved_first(fresh: bytes, target: bytes) -> None:
        if fresh == os.fsencode(mine):
            save(mine)
        put(fresh, target)

    monkeypatch.setattr(rollback, "put", saved_first)
    before = mine.read_bytes()
    error = refused(lambda: shelf.merge("claude"))
    assert mine.read_bytes() == SAVED
    (why,) = [why for path, why in error.paths if path == "src/pager.py"]
    assert Path(why.partition(": ")[2]).read_bytes() == before
    lock.unlink()
    assert leftovers(shelf.repo) == []


def test_a_new_file_that_is_saved_while_all_goes_back_stays(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = shelf.repo / ".git/HEAD.lock"
    at(monkeypatch, "ref", lock.touch)
    mine, put = shelf.repo / "new/file.txt", swap.put

    def saved_first(fresh: bytes, target: bytes) -> None:
        if fresh.endswith(b"shop/new/file.txt"):
            in_place(mine)
        put(fresh, target)

    monkeypatch.setattr(rollback, "put", saved_first)
    refused(lambda: shelf.merge("claude"))
    assert mine.read_bytes() == SAVED
    lock.unlink()
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("path", ["src/pager.py", "old/gone.txt"], ids=["changed", "removed"])
def test_a_late_write_by_who_had_it_open_is_kept_and_named(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Written as the landing stood already: nothing goes back, and nothing is lost."""
    with (shelf.repo / path).open("ab", buffering=0) as file:
        at(monkeypatch, "ref set", lambda: file.write(SAVED))
        landing = shelf.merge("claude")
    (entry,) = landing.record.kept
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


def test_a_late_write_into_a_landed_file_survives_its_undo(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.merge("claude")
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        at(monkeypatch, "ref set", lambda: file.write(SAVED))
        (entry,) = shelf.undo().record.kept
    assert Path(entry.file).read_bytes().endswith(SAVED)


def test_a_landed_file_saved_with_its_size_and_time_is_kept_where_all_goes_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its facts it is the very file that landed; its bytes tell."""
    mine = shelf.repo / "src/pager.py"
    seen: list[bytes] = []

    def save() -> None:
        same_size_and_time(mine)
        seen.append(mine.read_bytes())
        (shelf.repo / ".git/HEAD.lock").touch()

    at(monkeypatch, "ref", save)
    error = refused(lambda: shelf.merge("claude"))
    (why,) = [why for path, why in error.paths if path == "src/pager.py"]
    assert Path(why.partition(": ")[2]).read_bytes() == seen[0]

"""Files that are saved while a landing runs: each save is in the tree, or kept and named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.errors import LandingRefused
from hydra.git.status import WorkTree
from hydra.landing import rollback, swap, transaction
from hydra.race.recovery.startup import recover
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landings import Shelf, everything, leftovers
from tests.support.shelf import shelf

__all__ = ["shelf"]

ROOT = Path(__file__).parents[1]
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


@pytest.fixture(params=["exchange", "two names"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With renameat2's exchange, and where it is not to be trusted."""
    if request.param == "two names":
        monkeypatch.setattr(swap, "file_system", lambda folder: swap.UNTRUSTED[0])
        monkeypatch.setattr(swap, "_types", {})
    return str(request.param)


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


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("save", SAVES)
def test_a_save_right_before_the_exchange_goes_back(
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
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("save", [in_place, by_rename, append])
@pytest.mark.parametrize("what", ["merge", "undo"])
def test_a_save_between_the_last_look_and_the_exchange_comes_out_and_goes_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save, what: str
) -> None:
    """No look can see it: what the exchange brought out does."""
    mine = shelf.repo / "src/pager.py"
    if what == "undo":
        shelf.merge("claude")
    seen: list[tuple[int, bytes]] = []
    exchange = swap.exchange

    def saved_first(fresh: bytes, target: bytes, aside: bytes) -> bytes:
        if target.endswith(b"src/pager.py") and not seen:
            save(mine)
            seen.append(facts(mine))
        return exchange(fresh, target, aside)

    monkeypatch.setattr(transaction, "exchange", saved_first)
    error = refused(shelf.undo if what == "undo" else lambda: shelf.merge("claude"))
    assert "src/pager.py was changed meanwhile" in error.message
    assert facts(mine) == seen[0]
    assert leftovers(shelf.repo) == []


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("save", [in_place, by_rename])
def test_a_save_while_all_goes_back_is_newer_and_stays(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, save: Save
) -> None:
    """The branch cannot be moved: as the landed file goes back, it is saved."""
    lock = shelf.repo / ".git/HEAD.lock"
    at(monkeypatch, "ref", lock.touch)
    mine, give_back = shelf.repo / "src/pager.py", swap.give_back

    def saved_first(old: bytes, target: bytes, aside: bytes, ours: swap.FileMark) -> bool:
        if target.endswith(b"src/pager.py"):
            save(mine)
        return give_back(old, target, aside, ours)

    monkeypatch.setattr(rollback, "give_back", saved_first)
    refused(lambda: shelf.merge("claude"))
    assert mine.read_bytes() == SAVED
    lock.unlink()
    assert leftovers(shelf.repo) == []


@pytest.mark.usefixtures("way")
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
    (entry,) = landing.document["kept"]
    assert entry["path"] == path
    assert Path(entry["file"]).read_bytes().endswith(SAVED)
    assert leftovers(shelf.repo) == []


def test_a_file_that_a_program_has_open_is_looked_at_again(shelf: Shelf) -> None:
    """Written to after the landing had ended: the next command names it. Once."""
    sentences: list[str] = []
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        done = shelf.command("merge", "claude", "--no-check", "--json")
        (entry,) = json.loads(done.stdout)["kept"]
        assert (entry["path"], "has it open" in entry["why"]) == ("src/pager.py", True)
        recover(shelf.environ, sentences.append)
        assert sentences == []
        file.write(SAVED)
    recover(shelf.environ, sentences.append)
    assert len(sentences) == 1
    assert "src/pager.py" in sentences[0]
    assert str(Path(entry["file"]).parent) in sentences[0]
    recover(shelf.environ, sentences.append)
    assert len(sentences) == 1
    assert Path(entry["file"]).read_bytes().endswith(SAVED)


def test_a_file_that_was_open_and_not_written_to_goes(shelf: Shelf) -> None:
    with (shelf.repo / "src/pager.py").open("ab"):
        text = shelf.command("merge", "claude", "--no-check").stdout
    match = re.search(r"kept: src/pager\.py, .*: (/.*)", text)
    assert match
    assert Path(match[1]).exists()
    recover(shelf.environ, lambda line: pytest.fail(line))
    assert not Path(match[1]).parent.exists()


def test_a_late_write_into_a_landed_file_survives_its_undo(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.merge("claude")
    with (shelf.repo / "src/pager.py").open("ab", buffering=0) as file:
        at(monkeypatch, "ref set", lambda: file.write(SAVED))
        (entry,) = shelf.undo().document["kept"]
    assert Path(entry["file"]).read_bytes().endswith(SAVED)


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


def test_what_fuse_virtiofs_and_9p_are_called() -> None:
    assert swap.file_system(b"/proc") == 0x9FA0
    assert swap.UNTRUSTED == (0x65735546, 0x01021997)


def test_no_exchange_where_it_is_not_to_be_trusted(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: list[int] = []
    call = swap._renameat2

    def called(old: bytes, new: bytes, flag: int) -> bool:
        flags.append(flag)
        return call(old, new, flag)

    monkeypatch.setattr(swap, "_renameat2", called)
    monkeypatch.setattr(swap, "file_system", lambda folder: swap.UNTRUSTED[1])
    monkeypatch.setattr(swap, "_types", {})
    before = everything(shelf.repo)
    shelf.merge("claude")
    assert kinds.unlike_git(shelf.repo) == []
    shelf.undo()
    assert everything(shelf.repo) == before
    assert flags
    assert swap._EXCHANGE not in flags


@pytest.mark.parametrize(
    "landings",
    [pytest.param(5, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.full)],
)
def test_a_storm_of_saves_loses_nothing(landings: int) -> None:
    """A short form of `python -m tests.support.save_storm --landings 500`."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.support.save_storm",
            "--landings",
            str(landings),
            "--seed",
            "7",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

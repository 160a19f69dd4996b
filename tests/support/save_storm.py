"""Lands, undoes and picks while an editor saves: no save that was completed may be lost.

    python -m tests.support.save_storm --landings 500 [--seed N] [--user UID]

The editor (`tests/support/editor.py`) is a process of its own; it begins at an arbitrary moment
before or within the landing, on 3 to 2,000 files, some of which the patch touches. Then each path's
last save must be in the tree, in the run among what landings displaced, or in a file that Hydra has
kept and named, byte for byte; a path that was not saved must be old where it did not land, and new
where it did; no lock, staging folder or journal is there. Some landings are killed, and ended by
the next command. Exit 0 only if all held.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hydra.commands.merge import desk_of
from hydra.commands.merge_undo import abort
from hydra.errors import HydraError, LandingRefused
from hydra.landing.picks import Pick
from hydra.race.recovery.startup import recover
from tests.conftest import git, make_repository
from tests.support.command import account
from tests.support.editor import Editor, Save
from tests.support.forks import forked
from tests.support.landings import Shelf, everything, leftovers
from tests.support.trust import own_modules, python_for

KINDS = ("lane", "undo", "picks", "no-commit", "killed")
SIZES = (3, 3, 3, 30, 30, 300, 2000)
"""How many files the patches change; the small ones more often."""

Tree = dict[str, tuple[int, bytes]]


@dataclass
class Fort:
    """A repository with one lane whose patch changes `size` files, and how long a landing takes."""

    shelf: Shelf
    size: int
    old: Tree
    new: dict[str, Tree] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def build(cls, scratch: Path, size: int) -> Fort:
        """Old, and new by every kind of landing."""
        repo = make_repository(scratch / f"shop-{size}")
        os.chdir(repo)
        for number in range(size):
            (repo / "src" / f"m{number}.py").write_text(f"x = {number}\n" * 40)
        (repo / "d").mkdir()
        (repo / "d" / "f").write_text("in a folder\n")
        (repo / "e").write_text("a file\n")
        (repo / "gone").write_text("goes\n")
        (repo / "link").symlink_to("e")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "Second commit")
        shelf = Shelf.of(repo, scratch / f"run-{size}")
        shelf.lane("claude", lambda tree: _work(tree, size))
        fort = cls(shelf, size, everything(repo))
        for kind in ("lane", "picks", "no-commit"):
            began = time.monotonic()
            fort.act(kind)
            fort.seconds = max(fort.seconds, time.monotonic() - began)
            fort.new[kind] = everything(repo)
            fort.reset()
        fort.new["killed"], fort.new["undo"] = fort.new["lane"], fort.old
        return fort

    @property
    def repo(self) -> Path:
        return self.shelf.repo

    def act(self, kind: str) -> list[str]:
        """Does it; the files that are named as kept."""
        match kind:
            case "undo":
                landing = self.shelf.undo()
            case "picks":
                picks = (Pick("claude", path="src/m0.py"), Pick("claude", path="e"))
                landing = self.shelf.merge(picks=picks)
            case _:
                landing = self.shelf.merge("claude", commit=kind != "no-commit")
        return [file.file for file in landing.record.kept]

    def reset(self) -> None:
        """Back to the beginning, by git; it does not bring permissions back.

        Without its index, by which a save that kept a file's size and times looks like no change.
        """
        (self.repo / ".git" / "index").unlink(missing_ok=True)
        git(self.repo, "reset", "-q", "--hard", self.shelf.race.base)
        git(self.repo, "clean", "-qfdx")
        for path, (mode, _) in self.old.items():
            if not stat.S_ISLNK(mode):
                (self.repo / path).chmod(stat.S_IMODE(mode))
        kept = (*self.desk.glob("kept-*"), *(self.repo / ".git").glob(".hydra-kept-*"))
        for folder in (*kept, *self.displaced):
            shutil.rmtree(folder)

    @property
    def displaced(self) -> list[Path]:
        """The folders of the run in which landings keep what they displaced."""
        landings = self.shelf.race.patches.parent / "landings"
        return [*landings.glob("*.exact"), *landings.glob("*.undone")]

    @property
    def desk(self) -> Path:
        return desk_of(self.shelf.state, self.repo).folder


def _work(tree: Path, size: int) -> None:
    for number in range(size):
        (tree / "src" / f"m{number}.py").write_text(f"y = {number}\n" * 50)
    (tree / "src" / "pager.py").chmod(0o755)
    (tree / "gone").unlink()
    (tree / "new.txt").write_text("new\n")
    shutil.rmtree(tree / "d")
    (tree / "d").write_text("now a file\n")
    (tree / "e").unlink()
    (tree / "e" / "deep").mkdir(parents=True)
    (tree / "e" / "deep" / "g").write_text("now in a folder\n")
    (tree / "link").unlink()
    (tree / "link").symlink_to("README.md")


@dataclass
class Turn:
    """One landing beside an editor; `faults` are what is wrong after it."""

    fort: Fort
    kind: str
    chance: random.Random
    named: list[str] = field(default_factory=list)
    how: str = ""

    def play(self, scratch: Path) -> list[str]:
        """All of it."""
        fort = self.fort
        if self.kind == "undo":
            fort.act("lane")
        before = everything(fort.repo)
        editor = Editor(fort.repo, scratch / "ledger", self._paths(), self.chance)
        editor.start(self.chance.uniform(0, 1.1 * fort.seconds))
        if self.kind == "killed":
            self._kill()
        else:
            self._act()
        time.sleep(self.chance.uniform(0, 0.1))
        saves = editor.stop()
        if self.kind == "killed":
            self._recover()
        recover(fort.shelf.environ, self._hear)
        return self._faults(saves, before)

    def _paths(self) -> list[str]:
        own = ["gone", "new.txt", "d/f", "e", "src/pager.py", "README.md", "src/mine.py"]
        files = [f"src/m{number}.py" for number in range(self.fort.size)]
        self.chance.shuffle(files)
        return [*own, *files[: self.chance.choice((3, 30, 2000))]]

    def _act(self) -> None:
        try:
            self.named += self.fort.act(self.kind)
            self.how = "landed"
        except LandingRefused as refused:
            self.how = "refused"
            self._hear(refused.message)

    def _kill(self) -> None:
        seconds = self.chance.uniform(0, 1.1 * self.fort.seconds)
        forked(lambda: self.fort.act("lane"), kill_after=seconds)
        self.how = "killed"

    def _recover(self) -> None:
        recover(self.fort.shelf.environ, self._hear)
        if (self.fort.desk / "journal.json").exists():
            self.how = "killed and aborted"
            folder, _ = abort(self.fort.shelf.environ)
            self.named += [str(folder)] if folder else []

    def _hear(self, line: str) -> None:
        """A file or a folder that is named in a sentence is named."""
        self.named += re.findall(r"(/\S*kept-[^\s;,]+)", line)

    def _faults(self, saves: dict[str, Save], before: Tree) -> list[str]:
        now = everything(self.fort.repo)
        stored = self._stored()
        faults = [
            f"lost: {path}, {save} (now {now.get(path)})"
            for path, save in saves.items()
            if not _is_somewhere(save, [*filter(None, (now.get(path),)), *stored])
            and not self._was_removed(path, save, now)
            and not _changes_nothing(save, before.get(path))
        ]
        faults += self._strangers(saves, before, now)
        faults += (f"left behind: {name}" for name in leftovers(self.fort.repo))
        if (self.fort.desk / "journal.json").exists():
            faults.append("the journal is still there")
        return faults

    def _was_removed(self, path: str, save: Save, now: Tree) -> bool:
        """A mode alone, of a file that the patch removes: with the file it goes."""
        return not save.text and path not in now and path not in self.fort.new[self.kind]

    def _strangers(self, saves: dict[str, Save], before: Tree, now: Tree) -> list[str]:
        """Paths that nobody saved, and which are not as they are to be."""
        new = self.fort.new[self.kind]
        fit = {"landed": (new,), "refused": (before,)}.get(self.how, (before, new))
        names = {path for path in before.keys() | new.keys() if not _near(path, saves)}
        if any(all(now.get(path) == tree.get(path) for path in names) for tree in fit):
            return []
        odd = [path for path in names if all(now.get(path) != tree.get(path) for tree in fit)]
        return [f"{self.how}, but not whole: {[(path, now.get(path)) for path in sorted(odd)[:5]]}"]

    def _stored(self) -> list[tuple[int, bytes]]:
        files = []
        for name in (*map(Path, self.named), *self.fort.displaced):
            files += [name] if name.is_file() else list(name.rglob("*"))
        return [(file.lstat().st_mode, file.read_bytes()) for file in files if file.is_file()]


def _near(path: str, saves: dict[str, Save]) -> bool:
    """Saved itself, or in the way of what was saved, or swapped against it."""
    pairs = (("d", "d/f"), ("e", "e/deep/g"))
    return path in saves or any(path in pair and saves.keys() & set(pair) for pair in pairs)


def _changes_nothing(save: Save, before: tuple[int, bytes] | None) -> bool:
    """A mode alone, which the file had already: an undo takes it for the landing's."""
    return not save.text and before is not None and stat.S_IMODE(before[0]) == save.mode


def _is_somewhere(save: Save, files: list[tuple[int, bytes]]) -> bool:
    return any(_holds(save, *file) for file in files)


def _holds(save: Save, mode: int, data: bytes) -> bool:
    text = save.text.encode()
    if save.mode is not None and stat.S_IMODE(mode) != save.mode:
        return False
    return data == text if save.whole else text in data


def storm(landings: int, seed: int, seconds: float) -> int:
    """The whole storm, or what of it `seconds` allow; the exit code."""
    end = time.monotonic() + seconds
    chance, counts = random.Random(seed), Counter[str]()
    scratch = Path(tempfile.mkdtemp(prefix="hydra-saves-", dir="/var/tmp"))
    os.environ["HOME"] = str(scratch)
    forts: dict[int, Fort] = {}
    bad = saved = 0
    try:
        for number in range(landings):
            if time.monotonic() > end:
                break
            size = chance.choice(SIZES)
            if size not in forts:
                (scratch / f"run-{size}").mkdir()
                forts[size] = Fort.build(scratch, size)
            os.chdir(forts[size].repo)
            turn = Turn(forts[size], KINDS[number % len(KINDS)], random.Random(chance.random()))
            try:
                faults = turn.play(scratch)
            except HydraError as error:
                faults = [f"{type(error).__name__}: {error}"]
            saved += len((scratch / "ledger").read_text().splitlines())
            counts[f"{turn.kind}: {turn.how}{', something kept' if turn.named else ''}"] += 1
            for fault in faults:
                print(f"turn {number} ({turn.kind}, {size} files, {turn.how}): {fault}", flush=True)
            bad += bool(faults)
            forts[size].reset()
            (forts[size].desk / "journal.json").unlink(missing_ok=True)
    finally:
        os.chdir("/")
        shutil.rmtree(scratch, ignore_errors=True)
    for name, count in sorted(counts.items()):
        print(f"{count:5} {name}")
    print(f"{sum(counts.values())} landings, {saved} saves (seed {seed}): {bad} turns with faults")
    return int(bool(bad))


def main() -> int:
    parser = argparse.ArgumentParser(description="Lands while an editor saves.")
    parser.add_argument("--landings", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=86400.0, help="at most")
    parser.add_argument("--user", type=int, help="as this uid (from root)")
    options = parser.parse_args()
    if options.user is None or options.user == os.geteuid():
        return storm(options.landings, options.seed, options.seconds)
    rows = vars(options).items()
    arguments = [text for key, value in rows if key != "user" for text in (f"--{key}", str(value))]
    return subprocess.run(
        [python_for(options.user), "-m", "tests.support.save_storm", *arguments],
        env={**os.environ, **own_modules()},
        check=False,
        **account(options.user),
    ).returncode


if __name__ == "__main__":
    sys.exit(main())

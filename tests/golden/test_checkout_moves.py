"""The user moves, links, replaces or removes the checkout while lanes stand at its path."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.processes import wait_until
from tests.support.trust import Place, by_ordinary, exactly, needs_bwrap, place

__all__ = ["place"]

pytestmark = pytest.mark.slow

LATE = fakes.shell(
    "sh", "-c", "echo late > late.txt && rm .venv/lib/a.py && git add -A && git commit -qm late"
)
GONE = "the repository that it was raced in is gone"


def elsewhere(repo: Path) -> Path:
    return repo.with_name("elsewhere")


def move(repo: Path) -> None:
    repo.rename(elsewhere(repo))


def link(repo: Path) -> None:
    move(repo)
    repo.symlink_to(elsewhere(repo))


def copy(repo: Path) -> None:
    move(repo)
    shutil.copytree(elsewhere(repo), repo, symlinks=True)


def start_anew(repo: Path) -> None:
    move(repo)
    (repo / ".venv" / "lib").mkdir(parents=True)
    (repo / ".venv" / "lib" / "a.py").write_text("another\n")
    git(repo, "init", "-q")


def raced(place: Place, change: Callable[[Path], None]) -> tuple[int, dict[str, Any]]:
    """A race during which the user does that to the checkout; its exit code and document."""
    (place.repo / ".gitignore").write_text(".venv/\n")
    git(place.repo, "commit", "-qam", "Ignore")
    (place.repo / ".venv" / "lib").mkdir(parents=True)
    (place.repo / ".venv" / "lib" / "a.py").write_text("a\n")
    (place.repo / "mine.txt").write_text("the user's own\n")
    gate = fakes.Barrier(place.scratch, "edited")
    edit = fakes.edit("src/pager.py", "fixed\n")
    place.agent("claude", [edit, *gate.stop(), LATE, fakes.finish("done")])
    place.hand_over()
    race = place.start(
        "race", "Do it", "-a", "claude", "--check", "grep fixed src/pager.py", "--json"
    )
    gate.wait()
    # The base is tested beside the agents, from the repository: twice, as it fails.
    assert wait_until(lambda: events(place).count(b'"check_ended"') == 2)
    change(place.repo)
    for path in (place.repo, *place.repo.rglob("*")) if place.repo.is_dir() else ():
        shutil.chown(path, place.uid, place.uid)
    before = users_own(place)
    gate.open()
    document: dict[str, Any] = json.loads(race.communicate(timeout=120)[0])
    gate.close()
    assert users_own(place) == before
    return race.returncode, document


def events(place: Place) -> bytes:
    return b"".join(file.read_bytes() for file in place.state.glob("*/runs/[!.]*/events.jsonl"))


def users_own(place: Place) -> dict[str, object]:
    """All that lies at both paths but git's own; where it is linked to is not the user's."""
    return {
        f"{top}/{name}": (entry[:2], entry[-1])
        for top in (place.repo, elsewhere(place.repo))
        if top.is_dir()
        for name, entry in exactly(top).items()
        if not name.startswith(".git/")
    }


@pytest.mark.full
@by_ordinary
@pytest.mark.parametrize("change", [link, copy])
def test_where_the_base_is_still_at_the_path_the_race_goes_on(
    place: Place, change: Callable[[Path], None]
) -> None:
    needs_bwrap(place.uid)
    code, document = raced(place, change)
    assert code == 0
    (lane,) = document["lanes"]
    assert (lane["patch"]["files"], lane["patch"]["incomplete"]) == (2, "")
    if place.repo.is_symlink():
        place.repo.unlink()
        elsewhere(place.repo).rename(place.repo)
    before = users_own(place)
    for terms in (["check", "-q"], ["merge", "claude", "--override", "It is"], ["merge", "--undo"]):
        done = place.run(*terms)
        assert done.returncode == 0, done.stderr
    assert place.run("runs", "rm", document["run"], "--yes").returncode == 0
    assert users_own(place) == before
    assert [*place.state.glob("g/*")] == []


@by_ordinary
@pytest.mark.parametrize("change", [move, start_anew, shutil.rmtree])
def test_where_it_is_gone_that_is_the_reason_and_the_work_is_kept(
    place: Place, change: Callable[[Path], None]
) -> None:
    needs_bwrap(place.uid)
    code, document = raced(place, change)
    assert code == 1
    (lane,) = document["lanes"]
    assert lane["patch"]["incomplete"].startswith((GONE, "its base ")), lane
    tree = Path(lane["worktree"])
    assert (tree / "late.txt").read_text() == "late\n"
    assert (tree / "src" / "pager.py").read_text() == "fixed\n"

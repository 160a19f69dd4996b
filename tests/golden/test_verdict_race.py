"""Real races in which each lane does one thing, and the true sentence that the verdict has for it.

Lanes that are to be different patches have a comment more each; size decides nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support.command import Hydra
from tests.support.verdict_races import (
    CODE,
    RIGHT,
    UP,
    Judged,
    edited,
    lane,
    shop,
)

pytestmark = pytest.mark.slow

PAGER = "src/pager.py"
SUITE = "tests/test_pages.py"


def right(comments: int = 0) -> str:
    """The right code, larger by so many lines."""
    return "# one more line\n" * comments + RIGHT


def state(repo: Path) -> tuple[str, str, str]:
    return git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain"), text(repo)


def text(repo: Path) -> str:
    return (repo / PAGER).read_text()


def lands(judged: Judged, does: str, *named: str) -> None:
    """`hydra merge` without a lane takes this one, or, tied with others, once it is named."""
    repo = judged.hydra.repo
    before = git(repo, "rev-parse", "HEAD")
    done = judged.hydra.run("merge", *named)
    assert done.returncode == 0, f"{done.stderr}\n{judged}"
    assert done.stdout.startswith(f"landed {lane(does)} on main as ")
    assert git(repo, "rev-parse", "HEAD^") == before
    assert git(repo, "status", "--porcelain") == ""


def refuses(judged: Judged, says: str, *args: str) -> str:
    """`hydra merge` without a lane lands nothing and touches nothing; what it said."""
    before = state(judged.hydra.repo)
    done = judged.hydra.run("merge", *args)
    assert done.returncode == 5, done.stdout
    assert "\nerror: nothing was landed: " in done.stderr
    assert says in done.stderr, f"{done.stderr}\n{judged}"
    assert state(judged.hydra.repo) == before
    return done.stderr


# --- several lanes -------------------------------------------------------------------------------


def test_a_red_test_of_which_one_lane_asks_more_is_run_on_the_others(hydra: Hydra) -> None:
    shop(hydra.repo)
    odd = edited("n // size", "n // size + (n % size == 1)", CODE)
    more = edited(UP, f"{UP}        self.assertEqual(pages(5, 3), 2)\n")
    judged = Judged(hydra, {"odd": {PAGER: odd}, "right": {PAGER: RIGHT, SUITE: more}}).run()
    assert judged.ranks() == {"right": 1, "odd": 2}, str(judged)
    assert judged.of("odd")["reason"].endswith(f"fails {lane('right')}'s changed test")
    lands(judged, "right")


def test_the_same_patch_twice_is_no_choice_and_a_tie_is(hydra: Hydra) -> None:
    shop(hydra.repo)
    other = edited("n // size", "(n + size - 1) // size", CODE)
    judged = Judged(hydra, {"one": {PAGER: right()}, "same": {PAGER: right()}}).run()
    assert judged.top() in ("one", "same"), str(judged)
    for does, twin in (("one", "same"), ("same", "one")):
        assert f"left the very same patch as {lane(twin)}" in judged.outputs(does, "agreement")
    lands(judged, str(judged.top()))
    assert hydra.run("merge", "--undo").returncode == 0
    judged = Judged(hydra, {"one": {PAGER: right()}, "other": {PAGER: other}}).run()
    as_fast(hydra)
    judged.again()
    assert (judged.top(), judged.ranks()) == (None, {"one": 1, "other": 1}), str(judged)
    tied = f"{lane('one')} and {lane('other')} are tied"
    assert judged.document["says"] == f"{tied}: no test tells them apart"
    refuses(judged, tied)
    assert "--override does not choose" in refuses(judged, tied, "--override", "it is late")
    assert hydra.run("merge", lane("other")).returncode == 0
    assert text(hydra.repo) == other


def as_fast(hydra: Hydra) -> None:
    """The record says that all lanes took as long, and the verdict is made anew."""
    file = Path(hydra.run("runs", "path").stdout.strip(), "result.json")
    result = json.loads(file.read_text())
    for document in result["lanes"]:
        document["seconds"] = 2.0
    file.write_text(json.dumps(result))
    assert hydra.run("check").returncode == 0

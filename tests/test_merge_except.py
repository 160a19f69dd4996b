"""`hydra merge --except PATH`: what stays out, what still lands, and what it is refused for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hydra.race.recovery.retention import is_landed
from hydra.records.store.files import write_json
from hydra.records.store.reader import RunRecord
from tests.conftest import commit, git, make_repository
from tests.support import verdicts
from tests.support.landings import RUN, Shelf, Whole
from tests.support.shelf import fixture_of

pytestmark = pytest.mark.slow

DATA = "".join(f"line {at}\n" for at in range(30))


def with_a_build(scratch: Path) -> Shelf:
    """Two lanes; claude moves a file into a folder of a build's, too."""
    repo = make_repository(scratch / "shop")
    (repo / "data.txt").write_text(DATA)
    commit(repo, "Second commit")
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", work)
    shelf.lane("codex", lambda tree: write(tree / "src" / "more.py", "# codex\n"))
    return shelf


shelf = fixture_of(with_a_build)


def work(tree: Path) -> None:
    write(tree / "src" / "pager.py", "# claude\n")
    write(tree / "coverage" / "lcov.info", "TN:\n")
    (tree / "data.txt").rename(tree / "coverage" / "data.txt")


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def judged(shelf: Shelf, **more: Any) -> verdicts.Document:
    """The verdict that its race recorded: claude before codex."""
    lanes = ("claude", "codex")
    commits = {lane: git(shelf.race.patches, "rev-parse", lane) for lane in lanes}
    return verdicts.ranked(RUN, commits, **more)


def record(shelf: Shelf, verdict: verdicts.Document) -> None:
    file = shelf.race.patches.parent / "result.json"
    write_json(file, {**json.loads(file.read_text()), "verdict": verdict})


def merged(shelf: Shelf, *args: str) -> subprocess.CompletedProcess[str]:
    return shelf.command("merge", *args, "--no-check")


def files(process: subprocess.CompletedProcess[str]) -> list[str]:
    assert process.returncode == 0, process.stderr
    names: list[str] = json.loads(process.stdout)["files"]
    return names


def test_only_what_lies_there_stays_out_though_it_was_moved_there(shelf: Shelf) -> None:
    landed = merged(shelf, "claude", "--except", "coverage", "--json")
    assert files(landed) == ["data.txt", "src/pager.py"]
    (note,) = json.loads(landed.stdout)["notes"]
    assert note == "data.txt is deleted, and coverage/data.txt, with the same in it, left out"
    assert not (shelf.repo / "data.txt").exists()
    assert not (shelf.repo / "coverage").exists()


def test_what_covers_the_whole_patch_or_nothing_of_it_is_refused(shelf: Shelf) -> None:
    before = Whole.of(shelf.repo)
    whole = "--except leaves nothing of lane claude to land"
    none = "lane claude does not change build"
    refusals = {
        ".": whole,
        "coverage src ./data.txt src": whole,
        "build": none,
        "src build": none,
    }
    for paths, why in refusals.items():
        options = [term for path in paths.split() for term in ("--except", path)]
        refused = merged(shelf, "claude", *options)
        assert refused.returncode == 2
        assert why in refused.stderr
        names = "it changes coverage/data.txt, coverage/lcov.info, data.txt"
        assert names in refused.stderr
    assert Whole.of(shelf.repo) == before


def test_a_run_of_which_something_was_left_out_is_kept(shelf: Shelf) -> None:
    run = RunRecord(shelf.race.patches.parent)
    ways = {
        "claude": True,
        "--pick claude:src --pick claude:coverage": True,  # a moved file goes along
        "claude --except coverage": False,
        "--pick claude:src --pick codex:.": False,
    }
    for args, is_whole in ways.items():
        landed = merged(shelf, *args.split())
        assert landed.returncode == 0, landed.stderr
        assert is_landed(run, shelf.state) == is_whole
        shelf.undo()
        assert not is_landed(run, shelf.state)
    part = merged(shelf, "claude", "--except", "coverage")
    assert "part of claude" in shelf.command("runs").stdout
    refused = merged(shelf, "claude")  # in conflict: it is fetched from the run that it is of
    assert (part.returncode, refused.returncode) == (0, 5)
    assert merged(shelf, "codex").returncode == 0  # a whole lane counts until it is taken back
    assert is_landed(run, shelf.state)
    shelf.undo()
    assert not is_landed(run, shelf.state)
    _, _, line = refused.stderr.partition("merge it by hand: ")
    git(shelf.repo, "reset", "-q", "--hard")
    taken = subprocess.run(["sh", "-c", line], cwd=shelf.repo, capture_output=True, text=True)
    assert "CONFLICT" in taken.stdout, taken.stderr


PATHLESS = "ran out of time; its patch is kept"


def test_a_lane_that_is_held_back_for_no_path_needs_its_reason_whatever_is_left_out(
    shelf: Shelf,
) -> None:
    record(shelf, verdicts.held(judged(shelf, top=None), "claude", PATHLESS))
    before = Whole.of(shelf.repo)
    for lane in (["claude"], []):
        refused = shelf.command("merge", *lane, "--except", "coverage")
        assert refused.returncode == 5
        assert PATHLESS in refused.stderr
        offered = 'hydra merge claude --except coverage -r abc --override "why it may land"'
        assert offered in refused.stderr
    assert Whole.of(shelf.repo) == before
    landed = merged(shelf, "claude", "--except", "coverage", "--override", "I read it", "--json")
    assert files(landed) == ["data.txt", "src/pager.py"]


@pytest.mark.parametrize(("path", "code"), [("coverage/lcov.info", 0), ("src/pager.py", 5)])
def test_one_that_is_held_back_for_a_path_lands_without_it(
    shelf: Shelf, path: str, code: int
) -> None:
    document = verdicts.held(judged(shelf, top=None), "claude", "touches a path")
    document["lanes"][0]["gates"] = [verdicts.reason("gate", "touches a path", path=path)]
    record(shelf, document)
    checked = shelf.command("merge", "claude", "--except", "coverage", "--dry-run")
    if code:
        assert checked.returncode == code
        assert "touches a path" in checked.stderr
    else:
        # It comes to its checks, which a record as bare as this one does not know.
        assert "touches a path" not in checked.stderr
        assert "its checks cannot be run" in checked.stderr


def test_the_lines_that_a_bare_merge_offers_leave_out_the_same(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = judged(shelf, top=None)
    for lane, other in zip(document["lanes"], ("codex", "claude"), strict=True):
        lane |= {"rank": 1, "tied": [other]}
    record(shelf, document)
    refused = merged(shelf, "--except", "coverage", "--except", "it's")
    rest = """--except coverage --except 'it'"'"'s'"""
    assert (
        f"\nhydra merge claude {rest} -r abc\nhydra merge codex {rest} -r abc\n" in refused.stderr
    )
    record(shelf, {"schema": 99})
    unread = merged(shelf, "--except", "coverage")
    assert unread.returncode != 0
    assert "hydra merge LANE --except coverage -r abc" in unread.stderr


def test_a_comment_offers_nothing_to_land_once_all_of_it_has_landed(shelf: Shelf) -> None:
    record(shelf, judged(shelf))
    assert "hydra merge claude" in shelf.command("compare", "--markdown").stdout
    for rest in (["--except", "coverage"], []):
        assert merged(shelf, "claude", *rest).returncode == 0
        comment = shelf.command("compare", "--markdown").stdout
        assert ("### Hydra: `claude` landed" in comment) == (not rest)
        assert ("hydra merge claude" in comment) == bool(rest)
        shelf.undo()

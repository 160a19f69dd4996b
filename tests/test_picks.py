"""Picks of several lanes: what is taken, what is one and the same, and what is in conflict."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from hydra.errors import LandingRefused, UsageError
from hydra.git.runner import run
from hydra.landing.compose import compose
from hydra.landing.hunks import Hunk, hunks
from hydra.landing.picks import LanePatch, Pick, read_pick
from tests.conftest import commit, git, make_repository
from tests.support.grounds import race_on
from tests.support.landings import Shelf
from tests.support.picks_cases import EXEC, FILE, LINK, MODULE, ODD, Tree, commits

TEXT = b"".join(b"line %d\n" % n for n in range(1, 31))
BASE: Tree = {
    b"a.txt": (FILE, TEXT),
    b"crlf.txt": (FILE, TEXT.replace(b"\n", b"\r\n")),
    b"data.bin": (FILE, bytes(range(256))),
    b"empty": (FILE, b""),
    b"fold/x": (FILE, b"x\n"),
    b"fold/y": (FILE, b"y\n"),
    b"link": (LINK, b"a.txt"),
    b"run.sh": (FILE, b"#!/bin/sh\n"),
    b"sub": (MODULE, b"1" * 40),
    ODD: (FILE, TEXT),
}
GONE = ("", b"")


class Bench(NamedTuple):
    """patches.git as a race makes it, and a folder for its indexes."""

    patches: Path
    scratch: Path


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("picks")))
    (root / "index").mkdir()
    return Bench(race_on(make_repository(root / "shop"), root / "state").patches, root / "index")


class Lanes:
    """Lanes that change `BASE`; a path that is `GONE` is deleted."""

    def __init__(self, bench: Bench, *edits: Tree) -> None:
        trees = (_without({**BASE, **edit}) for edit in edits)
        self.bench = bench
        self.base, *self.commits = commits(bench.patches, BASE, *trees)

    def lane(self, number: int) -> LanePatch:
        return LanePatch(self.bench.patches, self.base, f"lane{number}", self.commits[number])

    def hunks(self, number: int, path: bytes = b"") -> list[Hunk]:
        pieces = hunks(self.bench.patches, self.base, self.commits[number])
        return [hunk for hunk in pieces if not path or hunk.path == path]

    def pick(self, *picks: tuple[int, bytes | Hunk]) -> Tree:
        """What becomes of the base, as `Tree` has it; what is as before is left out."""
        parts = []
        for number in dict.fromkeys(lane for lane, _ in picks):
            mine = [_pick(number, what) for lane, what in picks if lane == number]
            parts.append(self.lane(number).part(mine, self.bench.scratch))
        tree = compose(self.bench.patches, self.base, parts)
        return _changed(self.bench.patches, tree)


def _pick(lane: int, what: bytes | Hunk) -> Pick:
    if isinstance(what, Hunk):
        return Pick(f"lane{lane}", hunk=what.id)
    return Pick(f"lane{lane}", path=os.fsdecode(what))


def _without(tree: Tree) -> Tree:
    return {path: entry for path, entry in tree.items() if entry != GONE}


def _changed(git_dir: Path, tree: str) -> Tree:
    pairs: Tree = {}
    for entry in run("ls-tree", "-r", "-z", tree, git_dir=git_dir).stdout.split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        mode, kind, oid = facts.split()
        blob = kind == b"blob"
        data = run("cat-file", "blob", oid, git_dir=git_dir).stdout if blob else oid
        pairs[path] = (mode.decode(), data)
    new = {path: entry for path, entry in pairs.items() if BASE.get(path) != entry}
    return new | dict.fromkeys(BASE.keys() - pairs.keys(), GONE)


def line(number: int, text: bytes, of: bytes = TEXT, end: bytes = b"\n") -> bytes:
    lines = of.split(end)
    lines[number - 1] = text
    return end.join(lines)


def after(number: int, text: bytes) -> bytes:
    lines = TEXT.splitlines(keepends=True)
    return b"".join((*lines[:number], text, *lines[number:]))


EVERY_KIND: tuple[tuple[str, Tree], ...] = (
    ("mode", {b"run.sh": (EXEC, b"#!/bin/sh\n")}),
    ("mode and lines", {b"a.txt": (EXEC, line(3, b"three"))}),
    ("binary", {b"data.bin": (FILE, bytes(range(255, -1, -1)))}),
    ("symlink", {b"link": (LINK, b"run.sh")}),
    ("deletion", {b"a.txt": GONE}),
    ("crlf", {b"crlf.txt": (FILE, line(3, b"three\r", BASE[b"crlf.txt"][1]))}),
    ("no newline", {b"a.txt": (FILE, TEXT.removesuffix(b"\n"))}),
    ("file to folder", {b"a.txt": GONE, b"a.txt/inner": (FILE, b"in\n")}),
    ("folder to file", {b"fold/x": GONE, b"fold/y": GONE, b"fold": (FILE, b"now a file\n")}),
    ("file to symlink", {b"a.txt": (LINK, b"run.sh")}),
    ("file to submodule", {b"a.txt": (MODULE, b"3" * 40)}),
    ("an empty file filled", {b"empty": (FILE, b"full\n")}),
    ("a file emptied", {b"a.txt": (FILE, b"")}),
    ("new and empty", {b"new": (FILE, b"")}),
    ("submodule", {b"sub": (MODULE, b"2" * 40)}),
    ("odd name", {ODD: (FILE, line(3, b"three"))}),
    ("rename", {b"a.txt": GONE, b"moved/b.txt": (FILE, TEXT)}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "change"), EVERY_KIND, ids=[kind for kind, _ in EVERY_KIND])
def test_each_kind_of_change_is_picked_by_file_and_by_hunk(
    bench: Bench, kind: str, change: Tree
) -> None:
    del kind
    lanes = Lanes(bench, change, {b"new-too": (FILE, b"n\n")})
    by_file: list[tuple[int, bytes | Hunk]] = [(0, path) for path in change]
    by_hunk: list[tuple[int, bytes | Hunk]] = [(0, hunk) for hunk in lanes.hunks(0)]
    assert lanes.pick(*by_file) == change
    assert lanes.pick(*by_hunk) == change
    # Beside another lane's, and once more from a lane that has the same.
    assert lanes.pick(*by_hunk, (1, b"new-too")) == {**change, b"new-too": (FILE, b"n\n")}
    twins = Lanes(bench, change, change)
    ids = [[hunk.id for hunk in twins.hunks(lane)] for lane in (0, 1)]
    assert ids[0] == ids[1]
    assert twins.pick(*((lane, path) for lane in (0, 1) for path in change)) == change


@pytest.mark.parametrize("side", [b"a.txt", b"moved.txt"])
def test_a_rename_is_picked_whole_by_either_side_and_by_a_hunk(bench: Bench, side: bytes) -> None:
    moved: Tree = {b"a.txt": GONE, b"moved.txt": (FILE, line(3, b"three"))}
    lanes = Lanes(bench, {**moved, b"run.sh": (EXEC, b"#!/bin/sh\n")})
    assert lanes.pick((0, side)) == moved
    assert lanes.pick((0, lanes.hunks(0, side)[0])) == moved


def test_a_rename_onto_the_name_of_a_folder_takes_nothing_else_of_it(bench: Bench) -> None:
    lanes = Lanes(
        bench, {b"a.txt": GONE, b"a.txt/other": (FILE, b"other\n"), b"b.txt": (FILE, TEXT)}
    )
    picked = lanes.pick((0, lanes.hunks(0, b"b.txt")[0]))
    assert picked == {b"a.txt": GONE, b"b.txt": (FILE, TEXT)}


def test_an_edit_of_one_lane_follows_the_file_that_another_moves(bench: Bench) -> None:
    lanes = Lanes(
        bench,
        {b"a.txt": GONE, b"moved.txt": (FILE, TEXT)},
        {b"a.txt": (FILE, line(3, b"three"))},
    )
    expected: Tree = {b"a.txt": GONE, b"moved.txt": (FILE, line(3, b"three"))}
    assert lanes.pick((0, b"a.txt"), (1, b"a.txt")) == expected
    assert lanes.pick((1, b"a.txt"), (0, b"a.txt")) == expected


def test_an_edit_never_lands_in_a_copy_that_a_third_lane_adds(bench: Bench) -> None:
    lanes = Lanes(
        bench,
        {b"a.txt": GONE},
        {b"copy.txt": (FILE, TEXT)},
        {b"a.txt": (FILE, line(3, b"three"))},
    )
    with pytest.raises(LandingRefused, match="lane0 and those of lane2") as caught:
        lanes.pick((0, b"a.txt"), (1, b"copy.txt"), (2, b"a.txt"))
    assert [path for path, _ in caught.value.paths] == ["a.txt"]
    moving = Lanes(
        bench,
        {b"a.txt": GONE, b"moved.txt": (FILE, line(20, b"twenty"))},
        {b"copy.txt": (FILE, TEXT)},
        {b"a.txt": (FILE, line(3, b"three"))},
    )
    with pytest.raises(LandingRefused) as caught:
        moving.pick((0, b"a.txt"), (1, b"copy.txt"), (2, b"a.txt"))
    assert "copy.txt" in [path for path, _ in caught.value.paths]


def test_two_inserts_at_one_point_are_a_conflict_by_name_and_one_if_they_are_the_same(
    bench: Bench,
) -> None:
    content, other = after(10, b"one\n"), after(10, b"other\n")
    lanes = Lanes(bench, *({b"a.txt": (FILE, text)} for text in (content, other, content)))
    with pytest.raises(LandingRefused, match="lane0 and those of lane1") as caught:
        lanes.pick((0, b"a.txt"), (1, b"a.txt"))
    assert caught.value.paths == (("a.txt", "contents"),)
    assert lanes.pick((0, b"a.txt"), (2, b"a.txt")) == {b"a.txt": (FILE, content)}
    with pytest.raises(LandingRefused) as caught:
        lanes.pick((0, b"a.txt"), (1, b"a.txt"), (2, b"a.txt"))
    assert [reason.rpartition(", by ")[2] for _, reason in caught.value.paths] == [
        "lane0 and lane1",
        "lane1 and lane2",
    ]


@pytest.mark.parametrize(
    ("pairs", "other", "path", "reason"),
    [
        ({b"a.txt": GONE}, {b"a.txt": (FILE, line(3, b"x"))}, "a.txt", "modify/delete"),
        ({b"data.bin": (FILE, b"\0a")}, {b"data.bin": (FILE, b"\0b")}, "data.bin", "binary"),
        ({b"link": (LINK, b"x")}, {b"link": (LINK, b"y")}, "link", "contents"),
        ({b"sub": (MODULE, b"2" * 40)}, {b"sub": (MODULE, b"3" * 40)}, "sub", "submodule"),
        ({b"new": (FILE, b"n\n")}, {b"new": (EXEC, b"n\n")}, "new", "modes"),
        ({b"a.txt": (LINK, b"x")}, {b"a.txt": (EXEC, TEXT)}, "a.txt", "distinct modes"),
        (
            {b"a.txt": GONE, b"a.txt/in": (FILE, b"i\n")},
            {b"a.txt": (FILE, line(3, b"x"))},
            "a.txt",
            "",
        ),
        ({b"new": (FILE, b"n\n")}, {b"new/in": (FILE, b"i\n")}, "new", "file/directory"),
    ],
)
def test_what_two_lanes_cannot_both_have_is_named_as_they_know_it(
    bench: Bench, pairs: Tree, other: Tree, path: str, reason: str
) -> None:
    lanes = Lanes(bench, pairs, other)
    for first, second in ((0, 1), (1, 0)):
        with pytest.raises(LandingRefused) as caught:
            lanes.pick((first, b""), (second, b""))
        values = dict(caught.value.paths)
        assert path in values, values
        assert reason in values[path]
        assert not [name for name in values if "~" in name]


def test_hunks_of_one_file_are_taken_one_by_one(bench: Bench) -> None:
    text = line(3, b"three", line(25, b"twenty-five"))
    lanes = Lanes(bench, {b"a.txt": (EXEC, text)})
    mode, first, second = lanes.hunks(0)
    assert [mode.kind, first.kind, second.kind] == ["mode", "lines", "lines"]
    assert lanes.pick((0, mode)) == {b"a.txt": (EXEC, TEXT)}
    assert lanes.pick((0, second)) == {b"a.txt": (FILE, line(25, b"twenty-five"))}
    assert lanes.pick((0, second), (0, second)) == lanes.pick((0, second))
    assert lanes.pick((0, first), (0, b"a.txt")) == {b"a.txt": (EXEC, text)}
    assert lanes.pick((0, mode), (0, first), (0, second)) == {b"a.txt": (EXEC, text)}


def test_a_folder_takes_what_is_in_it_and_nothing_that_is_named_alike(bench: Bench) -> None:
    lanes = Lanes(bench, {b"fold/x": (FILE, b"X\n"), b"folder": (FILE, b"f\n"), b"fold/y": GONE})
    assert lanes.pick((0, b"fold/")) == {b"fold/x": (FILE, b"X\n"), b"fold/y": GONE}


def test_ids_are_of_the_very_change_whatever_stands_beside_it(bench: Bench) -> None:
    # The same line, put in at three places of one hunk's range: three changes, three ids.
    top = [after(n, b"same\n") for n in (0, 1, 2)]
    lanes = Lanes(bench, *({b"a.txt": (FILE, text)} for text in top))
    assert len({lanes.hunks(n)[0].id for n in (0, 1, 2)}) == 3
    # The same change beside another one of the same file, farther down.
    beside = Lanes(
        bench,
        {b"a.txt": (FILE, line(3, b"three"))},
        {b"a.txt": (FILE, line(3, b"three", line(25, b"x")))},
    )
    assert beside.hunks(0)[0].id == beside.hunks(1)[0].id


def test_a_prefix_that_is_unique_is_enough_and_an_ambiguous_one_is_told_with_both(
    bench: Bench,
) -> None:
    change: Tree = {b"new%d" % n: (FILE, b"%d\n" % n) for n in range(20)}  # more than 16 ids
    lane = Lanes(bench, change).lane(0)
    ids = [hunk.id for hunk in lane.hunks()]
    twice = next(digit for digit in "0123456789abcdef" if sum(i[0] == digit for i in ids) > 1)
    with pytest.raises(UsageError, match=f"hunks '{twice}'") as caught:
        lane.part([Pick("lane0", hunk=twice)], bench.scratch)
    assert caught.value.hint.count("(new") >= 2
    lane.part([Pick("lane0", hunk=ids[0][:10].upper())], bench.scratch)
    with pytest.raises(UsageError, match="no hunk 'zz'"):
        lane.part([Pick("lane0", hunk="zz")], bench.scratch)


@pytest.mark.parametrize("text", ["claude", "claude:", ":a", ""])
def test_a_pick_that_is_none_is_told_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="takes LANE:WHAT") as caught:
        read_pick(text, "--pick")
    assert "--pick codex:src/a.py" in caught.value.hint


@pytest.fixture
def shelf(repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    (repo / "lines.txt").write_bytes(TEXT)
    (repo / "src" / os.fsdecode(b"odd \xff.txt")).write_bytes(TEXT)
    commit(repo, "Second commit")
    monkeypatch.chdir(repo)
    return Shelf.of(repo, scratch)


@pytest.mark.slow
def test_the_command_shows_ids_that_no_setting_of_the_users_moves(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    shelf.lane("claude", _both)
    shelf.lane("codex", lambda tree: _write(tree, "lines.txt", line(3, b"three")))
    claude = json.loads(shelf.command("diff", "claude", "--hunks", "--json").stdout)
    codex = json.loads(shelf.command("diff", "codex", "--hunks", "--json").stdout)
    assert [row["path"] for row in claude["hunks"]] == ["lines.txt", "src/odd \\xff.txt"]
    assert [row["path"] for row in claude["files"]] == ["lines.txt", "src/odd \\xff.txt"]
    assert claude["hunks"][0]["id"] == codex["hunks"][0]["id"]
    home = scratch / "own-home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    settings = ("algorithm=myers", "context=0", "noprefix=true", "renames=copies")
    for where in (("--global",), ("--local",)):
        for setting in (*settings, "indentHeuristic=true", "interHunkContext=9", "external=false"):
            key, _, value = setting.partition("=")
            git(shelf.repo, "config", *where, f"diff.{key}", value)
        git(shelf.repo, "config", *where, "core.bigFileThreshold", "10")
    again = json.loads(shelf.command("diff", "claude", "--hunks", "--json").stdout)
    assert again == claude
    other = Shelf.of(shelf.repo, scratch / "another")  # its own run, under those settings
    other.lane("claude", _both)
    third = json.loads(other.command("diff", "claude", "--hunks", "--json").stdout)
    assert third["hunks"] == claude["hunks"]
    text = shelf.command("diff", "claude", "--hunks", "--", "lines.txt").stdout
    assert text.startswith(
        f"diff lines.txt\n@@ {claude['hunks'][0]['short']} -1,6 +1,6 @@\n line 1"
    )
    assert "odd" not in text


def _both(tree: Path) -> None:
    _write(tree, "lines.txt", line(3, b"three"))
    _write(tree, os.fsdecode(b"src/odd \xff.txt"), line(9, b"nine"))


def _write(tree: Path, name: str, data: bytes) -> None:
    (tree / name).write_bytes(data)


def test_an_odd_name_is_picked_and_a_lane_without_a_patch_is_told(shelf: Shelf) -> None:
    shelf.lane("claude", _both)
    shelf.lane("idle", lambda tree: None)
    with pytest.raises(UsageError, match="lane idle has nothing to pick: its patch is empty"):
        shelf.merge(picks=(Pick("idle", path="src"), Pick("claude", path="lines.txt")))
    with pytest.raises(UsageError, match="no lane 'nobody'"):
        shelf.merge(picks=(Pick("nobody", path="src"),))
    done = shelf.command("merge", "--pick", os.fsdecode(b"claude:src/odd \xff.txt"), "--no-check")
    assert done.returncode == 0, done.stderr
    assert (shelf.repo / os.fsdecode(b"src/odd \xff.txt")).read_bytes() == line(9, b"nine")
    assert (shelf.repo / "lines.txt").read_bytes() == TEXT

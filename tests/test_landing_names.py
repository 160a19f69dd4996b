"""Names that a landing may meet: hostile ones, long ones, what stands in their way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hydra.errors import LandingRefused
from hydra.git.paths import refused
from hydra.git.runner import run
from hydra.landing import swap, transaction
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, everything, laid, leftovers
from tests.support.shelf import is_old_or_new_wherever_killed

Edit = Callable[[Path], None]


def empty_run(scratch: Path) -> Shelf:
    """The project, and an empty run over it."""
    return Shelf.of(kinds.shop(scratch), scratch)


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """That; the test stands in its repository."""
    shelf = laid(scratch, empty_run)
    monkeypatch.chdir(shelf.repo)
    return shelf


def crafted(shelf: Shelf, name: bytes, mode: str = "100644", content: bytes = b"theirs\n") -> None:
    """A lane whose patch holds a path that no git would add: made of tree objects alone."""
    git_dir = shelf.race.patches

    def made(kind: str, data: bytes) -> str:
        terms = ("hash-object", "--literally", "-w", "-t", kind, "--stdin")
        return run(*terms, git_dir=git_dir, stdin=data, isolated=True).line

    oid = made("blob", content)
    parts = name.split(b"/")
    tree = mode.encode() + b" " + parts[-1] + b"\0" + bytes.fromhex(oid)
    for part in reversed(parts[:-1]):
        tree = b"40000 " + part + b"\0" + bytes.fromhex(made("tree", tree))
    base = run("cat-file", "tree", f"{shelf.race.base}^{{tree}}", git_dir=git_dir).stdout
    contents = _entries(base) | _entries(tree)
    # git's order: a folder sorts as if its name ended in a slash.
    order = sorted(contents, key=lambda n: n + b"/" if contents[n].startswith(b"40000") else n)
    top = made("tree", b"".join(contents[content] for content in order))
    terms = ("commit-tree", "-p", shelf.race.base, top)
    who = {f"GIT_{role}_{term}": "a@b" for role in ("AUTHOR", "COMMITTER") for term in WORDS}
    commit = run(*terms, git_dir=git_dir, stdin=b"Do it\n", extra_env=who, isolated=True).line
    run("update-ref", "refs/heads/claude", commit, git_dir=git_dir, isolated=True)
    shelf.lanes.append("claude")
    shelf._record()


WORDS = ("NAME", "EMAIL")


def _entries(tree: bytes) -> dict[bytes, bytes]:
    contents, at = {}, 0
    while at < len(tree):
        end = tree.index(b"\0", at) + 21
        entry = tree[at:end]
        contents[entry.split(b"\0")[0].partition(b" ")[2]] = entry
        at = end
    return contents


HOSTILE = {
    b".git/hooks/post-merge": "git keeps this name",
    b".GIT/config": "git keeps this name",
    b"src2/.Git/config": "git keeps this name",
    b"git~1/config": "git keeps this name",
    b".git /x": "git keeps this name",
    b".git./x": "git keeps this name",
    b".git::$INDEX_ALLOCATION/x": "git keeps this name",
    b".g\xe2\x80\x8cit/x": "git keeps this name",
    b"a\\.git\\hooks\\x": "git keeps this name",
    b"../outside": "not a path inside",
    b"a/../../outside": "not a path inside",
    b"./here": "not a path inside",
}


OTHERWISE = [(b".git/hooks/post-merge", how) for how in ("no-commit", "branch", "dry-run")]


@pytest.mark.parametrize(
    ("name", "how"),
    [*((name, "commit") for name in HOSTILE), *OTHERWISE, (b"../outside", "branch")],
    ids=lambda value: repr(value)[2:-1] if isinstance(value, bytes) else value,
)
def test_a_path_that_git_would_refuse_is_refused_and_named(
    shelf: Shelf, name: bytes, how: str
) -> None:
    crafted(shelf, name)
    before = Stand.of(shelf.repo)
    around = everything(shelf.repo.parent / "shop" / ".git")
    ways: dict[str, dict[str, object]] = {
        "commit": {},
        "no-commit": {"commit": False},
        "branch": {"branch": "try"},
        "dry-run": {"dry_run": True},
    }
    with pytest.raises(LandingRefused) as caught:
        shelf.merge("claude", **ways[how])
    values = dict(caught.value.paths)
    assert HOSTILE[name] in values[os.fsdecode(name)], caught.value
    assert Stand.of(shelf.repo) == before
    assert not (shelf.repo.parent / "outside").exists()
    # Not even an object was brought.
    assert everything(shelf.repo.parent / "shop" / ".git") == around


def test_a_hostile_path_is_shown_safely_and_the_rest_of_its_patch_can_be_picked(
    shelf: Shelf,
) -> None:
    crafted(shelf, b".g\xe2\x80\x8cit/x\x1b[31m")
    process = shelf.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "--pick LANE:PATH" in process.stderr
    assert not {"\u200c", "\x1b"} & set(process.stderr)


def test_a_symlink_that_git_reads_settings_from_is_refused(shelf: Shelf) -> None:
    crafted(shelf, b".gitmodules", "120000", b"/etc/passwd")
    with pytest.raises(LandingRefused) as caught:
        shelf.merge("claude")
    assert caught.value.paths == ((".gitmodules", "git takes no symlink for this file"),)


def test_names_that_only_look_like_gits_own_are_fine() -> None:
    for name in (b".gitignore", b".github/x", b"git/x", b"git~2", b"x.git/y", b"a\\b", b".gitx"):
        assert refused(name) == "", name


ODD = (
    *(b"-dash", b"--force", b"new\nline", b"esc\x1b[31mred", b"\xff\xfe\x80", b'quo"te'),
    *(b"tab\there", b"back\\slash", b":(top)magic", b"*", b"[a]", b" space ", b"%s", b"$HOME"),
    *("caf\u00e9".encode(), b"n" * 255, b"/".join([b"d" * 200] * 12) + b"/f"),
)


def test_names_of_every_sort_land_and_go_back(shelf: Shelf) -> None:
    def make(tree: Path) -> None:
        for name in ODD:
            path = Path(os.fsdecode(os.fsencode(tree) + b"/" + name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(name)

    shelf.lane("claude", make)
    before = Stand.of(shelf.repo)
    process = shelf.command("merge", "claude", "--no-check")
    assert process.returncode == 0, process.stderr
    assert "\x1b" not in process.stdout
    for name in ODD:
        assert Path(os.fsdecode(os.fsencode(shelf.repo) + b"/" + name)).read_bytes() == name
    assert git(shelf.repo, "status", "--porcelain") == ""
    shelf.undo()
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("name", [b"new\nline", b"\xff\xfe", b"-dash", b"esc\x1b[31m", b"n" * 255])
def test_a_file_of_an_odd_name_in_the_way_is_named_and_safe_to_read(
    shelf: Shelf, name: bytes
) -> None:
    def make(tree: Path) -> None:
        Path(os.fsdecode(os.fsencode(tree) + b"/" + name)).write_text("theirs\n")

    shelf.lane("claude", make)
    mine = Path(os.fsdecode(os.fsencode(shelf.repo) + b"/" + name))
    mine.write_text("mine\n")
    before = Stand.of(shelf.repo)
    process = shelf.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "1 path is in the way" in process.stderr
    assert "\x1b" not in process.stderr
    assert Stand.of(shelf.repo) == before


@pytest.mark.parametrize("fold", ["true", "false"])
def test_a_rename_by_case_alone_lands_and_goes_back(shelf: Shelf, fold: str) -> None:
    git(shelf.repo, "config", "core.ignoreCase", fold)

    def make(tree: Path) -> None:
        (tree / "README.md").rename(tree / "ReadMe.md")
        (tree / "src").rename(tree / "Src")

    shelf.lane("claude", make)
    before = Stand.of(shelf.repo)
    shelf.merge("claude")
    files = everything(shelf.repo)
    assert {"ReadMe.md", "Src/pager.py"} <= files.keys()
    assert not {"README.md", "src/pager.py"} & files.keys()
    shelf.undo()
    assert Stand.of(shelf.repo) == before


def test_a_rename_onto_an_untracked_file_is_refused(shelf: Shelf) -> None:
    shelf.lane("claude", kinds.work)
    (shelf.repo / "moved.sh").write_text("mine\n")
    before = Stand.of(shelf.repo)
    with pytest.raises(LandingRefused) as caught:
        shelf.merge("claude")
    assert [path for path, _ in caught.value.paths] == ["moved.sh"]
    assert Stand.of(shelf.repo) == before


# Folders that become files, and the other way round


def folder_to_file(tree: Path) -> None:
    shutil.rmtree(tree / "old")
    (tree / "old").write_text("a file now\n")


def file_to_folder(tree: Path) -> None:
    (tree / "run.sh").unlink()
    (tree / "run.sh" / "deep").mkdir(parents=True)
    (tree / "run.sh" / "deep" / "x").write_text("in a folder now\n")


def link_to_folder(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link" / "deep").mkdir(parents=True)
    (tree / "link" / "deep" / "x").write_text("in a folder now\n")


def folder_to_link(tree: Path) -> None:
    shutil.rmtree(tree / "old")
    (tree / "old").symlink_to("src")


@pytest.mark.parametrize("edit", [folder_to_file, file_to_folder, link_to_folder, folder_to_link])
def test_a_folder_and_a_file_change_places_and_back(shelf: Shelf, edit: Edit) -> None:
    shelf.lane("claude", edit)
    before = Stand.of(shelf.repo)
    shelf.merge("claude")
    assert git(shelf.repo, "status", "--porcelain") == ""
    shelf.undo()
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_link_to_a_full_folder_becomes_a_folder(shelf: Shelf, scratch: Path) -> None:
    """What is behind the link is neither in the way nor touched."""
    repo, outside = shelf.repo, scratch / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "x").write_text("not of this repository\n")
    (repo / "link").unlink()
    (repo / "link").symlink_to(outside)
    kinds.commit(repo)
    shelf = Shelf.of(repo, scratch / "more")
    shelf.lane("claude", link_to_folder)
    before = Stand.of(repo)
    shelf.merge("claude")
    assert (repo / "link" / "deep" / "x").read_text() == "in a folder now\n"
    assert not (repo / "link").is_symlink()
    assert (outside / "deep" / "x").read_text() == "not of this repository\n"
    shelf.undo()
    assert Stand.of(repo) == before
    assert (outside / "deep" / "x").read_text() == "not of this repository\n"


@pytest.mark.parametrize("edit", [folder_to_file, folder_to_link])
@pytest.mark.parametrize("what", ["untracked", "ignored", "nested", "repository", "fifo", "link"])
def test_a_folder_with_files_of_yours_does_not_become_a_file(
    shelf: Shelf, edit: Edit, what: str
) -> None:
    shelf.lane("claude", edit)
    old = shelf.repo / "old"
    match what:
        case "untracked":
            (old / "mine").write_text("mine\n")
        case "ignored":
            (old / "mine.log").write_text("mine\n")
        case "nested":
            (old / "a" / "b").mkdir(parents=True)
            (old / "a" / "b" / "mine").write_text("mine\n")
        case "repository":
            git(shelf.repo, "init", "-q", "old/inner")
        case "fifo":
            os.mkfifo(old / "mine")
        case "link":
            (old / "mine").symlink_to("/")
    names = sorted(path for path in shelf.repo.rglob("*") if ".git" not in path.parts)
    with pytest.raises(LandingRefused) as caught:
        shelf.merge("claude")
    assert [path for path, _ in caught.value.paths] == ["old"]
    assert "a folder of yours with other files in it" in caught.value.paths[0][1]
    assert sorted(path for path in shelf.repo.rglob("*") if ".git" not in path.parts) == names
    assert leftovers(shelf.repo) == []


def test_empty_folders_in_it_do_not_keep_a_folder(shelf: Shelf) -> None:
    shelf.lane("claude", folder_to_file)
    (shelf.repo / "old" / "empty" / "too").mkdir(parents=True)
    shelf.merge("claude")
    assert (shelf.repo / "old").read_text() == "a file now\n"


def test_a_file_made_in_the_last_moment_in_a_folder_that_goes_comes_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.lane("claude", folder_to_file)
    before = Stand.of(shelf.repo)

    def make(name: str) -> None:
        if name == "folder aside":
            (shelf.repo / "old" / "mine").write_text("just now\n")

    monkeypatch.setattr(transaction, "moment", make)
    with pytest.raises(transaction.RolledBack, match="was filled meanwhile"):
        shelf.merge("claude")
    assert (shelf.repo / "old" / "mine").read_text() == "just now\n"
    (shelf.repo / "old" / "mine").unlink()
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


def test_a_file_that_was_open_for_writing_comes_back_with_what_was_written(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.lane("claude", kinds.work)
    before = Stand.of(shelf.repo)
    with (shelf.repo / "lines.txt").open("a") as opened:

        def write(name: str) -> None:
            if name == "index set" and not opened.closed:
                opened.write("written late\n")
                opened.close()

        monkeypatch.setattr(transaction, "moment", write)
        with pytest.raises(transaction.RolledBack, match=r"lines\.txt was written to meanwhile"):
            shelf.merge("claude")
    assert (shelf.repo / "lines.txt").read_text().endswith("line 30\nwritten late\n")
    after = Stand.of(shelf.repo)
    assert {n for n in after.files if after.files[n] != before.files.get(n)} == {"lines.txt"}
    assert after.index == before.index
    assert leftovers(shelf.repo) == []


def test_one_stands_in_a_folder_that_is_emptied(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.lane("claude", kinds.work)
    monkeypatch.chdir(shelf.repo / "old")
    shelf.merge("claude")
    assert Path.cwd() == shelf.repo / "old"
    assert list((shelf.repo / "old").iterdir()) == []
    shelf.undo()
    assert (shelf.repo / "old" / "gone.txt").read_text() == "goes\n"


# Where there is no renameat2


@pytest.fixture
def no_renameat2(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without it."""
    monkeypatch.setattr(swap, "_renameat2", lambda old, new: False)


def twins_of_hydras_own(tree: Path) -> None:
    """Names that a place for what stands aside could be called."""
    for name in ("lines.txt.aside", "aside", "lines.txt.old"):
        (tree / name).write_text(f"{name}\n")
    kinds.work(tree)


@pytest.mark.usefixtures("no_renameat2")
def test_without_renameat2_it_lands_and_goes_back(shelf: Shelf) -> None:
    shelf.lane("claude", twins_of_hydras_own)
    kinds.users_own(shelf.repo)
    before = Stand.of(shelf.repo)
    shelf.merge("claude")
    assert kinds.unlike_git(shelf.repo) == []
    assert (shelf.repo / "lines.txt.aside").read_text() == "lines.txt.aside\n"
    shelf.undo()
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.slow
@pytest.mark.usefixtures("no_renameat2")
def test_without_renameat2_a_landing_killed_at_any_moment_is_old_or_new(shelf: Shelf) -> None:
    shelf.lane("claude", twins_of_hydras_own)
    kinds.users_own(shelf.repo)
    is_old_or_new_wherever_killed(shelf, partial(shelf.merge, "claude"))


def test_an_export_of_odd_names_is_taken_by_git_am(shelf: Shelf, scratch: Path) -> None:
    def make(tree: Path) -> None:
        for name in ODD[:-2]:
            Path(os.fsdecode(os.fsencode(tree) + b"/" + name)).write_bytes(name)

    patch = shelf.lane("claude", make)
    process = shelf.command("diff", "claude", "--mbox", "-o", str(scratch / "mail"))
    assert process.returncode == 0, process.stderr
    git(shelf.repo, "am", "-q", str(scratch / "mail"))
    assert git(shelf.repo, "rev-parse", "HEAD^{tree}") == git(
        shelf.race.patches, "rev-parse", f"{patch}^{{tree}}"
    )

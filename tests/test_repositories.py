"""Every kind of repository, by the real `hydra race`: what is refused, what works, what is said."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import git, make_repository
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.grounds import fingerprint
from tests.support.surroundings import mounts

WORK = [
    fakes.edit("src/pager.py", "fixed\n"),
    fakes.edit("new.txt", "new\n"),
    fakes.finish("done"),
]
Patch = dict[str, bytes | None]
"""Path to content, None for a file that is gone."""

DONE: Patch = {"src/pager.py": b"fixed\n", "new.txt": b"new\n"}
"""What WORK makes of a repository."""


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Iterator[Hydra]:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", WORK)
    yield hydra
    assert fakes.left(str(scratch)) == []


def raced(hydra: Hydra, *flags: str, code: int = 0) -> str:
    """`hydra race`, as a person runs it; all it says. Their repository stays as it is."""
    before = fingerprint(hydra.repo)
    process = hydra.run("race", "Do it", "-a", "claude", *flags)
    assert process.returncode == code, process.stderr + process.stdout
    assert "Traceback" not in process.stderr
    assert fingerprint(hydra.repo) == before
    return process.stderr + process.stdout


def patches_of(hydra: Hydra) -> Path:
    (path,) = hydra.state.glob("*/runs/*/patches.git")
    return path


def patch(hydra: Hydra, base: str = "") -> Patch:
    """The lane's patch against `base` (the commit below it): each changed path and its content."""
    place = patches_of(hydra)
    terms = ("diff", "--no-renames", "--name-only", "-z", base or "claude^", "claude")
    process = subprocess.run(["git", *terms], cwd=place, capture_output=True, check=True)
    paths = process.stdout.decode().split("\0")[:-1]
    return {path: blob(place, f"claude:{path}") for path in paths}


def blob(place: Path, name: str) -> bytes | None:
    process = subprocess.run(["git", "cat-file", "blob", name], cwd=place, capture_output=True)
    return process.stdout if process.returncode == 0 else None


def works(hydra: Hydra, *flags: str, more: Patch | None = None) -> str:
    """A race here ends well, its patch is WORK's and `more` on HEAD; what was said."""
    text = raced(hydra, *flags)
    assert patch(hydra) == DONE | (more or {})
    assert git(patches_of(hydra), "rev-parse", "claude^") == git(hydra.repo, "rev-parse", "HEAD")
    # And it is there for the user, in their own repository.
    assert hydra.run("diff", "claude", "--stat").returncode == 0
    git(hydra.repo, "fetch", "-q", str(patches_of(hydra)), "claude")
    return text


def sees(hydra: Hydra, command: str) -> None:
    """Has the agent write into `seen.txt` what this command shows it, before its work."""
    hydra.agent("claude", [fakes.shell("sh", "-c", f"{command} > seen.txt"), *WORK])


def refused(hydra: Hydra, error: str, hint: str, *flags: str) -> None:
    """A race here says exactly this, is exit code 3, starts nothing and leaves nothing."""
    before = fingerprint(hydra.repo, without="nothing")
    process = hydra.run("race", "Do it", "-a", "claude", "--quiet", *flags)
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr == f"error: {error}\nhint: {hint}\n"
    assert fingerprint(hydra.repo, without="nothing") == before
    assert list(hydra.state.glob("*/runs/*")) == []
    assert list(hydra.state.glob("g/*")) == []


# Refused


def test_no_commit_yet(hydra: Hydra) -> None:
    hydra.repo = hydra.scratch / "unborn"
    git(hydra.scratch, "init", "-q", "unborn")
    refused(
        hydra,
        "this repository has no commit yet",
        "make a first commit: git add -A && git commit -m start",
    )


def test_bare(hydra: Hydra) -> None:
    hydra.repo = hydra.scratch / "bare.git"
    git(hydra.scratch, "clone", "-q", "--bare", "shop", "bare.git")
    refused(
        hydra,
        "this repository is bare: it has no work tree",
        "run this in a work tree: git worktree add ../work, then go there",
    )


def test_inside_a_git_folder(hydra: Hydra) -> None:
    hydra.repo = hydra.repo / ".git"
    refused(hydra, "this is inside a .git folder", "run this in the work tree")


def test_no_repository(hydra: Hydra) -> None:
    hydra.repo = hydra.scratch / "plain"
    hydra.repo.mkdir()
    refused(
        hydra,
        f"{hydra.repo} is not in a git repository",
        "go into one, or make one: git init && git add -A && git commit -m start",
    )


def test_home_as_repository(hydra: Hydra) -> None:
    hydra.extra["HOME"] = str(hydra.repo)
    refused(
        hydra,
        f"the repository is your home folder itself ({hydra.repo})",
        "each lane would hold a copy of all of it: run this in a project's repository",
    )


@pytest.mark.slow
def test_somebody_elses(hydra: Hydra) -> None:
    if os.getuid() != 0:
        pytest.skip("chown needs root")
    for folder, _, names in os.walk(hydra.repo):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            os.chown(path, 65534, 65534)
    refused(
        hydra,
        f"the repository at {hydra.repo} belongs to somebody else",
        "run hydra as its owner, or add it to git's safe.directory if you trust it",
    )
    git(hydra.repo, "config", "--file", str(hydra.home / ".gitconfig"), "safe.directory", "*")
    raced(hydra)
    assert patch(hydra) == DONE


@pytest.mark.parametrize("inside", ["the state folder", "the repository"])
def test_repository_and_state_folder_in_each_other(hydra: Hydra, inside: str) -> None:
    state = hydra.scratch if inside == "the state folder" else hydra.repo / ".hydra"
    hydra.extra["HYDRA_STATE_DIR"] = str(state)
    refused(
        hydra,
        f"the state folder {state} and the repository {hydra.repo} lie in each other",
        "set HYDRA_STATE_DIR to a folder outside the repository",
    )


# Something is under way


def conflict(repo: Path) -> None:
    """Branches `main` and `side` that cannot be merged."""
    for branch in ("side", "main"):
        git(repo, "checkout", "-q", *(("-b",) if branch == "side" else ()), branch)
        (repo / "README.md").write_text(f"{branch}\n")
        git(repo, "commit", "-qam", branch)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert", "bisect"])
def test_something_under_way(hydra: Hydra, what: str) -> None:
    conflict(hydra.repo)
    rows = {"bisect": ("bisect", "start"), "revert": ("revert", "--no-edit", "HEAD~1")}
    named = rows.get(what, (what, "side"))
    if what == "revert":
        (hydra.repo / "README.md").write_text("more\n")
        git(hydra.repo, "commit", "-qam", "more")
    subprocess.run(["git", *named], cwd=hydra.repo, capture_output=True, check=False)
    text = works(hydra)
    assert f"a {what} is under way here; the lanes begin from the commit alone" in text
    # The conflict stays out of the lane, and is counted.
    assert ("left out: 1 changed file (" in text) == (what != "bisect")


@pytest.mark.slow
def test_a_conflict_taken_along_keeps_its_marks(hydra: Hydra) -> None:
    conflict(hydra.repo)
    subprocess.run(["git", "merge", "side"], cwd=hydra.repo, capture_output=True, check=False)
    marked = (hydra.repo / "README.md").read_bytes()
    assert b"<<<<<<<" in marked
    text = raced(hydra, "--include-dirty")
    assert patch(hydra) == DONE
    assert blob(patches_of(hydra), "claude^:README.md") == marked
    assert "a merge is under way here" in text


# Dirty


def make_dirty(repo: Path) -> None:
    (repo / "README.md").write_text("changed\n")
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "notes.txt").write_text("untracked\n")
    (repo / "debug.log").write_text("ignored\n")
    (repo / ".gitignore").unlink()
    (repo / ".git" / "info" / "exclude").write_text("*.log\n")


@pytest.mark.slow
def test_dirty(hydra: Hydra) -> None:
    make_dirty(hydra.repo)
    text = works(hydra)
    out = "not committed, so left out: 3 changed files and 1 untracked file"
    assert f"{out} (--include-dirty takes them along)" in text
    assert blob(patches_of(hydra), "claude:README.md") == b"# Shop\n"


@pytest.mark.slow
def test_include_dirty(hydra: Hydra) -> None:
    make_dirty(hydra.repo)
    text = raced(hydra, "--include-dirty")
    assert "left out" not in text
    assert patch(hydra) == DONE
    dirt = {
        "README.md": b"changed\n",
        "staged.txt": b"staged\n",
        "notes.txt": b"untracked\n",
        ".gitignore": None,
    }
    assert patch(hydra, "claude~2") == DONE | dirt
    head = git(hydra.repo, "rev-parse", "HEAD")
    assert git(patches_of(hydra), "rev-parse", "claude~2") == head
    # HEAD is what is kept from `git gc`; the base of Hydra's own is in patches.git alone.
    pins = git(hydra.repo, "for-each-ref", "--format=%(objectname)", "refs/hydra")
    assert pins == head


@pytest.mark.slow
def test_include_dirty_where_nothing_is(hydra: Hydra) -> None:
    assert "left out" not in works(hydra, "--include-dirty")


# Works


@pytest.mark.slow
def test_detached_head(hydra: Hydra) -> None:
    git(hydra.repo, "checkout", "-q", "--detach")
    assert "(HEAD)" in works(hydra)


@pytest.mark.slow
def test_linked_worktree(hydra: Hydra) -> None:
    users, linked = hydra.repo, hydra.scratch / "linked"
    git(users, "worktree", "add", "-q", "-b", "side", str(linked))
    before = fingerprint(users)
    hydra.repo = linked
    assert "(side)" in works(hydra)
    assert fingerprint(users, without="worktrees/linked/FETCH_HEAD") | before == before | {
        key: value
        for key, value in fingerprint(users, without="worktrees/linked/FETCH_HEAD").items()
        if key.startswith((".git/refs/hydra", ".git/objects"))
    }


@pytest.mark.slow
@pytest.mark.parametrize("cone", [True, False])
def test_sparse(hydra: Hydra, cone: bool) -> None:
    for name in ("docs/a.md", "src/deep/b.md"):
        (hydra.repo / name).parent.mkdir(parents=True, exist_ok=True)
        (hydra.repo / name).write_text("there\n")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "docs")
    terms = ("--cone", "src") if cone else ("--no-cone", "/*", "!/docs/", "!*.md")
    git(hydra.repo, "sparse-checkout", "set", *terms)
    seen = sorted(str(path.relative_to(hydra.repo)) for path in hydra.repo.rglob("*.md"))
    assert seen == (["README.md", "src/deep/b.md"] if cone else [])
    sees(hydra, "find . -name '*.md' | sort")
    works(hydra, more={"seen.txt": "".join(f"./{name}\n" for name in seen).encode()})


@pytest.mark.slow
def test_sparse_and_a_file_outside_of_it(hydra: Hydra) -> None:
    (hydra.repo / "docs").mkdir()
    (hydra.repo / "docs" / "a.md").write_text("there\n")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "docs")
    git(hydra.repo, "sparse-checkout", "set", "src")
    hydra.agent("claude", [fakes.edit("docs/a.md", "mine\n"), fakes.edit("docs/b.md", "b\n")])
    raced(hydra)
    assert patch(hydra) == {"docs/a.md": b"mine\n", "docs/b.md": b"b\n"}


@pytest.mark.slow
def test_shallow(hydra: Hydra) -> None:
    (hydra.repo / "README.md").write_text("two\n")
    git(hydra.repo, "commit", "-qam", "two")
    git(hydra.scratch, "clone", "-q", "--depth=1", f"file://{hydra.repo}", "clone")
    hydra.repo = hydra.scratch / "clone"
    works(hydra)


@pytest.mark.slow
def test_sha256(hydra: Hydra) -> None:
    old, hydra.repo = hydra.repo, hydra.scratch / "long"
    shutil.copytree(old, hydra.repo, ignore=shutil.ignore_patterns(".git"))
    git(hydra.repo, "init", "-q", "--object-format=sha256")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "one")
    works(hydra)
    assert len(git(patches_of(hydra), "rev-parse", "claude")) == 64


@pytest.mark.slow
def test_case_insensitive(hydra: Hydra) -> None:
    git(hydra.repo, "config", "core.ignoreCase", "true")
    works(hydra)


@pytest.mark.slow
def test_case_insensitive_and_a_file_that_changed_its_case(hydra: Hydra) -> None:
    git(hydra.repo, "config", "core.ignoreCase", "true")
    hydra.agent("claude", [fakes.delete("README.md"), fakes.edit("readme.md", "small\n")])
    raced(hydra)
    assert patch(hydra) == {"README.md": None, "readme.md": b"small\n"}


@pytest.mark.slow
def test_alternates_of_its_own(hydra: Hydra) -> None:
    git(hydra.scratch, "clone", "-q", "--shared", "shop", "middle")
    git(hydra.scratch, "clone", "-q", "--shared", "middle", 'a "quoted" one')
    hydra.repo = hydra.scratch / 'a "quoted" one'
    works(hydra)


# Submodules


@pytest.fixture
def library(hydra: Hydra) -> Path:
    """Makes hydra's repository one with a submodule; where its checkout stands."""
    allow = ("-c", "protocol.file.allow=always")
    library = make_repository(hydra.scratch / "library")
    git(hydra.repo, *allow, "submodule", "--quiet", "add", str(library), "lib")
    git(hydra.repo, "commit", "-qm", "submodule")
    return hydra.repo / "lib"


@pytest.mark.slow
def test_submodules_that_are_initialised(hydra: Hydra, library: Path) -> None:
    assert library.is_dir()
    sees(hydra, "{ ls -A lib; git status --short; git -C lib log --format=%s; }")
    seen = b".git\n.gitignore\nREADME.md\nsrc\n?? seen.txt\nFirst commit\n"
    text = works(hydra, more={"seen.txt": seen})
    assert "submodule" not in text


@pytest.mark.slow
def test_work_in_a_submodule_alone_is_brought_by_the_line_that_is_told(
    hydra: Hydra, library: Path
) -> None:
    hydra.agent("claude", [fakes.shell("sh", "-c", "echo new > lib/new"), fakes.finish("done")])
    error = hydra.race("-a", "claude").lane("claude")["error"]
    assert error["reason"] == "stranded_work"
    line = error["hint"].split("`")[1]
    subprocess.run(["sh", "-ec", line], cwd=hydra.repo, check=True)
    assert git(library, "status", "--porcelain") == "A  new"


@pytest.mark.slow
def test_submodules_that_are_not(hydra: Hydra, library: Path) -> None:
    git(hydra.repo, "submodule", "--quiet", "deinit", "-f", "--all")
    assert list(library.iterdir()) == []
    sees(hydra, "ls -A lib")
    text = works(hydra, more={"seen.txt": b""})
    assert text.count("stay empty: lib") == 2  # as it happens, and at the end, as the only one


@pytest.mark.slow
def test_submodules_that_the_set_up_brings(hydra: Hydra, library: Path) -> None:
    git(hydra.repo, "submodule", "--quiet", "deinit", "-f", "--all")
    shutil.rmtree(hydra.repo / ".git" / "modules")
    assert list(library.iterdir()) == []
    bring = "git -c protocol.file.allow=always submodule --quiet update --init"
    sees(hydra, "ls lib")
    works(hydra, "--setup", bring, more={"seen.txt": b"README.md\nsrc\n"})


# Content filters


def commit_filtered(repo: Path, name: str) -> None:
    (repo / ".gitattributes").write_text(f"*.up filter={name}\n")
    (repo / "a.up").write_text("abc\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "filtered")


UP = ("tr a-z A-Z", "tr A-Z a-z")


def configure(repo: Path, name: str, clean: str = UP[0], smudge: str = UP[1]) -> None:
    git(repo, "config", f"filter.{name}.clean", clean)
    git(repo, "config", f"filter.{name}.smudge", smudge)


@pytest.mark.slow
def test_a_content_filter(hydra: Hydra) -> None:
    configure(hydra.repo, "shout")
    commit_filtered(hydra.repo, "shout")
    refused(
        hydra,
        "this repository asks for the content filter shout",
        "--allow-filter shout lets it run as it is configured now",
    )
    refused(
        hydra,
        "this repository asks for the content filter shout",
        "--allow-filter shout lets it run as it is configured now",
        *("--allow-filter", "other"),
    )


@pytest.mark.slow
def test_a_content_filter_that_is_allowed(hydra: Hydra) -> None:
    configure(hydra.repo, "shout")
    commit_filtered(hydra.repo, "shout")
    sees(hydra, "cat a.up | tee b.up")
    works(hydra, "--allow-filter", "shout", more={"seen.txt": b"abc\n", "b.up": b"ABC\n"})


@pytest.mark.slow
def test_a_content_filter_that_nobody_set_up(hydra: Hydra) -> None:
    commit_filtered(hydra.repo, "shout")  # git does nothing with such a name either
    works(hydra)


# LFS


def with_lfs(hydra: Hydra) -> None:
    """Keeps *.bin in LFS, as `git lfs install` and `git lfs track` leave it."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    git(hydra.repo, "lfs", "install", "--local", "--skip-smudge")
    git(hydra.repo, "lfs", "install", "--local", "--force")
    git(hydra.repo, "lfs", "track", "*.bin")
    (hydra.repo / "big.bin").write_bytes(b"large\n" * 100)
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "large")


@pytest.mark.slow
def test_lfs(hydra: Hydra) -> None:
    with_lfs(hydra)
    sees(hydra, "head -c 12 big.bin | tee two.bin")
    oid = hashlib.sha256(b"large\nlarge\n").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12\n".encode()
    works(hydra, more={"seen.txt": b"large\nlarge\n", "two.bin": pointer})


@pytest.mark.slow
@pytest.mark.parametrize("install", [(), ("--skip-smudge", "--force")])
def test_lfs_that_was_never_fetched(hydra: Hydra, install: tuple[str, ...]) -> None:
    with_lfs(hydra)
    (hydra.repo / "here is.bin").write_bytes(b"here\n")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "one more")
    pointer = git(hydra.repo, "show", "HEAD:big.bin") + "\n"
    oid = hashlib.sha256(b"large\n" * 100).hexdigest()
    (hydra.repo / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid).unlink()
    (hydra.repo / "big.bin").write_text(pointer)
    os.utime(hydra.repo / "big.bin", (1, 1))  # else git asks git-lfs, which leaves a file behind
    git(hydra.repo, "add", "big.bin")
    git(hydra.repo, "lfs", "install", "--local", *install)
    sees(hydra, "{ git status --short; cat 'here is.bin' big.bin; }")
    text = works(hydra, more={"seen.txt": f"?? seen.txt\nhere\n{pointer}".encode()})
    assert text.count("never fetched stay pointers: 1 (git lfs pull)") == 2


@pytest.mark.slow
def test_a_check_has_the_lfs_files_of_a_patch(hydra: Hydra) -> None:
    with_lfs(hydra)
    hydra.agent("claude", [fakes.shell("sh", "-c", "echo new > two.bin"), *WORK])
    assert hydra.race("-a", "claude", "--check", "two=grep -q new two.bin").code == 0
    (lane,) = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    assert lane["state"] == "proved"


def path_without(hydra: Hydra, name: str) -> str:
    """A PATH with all that is on the usual one, but for one program."""
    folder = hydra.scratch / "programs"
    folder.mkdir()
    for source in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in Path(source).iterdir():
            if program.name != name and not os.path.lexists(folder / program.name):
                (folder / program.name).symlink_to(program)
    return os.pathsep.join([*map(str, hydra.path), str(folder)])


@pytest.mark.slow
def test_lfs_without_git_lfs(hydra: Hydra) -> None:
    with_lfs(hydra)
    hydra.extra["PATH"] = path_without(hydra, "git-lfs")
    refused(
        hydra,
        "this repository keeps files in Git LFS, and git-lfs is not here",
        "install git-lfs, or race where it is",
    )


@pytest.mark.slow
def test_lfs_that_was_never_set_up(hydra: Hydra) -> None:
    with_lfs(hydra)
    git(hydra.repo, "config", "--remove-section", "filter.lfs")
    with mounts() as inside:
        if Path("/etc/gitconfig").exists():  # Debian's package sets it up for everybody
            inside.show("/dev/null", Path("/etc/gitconfig"))
        hydra.wrap = inside.wrap(hydra.repo)
        refused(
            hydra,
            "this repository keeps files in Git LFS, and git is not set up for it",
            "run: git lfs install && git lfs pull",
        )


# Partial clone


@pytest.fixture
def partial(hydra: Hydra) -> Hydra:
    """A clone that has only what HEAD needs; what its first commit held is on the far side."""
    git(hydra.repo, "config", "uploadpack.allowFilter", "true")
    (hydra.repo / "README.md").write_text("two\n")
    git(hydra.repo, "commit", "-qam", "two")
    git(hydra.scratch, "clone", "-q", "--filter=blob:none", f"file://{hydra.repo}", "clone")
    hydra.repo = hydra.scratch / "clone"
    return hydra


@pytest.mark.slow
def test_a_partial_clone_works_for_what_is_there(partial: Hydra) -> None:
    line = (
        "a partial clone (blob:none): of older commits a lane has what was fetched here until now"
    )
    assert line in works(partial)


@pytest.mark.slow
def test_a_sparse_partial_clone(partial: Hydra) -> None:
    shop = f"file://{partial.scratch}/shop"
    git(partial.scratch, "clone", "-q", "--filter=blob:none", "--sparse", shop, "few")
    partial.repo = partial.scratch / "few"
    assert not (partial.repo / "src").exists()
    # The agent overwrites a file whose old content was never fetched: it cannot be compared.
    raced(partial)
    assert patch(partial) == DONE
    shown = json.loads(partial.run("diff", "claude", "--json").stdout)
    assert shown["files"] == [
        {"path": "new.txt", "added": 1, "deleted": 0},
        {"path": "src/pager.py", "added": None, "deleted": None},
    ]
    process = partial.run("diff", "claude")
    place, base = patches_of(partial), git(partial.repo, "rev-parse", "HEAD")
    assert process.returncode == 3
    assert process.stderr.startswith("error: the patch cannot be shown: fatal: unable to read ")
    git(partial.repo, "fetch", "-q", str(place), "claude")
    assert f"git fetch {place} LANE && git diff {base} FETCH_HEAD\n" in process.stderr
    assert "+fixed" in git(partial.repo, "diff", base, "FETCH_HEAD")


@pytest.mark.slow
def test_a_partial_clone_without_an_object(partial: Hydra) -> None:
    terms = ("rev-list", "--objects", "--missing=print", "--all")
    (missing,) = (line[1:] for line in git(partial.repo, *terms).split("\n") if line[:1] == "?")
    text = raced(partial, "--base", "HEAD~1", code=1)
    assert (
        "its worktree was not opened: an object of the base is not in this repository: "
        f"{missing} (README.md)"
    ) in text
    shown = partial.run("runs", "show").stdout
    assert "Hydra fetches nothing; in a partial clone this brings what is missing: " in shown
    assert git(partial.repo, *terms).count(f"?{missing}") == 1  # nothing was fetched

"""Every kind of repository, by the real `hydra race`: what is refused, what works, what is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git, make_repository
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.surroundings import mounts
from tests.support.tables import table
from tests.support.trees import fingerprint

pytestmark = pytest.mark.slow

WORK = [
    fakes.edit("src/pager.py", "fixed\n"),
    fakes.edit("new.txt", "new\n"),
    fakes.finish("done"),
]
Patch = dict[str, bytes | None]
"""Path to content, None for a file that is gone."""

DONE: Patch = {"src/pager.py": b"fixed\n", "new.txt": b"new\n"}
"""What WORK makes of a repository."""

FUNCTIONS = """
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A
export GIT_COMMITTER_EMAIL=a@example.com GIT_EDITOR=true
conflict() {  # branches `main` and `side` that cannot be merged
    git checkout -qb side; echo side > README.md; git commit -qam side
    git checkout -q main; echo main > README.md; git commit -qam main
}
dirty() {
    echo changed > README.md; echo staged > staged.txt; git add staged.txt
    echo untracked > notes.txt; echo ignored > debug.log; rm .gitignore
    mkdir -p .git/info; echo '*.log' > .git/info/exclude
}
docs() {
    mkdir -p docs src/deep; echo there > docs/a.md; echo there > src/deep/b.md
    git add -A; git commit -qm docs
}
library() {
    git -c protocol.file.allow=always submodule --quiet add "$LIBRARY" lib
    git commit -qm submodule
}
shout() {
    git config filter.shout.clean 'tr a-z A-Z'; git config filter.shout.smudge 'tr A-Z a-z'
}
filtered() {
    echo '*.up filter=shout' > .gitattributes; echo abc > a.up; git add -A; git commit -qm filtered
}
large() {  # keeps *.bin in LFS, as `git lfs install` and `git lfs track` leave it
    git lfs install --local --skip-smudge; git lfs install --local --force
    git lfs track '*.bin'; yes large | head -n 100 > big.bin; git add -A; git commit -qm large
}
unfetched() {
    echo here > 'here is.bin'; git add -A; git commit -qm more
    oid=$(git show HEAD:big.bin | sed -n 's/^oid sha256://p')
    find .git/lfs/objects -name "$oid" -delete; git show HEAD:big.bin > big.bin
    touch -d @1 big.bin; git add big.bin  # else git asks git-lfs, which leaves a file behind
}
"""
"""What the rows of tests/data/repositories.toml call."""


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Iterator[Hydra]:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", WORK)
    yield hydra
    assert fakes.left(str(scratch)) == []


def sh(folder: Path, script: str, **environ: str) -> None:
    line = ["sh", "-ec", f"{FUNCTIONS}\n{script}"]
    done = subprocess.run(line, cwd=folder, env=os.environ | environ, capture_output=True)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()


def raced(hydra: Hydra, *flags: str, code: int = 0) -> str:
    """`hydra race`, as a person runs it; all it says. Their repositories stay as they are."""
    places = {hydra.repo, hydra.scratch / "shop"}
    before = [fingerprint(place) for place in places]
    process = hydra.run("race", "Do it", "-a", "claude", *flags)
    assert process.returncode == code, process.stderr + process.stdout
    assert "Traceback" not in process.stderr
    assert [fingerprint(place) for place in places] == before
    return process.stderr + process.stdout


def patches_of(hydra: Hydra) -> Path:
    (path,) = hydra.state.glob("*/runs/*/patches.git")
    return path


def patch(hydra: Hydra) -> Patch:
    """The lane's patch: each changed path and its content."""
    place = patches_of(hydra)
    terms = ("diff", "--no-renames", "--name-only", "-z", "claude^", "claude")
    process = subprocess.run(["git", *terms], cwd=place, capture_output=True, check=True)
    paths = process.stdout.decode().split("\0")[:-1]
    return {path: blob(place, f"claude:{path}") for path in paths}


def blob(place: Path, name: str) -> bytes | None:
    process = subprocess.run(["git", "cat-file", "blob", name], cwd=place, capture_output=True)
    return process.stdout if process.returncode == 0 else None


def refused(hydra: Hydra, error: str, hint: str, *flags: str) -> None:
    """A race here says exactly this, is exit code 3, starts nothing and leaves nothing."""
    before = fingerprint(hydra.repo, without="nothing")
    process = hydra.run("race", "Do it", "-a", "claude", "--quiet", *flags)
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr == f"error: {error}\nhint: {hint}\n"
    assert fingerprint(hydra.repo, without="nothing") == before
    assert list(hydra.state.glob("*/runs/*")) == []
    assert list(hydra.state.glob("g/*")) == []


@pytest.mark.parametrize("row", table("repositories")["row"], ids=lambda row: row["name"])
def test_a_race_in_it_works_or_is_refused(hydra: Hydra, row: dict[str, Any]) -> None:
    if "needs" in row and shutil.which(row["needs"]) is None:
        pytest.skip(f"{row['needs']} is not here")
    library = make_repository(hydra.scratch / "library")
    sh(hydra.repo, row.get("setup", ""), LIBRARY=str(library))
    hydra.repo = Path(os.path.normpath(hydra.repo / row.get("at", "")))
    names = {"repo": str(hydra.repo), "scratch": str(hydra.scratch)}
    hydra.extra |= {name: text.format(**names) for name, text in row.get("extra", {}).items()}
    flags = row.get("flags", ())
    if "error" in row:
        refused(hydra, row["error"].format(**names), row["hint"].format(**names), *flags)
        return
    if "agent" in row:
        hydra.agent("claude", [fakes.shell("sh", "-ec", row["agent"]), *WORK])
    text = raced(hydra, *flags)
    more = {path: None if t == "-" else t.encode() for path, t in row.get("more", {}).items()}
    result = patch(hydra)
    assert result.items() >= (DONE | more).items()
    assert "then" in row or result == DONE | more
    for said in row.get("says", ()):
        assert said in text
    for unsaid in row.get("unsaid", ()):
        assert unsaid not in text
    place = patches_of(hydra)
    if "--include-dirty" not in flags:
        assert git(place, "rev-parse", "claude^") == git(hydra.repo, "rev-parse", "HEAD")
    sh(place, row.get("then", ""), REPO=str(hydra.repo))
    # And it is there for the user, in their own repository.
    assert hydra.run("diff", "claude", "--stat").returncode == 0
    git(hydra.repo, "fetch", "-q", str(place), "claude")


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


# LFS


@pytest.fixture
def lfs(hydra: Hydra) -> Hydra:
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    sh(hydra.repo, "large")
    return hydra


def test_a_check_has_the_lfs_files_of_a_patch(lfs: Hydra) -> None:
    lfs.agent("claude", [fakes.shell("sh", "-c", "echo new > two.bin"), *WORK])
    assert lfs.race("-a", "claude", "--check", "two=grep -q new two.bin").code == 0
    (lane,) = json.loads(lfs.run("compare", "--json").stdout)["lanes"]
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


def test_lfs_without_git_lfs_or_never_set_up(lfs: Hydra) -> None:
    git(lfs.repo, "config", "--remove-section", "filter.lfs")
    with mounts() as inside:
        if Path("/etc/gitconfig").exists():  # Debian's package sets it up for everybody
            inside.show("/dev/null", Path("/etc/gitconfig"))
        lfs.wrap = inside.wrap(lfs.repo)
        refused(
            lfs,
            "this repository keeps files in Git LFS, and git is not set up for it",
            "run: git lfs install && git lfs pull",
        )
    lfs.wrap = []
    git(lfs.repo, "lfs", "install", "--local")
    lfs.extra["PATH"] = path_without(lfs, "git-lfs")
    refused(
        lfs,
        "this repository keeps files in Git LFS, and git-lfs is not here",
        "install git-lfs, or race where it is",
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


def test_a_copy_of_a_partial_clone_that_promises_nothing_is_none(partial: Hydra) -> None:
    said = partial.run("race", "fix it", "--dry-run")
    assert "a partial clone (blob:none)" in said.stdout + said.stderr
    git(partial.scratch, "clone", "-q", "clone", "copy")
    partial.repo = partial.scratch / "copy"
    assert list(partial.repo.glob(".git/objects/pack/*.promisor"))
    said = partial.run("race", "fix it", "--dry-run")
    assert said.returncode == 0
    assert "a partial clone" not in said.stdout + said.stderr


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

"""An agent's work that is in no file of its worktree, or in an ignored one, is taken or kept.

Each script is what an agent types (tests/data/lanes.toml has most of them); "work" is the
content that it must not lose.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hydra.git import patches as patch_git
from hydra.git.tips import small
from tests.conftest import git
from tests.support.grounds import Race, agent, changes, race_on, take
from tests.support.tables import table

BASE = "base=$(git rev-parse HEAD)"
COMMIT = "git add -A; git commit -qm work"
BACK = "git checkout -q --detach $base"


TABLE = table("lanes")


@pytest.fixture
def race(repo: Path, scratch: Path) -> Race:
    return race_on(repo, scratch / "state")


def holders(race: Race, content: bytes = b"work\n") -> list[str]:
    """The refs of patches.git in whose commits a file with that content is to be found."""
    listed = git(race.patches, "for-each-ref", "--format=%(refname)").split()
    return [ref for ref in listed if content in contents(race.patches, ref)]


def contents(patches: Path, ref: str) -> list[bytes]:
    arguments = ["git", "rev-list", "--objects", "--no-object-names", ref]
    names = subprocess.run(arguments, cwd=patches, check=True, capture_output=True).stdout.split()
    return [blob(patches, name.decode()) for name in names]


def blob(patches: Path, name: str) -> bytes:
    arguments = ["git", "cat-file", "blob", name]
    return subprocess.run(arguments, cwd=patches, check=False, capture_output=True).stdout


FUNCTIONS = """
who() { git config user.name a; git config user.email b; }
commit() { git add -A; git commit -qm work; }
back() { git checkout -q --detach $base; }
nested() { git init -q $1; cd $1; who; }
submodule() {
    git init -q -b main "$SCRATCH/library"; cd "$SCRATCH/library"; who
    echo lib > lib.py; commit; cd "$REPO"
    git -c protocol.file.allow=always submodule --quiet add --name the/lib "$SCRATCH/library" sub
    git commit -qm sub
}
lfs() { git lfs install --local; git lfs track '*.bin'; commit; }
private() { cp -r "$REPO" "$SCRATCH/private"; echo secret > "$SCRATCH/private/secret"; }
steal() {
    oid=$(git -C "$SCRATCH/private" rev-parse HEAD:secret)
    git update-index --add --cacheinfo 100644,$oid,stolen; git commit -qm stolen; git branch b; back
}
base=$(git rev-parse HEAD || :); PRIVATE=$SCRATCH/private/.git/objects
OWN=$(git rev-parse --path-format=absolute --git-common-dir)/objects
"""


@pytest.mark.parametrize("row", TABLE["row"], ids=lambda row: row["name"])
def test_what_an_agent_leaves_is_taken_or_named_or_nobodys(
    repo: Path, scratch: Path, row: dict[str, Any]
) -> None:
    if "needs" in row and shutil.which(row["needs"]) is None:
        pytest.skip(f"{row['needs']} is not here")
    begin = f"SCRATCH={scratch}; REPO={repo}; {FUNCTIONS}"
    agent(repo, begin + row.get("setup", ""))
    race = race_on(repo, scratch / "state")
    ground = race.opened(copies=row.get("copies", ()))
    agent(ground.worktree, f"TMP={ground.worktree.parent}/tmp; {begin}{row['agent']}")
    patch = take(ground)
    ground.remove()
    result = {os.fsdecode(path): data for path, data in changes(race, patch).items()}
    if "changes" in row:
        assert result.keys() == row["changes"].keys()
        for path, text in row["changes"].items():
            assert text == "*" or result[path] == (None if text == "-" else text.encode())
    left = [ref.removeprefix("refs/left/claude/1/") for ref in patch.stranded]
    assert (patch.left_behind, patch.incomplete) == (row.get("left_behind", 0), "")
    if "work" not in row:
        assert left == row.get("stranded", [])
        assert "alone" not in row or holders(race) == [*patch.stranded]
    elif row["work"] == "patch":
        assert b"work\n" in result.values()
    else:
        assert any(ref.startswith(row["work"]) for ref in left)
        holding = {*holders(race)}
        assert holding
        assert {*patch.stranded} >= holding - {"refs/heads/claude", "refs/tries/claude/1"}
        assert all(any(ref in note for note in patch.notes) for ref in patch.stranded)
        git(race.patches, "fsck", "--full", "--connectivity-only", *patch.stranded)
    for note in row.get("notes", ()):
        assert any(note in text for text in patch.notes), patch.notes
    assert not (row.get("quiet") and patch.notes)
    assert "private" not in row.get("setup", "") or not holders(race, b"secret\n")
    agent(race.patches, begin + row.get("then", ""))


@pytest.mark.parametrize("row", TABLE["patch"], ids=lambda row: row["changed"])
def test_work_in_a_submodule_is_a_patch_of_its_own(
    repo: Path, scratch: Path, row: dict[str, str]
) -> None:
    race = race_on(with_submodule(repo, scratch), scratch / "state")
    ground = race.opened()
    agent(ground.worktree, f"echo new > README.md; cd sub; {row['script']}")
    patch = take(ground)
    ground.remove()
    assert changes(race, patch) == {b"README.md": b"new\n"}
    assert patch.stranded == ("refs/left/claude/1/nested/sub/files",)
    assert holders(race) == [*patch.stranded]
    assert not patch.left_behind
    (note,) = patch.notes
    line = note.partition(": ")[2]
    for folder in (repo, repo / "src"):
        agent(folder, line)
        assert git(repo / "sub", "status", "--porcelain") == row["changed"]
        git(repo / "sub", "reset", "-q", "--hard")


def test_the_line_for_a_submodule_is_quoted_and_works_below_the_top(
    repo: Path, scratch: Path
) -> None:
    race = race_on(with_submodule(repo, scratch, "my libs/it's $sub"), scratch / "state")
    ground = race.opened()
    agent(ground.worktree, "cd my*/it*; echo work > lib.py")
    (note,) = take(ground).notes
    (repo / "my libs" / "deep" / "er").mkdir(parents=True)
    agent(repo / "my libs" / "deep" / "er", note.partition(": ")[2])
    assert (repo / "my libs" / "it's $sub" / "lib.py").read_text() == "work\n"


def with_submodule(repo: Path, scratch: Path, path: str = "sub") -> Path:
    """`repo` with a submodule that is initialised, and whose name is not its path."""
    library = scratch / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    (library / "lib.py").write_text("lib\n")
    git(library, "add", "-A")
    git(library, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "lib")
    allow = ("-c", "protocol.file.allow=always")
    git(repo, *allow, "submodule", "--quiet", "add", "--name", "the/lib", str(library), path)
    git(repo, "commit", "-qm", "sub")
    return repo


def test_a_recovery_reads_what_was_kept_beside_the_patch(race: Race) -> None:
    ground = race.opened()
    agent(ground.worktree, "echo work > x; git stash -qu; git init -q n; echo '*' > n/.gitignore")
    (ground.worktree / "n" / "x").write_text("x\n")
    patch = take(ground)
    assert patch.left_behind
    assert patch_git.stranded(race.patches, "claude", 1) == patch.stranded
    assert patch_git.is_behind(race.patches, "claude", 1)
    assert not patch_git.is_behind(race.patches, "claude", 2)
    assert patch_git.with_work(race.patches, race.base) == {"claude"}


def test_a_commit_graph_of_the_agents_is_not_believed(race: Race) -> None:
    ground = race.opened()
    forge = (
        "import pathlib, sys; file = pathlib.Path(sys.argv[1]); text = file.read_bytes();"
        " file.chmod(0o644); old, new = map(bytes.fromhex, sys.argv[2:]); assert old in text;"
        " file.write_bytes(text.replace(old, new))"
    )
    agent(
        ground.worktree,
        f"{BASE}; git checkout -qb side; echo work > x; {COMMIT};"
        f" git commit-graph write --reachable; {BACK}; {sys.executable} -c '{forge}'"
        ' "$(git rev-parse --git-common-dir)/objects/info/commit-graph"'
        " $(git rev-parse side^{tree} HEAD^{tree})",
    )
    assert take(ground).stranded == ("refs/left/claude/1/side",)
    assert git(race.patches, "show", "refs/left/claude/1/side:x") == "work"


def test_a_file_that_is_swapped_for_a_fifo_holds_nobody_up(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, pipe = scratch / "HEAD", scratch / "pipe"
    plain.write_text("ref: refs/heads/main\n")
    os.mkfifo(pipe)
    status = plain.lstat()
    monkeypatch.setattr(Path, "lstat", lambda path: status)
    answers: list[bytes] = []
    reader = Thread(target=lambda: answers.append(small(pipe)), daemon=True)
    reader.start()
    reader.join(60)
    assert answers == [b""]
    assert small(plain) == b"ref: refs/heads/main\n"


def test_a_repository_that_was_moved_where_nobody_finds_it_keeps_the_lane(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydra.git.lane_folder._FOLDERS", 40)
    ground = race.opened()
    deep = "d=../tmp; for n in $(seq 50); do d=$d/d; done; mkdir -p $d"
    agent(ground.worktree, f"{deep}; mv .git $d/own")
    patch = take(ground)
    assert patch.left_behind == 1
    assert any("not all folders could be searched for it" in note for note in patch.notes)

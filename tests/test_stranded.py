"""An agent's work that is in no file of its worktree, or in an ignored one, is taken or kept.

Each script is what an agent types (tests/data/stranded.toml has most of them); "work" is the
content that it must not lose.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from hydra.git import patches as patch_git
from hydra.git.tips import small
from tests.conftest import git, make_repository
from tests.support.grounds import Race, agent, changes, race_on, take
from tests.support.tables import table

BASE = "base=$(git rev-parse HEAD)"
COMMIT = "git add -A; git commit -qm work"
WHO = "git config user.name a; git config user.email b"
BACK = "git checkout -q --detach $base"


TABLE = table("stranded")


def scripts(kind: str, answer: str = "left") -> list[tuple[str, str]]:
    return [(row["script"], row[answer]) for row in TABLE[kind]]


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


@pytest.mark.parametrize("script", TABLE["forced"])
def test_what_was_added_by_force_is_in_the_patch(race: Race, script: str) -> None:
    ground = race.opened()
    agent(ground.worktree, script)
    patch = take(ground)
    assert b"work\n" in changes(race, patch).values()
    assert not patch.incomplete
    assert not patch.left_behind


@pytest.mark.slow
@pytest.mark.parametrize(("script", "left"), scripts("no_file"))
def test_what_is_in_no_file_is_kept_and_named(race: Race, script: str, left: str) -> None:
    ground = race.opened()
    agent(ground.worktree, f"TMP={ground.worktree.parent}/tmp; {BASE}; {script}")
    patch = take(ground)
    ground.remove()
    assert any(ref.startswith(f"refs/left/claude/1/{left}") for ref in patch.stranded)
    assert {*patch.stranded} >= {*holders(race)} - {"refs/heads/claude", "refs/tries/claude/1"}
    assert holders(race)
    for ref in patch.stranded:
        assert any(ref in note for note in patch.notes)
    git(race.patches, "fsck", "--full", "--connectivity-only", *patch.stranded)
    assert not patch.left_behind


NESTED = f"git init -q n; cd n; {WHO}"


@pytest.mark.parametrize(("script", "left"), scripts("nested"))
def test_a_repository_inside_the_tree_is_looked_at_too(race: Race, script: str, left: str) -> None:
    ground = race.opened()
    agent(ground.worktree, script)
    patch = take(ground)
    ground.remove()
    assert patch.stranded == (f"refs/left/claude/1/nested/n/{left}",)
    assert holders(race) == [*patch.stranded]


@pytest.mark.parametrize(("script", "left"), scripts("submodule"))
def test_a_submodule_is_looked_at_too(repo: Path, scratch: Path, script: str, left: str) -> None:
    race = race_on(with_submodule(repo, scratch), scratch / "state")
    ground = race.opened()
    agent(ground.worktree, f"cd sub; {BASE}; {script}")
    patch = take(ground)
    ground.remove()
    assert patch.empty
    assert patch.stranded == (f"refs/left/claude/1/nested/sub/{left}",)
    assert holders(race) == [*patch.stranded]


def test_a_repository_in_a_folder_called_worktrees_is_looked_at_too(race: Race) -> None:
    ground = race.opened()
    script = NESTED.replace("n; cd n", "worktrees; cd worktrees")
    agent(ground.worktree, f"{script}; echo a > a; {COMMIT}; echo work > b; git stash -qu")
    assert take(ground).stranded == ("refs/left/claude/1/nested/worktrees/stash",)


def test_what_is_no_repository_but_called_so_is_named(race: Race) -> None:
    ground = race.opened()
    agent(ground.worktree, "mkdir -p a/.git b; echo work > a/.git/config; echo work > b/.git")
    patch = take(ground)
    assert patch.left_behind == 2
    for name in ("a/.git", "b/.git"):
        assert f"not in the patch, git refuses the name: {name}" in patch.notes


def test_a_repository_that_was_added_in_an_ignored_folder_is_named(race: Race) -> None:
    ground = race.opened()
    agent(
        ground.worktree,
        f"mkdir x.log; cd x.log; {NESTED}; echo work > a; {COMMIT}; cd ../..;"
        " git -c advice.addEmbeddedRepo=false add -f x.log/n",
    )
    patch = take(ground)
    assert "not in the patch, a repository in an ignored folder: x.log/n" in patch.notes
    assert patch.left_behind == 1


def test_a_commit_that_was_staged_for_a_submodule_is_kept(repo: Path, scratch: Path) -> None:
    race = race_on(with_submodule(repo, scratch), scratch / "state")
    ground = race.opened()
    agent(ground.worktree, f"git update-index --cacheinfo 160000,{'1' * 40},sub")
    patch = take(ground)
    assert patch.stranded == ("refs/left/claude/1/staged",)
    assert git(race.patches, "rev-parse", f"{patch.stranded[0]}:sub") == "1" * 40


@pytest.mark.parametrize("script", ["echo work > a.bin; git stash -qu", "rm a.bin"])
def test_what_lfs_keeps_of_it_is_kept_too(repo: Path, scratch: Path, script: str) -> None:
    with_lfs(repo)
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    agent(ground.worktree, f"echo work > a.bin; git add a.bin; {script}")
    assert take(ground).stranded
    ground.remove()
    files = [*race.patches.glob("lfs/objects/*/*/*")]
    assert [file.read_bytes() for file in files] == [b"work\n"]


def test_a_file_of_lfs_that_is_not_what_its_name_says_is_named(repo: Path, scratch: Path) -> None:
    with_lfs(repo)
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    (scratch / "work").write_text("work\n")
    agent(
        ground.worktree,
        "echo work > a.bin; git stash -qu; cd .git/lfs/objects;"
        f" f=$(find . -type f); rm -f $f; ln -s {scratch}/work $f",
    )
    patch = take(ground)
    assert patch.left_behind == 1
    assert any("a file of Git LFS stays in its repository alone" in note for note in patch.notes)
    assert not [*race.patches.glob("lfs/objects/*/*/*")]


def with_lfs(repo: Path) -> None:
    """Keeps *.bin in LFS, as `git lfs install` and `git lfs track` leave it."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    git(repo, "lfs", "install", "--local")
    git(repo, "lfs", "track", "*.bin")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "lfs")


@pytest.mark.parametrize(("script", "changed"), scripts("submodule_patch", "changed"))
def test_work_in_a_submodule_is_a_patch_of_its_own(
    repo: Path, scratch: Path, script: str, changed: str
) -> None:
    race = race_on(with_submodule(repo, scratch), scratch / "state")
    ground = race.opened()
    agent(ground.worktree, f"echo new > README.md; cd sub; {script}")
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
        assert git(repo / "sub", "status", "--porcelain") == changed
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


def test_what_the_rules_above_a_submodule_ignore_is_no_work_in_it(
    repo: Path, scratch: Path
) -> None:
    race = race_on(with_submodule(repo, scratch), scratch / "state")
    ground = race.opened()
    agent(ground.worktree, "mkdir sub/made; echo made > sub/made/a.log; echo made > sub/b.log")
    patch = take(ground)
    assert patch.empty
    assert not patch.notes


def test_a_submodule_at_another_commit_of_the_users_is_a_link_to_it(
    repo: Path, scratch: Path
) -> None:
    sub = with_submodule(repo, scratch) / "sub"
    git(sub, *("-c", "user.name=a", "-c", "user.email=b"), "commit", "-qm", "2", "--allow-empty")
    (sub / "lib.py").write_text("newer\n")
    git(sub, *("-c", "user.name=a", "-c", "user.email=b"), "commit", "-qam", "3")
    newer = git(sub, "rev-parse", "HEAD")
    git(sub, "checkout", "-q", "HEAD~2")
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    agent(ground.worktree, f"git -C sub checkout -q {newer}; git add sub; git commit -qm newer")
    patch = take(ground)
    assert changes(race, patch) == {b"sub": newer.encode()}
    assert not patch.stranded
    assert not patch.notes


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


def test_what_a_cloned_repository_came_with_is_nobodys_work(race: Race, repo: Path) -> None:
    git(repo, "branch", "other")
    git(repo, "tag", "v1")
    ground = race.opened()
    agent(ground.worktree, f"git clone -q {repo} n; cd n; git checkout -q other")
    assert not take(ground).stranded


def test_a_file_that_a_repository_inside_the_tree_ignores_is_named_and_kept(race: Race) -> None:
    ground = race.opened()
    agent(ground.worktree, "git init -q n; echo '*.txt' > n/.gitignore; echo work > n/x.txt")
    patch = take(ground)
    assert changes(race, patch) == {b"n/.gitignore": b"*.txt\n"}
    assert "not in the patch, as the repository n/ ignores it: n/x.txt" in patch.notes
    assert patch.left_behind == 1
    assert f"its worktree is kept: {ground.worktree}" in patch.notes


def test_what_was_copied_in_is_never_taken_though_added_by_force(repo: Path, scratch: Path) -> None:
    (repo / ".env").write_text("KEY=made-up\n")
    race = race_on(repo, scratch / "state")
    ground = race.opened(copies=(".env",))
    agent(ground.worktree, "git add -f .env; git commit -qm secret")
    patch = take(ground)
    assert patch.empty
    assert not patch.stranded
    assert any("not in the patch as copied in: .env" in note for note in patch.notes)


def test_a_path_that_an_index_names_is_not_followed_out_of_the_tree(
    race: Race, scratch: Path
) -> None:
    outside = scratch / "outside.log"
    outside.write_text("the user's\n")
    outside.chmod(0o000)
    ground = race.opened()
    agent(
        ground.worktree,
        f"mkdir out; touch out/outside.log; git add -f out; rm -r out; ln -s {scratch} out",
    )
    patch = take(ground)
    assert set(changes(race, patch)) == {b"out"}
    assert outside.stat().st_mode & 0o777 == 0


def test_the_users_own_tags_are_nobodys_work(repo: Path, scratch: Path) -> None:
    git(repo, "checkout", "-qb", "side")
    (repo / "x").write_text("the user's\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "side")
    git(repo, "tag", "v1")
    git(repo, "tag", "-am", "two", "v2")
    git(repo, "checkout", "-q", "main")
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    agent(ground.worktree, "git gc -q; git checkout -q v1; git checkout -q -; git branch b v1")
    patch = take(ground)
    assert not patch.stranded
    assert not patch.notes


@pytest.mark.parametrize("script", TABLE["everyday"])
def test_what_agents_do_every_day_is_not_remarked_upon(race: Race, script: str) -> None:
    ground = race.opened()
    agent(ground.worktree, script)
    patch = take(ground)
    assert not patch.stranded
    assert not patch.notes


def test_a_sparse_checkout_of_the_agents_deletes_nothing(race: Race) -> None:
    ground = race.opened()
    agent(ground.worktree, "git sparse-checkout set --no-cone /src/; echo new > src/pager.py")
    assert not (ground.worktree / "README.md").exists()
    patch = take(ground)
    assert changes(race, patch) == {b"src/pager.py": b"new\n"}
    assert any("git sparse-checkout took it out" in note for note in patch.notes)


@pytest.mark.parametrize("place", ["index", "HEAD", "logs/HEAD", "ORIG_HEAD"])
def test_a_fifo_in_the_agents_own_repository_hangs_nothing(race: Race, place: str) -> None:
    ground = race.opened()
    (ground.worktree / "new").write_text("new\n")
    admin = ground.worktree / ".git"
    (admin / "logs").mkdir(exist_ok=True)
    (admin / place).unlink(missing_ok=True)
    os.mkfifo(admin / place)
    assert changes(race, take(ground)) == {b"new": b"new\n"}


def test_another_repository_is_none_of_the_lanes(race: Race, scratch: Path) -> None:
    # An agent may name any folder as its own; what is there is the user's.
    shutil.copytree(race.repo.root, scratch / "private")
    (scratch / "private" / "secret").write_text("secret\n")
    git(scratch / "private", "stash", "-qu")
    ground = race.opened()
    shutil.rmtree(ground.worktree / ".git")
    (ground.worktree / ".git").write_text(f"gitdir: {scratch}/private/.git\n")
    (ground.worktree / "n").mkdir()
    (ground.worktree / "n" / ".git").write_text(f"gitdir: {scratch}/private/.git\n")
    patch = take(ground)
    assert not patch.stranded
    assert not holders(race, b"secret\n")


def test_a_link_to_another_repository_is_not_followed(race: Race, scratch: Path) -> None:
    private = another_repository(scratch)
    git(private, "stash", "-qu")
    ground = race.opened()
    (ground.worktree / "new").write_text("new\n")
    shutil.rmtree(ground.worktree / ".git")
    (ground.worktree / ".git").symlink_to(private / ".git")
    patch = take(ground)
    assert changes(race, patch) == {b"new": b"new\n"}
    assert not patch.stranded
    assert not holders(race, b"secret\n")


def another_repository(scratch: Path) -> Path:
    """One of the user's that is no lane's, with a commit, and a file that no commit has."""
    private = make_repository(scratch / "private")
    (private / "secret").write_text("secret\n")
    return private


@pytest.mark.parametrize(
    "script",
    [
        'echo "$PRIVATE" >> "$OWN/info/alternates"',
        'git -C "$PRIVATE/.." repack -qad; rm -rf "$OWN/pack"; ln -s "$PRIVATE/pack" "$OWN/pack"',
        'cd "$PRIVATE"; for f in ??/*; do mkdir -p "$OWN/${f%/*}"; ln -s "$PRIVATE/$f" "$OWN/$f";'
        " done; cd -",
    ],
)
def test_objects_of_another_repository_come_into_no_patch(
    race: Race, scratch: Path, script: str
) -> None:
    private = another_repository(scratch)
    git(private, "add", "-A")
    git(private, "commit", "-qm", "secret")
    oid = git(private, "rev-parse", "HEAD:secret")
    ground = race.opened()
    own = "OWN=$(git rev-parse --path-format=absolute --git-common-dir)/objects"
    paths = f"PRIVATE={private}/.git/objects; {own}"
    steal = f"git update-index --add --cacheinfo 100644,{oid},stolen; git commit -qm stolen"
    agent(ground.worktree, f"{BASE}; {paths}; {script}; {steal}; git branch b; {BACK}")
    patch = take(ground)
    assert blob(race.patches, oid) == b""
    assert any("b holds work that could not be kept" in note for note in patch.notes)
    assert patch.left_behind


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


def test_a_branch_that_was_packed_and_moved_since_is_kept_as_it_stands(race: Race) -> None:
    ground = race.opened()
    names = [f"s{number}" for number in range(6)]
    begin = [f"git checkout -qb {name} $base; echo {name} > x; {COMMIT}" for name in names]
    move = [f"git checkout -q {name}; echo work > x; git commit -qam {name}" for name in names]
    agent(ground.worktree, "; ".join((BASE, *begin, "git pack-refs --all", *move, BACK)))
    take(ground)
    for name in names:
        assert git(race.patches, "show", f"refs/left/claude/1/{name}:x") == "work"


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


def test_what_is_staged_in_another_worktree_and_a_file_there_is_kept_once(race: Race) -> None:
    ground = race.opened()
    script = 'git worktree add -q --detach "$TMP/w"; cd "$TMP/w"; echo work | tee x > README.md'
    agent(ground.worktree, f"TMP={ground.worktree.parent}/tmp; {BASE}; {script}; git add -A")
    assert take(ground).stranded == ("refs/left/claude/1/worktrees/w/files",)

"""Patches from ordinary and from broken trees (the acceptance table's rows on lost patches)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hydra.git import patches as patch_git
from hydra.git.snapshot_state import WorktreeLost
from tests.conftest import git
from tests.support.grounds import Race, agent, changes, race_on, take


@pytest.fixture
def race(repo: Path, scratch: Path) -> Race:
    return race_on(repo, scratch / "state")


EDIT: dict[bytes, bytes | None] = {b"src/pager.py": b"fixed\n"}


def edit(worktree: Path) -> None:
    (worktree / "src" / "pager.py").write_text("fixed\n")


def test_an_object_under_a_false_name_is_not_brought_over(race: Race) -> None:
    ground = race.opened()
    agent(
        ground.worktree,
        "echo evil > README.md; git stash -q;"
        "blob=$(git rev-parse stash:README.md); good=$(git rev-parse HEAD:src/pager.py);"
        "cd $(git rev-parse --git-common-dir)/objects;"
        "f=$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-);"
        "echo swapped > /dev/null; chmod u+w $f; printf 'x\\234garbage' > $f",
    )
    patch = take(ground)
    assert "could not be kept" in " ".join(patch.notes)
    git(race.patches, "fsck", "--connectivity-only")


def test_a_same_size_edit_in_the_second_of_the_checkout_is_seen(race: Race) -> None:
    for lane in ("a", "b", "c"):
        ground = race.opened(lane)
        target = ground.worktree / "src" / "pager.py"
        before = target.stat()
        text = target.read_bytes()
        target.write_bytes(text[:-2] + b"#\n")
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
        if lane == "b":
            ground.warm_index()
        assert changes(race, take(ground)) == {b"src/pager.py": text[:-2] + b"#\n"}


def test_an_index_that_is_lost_or_cut_costs_only_time(race: Race) -> None:
    for lane, data in (("a", None), ("b", b"DIRC"), ("c", b"")):
        ground = race.opened(lane)
        edit(ground.worktree)
        index = race.state / "run" / "lanes" / lane / "index"
        if data is None:
            index.unlink()
        else:
            index.write_bytes(data)
        patch = take(ground)
        assert changes(race, patch) == EDIT
        assert not patch.incomplete


def test_a_lost_worktree_is_said_and_never_a_patch_that_deletes_everything(
    race: Race, repo: Path
) -> None:
    for lane, script in (
        ("gone", 'rm -rf "$PWD"'),
        ("empty", "rm -rf .git .gitignore *"),
        ("link", f'd="$PWD"; cd /; rm -rf "$d"; ln -s {repo} "$d"'),
        ("file", 'd="$PWD"; cd /; rm -rf "$d"; echo > "$d"'),
    ):
        ground = race.opened(lane)
        agent(ground.worktree, script)
        with pytest.raises(WorktreeLost):
            take(ground)
        ground.remove()
    assert patch_git.branches(race.patches) == {}
    assert (repo / "README.md").exists()


def test_a_low_threshold_for_big_files_loses_none_of_them(repo: Path, scratch: Path) -> None:
    # git writes what is above it straight into a pack.
    git(repo, "config", "core.bigFileThreshold", "10")
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    (ground.worktree / "README.md").write_text("more than ten bytes\n")
    (ground.worktree / "new").write_bytes(bytes(1000))
    patch = take(ground)
    ground.remove()
    assert not patch.incomplete
    assert changes(race, patch) == {b"README.md": b"more than ten bytes\n", b"new": bytes(1000)}


FIX = "echo fixed > src/pager.py; "
TAKEN: dict[str, tuple[str, dict[str, int], dict[bytes, bytes | None], str]] = {
    "names that git refuses": (
        f"{FIX}mkdir .GIT; touch git~1 .GIT/config",
        {},
        EDIT,
        "git refuses the name",
    ),
    "every file deleted": (
        "git rm -rqf .",
        {},
        dict.fromkeys((b".gitignore", b"README.md", b"src/pager.py")),
        "every file of the base is deleted",
    ),
    "too many new files": (
        f"{FIX}mkdir -p web/node_modules; cd web; printf y > app.js; printf z > ../new.py;"
        "for n in $(seq 30); do mkdir node_modules/m$n; echo > node_modules/m$n/index.js; done",
        {"patch_untracked": 20},
        {**EDIT, b"web/app.js": b"y", b"new.py": b"z"},
        "30 untracked files in web/node_modules/",
    ),
    "over the limit": (
        f"{FIX}head -c 900 /dev/zero > half; head -c 950 /dev/zero > more",
        {"patch_bytes": 1000},
        {**EDIT, b"half": bytes(900)},
        "over the limit",
    ),
    "a file that git cannot convert": (
        f"{FIX}for n in 1 2 3; do echo > ok$n.py; done; printf abc > odd.txt;"
        "echo '*.txt working-tree-encoding=UTF-16' > .gitattributes",
        {},
        {
            **EDIT,
            b"odd.txt": b"abc",
            b".gitattributes": b"*.txt working-tree-encoding=UTF-16\n",
            **{b"ok%d.py" % number: b"\n" for number in (1, 2, 3)},
        },
        "byte for byte",
    ),
}
"""What an agent does, by which limits, what its patch has, and what is said of it."""


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_and_what_is_said(race: Race, name: str) -> None:
    script, limits, files, said = TAKEN[name]
    race = race.limited(**limits) if limits else race
    ground = race.opened()
    agent(ground.worktree, script)
    patch = take(ground)
    assert changes(race, patch) == files
    assert said in " ".join((*patch.notes, patch.incomplete))
    assert bool(patch.incomplete) is bool(limits)


def test_a_write_that_fails_is_incomplete_and_never_empty(race: Race) -> None:
    ground = race.opened()
    edit(ground.worktree)
    git_dir = race.patches
    objects = git_dir / "objects"
    shutil.move(objects, git_dir / "saved")
    (git_dir / "objects").write_text("no folder")
    patch = take(ground)
    assert patch.commit == race.base
    assert patch.incomplete


KILLED = """
import sys
from pathlib import Path
from hydra.git.snapshot import collect
from hydra.records.request import Limits
patches, worktree, base, index = sys.argv[1:]
print("ready", flush=True)
collect(patches=Path(patches), worktree=Path(worktree), base=base, index=Path(index),
        limits=Limits())
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_of_collecting_changes_nothing(race: Race) -> None:
    ground = race.opened()
    edit(ground.worktree)
    for number in range(300):
        (ground.worktree / f"f{number}").write_text(f"{number}\n" * 50)
    index = race.state / "run" / "lanes" / "claude" / "index"
    terms = (str(race.patches), str(ground.worktree), race.base, str(index))
    before = index.read_bytes()
    for step in range(12):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, *terms], stdout=subprocess.PIPE, start_new_session=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(step * 0.005)  # spreads the kills over one collection; orders nothing
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        assert index.read_bytes() == before
    patch = take(ground)
    assert patch.files == 301
    assert not patch.incomplete
    # A git of the last kill may still have written during the first sweep, not during this one.
    assert changes(race, take(ground, attempt=2)) == changes(race, patch)
    assert {path.name for path in index.parent.iterdir()} == {"ground.json", "index", "refs"}
    git(race.patches, "fsck", "--full", "--strict", "claude")


def test_a_folder_that_stays_closed_is_said_and_not_deleted(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.getuid() == 0:
        pytest.skip("root may read everything")
    ground = race.opened()
    (ground.worktree / "README.md").write_text("changed\n")
    src = ground.worktree / "src"
    src.chmod(0o000)
    with monkeypatch.context() as patched:
        patched.setattr(os, "chmod", _denied)
        patch = take(ground)
    assert changes(race, patch) == {b"README.md": b"changed\n"}
    assert "could not be read: src/" in patch.incomplete


def _denied(*_: object, **__: object) -> None:
    raise PermissionError(1, "Operation not permitted")

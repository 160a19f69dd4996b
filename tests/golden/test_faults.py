"""The faults of docs/annex/faults.md that need a race of their own; others: test_acceptance.py."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import commit, git, make_repository
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.rows import DONE, EDIT
from tests.support.trees import fingerprint

pytestmark = pytest.mark.slow


def result(stdout: str) -> dict[str, Any]:
    (lane,) = json.loads(stdout)["lanes"]
    document: dict[str, Any] = lane
    return document


def folder_of(hydra: Hydra) -> Path:
    (folder,) = hydra.state.glob("*/runs/[!.]*")
    return folder


# Row 38


def test_the_users_amend_and_gc_during_a_race_take_no_base_away(hydra: Hydra) -> None:
    gate = fakes.Barrier(hydra.scratch, "gc")
    log = fakes.shell("sh", "-c", "git log --format=%s -1 > said; git cat-file -p HEAD:README.md")
    hydra.agent("claude", [EDIT, *gate.stop(), log, DONE])
    race = hydra.start("race", "Do it", "-a", "claude", "--json", "-q")
    gate.wait()
    base = git(hydra.repo, "rev-parse", "HEAD")
    git(hydra.repo, "commit", "-q", "--amend", "-m", "Another first commit")
    git(hydra.repo, "reflog", "expire", "--expire=now", "--all")
    git(hydra.repo, "gc", "-q", "--prune=now")
    gate.open()
    lane = result(race.communicate(timeout=60)[0])
    assert (lane["status"], lane["patch"]["files"], lane["patch"]["base"]) == ("completed", 2, base)
    assert "+First commit" in hydra.run("diff", "claude", "--", "said").stdout
    git(folder_of(hydra) / "patches.git", "fsck", "--full", "claude")


# Row 42


def test_an_inherited_git_environment_is_ignored(hydra: Hydra) -> None:
    other = make_repository(hydra.scratch / "other")
    (other / "README.md").write_text("of the other\n")
    git(other, "add", "-A")
    hydra.extra |= {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git" / "objects"),
        "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.worktree",
        "GIT_CONFIG_VALUE_0": "/nowhere",
        "GIT_EXTERNAL_DIFF": "/bin/false",
        "GIT_NAMESPACE": "x",
        "GIT_PREFIX": "src/",
    }
    before = fingerprint(other)
    hydra.agent("claude", [EDIT, fakes.shell("sh", "-c", "git log -1 --format=%s > said"), DONE])
    race = hydra.race("-a", "claude")
    assert race.lane("claude")["patch"]["files"] == 2
    shown = hydra.run("diff", "claude").stdout
    assert "+fixed" in shown
    assert "+First commit" in shown
    assert fingerprint(other) == before
    assert git(other, "for-each-ref", "refs/hydra") == ""
    assert git(hydra.repo, "for-each-ref", "refs/hydra") != ""


# Row 43


def one_error(done: subprocess.CompletedProcess[str], text: str) -> None:
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: "), done.stderr
    assert text in lines[0]
    assert [line for line in lines[1:] if not line.lstrip().startswith("hint:")] == []


@pytest.mark.parametrize("terms", [("race", "x", "-q"), ("diff", "claude")])
def test_without_git_there_is_one_error(hydra: Hydra, terms: tuple[str, ...]) -> None:
    hydra.agent("claude", [EDIT, DONE])
    hydra.without("git")
    done = hydra.run(*terms)
    assert done.returncode == 3
    one_error(done, "git was not found")


def test_an_old_git_is_one_error(hydra: Hydra) -> None:
    hydra.agent("claude", [EDIT, DONE])
    old = hydra.scratch / "old" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.37.7\n")
    old.chmod(0o755)
    hydra.path.insert(0, old.parent)
    done = hydra.run("race", "x", "-q")
    assert done.returncode == 3
    one_error(done, "2.37.7 is too old")


# Row 44


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap makes the folder read-only")
def test_a_read_only_repository_is_one_error(hydra: Hydra) -> None:
    hydra.agent("claude", [EDIT, DONE])
    place = str(hydra.repo)
    hydra.wrap = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", place, place, "--"]
    done = hydra.run("race", "Do it", "-a", "claude", "-q")
    if "bwrap:" in done.stderr:
        pytest.skip("bwrap is refused here")
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("error: ")
    assert place in done.stderr or "read-only" in done.stderr.lower()
    assert "hint:" in done.stderr


# Row 45, where the user's own settings come in


def test_hooks_in_the_tree_that_the_user_runs_are_not_run_from_a_lane(hydra: Hydra) -> None:
    """`core.hooksPath=.githooks` is the user's own; what stands there now is the agent's."""
    ran = hydra.scratch / "ran"
    hooks = hydra.repo / ".githooks"
    hooks.mkdir()
    (hooks / "post-commit").write_text("#!/bin/sh\n")
    commit(hydra.repo, "Hooks")
    git(hydra.repo, "config", "core.hooksPath", ".githooks")
    names = "pre-commit post-commit post-checkout post-index-change reference-transaction"
    arm = (
        f"for h in {names} post-merge; do printf '#!/bin/sh\\necho $0 >> {ran}\\n' > .githooks/$h;"
        "chmod +x .githooks/$h; done"
    )
    gate = fakes.Barrier(hydra.scratch, "armed")
    hydra.agent("claude", [fakes.shell("sh", "-c", arm), *gate.stop(), DONE])
    race = hydra.start("race", "Do it", "-a", "claude", "--json", "-q")
    gate.wait()
    gate.open()
    lane = result(race.communicate(timeout=60)[0])
    assert lane["patch"]["files"] == 6
    assert hydra.run("diff", "claude").returncode == 0
    assert not ran.exists()
    assert stat.S_IMODE((hooks / "post-commit").stat().st_mode) & 0o111 == 0


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_lfs_runs_as_the_user_has_it_and_not_as_an_agent_says(hydra: Hydra) -> None:
    ran = hydra.scratch / "ran"
    git(hydra.repo, "lfs", "install", "--local", "--skip-repo")
    (hydra.repo / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (hydra.repo / "a.bin").write_bytes(b"one")
    commit(hydra.repo, "Large files")
    evil = (
        'printf "#!/bin/sh\\n[ -e %s/armed ] && echo $0 >> %s\\ncat\\n" "$TMPDIR" '
        f'{ran} > "$TMPDIR/evil"; chmod +x "$TMPDIR/evil";'
        'for k in clean smudge process; do git config filter.lfs.$k "$TMPDIR/evil"; done;'
        'for k in clean smudge; do git config -f .lfsconfig lfs.extension.e.$k "$TMPDIR/evil";'
        'git config lfs.extension.e.$k "$TMPDIR/evil"; done;'
        'git config -f .lfsconfig lfs.customtransfer.e.path "$TMPDIR/evil";'
        "git config -f .lfsconfig lfs.standalonetransferagent e;"
        'printf two > a.bin; touch "$TMPDIR/armed"'
    )
    hydra.agent("claude", [fakes.shell("sh", "-c", evil), DONE])
    race = hydra.race("-a", "claude")
    lane = race.lane("claude")
    assert (lane["status"], lane["patch"]["incomplete"]) == ("completed", ""), lane
    patches = Path(race.document["folder"], "patches.git")
    assert git(patches, "show", "claude:a.bin").startswith("version https://git-lfs")
    assert hydra.run("diff", "claude").returncode == 0
    assert not ran.exists()

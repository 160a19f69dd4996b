"""A lane stands at the path of the user's checkout, with its dependencies copy-on-write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.trust import Place, by_account, exactly, needs_bwrap, place

__all__ = ["place"]

DONE = fakes.finish("done")
SITE = "lib/python3/site-packages"

RUNNER = """#!{python}
import sys
sys.path[:0] = ["{checkout}/packages/app"]  # as an editable install's .pth does
import app
print("app of", app.__file__)
sys.exit(app.total([1, 2]) != 3)
"""


@pytest.fixture
def project(place: Place) -> Place:
    """A checkout with an environment whose programs import it from where it was installed."""
    needs_bwrap(place.uid)
    top = place.repo
    (top / "packages" / "app").mkdir(parents=True)
    (top / "packages" / "app" / "app.py").write_text("def total(xs):\n    return sum(xs) + 1\n")
    (top / ".gitignore").write_text(".venv/\nnode_modules/\n.env\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "App")
    bin_folder = top / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (top / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    check = bin_folder / "check"
    check.write_text(RUNNER.format(python=os.path.realpath(place.python), checkout=top))
    check.chmod(0o755)
    for name in ("kept.py", "gone.py"):
        (top / ".venv" / SITE).mkdir(parents=True, exist_ok=True)
        (top / ".venv" / SITE / name).write_text("x = 1\n")
    (top / "packages" / "app" / "node_modules" / "left-pad").mkdir(parents=True)
    (top / "packages" / "app" / "node_modules" / "left-pad" / "index.js").write_text("1\n")
    (top / ".env").write_text("KEY=made-up-key\n")
    return place


def sh(*lines: str) -> fakes.Step:
    """One shell call; what it prints is the file `said` of its lane."""
    return fakes.shell("sh", "-c", "\n".join(("exec >> said 2>&1", *lines)))


FIX = fakes.edit("packages/app/app.py", "def total(xs):\n    return sum(xs)\n")
BREAK = fakes.edit("packages/app/app.py", "raise SystemExit(1)\n")


def users_own(top: Path) -> dict[str, object]:
    """All of the checkout but git's; of a folder of links what hard links do not change."""
    return {name: values for name, values in exactly(top).items() if not name.startswith(".git/")}


@pytest.mark.slow
@by_account
def test_a_check_of_an_installed_checkout_runs_the_patch(project: Place) -> None:
    project.agent("claude", [FIX, DONE])
    project.agent("codex", [BREAK, DONE])
    project.hand_over()
    failing = 'printf "TAP version 13\\nnot ok 1 - $PWD/a.test.js\\n1..1\\n"; exit 1'
    checks = ("--check", ".venv/bin/check", "--check", f"tap={failing}")
    race = project.race("-a", "claude", "-a", "codex", *checks)
    # Its own path is no part of a test's name.
    assert race.lane("claude")["checks"][1]["tests"]["failing"] == ["a.test.js"]
    lanes = {lane: race.lane(lane)["checks"][0] for lane in ("claude", "codex")}
    assert {lane: check["status"] for lane, check in lanes.items()} == {
        "claude": "passed",
        "codex": "failed",
    }
    output = Path(race.document["folder"], lanes["claude"]["output"]).read_text()
    assert output.strip() == f"app of {project.repo}/packages/app/app.py"


@pytest.mark.slow
@by_account
def test_what_a_lane_installs_and_removes_is_its_own(project: Place) -> None:
    work = (
        f"rm .venv/{SITE}/gone.py; echo y > .venv/{SITE}/kept.py; mkdir .venv/{SITE}/new",
        f"rm -r .venv/bin; mkdir .venv/bin; touch .venv/bin/tool; ls .venv/{SITE} .venv/bin",
        "cat packages/app/node_modules/left-pad/index.js; rm -rf packages/app/node_modules",
        "cat .env; ls -A",
    )
    project.agent("claude", [sh(*work), FIX, DONE])
    project.hand_over()
    before = users_own(project.repo)
    race = project.race("-a", "claude")
    text = project.taken(race.document["folder"], "claude")
    assert race.lane("claude")["patch"]["files"] == 2, text
    assert "kept.py\nnew\n" in text
    assert "gone.py" not in text
    assert "\n1\n" in text
    assert "made-up-key" not in text
    assert users_own(project.repo) == before
    assert [*project.state.glob("g/*")] == []
    assert [*project.state.glob("frozen/*")] == []


@pytest.mark.slow
@by_account
def test_a_folder_that_hides_itself_is_a_lanes_as_one_that_a_rule_names(project: Place) -> None:
    """As uv, virtualenv, `venv` of Python 3.13, tox and mypy make theirs."""
    top = project.repo
    (top / ".gitignore").write_text(".env\nnode_modules/\n")
    (top / ".ruff_cache").mkdir()
    (top / ".ruff_cache" / "tracked").write_text("1\n")
    git(top, "add", "-A", ".gitignore", ".ruff_cache")
    git(top, "commit", "-qm", "No rule for environments")
    rules = {".venv": "*", ".tox": "# Made by a tool.\n*\n", "mine": "*\n", "notes": "*\n"}
    for name, text in {**rules, ".ruff_cache": "*\n"}.items():
        (top / name).mkdir(exist_ok=True)
        (top / name / ".gitignore").write_text(text)
        (top / name / "tool").write_text(f"{name}'s tool\n")
    (top / "mine" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    look = (
        "cat */tool .*/tool; git status --porcelain; echo 2 > .venv/tool; rm -r .tox/tool",
        "rm mine/.gitignore; echo '*' > mine/.gitignore",
    )
    project.agent("claude", [sh(*look), FIX, DONE])
    project.hand_over()
    before = users_own(top)
    race = project.race("-a", "claude", "--check", ".venv/bin/check")
    (check,) = race.lane("claude")["checks"]
    assert check["status"] == "passed", race.document
    text = project.taken(race.document["folder"], "claude")
    assert "mine's tool\n.tox's tool\n.venv's tool\n?? said" in text
    patch = race.lane("claude")["patch"]
    assert (patch["files"], patch["notes"], patch["left_behind"]) == (2, [], 0)
    assert users_own(top) == before


@pytest.mark.slow
@by_account
def test_what_an_agent_lays_open_that_hid_itself_is_said(project: Place) -> None:
    top = project.repo
    (top / "mine").mkdir()
    (top / "mine" / ".gitignore").write_text("*\n")
    (top / "mine" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    project.agent("claude", [sh("rm mine/.gitignore; echo own > mine/own.py"), FIX, DONE])
    project.hand_over()
    lane = project.race("-a", "claude").lane("claude")
    assert "mine is no longer ignored, and not in the patch" in " ".join(lane["patch"]["notes"])


@pytest.mark.slow
@by_account
def test_git_in_a_lane_knows_the_checkouts_path(project: Place) -> None:
    project.agent(
        "claude",
        [
            sh("pwd; git rev-parse --show-toplevel; git status --short | grep -v said"),
            sh("git worktree list; git worktree prune"),
            sh("cd packages/app; git rev-parse --show-prefix"),
            FIX,
            sh("git stash -q; git stash pop -q; git log --oneline | wc -l; git fsck 2>&1"),
            sh("git -c user.name=a -c user.email=a@b commit -qam fix && git log -1 --format=%s"),
            DONE,
        ],
    )
    project.hand_over()
    race = project.race("-a", "claude")
    lines = project.taken(race.document["folder"], "claude").splitlines()
    assert lines[:2] == [str(project.repo)] * 2
    assert [line for line in lines if line.startswith(f"{project.repo} ")]
    assert "packages/app/" in lines
    assert lines[-1] == "fix"
    assert "fatal" not in " ".join(lines)
    patches = Path(race.document["folder"], "patches.git")
    assert "packages/app/app.py" in project.git("show", "--stat", "claude", cwd=patches)

"""Nothing that an agent wrote runs when its patch is shown, landed, taken back or exported.

`tests/attack/test_git_vectors.py` arms each way in a lane, and lands from there too. Here an agent
that nothing confines arms them in the user's own repository and HOME, after the race began; what
of the user's own does run (signing, LFS, an allowed filter, pager, editor) runs as it was before
that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.attack.test_git_vectors import EVIL, TABLE, VECTORS, Vector, on_terminal
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landings import Shelf, everything, leftovers
from tests.support.trust import Place

QUICK = ("fsmonitor", "filter-by-info-attributes")
"""Those of the default run; `pytest -m full` has the others."""


@dataclass
class Trap:
    """A user's place, one lane's patch, and a program that nobody may run."""

    place: Place
    shelf: Shelf
    ran: Path
    folder: Path
    vector: Vector

    @property
    def repo(self) -> Path:
        return self.shelf.repo

    def arm(self, script: str) -> None:
        """What the agent types in the user's work tree; the program runs nothing until then."""
        armed = f"RAN='{self.ran}'\n{EVIL}\n{script}\ntouch \"$TMPDIR/armed\""
        done = subprocess.run(
            ["sh", "-c", armed],
            cwd=self.repo,
            env=self.place.environ | {"TMPDIR": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def by_plain_git(self, script: str) -> None:
        """The same repository as a person falls into it: the trap goes off."""
        (self.repo / "src" / "pager.py").write_text("changed\n")
        on_terminal(self.place, script, self.repo)
        assert self.ran.exists()

    def show(self) -> bytes:
        """`hydra diff` on a terminal, where a pager would be started."""
        text = f"{self.place.python} -m hydra diff claude"
        return on_terminal(self.place, text, self.repo)


@pytest.fixture
def trap(request: pytest.FixtureRequest, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """In the repository of the vector that the test asks for by `indirect`, else in a plain one."""
    vector = getattr(request, "param", Vector())
    if vector.needs and shutil.which(vector.needs) is None:
        pytest.skip(f"{vector.needs} is not here")
    monkeypatch.chdir(scratch)
    repo = kinds.KINDS[vector.kind](scratch)
    subprocess.run(["sh", "-ec", vector.setup], cwd=repo, check=True, capture_output=True)
    return trapped(repo, scratch, monkeypatch, vector)


def trapped(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, vector: Vector | None = None
) -> Trap:
    place, vector = Place(scratch, repo), vector or Vector()
    (place.home / ".gitconfig").write_text("[core]\n\tpager = cat\n")
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch, tuple(vector.allow))
    shelf.lane("claude", kinds.work)
    folder = scratch / "agents-own"
    folder.mkdir()
    return Trap(place, shelf, scratch / "ran-evil", folder, vector)


def land_in_every_way(trap: Trap) -> None:
    """Each command that has to do with a patch; the tree is then as it was."""
    from hydra.commands.export import export
    from hydra.race.recovery import runs

    shelf = trap.shelf
    before = everything(trap.repo)
    assert b"def pages" in trap.show()
    shelf.merge("claude", dry_run=True)
    shelf.merge("claude")
    shelf.undo()
    shelf.merge("claude", commit=False)
    shelf.undo()
    shelf.merge("claude", branch="try")
    shelf.undo()
    for bundle in (False, True):
        place = runs.repository_runs(shelf.environ)
        assert export(place, runs.find(place, ""), "claude", bundle=bundle)
    assert everything(trap.repo) == before
    assert leftovers(trap.repo) == []


OWN = {f"own-{name}": Vector(**row) for name, row in TABLE["own"].items()}
ARMED = [
    *(
        pytest.param(vector, id=name, marks=() if name in QUICK else pytest.mark.full)
        for name, vector in VECTORS.items()
    ),
    *(pytest.param(vector, id=name, marks=pytest.mark.slow) for name, vector in OWN.items()),
]


@pytest.mark.parametrize("trap", ARMED, indirect=True)
def test_what_is_armed_in_the_users_repository_is_run_by_plain_git_and_by_no_landing(
    trap: Trap,
) -> None:
    trap.arm(trap.vector.arm)
    land_in_every_way(trap)
    if trap.vector.then:
        trap.shelf.merge("claude")
        subprocess.run(["sh", "-ec", trap.vector.then], cwd=trap.repo, check=True)
    assert not trap.ran.exists(), trap.ran.read_text()
    trap.by_plain_git(trap.vector.plain)


# What of the user's own runs


SIGNING = OWN["own-not-signing"].arm


@pytest.mark.slow
@pytest.mark.parametrize("how", ["ssh", "gpg"])
def test_who_signed_before_the_race_signs_with_the_same_key_and_program(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    program = "ssh-keygen" if how == "ssh" else "gpg"
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    with kinds.signing(how, kinds.shop(scratch), scratch) as repo:
        plain = git(repo, "config", "--list", "--local").splitlines()
        trap = trapped(repo, scratch, monkeypatch)
        trap.arm(f"{SIGNING}\ngit config gpg.format {'openpgp' if how == 'ssh' else 'ssh'}")
        land_in_every_way(trap)
        trap.shelf.merge("claude")
        assert not trap.ran.exists()
        # As the user has it again, so that git can verify.
        for key in ("gpg.format", "gpg.program", "gpg.ssh.program"):
            git(repo, "config", "--unset", key)
        for key, _, value in (line.partition("=") for line in plain):
            git(repo, "config", key, value)
        git(repo, "verify-commit", "HEAD")


@pytest.mark.slow
def test_a_signature_that_fails_is_told_and_nothing_is_landed(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not here")
    repo = kinds.signing_ssh(kinds.shop(scratch), scratch)
    trap = trapped(repo, scratch, monkeypatch)
    (scratch / "id_ed25519").unlink()
    (scratch / "id_ed25519.pub").unlink()
    before = everything(repo)
    process = trap.shelf.command("merge", "claude", "--no-check")
    assert process.returncode == 5
    assert "the commit could not be signed" in process.stderr
    assert "--no-commit lands without a commit" in process.stderr
    assert everything(repo) == before
    trap.shelf.merge("claude", commit=False)


@pytest.mark.slow
def test_a_filter_that_was_not_allowed_does_not_run_for_a_patch_that_asks_for_it(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user has the driver; an agent writes the attribute."""
    repo = kinds.shop(scratch)
    ran = scratch / "users-filter"
    git(repo, "config", "filter.mine.smudge", f"echo ran >> {ran}; cat")
    git(repo, "config", "filter.mine.clean", f"echo ran >> {ran}; cat")
    trap = trapped(repo, scratch, monkeypatch)

    def asks(tree: Path) -> None:
        kinds.work(tree)
        (tree / ".gitattributes").write_text("* filter=mine diff=mine merge=mine\n")

    trap.shelf.lane("codex", asks)
    trap.shelf.merge("codex")
    trap.shelf.undo()
    assert not ran.exists()
    trap.shelf.merge("codex")
    on_terminal(trap.place, "git rm -q --cached lines.txt && git add lines.txt", repo)
    assert ran.exists()


@pytest.mark.slow
def test_pager_and_editor_are_those_of_before_the_race(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = kinds.shop(scratch)
    for name, script in (("pager", "cat"), ("editor", 'echo "My own words" > "$1"')):
        program = scratch / name
        program.write_text(f"#!/bin/sh\necho shown >> {scratch}/users-{name}\n{script}\n")
        program.chmod(0o755)
        git(repo, "config", f"core.{name}", str(program))
    trap = trapped(repo, scratch, monkeypatch)
    trap.arm(
        'for word in core.pager pager.diff core.editor sequence.editor; do git config $word "$E";'
        'git config --global $word "$E"; done'
    )
    assert b"def pages" in trap.show()
    assert (scratch / "users-pager").exists()
    text = f"{trap.place.python} -m hydra merge claude --no-check --edit"
    output = on_terminal(trap.place, text, repo)
    assert (scratch / "users-editor").exists(), output
    assert git(repo, "log", "-1", "--format=%s") == "My own words"
    assert not trap.ran.exists()
    trap.by_plain_git("git commit --allow-empty")


def test_a_work_tree_that_an_agent_pointed_elsewhere_is_not_landed_in(
    trap: Trap, scratch: Path
) -> None:
    """core.worktree, written into the user's repository after the race."""
    other = scratch / "other"
    shutil.copytree(trap.repo, other, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    before, mine = everything(other), everything(trap.repo)
    trap.arm(f'git config core.worktree "{other}"')
    process = trap.shelf.command("merge", "claude", "--no-check")
    assert process.returncode != 0
    assert (everything(other), everything(trap.repo)) == (before, mine)


def test_objects_that_an_agent_left_in_the_users_repository_do_not_replace_a_patch(
    trap: Trap,
) -> None:
    """Replace refs and grafts in the user's repository change nothing of what is landed."""
    patch = git(trap.shelf.race.patches, "rev-parse", "claude^{tree}")
    git(trap.repo, "fetch", "-q", str(trap.shelf.race.patches), "claude")
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=trap.repo,
        input=b"evil\n",
        capture_output=True,
        check=True,
    ).stdout.decode()
    trap.arm(f"git replace -f $(git rev-parse FETCH_HEAD:src/pager.py) {blob}")
    trap.shelf.merge("claude")
    assert (trap.repo / "src" / "pager.py").read_text().startswith("def pages")
    values = {**os.environ, "GIT_NO_REPLACE_OBJECTS": "1"}
    process = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=trap.repo, env=values, capture_output=True
    )
    assert process.stdout.decode().strip() == patch

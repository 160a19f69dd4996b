"""Which programs Hydra runs: none that a repository has laid on PATH."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from hydra import executables
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

HOSTILE = (
    *("git", "git-lfs", "bwrap", "ssh", "docker", "kubectl", "gpg", "sh", "env", "cat", "true"),
    *("less", "vi", "editor", "xdg-open", "python3", "node", "claude", "codex", "uname", "id"),
)
PREFIXES = (".:", ":", "bin:", "./bin:", "{repo}/bin:", "{repo}/src/../bin:", "{scratch}/link:")


@pytest.fixture
def hostile(repo: Path, scratch: Path) -> Hydra:
    """A repository with a program of every name, which marks that it was run."""
    marks = scratch / "marks"
    for folder in (repo, repo / "bin"):
        folder.mkdir(exist_ok=True)
        for name in HOSTILE:
            program = folder / name
            program.write_text(f'#!/bin/sh\necho "$0" >> {shlex.quote(str(marks))}\nexit 1\n')
            program.chmod(0o755)
    (scratch / "link").symlink_to(repo / "bin")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "programs")
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    return hydra


def lay(hydra: Hydra, prefix: str) -> None:
    """Puts `prefix` in front of PATH."""
    prefix = prefix.format(repo=hydra.repo, scratch=hydra.scratch)
    hydra.extra["PATH"] = prefix + hydra.environ["PATH"]


def marks(hydra: Hydra) -> list[str]:
    """What was run of the repository's."""
    path = hydra.scratch / "marks"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("prefix", PREFIXES)
def test_doctor_runs_nothing_of_the_repository_and_says_what_path_names(
    hostile: Hydra, prefix: str
) -> None:
    if "repo" in prefix or "link" in prefix:
        # Agents may lie in the checkout: a project can have installed them.
        for name in ("claude", "codex"):
            (hostile.repo / "bin" / name).unlink()
    lay(hostile, prefix)
    done = hostile.run("doctor")
    assert marks(hostile) == []
    assert done.returncode == 0, done.stdout
    assert "git 2." in done.stdout
    assert "note  PATH" in done.stdout
    text = " ".join(done.stdout.split())
    assert "in the repository, so Hydra takes git, bwrap and ssh from elsewhere" in text


@pytest.mark.slow
def test_a_race_its_checks_and_its_landing_run_nothing_of_the_repository(hostile: Hydra) -> None:
    lay(hostile, ".:")
    race = hostile.race("-a", "claude", "--check", "a=ls | grep -q txt")
    assert race.code == 0, race
    assert race.lane("claude")["patch"]["files"] == 1
    for command in (("runs",), ("diff", "claude"), ("compare",), ("check",), ("merge",)):
        done = hostile.run(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert marks(hostile) == []


@pytest.mark.slow
@pytest.mark.parametrize("prefix", [":", "bin:", "{scratch}/link:"])
def test_a_race_where_nothing_confines_runs_nothing_of_the_repository(
    hostile: Hydra, prefix: str
) -> None:
    (hostile.repo / "bin" / "claude").unlink()
    hostile.without("bwrap")
    lay(hostile, prefix)
    race = hostile.race("-a", "claude")
    assert race.code == 0, race
    assert race.document["confinement"]["kind"] == "none"
    assert marks(hostile) == []


@pytest.mark.slow
def test_checks_and_agents_still_have_the_checkouts_own_environment(hostile: Hydra) -> None:
    """`.venv/bin` on PATH is there for what runs the repository's code anyway."""
    tool = hostile.repo / "venv" / "bin" / "project-tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    (hostile.repo / ".git" / "info" / "exclude").write_text("venv\n")
    lay(hostile, f"{tool.parent}:")
    race = hostile.race("-a", "claude", "--check", "tool=project-tool")
    assert race.lane("claude")["checks"][0]["status"] == "passed", race.lane("claude")["checks"]


def test_a_git_that_lies_in_the_checkout_alone_is_not_found_and_it_is_said(hostile: Hydra) -> None:
    hostile.extra["PATH"] = f"{hostile.repo}/bin:{Path(sys.executable).parent}"
    done = hostile.run("runs")
    assert done.returncode == 3
    assert "git was not found" in done.stderr
    assert f"not looked for in {hostile.repo}/bin of PATH" in done.stderr


def test_the_main_checkout_counts_from_a_linked_worktree(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repo, "worktree", "add", "-q", str(scratch / "linked"))
    monkeypatch.chdir(scratch / "linked")
    path = f"/usr/bin:{repo}/bin:{scratch}/linked/bin:.:/bin"
    assert executables.trusted_path(path) == "/usr/bin:/bin"
    assert executables.absolute_path(path) == f"/usr/bin:{repo}/bin:{scratch}/linked/bin:/bin"
    assert executables.distrusted_entries(path) == (f"{repo}/bin", f"{scratch}/linked/bin", ".")


def test_a_home_that_is_a_repository_takes_no_program_away(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(repo))
    monkeypatch.chdir(repo)
    assert executables.trusted_path(f"{repo}/bin:/bin") == f"{repo}/bin:/bin"

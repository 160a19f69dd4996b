"""Whoever stands in a folder of the checkout: paths and checks are meant from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

LIBRARY = ("web/lib/slug.js", "services/api/app.js")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    """In services/api of a repository of several packages."""
    for path in (*LIBRARY, ".gitignore"):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(".env\ndata/\n" if path == ".gitignore" else "old\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Packages")
    (repo / "services/api/.env").write_text("A=1\n")
    (repo / "services/api/data").mkdir()
    (repo / "services/api/data/x").write_text("1\n")
    hydra = Hydra(scratch, repo / "services/api")
    hydra.agent("claude", [*(fakes.edit(path, "new\n") for path in LIBRARY), fakes.finish()])
    return hydra


def planned(hydra: Hydra, *args: str) -> list[str]:
    """What a dry run would copy."""
    done = hydra.run("race", "Do it", "-a", "claude", "--no-check", "--dry-run", "--json", *args)
    assert done.returncode == 0, done.stderr
    copies: list[str] = json.loads(done.stdout)["copies"]
    return copies


@pytest.mark.slow
def test_a_copy_is_named_from_where_one_stands_and_else_from_the_top(hydra: Hydra) -> None:
    top = hydra.repo.parent.parent
    (top / "web/.env").write_text("B=2\n")
    assert planned(hydra, "--copy", ".env") == ["services/api/.env"]
    assert planned(hydra, "--copy", "web/.env") == ["web/.env"]
    assert planned(hydra, "--copy", "../../web/.env") == ["web/.env"]
    hydra.repo = top
    done = hydra.run("race", "Do it", "-a", "claude", "--copy", ".env")
    assert done.returncode == 2
    assert done.stderr.endswith("hint: did you mean web/.env or services/api/.env?\n")


@pytest.mark.slow
def test_a_pick_as_the_screen_prints_it_and_one_that_may_be_two(hydra: Hydra) -> None:
    paths = (*LIBRARY, "services/api/web/lib/only.js", "web/lib/only.js")
    hydra.agent("claude", [*(fakes.edit(path, "new\n") for path in paths), fakes.finish()])
    race = hydra.race("-a", "claude", "--no-check")
    assert race.code == 0, str(race)
    done = hydra.run("merge", "--dry-run", "--pick", "claude:web/lib/only.js")
    assert (done.returncode, done.stdout) == (2, "")
    assert "services/api/web/lib/only.js from here or web/lib/only.js from the top" in done.stderr
    for pick, path in (
        ("web/lib/slug.js", "web/lib/slug.js"),
        ("app.js", "services/api/app.js"),
        ("./web/lib/only.js", "services/api/web/lib/only.js"),
        ("../../web/lib/only.js", "web/lib/only.js"),
    ):
        done = hydra.run("merge", "--dry-run", "--json", "--pick", f"claude:{pick}")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["files"] == [path]
        assert document["picks"] == [f"claude:{path}"]
    done = hydra.run("merge", "--dry-run", "--pick", "claude:./web/lib/slug.js")
    assert "does not change services/api/web/lib/slug.js" in done.stderr


@pytest.mark.slow
def test_a_check_and_a_copy_that_are_named_later_are_meant_from_there(hydra: Hydra) -> None:
    (hydra.repo.parent.parent.parent / "outside").mkdir()
    assert hydra.race("-a", "claude", "--no-check").code == 0
    done = hydra.run("check", "--json", "--check", "here=test -f app.js")
    assert done.returncode == 0, done.stderr
    ((check,),) = (lane["checks"] for lane in json.loads(done.stdout)["lanes"])
    assert (check["check"], check["status"]) == ("services/api: here", "passed")
    own = ("--check", "own=grep A=1 .env && grep 1 data/x")
    done = hydra.run("check", *own, "--copy", ".env", "--share", "data")
    assert done.returncode == 0, done.stdout + done.stderr
    for option, name in (("--share", "../../../outside"), ("--copy", "app.js"), ("--copy", "no")):
        done = hydra.run("check", *own, option, name)
        assert done.returncode == 2, done.stdout + done.stderr
        assert name in done.stderr

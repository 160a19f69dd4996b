"""git as its users have set it up, in a lane and in a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git, make_repository
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import namespaces_work

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here"),
]


def test_an_agent_commits_by_the_users_name_whose_commits_are_signed(hydra: Hydra) -> None:
    settings = (
        "[user]\n\tname = Grace\n\temail = grace@example.com\n\tsigningkey = ABCDEF\n"
        "[commit]\n\tgpgsign = true\n[tag]\n\tgpgsign = true\n"
    )
    (hydra.home / ".gitconfig").write_text(settings)
    git(hydra.repo, "config", "--unset", "user.name")
    git(hydra.repo, "config", "--unset", "user.email")
    (hydra.repo / "a.txt").write_text("a\n")
    command = (
        "set -e; d=$(mktemp -d); cd $d; git init -q; echo b > b; git add b; git commit -qm made; "
        "git tag -a -m t t; git log -1 --format='%an <%ae>'"
    )
    for line in (("add", "-A"), ("-c", "commit.gpgsign=false", "commit", "-qm", "a")):
        assert hydra.execute("git", *line).returncode == 0
    steps = [
        fakes.shell("sh", "-c", f"({command}; cd -; git commit --allow-empty -qm own) > out 2>&1"),
        fakes.finish("done"),
    ]
    hydra.agent("claude", steps)
    done = hydra.race("-a", "claude", "--check", f"t={command} | grep -q Grace")
    patches = Path(done.document["folder"], "patches.git")
    assert "Grace <grace@example.com>" in git(patches, "show", "claude:out")
    assert done.lane("claude")["checks"][0]["status"] == "passed"


def test_git_works_in_a_submodule_and_above_it(hydra: Hydra) -> None:
    library = make_repository(hydra.scratch / "library")
    allow = ("-c", "protocol.file.allow=always")
    git(hydra.repo, *allow, "submodule", "--quiet", "add", str(library), "sub")
    git(hydra.repo, "commit", "-qm", "sub")
    command = "set -e; echo own > a; git add a; git commit -qam own; cd sub; git show HEAD --stat"
    steps = [fakes.shell("sh", "-c", f"({command}) > out 2>&1; echo $? >> out"), fakes.finish()]
    hydra.agent("claude", steps)
    done = hydra.race("-a", "claude")
    printed = git(Path(done.document["folder"], "patches.git"), "show", "claude:out")
    assert printed.endswith("\n0"), printed

"""Git in a lane is the user's git: a folder `.git`, their branch, and what they have to read.

Each is tried as an agent or a check meets it: by plain git, in a lane that was made for them.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from hydra.git import base_commit
from tests.conftest import commit, git, make_repository
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.grounds import agent, changes, fingerprint, race_on, take
from tests.support.trust import Place, by_account, needs_bwrap, place

__all__ = ["place"]

ALLOW = ("-c", "protocol.file.allow=always")
FIXED = "def pages(n, size):\n    return -(-n // size)\n"


SHOWS = (
    "git branch --show-current",
    "git merge-base main HEAD",
    "git merge-base origin/main HEAD",
    "git diff --name-only main...HEAD",
    "git rev-parse --abbrev-ref @{u}",
    "git rev-parse --abbrev-ref origin/HEAD",
    "git describe --tags --long",
    "git describe --long",
    "git for-each-ref refs/heads refs/remotes refs/tags",
    "git config --get-all remote.origin.fetch",
    "git remote get-url origin",
    "git status -sb",
    "git rev-list --count HEAD",
    "git rev-parse --show-toplevel --absolute-git-dir",
)
"""Questions that have the same answer in a lane as in the checkout."""
HAS_NO_WAY_OUT = (
    "! git fetch -q origin && ! git push -q origin HEAD:x && ! git push -q && ! git pull -q"
)


def on_a_branch(repo: Path, scratch: Path, branch: str = "feature/rest") -> Path:
    """`repo` with a remote, tags of both kinds, and a branch that follows one of the remote's."""
    git(scratch, "init", "-q", "--bare", "-b", "main", "origin.git")
    git(repo, "tag", "light")
    git(repo, "tag", "-a", "v1.2", "-m", "v1.2")
    git(repo, "branch", "old/one")
    git(repo, "remote", "add", "origin", str(scratch / "origin.git"))
    git(repo, "config", "--add", "remote.origin.fetch", "+refs/pull/*:refs/remotes/origin/pr/*")
    git(repo, "push", "-q", "origin", "main")
    git(repo, "remote", "set-head", "origin", "main")
    git(repo, "checkout", "-qb", branch)
    (repo / "notes.md").write_text("work of the branch\n")
    commit(repo, "Notes")
    git(repo, "push", "-qu", "origin", branch)
    git(repo, "pack-refs", "--all")
    (repo / "more.md").write_text("not pushed\n")
    commit(repo, "More")
    return repo


def answers(cwd: Path) -> list[str]:
    return [ask(cwd, question) for question in SHOWS]


def ask(cwd: Path, question: str) -> str:
    done = subprocess.run(
        ["sh", "-c", question], cwd=cwd, check=False, capture_output=True, errors="replace"
    )
    return f"{question}: {done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("confined", [True, False], ids=["confined", "plain"])
def test_an_agent_and_a_check_see_what_the_checkout_has(hydra: Hydra, confined: bool) -> None:
    if confined:
        needs_bwrap(hydra.uid)
    on_a_branch(hydra.repo, hydra.scratch)
    questions = SHOWS if confined else SHOWS[:-1]
    script = "\n".join(f"printf '%s: ' {shlex.quote(q)}; {q} 2>&1; echo" for q in questions)
    look = fakes.shell("sh", "-c", f"({script}) > ../said; mv ../said said")
    fixed = fakes.edit("src/pager.py", FIXED)
    hydra.agent("claude", [look, fixed, fakes.finish("done")])
    if not confined:
        hydra.without("bwrap")
    before = fingerprint(hydra.repo)
    base = (
        "test -d .git && test $(git merge-base origin/main HEAD) = $(git rev-parse v1.2^{commit})"
    )
    names = "git diff --name-only origin/main...HEAD | grep -q notes.md"
    files = "git diff --name-only @{u}...HEAD | grep -q src/pager.py || true"
    race = hydra.race("-a", "claude", "--check", f"names={base} && {names} && {files}")
    assert race.lane("claude")["checks"][0]["status"] == "passed", race
    later = hydra.run("check", "claude", "--check", "late=test -d .git && git describe --always")
    assert later.returncode == 0, later.stderr
    assert fingerprint(hydra.repo) == before
    said = hydra.run("diff", "claude").stdout
    for answer in answers(hydra.repo)[: len(questions)]:
        for line in filter(None, answer.splitlines()):
            assert f"+{line}" in said, said


@pytest.mark.slow
@by_account
def test_an_agent_works_with_git_as_in_the_checkout(place: Place) -> None:
    needs_bwrap(place.uid)
    on_a_branch(place.repo, place.scratch)
    script = "\n".join(
        (
            "set -e",
            "echo a > a; git stash -qu; git stash pop -q; git add a; git commit -qm a",
            "git checkout -q main; test ! -e notes.md; git checkout -q -; git merge -q old/one",
            "git checkout -qb mine; git branch -qd old/one; git log --all --oneline > /dev/null",
            'git worktree add -q "$TMPDIR/w" main; git worktree remove "$TMPDIR/w"',
            "git worktree prune; git gc -q; git fsck; git fetch -q . HEAD",
            "git check-attr eol a.txt | grep -q crlf",
            HAS_NO_WAY_OUT,
            "test $(git worktree list | wc -l) = 1",
            "git status -sb > said",
        )
    )
    place.agent("claude", [fakes.shell("sh", "-c", script), fakes.finish("done")])
    (place.home / ".config" / "git").mkdir(parents=True)
    (place.home / ".config" / "git" / "attributes").write_text("*.txt eol=crlf\n")
    place.hand_over()
    before = fingerprint(place.repo)
    race = place.race("-a", "claude", "--no-check")
    assert place.taken(race.document["folder"], "claude") == "## mine\n?? said"
    assert race.lane("claude")["patch"]["stranded"] == []
    assert fingerprint(place.repo) == before


SHAPES = {
    "slash": "git checkout -qb a/b/c",
    "detached": "git checkout -q --detach",
    "tag-of-that-name": "git tag main",
    "quotes": 'git checkout -qb "it\'s-\\$(x)"',
    "no-utf-8": "git checkout -qb \"$(printf 'caf\\351')\"",
    "shallow": 'echo b > b; git add b; git commit -qm b; git clone -q --depth 1 "file://$PWD"'
    " ../shallow; cd ../shallow",
    "merging": "git checkout -qb o; echo o > README.md; git commit -qam o; git checkout -q main;"
    " echo m > README.md; git commit -qam m; git merge -q o || true",
}
"""What the user's repository may be; other kinds are raced in (tests/data/repositories.toml)."""


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_the_users_repository_is_the_lane_is_like_it(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.com")
    done = subprocess.run(
        ["sh", "-ec", f"{SHAPES[shape]}; pwd"], cwd=repo, check=True, capture_output=True
    )
    top = Path(done.stdout.decode().splitlines()[-1])
    before = fingerprint(top)
    race = race_on(top, scratch / "state")
    ground = race.opened()
    files = () if shape == "merging" else ("git ls-files -t",)
    for question in (
        *files,
        "git symbolic-ref HEAD",
        "git rev-parse HEAD",
        "git log --all --format=%H%d",
        "git remote -v",
        "git describe --tags --always",
    ):
        assert ask(ground.worktree, question) == ask(top, question)
    assert ask(ground.worktree, "git status --porcelain") == "git status --porcelain: "
    assert (ground.worktree / ".git").is_dir()
    agent(ground.worktree, "echo x > src/pager.py; git stash -q; git stash pop -q; git fsck")
    agent(ground.worktree, "git commit -qam x; git gc -q; git checkout -qb w; git checkout -q -")
    patch = take(ground)
    assert changes(race, patch) == {b"src/pager.py": b"x\n"}
    assert not patch.stranded
    assert not patch.notes
    assert fingerprint(top) == before


def test_the_base_of_another_commit_is_no_branch(repo: Path, scratch: Path) -> None:
    on_a_branch(repo, scratch)
    ground = race_on(repo, scratch / "state", base="main").opened()
    assert git(ground.worktree, "branch", "--show-current") == ""
    assert git(ground.worktree, "rev-parse", "feature/rest") == git(repo, "rev-parse", "HEAD")


def test_what_a_race_adds_to_the_users_commit_is_on_their_branch(repo: Path, scratch: Path) -> None:
    on_a_branch(repo, scratch)
    (repo / "notes.md").write_text("changed\n")
    race = race_on(repo, scratch / "state")
    base = base_commit.dirty_base(race.repo, race.patches, race.base, race.limits)
    ground = race.ground(base=base)
    ground.open()
    assert (
        git(ground.worktree, "status", "-sb") == "## feature/rest...origin/feature/rest [ahead 2]"
    )
    assert git(ground.worktree, "rev-parse", "HEAD~1") == race.repo.head
    (ground.worktree / "new").write_text("new\n")
    checked = race.ground("_1", base=take(ground).commit)
    checked.open()
    assert git(checked.worktree, "branch", "--show-current") == "feature/rest"
    assert git(checked.worktree, "rev-parse", "HEAD~2") == race.repo.head


def test_an_address_brings_no_secret_into_a_lane(repo: Path, scratch: Path) -> None:
    addresses = {
        "https://ada:made-up-token@example.com/shop.git": "https://example.com/shop.git",
        "https://example.com/shop.git?token=made-up": "https://example.com/shop.git",
        "ssh://git:made-up@example.com/shop.git": "ssh://git@example.com/shop.git",
        "git@example.com:ada/shop.git": "git@example.com:ada/shop.git",
        f"https://example.com/ghp_{'a1' * 18}": "https://example.com/[redacted]",
        "../shop.git": "../shop.git",
        "helper::https://ada:made-up@example.com/a.git": "helper::https://example.com/a.git",
        "ext::ssh -x ssh://a:made-up@example.com %S": "ext::ssh -x ssh://a@example.com %S",
        "ext::run https://made-up@example.com/?a=made-up": "ext::run https://example.com/",
    }
    for number, address in enumerate(addresses):
        git(repo, "remote", "add", f"r{number}", address)
    git(repo, "config", "http.extraHeader", "Authorization: made-up")
    git(repo, "config", "branch.main.remote", next(iter(addresses)))
    git(repo, "config", "branch.main.merge", "refs/heads/main")
    for address in [*addresses][:2]:
        git(repo, "config", f"remote.{address}.fetch", "+refs/heads/*:refs/remotes/a/*")
    about = base_commit.about(base_commit.read(repo), "HEAD")
    assert about["remotes"] == {f"r{n}": url for n, url in enumerate(addresses.values())}
    assert (about["subject"], about["author"], about["branch"]) == ("First commit", "Ada", "main")
    ground = race_on(repo, scratch / "state").opened()
    seen = [git(ground.worktree, "remote", "get-url", f"r{n}") for n in range(len(addresses))]
    assert seen == [*addresses.values()]
    assert git(ground.worktree, "config", "branch.main.remote") == "https://example.com/shop.git"
    assert "made-up" not in (ground.worktree / ".git" / "config").read_text()


@pytest.mark.slow
def test_a_setting_without_a_value_is_true(hydra: Hydra) -> None:
    with (hydra.repo / ".git" / "config").open("a") as config:
        config.write('[core]\n\tfilemode\n\tlogAllRefUpdates\n[submodule "lib"]\n\tactive\n')
        config.write('[remote "up"]\n\tpromisor\n\turl = ../up.git\n[user]\n\tuseConfigOnly\n')
    shell = fakes.shell("sh", "-c", "git config submodule.lib.active > said")
    hydra.agent("claude", [shell, fakes.finish("done")])
    race = hydra.race("-a", "claude", "--no-check")
    assert race.lane("claude")["status"] == "completed", race
    assert git(Path(race.document["folder"], "patches.git"), "show", "claude:said") == "true"


def test_a_setting_of_gits_can_be_changed_by_git(repo: Path, scratch: Path) -> None:
    ground = race_on(repo, scratch / "state").opened()
    names = ("bare", "fileMode", "logAllRefUpdates", "repositoryFormatVersion", "excludesFile")
    for name in (*names, "attributesFile", "fsmonitor", "splitIndex"):
        value = git(ground.worktree, "config", f"core.{name}")
        git(ground.worktree, "config", f"core.{name}", value)


def test_what_was_handed_over_is_nobodys_work(repo: Path, scratch: Path) -> None:
    on_a_branch(repo, scratch)
    git(repo, "checkout", "-q", "main")
    (repo / "main.md").write_text("of main alone\n")
    commit(repo, "Main")
    git(repo, "checkout", "-q", "-")
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    agent(
        ground.worktree,
        "echo new > new; git checkout -q main; rm main.md; git checkout -q --detach origin/main;"
        "git branch -qD old/one; git tag -d light; git branch mine main; git tag mine main;"
        "git pack-refs --all; git checkout -q main",
    )
    agent(ground.worktree, "git rm -q main.md README.md; git gc -q")
    patch = take(ground)
    assert not patch.stranded, patch.notes
    assert not patch.left_behind


def test_a_submodule_is_where_git_has_it(repo: Path, scratch: Path) -> None:
    library = make_repository(scratch / "library")
    inner = make_repository(scratch / "inner")
    git(library, *ALLOW, "submodule", "--quiet", "add", str(inner), "deep")
    git(library, "commit", "-qm", "deep")
    git(repo, *ALLOW, "submodule", "--quiet", "add", "--name", "the/lib", str(library), "sub")
    git(repo, "commit", "-qm", "sub")
    git(repo, *ALLOW, "submodule", "--quiet", "update", "--init", "--recursive")
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    moved = scratch / "moved"
    shutil.copytree(ground.worktree, moved, symlinks=True)
    for top in (ground.worktree, moved):  # no path of the lane's stands in there
        assert git(top / "sub" / "deep", "rev-parse", "--absolute-git-dir").startswith(f"{top}/")
        assert git(top / "sub" / "deep", "rev-parse", "--show-toplevel") == f"{top}/sub/deep"
        lines = git(top, "submodule", "status", "--recursive").splitlines()
        assert [line.split()[1] for line in lines] == ["sub", "sub/deep"]
        assert all(line.startswith(" ") for line in lines)
        agent(top, "git submodule update --init --recursive; git submodule sync -q --recursive")
        agent(
            top,
            "git submodule foreach --recursive -q 'git status --porcelain' | grep . && exit 1; :",
        )
        assert git(top / "sub", "remote", "get-url", "origin") == str(library)
    assert (ground.worktree / ".git/modules/the/lib/modules/deep/HEAD").is_file()
    agent(ground.worktree, "cd sub; echo work > x; git stash -qu; cd ..; rm -r sub")
    agent(ground.worktree, "git checkout -q -- sub; mkdir -p sub")
    assert take(ground).stranded == ("refs/left/claude/1/nested/sub/stash",)


@pytest.mark.parametrize("name", ["../../hooks", "/tmp/x", "a//b", ".", "sub/../x"])
def test_an_odd_name_of_a_submodule_leads_nowhere(repo: Path, scratch: Path, name: str) -> None:
    library = make_repository(scratch / "library")
    git(repo, *ALLOW, "submodule", "--quiet", "add", str(library), "sub")
    lines = f'[submodule "{name}"]\n\tpath = sub\n\turl = {library}\n'
    (repo / ".gitmodules").write_text(lines)
    commit(repo, "sub")
    ground = race_on(repo, scratch / "state").opened()
    assert (ground.worktree / ".git/modules/sub/HEAD").is_file()
    assert git(ground.worktree / "sub", "rev-parse", "HEAD") == git(library, "rev-parse", "HEAD")


def lists_writable(hydra: Hydra, *options: str) -> tuple[str, object]:
    """What Codex's settings in a lane say, and the lane's own lines."""
    look = (
        "cat $CODEX_HOME/config.toml $HOME/.codex/config.toml > said 2>/dev/null; echo end >> said"
    )
    hydra.agent("codex", [fakes.shell("sh", "-c", look), fakes.finish("done")])
    race = hydra.race("-a", "codex", "--no-check", *options)
    assert race.lane("codex")["patch"]["files"] == 1, race
    return hydra.run("diff", "codex").stdout, race


@pytest.mark.slow
def test_codexs_own_sandbox_lets_it_commit(hydra: Hydra) -> None:
    needs_bwrap(hydra.uid)
    folder = hydra.home / ".codex"
    folder.mkdir()
    own = 'model = "x"\n\n[sandbox_workspace_write]\nwritable_roots = ["/srv/users"]\n'
    (folder / "config.toml").write_text(own)
    said, _ = lists_writable(hydra)
    listed = [line.strip("+ ,") for line in said.splitlines() if line.startswith('+    "/')]
    assert listed == ['"/srv/users"', f'"{hydra.repo}/.git"']
    assert (folder / "config.toml").read_text() == own
    said, race = lists_writable(hydra, "--no-network")
    assert f"{hydra.repo}/.git" not in said
    assert "/srv/users" in said
    assert "holds its .git read-only" in str(race)


@pytest.mark.slow
def test_codex_without_settings_is_let_to_commit_and_where_nothing_confines_it_is_not(
    hydra: Hydra,
) -> None:
    needs_bwrap(hydra.uid)
    assert f'+    "{hydra.repo}/.git",' in lists_writable(hydra)[0]
    hydra.without("bwrap")
    assert ".git" not in lists_writable(hydra)[0].split("\n+++", 1)[-1]

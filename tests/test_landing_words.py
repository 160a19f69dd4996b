"""What is said of landings, and what is offered: true, once, and not what would be refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hydra.errors import LandingRefused, UsageError
from hydra.landing.picks import Pick
from hydra.race import candidates as merge_candidates
from hydra.race.recovery.runs import find_run
from hydra.race.recovery.startup import recover
from hydra.records.store.files import write_json
from hydra.report import ranking
from tests.conftest import commit, git, make_repository
from tests.support import fakes, verdicts
from tests.support.command import Hydra
from tests.support.landings import RUN, Shelf, leftovers
from tests.support.rendering import as_verdict
from tests.support.shelf import LAND, fixture_of, gives

MANY = 60


def without_change(scratch: Path) -> Shelf:
    """One lane that changes nothing."""
    shelf = Shelf.of(make_repository(scratch / "shop"), scratch)
    shelf.lane("codex", lambda tree: None)
    return shelf


shelf = fixture_of(without_change)


def test_a_patch_that_changes_nothing_is_said_to_be_empty_and_no_more(shelf: Shelf) -> None:
    done = shelf.command("diff", "codex", "--hunks")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "codex changed nothing\n")
    with pytest.raises(UsageError, match="its patch is empty") as unpicked:
        shelf.merge(picks=(Pick("codex", hunk="abc"),))
    assert "hydra runs show" in unpicked.value.hint
    with pytest.raises(LandingRefused, match="the patch of codex is empty") as refused:
        shelf.merge("codex")  # not: on the branch already
    assert "says why" in refused.value.hint
    file = shelf.race.patches.parent / "result.json"
    commit = git(shelf.race.patches, "rev-parse", "codex")
    ranked = verdicts.held(verdicts.ranked(RUN, {"codex": commit}), "codex", "changed nothing")
    ranked["lanes"][0] |= {"rank": None}
    write_json(file, {**json.loads(file.read_text()), "verdict": {**ranked, "top": None}})
    done = shelf.command("merge", "codex")
    assert (done.returncode, "held back" in done.stderr) == (5, False)
    assert "the patch of codex is empty" in done.stderr


@pytest.mark.slow
def test_names_that_are_taken_or_mistyped_are_told_what_is_meant(shelf: Shelf) -> None:
    assert "did you mean `hydra runs show`?" in shelf.command("runs", "shw").stderr
    assert "`hydra runs` lists them" in shelf.command("runs", "list").stderr
    assert "to see a race: hydra runs show 2026" in shelf.command("runs", "2026").stderr
    shelf.lane("claude", _new)
    assert "no empty race here" in shelf.command("runs", "rm", "--empty").stderr
    git(shelf.repo, "branch", "other")
    mine = shelf.command("merge", "claude", "--branch", git(shelf.repo, "branch", "--show-current"))
    other = shelf.command("merge", "claude", "--branch", "other")
    assert (mine.returncode, other.returncode) == (5, 5)
    assert "choose another name, or leave --branch out to land on it" in mine.stderr
    assert "choose another name, or delete it first: git branch -d other" in other.stderr


# Dependencies


@pytest.mark.slow
def test_a_landing_that_changes_dependencies_says_how_they_are_installed(shelf: Shelf) -> None:
    def more(tree: Path) -> None:
        (tree / "web").mkdir()
        (tree / "web/package.json").write_text('{"dependencies": {"slugify": "1"}}')
        (tree / "web/package-lock.json").write_text("{}")

    shelf.lane("claude", more)
    shelf.lane("plain", _new)
    line = "dependencies changed (web/package.json): cd web && npm ci\n"
    for options, says in ((("--dry-run",), False), (("--branch", "x"), False), ((), True)):
        landed = shelf.command("merge", "claude", "--no-check", *options)
        assert (line in landed.stdout) == says
    assert "dependencies" not in shelf.command("merge", "plain", "--no-check").stdout


# A tree that is gone


def _new(tree: Path) -> None:
    (tree / "new").write_text("new\n")


def _many(tree: Path) -> None:
    for number in range(MANY):
        (tree / f"f{number}.txt").write_text("new\n")


@pytest.fixture
def linked(repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """In a linked worktree, a landing that was killed with half of its files moved."""
    for number in range(MANY):
        (repo / f"f{number}.txt").write_text("old\n")
    commit(repo, "Many")
    tree = scratch / "linked"
    git(repo, "worktree", "add", "-q", "-b", "side", str(tree))
    monkeypatch.chdir(tree)
    shelf = Shelf.of(tree, scratch)
    shelf.lane("claude", _many)

    last = max(path.name for path in tree.glob("f*.txt"))
    assert shelf.hit(*LAND, at={gives(last): "then kill -9 $PPID"}).returncode == -9
    monkeypatch.chdir(repo)
    return shelf


@pytest.mark.parametrize("how", ["removed", "removed by git"])
def test_a_landing_in_a_worktree_that_is_gone_ends_in_one_line(
    linked: Shelf, repo: Path, how: str
) -> None:
    if how == "removed":
        shutil.rmtree(linked.repo)
    else:
        git(repo, "worktree", "remove", "--force", str(linked.repo))
    sentences: list[str] = []
    for _ in range(2):
        recover(linked.environ, sentences.append)
    (line,) = sentences
    assert f"in {linked.repo}, which is gone since: ended ({MANY} files were under way)" in line
    assert len(line) < 500
    if how == "removed":  # git's own folder of it still has what stood there
        folder = Path(line.rpartition(" in ")[2])
        assert {file.read_text() for file in folder.iterdir()} == {"old\n"}
        git(repo, "worktree", "prune")
    assert leftovers(repo) == []


def test_files_that_changed_since_a_kill_are_counted(linked: Shelf) -> None:
    for number in range(MANY):
        (linked.repo / f"f{number}.txt").write_text("mine\n")
    sentences: list[str] = []
    recover(linked.environ, sentences.append)
    (line,) = sentences
    assert f"and {MANY - 3} more" in line
    assert len(line) < 600


# What is offered


def test_what_has_landed_is_not_offered_again(shelf: Shelf) -> None:
    shelf.lane("claude", _new)
    verdict = as_verdict({"lanes": [verdicts.lane("claude")], "top": "claude"})
    run = find_run(shelf.race.patches.parent.parent, None)

    def lines() -> str:
        return "\n".join(ranking.steps(merge_candidates.with_candidates(verdict, shelf.repo, run)))

    assert "hydra merge claude" in lines()
    shelf.merge("claude")
    assert "hydra merge" not in lines()
    assert "claude landed already" in lines()
    shelf.undo()
    assert "hydra merge claude" in lines()
    git(shelf.repo, "checkout", "-q", "--detach")
    assert "hydra merge claude --branch NAME" in lines()


@pytest.mark.slow
def test_a_race_says_which_files_of_yours_its_patch_would_touch(repo: Path, scratch: Path) -> None:
    hydra = Hydra(scratch, repo)
    paths = ("src/pager.py", "notes/new.txt", "clean.txt")
    edits = [fakes.edit(path, "fixed\n") for path in paths]
    hydra.agent("claude", [*edits, fakes.finish("done")])
    terms = ("race", "-a", "claude", "--no-check", "fix")
    assert "you have changed" not in hydra.run(*terms).stdout
    (repo / "src/pager.py").write_text("mine\n")
    (repo / "notes").mkdir()
    (repo / "notes/new.txt").write_text("mine\n")
    (repo / "other.txt").write_text("mine\n")
    text = hydra.run(*terms).stdout
    both = "claude touches what you have changed (src/pager.py, notes/new.txt): commit or stash"
    assert both in text
    assert hydra.run("merge").returncode == 5


SIGNER = """\
#!/bin/sh
echo signed >> "{log}"
cat > "{log}.bytes"
echo "[GNUPG:] SIG_CREATED " >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'
"""


def test_a_dry_run_asks_no_signer_and_a_landing_asks_once(shelf: Shelf, scratch: Path) -> None:
    signer, log = scratch / "signer", scratch / "asked"
    signer.write_text(SIGNER.format(log=log))
    signer.chmod(0o755)
    git(shelf.repo, "config", "commit.gpgsign", "true")
    git(shelf.repo, "config", "gpg.program", str(signer))
    signing = Shelf.of(shelf.repo, scratch / "signing")
    signing.lane("claude", _new)
    assert signing.command("merge", "claude", "--no-check", "--dry-run").returncode == 0
    assert not log.exists()
    done = signing.command("merge", "claude", "--no-check")
    assert done.returncode == 0, done.stderr
    assert log.read_text() == "signed\n"
    assert "BEGIN PGP SIGNATURE" in git(shelf.repo, "cat-file", "commit", "HEAD")


SPEAKS = "#!/bin/sh\necho please touch your key >&2\nexit 1\n"


def test_who_signs_is_announced_and_what_it_says_is_told(shelf: Shelf, scratch: Path) -> None:
    signer = scratch / "signer"
    signer.write_text(SPEAKS)
    signer.chmod(0o755)
    settings = {"commit.gpgsign": "true", "gpg.format": "ssh", "gpg.ssh.program": str(signer)}
    for name, value in {**settings, "user.signingkey": str(signer)}.items():
        git(shelf.repo, "config", name, value)
    signing = Shelf.of(shelf.repo, scratch / "signing")
    signing.lane("claude", _new)
    done = signing.command("merge", "claude", "--no-check")
    assert done.returncode == 5
    told, refused = done.stderr.split("your signer is asked to sign the commit\n")
    assert "please touch your key" not in told
    assert "please touch your key" in refused


TASK = (
    "remove_quotes cuts the last letter of a name that has only an opening quote: "
    "mend that, and leave every other function of the module as it is."
)


@pytest.mark.slow
def test_a_long_task_is_cut_at_a_word_and_stands_whole_below_and_on_a_screen(
    repo: Path, scratch: Path
) -> None:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [fakes.edit("a.py", "x = 1\n"), fakes.finish("done")])
    assert hydra.run("race", TASK, "-a", "claude", "--no-check").returncode == 0
    shown = " ".join(hydra.run("runs", "show").stdout.split())
    assert f"task {TASK} " in shown
    assert hydra.run("merge").returncode == 0
    subject, body = git(repo, "log", "-1", "--format=%s%x00%b").split("\0")
    assert subject == "remove_quotes cuts the last letter of a name that has only an opening"
    assert body.startswith(f"{TASK}\n\nHydra-Agent: ")

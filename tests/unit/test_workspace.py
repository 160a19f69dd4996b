"""A lane's ground: what an agent gets, what it cannot touch, what goes back and what goes away."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from hydra import paths
from hydra.adapters.contract import ConfigFolder, TokenFields
from hydra.errors import Refused
from hydra.records.request import Limits
from hydra.workspace import credentials, tree
from hydra.workspace.grounds import standing_ground
from hydra.workspace.renewal import Renewal, renew
from tests.conftest import git, make_repository
from tests.support.grounds import Race, agent, changes, fingerprint, race_on, take

CLAUDE = ConfigFolder(
    variable="CLAUDE_CONFIG_DIR",
    default=".claude",
    credentials=(".credentials.json",),
    renewals=(TokenFields(file=".credentials.json", access="token"),),
    copied=("settings.json", "skills", "CLAUDE.md"),
    home_files=(".claude.json",),
)


@pytest.fixture
def race(repo: Path, scratch: Path) -> Race:
    return race_on(repo, scratch / "state")


@pytest.fixture
def home(scratch: Path) -> Path:
    folder = scratch / "home" / ".claude"
    (folder / "skills" / "one").mkdir(parents=True)
    (folder / "skills" / "one" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "skills" / "one" / "run.sh").chmod(0o755)
    (folder / "projects").mkdir()
    (folder / "projects" / "history.jsonl").write_text("private")
    (folder / "settings.json").write_text("{}")
    (folder / ".credentials.json").write_text('{"token": "made-up-old"}')
    (folder / ".credentials.json").chmod(0o640)
    (folder.parent / ".claude.json").write_text('{"seen": 1}')
    return folder.parent


def test_copies_come_along_and_never_into_the_patch(repo: Path, scratch: Path) -> None:
    (repo / ".env").write_text("KEY=1\n")
    (repo / "cfg" / "deep").mkdir(parents=True)
    (repo / "cfg" / "deep" / "a").write_text("a")
    (repo / "cfg" / "link").symlink_to("/etc/passwd")
    (repo / "build.log").write_text("log")
    (repo / ".worktreeinclude").write_text("*.log\n")
    race = race_on(repo, scratch / "state")
    ground = race.opened(copies=[".env", "cfg"])
    top = ground.worktree
    assert (top / ".env").read_text() == "KEY=1\n"
    assert (top / "cfg" / "deep" / "a").read_text() == "a"
    assert (top / "cfg" / "link").is_symlink()
    assert (top / "build.log").read_text() == "log"
    (top / ".gitignore").write_text("")
    (top / "cfg" / "deep" / "b").write_text("the agent's, in a copied folder")
    (top / "cfgx").write_text("x")
    assert changes(race, take(ground)) == {b".gitignore": b"", b"cfgx": b"x"}


NO_COPIES = {
    "node_modules/x/id": (
        "mkdir ../keys node_modules; echo key > ../keys/id; ln -s ../../keys node_modules/x",
        "node_modules/x/id is not copied: outside the repository",
    ),
    "conf/.env": (
        "mkdir ../keys; ln -s ../keys conf; git add conf; git commit -qm link; rm conf;"
        " mkdir conf; echo key > conf/.env",
        "outside the worktree",
    ),
    "pipe": ("mkfifo pipe", "neither a file, a folder nor a link"),
}


@pytest.mark.parametrize("name", NO_COPIES)
def test_no_copy_is_made_of_what_leads_out_or_waits(repo: Path, scratch: Path, name: str) -> None:
    """Also where the link came after the names were checked."""
    setup, why = NO_COPIES[name]
    agent(repo, setup)
    race = race_on(repo, scratch / "state")
    with pytest.raises(Refused, match=re.escape(why)):
        race.opened(copies=[name])
    assert not [*(scratch / "state").rglob(Path(name).name), *scratch.glob("keys/.env")]


def test_a_copy_through_a_link_inside_the_repository_is_made(repo: Path, scratch: Path) -> None:
    (repo / "packages" / "a").mkdir(parents=True)
    (repo / "packages" / "a" / ".env").write_text("A=1")
    (repo / "packages" / "a" / ".env").chmod(0o640)
    (repo / "node_modules").mkdir()
    (repo / "node_modules" / "a").symlink_to("../packages/a")
    ground = race_on(repo, scratch / "state").opened(copies=["node_modules/a/.env"])
    copy = ground.worktree / "node_modules" / "a" / ".env"
    assert (copy.read_text(), copy.stat().st_mode & 0o777) == ("A=1", 0o640)


def test_what_is_copied_is_never_written_through_a_link_in_a_copied_folder(
    repo: Path, scratch: Path
) -> None:
    """A patch may hold links where the user's folder has files and folders."""
    (scratch / "mine").mkdir()
    (scratch / "mine" / "rc").write_text("the user's")
    (repo / "data").mkdir()
    (repo / "data" / "sub").symlink_to(scratch / "mine")
    (repo / "data" / "rc").symlink_to(scratch / "mine" / "rc")
    git(repo, "add", "-f", "data")
    git(repo, "commit", "-qm", "links")
    for name in ("sub", "rc"):
        (repo / "data" / name).unlink()
    (repo / "data" / "sub").mkdir()
    (repo / "data" / "sub" / "evil").write_text("x")
    (repo / "data" / "rc").write_text("x")
    top = race_on(repo, scratch / "state").opened(copies=["data"]).worktree
    assert (scratch / "mine" / "rc").read_text() == "the user's"
    assert [path.name for path in (scratch / "mine").iterdir()] == ["rc"]
    assert (top / "data" / "sub" / "evil").read_text() == (top / "data" / "rc").read_text() == "x"


def test_changes_are_noticed_by_one_walk(race: Race) -> None:
    ground = race.opened()
    opened = ground.changed_since(0)
    assert opened is not None
    assert time.time() - 60 < opened <= time.time()
    later = time.time() + 600
    assert ground.changed_since(later) is None
    target = ground.worktree / "src" / "pager.py"
    before = time.time()
    os.utime(target, (later + 9, later + 9))
    number = ground.changed_since(before)
    assert number is not None
    assert number < later, "a file dated into the future keeps no lane alive"
    (ground.worktree / "src" / "closed").mkdir(mode=0o000)
    assert ground.changed_since(later) is None
    ground.remove()
    assert ground.changed_since(0) is None


def test_what_git_writes_for_itself_is_no_change(race: Race) -> None:
    ground = race.opened()
    time.sleep(0.02)  # past the kernel's tick, which a walk allows for
    before = time.time()
    os.utime(ground.worktree / ".git")
    assert ground.changed_since(before) is None


def test_an_edit_right_after_the_clock_was_read_is_noticed(race: Race) -> None:
    ground = race.opened()
    for _ in range(50):
        when = time.time()
        with (ground.worktree / "README.md").open("a") as file:
            file.write("x")
        assert ground.changed_since(when)


def test_removal_takes_everything_and_follows_nothing(race: Race, scratch: Path) -> None:
    keep = scratch / "keep"
    keep.mkdir()
    (keep / "file").write_text("x")
    ground = race.opened()
    agent(
        ground.worktree,
        f"ln -s {keep} link; mkdir -p a/b/c; touch a/b/c/d; chmod 000 a/b/c; chmod 555 a/b a;"
        "mkfifo p; mkdir -p ../home/x; chmod 000 ../home; chmod 500 .",
    )
    ground.remove()
    assert not (race.state / "g" / "claude").exists()
    assert (keep / "file").read_text() == "x"
    ground.remove()


def test_half_of_a_second_checkout_is_no_ground_that_was_opened(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = race.ground("one")
    first.open()
    assert first.was_opened()
    first.remove()

    def broken_off(*facts: object, **options: object) -> Path:
        raise OSError("killed in here")

    monkeypatch.setattr("hydra.git.worktree.checkout", broken_off)
    second = race.ground("one")
    with pytest.raises(Refused, match="killed in here"):
        second.open()
    assert not second.was_opened()


@pytest.mark.slow
def test_a_tree_deeper_than_any_path_is_removed(scratch: Path) -> None:
    top = scratch / "deep"
    top.mkdir()
    position = os.open(top, os.O_RDONLY)
    for number in range(2100):
        os.mkdir("d", dir_fd=position)
        inner = os.open("d", os.O_RDONLY, dir_fd=position)
        if number % 1000 == 0:
            os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=inner))
        os.close(position)
        position = inner
    os.close(position)
    tree.remove(top)
    assert not top.exists()


def test_the_agents_settings_are_a_copy(race: Race, home: Path) -> None:
    outside = home.parent / "outside"
    outside.write_text("outside")
    own = home / ".claude"
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "CLAUDE.md").write_text("mine")
    (own / "CLAUDE.md").symlink_to("../dotfiles/CLAUDE.md")
    (own / "skills" / "out").symlink_to(outside)
    (own / "skills" / "round").symlink_to(own / "skills")
    os.mkfifo(own / "skills" / "pipe")
    before = fingerprint(home)
    ground = race.opened(config=CLAUDE, home=home)
    copy = race.state / "g" / "claude" / "home" / ".claude"
    names = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert names == {
        ".claude.json",
        ".credentials.json",
        "CLAUDE.md",
        "settings.json",
        "skills/one/run.sh",
    }
    assert (copy / "CLAUDE.md").read_text() == "mine"
    assert not (copy / "CLAUDE.md").is_symlink()
    assert stat.S_IMODE((copy / ".credentials.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((copy / "skills" / "one" / "run.sh").stat().st_mode) == 0o700
    assert any("a link out of the home folder" in note for note in ground.notes)
    assert ground.binds == ((copy, own), (copy.parent / ".claude.json", home / ".claude.json"))
    (copy / "settings.json").write_text('{"hooks": "evil"}')
    (copy.parent / ".claude.json").write_text("evil")
    ground.sync_credentials_back()
    assert fingerprint(home) == before


def test_a_settings_folder_that_is_elsewhere_or_missing(race: Race, home: Path) -> None:
    elsewhere = home.parent / "elsewhere"
    shutil.copytree(home / ".claude", elsewhere)
    (elsewhere / ".claude.json").write_text('{"elsewhere": 1}')
    ground = race.opened("a", config=CLAUDE, home=home, config_env=str(elsewhere))
    copy = race.state / "g" / "a" / "home" / ".claude"
    assert ground.binds == ((copy, elsewhere),)
    assert json.loads((copy / ".claude.json").read_text()) == {"elsewhere": 1}
    empty = home.parent / "empty"
    empty.mkdir()
    bare = race.opened("b", config=CLAUDE, home=empty)
    assert bare.binds == ()
    assert list(Path(bare.environment["CLAUDE_CONFIG_DIR"]).iterdir()) == []
    bare.sync_credentials_back()
    bare.refresh_credentials()
    assert list(empty.iterdir()) == []


def test_settings_are_copied_up_to_a_size(race: Race, home: Path) -> None:
    with (home / ".claude" / "skills" / "model.bin").open("wb") as file:
        file.truncate(17 * 1024**2)
    ground = race.opened(config=CLAUDE, home=home)
    assert any("too large" in note and "model.bin" in note for note in ground.notes)


def test_who_signs_in_while_a_renewal_is_on_its_way_keeps_that(
    race: Race, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = home / ".claude" / ".credentials.json"
    ground = race.opened(config=CLAUDE, home=home)
    lanes = race.state / "g" / "claude" / "home" / ".claude" / ".credentials.json"
    lanes.with_name("half").write_text('{"token": "made-up-new"}')
    lanes.with_name("half").rename(lanes)

    def late(*args: Any, **options: Any) -> Renewal:
        renewal = renew(*args, **options)
        own.write_text('{"token": "the user\'s"}')
        return renewal

    monkeypatch.setattr(credentials, "renew", late)
    ground.sync_credentials_back()
    assert json.loads(own.read_text()) == {"token": "the user's"}
    assert list(own.parent.glob(".hydra-*")) == []


def test_the_worktrees_name_never_collides(scratch: Path) -> None:
    for number, name in enumerate(("home", "tmp", "borrowed", "layer", "user", "bell\x07")):
        root = make_repository(scratch / str(number) / name)
        ground = race_on(root, scratch / f"state{number}").opened()
        assert ground.worktree.name == f"{name}-work" or name == "bell\x07"
        assert take(ground).empty


def test_a_socket_in_a_lane_may_have_a_name_of_its_own_below_108_bytes() -> None:
    state = Path("/home/somebody/.local/state/hydra")
    ground = paths.ground_dir(state, "20261122t000000-abc", "claude")
    assert len(str(ground)) - len(str(state)) < 20


def test_a_part_of_a_ground_s_note_that_is_odd_takes_no_other_along(tmp_path: Path) -> None:
    note = tmp_path / "lanes/a/ground.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"copies": [5], "set_up": [], "place": "/shop"}))
    ground = standing_ground(
        base="",
        lane="a",
        run_folder=tmp_path,
        path=tmp_path / "ground",
        worktree=tmp_path / "ground/shop",
        patches=tmp_path,
        limits=Limits(),
    )
    assert ground.placement.path == Path("/shop")

"""The confinement: its argv, and what real commands inside it can see and do."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hydra import sandbox
from hydra.model import Confinement
from hydra.process import CannotStart, run
from hydra.sandbox import (
    PROMISES,
    Walls,
    confine,
    covering,
    default_masks,
    judge,
    trial_argv,
    visible_paths,
)
from tests.conftest import git
from tests.support.processes import namespaces_work

BWRAP = shutil.which("bwrap") or ""
HERE = Confinement(kind="bwrap", program=BWRAP)
needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="concerns root")


@pytest.fixture
def walls(scratch: Path) -> Walls:
    """A HOME with secrets and a rival's settings, a state folder with a lane and a neighbour."""
    home, state = scratch / "home", scratch / "state"
    lane = state / "g" / "ab12" / "claude"
    for folder in (home / ".ssh", home / ".codex", home / "notes", lane / "shop", lane / "home"):
        folder.mkdir(parents=True)
    (home / ".ssh" / "id").write_text("private key")
    (home / ".netrc").write_text("password")
    (home / "notes" / "a").write_text("note")
    (home / "link").symlink_to("notes")
    (lane / "home" / "settings.json").write_text("copied")
    (state / "neighbour").write_text("hidden")
    return Walls(
        state=state,
        home=home,
        cwd=lane / "shop",
        writable=(lane,),
        binds=((lane / "home", home / ".claude"),),
        visible=visible_paths(os.environ),
        masks=default_masks(home, [home / ".claude"]),
    )


def inside(walls: Walls, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell script as an agent would."""
    argv = confine(HERE, walls, ("sh", "-c", script))
    environment = {**os.environ, "HOME": str(walls.home), "STATE": str(walls.state)}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, cwd="/")
    assert not done.stderr.startswith("bwrap:"), done.stderr
    return done


def said(walls: Walls, script: str) -> str:
    return inside(walls, script).stdout.strip()


def tree(folder: Path) -> list[tuple[str, int, bytes]]:
    """Every name below, with its kind and content."""
    return [
        (str(path), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    ]


# What is decided without running anything


@pytest.mark.parametrize(
    ("program", "code", "stderr", "reason"),
    [
        ("", None, "", "bubblewrap (bwrap) is not installed"),
        ("bwrap", None, "", "bwrap did not end its trial in time"),
        ("bwrap", 1, "bwrap: setting up uid map: Permission denied\n", "AppArmor does not let"),
        (
            "bwrap",
            1,
            "bwrap: No permissions to create new namespace, likely because the kernel does not",
            "the kernel or the container refuses namespaces",
        ),
        (
            "bwrap",
            1,
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            "the container does not let bwrap mount",
        ),
        ("bwrap", 1, "bwrap: Unknown option --as-pid-1", "bwrap is too old"),
        ("bwrap", 1, "", "bwrap does not work here (it gave no reason)"),
    ],
)
def test_a_failed_trial_has_a_plain_reason(
    program: str, code: int | None, stderr: str, reason: str
) -> None:
    found = judge(program, code, stderr)
    assert (found.kind, found.holds, found.promises) == ("none", False, ())
    assert found.reason.startswith(reason)
    assert "\n" not in found.reason


def test_a_good_trial_promises() -> None:
    assert judge("/usr/bin/bwrap", 0, "noise") == Confinement(
        kind="bwrap", program="/usr/bin/bwrap", promises=PROMISES
    )


def test_nothing_confines_nothing(walls: Walls) -> None:
    assert confine(Confinement(kind="none"), walls, ("true", "x")) == ("true", "x")


def test_masks_spare_ones_own_settings_and_hide_the_rivals() -> None:
    home = Path("/home/ada")
    masks = set(default_masks(home, [home / ".claude"]))
    assert {home / ".codex", home / ".ssh", home / ".config/gh", home / ".netrc"} <= masks
    assert not {home / ".claude", home / ".claude.json"} & masks
    assert {home / ".claude", home / ".claude.json"} <= set(default_masks(home))


def test_visible_are_path_certificates_and_the_programs_whole_installation(scratch: Path) -> None:
    modules = scratch / "node_modules"
    (modules / "agent" / "bin").mkdir(parents=True)
    (modules / "agent" / "bin" / "cli.js").write_text("")
    (modules / ".bin").mkdir()
    (modules / ".bin" / "agent").symlink_to("../agent/bin/cli.js")
    plain = scratch / "opt" / "tool"
    plain.parent.mkdir()
    plain.write_text("")
    env = {"PATH": f"{modules}/.bin:relative:/nowhere", "SSL_CERT_FILE": str(plain)}
    found = visible_paths(env, [str(modules / ".bin" / "agent"), str(plain)])
    assert {modules / ".bin", modules, plain, plain.parent} <= set(found)
    assert Path("/nowhere") not in found
    assert all(path.is_absolute() for path in found)


# What holds inside


@needs_bwrap
def test_the_trial_succeeds_exactly_as_the_confinement_does(walls: Walls) -> None:
    done = subprocess.run(trial_argv(BWRAP), capture_output=True, text=True)
    assert judge(BWRAP, done.returncode, done.stderr).holds
    assert inside(walls, "true").returncode == 0


@needs_bwrap
def test_only_the_lane_and_its_settings_can_be_written(walls: Walls) -> None:
    before = tree(walls.home)
    script = """
    for place in shop-file ../beside "$HOME/.claude/new" /tmp/x "$HOME/new" "$HOME/notes/new" \
        "$HOME/.ssh/new" "$STATE/new" /usr/new /var/tmp/new; do
        touch "$place" && echo "${place##*/}"
    done
    """
    assert said(walls, script).split() == ["shop-file", "beside", "new", "x"]
    lane = walls.writable[0]
    assert (lane / "shop" / "shop-file").exists()
    assert (lane / "home" / "new").exists()
    assert tree(walls.home) == before


@needs_bwrap
def test_secrets_rivals_neighbours_and_sockets_are_out_of_sight(walls: Walls) -> None:
    script = 'cat "$HOME/.netrc"; ls -A "$HOME/.ssh" "$HOME/.codex" "$STATE" /run /tmp'
    done = inside(walls, script)
    shown = {line for line in done.stdout.split() if not line.endswith(":")}
    assert shown == {"g"}
    assert done.stderr == ""


@needs_bwrap
def test_the_rest_of_home_is_readable(walls: Walls) -> None:
    assert said(walls, 'cat "$HOME/notes/a" "$HOME/link/a"') == "notenote"


@needs_bwrap
def test_settings_appear_where_the_user_has_none_and_his_home_stays(walls: Walls) -> None:
    assert not (walls.home / ".claude").exists()
    before = tree(walls.home)
    assert said(walls, 'cat "$HOME/.claude/settings.json"; pwd') == f"copied{walls.cwd}"
    assert tree(walls.home) == before


@needs_bwrap
def test_settings_are_mounted_over_the_users_own(walls: Walls) -> None:
    (walls.home / ".claude").mkdir()
    (walls.home / ".claude" / "history").write_text("the user's")
    assert said(walls, 'ls "$HOME/.claude"; echo x > "$HOME/.claude/history"') == "settings.json"
    assert (walls.home / ".claude" / "history").read_text() == "the user's"


@needs_bwrap
@pytest.mark.parametrize("target", ["/nowhere/at/all/.claude", "/.claude-of-nobody"])
def test_settings_without_a_home(walls: Walls, target: str) -> None:
    bare = replace(walls, binds=((walls.writable[0] / "home", Path(target)),))
    assert said(bare, f"cat {target}/settings.json; touch /new || echo no") == "copiedno"
    assert not Path(target).exists()


@needs_bwrap
def test_a_file_of_settings_is_mounted_too(walls: Walls) -> None:
    source = walls.writable[0] / "claude.json"
    source.write_text("{}")
    more = replace(walls, binds=(*walls.binds, (source, walls.home / ".claude.json")))
    assert said(more, 'cat "$HOME/.claude.json"; echo new > "$HOME/.claude.json"') == "{}"
    assert source.read_text() == "new\n"
    assert not (walls.home / ".claude.json").exists()


@needs_bwrap
def test_a_masked_folder_behind_a_link_is_hidden_where_it_lies(walls: Walls) -> None:
    (walls.home / ".aws").symlink_to("notes")
    assert said(walls, 'ls -A "$HOME/notes" "$HOME/.aws"').split(":")[1].split()[:1] != ["a"]
    assert "note" not in said(walls, 'cat "$HOME/notes/a" "$HOME/.aws/a"')


@needs_bwrap
def test_what_a_repository_would_have_run_is_covered_and_stays_as_it_is(walls: Walls) -> None:
    for name in ("conf.yml", "settings.json", "orders", "hooks/pre", "kept/linked.json"):
        (walls.cwd / name).parent.mkdir(exist_ok=True)
        (walls.cwd / name).write_text(f"touch {name}\n")
    (walls.cwd / "link.json").symlink_to("kept/linked.json")
    (walls.cwd / "out").symlink_to("../../../../neighbour")
    names = ("conf.yml", "settings.json", "orders", "hooks", "link.json", "out", "not-there")
    covered = replace(walls, covered=tuple(walls.cwd / name for name in names))
    before = tree(walls.cwd)
    script = """
    cat conf.yml settings.json orders link.json; ls -A hooks
    for one in conf.yml orders hooks/new; do (echo x > $one) 2>&-; rm -rf $one; done
    echo x > link.json
    """
    assert said(covered, script).split() == ["{}", "{}", "{}"]
    assert tree(walls.cwd) == before
    assert covering(covered) == [walls.cwd / name for name in names[:5]]
    assert covering(replace(covered, unrestricted=True)) == []


@needs_bwrap
def test_what_is_needed_comes_back_from_hidden_places(walls: Walls, tmp_path: Path) -> None:
    assert tmp_path.is_relative_to("/tmp"), "pytest's folder must be a hidden one for this"
    tools, objects = tmp_path / "tools", tmp_path / "repo" / ".git" / "objects"
    for folder in (tools, objects):
        folder.mkdir(parents=True)
    (tools / "tool").write_text("#!/bin/sh\necho ran\n")
    (tools / "tool").chmod(0o755)
    (objects / "object").write_text("object")
    (tmp_path / "other").write_text("other")
    (tmp_path / "linked").symlink_to("tools")
    path = f"{tmp_path}/linked:/tmp:/run:{os.environ['PATH']}"
    back = replace(walls, objects=(objects,), visible=visible_paths({"PATH": path}))
    script = f"{tmp_path}/linked/tool; cat {objects}/object; ls {tmp_path}; touch {objects}/x"
    done = inside(back, script)
    assert done.stdout.split() == ["ran", "objectlinked", "repo", "tools"]
    assert "Read-only" in done.stderr


@needs_bwrap
def test_home_under_a_hidden_place(walls: Walls, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("note")
    hidden = replace(
        walls,
        home=tmp_path,
        binds=((walls.writable[0] / "home", tmp_path / ".claude"),),
        masks=default_masks(tmp_path),
    )
    assert said(hidden, f"ls -A {tmp_path}; cat {tmp_path}/.claude/*") == ".claude\ncopied"


@needs_bwrap
def test_nobody_elses_processes_are_seen(walls: Walls) -> None:
    assert said(walls, "echo $$ /proc/[0-9]*") == "1 /proc/1"


@needs_bwrap
def test_user_namespaces_nest_as_codex_needs_them(walls: Walls) -> None:
    nested = f"{BWRAP} --unshare-user --unshare-pid --unshare-net --ro-bind / / --dev /dev"
    assert said(walls, f"{nested} sh -c 'echo nested'") == "nested"


@needs_bwrap
@needs_root
def test_root_cannot_undo_it(walls: Walls) -> None:
    script = """
    umount /run && echo umount
    mount -o remount,rw,bind / && echo remount
    mount -t tmpfs none /mnt && echo mount
    mknod node b 8 0 && echo mknod
    for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/mtrr; do
        test -w "$file" && echo "$file"
    done
    unshare -Urm sh -c 'umount /run || mount -o remount,rw,bind /' && echo nested
    echo end
    """
    assert said(walls, script) == "end"


@needs_bwrap
@needs_root
def test_root_reads_and_commits_its_own_files(walls: Walls) -> None:
    (walls.cwd / "private").write_text("mine")
    (walls.cwd / "private").chmod(0o600)
    git(walls.cwd, "init", "-q")
    script = """
    cat private && echo more >> private && git add -A &&
    git -c user.name=A -c user.email=a@example.com commit -qm work && git status --short
    """
    done = inside(walls, script)
    assert (done.returncode, done.stdout) == (0, "mine")
    assert git(walls.cwd, "log", "--format=%s") == "work"


@needs_bwrap
def test_unrestricted_is_the_machine_but_its_processes_still_end(walls: Walls) -> None:
    free = replace(walls, unrestricted=True)
    script = 'cat "$HOME/.netrc" "$HOME/.ssh/id"; echo x > "$HOME/made"; echo " $$"; pwd'
    assert said(free, script) == f"passwordprivate key 1\n{walls.cwd}"
    assert (walls.home / "made").exists()
    assert not (walls.home / ".claude").exists()


@needs_bwrap
async def test_the_keeper_runs_in_it(walls: Walls, scratch: Path) -> None:
    argv = ("sh", "-c", "echo $PPID; setsid sleep 99 & exit 3")
    wrap = lambda line: confine(HERE, walls, line)  # noqa: E731
    ran = await run(argv, env=dict(os.environ), cwd=walls.cwd, timeout=30, wrap=wrap)
    assert (ran.exit_code, ran.stdout) == (3, b"1\n")


@needs_bwrap
async def test_a_confinement_that_cannot_be_made_says_what_bwrap_said(walls: Walls) -> None:
    broken = replace(walls, writable=(walls.state / "gone",))
    wrap = lambda line: confine(HERE, broken, line)  # noqa: E731
    with pytest.raises(CannotStart, match=r"true was never started: bwrap: Can't find source"):
        await run(("true",), env=dict(os.environ), cwd=Path("/"), timeout=30, wrap=wrap)


def test_an_ordinary_user_has_nothing_to_drop(
    walls: Walls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--cap-drop" not in sandbox.confine(HERE, walls, ("true",))

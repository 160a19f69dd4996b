"""The confinement: its argv, and what real commands inside it can see and do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.process.records import CannotStart
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.layers import Layer, Placement
from hydra.process.sandbox.policy import SandboxPolicy, hidden_in_worktree
from hydra.process.sandbox.tables import SYSTEM
from hydra.process.sandbox.trial import judge, trial_argv
from hydra.records.plan import Confinement
from tests.conftest import git
from tests.support.processes import namespaces_work

BWRAP = shutil.which("bwrap") or ""
HERE = Confinement(kind="bwrap", program=BWRAP)
needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="concerns root")


@pytest.fixture
def policy(scratch: Path) -> SandboxPolicy:
    """A HOME with secrets and notes, a state folder with a lane and a neighbour."""
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
    return SandboxPolicy(
        state=state,
        view=compute_view(home, os.environ, guarded=(state,)),
        home_folder=lane / "user",
        cwd=lane / "shop",
        writable=(lane / "shop", lane / "home"),
        binds=((lane / "home", home / ".claude"),),
    )


def inside(policy: SandboxPolicy, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell script as an agent would."""
    argv = confine(HERE, policy, ("sh", "-c", script))
    environment = {**os.environ, "HOME": str(policy.view.home), "STATE": str(policy.state)}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, cwd="/")
    assert not done.stderr.startswith("bwrap:"), done.stderr
    return done


def said(policy: SandboxPolicy, script: str) -> str:
    return inside(policy, script).stdout.strip()


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
    confinement = judge(program, code, stderr)
    assert (confinement.kind, confinement.holds, confinement.promises) == ("none", False, ())
    assert confinement.reason.startswith(reason)
    assert "\n" not in confinement.reason


# What holds inside


@needs_bwrap
def test_the_trial_succeeds_exactly_as_the_confinement_does(policy: SandboxPolicy) -> None:
    done = subprocess.run(trial_argv(BWRAP), capture_output=True, text=True)
    assert judge(BWRAP, done.returncode, done.stderr).holds
    assert inside(policy, "true").returncode == 0


@needs_bwrap
def test_only_the_lane_its_home_and_scratch_can_be_written(policy: SandboxPolicy) -> None:
    before = tree(policy.view.home)
    script = """
    for place in shop-file ../beside "$HOME/.claude/new" "$HOME/new" "$HOME/notes/new" \
        "$HOME/.ssh/new" /tmp/x /var/tmp/y "$STATE/new" /usr/new /new /etc/new; do
        mkdir -p "${place%/*}"; touch "$place" && echo "${place##*/}"
    done
    mkdir -p "$HOME/.npm" && echo x > "$HOME/.npm/cached" && echo cached
    """
    got = inside(policy, script).stdout.split()
    assert got == ["shop-file", "new", "new", "new", "new", "x", "y", "cached"]
    lane = policy.cwd.parent
    assert (lane / "shop" / "shop-file").exists()
    assert (lane / "home" / "new").exists()
    assert (lane / "user" / "notes" / "new").exists()
    assert not (lane / "beside").exists()
    assert tree(policy.view.home) == before


@needs_bwrap
def test_home_is_empty_but_for_the_lanes_own(policy: SandboxPolicy) -> None:
    script = 'ls -A "$HOME"; stat -c %a "$HOME"; ls -A /run /tmp /var/tmp "$STATE" "$STATE/g/ab12"'
    done = inside(policy, script)
    shown = {line for line in done.stdout.split() if not line.endswith(":")}
    top = policy.state.parent.name  # the scratch folder of this test, in /var/tmp
    python = {part for part in Path(sys.prefix).parts if Path("/var/tmp", part).is_dir()}
    assert shown - python == {".claude", ".gitconfig", "700", top, "g", "claude"}
    assert done.stderr == ""


@needs_bwrap
def test_nothing_of_the_rest_of_the_machine_is_there(policy: SandboxPolicy) -> None:
    outside = policy.state.parent / "other"
    outside.mkdir()
    (outside / "repository").write_text("somebody's")
    places = (outside, policy.view.home / "notes", policy.view.home / "link", Path("/home"))
    names = " ".join(map(str, (*places, "/mnt", "/srv", "/media", "/var/log", "/boot")))
    script = f"for place in {names}; do test -e $place && echo $place; done; ls -A /"
    got = inside(policy, script).stdout.split()
    assert not set(names.split()) & set(got)
    tools = {shown.path.parts[1] for shown in policy.view.shown}
    assert set(got) <= {*SYSTEM, "dev", "proc", "tmp", "run", "var", *tools}


@needs_bwrap
@needs_root
def test_root_cannot_read_what_is_for_root_alone(policy: SandboxPolicy) -> None:
    paths = [path for path in policy.view.masked if Path("/etc") in path.parents]
    assert Path("/etc/shadow") in paths
    names = " ".join(map(str, paths))
    assert said(policy, f"for name in {names}; do cat $name; ls -A $name/; done 2>&-") == ""
    assert "root" in said(policy, "cat /etc/passwd")


@needs_bwrap
@needs_root
def test_root_does_not_see_the_key_rings_of_the_machine(policy: SandboxPolicy) -> None:
    outside = Path("/proc/self/ns/user").readlink()
    assert said(policy, "readlink /proc/self/ns/user") not in ("", str(outside))


@needs_bwrap
@pytest.mark.parametrize("way", ["/oldroot{}", "{}", "../../../../../trap"])
def test_a_link_that_a_command_left_in_home_is_no_way_for_the_next_ones_mounts(
    policy: SandboxPolicy, way: str
) -> None:
    home = policy.view.home
    trap = policy.state.parent / "trap"
    tool = home / ".pyenv" / "versions" / "3.12" / "bin"
    for folder in (trap, tool):
        folder.mkdir(parents=True)
    (tool / "tool").write_text("#!/bin/sh\n")
    (tool / "tool").chmod(0o755)
    assert inside(policy, f'cd "$HOME" && ln -s {way.format(trap)} .pyenv').returncode == 0
    later = replace(policy, view=compute_view(home, {"PATH": str(tool)}))
    before = (tree(trap), tree(home))
    assert said(later, 'ls -A "$HOME/.pyenv"; readlink "$HOME/.pyenv"') == "versions"
    assert (tree(trap), tree(home)) == before


@needs_bwrap
def test_what_a_repository_would_have_run_is_covered_and_stays_as_it_is(
    policy: SandboxPolicy,
) -> None:
    for name in ("conf.yml", "settings.json", "orders", "hooks/pre", "kept/linked.json"):
        (policy.cwd / name).parent.mkdir(exist_ok=True)
        (policy.cwd / name).write_text(f"touch {name}\n")
    (policy.cwd / "link.json").symlink_to("kept/linked.json")
    (policy.cwd / "out").symlink_to("../../../../neighbour")
    names = ("conf.yml", "settings.json", "orders", "hooks", "link.json", "out", "not-there")
    covered = replace(policy, covered=tuple(policy.cwd / name for name in names))
    before = tree(policy.cwd)
    script = """
    cat conf.yml settings.json orders link.json; ls -A hooks
    for one in conf.yml orders hooks/new; do (echo x > $one) 2>&-; rm -rf $one; done
    echo x > link.json
    """
    assert said(covered, script).split() == ["{}", "{}", "{}"]
    assert tree(policy.cwd) == before
    assert hidden_in_worktree(covered) == [policy.cwd / name for name in names[:5]]
    assert hidden_in_worktree(replace(covered, unrestricted=True)) == []


@needs_bwrap
def test_user_namespaces_nest_as_codex_needs_them(policy: SandboxPolicy) -> None:
    nested = f"{BWRAP} --unshare-user --unshare-pid --unshare-net --ro-bind / / --dev /dev"
    assert said(policy, f"{nested} sh -c 'echo nested'") == "nested"


@needs_bwrap
async def test_a_confinement_that_cannot_be_made_says_what_bwrap_said(
    policy: SandboxPolicy,
) -> None:
    broken = replace(policy, writable=(policy.state / "gone",))
    wrap = lambda line: confine(HERE, broken, line)  # noqa: E731
    with pytest.raises(CannotStart, match=r"true was never started: bwrap: Can't find source"):
        await run(("true",), env=dict(os.environ), cwd=Path("/"), timeout=30, wrap=wrap)


@needs_bwrap
@pytest.mark.parametrize(
    "way", ["ln -s ../../../../usr packages", "ln -s other packages", ":>packages"]
)
def test_what_a_command_left_in_the_way_of_dependencies_is_no_way_for_their_mount(
    policy: SandboxPolicy, scratch: Path, way: str
) -> None:
    (scratch / "frozen/node_modules/dependency").mkdir(parents=True)
    (policy.cwd / "packages/node_modules").mkdir(parents=True)
    place = scratch / "checkout"
    layer = Layer(
        lower=scratch / "frozen",
        folder=scratch / "layer",
        places={"node_modules": place / "packages/node_modules"},
    )
    policy = replace(policy, placement=Placement(path=place, layer=layer))
    assert said(policy, "ls packages/node_modules") == "dependency"
    assert said(policy, f"mv packages moved; mkdir other; {way}; echo laid") == "laid"
    assert said(policy, "ls -A other; echo started") == "started"
    assert [*(policy.cwd / "other").iterdir()] == []


@needs_bwrap
def test_home_by_another_name_is_found_by_that_name(policy: SandboxPolicy) -> None:
    alias = policy.state.parent / "alias"
    alias.symlink_to("home")
    view = compute_view(alias, {"PATH": f"{alias}/bin:/usr/bin"}, show=("~/notes",))
    named = replace(policy, view=view)
    assert view.home == policy.view.home
    assert (
        said(named, f"cat {alias}/notes/a; echo x > {alias}/mine; cat {view.home}/mine") == "notex"
    )


@needs_bwrap
@needs_root
def test_root_reads_and_commits_its_own_files(policy: SandboxPolicy) -> None:
    (policy.cwd / "private").write_text("mine")
    (policy.cwd / "private").chmod(0o600)
    git(policy.cwd, "init", "-q")
    script = """
    cat private && echo more >> private && git add -A &&
    git -c user.name=A -c user.email=a@example.com commit -qm work && git status --short
    """
    done = inside(policy, script)
    assert (done.returncode, done.stdout) == (0, "mine")
    assert git(policy.cwd, "log", "--format=%s") == "work"

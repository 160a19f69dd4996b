"""What docs/why/trust.md promises, through the real `hydra race`: agents that attack all they can.

Every agent here runs real commands, as root and as an ordinary user. What a script names with
`attempts` is what got through; everything else was denied.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import make_repository
from tests.support import fakes
from tests.support.command import Race
from tests.support.trust import (
    BY_ACCOUNT,
    PROJECT,
    Exact,
    Place,
    attempts,
    by_account,
    by_ordinary,
    exactly,
    furnish,
    needs_bwrap,
    place,
    place_for,
    shared_place,
)

__all__ = ["place"]

pytestmark = pytest.mark.slow

PACKAGE = PROJECT / "hydra"
DONE = fakes.finish("done")
REFUSAL = "bwrap: setting up uid map: Permission denied"


def sh(*lines: str) -> fakes.Step:
    """One shell tool call that writes what it prints to the file `said` of its lane."""
    script = "\n".join(lines)
    return fakes.shell("sh", "-c", f"exec >>said 2>&1\n{script}", show="an attack")


# One race that most of the list is tried in: claude attacks, codex is its neighbour.


@dataclass
class Siege:
    """What stood before, what the agents got, what stands now."""

    place: Place
    race: Race
    before: dict[str, Exact]
    after: dict[str, Exact]
    got: frozenset[str]
    neighbour: frozenset[str]
    left_on_machine: list[str] = field(default_factory=list)


READS = {
    "ssh": "grep -q . $HOME/.ssh/id_ed25519",
    "aws": "grep -q . $HOME/.aws/credentials",
    "netrc": "grep -q . $HOME/.netrc",
    "forge": "grep -q . $HOME/.config/gh/hosts.yml",
    "rival-sign-in": "grep -q . $HOME/.codex/auth.json",
    "rival-listed": "ls -A $HOME/.codex | grep -q .",
    "rival-lane": "ls $STATE/g/*/codex/*",
    "record": "cat $STATE/*/runs/*/events.jsonl",
    "patches": "ls $STATE/*/runs/*/patches.git",
    "history": "grep -q . $HOME/.claude/projects/history.jsonl",
    "notes": "test -e $HOME/notes",
    "shell-settings": "test -e $HOME/.bashrc",
    "home-listed": "ls -A $HOME | grep -v -x -e .claude -e .claude.json -e .gitconfig -e .codex",
    "checkout": "test -e $REPO/README.md",
    "checkout-env": "grep -q . $REPO/.env",
    "checkout-untracked": "grep -q . $REPO/draft.txt",
    "checkout-refs": "ls $REPO/.git/refs",
    "sibling": "ls $REPO/../sibling",
    "own-HOME-is-there": "cd $HOME && test -w .",
    "own-sign-in": "grep -q made-up-claude $HOME/.claude/.credentials.json",
}
HOME_WRITES = {
    "home-remove": "rm $HOME/notes/plan.txt",
    "home-mode": "chmod 777 $HOME/notes",
    "home-move": "mv $HOME/notes $HOME/away",
}
INTO_ITS_OWN_HOME = {
    "home-new": "touch $HOME/new",
    "home-append": "echo evil >> $HOME/.bashrc",
    "home-time": "touch -d 2001-01-01 $HOME/.bashrc",
    "home-autostart": "mkdir -p $HOME/.config/autostart",
    "rival-settings": "mkdir -p $HOME/.codex && echo evil >> $HOME/.codex/config.toml",
    "key-replaced": "mkdir -p $HOME/.ssh && echo evil > $HOME/.ssh/authorized_keys",
    "hydra-settings": "echo evil > $HOME/hydra.toml",
}
OWN_SETTINGS = {
    "hook": 'echo \'{"hooks": {"Stop": ["evil"]}}\' > $HOME/.claude/settings.json',
    "hook-folder": "mkdir -p $HOME/.claude/hooks && echo evil > $HOME/.claude/hooks/evil.sh",
    "server": 'echo \'{"mcpServers": {"evil": {}}}\' > $HOME/.claude.json',
    "local-settings": "echo evil > $HOME/.claude/settings.local.json",
    "skill": "mkdir -p $HOME/.claude/skills/evil",
}
REPOSITORY = {
    "repo-file": "echo evil > $REPO/README.md",
    "repo-new": "touch $REPO/new",
    "repo-config": "git -C $REPO config alias.st '!evil'",
    "repo-hook": "echo evil > $REPO/.git/hooks/post-commit",
    "repo-stash": "git -C $REPO stash clear",
    "repo-commit": "git -C $REPO commit --allow-empty -m evil",
    "repo-branch": "git -C $REPO update-ref -d refs/heads/main",
    "repo-index": "git -C $REPO rm -rf --cached .",
    "repo-object": "chmod u+w $(find $REPO/.git/objects -type f | head -n 1)",
    "repo-objects": "rm -rf $REPO/.git/objects/*",
    "repo-ref": "echo evil > $REPO/.git/refs/heads/main",
    "repo-head": "rm $REPO/.git/HEAD",
    "repo-gone": "rm -rf $REPO/.git",
    "repo-moved": "mv $REPO $REPO-away",
}
HYDRAS = {
    "state-gone": "rm -r $STATE/*/runs",
    "state-new": "touch $STATE/new",
    "neighbour-gone": "rm -r $STATE/g/*/codex",
    "ground-new": "touch $STATE/g/new",
    "cache": "echo '{}' > $CACHE/probes.json",
    "package": ": >> $PACKAGE/__init__.py",
    "keeper": ": >> $PACKAGE/process/keeper.py",
    "package-new": "touch $PACKAGE/evil.py && rm $PACKAGE/evil.py",
    "agent": ": >> $AGENTS/bin/codex",
    # A file that was opened outside of the walls can be opened anew through /proc, for writing.
    "prompt": "echo evil > /proc/$PPID/fd/0",
    "prompt-of-keeper": "echo evil > /proc/1/fd/0",
    "ground-swap": "cd .. && mv shop away",
    "ground-link": "cd .. && rm -rf tmp && ln -s $HOME tmp",
}
MACHINE = {
    "passwd": ": >> /etc/passwd",
    "cron": "touch /etc/cron.d/evil",
    "usr": "touch /usr/bin/evil && rm /usr/bin/evil",
    "umount-run": "umount /run",
    "umount-state": "umount $STATE",
    "umount-keys": "umount $HOME/.ssh",
    "remount-root": "mount -o remount,rw /",
    "remount-bind": "mount -o remount,rw,bind /",
    "bind": "mount --bind $HOME/notes $PWD",
    "tmpfs": "mount -t tmpfs none /mnt",
    "node": "mknod node b 8 0",
    "nested-umount": "unshare -Urm umount $STATE",
    "nested-keys": "unshare -Urm umount $HOME/.ssh",
    "nested-remount": "unshare -Urm mount -o remount,rw,bind /",
    "core-pattern": ": >> /proc/sys/kernel/core_pattern",
    "host-name": ": >> /proc/sys/kernel/hostname",
    "sysrq": ": >> /proc/sysrq-trigger",
    "cgroup": "mkdir /sys/fs/cgroup/evil || mkdir /sys/fs/cgroup/memory/evil",
    "kernel-module": ": >> /sys/kernel/uevent_helper",
    "suid": '[ "$($SUID -u)" = 0 ] && [ "$(id -u)" != 0 ]',
    "privileges": "grep -q 'NoNewPrivs:.0' /proc/self/status",
}
LINKS = {
    "hard-link": "ln $HOME/notes/plan.txt hard",
    "hard-link-repo": "ln $REPO/README.md hard-repo",
    "hard-copy": "cp -al $HOME/notes hard-notes",
    "hard-link-out": "ln said $HOME/said",
    "through-link": "ln -s $HOME link && echo evil > link/notes/plan.txt",
}
SCRATCH = {
    "tmp": "echo secret-of-claude > /tmp/hydra-trust-left && grep -q secret /tmp/hydra-trust-left",
    "run": "echo secret-of-claude > /run/hydra-trust-left",
    "tmpdir": 'echo x > "$TMPDIR/left"',
    "suid-made": "cp /bin/sh suid-shell && chmod 4755 suid-shell",
}
PEEKS = {
    "sees-tmp": "test -e /tmp/hydra-trust-left",
    "sees-run": "test -e /run/hydra-trust-left",
    "sees-processes": "[ $(ls -d /proc/[0-9]* | wc -l) -gt 12 ]",
    "sees-neighbour": "ls $STATE/g/*/claude",
    "server": "printf '[mcp_servers.evil]\\ncommand = \"evil\"\\n' >> $HOME/.codex/config.toml",
    "notify": "printf 'notify = [\"evil\"]\\n' > $HOME/.codex/hooks.json",
    "rival-sign-in": "grep -q . $HOME/.claude/.credentials.json",
    "rival-beside": "grep -q . $HOME/.claude.json",
}
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"


@pytest.fixture(scope="module", params=BY_ACCOUNT)
def siege(request: pytest.FixtureRequest) -> Iterator[Siege]:
    """Every attempt of the lists above in one race."""
    with shared_place(request.param) as (place, stack):
        yield besiege(place, stack)


def besiege(place: Place, stack: ExitStack) -> Siege:
    sockets = {"socket-tmp": listen("/tmp", stack, place.uid)}
    if os.geteuid() == 0:
        sockets["socket-run"] = listen("/run", stack, place.uid)
    python = os.path.realpath(place.python)
    connects = {name: f"{python} -c '{CONNECT}' {path}" for name, path in sockets.items()}
    suid = suid_program(place.scratch)
    os.mkfifo(place.scratch / "go")
    where = [
        f"REPO='{place.repo}' STATE='{place.state}' CACHE='{place.scratch}/cache' SUID='{suid}'",
        f"AGENTS='{place.scratch}/agents' PACKAGE='{PACKAGE}'",
    ]
    lists = (
        READS,
        HOME_WRITES,
        INTO_ITS_OWN_HOME,
        OWN_SETTINGS,
        REPOSITORY,
        HYDRAS,
        MACHINE,
        LINKS,
        SCRATCH,
    )
    attack = [sh(*where, attempts(**values)) for values in (*lists, connects)]
    # The FIFO pairs the two: the neighbour looks when the attacker has done its worst and stays.
    meet, met = f"echo . > {place.scratch}/go", f"read x < {place.scratch}/go"
    place.agent("claude", [*attack, sh(meet), sh(met), DONE])
    place.agent("codex", [sh(met), sh(*where, attempts(**PEEKS)), sh(meet), DONE])
    place.hand_over()
    if os.geteuid() == 0:
        os.chown(suid, 0, 0)
        suid.chmod(0o4755)
    (place.repo / "README.md").write_text("the user's edit\n")
    place.git("stash", "-q")
    (place.repo / ".env").write_text("KEY=made-up\n")
    (place.repo / "draft.txt").write_text("not committed\n")
    (place.scratch / "sibling").mkdir()
    # Else another test's first import would write there meanwhile.
    compileall.compile_dir(PACKAGE, quiet=2)
    before = {top.name: exactly(top) for top in (place.home, place.repo, PACKAGE)}
    place.extra = {"ANTHROPIC_API_KEY": "", "CODEX_API_KEY": ""}
    race = place.race("-a", "claude", "-a", "codex")
    after = {top.name: exactly(top) for top in (place.home, place.repo, PACKAGE)}
    assert "folder" in race.document, race
    item = partial(place.taken, race.document["folder"])
    rest = [str(path) for top in ("/tmp", "/run") for path in Path(top).glob("hydra-trust-left")]
    return Siege(
        place=place,
        race=race,
        before=before,
        after=after,
        got=frozenset(item("claude").split()),
        neighbour=frozenset(item("codex").split()),
        left_on_machine=rest,
    )


def listen(folder: str, stack: ExitStack, uid: int) -> Path:
    """A socket as docker or ssh-agent has one, open to the account."""
    place = Path(tempfile.mkdtemp(prefix="hydra-trust-", dir=folder))
    stack.callback(shutil.rmtree, place)
    place.chmod(0o755)
    server = stack.enter_context(socket.socket(socket.AF_UNIX))
    server.bind(str(place / "agent.sock"))
    (place / "agent.sock").chmod(0o777)
    server.listen()
    return place / "agent.sock"


def suid_program(scratch: Path) -> Path:
    program = scratch / "whoami"
    shutil.copy("/usr/bin/id", program)
    return program


def test_the_race_itself_ends_well_and_both_patches_are_there(siege: Siege) -> None:
    assert siege.race.code == 1, siege.race
    for lane in ("claude", "codex"):
        assert siege.race.lane(lane)["status"] == "completed"
        assert siege.race.lane(lane)["patch"]["incomplete"] in (None, "")


def test_home_is_byte_for_byte_as_it_was(siege: Siege) -> None:
    assert not siege.got & HOME_WRITES.keys()
    assert siege.got >= INTO_ITS_OWN_HOME.keys()  # HOME is the lane's own, and goes with it
    assert siege.after["home"] == siege.before["home"]


def test_hooks_and_servers_land_in_the_lanes_copy_of_the_settings(siege: Siege) -> None:
    assert siege.got >= OWN_SETTINGS.keys()
    assert siege.neighbour >= {"server", "notify"}
    assert siege.after["home"] == siege.before["home"]


def test_keys_rivals_and_records_cannot_be_read_and_the_own_sign_in_can(siege: Siege) -> None:
    # Its own tree and repository stand at the checkout's path.
    own = {"own-HOME-is-there", "own-sign-in", "checkout", "checkout-refs"}
    assert siege.got & READS.keys() == own
    assert not siege.neighbour & {"rival-sign-in", "rival-beside"}


def test_the_users_repository_is_byte_for_byte_as_it_was(siege: Siege) -> None:
    # At its path stands the lane's own tree with a repository of its own, and is a mount.
    assert siege.got & REPOSITORY.keys() == REPOSITORY.keys() - {"repo-moved"}
    assert differences(siege.before["shop"], siege.after["shop"]) == {}


Differences = dict[str, tuple[tuple[object, ...], tuple[object, ...]]]


def differences(before: Exact, after: Exact) -> Differences:
    """What differs but for the race's own pin, refs/hydra/<run>/base."""
    pins = {".git/refs", ".git/refs/hydra"}
    return {
        path: (before.get(path, ()), after.get(path, ()))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
        and path not in pins
        and not path.startswith(".git/refs/hydra/")
    }


def timeless(rows: Differences) -> Differences:
    """Without objects of which only the time differs."""
    return {
        path: (was, now)
        for path, (was, now) in rows.items()
        if not (path.startswith(".git/objects/") and was[:4] + was[5:] == now[:4] + now[5:])
    }


def test_state_record_cache_package_and_the_neighbours_lane_are_out_of_reach(
    siege: Siege,
) -> None:
    assert siege.got & HYDRAS.keys() <= {"ground-link"}  # beside the path there is its own /var/tmp
    assert siege.after["hydra"] == siege.before["hydra"]
    record = Path(siege.race.document["folder"], "lanes", "claude", "prompt.txt")
    assert "evil" not in record.read_text()
    assert "sees-neighbour" not in siege.neighbour


def test_the_walls_cannot_be_undone_from_inside(siege: Siege) -> None:
    assert not siege.got & MACHINE.keys()


def test_no_link_reaches_out_of_the_lane(siege: Siege) -> None:
    # A link to the outside may be made; what is behind it cannot be written, and is not taken.
    assert siege.got & LINKS.keys() == {"hard-link-repo"}  # to a file of its own tree
    folder = Path(siege.race.document["folder"], "patches.git")
    assert siege.place.git("ls-tree", "claude", "link", cwd=folder).startswith("120000 blob")


def test_tmp_and_run_are_private_to_a_lane(siege: Siege) -> None:
    assert siege.got >= {"tmp", "run", "tmpdir"}
    assert not siege.neighbour & {"sees-tmp", "sees-run", "sees-processes"}
    assert siege.left_on_machine == []


def test_sockets_under_tmp_and_run_are_not_there(siege: Siege) -> None:
    assert not siege.got & {"socket-tmp", "socket-run"}


def test_a_suid_program_gives_nothing_and_none_gets_into_a_patch(siege: Siege) -> None:
    assert "suid-made" in siege.got
    folder = Path(siege.race.document["folder"], "patches.git")
    assert siege.place.git("ls-tree", "claude", "suid-shell", cwd=folder).startswith("100755 ")
    assert siege.place.state.stat().st_mode & 0o077 == 0


# Processes


@by_account
def test_an_agent_that_kills_all_it_can_name_ends_only_itself(place: Place) -> None:
    needs_bwrap(place.uid)
    keeper = "kill -STOP 1; kill -9 1; kill -9 $PPID $(seq 2 4194304 | shuf -n 20000)"
    place.agent("claude", [fakes.edit("half.txt", "half\n"), sh(keeper, "kill -9 -1"), DONE])
    os.mkfifo(place.scratch / "go")
    place.agent("codex", [sh(f"read x < {place.scratch}/go"), fakes.edit("a.txt", "a\n"), DONE])
    place.hand_over()
    ended = {}
    with place.start("race", "Do it", "-a", "claude", "-a", "codex", "--events") as racing:
        assert racing.stdout is not None
        for line in racing.stdout:
            event = json.loads(line)
            if event["kind"] == "lane_ended":
                ended[event["lane"]] = event["data"]["status"]
            if event["kind"] == "agent_exited" and event["lane"] == "claude":
                assert event["data"]["signal"] == 9
                (place.scratch / "go").write_text("go\n")
    assert racing.returncode == 1
    assert ended == {"claude": "failed", "codex": "completed"}
    folder = place.run("runs", "path").stdout.strip()
    assert place.taken(folder, "claude", "half.txt") == "half"


@by_ordinary
def test_unconfined_a_killed_keeper_is_told_and_the_neighbour_goes_on(place: Place) -> None:
    # Only what is the lane's own: keeper and guard, by their place above the agent.
    keeper = (
        "up() { cut -d' ' -f4 /proc/$1/stat; }",
        "keeper=$(up $PPID); guard=$(up $keeper); setsid sleep 1000 & kill -9 $guard $keeper",
    )
    place.agent("claude", [fakes.edit("half.txt", "half\n"), sh(*keeper), fakes.hang()])
    place.agent("codex", [fakes.edit("a.txt", "a\n"), DONE])
    place.without("bwrap")
    place.hand_over()
    race = place.race("-a", "claude", "-a", "codex", "--unsafe-full-access")
    assert race.lane("codex")["status"] == "completed"
    assert race.lane("claude")["status"] == "failed"
    assert place.taken(race.document["folder"], "claude", "half.txt") == "half"


# Places that must still work


@by_account
def test_repository_home_and_tools_under_tmp(uid: int) -> None:
    needs_bwrap(uid)
    with ExitStack() as stack:
        place = place_for(uid, stack)
        top = Path(tempfile.mkdtemp(prefix="hydra-trust-", dir="/tmp"))
        stack.callback(shutil.rmtree, top)
        top.chmod(0o755)
        place.repo, place.home = make_repository(top / "shop"), top / "home"
        furnish(place.home)
        tool = top / "opt" / "bin" / "tool"
        tool.parent.mkdir(parents=True)
        (top / "opt" / "lib").mkdir()
        (top / "opt" / "lib" / "part.sh").write_text("part")
        tool.write_text('#!/bin/sh\ncat "${0%/*}/../lib/part.sh"\n')
        tool.chmod(0o755)
        place.path.append(tool.parent)
        place.extra["HYDRA_SHOW"] = str(top / "opt")
        look = attempts(
            history="git log --format=%s | grep -q First",
            change="git -c user.name=A -c user.email=a@example.com commit -qam work",
            tool='[ "$(tool)" = part ]',
            settings="grep -q made-up $HOME/.claude/.credentials.json",
            notes="test -e $HOME/notes",
            repository="test -e $REPO/draft.txt",
        )
        place.agent("claude", [sh(f"REPO={place.repo}", "echo x >> README.md", look), DONE])
        (place.repo / "draft.txt").write_text("not committed\n")
        place.hand_over(top)
        before = exactly(place.home)
        race = place.race("-a", "claude")
        assert race.code == 0, race
        got = place.taken(race.document["folder"], "claude").split()
        assert got == ["history", "change", "tool", "settings"]
        assert exactly(place.home) == before


@by_account
def test_a_home_with_spaces_quotes_and_letters_of_the_world(uid: int) -> None:
    needs_bwrap(uid)
    with ExitStack() as stack:
        place = place_for(uid, stack, name="Ada's home \u2602 \u00e9")
        look = attempts(
            settings='echo evil > "$HOME/.claude/settings.json"',
            sign_in='grep -q made-up "$HOME/.claude/.credentials.json"',
            key='test -s "$HOME/.ssh/id_ed25519"',
            notes='test -e "$HOME/notes"',
        )
        place.agent("claude", [sh(look), DONE])
        place.hand_over()
        before = exactly(place.home)
        race = place.race("-a", "claude")
        assert place.taken(race.document["folder"], "claude").split() == ["settings", "sign_in"]
        assert exactly(place.home) == before


@by_account
def test_a_home_without_any_settings_gets_none(place: Place) -> None:
    needs_bwrap(place.uid)
    shutil.rmtree(place.home)
    place.home.mkdir()
    (place.home / "notes").write_text("the user's")
    tries = attempts(
        hook='mkdir -p "$CLAUDE_CONFIG_DIR" && echo evil > "$CLAUDE_CONFIG_DIR/settings.json"',
        default='mkdir -p "$HOME/.claude" && echo evil > "$HOME/.claude/settings.json"',
    )
    place.agent("claude", [sh(tries), DONE])
    place.hand_over()
    before = exactly(place.home)
    race = place.race("-a", "claude")
    assert place.taken(race.document["folder"], "claude").split() == ["hook", "default"]
    assert exactly(place.home) == before


@by_account
def test_an_agent_that_is_installed_in_its_own_settings_folder(place: Place) -> None:
    needs_bwrap(place.uid)
    program = place.agent("claude", [sh(attempts(write=": >> $HOME/.claude/local/claude")), DONE])
    local = place.home / ".claude" / "local"
    local.mkdir()
    shutil.copy(program, local / "claude")
    place.path = [local]
    place.hand_over()
    race = place.race("-a", "claude", "--keep", "all")
    assert race.lane("claude")["status"] == "completed", race.lane("claude")
    assert place.taken(race.document["folder"], "claude") == ""


def test_names_resolve_where_the_resolvers_file_is_a_link_into_run(tmp_path: Path) -> None:
    needs_bwrap(os.geteuid())
    with ExitStack() as stack:
        place = place_for(os.geteuid(), stack)
        place.agent("claude", [sh("cat /etc/resolv.conf; ls /run"), DONE])
        (place.scratch / "stub").write_text("nameserver 192.0.2.53\n")
        real = "/run/systemd/resolve/stub-resolv.conf"
        etc = [entry for entry in Path("/etc").iterdir() if entry.name != "resolv.conf"]
        place.wrap = [
            *("bwrap", "--dev-bind", "/", "/", "--tmpfs", "/run", "--tmpfs", "/etc"),
            *(term for entry in etc if not entry.is_symlink() for term in bound(entry)),
            *(term for entry in etc if entry.is_symlink() for term in linked(entry)),
            *("--symlink", f"..{real}", "/etc/resolv.conf"),
            *("--ro-bind", str(place.scratch / "stub"), real, "--"),
        ]
        race = place.race("-a", "claude")
        lines = place.taken(race.document["folder"], "claude").split("\n")
        assert lines == ["nameserver 192.0.2.53", "systemd"]


def bound(entry: Path) -> tuple[str, str, str]:
    return ("--ro-bind-try", str(entry), str(entry))


def linked(entry: Path) -> tuple[str, str, str]:
    return ("--symlink", str(entry.readlink()), str(entry))


# Where nothing confines


HARM = r"""
git commit -qam work; git stash -q; git branch -f main HEAD; git tag -f v1
git config alias.st '!evil'; git gc -q --prune=now; git worktree prune
hooks=$(git rev-parse --git-path hooks); mkdir -p $hooks
for hook in post-checkout pre-commit post-commit post-index-change reference-transaction; do
    printf '#!/bin/sh\ntouch %s\n' "$RAN" > $hooks/$hook; chmod +x $hooks/$hook
done
printf '#!/bin/sh\ntouch %s\n' "$RAN" > $TMPDIR/monitor; chmod +x $TMPDIR/monitor
git config core.fsmonitor $TMPDIR/monitor; git config filter.x.clean "touch $RAN"
echo '* filter=x' > .gitattributes; rm -f $RAN
echo evil > $CLAUDE_CONFIG_DIR/settings.json; mkdir -p $CLAUDE_CONFIG_DIR/hooks
echo cached > $XDG_CACHE_HOME/left
echo kept > kept.txt
"""


@pytest.mark.parametrize("access", [(), ("--unsafe-full-access",)], ids=["edit", "full"])
@by_ordinary
def test_unconfined_gits_own_commands_and_settings_by_variable_stay_in_the_lane(
    place: Place, access: tuple[str, ...]
) -> None:
    ran = place.scratch / "ran"
    place.agent("claude", [fakes.daemon(clear_env=True), sh(f"RAN={ran}\n{HARM}"), DONE])
    place.without("bwrap")
    place.hand_over()
    home, repo = exactly(place.home), exactly(place.repo)
    race = place.race("-a", "claude", *access)
    assert race.code == 0, race
    assert place.taken(race.document["folder"], "claude", "kept.txt") == "kept"
    assert not ran.exists()
    assert exactly(place.home) == home
    # git renews the mtime of an object that it is given again, in an alternate, too.
    assert timeless(differences(repo, exactly(place.repo))) == {}
    assert any("left running and ended" in line for line in race.lane("claude")["warnings"])


def hamper(place: Place, how: str) -> str:
    """Takes bwrap away; the reason that a run must give."""
    if how == "missing":
        place.without("bwrap")
        return "bubblewrap (bwrap) is not installed"
    place.refused_bwrap(REFUSAL)
    return "AppArmor does not let bwrap use user namespaces (setting up uid map: Permission denied)"


@pytest.mark.parametrize("how", ["missing", "refused"])
@by_ordinary
def test_unconfined_every_run_says_so_in_one_line_and_lowers_the_permission(
    place: Place, how: str
) -> None:
    calls = fakes.Calls(place.scratch)
    for agent in ("claude", "codex"):
        place.agent(agent, [fakes.edit("a.txt", "a\n"), DONE], record=calls.path)
    reason = hamper(place, how)
    place.hand_over()
    calls.path.chmod(0o666)
    line = f"not confined ({reason}); claude: edits only, no commands"
    race = place.race("-a", "claude", "-a", "codex")
    runs = {
        "document": race.document["warnings"],
        "screen": place.run("race", "x", "-a", "claude", "-a", "codex").stderr.splitlines(),
        "plan": json.loads(place.run("race", "x", "--dry-run", "--json").stdout)["warnings"],
    }
    for where, lines in runs.items():
        assert [document for document in lines if line in document], (where, lines)
    assert race.document["confinement"]["kind"] == "none"
    argvs = [c["argv"] for c in calls.so_far() if c["stdin"] is not None]
    calls.close()
    assert {option(argv, "--permission-mode", "--sandbox") for argv in argvs} == {
        "acceptEdits",
        "workspace-write",
    }


def option(argv: Any, *names: str) -> str:
    return next(str(argv[argv.index(name) + 1]) for name in names if name in argv)


@by_ordinary
def test_unconfined_an_outright_full_auto_is_refused(place: Place) -> None:
    place.agent("claude", [DONE])
    hamper(place, "refused")
    place.hand_over()
    done = place.run("race", "x", "-a", "claude", "--permission", "full-auto")
    assert done.returncode == 3
    assert "nothing confines it" in done.stderr
    assert "--permission edit" in done.stderr


@by_ordinary
def test_unconfined_the_repositorys_set_up_is_skipped_by_name(place: Place) -> None:
    place.agent("claude", [fakes.edit("a.txt", "a\n"), DONE])
    place.without("bwrap")
    (place.repo / "hydra.toml").write_text(f'[race]\nsetup = ["touch {place.scratch}/ran"]\n')
    place.hand_over()
    race = place.race("-a", "claude")
    assert not (place.scratch / "ran").exists()
    assert [line for line in race.document["warnings"] if "set-up commands are skipped" in line]


@by_account
def test_the_repositorys_set_up_runs_inside_the_walls(place: Place) -> None:
    needs_bwrap(place.uid)
    tries = f"touch {place.scratch}/ran; touch $HOME/new; grep -q . $HOME/.netrc && touch read; :"
    (place.repo / "hydra.toml").write_text(f"[race]\nsetup = ['{tries}']\n")
    place.agent("claude", [fakes.edit("a.txt", "a\n"), DONE])
    place.hand_over()
    before = exactly(place.home)
    race = place.race("-a", "claude")
    assert race.lane("claude")["patch"]["files"] == 1
    assert not (place.scratch / "ran").exists()
    assert exactly(place.home) == before


@by_account
def test_full_access_says_so_and_still_ends_every_process(place: Place) -> None:
    needs_bwrap(place.uid)
    place.agent("claude", [fakes.daemon(clear_env=True), sh("touch $HOME/new"), DONE])
    place.hand_over()
    race = place.race("-a", "claude", "--unsafe-full-access")
    assert (place.home / "new").exists()
    documents = [
        line for line in race.document["warnings"] if "can read and change everything" in line
    ]
    assert len(documents) == 1
    assert any("left running and ended" in line for line in race.lane("claude")["warnings"])


@by_account
def test_with_full_access_the_repositorys_own_commands_are_skipped(place: Place) -> None:
    needs_bwrap(place.uid)
    place.agent("claude", [fakes.edit("a.txt", "a\n"), DONE])
    ran = f"touch {place.scratch}/ran"
    (place.repo / "hydra.toml").write_text(f'[race]\nsetup = ["{ran}"]\ncheck = ["it={ran}"]\n')
    place.hand_over()
    race = place.race("-a", "claude", "--unsafe-full-access")
    assert "  not confined" in race.stderr
    documents = [line for line in race.document["warnings"] if "are skipped" in line]
    assert len(documents) == 2
    done = place.run("check")
    assert done.returncode == 3
    assert "nothing confines the repository's checks here" in done.stderr
    assert not (place.scratch / "ran").exists()

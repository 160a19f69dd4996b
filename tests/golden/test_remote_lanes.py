"""Lanes that run elsewhere, through the real `hydra race`: a real sshd, stand-ins for the rest."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.conftest import commit, git
from tests.support import fakes, remotes, sshd
from tests.support.command import Hydra, Race
from tests.support.processes import wait_until
from tests.support.remotes import Away

pytestmark = pytest.mark.slow

needs_sshd = pytest.mark.skipif(not sshd.program(), reason="no sshd or ssh here")
SECRET = "made-up-anthropic-key"
FULL = ("-a", "far", "--permission", "full-auto")

WORK = r"""
set -e
printf '\000\001\377bin' > blob.bin
ln -s ../README.md src/link
printf '#!/bin/sh\n' > run.sh; chmod +x run.sh
rm src/pager.py
mkdir -p 'a dir'; printf x > "a dir/$(printf 'two\nlines')"
printf 'no\n' > ignored.log
printf 'changed\n' >> README.md
ln README.md second
printf -- '-\n' > ./-dash
git log --format=%s > log.txt; git status --short | sort > status.txt
"""


@pytest.fixture
def away(hydra: Hydra) -> Iterator[Away]:
    """Nothing of a lane is left there, whatever became of it."""
    away = Away(hydra)
    yield away
    assert away.folders == []


@pytest.fixture
def server(away: Away) -> Iterator[sshd.Sshd]:
    served = sshd.start(away.hydra.scratch / "sshd", path=away.path, home=away.root / "home")
    away.options = served.options
    away.lead(host="gpubox")
    yield served
    served.stop()


def check_work(race: Race) -> Path:
    assert race.code == 0, race.stderr
    lane = race.lane("far")
    assert lane["status"] == "completed"
    patches = Path(race.document["folder"]) / "patches.git"
    names = git(
        patches, "diff", "--name-status", "--no-renames", "-z", lane["patch"]["base"], "far"
    )
    changed = names.rstrip("\0").split("\0")
    assert dict(zip(changed[1::2], changed[::2], strict=True)) == {
        "-dash": "A",
        "README.md": "M",
        "a dir/two\nlines": "A",
        "blob.bin": "A",
        "log.txt": "A",
        "run.sh": "A",
        "second": "A",
        "src/link": "A",
        "src/pager.py": "D",
        "status.txt": "A",
    }
    blob = subprocess.run(["git", "show", "far:blob.bin"], cwd=patches, capture_output=True)
    assert blob.stdout == b"\x00\x01\xffbin"
    modes = {
        line.split("\t")[1]: line.split()[0]
        for line in git(patches, "ls-tree", "-r", "far").splitlines()
    }
    assert (modes["run.sh"], modes["src/link"], modes["README.md"]) == (
        "100755",
        "120000",
        "100644",
    )
    assert git(patches, "show", "far:src/link") == "../README.md"
    assert git(patches, "show", "far:log.txt") == "base"
    return Path(race.document["folder"])


@needs_sshd
def test_an_agent_on_another_machine(away: Away, server: sshd.Sshd) -> None:
    away.agent([fakes.shell("sh", "-c", WORK), fakes.stderr("a word"), fakes.finish("done")])
    (away.root / "home/.bashrc").write_text("echo Welcome; echo 'to the box' >&2\n")
    race = away.hydra.race(*FULL)
    folder = check_work(race)
    lane = race.lane("far")
    assert lane["remote"]["name"] == "box"
    assert (lane["remote"]["mode"], lane["remote"]["target"]) == ("ssh", "gpubox over ssh")
    assert (lane["permission"], lane["version"]) == ("full-auto", "2.1.330")
    assert "not confined by Hydra: it runs on gpubox over ssh" in lane["warnings"]
    assert (folder / "lanes/far/stderr.txt").read_text().strip() == "a word"
    raw = (folder / "lanes/far/raw.jsonl").read_text()
    assert all(json.loads(line) for line in raw.splitlines())
    patches = folder / "patches.git"
    status = git(patches, "show", "far:status.txt").splitlines()
    assert " D src/pager.py" in status
    assert "?? blob.bin" in status
    assert not any("ignored" in line for line in status)


@needs_sshd
def test_the_environment_there_and_no_secret_on_any_command_line(
    away: Away, server: sshd.Sshd
) -> None:
    look = "env | sort > env.txt; cat /proc/[0-9]*/cmdline > lines.txt 2>/dev/null; ls ../.. > ls"
    away.agent([fakes.shell("sh", "-c", look), fakes.finish("done")])
    race = away.hydra.race(*FULL)
    patches = Path(race.document["folder"]) / "patches.git"
    env = dict(
        line.partition("=")[::2] for line in git(patches, "show", "far:env.txt").splitlines()
    )
    assert env["ANTHROPIC_API_KEY"] == SECRET  # the patch is the agent's own
    assert "CODEX_API_KEY" not in env
    assert "HYDRA_STATE_DIR" not in env
    assert env["HOME"] == str(away.root / "home")
    assert (
        SECRET.encode()
        not in subprocess.run(
            ["git", "show", "far:lines.txt"], cwd=patches, capture_output=True
        ).stdout
    )
    assert "agent.sh" not in git(patches, "show", "far:ls").splitlines()
    lane = Path(race.document["folder"]) / "lanes/far"
    for file in (lane / "raw.jsonl", lane.parent.parent / "plan.json"):
        assert SECRET not in file.read_text()


@needs_sshd
def test_full_auto_is_for_whom_asks_outright(away: Away, server: sshd.Sshd) -> None:
    away.agent([fakes.finish("done")])
    document = json.loads(away.hydra.run("race", "x", "-a", "far", "--dry-run", "--json").stdout)
    (lane,) = document["lanes"]
    assert lane["permission"] == "edit"
    assert lane["remote"]["folder"].startswith(str(away.root / "tmp" / "hydra-"))
    assert lane["command"]["cwd"] == f"{lane['remote']['folder']}/work/shop"
    assert lane["command"]["argv"][0] == "claude"
    assert "acceptEdits" in lane["command"]["argv"]
    outright = json.loads(away.hydra.run("race", "x", *FULL, "--dry-run", "--json").stdout)[
        "lanes"
    ][0]
    assert outright["permission"] == "full-auto"
    assert "bypassPermissions" in outright["command"]["argv"]


@needs_sshd
@pytest.mark.parametrize("deaf", [False, True])
def test_ctrl_c_takes_the_work_and_leaves_nothing(
    away: Away, server: sshd.Sshd, deaf: bool
) -> None:
    """Neither of an agent that heeds no signal, nor of its daemons."""
    gate = fakes.Barrier(away.hydra.scratch, "edited")
    before = [fakes.ignore("SIGINT", "SIGTERM"), fakes.daemon(name=away.mark)] if deaf else []
    away.agent([*before, fakes.edit("half.txt", "half\n"), gate.arrive(), fakes.hang()])
    settings = away.hydra.home / "hydra.toml"
    if deaf:
        limits = '[limits]\ngrace_int = "1s"\ngrace_term = "8s"\n'
        settings.write_text(f"{settings.read_text()}{limits}")
    child = away.hydra.start("race", "x", *FULL, "--json")
    gate.wait()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    lane = json.loads(out)["lanes"][0]
    assert (lane["status"], lane["patch"]["files"]) == ("interrupted", 1), err
    assert fakes.left(away.mark) == []


@needs_sshd
def test_nothing_is_left_there_when_hydra_is_killed(away: Away, server: sshd.Sshd) -> None:
    gate = fakes.Barrier(away.hydra.scratch, "there")
    away.agent([fakes.daemon(name=away.mark), gate.arrive(), fakes.hang()])
    child = away.hydra.start("race", "x", *FULL)
    gate.wait()
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=60)
    assert fakes.left(away.mark) == []
    assert wait_until(lambda: away.folders == [], 60)
    assert fakes.left(str(away.root)) == []


@needs_sshd
def test_a_line_that_is_cut_says_so_and_keeps_what_came(away: Away, server: sshd.Sshd) -> None:
    gate = fakes.Barrier(away.hydra.scratch, "edited")
    away.agent(
        [fakes.say("I begin"), fakes.edit("half.txt", "half\n"), gate.arrive(), fakes.hang()]
    )
    child = away.hydra.start("race", "x", *FULL, "--json")
    gate.wait()
    for pid in server.sessions:
        os.kill(pid, signal.SIGKILL)
    out, err = child.communicate(timeout=90)
    lane = json.loads(out)["lanes"][0]
    assert (lane["status"], lane["error"]["reason"]) == ("failed", "line_lost"), err
    assert "the line to gpubox over ssh was lost" in lane["error"]["message"]
    assert lane["patch"]["files"] == 1
    folder = Path(json.loads(out)["folder"])
    assert "I begin" in (folder / "lanes/far/raw.jsonl").read_text()
    assert wait_until(lambda: away.folders == [], 60)


@needs_sshd
def test_a_folder_that_cannot_be_made_there(away: Away, server: sshd.Sshd) -> None:
    away.agent([fakes.finish("done")])
    away.lead(host="gpubox", workdir=str(away.root / "missing"))
    lane = away.hydra.race(*FULL).lane("far")
    assert (lane["status"], lane["error"]["kind"]) == ("failed", "SpawnFailed")
    assert "no folder could be made on gpubox over ssh" in lane["error"]["message"]
    assert "No such file or directory" in lane["error"]["message"]


MODES = {
    "container": ("docker", {"mode": "docker", "container": "agents"}),
    "image": ("docker", {"mode": "docker", "image": "agents:latest"}),
    "pod": ("kubectl", {"mode": "k8s", "pod": "agents-0", "namespace": "lab", "context": "far"}),
}


@pytest.mark.parametrize("kind", MODES)
def test_containers_and_pods_by_stand_ins(away: Away, kind: str) -> None:
    program, remote = MODES[kind]
    log = away.stand_in(program)
    away.agent([fakes.shell("sh", "-c", WORK), fakes.finish("done")])
    away.lead(**remote)
    race = away.hydra.race(*FULL)
    check_work(race)
    calls = remotes.said(log)
    assert not any(SECRET in term for call in calls for term in call)
    heads = {tuple(call[: call.index("-c")]) for call in calls if "-c" in call}
    if kind == "container":
        assert heads == {("exec", "-i", "agents", "sh")}
    elif kind == "pod":
        where = ("--context=far", "--namespace=lab", "exec", "-i", "agents-0", "--", "sh")
        assert heads == {where}
    else:
        text = next(call for call in calls if call[0] == "rm")[-1]
        assert ("exec", "-i", text, "sh") in heads
        run = ("run", "--rm", "-i", f"--name={text}", "--entrypoint=sh", "agents:latest")
        assert run in heads


def only_these(away: Away, links: Mapping[str, str | None]) -> None:
    """Of programs there are these alone there, by name and what each is."""
    tools = away.hydra.scratch / "tools"
    tools.mkdir()
    for name, program in links.items():
        (tools / name).symlink_to(str(program))
    stand_in = away.hydra.scratch / "stand-ins" / "docker"
    text = stand_in.read_text().replace(away.path, f"{away.root}/agents/bin:{tools}")
    stand_in.write_text(text)


def test_a_place_that_has_busybox_alone(away: Away) -> None:
    log = away.stand_in("docker")
    box = shutil.which("busybox")
    applets = subprocess.run([str(box), "--list"], capture_output=True, text=True, check=True)
    # git is another program everywhere; the scripted agent is Python.
    others = {"git": shutil.which("git"), "python3": shutil.which("python3")}
    only_these(away, dict.fromkeys(applets.stdout.split(), box) | others)
    away.agent(
        [*(fakes.shell("sh", "-c", WORK), fakes.daemon(name=away.mark), fakes.finish("done"))]
    )
    away.lead(mode="docker", container="agents")
    check_work(away.hydra.race(*FULL))
    assert fakes.left(away.mark) == []
    assert log.exists()


def test_without_git_there_all_comes_back(away: Away) -> None:
    away.stand_in("docker")
    text = "sh tar setsid grep cat mkdir rm sleep mkfifo xargs find ls uname id env chmod printf"
    programs = (*text.split(), "mktemp", "timeout", "ln", "python3", "cut", "dirname")
    only_these(away, {name: shutil.which(name) for name in programs})
    away.agent(
        [fakes.shell("sh", "-c", "rm -r src; echo x > src; echo y > new"), fakes.finish("done")]
    )
    away.lead(mode="docker", container="agents")
    race = away.hydra.race(*FULL)
    assert race.code == 0, race.stderr
    lane = race.lane("far")
    assert any("git is not on container agents" in document for document in lane["warnings"])
    patches = Path(race.document["folder"]) / "patches.git"
    names = git(patches, "diff", "--name-status", "--no-renames", lane["patch"]["base"], "far")
    assert names.split() == ["A", "new", "A", "src", "D", "src/pager.py"]


def test_a_hostile_name_another_object_format_and_line_endings(scratch: Path) -> None:
    root = scratch / 'it\'s a "shop" $(touch oops) `id` \\ *'
    (root / "src").mkdir(parents=True)
    (root / ".gitattributes").write_text("*.txt text eol=crlf\n*.bin -text\n")
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / "raw.bin").write_bytes(b"\r\n\0\n")
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.com")
    commit(root, "First")
    away = Away(Hydra(scratch, root))
    away.stand_in("docker")
    look = "git status --porcelain > seen.bin; printf 'one\\r\\nthree\\r\\n' > dos.txt"
    away.agent([fakes.shell("sh", "-c", look), fakes.finish("done")])
    away.lead(mode="docker", container="agents")
    race = away.hydra.race(*FULL)
    assert race.code == 0, race.stderr
    patches = Path(race.document["folder"]) / "patches.git"
    base = race.lane("far")["patch"]["base"]
    assert len(base) == 64
    assert git(patches, "diff", "--numstat", base, "far") == "1\t1\tdos.txt\n1\t0\tseen.bin"
    assert git(patches, "show", "far:seen.bin") == "?? seen.bin"
    assert git(patches, "show", "far:dos.txt") == "one\nthree"  # as the attributes keep it
    assert not list(scratch.rglob("oops"))


def test_a_place_that_cannot_be_reached_costs_its_own_lane_alone(away: Away) -> None:
    away.hydra.agent("claude", [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    away.lead(mode="k8s", pod="agents-0")  # and no kubectl that leads anywhere
    broken = away.hydra.scratch / "stand-ins"
    broken.mkdir()
    (broken / "kubectl").write_text("#!/bin/sh\necho 'error: no such pod' >&2\nexit 1\n")
    (broken / "kubectl").chmod(0o755)
    away.hydra.path.insert(0, broken)
    race = away.hydra.race("-a", "far", "-a", "claude")
    assert race.code == 1, race.stderr
    error = race.lane("far")["error"]
    assert (race.lane("far")["status"], error["reason"]) == ("not_started", "unreachable")
    assert error["message"] == "pod agents-0 cannot be reached: error: no such pod"
    assert race.lane("claude")["status"] == "completed"

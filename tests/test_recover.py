"""A run whose Hydra was killed is brought to its end by the next command, once, and only then."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import pytest

from hydra import paths
from hydra.process.identity import ProcessIdentity
from hydra.race.recovery import processes
from hydra.race.recovery import startup as app
from hydra.race.recovery.startup import unfinished
from hydra.records.store.writer import RunStore
from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import running, token, wait_until
from tests.support.storm import storm, summary
from tests.support.worlds import Laid, world


class Killed(NamedTuple):
    hydra: Hydra
    folder: Path


def killed_race(hydra: Hydra, *before: fakes.Step, lanes: tuple[str, ...] = ("claude",)) -> Path:
    """The folder of a race whose Hydra was killed while every agent had edited and now hangs."""
    gate = fakes.Barrier(hydra.scratch, f"edited-{time.monotonic_ns()}")
    for lane in lanes:
        hydra.agent(
            lane, [fakes.edit("work.txt", f"{lane}\n"), *before, gate.arrive(), fakes.hang()]
        )
    process = hydra.start("race", "Do it", "-q", *(w for lane in lanes for w in ("-a", lane)))
    gate.wait(len(lanes))
    process.kill()
    process.communicate()
    return sorted(hydra.state.glob("*/runs/[!.]*"))[-1]


@pytest.fixture(scope="module")
def killed_world() -> Iterator[Laid]:
    with world(killed_race) as laid:
        yield laid


@pytest.fixture
def killed(killed_world: Laid) -> Iterator[Killed]:
    """A race of one lane whose Hydra was killed, and the Hydra that comes next."""
    hydra = killed_world()
    (folder,) = hydra.state.glob("*/runs/[!.]*")
    yield Killed(hydra, folder)
    assert fakes.left(str(hydra.scratch)) == []


def lanes_of(folder: Path) -> dict[str, dict[str, Any]]:
    result = json.loads((folder / "result.json").read_text())
    return {lane["lane"]: lane for lane in result["lanes"]}


def events_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def shown(folder: Path, what: str) -> str:
    return git(folder / "patches.git", "show", what)


@pytest.mark.slow
def test_the_next_command_takes_the_patches_and_says_so_in_one_line(hydra: Hydra) -> None:
    folder = killed_race(hydra, lanes=("claude", "codex"))
    process = hydra.run("runs", "--json")
    assert process.returncode == 0
    assert process.stderr == f"hydra: recovered run {folder.name}: 2 patches taken\n"
    assert json.loads(process.stdout)["runs"][0]["state"] == "ended"
    for name, lane in lanes_of(folder).items():
        assert lane["status"] == "interrupted"
        assert (lane["error"]["kind"], lane["error"]["reason"]) == ("Interrupted", "hydra_killed")
        assert lane["patch"]["files"] == 1
        assert shown(folder, f"{name}:work.txt") == name
        assert f"Hydra-Run: {folder.name}" in git(folder / "patches.git", "log", "-1", name)
    assert hydra.run("runs").stderr == ""


@pytest.mark.slow
def test_the_record_goes_on_where_it_ended(killed: Killed) -> None:
    hydra, folder = killed
    before = events_of(folder)
    hydra.run("runs")
    after = events_of(folder)
    assert after[: len(before)] == before
    kinds = [event["kind"] for event in after[len(before) :]]
    assert kinds == ["run_warning", "patch_taken", "lane_ended", "run_ended"]
    assert [event["seq"] for event in after] == list(range(1, len(after) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
def test_a_torn_last_line_is_ended_or_cut(killed: Killed, whole: bool) -> None:
    hydra, folder = killed
    events = folder / "events.jsonl"
    before = events_of(folder)
    events.write_bytes(events.read_bytes()[: -1 if whole else -9])
    hydra.run("runs")
    number = len(before) if whole else len(before) - 1
    assert events_of(folder)[:number] == before[:number]
    assert events_of(folder)[number]["kind"] == "run_warning"


@pytest.mark.slow
def test_a_live_run_is_left_alone(hydra: Hydra) -> None:
    gate = fakes.Barrier(hydra.scratch, "edited")
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), *gate.stop(), fakes.finish("done")])
    process = hydra.start("race", "Do it", "-q", "-a", "claude", "--json")
    gate.wait()
    completed = hydra.run("runs", "--json")
    assert completed.stderr == ""
    assert json.loads(completed.stdout)["runs"][0]["state"] == "running"
    gate.open()
    stdout, _ = process.communicate(timeout=60)
    assert json.loads(stdout)["lanes"][0]["status"] == "completed"


@pytest.mark.slow
def test_a_run_another_hydra_recovers_is_left_to_it(killed: Killed) -> None:
    hydra, folder = killed
    with (folder / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert RunStore.reopen(folder) is None
    store = RunStore.reopen(folder)
    assert store is not None
    store.close()
    hydra.run("runs")
    assert RunStore.reopen(folder) is None


@pytest.mark.slow
def test_a_recovery_that_was_killed_too_is_done_again(killed: Killed) -> None:
    """Killed after its patch, then after its events: the patch stays, nothing is told twice."""
    hydra, folder = killed
    hydra.run("runs")
    commit = git(folder / "patches.git", "rev-parse", "claude")
    whole = events_of(folder)
    (folder / "result.json").unlink()
    assert "0 patches taken" in hydra.run("runs").stderr
    assert lanes_of(folder)["claude"]["patch"]["commit"] == commit
    kinds = [event["kind"] for event in events_of(folder)]
    assert kinds.count("lane_ended") == kinds.count("run_ended") == 1
    assert len(events_of(folder)) == len(whole) + 1  # one more word that Hydra was killed


@pytest.mark.slow
def test_killed_while_the_patch_is_taken_it_is_the_same_patch(killed: Killed) -> None:
    hydra, folder = killed
    patches = folder / "patches.git"
    half = (
        folder / "lanes" / "claude" / f"draft-{os.getpid()}"
    )  # of one whose number a living one has
    half.mkdir()
    (half / "index").write_bytes(b"DIRC half")
    (patches / "refs" / "heads").mkdir(exist_ok=True)
    (patches / "refs" / "heads" / "claude.lock").touch()
    (patches / "packed-refs.lock").touch()
    hydra.run("runs")
    assert not half.exists()
    assert shown(folder, "claude:work.txt") == "claude"
    assert git(patches, "diff", "--name-only", "claude^", "claude") == "work.txt"


@pytest.mark.slow
def test_what_was_copied_in_or_left_by_the_set_up_stays_out_of_the_patch(hydra: Hydra) -> None:
    """Also when the file that named it has changed since."""
    (hydra.repo / ".env").write_text("KEY=made-up\n")
    (hydra.repo / ".worktreeinclude").write_text(".env\n")
    (hydra.repo / ".gitignore").write_text("*.log\n.env\n")
    commit(hydra.repo, "Include .env")
    hydra.extra["HYDRA_SETUP"] = "mkdir .venv && touch .venv/made made.txt"
    folder = killed_race(hydra, fakes.shell("sh", "-c", "sed -i /.env/d .gitignore; test -f .env"))
    (hydra.repo / ".worktreeinclude").write_text("")
    hydra.run("runs")
    names = git(folder / "patches.git", "ls-tree", "-r", "--name-only", "claude").splitlines()
    assert "work.txt" in names
    assert not {".env", ".venv/made", "made.txt"} & set(names)


@pytest.mark.slow
def test_a_refreshed_credential_comes_back(hydra: Hydra) -> None:
    own = hydra.home / ".claude" / ".credentials.json"
    own.parent.mkdir()
    own.write_text('{"claudeAiOauth": {"accessToken": "made-up-old"}}')
    refresh = "sed -i s/made-up-old/made-up-new/ ~/.claude/.credentials.json"
    killed_race(hydra, fakes.shell("sh", "-c", refresh))
    hydra.run("runs")
    assert json.loads(own.read_text()) == {"claudeAiOauth": {"accessToken": "made-up-new"}}


@pytest.mark.slow
def test_of_a_hostile_one_nothing_comes_back_and_it_is_told(hydra: Hydra) -> None:
    own = hydra.home / ".claude" / ".credentials.json"
    own.parent.mkdir()
    own.write_text('{"claudeAiOauth": {"accessToken": "made-up-old", "refreshToken": "made-up-1"}}')
    lays = r"""sed -i 's/made-up-old/!evil/; s/made-up-1/made-up-2/' ~/.claude/.credentials.json"""
    folder = killed_race(hydra, fakes.shell("sh", "-c", lays))
    before = own.read_bytes()
    stderr = hydra.run("runs").stderr
    assert f"; lane claude: its renewed sign-in did not go back to {own}: " in stderr
    assert own.read_bytes() == before
    lane = lanes_of(folder)["claude"]
    assert (
        f"its renewed sign-in did not go back to {own}: its accessToken is no token; if yours no"
        " longer works, sign in again"
    ) in lane["warnings"]
    # Its refresh token may be the one that counts.
    beside = Path(lane["worktree"]).parent / "home" / ".claude" / ".credentials.json"
    assert "made-up-2" in beside.read_text()


@pytest.mark.slow
def test_a_worktree_that_is_gone_is_said_once_and_blocks_nobody(hydra: Hydra) -> None:
    folder = killed_race(hydra, lanes=("claude", "codex"))
    [worktree] = hydra.state.glob("g/*/codex/shop")
    shutil.rmtree(worktree)
    process = hydra.run("runs", "--json")
    assert process.returncode == 0
    assert process.stderr.count("\n") == 1
    assert "1 patch taken; lane codex: the worktree is gone" in process.stderr
    assert hydra.run("runs").stderr == ""
    assert lanes_of(folder)["codex"]["patch"] is None
    assert "could not be taken" in lanes_of(folder)["codex"]["error"]["message"]


@pytest.mark.slow
def test_a_repository_that_is_gone_is_said_once_and_blocks_nobody(killed: Killed) -> None:
    hydra, folder = killed
    hydra.repo.rename(hydra.repo.with_name("moved"))
    hydra.repo = hydra.repo.with_name("moved")
    process = hydra.run("runs", "--json")
    assert process.returncode == 0
    assert "its base is gone with the repository" in process.stderr
    assert lanes_of(folder)["claude"]["patch"] is None
    assert "its base is gone" not in hydra.run("runs").stderr
    assert list(hydra.state.glob("g/*/claude/shop/work.txt"))


@pytest.mark.slow
def test_a_damaged_plan_is_said_once_and_blocks_nobody(killed: Killed) -> None:
    hydra, folder = killed
    (folder / "plan.json").write_text("{")
    process = hydra.run("runs", "--json")
    assert process.returncode == 0
    assert "plan.json of run " in process.stderr
    assert hydra.run("runs").stderr == ""


@pytest.mark.slow
def test_without_git_nothing_is_called_lost(killed: Killed) -> None:
    hydra, folder = killed
    hydra.extra["PATH"] = str(hydra.scratch)
    process = hydra.run("doctor")
    del hydra.extra["PATH"]
    assert f"run {folder.name} is not recovered: git was not found" in process.stderr
    assert "1 patch taken" in hydra.run("runs").stderr


def killed_beside_one_that_ended(hydra: Hydra, *work: fakes.Step) -> Path:
    """The folder of a race whose Hydra was killed when claude had ended and codex had not."""
    gate = fakes.Barrier(hydra.scratch, "hangs")
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("all done")])
    hydra.agent("codex", [*work, gate.arrive(), fakes.hang()])
    lanes = ("-a", "claude", "-a", "codex")
    process = hydra.start("race", "Do it", *lanes, "--check", "true", "--events")
    assert process.stdout is not None
    assert any('"lane_ended"' in line for line in process.stdout)
    gate.wait()
    process.kill()
    process.communicate()
    [folder] = hydra.state.glob("*/runs/[!.]*")
    return folder


@pytest.mark.slow
def test_a_lane_that_had_ended_keeps_its_outcome(hydra: Hydra) -> None:
    folder = killed_beside_one_that_ended(hydra, fakes.edit("b.txt", "b\n"))
    assert "1 patch taken" in hydra.run("runs").stderr
    lanes = lanes_of(folder)
    assert (lanes["claude"]["status"], lanes["claude"]["message"]) == ("completed", "all done")
    assert lanes["claude"]["usable"]
    assert lanes["codex"]["status"] == "interrupted"
    ended, recovered = (e["data"] for e in events_of(folder) if e["kind"] == "lane_ended")
    assert [check["status"] for check in ended["checks"]] == ["passed"]
    assert lanes["claude"] == lanes["claude"] | ended
    assert lanes["codex"] == lanes["codex"] | recovered


@pytest.mark.slow
def test_an_outcome_that_cannot_be_read_is_not_known_and_its_patch_stays(hydra: Hydra) -> None:
    events = killed_beside_one_that_ended(hydra) / "events.jsonl"
    events.write_text(events.read_text().replace('"status": "completed"', '"status": "fine"'))
    assert hydra.run("runs").returncode == 0
    lane = lanes_of(events.parent)["claude"]
    assert (lane["status"], lane["patch"]["files"]) == ("interrupted", 1)
    assert lane["message"] == "all done"


# Processes


def sleeper(*, environ: dict[str, str], cwd: Path, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sleep", name], env=environ, cwd=cwd, start_new_session=True, stdin=subprocess.DEVNULL
    )


def test_only_what_carries_the_mark_is_ended(scratch: Path) -> None:
    mine, other = token(), token()
    owner, another = token_hex(8), token_hex(8)  # a sweep goes through the whole machine
    ours = sleeper(environ={"HYDRA_OWNER": owner, "HYDRA_MARK": "1"}, cwd=scratch, name=mine)
    theirs = sleeper(environ={"HYDRA_OWNER": another}, cwd=scratch, name=other)
    try:
        assert processes.end_left(owner, []) == [f"sleep ({ours.pid})"]
        assert ours.wait(60) == -signal.SIGKILL
        assert running(other) == [theirs.pid]
    finally:
        theirs.kill()
        theirs.wait()


def test_a_lanes_own_mark_is_swept(scratch: Path) -> None:
    mark = token_hex(8)
    ours = sleeper(environ={"HYDRA_MARK": mark}, cwd=scratch, name=token())
    theirs = sleeper(environ={"HYDRA_LANE": "claude"}, cwd=scratch, name=token())
    nobody = ProcessIdentity.read({**ProcessIdentity.of(theirs.pid).as_dict(), "boot": "x"})
    try:
        ended = processes.end_left("", [processes.LaneProcesses(mark, nobody, scratch)])
        assert ended == [f"sleep ({ours.pid})"]
        assert theirs.poll() is None
    finally:
        for process in (ours, theirs):
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("text", "ended"), [("leads", True), ("another start", False), ("another boot", False)]
)
def test_a_session_is_ended_by_its_leaders_identity_and_never_by_the_pid_alone(
    scratch: Path, text: str, ended: bool
) -> None:
    leader = sleeper(environ={}, cwd=Path("/"), name=token())
    document = ProcessIdentity.of(leader.pid).as_dict()
    lies: dict[str, dict[str, object]] = {
        "another start": {"start": 1},
        "another boot": {"boot": "x"},
    }
    document |= lies.get(text, {})
    lane = processes.LaneProcesses("", ProcessIdentity.read(document), scratch)
    try:
        assert bool(processes.end_left("", [lane])) is ended
        assert (leader.poll() is not None) is ended or wait_until(lambda: leader.poll() is not None)
    finally:
        leader.kill()
        leader.wait()


@pytest.mark.full  # it is waited for
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not kill it")
def test_what_does_not_die_is_named_and_waited_for_no_longer(scratch: Path) -> None:
    """A set-uid program in an agent's session, or one in the D state: each command would hang."""
    leader = sleeper(environ={}, cwd=Path("/"), name=token())
    lane = processes.LaneProcesses("", ProcessIdentity.of(leader.pid), scratch)
    os.setresuid(65534, 65534, 0)
    try:
        ended = processes.end_left("", [lane])
    finally:
        os.setresuid(0, 0, 0)
        leader.kill()
        leader.wait()
    assert ended == [f"sleep ({leader.pid}, does not die)"]


def test_a_dead_leaders_session_counts_only_in_the_lanes_own_folder(scratch: Path) -> None:
    """The number may be somebody else's session by now: a shell that stands elsewhere lives."""
    inside, outside = token(), token()
    script = f"(cd {scratch}; exec sleep {inside}) & exec sleep {outside} & read line"
    leader = subprocess.Popen(
        ["/bin/sh", "-c", script], env={}, cwd="/", start_new_session=True, stdin=subprocess.PIPE
    )
    identity = ProcessIdentity.of(leader.pid)
    # By their own command lines: that of the shell has both from its start.
    assert wait_until(lambda: running(f"sleep\0{inside}") and running(f"sleep\0{outside}"))
    leader.communicate(b"\n")
    processes.end_left("", [processes.LaneProcesses("", identity, scratch)])
    try:
        assert wait_until(lambda: not running(inside))
        assert running(outside)
    finally:
        for pid in running(outside):
            os.kill(pid, signal.SIGKILL)


# What a killed Hydra leaves before and after a run


def test_a_run_has_its_manifest_before_it_has_its_name(scratch: Path) -> None:
    folder = scratch / "shop-1" / "runs" / "a"
    with pytest.raises(ValueError, match="JSON"):
        RunStore(folder, {"manifest.json": {}, "plan.json": {"no": float("nan")}})
    assert list(folder.parent.iterdir()) == []


def test_a_run_that_never_got_its_name_is_taken_away_once_it_is_old(scratch: Path) -> None:
    unborn = scratch / "shop-1" / "runs" / ".a.new"
    unborn.mkdir(parents=True)
    (unborn / "manifest.json").write_text("{}")
    grounds = paths.ground_dir(scratch, "a", "x").parent
    (grounds / "_frozen" / "links").mkdir(parents=True)
    environ = {"HYDRA_STATE_DIR": str(scratch)}
    app.recover(environ)
    assert unborn.exists()  # its maker may be alive, and without the lock for an instant
    assert grounds.exists()
    os.utime(unborn, (0, 0))
    app.recover(environ)
    assert not unborn.exists()
    assert not grounds.exists()


@pytest.mark.slow
def test_a_removal_that_broke_off_is_ended(killed: Killed) -> None:
    hydra, folder = killed
    hydra.run("runs")
    folder.rename(folder.with_name(f".{folder.name}.gone"))
    process = hydra.run("runs", "--json")
    assert (json.loads(process.stdout)["runs"], process.stderr) == ([], "")
    assert list(folder.parent.iterdir()) == []
    assert list((hydra.state / "g").iterdir()) == []
    assert git(hydra.repo, "for-each-ref", "refs/hydra") == ""


@pytest.mark.slow
def test_a_ground_without_a_run_goes_once_it_is_old(killed: Killed) -> None:
    hydra, folder = killed
    hydra.run("runs")
    path = paths.ground_dir(hydra.state, folder.name, "x").parent
    stray = hydra.state / "g" / "0badf00d"
    (stray / "claude" / "shop").mkdir(parents=True)
    hydra.run("runs")
    assert stray.exists()
    for old in (stray, path):
        os.utime(old, (0, 0))
    hydra.run("runs")
    assert not stray.exists()
    assert path.exists()


def test_a_race_that_is_refused_leaves_no_record(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.finish("done")])
    (hydra.repo / ".git" / "refs" / "hydra").write_text("a file where a folder should be\n")
    done = hydra.run("race", "Do it", "-q", "-a", "claude")
    assert done.returncode == 3
    assert list(hydra.state.glob("*/runs/*")) == []


@pytest.mark.slow
def test_work_is_taken_though_the_event_that_a_lane_was_opened_is_lost(killed: Killed) -> None:
    hydra, folder = killed
    events = folder / "events.jsonl"
    kinds = (b'"lane_opened"', b'"agent_started"', b'"session"', b'"message"', b'"tool_')
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join(line for line in lines if not any(kind in line for kind in kinds)))
    assert "1 patch taken" in hydra.run("runs").stderr


@pytest.mark.slow
def test_worktrees_stay_while_the_disk_with_their_runs_is_not_there(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("notes.log", "a\n"), fakes.fail("error")])
    race = hydra.race("-a", "claude")
    worktree = Path(race.lane("claude")["worktree"])
    grounds = worktree.parent.parent
    shelf = Path(race.document["folder"]).parent.parent
    away = hydra.scratch / "away"
    shelf.rename(away)
    os.utime(grounds, (0, 0))
    shelf.symlink_to(away / "not mounted")
    assert hydra.run("runs").returncode == 0
    assert worktree.is_dir()
    shelf.unlink()
    shelf.mkdir()  # where it was mounted
    assert hydra.run("runs").returncode == 0
    assert worktree.is_dir()
    shelf.rmdir()
    assert unfinished(hydra.state) == ([], set())
    shelf.symlink_to(away)
    os.utime(grounds, (0, 0))
    assert hydra.run("runs", "show").returncode == 0
    assert worktree.is_dir()


def test_nothing_to_recover_costs_next_to_nothing(scratch: Path) -> None:
    for number in range(50):
        store = RunStore(scratch / "shop-1" / "runs" / f"r{number}", {"manifest.json": {}})
        store.write_json("result.json", {})
        store.close()
    assert unfinished(scratch)[0] == []
    room = "hydra.race.recovery"
    code = f"import sys, {room}.startup as r; r.recover(); print('{room}.run' in sys.modules)"
    environ = {**os.environ, "HYDRA_STATE_DIR": str(scratch)}
    line = [sys.executable, "-c", code]
    process = subprocess.run(line, env=environ, capture_output=True, text=True, check=True)
    assert process.stdout == "False\n"


@pytest.mark.parametrize(
    "bwrap",
    [pytest.param(True, marks=pytest.mark.slow), pytest.param(False, marks=pytest.mark.full)],
)
def test_a_short_kill_storm(scratch: Path, bwrap: bool) -> None:
    rounds = storm(scratch, kills=6, seed=20261121, bwrap=bwrap)
    assert [done for done in rounds if done.faults] == [], summary(rounds)

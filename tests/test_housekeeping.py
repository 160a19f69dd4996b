"""What a race may fill, what goes by itself, and what `hydra runs rm` says before it takes it."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.disk import below_minimum
from hydra.race.recovery.retention import sweep
from hydra.records.request import Limits
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.surroundings import mounts
from tests.support.worlds import Laid, world

DAY = 86400.0
Four = tuple[Hydra, list[Path]]
Old = tuple[Hydra, Path]


def raced(hydra: Hydra, *steps: fakes.Step, days: float = 0, options: tuple[str, ...] = ()) -> Path:
    """The folder of a race of one lane, as if it had been `days` ago."""
    hydra.agent("claude", [*steps, fakes.finish("done")])
    hydra.extra["HYDRA_RETENTION"] = "3650d"  # else a slow one sweeps what was made before it
    folder = Path(hydra.race("-a", "claude", *options).document["folder"])
    del hydra.extra["HYDRA_RETENTION"]
    return aged(folder, days)


def aged(folder: Path, days: float) -> Path:
    """A run as if it had been `days` before."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["started"] -= days * DAY
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def empty(hydra: Hydra, days: float = 0) -> Path:
    return raced(hydra, fakes.say("nothing to do"), days=days)


def patched(hydra: Hydra, days: float = 0) -> Path:
    return raced(hydra, fakes.edit("new.txt", "new\n"), days=days)


def failed(hydra: Hydra, days: float = 0) -> Path:
    """One that changed nothing, whose worktree is kept because it failed."""
    return raced(hydra, fakes.fail("error"), days=days)


@pytest.fixture(scope="module")
def raced_four() -> Iterator[Laid]:
    def fill(hydra: Hydra) -> None:
        for race in (empty, patched, failed, empty):
            race(hydra)

    with world(fill) as laid:
        yield laid


@pytest.fixture
def four(raced_four: Laid) -> Four:
    """A race that changed nothing, one with a patch, one that failed, and again the first's like;
    their folders."""
    hydra = raced_four()
    return hydra, sorted(hydra.state.glob("*/runs/*"))


@pytest.fixture
def old(four: Four) -> Old:
    """Of these the first was 31 days ago; its folder."""
    hydra, folders = four
    return hydra, aged(folders[0], 31)


def worktree_of(folder: Path) -> Path:
    return Path(json.loads((folder / "result.json").read_text())["lanes"][0]["worktree"])


def pins(hydra: Hydra) -> list[str]:
    refs = git(hydra.repo, "for-each-ref", "--format=%(refname)", "refs/hydra").splitlines()
    return [ref.split("/")[2] for ref in refs]


# --- what goes by itself ----------------------------------------------------------------------


@pytest.mark.slow
def test_only_old_runs_that_hold_nothing_go(four: Four) -> None:
    hydra, folders = four
    first, *others = (aged(folder, 29) for folder in folders)
    assert sweep(hydra.state, replace(Limits(), retention_bytes=0)) == 0, "of size it is told"
    for folder in folders:
        aged(folder, 2)
    assert sweep(hydra.state, Limits()) == 1
    assert not first.exists()
    assert pins(hydra) == [folder.name for folder in others], "work, and the latest"
    assert sweep(hydra.state, Limits()) == 0


@pytest.mark.slow
def test_a_run_whose_worktree_stands_never_goes_by_itself(four: Four) -> None:
    hydra, folders = four
    folder = aged(folders[2], 31)
    assert worktree_of(folder).is_dir()
    assert sweep(hydra.state, Limits()) == 0
    (worktree_of(folder) / "more.log").write_bytes(bytes(1_000_000))
    rows = json.loads(hydra.run("runs", "--json").stdout)["runs"]
    assert [row["run"] for row in rows if row["size"] > 1_000_000] == [folder.name]
    assert hydra.run("runs").stderr.startswith("hydra: 1 race here over 30d old")
    assert hydra.run("runs", "rm", "--empty", "-y").returncode == 0
    assert worktree_of(folder).is_dir()
    assert hydra.run("runs", "rm", folder.name, "-y").returncode == 0
    assert list((hydra.state / "g").iterdir()) == []


@pytest.mark.slow
def test_what_was_landed_in_part_is_work(hydra: Hydra) -> None:
    steps = (fakes.edit("one.txt", "1\n"), fakes.edit("two.txt", "2\n"))
    folder = raced(hydra, *steps, days=31)
    empty(hydra)
    for picked, goes in (("one.txt", 0), (".", 1)):
        process = hydra.run("merge", "-r", folder.name, "--pick", f"claude:{picked}", "--no-check")
        assert process.returncode == 0, process.stderr
        assert sweep(hydra.state, Limits()) == goes
    assert not folder.exists()


@pytest.mark.slow
def test_a_stash_is_work(hydra: Hydra) -> None:
    stash = "echo x >> README.md && git -c user.name=A -c user.email=a@b stash -q"
    folder = raced(hydra, fakes.shell("sh", "-c", stash), days=31)
    empty(hydra)
    assert json.loads((folder / "result.json").read_text())["lanes"][0]["patch"]["files"] == 0
    assert sweep(hydra.state, Limits()) == 0
    assert "patches of claude" in hydra.run("runs", "rm", folder.name, "-n").stdout


@pytest.mark.slow
def test_uncommitted_changes_that_a_race_began_from_are_work(hydra: Hydra) -> None:
    (hydra.repo / "README.md").write_text("not committed\n")
    folder = raced(hydra, fakes.say("nothing"), days=31, options=("--include-dirty",))
    empty(hydra)
    assert sweep(hydra.state, Limits()) == 0
    assert "your uncommitted changes" in hydra.run("runs", "rm", folder.name, "-n").stdout
    assert hydra.run("runs", "rm", folder.name, "-y").returncode == 0
    assert folder.name not in pins(hydra)


@pytest.mark.slow
def test_a_lane_that_was_not_started_held_nothing_but_for_a_fault_of_hydras(hydra: Hydra) -> None:
    folder = raced(hydra, days=31, options=("--setup", "exit 3", "--keep", "none"))
    empty(hydra)
    assert not worktree_of(folder).exists()
    result = json.loads((folder / "result.json").read_text())
    assert result["lanes"][0]["error"]["reason"] == "setup"
    for reason in ("hydra_bug", "setup"):
        result["lanes"][0]["error"]["reason"] = reason
        (folder / "result.json").write_text(json.dumps(result))
        sweep(hydra.state, Limits())
        assert folder.exists() is (reason == "hydra_bug")


@pytest.mark.slow
def test_what_cannot_be_read_stays(old: Old) -> None:
    hydra, folder = old
    for damage in ("manifest.json", "result.json", "patches.git/HEAD"):
        whole = (folder / damage).read_bytes()
        (folder / damage).write_text("garbage")
        assert sweep(hydra.state, Limits()) == 0
        assert folder.exists()
        (folder / damage).write_bytes(whole)
    assert sweep(hydra.state, Limits()) == 1


@pytest.mark.slow
def test_a_run_that_is_read_or_written_stays(old: Old) -> None:
    import fcntl

    hydra, folder = old
    for how in (fcntl.LOCK_SH, fcntl.LOCK_EX):
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, how)
            assert sweep(hydra.state, Limits()) == 0
    assert sweep(hydra.state, Limits()) == 1


@pytest.mark.slow
def test_a_pin_that_somebody_moved_is_left(old: Old) -> None:
    hydra, folder = old
    git(hydra.repo, "commit", "-q", "--allow-empty", "-m", "Second")
    git(hydra.repo, "update-ref", f"refs/hydra/{folder.name}/base", "HEAD")
    assert sweep(hydra.state, Limits()) == 1
    assert folder.name in pins(hydra)


@pytest.mark.slow
def test_the_repository_may_be_gone(old: Old) -> None:
    hydra, folder = old
    hydra.repo.rename(hydra.repo.with_name("moved"))
    assert sweep(hydra.state, Limits()) == 1
    assert not folder.exists()
    assert list(hydra.state.glob("*/runs/.*")) == []


@pytest.mark.full
def test_it_is_done_beside_a_race_and_the_rest_is_counted_in_one_line(hydra: Hydra) -> None:
    old, path = empty(hydra, 31), patched(hydra, 31)
    gate = fakes.Barrier(hydra.scratch, "works")
    hydra.agent("claude", [*gate.stop(), fakes.finish("done")])
    process = hydra.start("race", "Do it", "-a", "claude", "-v")
    assert process.stderr is not None
    assert any("housekeeping is done" in line and "removed=1" in line for line in process.stderr)
    assert not old.exists()
    gate.open()
    _, text = process.communicate(timeout=60)
    assert text.count("hydra runs rm --older-than 30d") == 1
    assert "1 race here over 30d old, with work that may not be landed" in text
    assert path.exists()
    value = hydra.run("runs").stderr
    assert value.startswith("hydra: 1 race here over 30d old")
    assert value.count("\n") == 1
    assert hydra.run("runs", "--json").stderr == ""
    assert hydra.run("diff", "claude", "-r", path.name).stderr == ""


# --- hydra runs rm ----------------------------------------------------------------------------


@pytest.mark.slow
def test_rm_says_what_would_be_lost_and_asks(four: Four) -> None:
    hydra, (first_of_all, path, file, latest) = four
    worktree = worktree_of(file)
    for answer, goes in (("n\n", False), ("y\n", True)):
        master, slave = pty.openpty()
        os.write(master, answer.encode())
        process = hydra.start("runs", "rm", path.name, file.name, stdin=slave)
        _, stderr = process.communicate(timeout=60)
        os.close(master)
        os.close(slave)
        assert process.returncode == 0, stderr
        first, second, both, *_ = stderr.splitlines()
        assert first.startswith(f"{path.name}: patches of claude; ")
        assert second.startswith(f"{file.name}: no patch; worktrees of claude; ")
        assert both.startswith("2 runs, ")
        assert "remove for good?" in stderr
        assert path.exists() is file.exists() is not goes
        assert worktree.exists() is not goes
    assert pins(hydra) == [first_of_all.name, latest.name]
    assert list((hydra.state / "g").iterdir()) == []


@pytest.mark.slow
def test_rm_without_anybody_to_ask_needs_yes(four: Four) -> None:
    hydra, (_, path, *_) = four
    process = hydra.run("runs", "rm", "--all")
    assert process.returncode == 2
    assert "patches of claude" in process.stderr
    assert "add --yes" in process.stderr
    assert path.exists()
    assert hydra.run("runs", "rm", "--all", "--yes").returncode == 0
    assert not path.exists()


@pytest.mark.full
def test_rm_by_age_and_emptiness(hydra: Hydra) -> None:
    old_empty, old_held, new_empty = empty(hydra, 31), patched(hydra, 31), empty(hydra)

    def chosen(*args: str) -> set[str]:
        process = hydra.run("runs", "rm", *args, "--dry-run", "--json")
        assert process.returncode == 0, process.stderr
        document = json.loads(process.stdout)
        assert document["dry_run"] is True
        assert not any(row["removed"] for row in document["runs"])
        return {row["run"] for row in document["runs"]}

    assert chosen("--older-than", "30d") == {old_empty.name, old_held.name}
    assert chosen("--empty") == {old_empty.name, new_empty.name}
    assert chosen("--empty", "--older-than", "30d") == {old_empty.name}
    assert chosen("--all") == {old_empty.name, old_held.name, new_empty.name}
    assert chosen("--older-than", "90d") == set()
    done = json.loads(hydra.run("runs", "rm", "--older-than", "30d", "-y", "--json").stdout)
    assert [row["removed"] for row in done["runs"]] == [True, True]
    by_name = {row["run"]: row for row in done["runs"]}
    assert by_name[old_held.name]["patches"] == ["claude"]
    assert by_name[old_empty.name]["patches"] == []
    assert by_name[old_held.name]["size"] > 0
    assert new_empty.exists()
    assert not old_held.exists()
    nothing = hydra.run("runs", "rm", "--older-than", "30d")
    assert (nothing.returncode, nothing.stderr) == (
        0,
        "there is no race here that began before then: nothing to remove\n",
    )


@pytest.mark.slow
def test_rm_that_is_not_clear_removes_nothing(old: Old) -> None:
    hydra, folder = old
    for terms, hint in (
        ((), "--older-than 30d, --empty or --all"),
        (("--all", "--empty"), "leave out"),
        (("@-0", "--all"), "one after the other"),
        (("nonsense", "-y"), "hydra runs lists them"),
        (("", "-y"), "`hydra runs` lists them"),
        (("--older-than", "30"), "without a unit"),
    ):
        process = hydra.run("runs", "rm", *terms)
        assert process.returncode == 2
        assert hint in process.stderr
        assert folder.exists()


@pytest.mark.slow
def test_rm_leaves_a_race_that_runs(hydra: Hydra) -> None:
    old = empty(hydra)
    gate = fakes.Barrier(hydra.scratch, "works")
    hydra.agent("claude", [*gate.stop(), fakes.finish("done")])
    process = hydra.start("race", "Do it", "-a", "claude", "-q")
    gate.wait()
    [running] = {path.name for path in hydra.state.glob("*/runs/[!.]*")} - {old.name}
    completed = hydra.run("runs", "rm", running, "-y")
    assert completed.returncode == 3
    assert "still running" in completed.stderr
    assert hydra.run("runs", "rm", "--all", "-y").returncode == 0
    assert not old.exists()
    gate.open()
    process.communicate(timeout=60)
    assert [row["run"] for row in json.loads(hydra.run("runs", "--json").stdout)["runs"]] == [
        running
    ]


@pytest.mark.full
def test_rm_that_is_killed_leaves_a_run_whole_or_takes_it_with_the_next_command(
    hydra: Hydra,
) -> None:
    for step in range(8):
        folder = raced(hydra, fakes.edit("new.txt", "new\n"), options=("--keep", "all"))
        for number in range(300):
            (worktree_of(folder) / f"more{number}").write_text("x")
        process = hydra.start("runs", "rm", folder.name, "-y")
        try:
            process.wait(0.1 + step * 0.05)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        completed = hydra.run("runs", "--json")
        assert completed.returncode == 0, completed.stderr
        rows = json.loads(completed.stdout)["runs"]
        assert list(hydra.state.glob("*/runs/.*")) == []
        assert pins(hydra) == [row["run"] for row in rows]
        if rows:
            assert (worktree_of(folder) / "more299").exists()
            assert "+new" in hydra.run("diff", "claude").stdout
            assert hydra.run("runs", "rm", folder.name, "-y").returncode == 0
        assert list((hydra.state / "g").iterdir()) == []


_SAME_ID = """
from hydra.records.store import writer
writer.new_run_id = lambda **_: "20260101t000000-aaaa"
"""


@pytest.mark.slow
def test_a_race_never_stands_in_the_grounds_of_another(hydra: Hydra) -> None:
    other = Hydra(hydra.scratch, hydra.scratch / "other", extra=hydra.extra, path=hydra.path)
    git(hydra.repo, "clone", "-q", str(hydra.repo), str(other.repo))
    (hydra.scratch / "site").mkdir()
    (hydra.scratch / "site/sitecustomize.py").write_text(_SAME_ID)
    hydra.extra["PYTHONPATH"] = str(hydra.scratch / "site")
    gate = fakes.Barrier(hydra.scratch, "works")
    hydra.agent("claude", [fakes.edit("new.txt", "new\n"), *gate.stop(), fakes.finish("done")])
    process = hydra.start("race", "Do it", "-a", "claude", "-q")
    gate.wait()
    completed = other.run("race", "Do it", "-a", "claude", "--keep", "none")
    assert completed.returncode == 3
    assert "begin it again" in completed.stderr
    assert len(list(hydra.state.glob("g/*/claude/shop/README.md"))) == 1
    assert len(list(hydra.state.glob("*/runs/*"))) == 1
    gate.open()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert list(hydra.state.glob("g/*")) == []


# --- --keep -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_stash_that_is_too_large_to_take_keeps_its_worktree(hydra: Hydra) -> None:
    (hydra.home / "hydra.toml").write_text('[limits]\npatch_total = "100kB"\n')
    stash = "head -c 300000 /dev/urandom > README.md && git -c user.name=A -c user.email=a@b stash"
    hydra.agent("claude", [fakes.shell("sh", "-c", f"{stash} -q"), fakes.finish("done")])
    lane = hydra.race("-a", "claude", "--keep", "none").lane("claude")
    assert lane["patch"]["notes"] == [
        "stash holds work that is too large to keep: 0 MB",
        f"its worktree is kept: {lane['worktree']}",
    ]
    assert lane["patch"]["left_behind"] == 1
    assert "stash@{0}" in git(Path(lane["worktree"]), "stash", "list")


def recovered(hydra: Hydra, *options: str) -> Path:
    """A race whose Hydra was killed after an edit, and what the next command made of it."""
    gate = fakes.Barrier(hydra.scratch, "edited")
    hydra.agent("claude", [fakes.edit("new.txt", "new\n"), gate.arrive(), fakes.hang()])
    process = hydra.start("race", "Do it", "-q", "-a", "claude", *options)
    gate.wait()
    process.kill()
    process.communicate()
    assert "1 patch taken" in hydra.run("runs").stderr
    [folder] = hydra.state.glob("*/runs/[!.]*")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("keep", "stays"), [("failed", True), ("none", False)])
def test_keep_holds_in_recovery_too(hydra: Hydra, keep: str, stays: bool) -> None:
    folder = recovered(hydra, "--keep", keep)
    assert worktree_of(folder).exists() is stays
    assert "+new" in hydra.run("diff", "claude").stdout


def signed_in(hydra: Hydra) -> None:
    folder = hydra.home / ".claude"
    folder.mkdir()
    tokens = {"accessToken": "made-up-access-1", "refreshToken": "made-up-refresh-1"}
    (folder / ".credentials.json").write_text(json.dumps({"claudeAiOauth": tokens}))
    (hydra.home / ".claude.json").write_text(json.dumps({"primaryApiKey": "made-up-refresh-1"}))


def assert_no_sign_in_below(folder: Path) -> None:
    holding = [
        path
        for path in folder.rglob("*")
        if path.is_file() and b"made-up-refresh-1" in path.read_bytes()
    ]
    assert holding == []


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--setup", "exit 3")])
def test_a_worktree_that_stays_has_no_sign_in_beside_it(
    hydra: Hydra, options: tuple[str, ...]
) -> None:
    signed_in(hydra)
    hydra.agent("claude", [fakes.edit("a.txt", "half\n"), fakes.fail("error")])
    lane = hydra.race("-a", "claude", *options).lane("claude")
    assert Path(lane["worktree"], ".git").exists()
    assert not [text for text in lane["warnings"] if "could not be removed" in text]
    assert_no_sign_in_below(hydra.state)
    assert_no_sign_in_below(hydra.scratch / "cache")


@pytest.mark.slow
def test_a_worktree_that_stays_after_a_kill_has_no_sign_in_beside_it(hydra: Hydra) -> None:
    signed_in(hydra)
    folder = recovered(hydra)
    assert worktree_of(folder).exists()
    assert_no_sign_in_below(hydra.state)


# --- the disk's floor -------------------------------------------------------------------------


def test_a_disk_without_a_size_and_a_floor_of_nothing_stop_nobody() -> None:
    assert below_minimum([Path("/proc")], 1 << 60) is None
    assert below_minimum([Path("/var/tmp/not/there")], 0) is None


@pytest.fixture
def small(hydra: Hydra) -> Iterator[Hydra]:
    """Hydra with its state folder on a disk of 200 MB that only it sees."""
    hydra.state.mkdir()
    with mounts() as inside:
        inside.small_disk(hydra.state, "200m")
        hydra.wrap = inside.wrap(hydra.repo)
        yield hydra


FILL = """
until [ "$(df -Pk . | awk 'END {print $4}')" -lt 8000 ]; do
    head -c 1000000 /dev/zero >> filler.log || exit 1
done
"""


@pytest.mark.full
def test_at_the_floor_the_lanes_are_stopped_and_their_patches_taken(small: Hydra) -> None:
    work = fakes.edit("work.txt", "work\n")
    small.agent("claude", [work, fakes.shell("sh", "-c", FILL), fakes.hang()])
    race = small.race("-a", "2xclaude", "--max-parallel", "1")
    assert race.code == 1
    assert race.document["interrupted"] is None
    [warning] = [line for line in race.document["warnings"] if "under the floor of" in line]
    assert str(small.state) in warning
    first, second = race.lane("claude"), race.lane("claude-2")
    for lane in (first, second):
        assert lane["status"] == "interrupted"
        assert (lane["error"]["kind"], lane["error"]["reason"]) == ("Interrupted", "disk_floor")
    assert (first["patch"]["files"], first["patch"]["incomplete"]) == (1, "")
    assert second["patch"] is None
    assert "+work" in small.run("diff", "claude").stdout
    lines = small.execute(
        *small.wrap, "cat", f"{race.document['folder']}/events.jsonl"
    ).stdout.splitlines()
    events = [json.loads(line) for line in lines]
    [document] = [event for event in events if event["sub"] == "disk_floor"]
    assert document["kind"] == "run_warning"
    assert document["data"]["free"] < document["data"]["floor"] == 200 * 1024**2 // 20
    stops = [event["data"] for event in events if event["kind"] == "stopping"]
    assert {"reason": "disk_floor", "signal": "SIGINT"} in stops

    # Nothing begins until there is room; and it is made as was said.
    small.agent("claude", [work, fakes.finish("done")])
    refused = small.run("race", "Do it", "-a", "claude", "-q")
    assert refused.returncode == 3
    assert "MB free, under the floor of 10.4 MB" in refused.stderr
    assert small.run("race", "Do it", "-a", "claude", "--dry-run").returncode == 3
    doctor = small.run("doctor", "--json")
    assert doctor.returncode == 3
    assert "under the floor of" in json.loads(doctor.stdout)["state"]["problem"]
    small.extra["HYDRA_DISK_FLOOR"] = "1MB"
    assert small.race("-a", "claude").code == 0
    del small.extra["HYDRA_DISK_FLOOR"]
    assert "worktrees of claude" in small.run("runs", "rm", "--all", "-y").stderr
    assert small.race("-a", "claude").code == 0

"""Where `hydra` may find itself: no network, no room, no reader, no terminal, no HOME, no time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra, completed, ignoring
from tests.support.processes import wait_until
from tests.support.surroundings import Clock, Mounts, mounts, no_network
from tests.support.terminal import Terminal

EDIT = fakes.edit("a.txt", "x\n")
DONE = fakes.finish("done")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [EDIT, DONE])
    return hydra


@pytest.fixture
def inside(hydra: Hydra) -> Iterator[Mounts]:
    """Mounts that hydra sees, and nobody else."""
    with mounts() as inside:
        hydra.wrap = inside.wrap(hydra.repo)
        yield inside


def usable(hydra: Hydra, *flags: str) -> subprocess.CompletedProcess[str]:
    """A race that ends well, with its patch."""
    process = hydra.run("race", "Do it", "-a", "claude", *flags)
    assert process.returncode == 0, process.stderr + process.stdout
    shown = hydra.run("diff", "claude")
    assert shown.returncode == 0, shown.stderr
    assert "+x\n" in shown.stdout
    return process


def shell(hydra: Hydra, line: str) -> tuple[list[int], str]:
    """A line of bash with `hydra` in it: the exit code of each part of the pipe, and stderr."""
    text = f'hydra() {{ "{sys.executable}" -m hydra "$@"; }}; {line}; echo "${{PIPESTATUS[@]}}" >&2'
    process = hydra.execute("bash", "-c", text, timeout=120)
    *lines, codes = process.stderr.splitlines()
    return [int(code) for code in codes.split()], "\n".join(lines)


def results(state: Path) -> list[dict[str, Any]]:
    """Every result under a state folder, oldest first."""
    return [json.loads(path.read_text()) for path in sorted(state.glob("*/runs/*/result.json"))]


# --- no room -----------------------------------------------------------------------------------


FILL = (
    "dd if=/dev/zero of={name} bs=64k 2>/dev/null; dd if=/dev/zero of={name}.rest bs=1 2>/dev/null"
)


def fill(name: str) -> fakes.Step:
    """Takes every byte that is left on the lane's disk."""
    return fakes.shell("sh", "-c", FILL.format(name=name) + "; true")


@pytest.fixture
def small(hydra: Hydra, inside: Mounts) -> Path:
    """A state folder on a disk of 12 MB, with one race that ended well; as the test sees it."""
    hydra.state.mkdir()
    inside.small_disk(hydra.state, "12m")
    (hydra.home / "hydra.toml").write_text('[limits]\ndisk_floor = "0B"\n')
    usable(hydra)
    return inside.seen(hydra.state)


def old_record_stands(hydra: Hydra) -> None:
    """The first run is as it was: listed, shown, its patch there and its repository whole."""
    listed = json.loads(hydra.run("runs", "--json").stdout)["runs"]
    first = listed[-1]["run"]
    assert json.loads(hydra.run("runs", "show", "-r", first, "--json").stdout)["usable"] is True
    assert "+x\n" in hydra.run("diff", "claude", "-r", first).stdout


@pytest.mark.slow
def test_a_disk_without_room_for_a_record(hydra: Hydra, small: Path) -> None:
    with (small / "full").open("wb", 0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    process = hydra.run("race", "Do it", "-a", "claude", "-q")
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr.startswith("error: ")
    assert "No space left on device" in process.stderr
    assert process.stderr.count("\n") == 2
    assert len(git(hydra.repo, "for-each-ref", "refs/hydra").splitlines()) == 1
    old_record_stands(hydra)


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle_of_a_race(hydra: Hydra, small: Path) -> None:
    # In a file that git ignores: it is no part of the patch, and there is no room for one.
    hydra.agent("claude", [EDIT, fill("big.log"), DONE])
    process = hydra.run("race", "Do it", "-a", "claude")
    assert process.returncode == 1, process.stderr + process.stdout
    old_record_stands(hydra)
    (work,) = small.glob("g/*/claude/shop")
    assert "the worktree is kept: " in process.stdout
    assert (work / "a.txt").read_text() == "x\n"
    for name in ("big.log", "big.log.rest"):
        (work / name).unlink(missing_ok=True)
    # With room again, the next command has the run: closed by itself or recovered.
    listed = json.loads(hydra.run("runs", "--json").stdout)["runs"]
    assert [run["state"] for run in listed] == ["ended", "ended"]
    assert (work / "a.txt").exists() or "+x\n" in hydra.run("diff", "claude").stdout


@pytest.mark.slow
def test_a_disk_that_has_no_room_for_the_patch_alone(hydra: Hydra, small: Path) -> None:
    hydra.agent(
        "claude", [EDIT, fakes.shell("sh", "-c", "head -c 7000000 /dev/urandom > big.bin"), DONE]
    )
    race = hydra.race("-a", "claude")
    lane = race.lane("claude")
    assert race.code == 1
    assert lane["patch"]["incomplete"]
    assert (lane["status"], lane["error"]["reason"]) == ("failed", "patch_incomplete")
    (work,) = small.glob("g/*/claude/shop")  # kept, as the patch is not all of it
    assert (work / "a.txt").read_text() == "x\n"
    old_record_stands(hydra)


# --- no reader ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("ignored", "code"), [((), 143), (("HUP",), 0)])
def test_nohup_keeps_a_race_that_its_terminal_would_end(
    hydra: Hydra, ignored: tuple[str, ...], code: int
) -> None:
    gate = fakes.Barrier(hydra.scratch, "gate")
    hydra.agent("claude", [EDIT, *gate.stop(), DONE])
    hydra.wrap = ignoring(*ignored) if ignored else []
    race = hydra.start("race", "Do it", "-a", "claude", "-q")
    gate.wait()
    race.send_signal(signal.SIGHUP)
    if ignored:
        gate.open()
    race.communicate(timeout=60)
    assert race.returncode == code
    (result,) = results(hydra.state)
    assert result["lanes"][0]["status"] == ("completed" if ignored else "interrupted")
    assert result["lanes"][0]["patch"]["files"] == 1


@pytest.mark.slow
def test_a_reader_of_events_that_leaves_ends_the_race_and_keeps_the_work(hydra: Hydra) -> None:
    gate = fakes.Barrier(hydra.scratch, "edited")
    more = fakes.say("more")  # a pipe without a reader is noticed by writing to it
    hydra.agent("claude", [EDIT, *gate.stop(), more, fakes.ignore("SIGINT"), fakes.hang()])
    race = hydra.start("race", "Do it", "-a", "2xclaude", "--events")
    assert race.stdout is not None
    assert race.stderr is not None
    gate.wait(2)
    race.stdout.readline()
    race.stdout.close()
    gate.open()
    text = race.stderr.read()
    race.stderr.close()
    assert (race.wait(timeout=60), text) == (141, "")
    (result,) = results(hydra.state)
    assert [lane["status"] for lane in result["lanes"]] == ["interrupted"] * 2
    assert [lane["patch"]["files"] for lane in result["lanes"]] == [1, 1]


# --- a terminal --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("term", ["xterm", pytest.param("dumb", marks=pytest.mark.full)])
def test_a_terminal_that_goes(hydra: Hydra, term: str) -> None:
    gate = fakes.Barrier(hydra.scratch, "edited")
    stubborn = [fakes.ignore("SIGINT", "SIGTERM"), fakes.daemon(ignore_term=True, clear_env=True)]
    hydra.agent("claude", [EDIT, *stubborn, gate.arrive(), fakes.hang()])
    terminal = Terminal(hydra, "race", "Do it", "-a", "2xclaude", term=term)
    gate.wait(2)
    began = time.monotonic()
    terminal.hang_up()
    code = terminal.wait()
    took = time.monotonic() - began
    assert code == 143
    (result,) = results(hydra.state)
    assert [lane["status"] for lane in result["lanes"]] == ["interrupted"] * 2
    assert [lane["patch"]["files"] for lane in result["lanes"]] == [1, 1]
    # INT, TERM and KILL within 5 s, as told in the record; then the patches.
    ended = [event["mono"] for event in hydra.events() if event["kind"] == "agent_exited"]
    (document,) = (event["mono"] for event in hydra.events() if event["kind"] == "run_interrupted")
    assert len(ended) == 2
    assert max(ended) - document < 20, (ended, document, took)


# --- HOME --------------------------------------------------------------------------------------


def no_home(hydra: Hydra, inside: Mounts) -> None:
    """Nothing of the real one is looked at: all that Hydra would look for has its own name."""
    hydra.extra |= {"CLAUDE_CONFIG_DIR": str(hydra.scratch / "none"), "XDG_CONFIG_HOME": "/nowhere"}
    hydra.wrap += ["env", "-u", "HOME"]


def no_network_at_all(hydra: Hydra, inside: Mounts) -> None:
    hydra.wrap = no_network()


def home_is_not_there(hydra: Hydra, inside: Mounts) -> None:
    hydra.extra["HOME"] = "/nonexistent"


def settings_moved_by_relative_variables(hydra: Hydra, inside: Mounts) -> None:
    names = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    hydra.extra |= dict.fromkeys(names, "moved/away")


def cache_is_read_only(hydra: Hydra, inside: Mounts) -> None:
    (hydra.scratch / "cache").mkdir()
    inside.read_only(hydra.scratch / "cache")


WHERE_IT_ENDS_WELL = (
    *(no_home, no_network_at_all, home_is_not_there, settings_moved_by_relative_variables),
    cache_is_read_only,
)


@pytest.mark.slow
@pytest.mark.parametrize("lay", WHERE_IT_ENDS_WELL, ids=lambda lay: lay.__name__)
def test_a_race_ends_well(
    hydra: Hydra, inside: Mounts, lay: Callable[[Hydra, Mounts], None]
) -> None:
    lay(hydra, inside)
    usable(hydra)


def test_no_home_and_nothing_else_that_says_where_to_keep_things(hydra: Hydra) -> None:
    names = ("HOME", "HYDRA_STATE_DIR", "HYDRA_CACHE_DIR", "HYDRA_CONFIG")
    hydra.wrap = ["env", *(term for name in names for term in ("-u", name))]
    process = hydra.run("race", "Do it", "-a", "claude", "-q")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == (
        "error: HOME is not set\n"
        "hint: set HOME, or all of HYDRA_STATE_DIR, HYDRA_CACHE_DIR and HYDRA_CONFIG\n"
    )


def renews(hydra: Hydra, inside: Mounts, *more: fakes.Step) -> None:
    """An agent whose service gives it a new token; the user's own file cannot be written."""
    own = hydra.home / ".claude" / ".credentials.json"
    own.parent.mkdir()
    own.write_text('{"claudeAiOauth": {"refreshToken": "made-up-1"}}')
    script = "sed -i s/made-up-1/made-up-2/ ~/.claude/.credentials.json && echo x > a.txt"
    hydra.agent("claude", [fakes.shell("sh", "-c", script), *more])
    inside.read_only(own.parent)


def renewed(lane: Mapping[str, Any]) -> bool:
    path = Path(lane["worktree"]).parent / "home" / ".claude" / ".credentials.json"
    return "made-up-2" in path.read_text()


@pytest.mark.slow
def test_a_sign_in_that_cannot_be_given_back_is_told_and_stays(
    hydra: Hydra, inside: Mounts
) -> None:
    renews(hydra, inside, DONE)
    race = hydra.race("-a", "claude", "--keep", "none")
    assert race.code == 0, race
    lane = race.lane("claude")
    assert lane["warnings"][-2:] == [
        "its renewed sign-in could not be given back (Read-only file system)",
        f"the sign-in that could not be given back stays beside {lane['worktree']}",
    ]
    assert renewed(lane)


@pytest.mark.slow
def test_it_stays_also_where_hydra_was_killed(hydra: Hydra, inside: Mounts) -> None:
    gate = fakes.Barrier(hydra.scratch, "gate")
    renews(hydra, inside, gate.arrive(), fakes.hang())
    race = hydra.start("race", "Do it", "-a", "claude", "-q", "--keep", "none")
    gate.wait()
    race.kill()
    race.communicate(timeout=60)
    assert "1 patch taken" in hydra.run("runs").stderr
    (result,) = results(hydra.state)
    assert renewed(result["lanes"][0])


# --- words -------------------------------------------------------------------------------------


LOCALES = [
    {"LC_ALL": "xx_XX.UTF-8"},
    # An ASCII that Python does not make UTF-8 of.
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
]


@pytest.mark.slow
@pytest.mark.parametrize("names", LOCALES, ids=str)
def test_no_locale(hydra: Hydra, names: dict[str, str]) -> None:
    """An agent of which no ASCII can show the words and files; patch and record are exact."""
    hydra.extra |= names
    hydra.agent(
        "claude",
        [fakes.say("f\u00fcr \u65e5\u672c"), fakes.edit("\u65e5.txt", "\u00fc\n"), EDIT, DONE],
    )
    process = usable(hydra)
    assert "says" in process.stderr
    patches = next(hydra.state.glob("*/runs/*/patches.git"))
    content = subprocess.run(
        ["git", "show", "claude:\u65e5.txt"], cwd=patches, capture_output=True, check=True
    )
    assert content.stdout == "\u00fc\n".encode()
    raw = next(hydra.state.glob("*/runs/*/lanes/claude/raw.jsonl")).read_text(encoding="utf-8")
    assert any("f\u00fcr \u65e5\u672c" in str(json.loads(line)) for line in raw.splitlines())


def test_a_task_that_is_no_text(hydra: Hydra) -> None:
    process = hydra.execute(sys.executable, "-m", "hydra", "race", b"caf\xe9", "-q")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "error: the task is not text\nhint: give UTF-8 text\n"


# --- closed streams ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("closed", "how"), [("2>&-", ""), ("<&- >&- 2>&-", "--events")])
def test_streams_that_are_closed(hydra: Hydra, closed: str, how: str) -> None:
    text = f'"$0" -m hydra race x -a claude {how} {closed}'
    process = hydra.execute("sh", "-c", text, sys.executable, timeout=60)
    assert process.returncode == 0, process.stderr
    (result,) = results(hydra.state)
    assert (result["usable"], result["lanes"][0]["patch"]["files"]) == (True, 1)
    # What was printed went nowhere: into no file of the record.
    (events,) = hydra.state.glob("*/runs/*/events.jsonl")
    assert all(json.loads(line)["v"] == 1 for line in events.read_text().splitlines())


# --- a state folder that nobody may write ------------------------------------------------------


@pytest.mark.slow
def test_a_read_only_state_folder(hydra: Hydra, inside: Mounts) -> None:
    usable(hydra)
    broken_off = break_off(hydra)
    inside.read_only(hydra.state)
    process = hydra.run("race", "Do it", "-a", "claude")
    assert (process.returncode, process.stdout) == (3, "")
    assert "error: the state folder " in process.stderr
    assert "hint: set HYDRA_STATE_DIR to a folder you can write" in process.stderr
    listed = hydra.run("runs", "--json")
    assert listed.returncode == 0, listed.stderr
    runs = json.loads(listed.stdout)["runs"]
    assert {run["run"]: run["state"] for run in runs}[broken_off] == "broken off"
    first = runs[-1]["run"]
    assert hydra.run("runs", "show", "-r", first).returncode == 0
    shown = hydra.run("diff", "claude", "-r", first)
    assert (shown.returncode, "+x\n" in shown.stdout) == (0, True), shown.stderr
    rm = hydra.run("runs", "rm", first, "--yes")
    assert rm.returncode not in (0, 70), rm.stderr
    # Nothing was lost by all that: with the folder writable again the run is recovered.
    hydra.wrap = []
    assert f"recovered run {broken_off}: 1 patch taken" in hydra.run("runs").stderr


def break_off(hydra: Hydra) -> str:
    """A race whose Hydra was killed after an edit; its run."""
    gate = fakes.Barrier(hydra.scratch, f"gate{time.monotonic_ns()}")
    hydra.agent("claude", [EDIT, gate.arrive(), fakes.hang()])
    race = hydra.start("race", "Do it", "-a", "claude", "-q")
    gate.wait()
    race.kill()
    race.communicate(timeout=60)
    hydra.agent("claude", [EDIT, DONE])
    paths = hydra.state.glob("*/runs/*/manifest.json")
    (run,) = (path.parent.name for path in paths if not path.with_name("result.json").exists())
    return run


# --- a clock that jumps ------------------------------------------------------------------------


DAY = 86_400.0


@pytest.mark.slow
@pytest.mark.parametrize("jump", [400 * DAY, -400 * DAY])
def test_a_clock_that_jumps_in_the_middle_of_a_race(hydra: Hydra, jump: float) -> None:
    clock = Clock(hydra.scratch / "clock")
    hydra.extra |= clock.environ
    gate = fakes.Barrier(hydra.scratch, "before")
    after = fakes.Barrier(hydra.scratch, "after")
    hydra.agent("claude", [EDIT, *gate.stop(), fakes.say("later"), *after.stop(), DONE])
    limits = ("--idle-timeout", "2m", "--timeout", "5m")
    race = hydra.start("race", "Do it", "-a", "claude", *limits)
    gate.wait()
    clock.set(jump)
    gate.open()
    after.wait()
    clock.set(-jump)
    after.open()
    _, text = race.communicate(timeout=60)
    assert race.returncode == 0, text
    events = hydra.events()
    walls = [event["wall"] for event in events]
    assert max(walls) - min(walls) > 300 * DAY  # the clock did jump, and is told as it was
    monos = [event["mono"] for event in events]
    assert monos == sorted(monos)
    assert max(monos) < 300
    (result,) = results(hydra.state)
    assert result["seconds"] < 300
    assert result["lanes"][0]["seconds"] < 300


@pytest.mark.full
@pytest.mark.serial
def test_a_clock_that_is_set_back_hides_no_change_of_a_file(hydra: Hydra) -> None:
    # Up to the gate the clock is an hour ahead. Silent work after it bears times of an hour ago.
    clock = Clock(hydra.scratch / "clock")
    clock.set(3600)
    hydra.extra |= clock.environ
    gate = fakes.Barrier(hydra.scratch, "before")
    quiet = [step for number in range(4) for step in (fakes.pause(4), fakes.touch(f"t{number}"))]
    hydra.agent("claude", [EDIT, *gate.stop(), *quiet, DONE])
    race = hydra.start("race", "Do it", "-a", "claude", "-q", "--idle-timeout", "10s")
    gate.wait()
    clock.set(0)
    gate.open()
    race.communicate(timeout=120)
    (result,) = results(hydra.state)
    assert [lane["status"] for lane in result["lanes"]] == ["completed"]


# --- a folder that is gone ---------------------------------------------------------------------


@pytest.mark.parametrize("text", ["race x -q", "runs"])
def test_a_working_folder_that_was_deleted(hydra: Hydra, text: str) -> None:
    (hydra.repo / "sub").mkdir()
    line = f'cd sub && rmdir ../sub && "$0" -m hydra {text}'
    process = completed(
        ["sh", "-c", line, sys.executable],
        cwd=hydra.repo,
        env=hydra.environ | {"PYTHONSAFEPATH": "1"},
        timeout=60,
    )
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr == (
        "error: the folder you are in is gone\nhint: change to one that is there\n"
    )


def test_a_git_that_hangs_as_a_race_starts_holds_no_ctrl_c_up(hydra: Hydra) -> None:
    programs, hangs = hydra.scratch / "programs", hydra.scratch / "hangs"
    programs.mkdir()
    (programs / "git").write_text(
        "#!/bin/sh\n"
        f'case "$*" in *rev-parse*) trap "" INT; echo > {hangs}; sleep 1000;; esac\n'
        'exec /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin git "$@"\n'
    )
    (programs / "git").chmod(0o755)
    hydra.path.insert(0, programs)
    process = hydra.start("race", "Do it", "-a", "claude")
    try:
        assert wait_until(hangs.exists)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(120) == 130
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("files", [12, 63])
def test_a_race_that_may_open_too_few_files_says_so(hydra: Hydra, files: int) -> None:
    hydra.wrap = ["/usr/bin/prlimit", f"--nofile={files}"]
    ran = hydra.run("race", "Do it", "-a", "claude", "-q")
    assert ran.returncode == 71, ran.stderr
    assert ran.stderr.splitlines()[0] == "error: Hydra may open no more files"
    assert "ulimit -n" in ran.stderr

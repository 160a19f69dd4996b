"""`hydra conformance` as a program: what it runs, refuses, prints and ends with."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.checks.junit import read_junit
from hydra.conformance import recorded
from hydra.conformance.live.scenario_run import orphans
from hydra.conformance.race_run import new_folder
from hydra.errors import Refused
from tests.support import fakes
from tests.support.command import Hydra, ignoring
from tests.support.golden_text import approved, section
from tests.support.processes import wait_until
from tests.support.thirdparties import EXAMPLE, broken, install_toy

QUICK = ("--case", "lines.na*", "--case", "detect.not_running")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    """`hydra` with no agent installed, and a folder for packages."""
    site = scratch / "site"
    site.mkdir()
    return Hydra(scratch, repo, extra={"PYTHONPATH": str(site)})


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"no document:\n{done.stdout}\n{done.stderr}") from None
    return data


# --- the contract --------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_needs_no_cli_and_says_what_passed(hydra: Hydra) -> None:
    install_toy(Path(hydra.extra["PYTHONPATH"]))
    done = hydra.run("conformance", *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    keys = [*registry.OWN, "toy"]
    rows = [line.split() for line in done.stdout.splitlines()[1 : len(keys) + 1]]
    assert [row[0] for row in rows] == keys
    assert "toy (third party)" in done.stdout
    assert " 0 failed, 0 skipped in " in done.stdout
    assert done.stderr.startswith("contract: ")
    data = document(hydra.run("conformance", "codex", *QUICK, "--json"))
    assert {case["agent"] for case in data["cases"]} == {"codex"}
    assert {case["name"].partition(".")[0] for case in data["cases"]} == {"lines", "detect"}
    assert {case["version"] for case in data["cases"]} >= {"0.40.0", "0.169.0"}
    assert (data["network"], data["changes"], data["exit_code"]) == (None, [], 0)


WITHOUT_POSIX = """
import sys, os, signal, click, platformdirs
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty"):
            raise ModuleNotFoundError(name)
for name in ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Gone())
for name in ("geteuid", "getuid", "fork", "setsid", "killpg", "statvfs"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL"):
    delattr(signal, name)
sys.platform = "win32"
from hydra.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_the_contract_runs_where_a_race_cannot(hydra: Hydra) -> None:
    """Not Windows, but Python without what Windows lacks: nothing of it is asked for."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-c", WITHOUT_POSIX, "conformance", *args]
        return subprocess.run(argv, env=hydra.environ, capture_output=True, text=True, timeout=60)

    done = run(*QUICK, "--json")
    data = document(done)
    assert data["exit_code"] == done.returncode == 0
    assert data["platform"] == "win32"
    assert not [case for case in data["cases"] if case["verdict"] != "passed"]
    live = run("--live")
    assert live.returncode == 3
    assert "it needs Linux" in live.stderr


# --- a third party's -----------------------------------------------------------------------------


@pytest.mark.slow
def test_an_adapter_that_breaks_is_named_with_its_differences(hydra: Hydra) -> None:
    site = Path(hydra.extra["PYTHONPATH"])
    install_toy(site)
    lines = "    def build_command(self, request, found):\n        raise KeyError('plan')"
    shutil.copytree(EXAMPLE / "toy_adapter/fixtures/toy", site / "fixtures/broken")
    spec = broken(site, "broken_toy", "broken", methods=lines)
    junit = hydra.scratch / "out.xml"
    done = hydra.run("conformance", "--adapter", spec, "--junit", str(junit), "--json")
    data = document(done)
    assert done.returncode == data["exit_code"] == 1
    assert data["third_party"] == ["broken"]
    assert data["named"] == {"broken": ["--adapter", spec]}  # so it is tried again
    assert {case["agent"] for case in data["cases"]} == {"broken"}
    failed = [case for case in data["cases"] if case["verdict"] == "failed"]
    assert any("KeyError" in row for case in failed for row in case["differences"])
    read = read_junit(junit.read_bytes())
    assert sum(case.status == "failed" for case in read.cases) == len(failed)
    assert len(read.cases) == len(data["cases"])


# --- drift ---------------------------------------------------------------------------------------


def fixtures(scratch: Path, *agents: str) -> Path:
    root = scratch / "fixtures"
    for agent in agents:
        shutil.copytree(recorded.root() / agent, root / agent)
    return root


@pytest.mark.slow
def test_only_a_flag_that_hydra_needs_and_that_went_ends_with_1(hydra: Hydra) -> None:
    done = hydra.run("conformance", "--drift", "claude@2.1.197", *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "drift   claude 2.1.197 -> 2.1.330: " in done.stdout
    assert "Hydra minds none" in done.stdout
    root = fixtures(hydra.scratch, "claude")
    newer = root / "claude" / "9.9.9"
    newer.mkdir()
    (newer / "version.txt").write_text("9.9.9 (Claude Code)\n")
    help_text = (root / "claude" / "2.1.330" / "help.txt").read_text()
    (newer / "help.txt").write_text(help_text.replace("--permission-mode", "--other-mode"))
    args = ("--fixtures", str(root), "--drift", "2.1.330", "--case", "lines.options", "claude")
    done = hydra.run("conformance", *args, "--json")
    data = document(done)
    minded = [change for change in data["changes"] if change["minds"]]
    assert any("--permission-mode" in change["text"] for change in minded)
    assert {(change["old"], change["new"]) for change in minded} == {("2.1.330", "9.9.9")}
    assert data["counts"]["failed"] == 0
    assert done.returncode == data["exit_code"] == 1


# --- what it tells without running ---------------------------------------------------------------


@pytest.mark.slow
def test_names_the_matrix_and_what_an_agent_lacks(hydra: Hydra) -> None:
    data = document(hydra.run("conformance", "--list", "--json"))
    assert "lines.narrower" in data["cases"]["claude"]
    assert "2.1.197" in data["recorded"]["claude"]
    assert "edit" in {row["name"] for row in data["situations"] if row["about"]}
    shown = hydra.run("conformance", "--list").stdout
    assert all(name in shown for name in ("lines.narrower", "edit", "2.1.197"))
    assert document(hydra.run("conformance", "--matrix", "--json"))["kind"] == "matrix"
    assert "headless" in hydra.run("conformance", "--matrix", "codex").stdout
    done = hydra.run("conformance", "--promotion", "cursor-agent", "--json")
    (row,) = document(done)["agents"]
    assert (row["agent"], done.returncode) == ("cursor-agent", 0)
    rules = {rule["name"]: rule for rule in row["rules"]}
    assert "no case of the offline suite" not in rules["timeouts"]["says"]


# --- refused -------------------------------------------------------------------------------------

REFUSED = """
--json --markdown
--list --matrix
--promotion --live
--list --junit x.xml
--keep
--situation edit
--jobs 3
--live --situation edit --case x
--case lines.narow
--live --situation edti
--drift 9.9
--drift recorded
--drift ''
--fixtures no/such
--junit no/such.xml
nobody
--adapter nobody
--live
--live codex
--live cursor-agent
"""


@pytest.mark.slow
def test_refused_in_a_sentence_with_a_next_step_as_approved(hydra: Hydra) -> None:
    text = ""
    for line in REFUSED.strip().splitlines():
        done = hydra.run("conformance", *shlex.split(line))
        error = document(done)["error"] if "--json" in line else None
        said = [error["message"], error["hint"]] if error else done.stderr.splitlines()[-2:]
        text += section(line, f"exit {done.returncode}\n" + "\n".join(said))
    approved("conformance-refused.txt", text)
    program = hydra.agent("claude", [])  # a program is only compared live
    done = hydra.run("conformance", "--drift", str(program.parent))
    assert done.returncode == 2
    assert f"hydra conformance --live --drift {program.parent}" in done.stderr


def test_a_file_that_cannot_be_written_is_said(hydra: Hydra) -> None:
    done = hydra.run("conformance", "claude", "--case", "descriptor.names", "--junit", "/dev/full")
    assert done.returncode == 3
    assert "1 passed, 0 failed" in done.stdout  # the report of a run of minutes is not lost
    assert "/dev/full cannot be written: No space left on device" in done.stderr


# --- signals -------------------------------------------------------------------------------------


def races_of(pid: int) -> dict[int, Path]:
    """The races that a process runs, each with the repository it stands in."""
    paths = {}
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread or the child ended meanwhile
            for child in task.read_text().split():
                if b"\0race\0" in Path(f"/proc/{child}/cmdline").read_bytes():
                    paths[int(child)] = Path(f"/proc/{child}/cwd").readlink()
    return paths


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrap", "number", "code"),
    [
        ([], signal.SIGINT, 130),
        (ignoring("INT"), signal.SIGINT, 130),
        (ignoring("INT"), signal.SIGTERM, 143),
    ],
)
def test_ended_in_the_middle_it_leaves_nothing(
    hydra: Hydra, wrap: list[str], number: int, code: int
) -> None:
    hydra.wrap = wrap
    hydra.agent("claude", [fakes.hang()])
    situations = [f"--situation={name}" for name in ("create", "delete", "edit")]
    running = hydra.start("conformance", "--live", "--jobs", "3", *situations, "claude")
    assert wait_until(lambda: len(races_of(running.pid)) == 3)
    races = races_of(running.pid)
    assert all("hydra-conformance-" in str(place) for place in races.values())
    running.send_signal(number)
    stdout, _ = running.communicate(timeout=120)
    assert (running.returncode, stdout) == (code, "")
    assert not [race for race in races if Path(f"/proc/{race}").exists()]
    assert not [place for place in races.values() if place.exists()]


def test_where_the_usual_place_takes_nothing_its_races_lie_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, *m: str(path) != "/var/tmp" and real(path, *m))
    monkeypatch.setenv("HYDRA_CACHE_DIR", str(tmp_path / "cache"))
    folder = new_folder("hydra-conformance-", os.environ)
    assert folder.parent == tmp_path / "cache"
    folder.rmdir()
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").touch()
    with pytest.raises(Refused, match=f"can be made in {tmp_path}/cache: File exists"):
        new_folder("hydra-conformance-", os.environ)


@pytest.mark.slow
def test_what_is_kept_is_there_though_the_run_was_broken_off(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.hang()])
    running = hydra.start("conformance", "--live", "--keep", "--situation", "create", "claude")
    assert wait_until(lambda: len(races_of(running.pid)) == 1)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=120)
    (folder,) = (
        Path(line.removeprefix("keeping "))
        for line in stderr.splitlines()
        if line.startswith("keeping ")
    )
    try:
        assert running.returncode == 130
        assert list(folder.glob("situations/*/*")) != []
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    refused = hydra.run("conformance", "--live", "--keep", "codex")
    assert (refused.returncode, "keeping" in refused.stderr) == (4, False)  # nothing was run


def test_what_a_run_left_is_ended_and_somebodys_pager_is_only_told(scratch: Path) -> None:
    place = scratch / "place"
    (place / "home").mkdir(parents=True)
    (place / "events.jsonl").touch()
    environ = {"PATH": os.environ["PATH"], "HOME": str(place / "home")}
    ours = subprocess.Popen(["sleep", "3600"], env=environ, start_new_session=True)
    pager = ["cat", str(place / "events.jsonl"), "-"]
    theirs = subprocess.Popen(
        pager,
        env={**os.environ, "PWD": str(place)},
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert sorted(orphans(place, patience=0.2)) == sorted(["sleep 3600", " ".join(pager)])
        assert ours.wait(timeout=60) == -signal.SIGKILL
        assert theirs.communicate(b"still here", timeout=60)[0] == b"still here"
    finally:
        for process in (ours, theirs):
            process.kill()
            process.wait()


# --- completion ----------------------------------------------------------------------------------

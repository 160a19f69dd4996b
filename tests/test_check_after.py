"""`hydra check` after a race: what it adds to the verdict, and what it leaves as it was."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.checks.baseline import DROPPED, base_of, newest
from hydra.checks.record import UNCOLLECTED, CheckResult, CheckStatus, details
from hydra.commands.check_plan import known_checks, named_apart
from hydra.ranking.verdict import rank
from hydra.records.request import Check
from hydra.records.store.files import write_json
from hydra.text import of_run
from tests.conftest import git
from tests.support import evidences, fakes
from tests.support.command import Hydra
from tests.support.processes import running, token, wait_until
from tests.support.trust import needs_bwrap
from tests.support.verdict_races import PLAIN, RIGHT, UNITTEST, WRONG, Judged, lane, shop

PYTEST = f"{PLAIN} -m pytest -q -p no:cacheprovider"
NEW_TEST = "from src.pager import first\n\n\ndef test_none():\n    assert first([], 2) == []\n"
CHECK = Check("pytest", "pytest -q")


def keep(run: Path, round: int, status: CheckStatus, **more: object) -> None:
    """A result of a round on the base."""
    result = CheckResult(check=CHECK, status=status, **more)  # type: ignore[arg-type]
    folder = run / "checks" / str(round) / "_base"
    folder.mkdir(parents=True)
    write_json(folder / "pytest.json", details(result))


def test_a_result_that_says_nothing_takes_no_other_s_place(tmp_path: Path) -> None:
    keep(tmp_path, 1, CheckStatus.NO_TESTS)
    keep(tmp_path, 2, CheckStatus.PROGRAM_MISSING)
    assert newest(tmp_path, "_base")["pytest"].status is CheckStatus.PROGRAM_MISSING
    keep(tmp_path, 3, CheckStatus.PASSED)
    for round, status in enumerate(
        (CheckStatus.NO_TESTS, CheckStatus.SETUP_FAILED, CheckStatus.INTERRUPTED), 4
    ):
        keep(tmp_path, round, status)
    keep(tmp_path, 7, CheckStatus.FAILED, remarks=(UNCOLLECTED,))
    keep(tmp_path, 8, CheckStatus.FAILED, untested="its dependencies changed")
    assert newest(tmp_path, "_base")["pytest"].status is CheckStatus.PASSED
    keep(tmp_path, 9, CheckStatus.FAILED)
    assert newest(tmp_path, "_base")["pytest"].status is CheckStatus.FAILED
    (tmp_path / "checks" / "10").mkdir()
    write_json(tmp_path / "checks" / "10" / DROPPED, {"schema": 1, "checks": ["pytest"]})
    assert newest(tmp_path, "_base") == {}
    assert base_of(tmp_path, [CHECK], "") is None
    keep(tmp_path, 11, CheckStatus.PASSED)
    assert newest(tmp_path, "_base")["pytest"].status is CheckStatus.PASSED


def test_a_name_stands_for_one_command() -> None:
    checks = {"pytest": CHECK, "pytest-2": Check("pytest-2", "pytest tests/slow")}
    commands = [CHECK, Check("pytest", "pytest tests/slow"), Check("pytest", "pytest -x")]
    items, notes = named_apart(commands, checks)
    assert [(check.name, check.command) for check in items] == [
        ("pytest", "pytest -q"),
        ("pytest-2", "pytest tests/slow"),
        ("pytest-3", "pytest -x"),
    ]
    assert notes == (
        "pytest is another command here (pytest -q): this one is pytest-2",
        "pytest is another command here (pytest -q): this one is pytest-3",
    )


@pytest.mark.full
def test_a_check_that_finds_nothing_replaces_nothing(hydra: Hydra) -> None:
    """Of a file that only the checkout has nothing is recorded; of one that only a lane has, its
    absence on the base makes no test of the others new."""
    shop(hydra.repo)
    race = Judged(
        hydra,
        {
            "right": {"src/pager.py": RIGHT, "tests/test_new.py": NEW_TEST},
            "wrong": {"src/pager.py": WRONG},
        },
    ).run(checks=(PYTEST,))
    before = race.document
    assert race.top() == "right"
    (hydra.repo / "tests" / "test_sep.py").write_text(NEW_TEST)
    done = hydra.run("check", "--check", f"{PYTEST} tests/test_sep.py")
    assert done.returncode == 3
    assert "file or directory not found: tests/test_sep.py" in done.stderr
    assert "--copy tests/test_sep.py brings it" in done.stderr
    assert race.again().document == before
    done = hydra.run(
        "check", lane("right"), "--check", f"{PYTEST} tests/test_new.py tests/test_pages.py"
    )
    assert "this one is pytest-2" in done.stdout
    assert done.returncode == 0, done.stdout
    race.again()
    says = {row["check"]: (row["says"], row["reason"]) for row in race.document["baseline"]}
    assert says == {
        "pytest": ("3 passed, 1 failed", "it exited with 1"),
        "pytest-2": ("no tests found", "file or directory not found: tests/test_new.py"),
    }
    assert race.of("right")["reason"].startswith("fixes the failing test, breaks nothing"), race
    new = {row["check"]: row["comparison"]["new"] for row in race.of("right")["checks"]}
    assert new["pytest"] == new["pytest-2"] == ["tests/test_new.py::test_none"]


def in_checks(hydra: Hydra) -> set[str]:
    """The lanes whose agents are done, and whose checks run or wait."""
    kinds = ("check_started", "check_waiting")
    return {row.get("lane", "") for row in hydra.recorded() if row["kind"] in kinds} - {""}


@pytest.mark.slow
def test_after_an_interrupt_what_was_done_is_tested(hydra: Hydra) -> None:
    """One in its checks, one that waits for them, and one at work."""
    shop(hydra.repo)
    mark, go = token(), hydra.scratch / "go"
    (hydra.repo / "slow.sh").write_text(f"test -e {go} || exec sleep {mark}\n")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "A slow check")
    at_work = fakes.Barrier(hydra.scratch, "at-work")
    right = [fakes.edit("src/pager.py", RIGHT), fakes.finish("done")]
    lanes = {
        "right": right,
        "twin": right,
        "works": [right[0], *at_work.stop(), right[1]],
    }
    judged = Judged(hydra, lanes)
    names = [term for does in lanes for term in ("-a", f"claude:{does}")]
    race = hydra.start("race", "Do it", *names, "--check", UNITTEST, "--check", "slow=sh slow.sh")
    at_work.wait()
    assert wait_until(lambda: len(running(mark)) == 2)  # on the base and on a patch
    assert wait_until(lambda: in_checks(hydra) == {lane("right"), lane("twin")})
    race.send_signal(signal.SIGINT)
    stdout, _ = race.communicate(timeout=60)
    assert race.returncode == 130
    assert "test what was kept: hydra check -r " in stdout
    go.touch()
    done = hydra.run("check")
    assert done.returncode == 0, done.stdout + done.stderr
    judged.again()
    proved = {does for does in lanes if judged.of(does)["state"] == "proved"}
    assert proved == {"right", "twin"}, judged
    assert judged.of("works")["state"] == "held_back"
    why = "the race was interrupted while its agent was at work; its patch is kept"
    assert judged.of("works")["reason"] == why
    at_work.close()


@pytest.mark.slow
def test_runs_and_merge_go_by_what_was_checked_since(hydra: Hydra) -> None:
    shop(hydra.repo)
    Judged(hydra, {"right": {"src/pager.py": RIGHT}, "wrong": {"src/pager.py": WRONG}}).run(
        checks=("lint=test -e nowhere",)
    )
    assert json.loads(hydra.run("runs", "--json").stdout)["runs"][0]["winner"] is None
    assert hydra.run("check", "--drop", "lint").returncode == 0
    assert hydra.run("check", "--check", UNITTEST).returncode == 0
    assert hydra.run("compare").stdout.startswith(f"Land {lane('right')}: fixes the failing test")
    assert json.loads(hydra.run("runs", "--json").stdout)["runs"][0]["winner"] == lane("right")
    dry = hydra.run("merge", "--dry-run")
    assert f"would land {lane('right')}" in dry.stdout
    assert "checked since its race: unittest: 4 passed" in dry.stdout
    git(hydra.repo, "commit", "-q", "--allow-empty", "-m", "The branch moves on")
    moved = hydra.run("merge", "--dry-run")
    assert "checked: unittest: 4 passed" in moved.stdout, moved.stdout + moved.stderr


@pytest.mark.slow
def test_a_check_is_dropped_from_the_verdict(hydra: Hydra) -> None:
    shop(hydra.repo)
    race = Judged(hydra, {"right": {"src/pager.py": RIGHT}}).run()
    reason = race.of("right")["reason"]
    done = hydra.run("check", "--check", "typo=grep -q pagse src/pager.py")
    assert done.returncode == 1
    assert "if the mistake is its own, hydra check --drop typo" in done.stdout
    assert race.again().of("right")["reason"] == "typo fails with and without it"
    assert race.of("right")["state"] == "untested"
    unknown = hydra.run("check", "--drop", "tpyo")
    assert unknown.returncode == 2
    assert "its checks: unittest, typo" in unknown.stderr
    assert hydra.run("check", "--drop", "typo", "--check", "true").returncode == 2
    run = race.document["run"]
    dropped = hydra.run("check", "--drop", "typo", "-r", run).stdout
    assert dropped == f"dropped: typo\ncompare again:  hydra compare{of_run(run)}\n"
    assert race.again().of("right")["reason"] == reason
    assert race.of("right")["state"] == "proved"
    assert [row["check"] for row in race.document["baseline"]] == ["unittest"]
    assert hydra.run("check", "--check", "typo=grep -q pages src/pager.py").returncode == 0
    assert [row["check"] for row in race.again().of("right")["checks"]] == ["unittest", "typo"]


@pytest.mark.slow
def test_a_set_up_can_be_given_after_the_race(hydra: Hydra) -> None:
    shop(hydra.repo, {"requirements.txt": "left-pad==1\n", ".gitignore": "made\n.env\n"})
    (hydra.repo / ".env").write_text("")
    race = Judged(hydra, {"right": {"requirements.txt": "left-pad==2\n"}}).run(
        checks=("unit=test -e made && test -e .env && grep -q 2 requirements.txt",)
    )
    assert race.of("right")["state"] == "untested"
    run = race.document["run"]
    cure = f"hydra check{of_run(run)} --setup 'pip install -r requirements.txt' tests it with them"
    assert cure in race.of("right")["reason"]
    assert hydra.run("check", "--setup", "touch made").returncode == 1
    done = hydra.run("check", "--setup", "touch made", "--copy", ".env")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as it ran before" not in done.stdout  # the base has the set-up, too
    assert race.again().of("right")["state"] == "proved", race


@pytest.mark.slow
def test_what_the_repository_named_since_is_not_trusted(hydra: Hydra) -> None:
    """Its race's were typed: once these are dropped, that says nothing of what ran after them."""
    needs_bwrap(hydra.uid)
    shop(hydra.repo)
    Judged(hydra, {"right": {"src/pager.py": RIGHT}}).run()
    assert hydra.run("check", "--drop", "unittest").returncode == 0
    (hydra.repo / "hydra.toml").write_text('[race]\ncheck = ["theirs=true"]\n')
    assert hydra.run("check").returncode == 0
    hydra.refused_bwrap("bwrap: not here")
    done = hydra.run("check")
    assert done.returncode == 3
    assert "nothing confines the repository's checks here" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_base_that_ran_without_what_checks_have_now_proves_nothing(hydra: Hydra) -> None:
    """A variable, another value of it, a package, and what was written into a copy."""
    shop(hydra.repo, {".gitignore": ".env\n.venv\n"})
    (hydra.repo / ".env").write_text("")
    folder = hydra.repo / ".venv" / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    (hydra.repo / ".venv" / "pyvenv.cfg").write_text("")
    lanes = {"docs": {"README.md": "# Pages\n"}, "more": {"README.md": "# More pages\n"}}
    package = f"{folder.relative_to(hydra.repo)}/left_pad.py"
    checks = ('key=test "$SHOP_KEY" = 2', f"pad=test -e {package}", "env=grep -q K=2 .env")
    race = Judged(hydra, lanes).run("--copy", ".env", checks=checks)

    def checked(*lanes: str) -> tuple[bool, set[str]]:
        document = json.loads(hydra.run("check", "--json", *lanes).stdout)
        statuses = {row["check"]: row["status"] for row in document["baseline"]}
        return document["baseline_recorded"], {n for n in statuses if statuses[n] == "passed"}

    assert checked() == (True, set())
    hydra.extra.update(SHOP_KEY="1", HYDRA_CHECKS_ENVIRONMENT="SHOP_KEY")
    assert checked() == (False, set())
    hydra.extra["SHOP_KEY"] = "2"
    assert checked() == (False, {"key"})
    (folder / "left_pad.py").write_text("")
    assert checked() == (False, {"key", "pad"})
    (hydra.repo / ".env").write_text("K=2\n")
    assert checked(lane("docs")) == (False, {"key", "pad", "env"})
    assert race.again().of("docs")["state"] == "untested", race
    assert race.of("more")["state"] == "untested", race
    assert race.of("more")["reason"] == "env fails with and without it"
    assert checked() == (True, {"key", "pad", "env"})
    assert race.again().of("more")["reason"] == race.of("docs")["reason"]


@pytest.mark.slow
def test_what_was_proved_on_another_ground_stays_so(hydra: Hydra) -> None:
    """The base runs anew for one lane that is checked with a set-up; the other is held against what
    the base did where its own checks ran."""
    shop(hydra.repo, {".gitignore": "made\n"})
    lanes = {"right": {"src/pager.py": RIGHT}, "wrong": {"src/pager.py": WRONG}}
    race = Judged(hydra, lanes).run()
    before = race.of("right")
    assert before["state"] == "proved"
    done = hydra.run("check", lane("wrong"), "--setup", "touch made")
    assert done.returncode == 0, done.stdout + done.stderr
    race.again()
    after = race.of("right")
    assert (after["state"], after["reason"]) == (before["state"], before["reason"])
    assert "fails with and without it" in race.of("wrong")["reason"], race
    assert race.top() == "right"


def test_a_dropped_check_of_the_race_that_was_run_since_is_one_of_its_checks(
    tmp_path: Path,
) -> None:
    lint, other = Check("lint", "ruff check"), Check("pytest", "pytest -x")
    keep(tmp_path, 1, CheckStatus.FAILED)
    (tmp_path / "checks" / "2").mkdir()
    write_json(tmp_path / "checks" / "2" / DROPPED, {"schema": 1, "checks": ["pytest"]})
    assert known_checks(tmp_path, [CHECK, lint]) == (lint,)
    keep(tmp_path, 3, CheckStatus.FAILED)
    assert known_checks(tmp_path, [CHECK, lint]) == (CHECK, lint)
    assert known_checks(tmp_path, [other, lint]) == (CHECK, lint)  # as it is known by now


def test_of_two_grounds_the_one_with_more_to_mend_puts_nobody_first() -> None:
    base = evidences.result({"up": False})
    wider = evidences.result({"up": False, "five": False})
    more = evidences.lane("a", evidences.result({"up": True, "five": True}), base=[wider])
    one = evidences.lane("b", evidences.result({"up": True}), base=[base])
    lanes = [replace(more, baseline=(wider,)), one]
    verdict = rank(evidences.evidence(lanes, [base]))
    assert {lane.lane: lane.rank for lane in verdict.lanes} == {"a": 1, "b": 1}


def test_rounds_of_which_no_ground_is_known_prove_nothing_together(tmp_path: Path) -> None:
    """As an older Hydra has recorded them: each round may have had another set-up."""
    run = tmp_path / "checks"
    result = CheckResult(check=CHECK, status=CheckStatus.PASSED)
    for round, name in ((1, "_base"), (1, "a"), (2, "a")):
        (run / str(round) / name).mkdir(parents=True)
        write_json(run / str(round) / name / "pytest.json", details(result))
    base = newest(tmp_path, "_base")["pytest"]
    assert newest(tmp_path, "a", [run / "1"])["pytest"].differs(base) == ""
    assert newest(tmp_path, "a")["pytest"].differs(base) != ""
    assert base_of(tmp_path, [CHECK], "") is None

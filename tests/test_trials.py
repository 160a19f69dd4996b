"""Trials: patches under the base's own tests, and under the other lanes' new ones."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from hydra.checks.cross.record import Trials, read
from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckStatus
from hydra.git.diff import tree_with
from hydra.records.request import Check, TrialCap
from tests.check_recordings import FIXTURES
from tests.support.processes import running, token, wait_until
from tests.support.trials import (
    BASE,
    RIGHT,
    UNITTEST,
    WRONG,
    Trying,
    ends,
    folder,
    of,
    pages,
    with_tests,
)

TESTS = Check("unittest", UNITTEST)
WEAK = pages(up="(3, 2), 1", even="(4, 2), 2")
"""The base's tests, bent to what the base's code gives."""

BROKEN = RIGHT.replace("-(-n // size)", "-(-n // size) + (n == 4)")
EMPTIED = BASE.replace("self.assertEqual(pages(4, 2), 2)", "pass")
"""Without the test that fails with it."""

THREE = pages(third="(7, 3), 3")
ODD = pages(odd="(5, 2), 3")


def reasons(cut: tuple[NotTried, ...]) -> list[tuple[str, str, str, str]]:
    return sorted((tried.kind, tried.on, tried.author, tried.why) for tried in cut)


def seen(runs: Sequence[Trial]) -> list[tuple[object, ...]]:
    """What a trial says, but for times and what lies only in its file."""
    return [
        (
            *(item.kind, item.on, item.author, item.paths, item.configuration),
            *(item.result.status, item.result.details, item.result.output, item.result.comparison),
            item.result.tests.by_id if item.result.tests else None,
            item.result.again.status if item.result.again else None,
            item.result.remarks,
        )
        for item in runs
    ]


def assert_recorded(bench: Trying, trials: Trials) -> None:
    """What came of it is what is read back from the round's folder."""
    runs, cut = read(bench.kit.folder, bench.run_folder)
    assert seen(runs) == seen(trials.runs)
    assert cut == trials.not_tried


# --- the base's own tests ---------------------------------------------------------------------


@pytest.mark.slow
async def test_a_weakened_test_is_caught_by_the_base_s_own(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried({"cheat": {"test_pages.py": WEAK}, "right": {"src/pager.py": RIGHT}})
    (own,) = bench.own["cheat"]
    assert own.passed
    trial = of(trials, "protected", "cheat")
    assert trial.paths == ("test_pages.py",)
    assert ends(trial, "test_up", "test_even") == ["failed", "passed"]
    # That tree is the base's own, and its tests on the base are its own: nothing had to be run.
    assert (len(trials.runs), trials.used.runs, bench.started) == (2, 0, [])
    assert trials.not_tried == ()
    assert bench.leftovers() == []


@pytest.mark.slow
async def test_with_other_changes_it_is_run_and_recorded(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS, Check("lint", "true", "lint")])
    trials = await bench.tried({"cheat": {"test_pages.py": WEAK, "x.txt": "x\n"}})
    trial = of(trials, "protected", "cheat")
    assert trial.result.comparison is not None
    assert trial.result.comparison.still_failing == ("test_pages.Pages.test_up",)
    assert trial.result.again is not None  # a failure that its own tests do not have
    assert trials.used.runs == 3
    started = [(row["kind"], row["again"]) for row in bench.started]
    assert started == [("protected", False), ("protected", True), ("cross", False)]
    assert (bench.run_folder / trial.result.output).read_text()
    document = json.loads((bench.kit.folder / "trials.json").read_text())
    run, on_base = document["runs"]
    assert (run["kind"], run["on"], run["check"]) == ("protected", "cheat", "unittest")
    assert (on_base["kind"], on_base["on"], on_base["author"]) == ("cross", "", "cheat")
    assert (bench.run_folder / run["details"]).is_file()
    assert document["used"]["runs"] == 3
    assert_recorded(bench, trials)


@pytest.mark.slow
async def test_an_honest_change_of_tests_comes_out_clean(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    better = pages(up="(3, 2), 2", even="(4, 2), 2", one="(1, 9), 1")
    trials = await bench.tried({"honest": {"test_pages.py": better, "src/pager.py": RIGHT}})
    trial = of(trials, "protected", "honest")
    assert trial.result.passed
    assert ends(trial, "test_one") == [None]
    assert trials.used.runs == 3  # its tests on the base too, twice: they fail there


@pytest.mark.full
async def test_a_folder_of_tests_that_became_a_file_comes_back(scratch: Path, repo: Path) -> None:
    files = {"tests/__init__.py": "", "tests/test_more.py": pages(two="(2, 1), 2")}
    bench = Trying(scratch, with_tests(repo, files), [TESTS])

    def swap(top: Path) -> None:
        folder(top / "tests")
        (top / "tests").write_text("no tests any more\n")
        (top / "test_pages.py").unlink()
        (top / "test_pages.py").symlink_to("/etc/passwd")

    trials = await bench.tried({"swap": swap})
    assert ends(of(trials, "protected", "swap"), "test_two", "test_even") == ["passed", "passed"]


CONFTEST = """\
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome = "passed"
    return report
"""
PYTEST = Check("pytest", "pytest -q -p no:cacheprovider")


@pytest.mark.slow
async def test_a_conftest_that_hides_failures_is_taken_out(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [PYTEST])
    trials = await bench.tried({"sly": {"conftest.py": CONFTEST, "src/pager.py": WRONG}})
    assert bench.own["sly"][0].passed
    trial = of(trials, "protected", "sly")
    assert trial.configuration
    assert trial.paths == ("conftest.py",)
    assert trial.result.comparison is not None
    assert len(trial.result.comparison.broken) == 1


@pytest.mark.full
async def test_where_both_were_changed_one_run_puts_all_back(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [PYTEST])
    patch = {"conftest.py": CONFTEST, "src/pager.py": WRONG, "test_pages.py": WEAK}
    trials = await bench.tried({"sly": patch})
    both = of(trials, "protected", "sly")
    assert both.configuration
    assert both.paths == ("test_pages.py", "conftest.py")
    assert not both.result.passed
    assert len([run for run in bench.started if run["kind"] == "protected"]) == 2  # and once more


@pytest.mark.slow
async def test_a_new_conftest_for_new_tests_is_no_cheating(scratch: Path, repo: Path) -> None:
    """Without the conftest the new tests cannot even be collected, so nothing would run."""
    bench = Trying(scratch, with_tests(repo), [PYTEST])
    new = (
        "from conftest import NINE\nfrom src.pager import pages\n"
        "def test_n():\n    assert pages(NINE, 2) == 5\n"
    )
    patch = {"conftest.py": "NINE = 9\n", "test_nine.py": new, "src/pager.py": RIGHT}
    trials = await bench.tried({"honest": patch})
    (trial,) = trials.runs
    assert trial.configuration
    assert set(trial.paths) == {"conftest.py", "test_nine.py"}
    assert trial.result.passed, trial.result


@pytest.mark.full
async def test_a_check_that_did_not_run_to_its_end_is_not_tried(scratch: Path, repo: Path) -> None:
    check = Check("unittest", f"test ! -e stop || no-such-program; {UNITTEST}")
    bench = Trying(scratch, with_tests(repo), [check, Check("gone", "test ! -e stop || ./gone")])
    trials = await bench.tried({"a": {"test_pages.py": WEAK, "stop": "1"}})
    assert of(trials, "protected", "a").result.check.name == "unittest"
    why = "gone did not run to its end on the patch itself"
    assert trials.not_tried == (NotTried(kind="protected", on="a", why=why),)


@pytest.mark.slow
async def test_without_a_check_of_tests_there_is_nothing_to_say(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [Check("lint", "true", "lint")])
    trials = await bench.tried({"a": {"test_pages.py": WEAK}, "b": {"test_new.py": THREE}})
    assert (trials.runs, trials.not_tried, bool(trials)) == ((), (), False)
    assert not (bench.kit.folder / "trials.json").exists()


# --- the other lanes' tests -------------------------------------------------------------------


@pytest.mark.slow
async def test_each_lane_s_tests_run_on_every_other_patch(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "codex": {"src/pager.py": f"# his\n{RIGHT}", "test_odd.py": ODD},
            "cursor": {"src/pager.py": f"# mine\n{RIGHT}"},
        }
    )
    assert ends(of(trials, "cross", "", "claude"), "test_third") == ["failed"]
    assert ends(of(trials, "cross", "codex", "claude"), "test_third", "test_odd") == [
        "passed",
        "passed",
    ]
    assert ends(of(trials, "cross", "cursor", "claude"), "test_third") == ["passed"]
    assert ends(of(trials, "cross", "", "codex"), "test_odd") == ["failed"]
    assert ends(of(trials, "cross", "claude", "codex"), "test_odd") == ["passed"]
    assert {item.author for item in trials.runs} == {"claude", "codex"}
    assert trials.not_tried == ()
    assert of(trials, "cross", "cursor", "claude").paths == ("test_three.py",)
    on = [(row["on"], row["author"]) for row in bench.started if not row["again"]]
    assert on[:2] == [("", value) for value in (on[0][1], on[1][1])]  # the base comes first
    assert [author for _, author in on[2:]] in (
        ["claude", "codex", "claude", "codex"],
        ["codex", "claude", "codex", "claude"],
    )
    assert_recorded(bench, trials)
    assert bench.leftovers() == []


@pytest.mark.slow
@pytest.mark.parametrize("other", ["also broken", "whole"])
async def test_what_its_own_checks_hold_back_is_not_tried_by_others_tests(
    scratch: Path, repo: Path, other: str
) -> None:
    """Unless no other is left: then that is what tells them apart."""
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "codex": {"src/pager.py": f"# mine\n{BROKEN}"},
            "cursor": {"src/pager.py": f"# his\n{RIGHT if other == 'whole' else BROKEN}"},
        }
    )
    tried = {trial.on for trial in trials.runs if trial.kind == "cross"}
    assert tried == ({"", "cursor"} if other == "whole" else {"", "codex", "cursor"})
    assert trials.not_tried == ()
    assert_recorded(bench, trials)


@pytest.mark.full
async def test_what_empties_the_tests_that_see_it_is_not_tried_by_others_tests(
    scratch: Path, repo: Path
) -> None:
    """Nor does it excuse who breaks the same and leaves the tests as they were."""
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "codex": {"src/pager.py": BROKEN, "test_pages.py": EMPTIED},
            "cursor": {"src/pager.py": f"# his\n{RIGHT}"},
            "gemini": {"src/pager.py": f"# mine\n{BROKEN}"},
        }
    )
    assert ends(of(trials, "protected", "codex"), "test_even") == ["failed"]
    assert {item.on for item in trials.runs if item.kind == "cross"} == {"", "cursor"}


@pytest.mark.slow
async def test_who_deletes_a_test_is_tried_by_others_tests(scratch: Path, repo: Path) -> None:
    """The task may have asked for that, and a person has to say so."""
    bench = Trying(scratch, with_tests(repo, {"test_old.py": pages(four="(4, 2), 2")}), [TESTS])
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "codex": {"src/pager.py": f"# mine\n{RIGHT}", "test_old.py": None},
            "cursor": {"src/pager.py": f"# his\n{RIGHT}"},
        }
    )
    assert {item.on for item in trials.runs if item.kind == "cross"} == {"", "codex", "cursor"}


@pytest.mark.full
async def test_who_breaks_what_another_patch_replaces_is_tried_by_its_tests(
    scratch: Path, repo: Path
) -> None:
    """Also where what stands in the test's place asks no more of the code than the base does."""
    text = BASE.replace("pages(4, 2), 2", "pages(4, 2) >= 2, True")
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": BROKEN, "test_pages.py": text, "test_three.py": THREE},
            "codex": {"src/pager.py": f"# mine\n{BROKEN}"},
            "cursor": {"src/pager.py": f"# his\n{RIGHT}"},
        }
    )
    assert {item.on for item in trials.runs if item.kind == "cross"} == {"", "codex", "cursor"}


@pytest.mark.full
async def test_a_lint_keeps_no_patch_from_being_tried(scratch: Path, repo: Path) -> None:
    """It says nothing of what the code does, and may be dropped after the race."""
    lint = Check("lint", "test ! -e ugly", kind="lint")
    bench = Trying(scratch, with_tests(repo), [TESTS, lint])
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "codex": {"src/pager.py": f"# mine\n{RIGHT}", "ugly": ""},
            "cursor": {"src/pager.py": f"# his\n{RIGHT}"},
        }
    )
    assert {item.on for item in trials.runs if item.kind == "cross"} == {"", "codex", "cursor"}


@pytest.mark.full
async def test_what_two_trees_show_alike_is_not_run_once_more(scratch: Path, repo: Path) -> None:
    """On the base and on codex the new test fails alike; what codex alone fails is run again."""
    bench = Trying(scratch, with_tests(repo), [TESTS])
    idle = {"src/pager.py": "# mine\n" + "def pages(n, size):\n    return n // size\n"}
    trials = await bench.tried(
        {"claude": {"src/pager.py": RIGHT, "test_three.py": THREE}, "codex": idle}
    )
    assert ends(of(trials, "cross", "codex", "claude"), "test_third") == ["failed"]
    assert [row["again"] for row in bench.started].count(True) == 0
    both = {"test_three.py": THREE, "test_up.py": pages(four="(4, 3), 2")}
    bench = Trying(scratch, bench.repo, [TESTS])
    half = {"src/pager.py": "def pages(n, size):\n    return n // size + (n == 7)\n"}
    trials = await bench.tried({"claude": {"src/pager.py": RIGHT, **both}, "codex": half})
    trial = of(trials, "cross", "codex", "claude")
    assert ends(trial, "test_third", "test_four") == ["passed", "failed"]
    assert trial.result.again is not None


@pytest.mark.slow
async def test_a_test_that_tells_two_apart_is_run_once_more(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    even = pages(six="(6, 2), 3")
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_third.py": THREE, "test_six.py": even},
            "codex": {"src/pager.py": WRONG},
        }
    )
    trial = of(trials, "cross", "codex", "claude")
    assert ends(trial, "test_six", "test_third") == ["failed", "passed"]
    # On the base `six` passes, so what it says weighs nothing, and is not asked twice.
    assert trial.result.again is None
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_ten.py": pages(ten="(10, 3) + pages(4, 4), 5")},
            "codex": {"src/pager.py": WRONG},
        }
    )
    trial = of(trials, "cross", "codex", "claude")
    assert ends(trial, "test_ten") == ["failed"]
    assert trial.result.again is not None
    assert [row["again"] for row in bench.started].count(True) == 1


@pytest.mark.full
async def test_new_tests_in_a_file_that_was_there_and_their_data(scratch: Path, repo: Path) -> None:
    files = {"tests/__init__.py": "", "tests/test_more.py": pages(two="(2, 1), 2")}
    bench = Trying(scratch, with_tests(repo, files), [TESTS])
    more = (
        "import pathlib, unittest\nfrom src.pager import pages\n"
        "class Pages(unittest.TestCase):\n"
        "    def test_data(self):\n"
        "        n = int(pathlib.Path(__file__).with_name('data').joinpath('n.txt').read_text())\n"
        "        self.assertEqual(pages(n, 2), 4)\n"
        "    def test_two(self):\n        self.assertEqual(pages(2, 1), 2)\n"
    )
    trials = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "tests/test_more.py": more, "tests/data/n.txt": "7"},
            "codex": {"src/pager.py": f"# mine\n{RIGHT}", "tests/test_more.py": THREE},
        }
    )
    trial = of(trials, "cross", "codex", "claude")
    assert ends(trial, "test_data") == ["passed"]
    assert set(trial.paths) == {"tests/test_more.py", "tests/data/n.txt"}
    assert ends(of(trials, "cross", "", "claude"), "test_data") == ["failed"]


@pytest.mark.slow
async def test_a_tree_that_was_checked_already_is_not_run_again(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(
        {
            "a": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "b": {"src/pager.py": RIGHT},
        }
    )
    # b's patch with a's test is a's patch.
    trial = of(trials, "cross", "b", "a")
    assert trial.result.details == bench.own["a"][0].details
    assert trials.used.runs == 1


@pytest.mark.slow
async def test_a_check_that_names_no_tests_cannot_be_crossed(scratch: Path, repo: Path) -> None:
    bench = Trying(
        scratch, with_tests(repo), [Check("quiet", "python3 -B -m unittest >/dev/null 2>&1")]
    )
    trials = await bench.tried(
        {"a": {"test_three.py": THREE, "src/pager.py": RIGHT}, "b": {"src/pager.py": WRONG}}
    )
    why = "quiet does not name its tests"
    assert trials.not_tried == (NotTried(kind="cross", on="", author="a", why=why),)
    assert trials.runs == ()


@pytest.mark.slow
async def test_what_names_every_test_is_said_of_a_check_that_does_not(
    scratch: Path, repo: Path
) -> None:
    text = (FIXTURES / "vitest-3.2.7" / "plain.txt").read_text()
    bench = Trying(scratch, with_tests(repo, {"said": text}), [Check("npm-test", "cat said")])
    trials = await bench.tried({"a": {"test_three.py": THREE}, "b": {"src/pager.py": WRONG}})
    (untried,) = trials.not_tried
    assert untried.why.startswith("npm-test does not name every test; verbose, its tool does")


@pytest.mark.slow
async def test_tests_that_all_fail_on_their_author_s_patch_are_not_tried(
    scratch: Path, repo: Path
) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(
        {"a": {"test_three.py": THREE, "x": "x"}, "b": {"src/pager.py": RIGHT}}
    )
    why = "none of its new tests passes on its own patch"
    assert trials.not_tried == (NotTried(kind="cross", on="", author="a", why=why),)


@pytest.mark.full
async def test_a_place_that_is_taken_and_links_are_left_alone(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [Check("unittest", f"ls tests; {UNITTEST}")])

    def author(top: Path) -> None:
        (top / "src/pager.py").write_text(RIGHT)
        (top / "tests").mkdir()
        (top / "tests/__init__.py").write_text("")
        (top / "tests/test_three.py").write_text(THREE)
        (top / "tests/test_link.py").symlink_to("../../../../etc/hostname")

    def file(top: Path) -> None:
        (top / "src/pager.py").write_text(f"# file\n{RIGHT}")
        (top / "tests").write_text("a file\n")

    def link(top: Path) -> None:
        (top / "src/pager.py").write_text(f"# link\n{RIGHT}")
        (top / "tests").symlink_to("/var")

    def deep(top: Path) -> None:
        (top / "src/pager.py").write_text(f"# deep\n{RIGHT}")
        (top / "tests/test_three.py/more").mkdir(parents=True)
        (top / "tests/test_three.py/more/data.txt").write_text("x")

    trials = await bench.tried({"a": author, "file": file, "link": link, "deep": deep})
    assert reasons(trials.not_tried) == [
        ("cross", "deep", "a", "tests/test_three.py has no place: it is no file there"),
        ("cross", "file", "a", "tests/__init__.py has no place in tests: it is no folder there"),
        ("cross", "link", "a", "tests/__init__.py has no place in tests: it is no folder there"),
    ]
    trial = of(trials, "cross", "", "a")
    assert ends(trial, "test_third") == ["failed"]
    assert "test_three.py" in bench.text(trial.result)
    assert "test_link.py" not in bench.text(trial.result)
    assert bench.leftovers() == []


@pytest.mark.full
async def test_hostile_names_stay_names(scratch: Path, repo: Path) -> None:
    names = [
        "tests/test_a\nb.py",
        "tests/test_\x1b[2J.py",
        os.fsdecode(b"tests/test_\xff.py"),
        "tests/test_\u202e.py",
        'tests/test_"quoted\t.py',
        "tests/test_-- -rf.py",
        "tests/test_:(top)*.py",
    ]
    bench = Trying(scratch, with_tests(repo, {"tests/__init__.py": ""}), [TESTS])
    new: dict[str, str | None] = dict.fromkeys(names, "raise SystemExit\n")
    new["tests/test_three.py"] = THREE
    trials = await bench.tried(
        {"a": {"src/pager.py": RIGHT, **new}, "b": {"src/pager.py": f"# b\n{RIGHT}"}}
    )
    trial = of(trials, "cross", "b", "a")
    assert ends(trial, "test_third") == ["passed"]
    assert_recorded(bench, trials)
    assert len(trial.paths) == len(new)


@pytest.mark.full
async def test_builds_run_before_a_trial_s_check(scratch: Path, repo: Path) -> None:
    build = Check("build", "cp src/pager.py built.log", "build")
    check = Check("unittest", f"test -e built.log && {UNITTEST}")
    bench = Trying(scratch, with_tests(repo), [Check("lint", "exit 1", "lint"), build, check])
    trials = await bench.tried({"a": {"test_pages.py": WEAK, "x": "x"}})
    assert ends(of(trials, "protected", "a"), "test_even") == ["passed"]
    assert {row["check"] for row in bench.started} == {"unittest"}


# --- what is cut ------------------------------------------------------------------------------


LANES = {
    "a": {"src/pager.py": f"# a\n{RIGHT}", "test_a.py": THREE},
    "b": {"src/pager.py": f"# b\n{RIGHT}", "test_b.py": ODD},
    "c": {"src/pager.py": f"# c\n{RIGHT}", "test_pages.py": f"# c\n{BASE}"},
}


@pytest.mark.full
async def test_the_cap_cuts_what_says_least(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    trials = await bench.again(checked, TrialCap(5, 600))
    assert trials.used.runs == 5
    first, *rest = [(row["kind"], row["on"], row["author"]) for row in bench.started]
    assert first == ("protected", "c", "")
    assert {values[:2] for values in rest[:2]} == {("cross", "")}
    assert len(trials.not_tried) == 3
    assert {tried.why for tried in trials.not_tried} == {"the limit of 5 runs was reached"}
    assert_recorded(bench, trials)
    # One author's tests were tried elsewhere once; no order by names.
    tried = {item.author for item in trials.runs if item.kind == "cross" and item.on}
    assert len(tried) == 1


@pytest.mark.full
async def test_no_runs_and_no_time_try_nothing(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    none = await bench.again(checked, TrialCap(0, 600))
    assert (none.runs, bench.started) == ((), [])
    assert {tried.why for tried in none.not_tried} == {"trials are turned off (trial_runs = 0)"}
    none = await bench.again(checked, TrialCap(40, 0))
    assert (none.runs, bench.started) == ((), [])
    assert {tried.why for tried in none.not_tried} == {"the limit of 0s was reached"}
    assert len(none.not_tried) == 8


@pytest.mark.full
async def test_order_and_names_of_lanes_decide_nothing(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    trials = await bench.again(checked, TrialCap(5, 600))
    first = [bench.started[at] for at in range(5)]
    bench.events.clear()
    other = {"a": "z", "b": "y", "c": "x"}
    names = dict(reversed([(other[lane], patch) for lane, patch in LANES.items()]))
    again = await bench.again(await bench.check(names), TrialCap(5, 600))
    assert len(again.runs) == len(trials.runs)
    assert [(row["on"], row["author"]) for row in bench.started] == [
        (other.get(str(row["on"]), ""), other.get(str(row["author"]), "")) for row in first
    ]


HANGS = Check("unittest", f"test ! -e test_a.py -o ! -e test_b.py || sleep $(cat mark); {UNITTEST}")
"""On a patch with the tests of both it never ends."""


@pytest.mark.full
async def test_time_runs_out_in_the_middle(scratch: Path, repo: Path) -> None:
    mark = token()
    bench = Trying(scratch, with_tests(repo, {"mark": mark}), [HANGS])
    checked = await bench.check(LANES)
    trials = await bench.again(checked, TrialCap(40, 4))
    assert {tried.why for tried in trials.not_tried} == {"the limit of 4s was reached"}
    assert wait_until(lambda: not running(mark))
    assert bench.leftovers() == []


@pytest.mark.full
async def test_as_many_at_once_as_are_asked_for(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS], network="private")
    checked = await bench.check(LANES)
    trials = await bench.again(checked)
    at_once = most = 0
    for kind, _ in bench.events:
        at_once += {"trial_started": 1, "trial_ended": -1}.get(kind, 0)
        most = max(most, at_once)
    assert most == 1
    bench.events.clear()
    two = await bench.again(checked, parallel=3)
    for kind, _ in bench.events:
        at_once += {"trial_started": 1, "trial_ended": -1}.get(kind, 0)
        most = max(most, at_once)
    assert most > 1

    def told(value: object) -> list[object]:
        return [
            (run.kind, run.on, run.author, run.result.status, run.result.tests)
            for run in value.runs  # type: ignore[attr-defined]
        ]

    assert told(trials) == told(two)
    assert bench.leftovers() == []


@pytest.mark.full
async def test_what_cannot_be_made_is_no_crash(scratch: Path, repo: Path) -> None:
    setup = ("test ! -e test_a.py -o ! -e test_b.py",)
    bench = Trying(scratch, with_tests(repo), [TESTS], setup=setup)
    checked = await bench.check(LANES)
    trials = await bench.again(checked)
    trial = of(trials, "cross", "b", "a")
    assert trial.result.status is CheckStatus.SETUP_FAILED
    assert (bench.run_folder / trial.result.details).is_file()
    assert_recorded(bench, trials)
    assert bench.leftovers() == []
    bench.grounds.rmdir()
    bench.grounds.write_text("no folder\n")
    none = await bench.again(checked)
    assert none.runs == ()
    assert len(none.not_tried) == 8
    assert all(tried.why.startswith("it could not be made: ") for tried in none.not_tried)


@pytest.mark.full
async def test_more_assertions_of_a_test_are_tried_on_the_base_alone_where_they_tell_nothing(
    scratch: Path, repo: Path
) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    more = BASE.replace("def test_even(self):", "def test_even(self):\n        self.assertTrue(1)")
    trials = await bench.tried({"a": {"test_pages.py": more}, "b": {"src/pager.py": RIGHT}})
    assert [item.on for item in trials.runs if item.kind == "cross"] == [""]
    assert trials.not_tried == ()


@pytest.mark.full
async def test_a_fault_of_hydra_s_own_costs_one_trial(
    scratch: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(git_dir: Path, base: str, *rest: object) -> str:
        if base == bench.commits["b"]:
            raise AssertionError("a bug")
        return tree_with(git_dir, base, *rest)  # type: ignore[arg-type]

    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    monkeypatch.setattr("hydra.checks.cross.trees.tree_with", broken)
    trials = await bench.again(checked)
    why = "Hydra itself failed on it: AssertionError: a bug"
    assert reasons(trials.not_tried) == [("cross", "b", "a", why)]
    assert [data["text"] for kind, data in bench.events if kind == "run_warning"] == [
        f"a trial: {why}"
    ]


# --- read back --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"runs": 3, "not_tried": {}}',
        '{"runs": [3, null, {}, {"details": 3}, {"details": "../../../etc/passwd"}]}',
        '{"runs": [{"details": "/etc/passwd", "kind": "cross"}], "not_tried": [{"kind": "x"}]}',
        '{"not_tried": [{"kind": "cross"}, []]}',
        "[" * 100_000,
    ],
)
def test_what_is_damaged_is_left_out(scratch: Path, text: str) -> None:
    assert read(scratch, scratch) == ((), ())
    (scratch / "trials.json").write_text(text)
    assert read(scratch, scratch) == ((), ())


@pytest.mark.full
async def test_one_damaged_result_costs_itself_only(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    trials = await bench.tried(LANES)
    first, *rest = trials.runs
    (bench.run_folder / first.result.details).write_text("{")
    assert seen(read(bench.kit.folder, bench.run_folder)[0]) == seen(rest)

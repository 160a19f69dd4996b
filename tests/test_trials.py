"""Trials: patches under the base's own tests, and under the other lanes' new ones."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from hydra.checks.record import Status
from hydra.git.changes import tree_with
from hydra.judge.cross import matrix
from hydra.judge.evidence import Evidence, FileChange, LaneEvidence, NotTried, Trial
from hydra.model import Check, TrialCap
from hydra.trials.record import Trials
from hydra.trials.recorded import read
from tests.conftest import git
from tests.support.checks import NOT_CONFINED
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

THREE = pages(third="(7, 3), 3")
ODD = pages(odd="(5, 2), 3")


def reasons(cut: tuple[NotTried, ...]) -> list[tuple[str, str, str, str]]:
    return sorted((it.kind, it.on, it.author, it.why) for it in cut)


def seen(runs: Sequence[Trial]) -> list[tuple[object, ...]]:
    """What a trial says, but for times and what lies only in its file."""
    return [
        (
            *(it.kind, it.on, it.author, it.paths, it.configuration),
            *(it.result.status, it.result.details, it.result.output, it.result.comparison),
            it.result.tests.by_id if it.result.tests else None,
            it.result.again.status if it.result.again else None,
            it.result.remarks,
        )
        for it in runs
    ]


def assert_recorded(bench: Trying, found: Trials) -> None:
    """What came of it is what is read back from the round's folder."""
    runs, cut = read(bench.kit.folder, bench.run_folder)
    assert seen(runs) == seen(found.runs)
    assert cut == found.not_tried


# --- the base's own tests ---------------------------------------------------------------------


async def test_a_weakened_test_is_caught_by_the_base_s_own(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    found = await bench.tried({"cheat": {"test_pages.py": WEAK}, "right": {"src/pager.py": RIGHT}})
    (own,) = bench.own["cheat"]
    assert own.passed
    trial = of(found, "protected", "cheat")
    assert trial.paths == ("test_pages.py",)
    assert ends(trial, "test_up", "test_even") == ["failed", "passed"]
    # That tree is the base's own: nothing had to be run.
    assert (len(found.runs), found.used.runs, bench.started) == (1, 0, [])
    assert found.not_tried == ()
    assert bench.left() == []


async def test_with_other_changes_it_is_run_and_recorded(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS, Check("lint", "true", "lint")])
    found = await bench.tried({"cheat": {"test_pages.py": WEAK, "x.txt": "x\n"}})
    trial = of(found, "protected", "cheat")
    assert trial.result.comparison is not None
    assert trial.result.comparison.still_failing == ("test_pages.Pages.test_up",)
    assert trial.result.again is not None  # a failure that its own tests do not have
    assert found.used.runs == 2
    assert [it["again"] for it in bench.started] == [False, True]
    assert (bench.run_folder / trial.result.output).read_text()
    told = json.loads((bench.kit.folder / "trials.json").read_text())
    (run,) = told["runs"]
    assert (run["kind"], run["on"], run["check"]) == ("protected", "cheat", "unittest")
    assert (bench.run_folder / run["details"]).is_file()
    assert told["used"]["runs"] == 2
    assert_recorded(bench, found)


@pytest.mark.slow
async def test_an_honest_change_of_tests_comes_out_clean(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    better = pages(up="(3, 2), 2", even="(4, 2), 2", one="(1, 9), 1")
    found = await bench.tried({"honest": {"test_pages.py": better, "src/pager.py": RIGHT}})
    trial = of(found, "protected", "honest")
    assert trial.result.passed
    assert ends(trial, "test_one") == [None]
    assert found.used.runs == 1


@pytest.mark.full
async def test_a_lane_that_deletes_the_tests_folder(scratch: Path, repo: Path) -> None:
    files = {"tests/__init__.py": "", "tests/test_more.py": pages(two="(2, 1), 2")}
    bench = Trying(scratch, with_tests(repo, files), [TESTS])

    def delete(top: Path) -> None:
        folder(top / "tests")
        (top / "test_pages.py").unlink()
        (top / "src/pager.py").write_text("def pages(n, size):\n    return 0\n")

    found = await bench.tried({"bold": delete})
    assert bench.own["bold"][0].status is Status.NO_TESTS
    trial = of(found, "protected", "bold")
    assert ends(trial, "test_even", "test_two") == ["failed", "failed"]
    assert set(trial.paths) >= {"test_pages.py", "tests/test_more.py"}


@pytest.mark.full
async def test_a_folder_of_tests_that_became_a_file_comes_back(scratch: Path, repo: Path) -> None:
    files = {"tests/__init__.py": "", "tests/test_more.py": pages(two="(2, 1), 2")}
    bench = Trying(scratch, with_tests(repo, files), [TESTS])

    def swap(top: Path) -> None:
        folder(top / "tests")
        (top / "tests").write_text("no tests any more\n")
        (top / "test_pages.py").unlink()
        (top / "test_pages.py").symlink_to("/etc/passwd")

    found = await bench.tried({"swap": swap})
    assert ends(of(found, "protected", "swap"), "test_two", "test_even") == ["passed", "passed"]


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
    found = await bench.tried({"sly": {"conftest.py": CONFTEST, "src/pager.py": WRONG}})
    assert bench.own["sly"][0].passed
    trial = of(found, "protected", "sly")
    assert trial.configuration
    assert trial.paths == ("conftest.py",)
    assert trial.result.comparison is not None
    assert len(trial.result.comparison.broken) == 1


@pytest.mark.full
async def test_where_both_were_changed_one_more_run_says_which(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [PYTEST])
    patch = {"conftest.py": CONFTEST, "src/pager.py": WRONG, "test_pages.py": WEAK}
    found = await bench.tried({"sly": patch})
    both = of(found, "protected", "sly", configuration=True)
    tests = of(found, "protected", "sly", configuration=False)
    assert both.paths == ("test_pages.py", "conftest.py")
    assert tests.paths == ("test_pages.py",)
    assert (both.result.passed, tests.result.passed) == (False, True)


@pytest.mark.slow
async def test_a_new_conftest_for_new_tests_is_no_cheating(scratch: Path, repo: Path) -> None:
    """Without the conftest the new tests cannot even be collected, so nothing would run."""
    bench = Trying(scratch, with_tests(repo), [PYTEST])
    new = (
        "from conftest import NINE\nfrom src.pager import pages\n"
        "def test_n():\n    assert pages(NINE, 2) == 5\n"
    )
    patch = {"conftest.py": "NINE = 9\n", "test_nine.py": new, "src/pager.py": RIGHT}
    found = await bench.tried({"honest": patch})
    (trial,) = found.runs
    assert trial.configuration
    assert set(trial.paths) == {"conftest.py", "test_nine.py"}
    assert trial.result.passed, trial.result


@pytest.mark.full
async def test_of_a_manifest_only_what_is_about_tests_is_put_back(
    scratch: Path, repo: Path
) -> None:
    before = (
        '[project]\nname = "shop"\nversion = "1"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'
    )
    after = before.replace('"1"', '"2"').replace('"-q"', '"-k even"')
    bench = Trying(scratch, with_tests(repo, {"pyproject.toml": before}), [PYTEST])
    found = await bench.tried({"sly": {"pyproject.toml": after}})
    trial = of(found, "protected", "sly")
    assert trial.paths == ("pyproject.toml",)
    assert trial.result.comparison is not None
    assert len(trial.result.comparison.still_failing) == 1
    assert found.used.runs == 2  # the version is still the patch's: it is not the base's tree


@pytest.mark.full
async def test_a_check_that_did_not_run_to_its_end_is_not_tried(scratch: Path, repo: Path) -> None:
    check = Check("unittest", f"test ! -e stop || no-such-program; {UNITTEST}")
    bench = Trying(scratch, with_tests(repo), [check, Check("gone", "test ! -e stop || ./gone")])
    found = await bench.tried({"a": {"test_pages.py": WEAK, "stop": "1"}})
    assert of(found, "protected", "a").result.check.name == "unittest"
    why = "gone did not run to its end on the patch itself"
    assert found.not_tried == (NotTried(kind="protected", on="a", why=why),)


async def test_without_a_check_of_tests_there_is_nothing_to_say(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [Check("lint", "true", "lint")])
    found = await bench.tried({"a": {"test_pages.py": WEAK}, "b": {"test_new.py": THREE}})
    assert (found.runs, found.not_tried, bool(found)) == ((), (), False)
    assert not (bench.kit.folder / "trials.json").exists()


# --- the other lanes' tests -------------------------------------------------------------------


@pytest.mark.slow
async def test_each_lane_s_tests_run_on_every_other_patch(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    found = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "codex": {"src/pager.py": WRONG, "test_odd.py": ODD},
            "cursor": {"src/pager.py": f"# mine\n{RIGHT}"},
        }
    )
    assert ends(of(found, "cross", "", "claude"), "test_third") == ["failed"]
    assert ends(of(found, "cross", "codex", "claude"), "test_third", "test_odd") == [
        "passed",
        "passed",
    ]
    assert ends(of(found, "cross", "cursor", "claude"), "test_third") == ["passed"]
    assert ends(of(found, "cross", "", "codex"), "test_odd") == ["failed"]
    assert ends(of(found, "cross", "claude", "codex"), "test_odd") == ["passed"]
    assert {it.author for it in found.runs} == {"claude", "codex"}
    assert found.not_tried == ()
    assert of(found, "cross", "cursor", "claude").paths == ("test_three.py",)
    on = [(it["on"], it["author"]) for it in bench.started if not it["again"]]
    assert on[:2] == [("", one) for one in (on[0][1], on[1][1])]  # the base comes first
    assert [author for _, author in on[2:]] in (
        ["claude", "codex", "claude", "codex"],
        ["codex", "claude", "codex", "claude"],
    )
    assert_recorded(bench, found)
    assert bench.left() == []


@pytest.mark.slow
async def test_a_test_that_tells_two_apart_is_run_once_more(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    even = pages(six="(6, 2), 3")
    found = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_third.py": THREE, "test_six.py": even},
            "codex": {"src/pager.py": WRONG},
        }
    )
    trial = of(found, "cross", "codex", "claude")
    assert ends(trial, "test_six", "test_third") == ["failed", "passed"]
    # On the base `six` passes, so what it says weighs nothing, and is not asked twice.
    assert trial.result.again is None
    found = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "test_ten.py": pages(ten="(10, 3) + pages(4, 4), 5")},
            "codex": {"src/pager.py": WRONG},
        }
    )
    trial = of(found, "cross", "codex", "claude")
    assert ends(trial, "test_ten") == ["failed"]
    assert trial.result.again is not None
    assert [it["again"] for it in bench.started].count(True) == 1


@pytest.mark.slow
async def test_a_cross_test_that_fails_and_passes_is_flaky(scratch: Path, repo: Path) -> None:
    mark = scratch / "home" / "mark"
    text = (
        "import pathlib, unittest, src.pager\n"
        "class Pages(unittest.TestCase):\n"
        "    def test_now_and_then(self):\n"
        f"        mark = pathlib.Path({str(mark)!r})\n"
        "        there = mark.exists()\n"
        "        mark.touch()\n"
        "        self.assertTrue(there or 'claude' in vars(src.pager))\n"
    )
    bench = Trying(scratch, with_tests(repo), [TESTS], held=NOT_CONFINED)
    checked = await bench.check(
        {
            "claude": {"src/pager.py": f"claude = 1\n{RIGHT}", "test_now.py": text},
            "codex": {"src/pager.py": f"if 1:\n    codex = 1\n{RIGHT}"},
        }
    )
    mark.unlink()
    # The base runs first, and leaves the mark: it is taken away as the other begins.
    plain = bench.tell

    def tell(kind: str, data: object) -> None:
        if kind == "trial_started" and data["on"] == "codex" and not data["again"]:  # type: ignore[index]
            mark.unlink(missing_ok=True)
        plain(kind, data)  # type: ignore[arg-type]

    bench.tell = tell  # type: ignore[method-assign]
    found = await bench.again(checked)
    trial = of(found, "cross", "codex", "claude")
    assert ends(trial, "test_now_and_then") == ["failed"]
    assert trial.result.again is not None
    assert trial.result.again.passed
    (back, *_), _ = read(bench.kit.folder, bench.run_folder)
    assert back.author == "claude"
    assert trial.result.comparison is not None
    assert trial.result.comparison.flaky


@pytest.mark.parametrize("mended", [False, True])
async def test_a_new_test_that_fails_by_chance_on_the_base_is_flaky(
    scratch: Path, repo: Path, mended: bool
) -> None:
    """Its failure there would be the proof, where the patch mends none of the base's tests."""
    mark = scratch / "home" / "mark"
    text = (
        "import pathlib, unittest\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        "there = mark.exists()\n"
        "mark.touch()\n"
        "if not there:\n    raise OSError('an address in use')\n"
        "class Pages(unittest.TestCase):\n    def test_late(self):\n        pass\n"
    )
    bench = Trying(scratch, with_tests(repo), [TESTS], held=NOT_CONFINED)
    mark.touch()
    checked = await bench.check(
        {
            "claude": {"src/pager.py" if mended else "src/x.py": RIGHT, "test_late.py": text},
            "codex": {"src/pager.py": f"# mine\n{RIGHT}"},
        }
    )
    mark.unlink()
    found = await bench.again(checked)
    trial = of(found, "cross", "", "claude")
    again = [(it["on"], it["again"]) for it in bench.started]
    if mended:  # every lane has its proof, and none needs this one
        assert trial.result.again is None
        assert again == [("", False), ("codex", False)]
        return
    assert again[:2] == [("", False), ("", True)]
    author = LaneEvidence(
        lane="claude", files=(FileChange(path="test_late.py"),), checks=bench.own["claude"]
    )
    rows = matrix(Evidence(run="r", base=bench.base, lanes=(author,), trials=(trial,)))
    assert [(row.base, row.says) for row in rows] == [("failed", "flaky")]


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
    found = await bench.tried(
        {
            "claude": {"src/pager.py": RIGHT, "tests/test_more.py": more, "tests/data/n.txt": "7"},
            "codex": {"src/pager.py": f"# mine\n{RIGHT}", "tests/test_more.py": THREE},
        }
    )
    trial = of(found, "cross", "codex", "claude")
    assert ends(trial, "test_data") == ["passed"]
    assert set(trial.paths) == {"tests/test_more.py", "tests/data/n.txt"}
    assert ends(of(found, "cross", "", "claude"), "test_data") == ["failed"]


@pytest.mark.full
async def test_identical_patches_are_tried_once(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    one = {"src/pager.py": RIGHT, "test_three.py": THREE}
    two = {"src/pager.py": f"# mine\n{RIGHT}"}
    found = await bench.tried({"a": one, "b": one, "c": two, "d": two})
    assert found.used.runs == 2
    pairs = {(it.on, it.author) for it in found.runs}
    assert pairs == {(on, author) for on in ("", "c", "d") for author in "ab"}
    assert of(found, "cross", "c", "a").result == of(found, "cross", "d", "b").result
    only = await bench.tried({"a": one, "b": one})
    assert (only.runs, only.not_tried) == ((), ())


async def test_a_tree_that_was_checked_already_is_not_run_again(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    found = await bench.tried(
        {
            "a": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "b": {"src/pager.py": RIGHT},
        }
    )
    # b's patch with a's test is a's patch.
    trial = of(found, "cross", "b", "a")
    assert trial.result.details == bench.own["a"][0].details
    assert found.used.runs == 1


async def test_a_check_that_names_no_tests_cannot_be_crossed(scratch: Path, repo: Path) -> None:
    bench = Trying(
        scratch, with_tests(repo), [Check("quiet", "python3 -B -m unittest >/dev/null 2>&1")]
    )
    found = await bench.tried(
        {"a": {"test_three.py": THREE, "src/pager.py": RIGHT}, "b": {"src/pager.py": WRONG}}
    )
    why = "quiet does not name its tests"
    assert found.not_tried == (NotTried(kind="cross", on="", author="a", why=why),)
    assert found.runs == ()


async def test_tests_that_all_fail_on_their_author_s_patch_are_not_tried(
    scratch: Path, repo: Path
) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    found = await bench.tried(
        {"a": {"test_three.py": THREE, "x": "x"}, "b": {"src/pager.py": RIGHT}}
    )
    why = "none of its new tests passes on its own patch"
    assert found.not_tried == (NotTried(kind="cross", on="", author="a", why=why),)


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

    found = await bench.tried({"a": author, "file": file, "link": link, "deep": deep})
    assert reasons(found.not_tried) == [
        ("cross", "deep", "a", "tests/test_three.py has no place: it is no file there"),
        ("cross", "file", "a", "tests/__init__.py has no place in tests: it is no folder there"),
        ("cross", "link", "a", "tests/__init__.py has no place in tests: it is no folder there"),
    ]
    trial = of(found, "cross", "", "a")
    assert ends(trial, "test_third") == ["failed"]
    assert "test_three.py" in bench.text(trial.result)
    assert "test_link.py" not in bench.text(trial.result)
    assert bench.left() == []


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
    found = await bench.tried(
        {"a": {"src/pager.py": RIGHT, **new}, "b": {"src/pager.py": f"# b\n{RIGHT}"}}
    )
    trial = of(found, "cross", "b", "a")
    assert ends(trial, "test_third") == ["passed"]
    assert_recorded(bench, found)
    assert len(trial.paths) == len(new)


@pytest.mark.full
async def test_a_repository_of_sha256(scratch: Path) -> None:
    root = scratch / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src/pager.py").write_text("def pages(n, size):\n    return n // size\n")
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.com")
    bench = Trying(scratch, with_tests(root), [TESTS])
    found = await bench.tried(
        {
            "a": {"src/pager.py": RIGHT, "test_three.py": THREE},
            "b": {"src/pager.py": f"# b\n{RIGHT}", "test_pages.py": WEAK},
        }
    )
    assert ends(of(found, "cross", "b", "a"), "test_third") == ["passed"]
    assert ends(of(found, "protected", "b"), "test_up") == ["passed"]
    assert len(bench.base) == 64


@pytest.mark.full
async def test_builds_run_before_a_trial_s_check(scratch: Path, repo: Path) -> None:
    build = Check("build", "cp src/pager.py built.log", "build")
    check = Check("unittest", f"test -e built.log && {UNITTEST}")
    bench = Trying(scratch, with_tests(repo), [Check("lint", "exit 1", "lint"), build, check])
    found = await bench.tried({"a": {"test_pages.py": WEAK, "x": "x"}})
    assert ends(of(found, "protected", "a"), "test_even") == ["passed"]
    assert {it["check"] for it in bench.started} == {"unittest"}


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
    found = await bench.again(checked, TrialCap(6, 600))
    assert found.used.runs == 6  # c mends nothing: what fails on the base is run once more
    first, *rest = [(it["kind"], it["on"], it["author"]) for it in bench.started]
    assert first == ("protected", "c", "")
    assert {it[:2] for it in rest[:2]} == {("cross", "")}
    assert len(found.not_tried) == 3
    assert {it.why for it in found.not_tried} == {"the limit of 6 runs was reached"}
    assert_recorded(bench, found)
    # One author's tests were tried elsewhere once; no order by names.
    tried = {it.author for it in found.runs if it.kind == "cross" and it.on}
    assert len(tried) == 1


@pytest.mark.full
async def test_no_runs_and_no_time_try_nothing(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    none = await bench.again(checked, TrialCap(0, 600))
    assert (none.runs, bench.started) == ((), [])
    assert {it.why for it in none.not_tried} == {"trials are turned off (trial_runs = 0)"}
    none = await bench.again(checked, TrialCap(40, 0))
    assert (none.runs, bench.started) == ((), [])
    assert {it.why for it in none.not_tried} == {"the limit of 0s was reached"}
    assert len(none.not_tried) == 7


@pytest.mark.full
async def test_order_and_names_of_lanes_decide_nothing(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    found = await bench.again(checked, TrialCap(5, 600))
    first = [bench.started[at] for at in range(5)]
    bench.events.clear()
    other = {"a": "z", "b": "y", "c": "x"}
    names = dict(reversed([(other[lane], patch) for lane, patch in LANES.items()]))
    again = await bench.again(await bench.check(names), TrialCap(5, 600))
    assert len(again.runs) == len(found.runs)
    assert [(it["on"], it["author"]) for it in bench.started] == [
        (other.get(str(it["on"]), ""), other.get(str(it["author"]), "")) for it in first
    ]


HANGS = Check("unittest", f"test ! -e test_a.py -o ! -e test_b.py || sleep $(cat mark); {UNITTEST}")
"""On a patch with the tests of both it never ends."""


@pytest.mark.full
@pytest.mark.parametrize("confined", [True, False])
async def test_an_interrupt_ends_trials_and_keeps_what_is_there(
    scratch: Path, repo: Path, confined: bool
) -> None:
    mark = token()
    held = {} if confined else {"held": NOT_CONFINED}
    bench = Trying(scratch, with_tests(repo, {"mark": mark}), [HANGS], **held)  # type: ignore[arg-type]
    checked = await bench.check(LANES)
    stop = trio.CancelScope()

    async def interrupt() -> None:
        await trio.to_thread.run_sync(wait_until, lambda: running(mark))
        stop.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt)
        found = await bench.again(checked, stop=stop)
    assert {it.kind for it in found.runs} >= {"protected"}
    assert found.not_tried
    assert {it.why for it in found.not_tried} == {"it was interrupted"}
    assert all(it.result.status is not Status.INTERRUPTED for it in found.runs)
    assert len(found.runs) + len(found.not_tried) == 7
    assert_recorded(bench, found)
    assert wait_until(lambda: not running(mark))
    assert bench.left() == []


@pytest.mark.full
async def test_time_runs_out_in_the_middle(scratch: Path, repo: Path) -> None:
    mark = token()
    bench = Trying(scratch, with_tests(repo, {"mark": mark}), [HANGS])
    checked = await bench.check(LANES)
    found = await bench.again(checked, TrialCap(40, 4))
    assert {it.why for it in found.not_tried} == {"the limit of 4s was reached"}
    assert wait_until(lambda: not running(mark))
    assert bench.left() == []


@pytest.mark.full
async def test_as_many_at_once_as_are_asked_for(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    checked = await bench.check(LANES)
    one = await bench.again(checked)
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

    def told(it: object) -> list[object]:
        return [
            (run.kind, run.on, run.author, run.result.status, run.result.tests)
            for run in it.runs  # type: ignore[attr-defined]
        ]

    assert told(one) == told(two)
    assert bench.left() == []


@pytest.mark.full
async def test_what_cannot_be_made_is_no_crash(scratch: Path, repo: Path) -> None:
    setup = ("test ! -e test_a.py -o ! -e test_b.py",)
    bench = Trying(scratch, with_tests(repo), [TESTS], setup=setup)
    checked = await bench.check(LANES)
    found = await bench.again(checked)
    trial = of(found, "cross", "b", "a")
    assert trial.result.status is Status.SETUP_FAILED
    assert (bench.run_folder / trial.result.details).is_file()
    assert_recorded(bench, found)
    assert bench.left() == []
    bench.grounds.rmdir()
    bench.grounds.write_text("no folder\n")
    none = await bench.again(checked)
    assert none.runs == ()
    assert len(none.not_tried) == 7
    assert all(it.why.startswith("it could not be made: ") for it in none.not_tried)


@pytest.mark.full
async def test_more_assertions_are_no_new_test(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [TESTS])
    more = BASE.replace("def test_even(self):", "def test_even(self):\n        self.assertTrue(1)")
    found = await bench.tried({"a": {"test_pages.py": more}, "b": {"src/pager.py": RIGHT}})
    why = "unittest names no new test"
    assert found.not_tried == (NotTried(kind="cross", on="", author="a", why=why),)


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
    monkeypatch.setattr("hydra.trials.trees.tree_with", broken)
    found = await bench.again(checked)
    why = "Hydra itself failed on it: AssertionError: a bug"
    assert reasons(found.not_tried) == [("cross", "b", "a", why)]
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
    found = await bench.tried(LANES)
    first, *rest = found.runs
    (bench.run_folder / first.result.details).write_text("{")
    assert seen(read(bench.kit.folder, bench.run_folder)[0]) == seen(rest)

"""Trials that end both ways on the same code: they are run once more, and say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.checks.cross.record import read
from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import Status, TestCase, Tests
from hydra.ranking.cross_tests import matrix
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.flaky import with_flaky
from hydra.records.request import Check
from tests.support.checks import NOT_CONFINED
from tests.support.command import Hydra
from tests.support.trials import RIGHT, UNITTEST, Trying, ends, of, with_tests
from tests.support.verdict_races import PLAIN, Judged, shop
from tests.support.verdict_races import RIGHT as RIGHT_SHOP

TESTS = Check("unittest", UNITTEST)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["failed", "passed"])
async def test_a_cross_test_that_ends_both_ways_is_flaky(
    scratch: Path, repo: Path, end: str
) -> None:
    """One that passes is run once more on a patch without a line of code."""
    mark = scratch / "home" / "mark"
    fails = end == "failed"
    text = (
        "import pathlib, unittest, src.pager\n"
        "class Pages(unittest.TestCase):\n"
        "    def test_now_and_then(self):\n"
        f"        mark = pathlib.Path({str(mark)!r})\n"
        "        there = mark.exists()\n"
        f"        mark.{'touch()' if fails else 'unlink(missing_ok=True)'}\n"
        "        self.assertTrue(there or 'claude' in vars(src.pager))\n"
    )
    bench = Trying(scratch, with_tests(repo), [TESTS], confined=NOT_CONFINED)
    code = {"src/pager.py": f"if 1:\n    codex = 1\n{RIGHT}"}
    checked = await bench.check(
        {
            "claude": {"src/pager.py": f"claude = 1\n{RIGHT}", "test_now.py": text},
            "codex": code if fails else {"README.md": "# Pages\n"},
        }
    )
    mark.unlink(missing_ok=True)
    plain = bench.tell

    def tell(kind: str, data: Mapping[str, object]) -> None:
        # The base runs first, and may leave the mark.
        if kind == "trial_started" and data["on"] == "codex" and not data["again"]:
            mark.unlink(missing_ok=True) if fails else mark.touch()
        plain(kind, data)

    bench.tell = tell  # type: ignore[method-assign]
    trial = of(await bench.again(checked), "cross", "codex", "claude")
    assert ends(trial, "test_now_and_then") == [end]
    assert trial.result.again is not None
    assert trial.result.again.passed is fails
    assert trial.result.comparison is not None
    assert trial.result.comparison.flaky
    (back, *_), _ = read(bench.kit.folder, bench.run_folder)
    assert back.author == "claude"


@pytest.mark.slow
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
    bench = Trying(scratch, with_tests(repo), [TESTS], confined=NOT_CONFINED)
    mark.touch()
    checked = await bench.check(
        {
            "claude": {"src/pager.py" if mended else "src/x.py": RIGHT, "test_late.py": text},
            "codex": {"src/pager.py": f"# mine\n{RIGHT}"},
        }
    )
    mark.unlink()
    trials = await bench.again(checked)
    trial = of(trials, "cross", "", "claude")
    again = [(row["on"], row["again"]) for row in bench.started]
    if mended:  # every lane has its proof, and none needs this one
        assert trial.result.again is None
        assert again == [("", False), ("codex", False)]
        return
    assert again == [("", False), ("codex", False), ("", True)]
    author = LaneEvidence(
        lane="claude", files=(FileChange(path="test_late.py"),), checks=bench.own["claude"]
    )
    rows = matrix(Evidence(run="r", base=bench.base, lanes=(author,), trials=(trial,)))
    assert [(row.base, row.says) for row in rows] == [("failed", "flaky")]


@pytest.mark.slow
async def test_what_fails_on_other_code_is_no_second_look_at_the_base(
    scratch: Path, repo: Path
) -> None:
    """On the base by chance, on codex by what its code is: the first would be the whole proof."""
    mark = scratch / "home" / "mark"
    text = (
        "import pathlib, unittest, src.pager\n"
        "class Pages(unittest.TestCase):\n"
        "    def test_late(self):\n"
        f"        mark = pathlib.Path({str(mark)!r})\n"
        "        there = mark.exists()\n"
        "        mark.touch()\n"
        "        self.assertTrue(there and not hasattr(src.pager, 'codex'))\n"
    )
    bench = Trying(scratch, with_tests(repo), [TESTS], confined=NOT_CONFINED)
    mark.touch()
    checked = await bench.check(
        {
            "claude": {"src/x.py": RIGHT, "test_late.py": text},
            "codex": {"src/pager.py": f"codex = 1\n{RIGHT}"},
        }
    )
    mark.unlink()
    trials = await bench.again(checked)
    assert ends(of(trials, "cross", "codex", "claude"), "test_late") == ["failed"]
    trial = of(trials, "cross", "", "claude")
    again = replace(trial, result=trial.result.again or trial.result)
    assert ends(trial, "test_late") == ["failed"]
    assert ends(again, "test_late") == ["passed"]


_BY_CHANCE = """\
import pathlib
import unittest

class Chance(unittest.TestCase):
    def test_by_chance(self):
        mine = "mine" in pathlib.Path("README.md").read_text()
        self.assertTrue(mine or not pathlib.Path("tests/test_new.py").exists())
"""
"""It fails on the base as soon as the patch's own test is there, and nowhere else."""


@pytest.mark.slow
@pytest.mark.parametrize("check", [UNITTEST, f"{PLAIN} -B -m pytest -v -p no:cacheprovider"])
def test_what_fails_in_a_file_that_a_patch_has_not_changed_is_no_proof_of_it(
    hydra: Hydra, repo: Path, check: str
) -> None:
    shop(repo, {"src/pager.py": RIGHT_SHOP, "tests/test_chance.py": _BY_CHANCE})
    new = (
        "import unittest\n\nclass New(unittest.TestCase):\n    def test_new(self):\n        pass\n"
    )
    race = Judged(hydra, {"writes": {"README.md": "mine\n", "tests/test_new.py": new}})
    race.run(checks=[check])
    assert race.of("writes")["state"] == "untested", str(race)


def _ran(**ends: Status) -> CheckResult:
    """A check and how its tests ended, each `passed` or `failed`."""
    ok = {*ends.values()} == {"passed"}
    return CheckResult(
        check=TESTS,
        status=CheckStatus.PASSED if ok else CheckStatus.FAILED,
        exit_code=int(not ok),
        tests=Tests("junit", tuple(TestCase(id, end) for id, end in ends.items())),
    )


_GREEN, _RED = _ran(a="passed", b="passed"), _ran(a="passed", b="failed")
_CODE = FileChange(path="src/pager.py", old="a = 1\n", new="a = 2\n", insertions=1, deletions=1)
_README = FileChange(path="README.md", old="a\n", new="b\n")
_NEW = FileChange(path="test_new.py", new="def test_new():\n    pass\n")


def _cross(on: str, result: CheckResult, paths: tuple[str, ...] = ()) -> Trial:
    return Trial(kind="cross", on=on, author="README", result=result, paths=paths)


@pytest.mark.parametrize(
    ("lane", "files", "trials", "flaky"),
    [
        # Red and green on one tree with the base's code: whoever fails it has not broken it.
        (replace(_RED, again=_GREEN), _README, (), True),
        (_GREEN, _README, (_cross("README", _RED),), False),
        (_GREEN, _README, (_cross("README", replace(_RED, again=_GREEN)),), True),
        (_GREEN, _NEW, (_cross("", _RED, paths=("test_new.py",)),), True),
        (_GREEN, _CODE, (_cross("", _RED, paths=("src/pager.py",)),), False),  # tests in code
        # On other code it may have its reason there; on another tree, too.
        (replace(_RED, again=_GREEN), _CODE, (), False),
        (_RED, _README, (), False),
    ],
)
def test_what_ends_both_ways_on_the_code_of_the_base_breaks_no_lane(
    lane: CheckResult, files: FileChange, trials: tuple[Trial, ...], flaky: bool
) -> None:
    rows = {"README": (files,), "claude": (_CODE,)}
    results = {"README": [lane], "claude": [_RED]}
    bases, _ = with_flaky({"unittest": _GREEN}, results, rows, trials)
    judged = compare_to_baseline(_RED, bases["unittest"]).comparison
    assert judged is not None
    assert (judged.flaky, judged.broken) == ((("b",), ()) if flaky else ((), ("b",)))

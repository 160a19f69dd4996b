"""Trials that end both ways on the same code: they are run once more, and say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.checks.cross.record import read
from hydra.ranking.cross_tests import matrix
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.records.request import Check
from tests.support.checks import NOT_CONFINED
from tests.support.trials import RIGHT, UNITTEST, Trying, ends, of, with_tests

TESTS = Check("unittest", UNITTEST)


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
    bench = Trying(scratch, with_tests(repo), [TESTS], confined=NOT_CONFINED)
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
    trials = await bench.again(checked)
    trial = of(trials, "cross", "codex", "claude")
    assert ends(trial, "test_now_and_then") == ["failed"]
    assert trial.result.again is not None
    assert trial.result.again.passed
    (back, *_), _ = read(bench.kit.folder, bench.run_folder)
    assert back.author == "claude"
    assert trial.result.comparison is not None
    assert trial.result.comparison.flaky


@pytest.mark.slow
async def test_a_cross_test_that_passes_by_chance_is_flaky(scratch: Path, repo: Path) -> None:
    """On a patch without a line of code, whose own checks are run once more for that as well."""
    mark = scratch / "home" / "mark"
    text = (
        "import pathlib, unittest, src.pager\n"
        "class Pages(unittest.TestCase):\n"
        "    def test_now_and_then(self):\n"
        f"        mark = pathlib.Path({str(mark)!r})\n"
        "        there = mark.exists()\n"
        "        mark.unlink(missing_ok=True)\n"
        "        self.assertTrue(there or 'claude' in vars(src.pager))\n"
    )
    bench = Trying(scratch, with_tests(repo), [TESTS], confined=NOT_CONFINED)
    checked = await bench.check(
        {
            "claude": {"src/pager.py": f"claude = 1\n{RIGHT}", "test_now.py": text},
            "codex": {"README.md": "# Pages\n"},
        }
    )
    plain = bench.tell

    def tell(kind: str, data: object) -> None:
        if kind == "trial_started" and data["on"] == "codex" and not data["again"]:  # type: ignore[index]
            mark.touch()
        plain(kind, data)  # type: ignore[arg-type]

    bench.tell = tell  # type: ignore[method-assign]
    trials = await bench.again(checked)
    trial = of(trials, "cross", "codex", "claude")
    assert ends(trial, "test_now_and_then") == ["passed"]
    assert trial.result.again is not None
    assert trial.result.comparison is not None
    assert trial.result.comparison.flaky


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

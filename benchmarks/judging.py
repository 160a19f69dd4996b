"""The judge on 16 lanes of 300 files and 2,000 tests, against `git diff` of the same patches."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Result, interleave, milliseconds, ratio
from benchmarks.place import Place
from hydra.analysis.patch import FileChange
from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import TestCase, Tests
from hydra.git.contents import trees
from hydra.git.file_changes import file_changes
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.verdict import rank
from hydra.records.outcome import Patch
from hydra.records.request import Check

LANES, FILES, TESTS, OWN = 16, 300, 2_000, 5
LINES = 60
CHECK = Check("pytest", "pytest -q", "test")


def judging(place: Place) -> list[Result]:
    """Reading the patches from git and judging them, to their diffs being printed."""
    root, base, commits = patches_repository(place)
    git_dir = root / ".git"

    def diff() -> float:
        began = time.perf_counter()
        for commit in commits:
            item = ("diff", "--no-renames", "--no-ext-diff", base, commit)
            subprocess.run(["git", *item], cwd=root, capture_output=True, check=True)
        return time.perf_counter() - began

    def judged() -> float:
        began = time.perf_counter()
        item = rank(evidence(git_dir, base, commits))
        assert len(item.lanes) == LANES
        return time.perf_counter() - began

    taken = interleave(max(place.runs // 2, 3), {"diff": diff, "judge": judged})
    value, best = ratio(taken["judge"], taken["diff"])
    return [
        Result(
            case=f"judge of {LANES} lanes x {FILES} files x {TESTS:,} tests",
            against="git diff of the same patches",
            value=value,
            best=best,
            note=f"{milliseconds(taken['diff'])} -> {milliseconds(taken['judge'])}, reading the "
            "patches included",
        )
    ]


def patches_repository(place: Place) -> tuple[Path, str, list[str]]:
    """A repository, its base, and a commit for each lane that changes every file in its way."""
    root = place.folder / "patches"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    git(root, "init", "-q")
    _write(root, None)
    base = _commit(root)
    commits = []
    for lane in range(LANES):
        git(root, "checkout", "-q", "--detach", base)
        _write(root, lane)
        commits.append(_commit(root))
    return root, base, commits


def _write(root: Path, lane: int | None) -> None:
    """Modules, and a test for every tenth. Lanes agree on half of the files."""
    for number in range(FILES):
        test = number % 10 == 0
        path = root / ("tests" if test else "src") / f"{'test_' if test else ''}m{number}.py"
        path.parent.mkdir(exist_ok=True)
        mine = 0 if lane is None else 1 if number % 2 else lane + 1
        path.write_text("".join(_lines(number, mine, test)))


def _lines(number: int, mine: int, test: bool) -> Sequence[str]:
    lines = ["import os\n", "import sys\n"]
    for at in range(LINES // 3):
        name = f"{'test_' if test else ''}f{number}_{at}"
        body = f"    value = {at} * {number} + {mine if at % 7 == 0 else 0}\n"
        lines += [f"def {name}():\n", body, "    assert value\n" if test else "    return value\n"]
    if test and mine:
        lines += [f"def test_new{mine}():\n", "    assert os and sys\n"]
    return lines


def _commit(root: Path) -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    return git(root, "rev-parse", "HEAD")


def git(root: Path, *args: str) -> str:
    """One git command's answer."""
    return subprocess.run(
        ["git", *args], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def evidence(git_dir: Path, base: str, commits: Sequence[str]) -> Evidence:
    """Each lane's patch from git, with its checks and its new tests on all the others."""
    common = {f"t::{number}": "passed" for number in range(TESTS)}
    before = _result({**common, "t::0": "failed"}, None)
    read = file_changes(git_dir, base, commits)
    lanes = [f"lane{number}" for number in range(len(commits))]
    own = {name: {f"{name}::new{number}": "passed" for number in range(OWN)} for name in lanes}
    return Evidence(
        run="r",
        base=base,
        lanes=tuple(
            _lane(name, files, tree, _result({**common, **own[name]}, before))
            for name, files, tree in zip(lanes, read, trees(git_dir, commits), strict=True)
        ),
        baseline=(before,),
        trials=tuple(
            _trial(author, on, common, own[author], before, place)
            for author in lanes
            for place, on in enumerate((*lanes, ""))
            if on != author
        ),
    )


def _result(ends: dict[str, str], base: CheckResult | None) -> CheckResult:
    failed = "failed" in ends.values()
    cases = tuple(TestCase(id, status) for id, status in ends.items())  # type: ignore[arg-type]
    item = CheckResult(
        check=CHECK,
        status=CheckStatus.FAILED if failed else CheckStatus.PASSED,
        exit_code=int(failed),
        tests=Tests("junit", cases),
    )
    return compare_to_baseline(item, base)


def _lane(name: str, files: tuple[FileChange, ...], tree: str, result: CheckResult) -> LaneEvidence:
    return LaneEvidence(
        lane=name,
        patch=Patch(commit="c", base="b", files=len(files)),
        tree=tree,
        files=files,
        checks=(result,),
        seconds=60.0,
    )


def _trial(
    author: str,
    on: str,
    common: dict[str, str],
    own: dict[str, str],
    before: CheckResult,
    place: int,
) -> Trial:
    ends = {
        id: "failed" if not on or (place + number) % 3 == 0 else "passed"
        for number, id in enumerate(own)
    }
    return Trial(kind="cross", on=on, author=author, result=_result({**common, **ends}, before))

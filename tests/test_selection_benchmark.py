"""`python -m benchmarks.selection`: the figures of each rule, and what it says of bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pools import Pool, pool
from benchmarks.rules import RULES, pass1
from benchmarks.simulation import Cell, pools
from tests.support.command import completed

REPOSITORY = Path(__file__).parent.parent


def entry(**changed: Any) -> dict[str, Any]:
    """Three candidates, two of them right and alike, and a test of each."""
    rows = {
        "task": "t",
        "candidates": [
            {"id": "a", "correct": True},
            {"id": "b", "correct": True, "lines": 3},
            {"id": "c", "correct": False},
        ],
        "tests": [{"id": "x", "author": 0}, {"id": "y", "author": 1}, {"id": "z", "author": 2}],
        "passes": [[1, 1, 0], [1, 1, 0], [0, 0, 1]],
    }
    return {**rows, **changed}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return completed(
        [sys.executable, "-m", "benchmarks.selection", *map(str, arguments)], cwd=REPOSITORY
    )


def written(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in entries))
    return path


def test_json_has_every_rule_and_draws_of_one_task_are_averaged_first(tmp_path: Path) -> None:
    wrong = [{"id": "a", "correct": False}] * 3
    draws = [entry(), entry(), entry(candidates=wrong), entry(task="u", candidates=wrong)]
    done = run(written(tmp_path / "pools.jsonl", *draws), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document["rules"]) == {"hydra", "random", "most_passed", "codet", "b4", "oracle"}
    # Task t: 2 of 3 draws; task u: none.
    assert document["rules"]["hydra"]["pass1"] == pytest.approx(1 / 3, abs=1e-6)
    assert document["rules"]["oracle"]["pass1"] == pytest.approx(1 / 3, abs=1e-6)
    assert document["rules"]["random"]["pass1"] == pytest.approx(2 / 9, abs=1e-6)
    for figure in document["rules"].values():
        assert 0 <= figure["low"] <= figure["pass1"] <= figure["high"] <= 1
    assert document["hydra_minus"]["random"]["difference"] == pytest.approx(1 / 9, abs=1e-6)
    assert run(tmp_path / "pools.jsonl", "--json").stdout == done.stdout


def test_the_table_is_in_percent(tmp_path: Path) -> None:
    done = run(written(tmp_path / "pools.jsonl", entry()))
    assert done.returncode == 0
    assert "hydra         100.0" in done.stdout
    assert "1 tasks, 1 pools" in done.stdout


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("{", "not JSON"),
        ("[]", "an object"),
        (json.dumps(entry(task=None)), '"task"'),
        (json.dumps(entry(candidates=[])), '"candidates" is empty'),
        (json.dumps(entry(candidates={})), '"candidates" must be a list'),
        (json.dumps(entry(passes=[[1, 1, 0]])), "a row for each of the 3"),
        (json.dumps(entry(passes=[[1, 1, 0], [1, 1], [0, 0, 1]])), "row 1"),
        (json.dumps(entry(passes=[[1, 1, 0], [1, 1, 2], [0, 0, 1]])), "neither 0 nor 1"),
        (json.dumps(entry(passes=[[1, 1, 0], [1, 1, None], [0, 0, 1]])), "neither 0 nor 1"),
        (json.dumps(entry(passes=[[1, 1, 0], [1, 1, []], [0, 0, 1]])), "neither 0 nor 1"),
        (json.dumps(entry(tests=[{"id": "x", "author": 3}] * 3)), '"author" of test 0'),
        (json.dumps(entry(tests=[{"id": "x", "author": None, "count": 0}] * 3)), '"count"'),
        (json.dumps(entry(candidates=[{"id": "a"}] * 3)), '"correct" of candidate 0'),
        (json.dumps(entry(candidates=[{"id": "a", "correct": []}] * 3)), '"correct" of'),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_input_is_one_error_with_its_line(tmp_path: Path, bad: str, says: str) -> None:
    path = tmp_path / "pools.jsonl"
    path.write_text(json.dumps(entry()) + "\n\n" + bad + "\n")
    done = run(path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "line 3" in done.stderr
    assert says in done.stderr


@pytest.mark.slow
def test_a_file_that_is_not_there_or_empty_or_binary(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (empty, binary, tmp_path / "none", tmp_path):
        done = run(path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), path
    assert run().returncode == 2


def test_the_table_of_confidence_is_what_the_pools_say(tmp_path: Path) -> None:
    wrong = [{"id": "a", "correct": False}] * 3
    path = written(tmp_path / "pools.jsonl", entry(), entry(), entry(), entry(candidates=wrong))
    done = run("--calibrate", path)
    assert done.returncode == 0, done.stderr
    assert "    (3, 2, False): (4, 0.75),\n}" in done.stdout
    assert "4 winners, said" in run("--confidence", path).stdout


def test_one_candidate_and_no_tests() -> None:
    alone = pool({"task": 1, "candidates": [{"id": 1, "correct": 1}], "tests": [], "passes": [[]]})
    for name, rule in RULES.items():
        assert pass1(alone, rule(alone)) == 1, name


def test_a_tie_is_the_mean_weighted_by_copies() -> None:
    tied = pool(
        entry(
            candidates=[{"id": "a", "correct": True, "count": 3}, {"id": "b", "correct": False}],
            tests=[],
            passes=[[], []],
        )
    )
    for name, rule in RULES.items():
        assert pass1(tied, rule(tied)) == (1 if name == "oracle" else 0.75), name


def test_who_is_right_is_shown_to_no_rule() -> None:
    for item in pools(Cell("shared", 4, 3, 0.5, 0.7), 20):
        turned = Pool(
            item.task, tuple(not is_single for is_single in item.correct), item.counts, item.tests
        )
        for name, rule in RULES.items():
            if name != "oracle":
                assert list(rule(item)) == list(rule(turned)), name


def test_codet_and_b4_are_the_papers() -> None:
    """By hand: rows 110, 110, 001 of one task, tests of one copy each."""
    item = pool(entry())
    assert RULES["most_passed"](item) == [2, 2, 1]
    assert RULES["codet"](item) == pytest.approx([2 * 2**0.5, 2 * 2**0.5, 1])
    first, second, third = RULES["b4"](item)
    assert first == second > third
    # Two right, two true: B(1002, 2) B(1002, 2) B(1, 3) B(2, 10000); one right, one true:
    # B(1001, 3) B(1001, 3) B(1, 3) B(5, 10000). The difference of their logarithms:
    from math import lgamma

    def beta(a: float, b: float) -> float:
        return lgamma(a) + lgamma(b) - lgamma(a + b)

    right = 2 * beta(1002, 2) + beta(1, 3) + beta(2, 10_000)
    wrong = 2 * beta(1001, 3) + beta(1, 3) + beta(5, 10_000)
    assert first - third == pytest.approx(right - wrong)


def test_made_up_pools_are_the_same_every_time_and_of_the_shares_asked_for() -> None:
    cell = Cell("author", 8, 3, 0.3, 0.8)
    items = list(pools(cell, 300))
    assert items == list(pools(cell, 300))
    right = [is_single for each in items for is_single in each.correct]
    assert sum(right) / len(right) == pytest.approx(0.3, abs=0.05)
    assert all(len(each.tests) == 24 for each in items)
    for each in items:
        for test in each.tests:
            assert test.author is not None
            assert test.results[test.author]


def test_of_a_lane_that_shouts_all_tests_are_wrong_or_all_true() -> None:
    for honest in (False, True):
        for item in pools(Cell("shared", 4, 3, 0.3, 0.5, shout=30, honest=honest), 50):
            assert item.correct[3] == honest
            own = [test for test in item.tests if test.author == 3]
            assert len(own) == 30
            right = [lane for lane in range(4) if item.correct[lane]]
            assert all(test.results[lane] == honest for test in own for lane in right)


@pytest.mark.full
def test_the_demand_is_met_on_a_few_cells() -> None:
    done = run("--simulate", "--quick", "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    document = json.loads(done.stdout)
    assert document["missed"] == []
    assert all(figure["low"] > 0 for figure in document["together"].values())
    assert document["shouting"]["right"]["low"] > 0

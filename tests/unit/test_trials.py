"""Trials: patches under the base's own tests, and under the other lanes' new ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from hydra.checks.cross.record import Trials, read
from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckStatus
from hydra.git.diff import tree_with
from hydra.records.request import Check, TrialCap
from tests.support.processes import running, token, wait_until
from tests.support.trials import (
    BASE,
    RIGHT,
    UNITTEST,
    Trying,
    of,
    pages,
    with_tests,
)

TESTS = Check("unittest", UNITTEST)


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


# --- what is cut ------------------------------------------------------------------------------


LANES = {
    "a": {"src/pager.py": f"# a\n{RIGHT}", "test_a.py": THREE},
    "b": {"src/pager.py": f"# b\n{RIGHT}", "test_b.py": ODD},
    "c": {"src/pager.py": f"# c\n{RIGHT}", "test_pages.py": f"C = 1\n{BASE}"},
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
    assert len(trials.not_tried) == 5
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
async def test_a_fault_of_hydra_s_own_costs_its_trial_alone(
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
    assert reasons(trials.not_tried) == [("cross", "b", "a", why), ("cross", "b", "c", why)]
    assert {data["text"] for kind, data in bench.events if kind == "run_warning"} == {
        f"a trial: {why}"
    }


# --- read back --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 1, "runs": 3, "not_tried": {}}',
        '{"schema": 1, "runs": [3, null, {}, {"details": 3}, {"details": "../../../etc/passwd"}]}',
        '{"schema": 1, "runs": [{"details": "/etc/passwd", "kind": "cross"}], "not_tried": [3]}',
        '{"schema": 1, "not_tried": [{"kind": "cross"}, []]}',
        '{"schema": 2, "not_tried": [{"kind": "cross", "on": "a"}]}',
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

"""One tree has one verdict: lanes that left the same share what their checks came to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.round import CheckRun
from hydra.records.request import Check
from tests.support import fakes
from tests.support.checks import Bench
from tests.support.command import Hydra
from tests.support.processes import running, token, wait_until
from tests.support.trials import RIGHT, UNITTEST, with_tests

DONE = fakes.finish("done")


def result(status: CheckStatus) -> CheckResult:
    return CheckResult(check=Check("t", "run"), status=status)


@pytest.mark.slow
def test_lanes_of_one_tree_share_one_run(hydra: Hydra) -> None:
    with_tests(hydra.repo)
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    race = hydra.race("-a", "2xclaude", "--check", UNITTEST)
    started = [e.get("lane", "") for e in hydra.events() if e["kind"] == "check_started"]
    assert len([*filter(None, started)]) == 1
    folder = Path(race.document["folder"])
    for lane in ("claude", "claude-2"):
        (check,) = race.lane(lane)["checks"]
        assert (check["says"], check["comparison"]["counts"]["fixed"]) == ("2 passed", 1)
        assert check["details"] == f"checks/1/{lane}/unittest.json"
        assert json.loads((folder / check["details"]).read_text())["status"] == "passed"
        assert (folder / check["output"]).is_file()
    compared = json.loads(hydra.run("compare", "--json").stdout)
    assert [lane["state"] for lane in compared["lanes"]] == ["proved", "proved"]


async def test_where_one_is_stopped_the_other_runs_itself(scratch: Path, repo: Path) -> None:
    mark, go = token(), scratch / "go"
    bench = Bench(scratch, repo, [Check("a", f"test -e {go} || sleep {mark}")])
    commit = bench.commit({"x.txt": "x\n"})
    round = CheckRun(bench.kit)
    round.set_baseline({})
    stops = {lane: trio.CancelScope() for lane in ("claude", "codex")}
    results: dict[str, CheckResult] = {}

    async def run(lane: str) -> None:
        (results[lane],) = await round.lane(lane, commit, bench.tell, stop=stops[lane])

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, "claude")
            assert await trio.to_thread.run_sync(wait_until, lambda: running(f"sleep\0{mark}"))
            nursery.start_soon(run, "codex")
            waits = ("check_waiting", {"for": "same", "lane": "claude"})
            assert await trio.to_thread.run_sync(wait_until, lambda: waits in bench.events)
            go.touch()
            stops["claude"].cancel()
    assert {lane: result.status for lane, result in results.items()} == {
        "claude": CheckStatus.INTERRUPTED,
        "codex": CheckStatus.PASSED,
    }

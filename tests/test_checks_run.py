"""One check on one commit, as real processes in a real clean worktree: each end has its word."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.round import CheckRun
from hydra.ranking.results import standing
from hydra.ranking.state import fixed
from hydra.records.request import Check, Limits
from tests.conftest import git
from tests.support.checks import NOT_CONFINED, Bench, confinement
from tests.support.evidences import evidence, file, lane
from tests.support.processes import running, token, wait_until

DATA = Path(__file__).parent / "data" / "checks"
PASSES = "def test_a():\n    assert True\n"
FAILS = "def test_a():\n    assert False\n"
PYTEST = Check("pytest", "pytest -q -p no:cacheprovider")


def with_files(repo: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "More")
    return repo


NewBench = Callable[..., Bench]


@pytest.fixture
def bench_of(scratch: Path, repo: Path) -> NewBench:
    """Makes a bench in the repository, as it is."""
    return partial(Bench, scratch, repo)


async def ran(bench: Bench) -> dict[str, CheckResult]:
    """What comes of its checks on a patch that they do not look at."""
    return await bench.checked(bench.commit({"x.txt": "x\n"}))


@pytest.mark.slow
async def test_every_number_leads_to_a_file(scratch: Path, repo: Path) -> None:
    bench = Bench(scratch, with_files(repo, {"test_a.py": PASSES}), [PYTEST])
    result = (await ran(bench))["pytest"]
    assert "1 passed" in bench.text(result)
    whole = json.loads((bench.run_folder / result.details).read_text())
    assert whole["status"] == "passed"
    assert [case[1] for case in whole["cases"]] == ["passed"]
    assert whole["tests"]["source"] == "junit"


async def test_a_failure_that_passes_once_more_is_flaky_and_never_broken(
    scratch: Path, repo: Path
) -> None:
    # The first run on a given commit fails: the mark lies outside of the fresh ground.
    marks = scratch / "home"
    marks.mkdir()
    flaky = (
        "import pathlib\n"
        "def test_a():\n"
        f"    mark = pathlib.Path({str(marks)!r}, 'mark')\n"
        "    there = mark.exists()\n"
        "    mark.touch()\n"
        "    assert there\n"
    )
    bench = Bench(scratch, with_files(repo, {"test_a.py": PASSES}), [PYTEST], confined=NOT_CONFINED)
    result = (await bench.checked(bench.commit({"test_a.py": flaky})))["pytest"]
    assert (result.status, result.says, result.held_back) == (CheckStatus.FAILED, "flaky", "")
    assert result.comparison is not None
    assert (len(result.comparison.flaky), result.comparison.broken) == (1, ())
    assert any("flaky" in remark for remark in result.remarks)


BY_LUCK = """\
import pathlib
def test_a():
    runs = pathlib.Path({runs!r})
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    assert len(runs.read_text()) == 3
"""
"""It passes on its third run: after the two on the base."""

PLAIN = "PYTEST_ADDOPTS= pytest -q -p no:cacheprovider >/dev/null"


@pytest.mark.slow
@pytest.mark.parametrize("command", [PYTEST.command, PLAIN], ids=["named", "nameless"])
@pytest.mark.parametrize(
    ("files", "has_code"),
    [
        ({"README.md": "# Shop, documented\n"}, False),
        pytest.param({"pager.py": "x = 1  # one\n"}, False, marks=pytest.mark.full),
        pytest.param(
            {"test_more.py": "def test_more():\n    pass\n"}, False, marks=pytest.mark.full
        ),
        ({"pager.py": "x = 2\n"}, True),
    ],
    ids=["document", "comment", "test", "code"],
)
async def test_a_patch_without_a_line_of_code_mends_nothing_by_luck(
    scratch: Path, repo: Path, command: str, files: dict[str, str], has_code: bool
) -> None:
    (scratch / "home").mkdir()
    texts = {
        "test_a.py": BY_LUCK.format(runs=str(scratch / "home" / "runs")),
        "pager.py": "x = 1\n",
    }
    check = Check("pytest", command)
    bench = Bench(scratch, with_files(repo, texts), [check], confined=NOT_CONFINED)
    result = (await bench.checked(bench.commit(files)))["pytest"]
    assert result.status is CheckStatus.PASSED
    assert (result.again is None) is has_code
    base_results = [bench.base_results["pytest"]]
    row = lane("claude", result, files=[file("README.md")], base=base_results)
    assert bool(fixed(standing(row, evidence([row], base_results)))) is has_code


@pytest.mark.slow
async def test_a_document_that_tests_read_mends_them(scratch: Path, repo: Path) -> None:
    reads = "def test_a():\n    assert 'documented' in open('README.md').read()\n"
    bench = Bench(scratch, with_files(repo, {"test_a.py": reads}), [PYTEST])
    result = (await bench.checked(bench.commit({"README.md": "documented\n"})))["pytest"]
    assert result.again is not None
    assert result.comparison is not None
    assert len(result.comparison.fixed) == 1


ENDS = (
    ("no-such-program --all", CheckStatus.PROGRAM_MISSING, "no-such-program: not found"),
    ("./gone.sh", CheckStatus.PROGRAM_MISSING, "./gone.sh: not found"),
    ("./README.md", CheckStatus.PROGRAM_MISSING, "./README.md: Permission denied"),
    ("python3 -m no_such_module", CheckStatus.PROGRAM_MISSING, "python has no module"),
    ("sh script.sh", CheckStatus.FAILED, "exited with 127"),
    ("cd api && cd gone && true", CheckStatus.PROGRAM_MISSING, "cannot cd to gone"),
    ("cd gone || exit 3", CheckStatus.PROGRAM_MISSING, "cannot cd to gone"),
    ("cd gone || (echo more; exit 3)", CheckStatus.FAILED, "exited with 3"),
    ("make bare", CheckStatus.PROGRAM_MISSING, "no-such-program: not found (exit 127)"),
    ("make chain", CheckStatus.PROGRAM_MISSING, "no-such-program: not found (exit 127)"),
    ("make below", CheckStatus.PROGRAM_MISSING, "no-such-program: not found (exit 127)"),
    ("make script", CheckStatus.FAILED, "exited with 2"),
    ("make fails", CheckStatus.FAILED, "exited with 2"),
    ("exit 3", CheckStatus.FAILED, "exited with 3"),
    ("kill -9 $$", CheckStatus.FAILED, "ended by signal 9"),
    ("true", CheckStatus.PASSED, ""),
    ("pytest -q", CheckStatus.NO_TESTS, "found no tests"),
)
"""A command, how it ends, and part of the reason."""


@pytest.mark.slow
async def test_each_end_has_its_own_word(scratch: Path, repo: Path) -> None:
    recipes = {
        "bare": "no-such-program -q",
        "chain": "@true && no-such-program -q",
        "below": "@$(MAKE) bare",
        "script": "sh script.sh",
        "fails": "-no-such-program\n\tfalse",
    }
    makefile = "".join(f"{name}:\n\t{line}\n" for name, line in recipes.items())
    script = "echo at work\nno-such-program\n"
    with_files(repo, {"script.sh": script, "Makefile": makefile, "api/a.txt": ""})
    checks = [Check(f"c{number}", command) for number, (command, _, _) in enumerate(ENDS)]
    bench = Bench(scratch, repo, checks)
    results = (await ran(bench)).values()
    for result, (command, status, reason) in zip(results, ENDS, strict=True):
        assert result.status is status, (command, result, bench.text(result))
        assert reason in result.reason, command
        assert (result.held_back == "") == (status is CheckStatus.PASSED), command


@pytest.mark.slow
async def test_a_program_that_a_script_lacks_is_told_whatever_code_its_runner_ends_with(
    scratch: Path, repo: Path
) -> None:
    rows = tomllib.loads((DATA / "lacking.toml").read_text("utf-8"))["output"]
    checks = [Check(row["name"], f"cat '{row['name']}'; exit {row['code']}") for row in rows]
    with_files(repo, {row["name"]: row["text"] for row in rows})
    bench = Bench(scratch, repo, checks)
    results = await ran(bench)
    reasons = {
        name: result.reason if result.status is CheckStatus.PROGRAM_MISSING else ""
        for name, result in results.items()
    }
    assert reasons == {row["name"]: row["reason"] for row in rows}


async def test_a_set_up_that_fails_is_no_failing_check(bench_of: NewBench) -> None:
    bench = bench_of([Check("a", "true"), Check("b", "true")], setup=("echo no; exit 4",))
    results = await ran(bench)
    assert {result.status for result in results.values()} == {CheckStatus.SETUP_FAILED}
    assert "exited with 4" in results["a"].reason
    assert ", as on the base" in results["a"].held_back
    assert (bench.run_folder / "checks/1/claude/set-up.out").read_text() == "no\n"


@pytest.mark.slow
async def test_a_check_that_hangs_is_timed_out_and_leaves_nothing(bench_of: NewBench) -> None:
    mark = token()
    bench = bench_of(
        [Check("slow", f"echo begun; sleep {mark} & (setsid sleep {mark} &) ; sleep {mark}")],
        limits=Limits(check=1.5),
    )
    result = (await ran(bench))["slow"]
    assert result.status is CheckStatus.TIMED_OUT
    assert result.exit_code is None
    assert "took over 1.5 s" in result.held_back
    assert "begun" in bench.text(result)
    assert wait_until(lambda: not running(mark))


@pytest.mark.parametrize("confined", [True, False])
async def test_what_a_check_leaves_running_is_named_and_ended(
    bench_of: NewBench, confined: bool
) -> None:
    mark = token()
    place = confinement() if confined else NOT_CONFINED
    bench = bench_of([Check("forks", f"setsid sleep {mark} & echo done")], confined=place)
    result = (await ran(bench))["forks"]
    assert result.status is CheckStatus.PASSED
    assert result.survivors
    lines = (*bench.base_results["forks"].remarks, *result.remarks)
    assert any("left running and ended" in remark for remark in lines)
    assert wait_until(lambda: not running(mark))


@pytest.mark.slow
async def test_a_flood_is_kept_by_its_head_and_tail_with_a_counted_gap(bench_of: NewBench) -> None:
    flood = "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; exit 1"
    bench = bench_of(
        [Check("loud", flood, kind="build")],
        limits=Limits(check=60, check_bytes=100_000),
    )
    result = (await ran(bench))["loud"]
    text = bench.text(result)
    assert text.startswith("first")
    assert text.rstrip().endswith("last")
    assert len(text) < 120_000
    assert result.dropped > 2_800_000
    lines = (*bench.base_results["loud"].remarks, *result.remarks)
    assert any("output was cut" in remark for remark in lines)


async def test_what_a_check_writes_into_the_tree_is_said_and_goes(
    scratch: Path, repo: Path
) -> None:
    caches = "mkdir -p .pytest_cache && touch .pytest_cache/x"
    script = f"echo 1 > report.xml; echo 2 >> README.md; {caches}; date > a.log"
    bench = Bench(scratch, repo, [Check("a", script)])
    result = (await ran(bench))["a"]
    assert result.remarks == ()  # as on the base, where it is said
    (remark,) = bench.base_results["a"].remarks
    assert "wrote into the tree" in remark
    assert remark.endswith("README.md, report.xml")  # and no cache
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "rev-parse", "HEAD") == bench.base


@pytest.mark.slow
async def test_an_address_in_use_says_what_helps(scratch: Path, repo: Path) -> None:
    listen = (
        "import socket\na = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen()\n"
        "b = socket.socket(); b.bind(a.getsockname())\n"
    )
    with_files(repo, {"listen.py": listen})
    bench = Bench(scratch, repo, [Check("port", "python3 listen.py")])
    result = (await ran(bench))["port"]
    assert result.status is CheckStatus.FAILED
    assert any("checks.network" in remark for remark in bench.base_results["port"].remarks)


@pytest.mark.slow
async def test_what_a_check_is_given_and_what_is_kept_of_it(scratch: Path, repo: Path) -> None:
    """A patch must not know whether it is tried, and nothing kept has a secret."""
    secret = "made-up-secret-value-1"
    xml = '<testsuite><testcase classname="a" name="b"><failure/></testcase></testsuite>'
    old = '<testsuite><testcase classname="old" name="old"/></testsuite>'
    with_files(repo, {"out/old.xml": old, "pnpm-workspace.yaml": "packages: [a]\n"})
    checks = [
        Check("streams", "cat; echo 1; echo 2 >&2; echo 3; echo 4 >&2"),
        Check("secret", "printf 'a %s b' \"$TOKEN_X\"; sleep 0.1; printf '%s\\n' \"$TOKEN_X\""),
        Check("env", "env; pwd"),
        Check("env-named", "env", junit="r.xml"),
        Check("npm", "env | grep '^p*npm_config_' | grep -v cache | sort"),
        Check("told", f"printf '%s' '{xml}' > \"$HYDRA_JUNIT\""),
        Check("named", f"printf '%s' '{xml}' > out/new.xml", junit="out/*.xml"),
    ]
    environment = {"PYTEST_ADDOPTS": "-x", "TOKEN_X": secret}
    bench = Bench(scratch, repo, checks, environment=environment, secrets=[secret])
    results = await ran(bench)
    text = {name: bench.text(result) for name, result in results.items()}
    assert text["streams"] == "1\n2\n3\n4\n"
    assert text["secret"] == "a [redacted] b[redacted]\n"
    assert "claude" not in text["env"]
    assert "_base" not in text["env"]
    assert "PYTEST_ADDOPTS=-x -o junit_family=xunit2 --junitxml=" in text["env"]
    assert "PYTEST_ADDOPTS=-x\n" in text["env-named"]
    assert text["npm"] == "npm_config_update_notifier=false\n"  # it says nothing of itself
    for name in ("told", "named"):
        tests = results[name].tests
        assert tests is not None
        assert [case.status for case in tests.cases] == ["failed"]
    remarks = bench.base_results["named"].remarks
    assert any("passed over" in remark for remark in remarks), remarks
    assert results["told"].remarks  # it exits with 0 all the same


async def test_a_link_to_results_is_not_followed(scratch: Path, repo: Path) -> None:
    outside = scratch / "outside.xml"
    outside.write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
    command = f"ln -sfn {outside} r.xml"
    bench = Bench(scratch, repo, [Check("unit", command, junit="r.xml")], confined=NOT_CONFINED)
    result = (await ran(bench))["unit"]
    assert result.tests is None


async def test_a_check_that_is_stopped_is_interrupted_and_what_was_done_stays(
    bench_of: NewBench,
) -> None:
    mark = token()
    bench = bench_of(
        [Check("a", "true"), Check("b", f"echo begun; sleep {mark}"), Check("c", "true")],
    )
    commit = bench.commit({"x.txt": "x\n"})
    round = CheckRun(bench.kit)
    round.set_baseline({})
    stop = trio.CancelScope()
    results: list[CheckResult] = []
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                results.extend(await round.lane("claude", commit, bench.tell, stop=stop))

            nursery.start_soon(run)
            file = bench.run_folder / "checks/1/claude/b.txt"
            begun = f"sleep\0{mark}"  # the shell has the mark in its line before it says a word
            assert await trio.to_thread.run_sync(wait_until, lambda: running(begun))
            stop.cancel()
    statuses = {result.check.name: result.status for result in results}
    assert statuses == {
        "a": CheckStatus.PASSED,
        "b": CheckStatus.INTERRUPTED,
        "c": CheckStatus.INTERRUPTED,
    }
    assert [bool(result.output) for result in results] == [True, True, False]
    assert results[1].reason == "the run was interrupted"
    assert file.exists()
    assert wait_until(lambda: not running(mark))
    assert not (bench.grounds / "_claude").exists()


async def test_no_check_runs_where_a_link_took_the_worktree_s_place(
    scratch: Path, repo: Path
) -> None:
    outside = scratch / "outside"
    outside.mkdir()
    checks = [
        Check("a", f'here=$PWD; cd ..; mv "$here" moved; ln -s {outside} "$here"'),
        Check("b", "touch was-here"),
    ]
    bench = Bench(scratch, repo, checks, confined=NOT_CONFINED)
    results = await ran(bench)
    statuses = [result.status for result in results.values()]
    assert statuses == [CheckStatus.PASSED, CheckStatus.NOT_RUN]
    assert "link" in results["b"].reason
    assert list(outside.iterdir()) == []
    assert outside.is_dir()


async def test_a_check_that_takes_the_temporary_folder_away_stops_no_other(
    bench_of: NewBench,
) -> None:
    commands = ('rm -rf "$TMPDIR"', 'touch "$TMPDIR/x"', 'rm -rf "$TMPDIR"; > "$TMPDIR"', "true")
    checks = [Check(name, command) for name, command in zip("abcd", commands, strict=True)]
    bench = bench_of(checks, confined=NOT_CONFINED)
    results = await ran(bench)
    statuses = [result.status for result in results.values()]
    assert statuses == [*[CheckStatus.PASSED] * 3, CheckStatus.NOT_RUN]
    assert results["d"].reason.startswith("it has no place for its results")


@pytest.mark.slow
async def test_a_filter_that_a_patch_asks_for_does_not_run(scratch: Path, repo: Path) -> None:
    mark = scratch / "ran"
    git(repo, "config", "--global", "filter.evil.smudge", f"touch {mark}; cat")
    git(repo, "config", "filter.own.smudge", f"touch {mark}; cat")
    bench = Bench(scratch, repo, [Check("a", "cat a.txt b.txt")])
    names = "a.txt filter=evil\nb.txt filter=own\n"
    commit = bench.commit({".gitattributes": names, "a.txt": "1\n", "b.txt": "2\n"})
    mark.unlink(missing_ok=True)  # the user's own git may run it
    result = (await bench.checked(commit))["a"]
    assert bench.text(result) == "1\n2\n"
    assert not mark.exists()


def link_instead(repo: Path, name: str, target: Path) -> str:
    """A commit in which `name` is a link to `target`; the work tree stays as it is."""
    git(repo, "checkout", "-q", "--detach")
    text = repo.with_name("target")
    text.write_text(str(target))
    blob = git(repo, "hash-object", "-w", "--no-filters", str(text))
    git(repo, "update-index", "--add", "--cacheinfo", f"120000,{blob},{name}")
    git(repo, "commit", "-qm", "A link")
    commit = git(repo, "rev-parse", "HEAD")
    git(repo, "reset", "-q", "main")
    return commit


async def test_a_copy_is_not_made_through_a_link_of_the_patch(scratch: Path, repo: Path) -> None:
    outside = scratch / "outside"
    outside.mkdir()
    (repo / "conf" / "sub").mkdir(parents=True)
    (repo / "conf" / "sub" / ".env").write_text("KEY=1\n")
    bench = Bench(scratch, repo, [Check("a", "true")])
    bench.kit = replace(bench.kit, plan=replace(bench.kit.plan, copies=("conf/sub/.env",)))
    commit = link_instead(repo, "conf", outside)
    result = (await bench.checked(commit))["a"]
    assert result.status is CheckStatus.NOT_RUN
    assert "outside the worktree" in result.reason
    assert list(outside.iterdir()) == []


async def test_results_are_not_read_or_removed_through_a_link(scratch: Path, repo: Path) -> None:
    mine = scratch / "mine"
    mine.mkdir()
    xml = '<testsuite><testcase classname="a" name="b"/></testsuite>'
    for name in ("a", "b"):
        (mine / f"{name}.xml").write_text(xml)
    swap = f'd=$(dirname "$HYDRA_JUNIT"); rm -rf "$d"; ln -s {mine} "$d"'
    bench = Bench(scratch, repo, [Check("a", swap), Check("b", swap)], confined=NOT_CONFINED)
    results = await ran(bench)
    assert [result.tests for result in results.values()] == [None, None]
    assert sorted(path.name for path in mine.iterdir()) == ["a.xml", "b.xml"]

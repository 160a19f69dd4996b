"""The four states of a patch: each row of docs/reference/compare.md, as a lane's evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.checks.cross.trial import NO_CANARY, NotTried
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.results import ResultCounts, Tests
from hydra.checks.results import Status as TestStatus
from hydra.checks.text_parsers.output import read_text
from hydra.ranking.collect import _lane as lane_evidence
from hydra.ranking.evidence import EarlierCommit
from hydra.ranking.model import LaneVerdict, Verdict
from hydra.ranking.unchecked import untested_places
from hydra.ranking.verdict import rank
from hydra.records.request import Check
from tests.support.evidences import PYTEST, cross, evidence, file, lane, plain, protected, result
from tests.support.rendering import as_race

UP, DOWN, NEW = "t.py::test_up", "t.py::test_down", "t.py::test_new"
FAILING = result({UP: True, DOWN: False}, name="_base")
PASSING = result({UP: True}, name="_base")
MYPY = Check("mypy", "mypy src", "lint")
OPTIONAL = Check("slow", "pytest slow", "test", required=False)


def of(verdict: Verdict, name: str = "a") -> LaneVerdict:
    return next(lane for lane in verdict.lanes if lane.lane == name)


def judged(now: CheckResult, base: CheckResult) -> LaneVerdict:
    return of(rank(evidence([lane("a", now, base=[base])], [base])))


def stopped(status: CheckStatus, reason: str) -> CheckResult:
    return replace(result({}, status=status), tests=None, reason=reason)


def ended_by_a_module() -> CheckResult:
    """What pytest's XML tells of `raise SystemExit(1)` in a module that tests import."""
    tests = Tests("junit", cases=(), counts=ResultCounts(0, 1, 0), unnamed=frozenset({"failed"}))
    return replace(result({}, status=CheckStatus.FAILED), exit_code=3, tests=tests)


MANY = {f"t.py::test_{number}": False for number in range(3)}


@pytest.mark.parametrize(
    ("now", "base", "state", "reason"),
    [
        (
            result({UP: True, DOWN: True}),
            FAILING,
            "proved",
            "fixes the failing test, breaks nothing (2 passed)",
        ),
        (
            result(dict.fromkeys(MANY, True)),
            result(MANY),
            "proved",
            "fixes the 3 failing tests, breaks nothing (3 passed)",
        ),
        (
            result({**MANY, "t.py::test_0": True}),
            result(MANY),
            "proved",
            "fixes 1 of the 3 failing tests, breaks nothing (1 passed); 2 tests still fail",
        ),
        (
            plain(True, MYPY),
            plain(False, MYPY),
            "proved",
            "mypy failed on the base and passes",
        ),
        (
            result({UP: True}),
            PASSING,
            "untested",
            "pytest passes with and without it (1 passed): add a test that fails without it",
        ),
        (
            stopped(CheckStatus.PROGRAM_MISSING, "pytest: not found"),
            stopped(CheckStatus.PROGRAM_MISSING, "pytest: not found"),
            "untested",
            "pytest could not run on it, nor on the base: pytest: not found",
        ),
        (
            stopped(CheckStatus.PROGRAM_MISSING, "cannot cd to api"),
            PASSING,
            "broken",
            "pytest cannot start with it, and did on the base: cannot cd to api",
        ),
        (
            replace(plain(False, PYTEST), exit_code=127, telling=("run.sh: 3: tox: not found",)),
            replace(plain(False, PYTEST), exit_code=127),
            "untested",
            "pytest could not run on it, nor on the base: run.sh: 3: tox: not found",
        ),
        (
            result({UP: True}),
            stopped(CheckStatus.NOT_RUN, "its clean worktree could not be made"),
            "untested",
            "pytest passes with it, and could not run on the base: "
            "its clean worktree could not be made",
        ),
        (
            stopped(CheckStatus.SETUP_FAILED, "npm ci exited with 1"),
            PASSING,
            "untested",
            "pytest could not run on it: npm ci exited with 1",
        ),
        (
            result({UP: False, DOWN: True}),
            FAILING,
            "broken",
            "breaks test_up, which passed on the base",
        ),
        (result({UP: True, DOWN: False}), FAILING, "untested", "1 test fails with and without it"),
        (result(MANY), result(MANY), "untested", "3 tests fail with and without it"),
        (
            plain(False, MYPY),
            plain(True, MYPY),
            "broken",
            "mypy fails with it, and passed on the base",
        ),
        (plain(False, MYPY), plain(False, MYPY), "untested", "mypy fails with and without it"),
        (
            replace(plain(False, MYPY), exit_code=2),
            plain(False, MYPY),
            "untested",
            "mypy fails with and without it (exit 2)",
        ),
        (
            replace(plain(False, MYPY), exit_code=-9),
            plain(False, MYPY),
            "untested",
            "mypy fails with and without it (signal 9)",
        ),
        (
            stopped(CheckStatus.TIMED_OUT, "over 5:00"),
            PASSING,
            "broken",
            "pytest does not come to its end with it, and does on the base",
        ),
        (
            stopped(CheckStatus.NO_TESTS, ""),
            PASSING,
            "broken",
            "pytest finds no tests with it; on the base 1 passed",
        ),
        (
            replace(result({}, status=CheckStatus.FAILED), exit_code=3),
            result({UP: True, DOWN: False}),
            "broken",
            "keeps 2 tests (test_up, test_down) of the base from running",
        ),
        (
            ended_by_a_module(),
            result({UP: True, DOWN: False}),
            "broken",
            "no test passes with it; on the base 1 passed",
        ),
        (
            plain(False, PYTEST),
            result({UP: True, DOWN: False}),
            "broken",
            "pytest fails and names no test; on the base 1 passed",
        ),
        # Where none passes on the base nothing got worse.
        (
            ended_by_a_module(),
            result(MANY),
            "untested",
            "what pytest prints does not say how 3 tests (test_0, test_1 and 1 more) ended",
        ),
        (
            # A chain (`pytest && mypy`): the base's tests fail, so it never came to the second.
            replace(result({UP: True, DOWN: True}), status=CheckStatus.FAILED, exit_code=3),
            FAILING,
            "untested",
            "fixes the failing test, yet pytest exits with 3: "
            "new, or hidden on the base by what failed",
        ),
        (
            replace(result({DOWN: True}), status=CheckStatus.FAILED, exit_code=1),
            result({UP: True, DOWN: True}),
            "broken",
            "keeps test_up of the base from running",
        ),
    ],
)
def test_a_lane_alone(now: CheckResult, base: CheckResult, state: str, reason: str) -> None:
    lane_alone = judged(now, base)
    assert (lane_alone.state, lane_alone.reason) == (state, reason)


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (file("README.md", "a\n", "b\n"), "it changes no line of code, so only a reader can tell"),
        (file("a.py", "x = 1\n", "# one\nx = 1\n"), "it changes no line of code, so only a reader"),
        (file("a.py", "x = 1\n", "x = 2\n"), "add a test that fails without it"),
    ],
)
def test_what_would_tell_a_patch_from_the_base(change: FileChange, advice: str) -> None:
    mine = lane("a", result({UP: True}), base=[PASSING], files=[change])
    reason = of(rank(evidence([mine], [PASSING]))).reason
    assert reason.startswith(f"pytest passes with and without it (1 passed): {advice}")


LONG = "test_that_the_last_page_of_a_book_is_as_long_as_what_remains"


def test_of_a_test_with_a_long_name_the_end_is_told() -> None:
    ids = [f"tests/integration/test_pages.py::TestBook::{LONG}[{n}]" for n in (11, 22)]
    verdict = judged(
        result({UP: True, **dict.fromkeys(ids, False)}), result(dict.fromkeys(ids, True))
    )
    assert verdict.reason == (
        "breaks 2 tests that passed on the base "
        "(test_that_the_la\u2026_is_as_long_as_what_remains[11], "
        "test_that_the_la\u2026_is_as_long_as_what_remains[22])"
    )
    assert all(f"{LONG[-20:]}[{n}]" in verdict.why for n in (11, 22)), verdict.why


def test_a_test_that_a_patch_to_tests_takes_away_holds_it_back() -> None:
    base = result({UP: True, DOWN: True})
    now = replace(result({DOWN: True}), status=CheckStatus.FAILED, exit_code=1)
    changed = file("tests/test_a.py", "def test_up():\n    f()\n", "def test_down():\n    f()\n")
    verdict = rank(evidence([lane("a", now, base=[base], files=[changed])], [base]))
    assert of(verdict).state == "held_back"
    assert "test_up" in of(verdict).reason


def new_test(ends: Mapping[str, bool], base: CheckResult) -> LaneVerdict:
    """A lane whose new test ends on the base as `ends` has it; its own run passes it."""
    mine = lane("a", result({UP: True, NEW: True}), base=[base])
    trials = (cross("a", "", ends, base),) if ends else ()
    return of(rank(evidence([mine], [base], trials=trials)))


@pytest.mark.parametrize(
    ("ends", "state", "reason"),
    [
        (
            {NEW: False},
            "proved",
            "its new test fails on the base and passes with it, breaks nothing (2 passed)",
        ),
        ({NEW: True}, "untested", "its new test passes on the base too"),
        ({}, "untested", "its new test was not run on the base"),
    ],
)
def test_its_own_new_test_proves_it_where_it_fails_on_the_base(
    ends: Mapping[str, bool], state: str, reason: str
) -> None:
    lane_alone = new_test(ends, PASSING)
    assert (lane_alone.state, lane_alone.reason) == (state, reason)


def two(end: bool, more: Mapping[str, bool] | None = None) -> Verdict:
    """Lane `a` brings a test that fails on the base; `b`, which is smaller, ends it so."""
    lanes = [
        lane("a", result({UP: True, NEW: True}), base=[PASSING], files=[file(new="x = 1\n" * 9)]),
        lane("b", result({UP: True}), base=[PASSING]),
    ]
    trials = (cross("a", "", {NEW: False}, PASSING), cross("a", "b", {NEW: end}, PASSING))
    return rank(evidence(lanes, [PASSING], trials=trials))


def test_another_lanes_new_test_proves_a_patch_as_well() -> None:
    mine = of(two(True), "b")
    assert mine.state == "proved"
    assert mine.reason == (
        "passes a's new test, which fails on the base, breaks nothing (1 passed)"
    )


def test_another_lanes_test_that_fails_on_a_patch_leaves_it_untested_and_behind() -> None:
    verdict = two(False)
    assert (of(verdict, "b").state, of(verdict, "b").rank) == ("untested", 2)
    assert (verdict.top, verdict.usable) == ("a", True)


def test_a_smaller_patch_that_nothing_proves_stands_behind_one_that_is_proved() -> None:
    lanes = [
        lane("a", result({UP: True, NEW: True}), base=[PASSING], files=[file(new="x = 1\n" * 9)]),
        lane("b", result({UP: True}), base=[PASSING]),
    ]
    cut = NotTried(kind="cross", on="b", author="a", why="the limit was reached")
    facts = evidence(
        lanes, [PASSING], trials=(cross("a", "", {NEW: False}, PASSING),), not_tried=(cut,)
    )
    assert [lane.lane for lane in rank(facts).lanes] == ["a", "b"]


def test_a_new_test_does_not_stand_in_for_a_failure_that_another_patch_mends() -> None:
    base = FAILING
    idle = lane("idle", result({UP: True, DOWN: False, NEW: True}), base=[base])
    mends = lane("mends", result({UP: True, DOWN: True}), base=[base])
    trials = (cross("idle", "", {NEW: False}, base), cross("idle", "mends", {NEW: False}, base))
    both = rank(evidence([idle, mends], [base], trials=trials))
    assert (of(both, "idle").state, of(both, "idle").rank) == ("untested", 2)
    assert of(both, "idle").reason == (
        "1 test fails with and without it; its new test fails on the base and passes with it"
    )
    alone = of(rank(evidence([idle], [base], trials=trials[:1])), "idle")
    assert alone.state == "proved"
    assert alone.reason.endswith("(2 passed); 1 test fails as on the base")


def test_a_weakened_test_is_held_back_by_what_it_changes() -> None:
    changed = file(
        "tests/test_a.py",
        "def test_down():\n    assert f(2) == 2\n",
        "def test_down():\n    assert f(2) == 3\n",
    )
    mine = lane("a", result({UP: True, DOWN: True}), base=[FAILING], files=[changed])
    verdict = rank(
        evidence([mine], [FAILING], trials=(protected("a", {UP: True, DOWN: False}, FAILING),))
    )
    assert of(verdict).state == "held_back"
    assert of(verdict).reason.startswith("changes what test_down expects")


SET_UP = file("test_a.py", "def at():\n    tick(10)\n", "def at():\n    tick(11)\n")


@pytest.mark.parametrize(
    ("own", "put_back", "reason"),
    [
        (
            dict.fromkeys(MANY, True),
            MANY,
            "3 failing tests pass only with its own version of test_a.py",
        ),
        (
            dict.fromkeys(MANY, True),
            {**dict.fromkeys(MANY, True), "t.py::test_0": False},
            "1 of the 3 failing tests passes only with its own version of test_a.py",
        ),
        (
            {**MANY, "t.py::test_0": True},
            MANY,
            "changes test_0; 3 of 3 failing tests still fail with your tests",
        ),
        (
            {**dict.fromkeys(MANY, True), "t.py::test_2": False},
            {**MANY, "t.py::test_1": True},
            "changes test_0; 2 of 3 failing tests still fail with your tests",
        ),
    ],
)
def test_what_passes_by_its_own_version_alone_is_held_back(
    own: Mapping[str, bool], put_back: Mapping[str, bool], reason: str
) -> None:
    """Also where no assertion of a test shows it: "passes with and without it", said of a patch
    without which five tests fail."""
    base = result(MANY)
    mine = lane("a", result(own), base=[base], files=[SET_UP, file(new="x = 3\n")])
    verdict = rank(evidence([mine], [base], trials=(protected("a", put_back, base),)))
    assert (of(verdict).state, of(verdict).reason) == ("held_back", reason)
    bent = [id for id, good in own.items() if good and not put_back[id]]
    assert [*of(verdict).own_version] == bent
    assert of(verdict).gates[0].path == "test_a.py"


def test_changed_tests_that_could_not_be_held_against_the_bases_prove_nothing() -> None:
    mine = lane("a", result({UP: True, DOWN: True}), base=[FAILING])
    cut = NotTried(kind="protected", on="a", why="the limit of 40 runs was reached")
    verdict = of(rank(evidence([mine], [FAILING], not_tried=(cut,))))
    assert verdict.state == "untested"
    assert verdict.reason == (
        "it changes tests, and was not run with the base's version of them "
        "(the limit of 40 runs was reached)"
    )
    mends = "the one failure of the base in pytest passes with it"
    assert mends in [row.text for row in verdict.reasons], "by whose version is not known"


def test_code_that_may_bend_the_runner_proves_nothing_without_tests_that_must_fail() -> None:
    code = file("src/pager.py", "", "import pytest\n\npytest.fail = print\n")
    mine = lane("a", result({UP: True, DOWN: True}), base=[FAILING], files=[code])
    cut = NotTried(kind="canary", on="a", why="the limit of 40 runs was reached")
    for more in ({}, {"not_tried": (cut,)}):
        verdict = of(rank(evidence([mine], [FAILING], **more)))
        assert (verdict.state, verdict.reason) == (
            "untested",
            "it may change what runs the tests, and tests that must fail were not tried on it",
        )
    other = [file("src/pager.py"), file("web/app.js", "", "global.pages = process.exit;\n")]
    mine = lane("a", result({UP: True, DOWN: True}), base=[FAILING], files=other)
    assert of(rank(evidence([mine], [FAILING]))).state == "proved", "no JavaScript runs pytest"
    mine = lane("a", result({UP: True, DOWN: True}), base=[FAILING], files=[code])
    elsewhere = replace(cut, why=NO_CANARY)
    assert of(rank(evidence([mine], [FAILING], not_tried=(elsewhere,)))).state == "proved"


def test_without_checks_a_patch_is_untested_and_may_land() -> None:
    verdict = rank(evidence([lane("a")], []))
    assert (of(verdict).state, verdict.checked, verdict.usable, verdict.top) == (
        "untested",
        False,
        True,
        "a",
    )
    assert of(verdict).reason == "no check ran: `hydra check -r r --check COMMAND` tests it"


def test_of_several_lanes_without_checks_none_is_first() -> None:
    """Nor by what else can be read of them: two that left the very same patch, say."""
    lanes = [lane("a", tree="t"), lane("b", tree="t"), lane("c", files=[file(new="x = 3\n")])]
    verdict = rank(evidence(lanes, []))
    assert (verdict.top, verdict.usable) == (None, False)
    assert verdict.says == "nothing was tested: there is no first"
    assert [each.rank for each in verdict.lanes] == [1, 1, 1]
    gone = stopped(CheckStatus.PROGRAM_MISSING, "pytest: not found")
    names = [lane(name, gone, base=[gone]) for name in ("a", "b")]
    unrun = rank(evidence(names, [gone]))
    assert (unrun.checked, unrun.tested, unrun.top) == (True, False, None)
    assert unrun.says == "nothing was tested: there is no first"
    assert rank(evidence([lane("a", gone, base=[PASSING])], [PASSING])).tested
    empty = replace(lane("b"), patch=None, files=())
    assert rank(evidence([lane("a"), empty], [])).top is None


def test_with_checks_an_untested_patch_lands_only_by_name() -> None:
    verdict = rank(evidence([lane("a", result({UP: True}), base=[PASSING])], [PASSING]))
    assert (verdict.top, verdict.usable, of(verdict).passes_gates) == (None, False, True)
    assert verdict.says.startswith("a is untested: pytest passes with and without it")


def test_a_patch_that_broke_a_check_it_need_not_pass_says_so() -> None:
    slow = result({"s.py::test_slow": True}, OPTIONAL)
    now = result({"s.py::test_slow": False}, OPTIONAL)
    mine = lane("a", result({UP: True, DOWN: True}), now, base=[FAILING, slow])
    reason = of(rank(evidence([mine], [FAILING, slow]))).reason
    assert "breaks test_slow in a check that it need not pass" in reason


API, WEB = "cd services/api && pytest -q", "cd services/web && { npm test && npm run e2e\n}"


@pytest.mark.parametrize(
    ("commands", "paths", "says"),
    [
        ((API, WEB), ("services/api/a.py", "tools/c/a.py", "tools/b.py"), "tools; its"),
        ((API,), ("services/web/a.js", "setup.py"), "services/web, setup.py; their"),
        ((API,), ("services/api2/a.py",), "services/api2; its"),
        ((API,), ("services/api/a.py", "README.md", "docs/a.rst"), ""),
        ((API, "pytest -q"), ("tools/a.py",), ""),
        (("cd services/api && cd ../.. && pytest -q",), ("tools/a.py",), ""),
        (("cd services/api && pytest . ../../tools",), ("tools/a.py",), ""),
        (("cd services/api && { pytest && cd ../web && npm test\n}",), ("tools/a.py",), ""),
        (("cd services && cd api && pytest",), ("services/web/a.js",), "services/web; its"),
    ],
)
def test_a_folder_that_no_check_runs_in_and_the_patch_changes_is_said(
    commands: tuple[str, ...], paths: tuple[str, ...], says: str
) -> None:
    checks = [Check(f"c{number}", command) for number, command in enumerate(commands)]
    ends = {UP: True, DOWN: False}
    base = [result(ends, check, name="_base") for check in checks]
    now = [result(dict.fromkeys(ends, True), check) for check in checks]
    patch = lane("a", *now, base=base, files=[file(path) for path in paths])
    notes = list(untested_places(evidence([patch], base)))
    tests = "tests were not run (race from the top, or name a check for them)"
    assert notes == ([f"a also changes {says} {tests}"] if says else [])


def test_lanes_that_change_the_same_places_share_a_note() -> None:
    check = Check("c", API)
    base = [result({UP: False}, check, name="_base")]
    files = [file("services/web/a.js")]
    lanes = [lane(name, result({UP: True}, check), base=base, files=files) for name in "ab"]
    (note,) = untested_places(evidence(lanes, base))
    assert note.startswith("a and b also change services/web; its tests were not run")


def test_code_that_gives_what_a_test_expects_is_said_in_the_reason() -> None:
    tests = {"tests/test_a.py": "from a import f\n\n\ndef test_down():\n    assert f(3) == 2\n"}
    coded = file(
        "a.py",
        "def f(n):\n    return n\n",
        "def f(n):\n    if n == 3:\n        return 2\n    return n\n",
    )
    mine = lane("a", result({UP: True, DOWN: True}), base=[FAILING], files=[coded])
    reason = of(rank(evidence([mine], [FAILING], tests=tests))).reason
    assert "; but returns the literal 2" in reason


def quiet(passed: int, *failed: str) -> CheckResult:
    """As tox runs pytest, which hands on no option of Hydra's: `-q` names failures alone."""
    ends = result(dict.fromkeys(failed, False))
    counts, unnamed = ResultCounts(passed, len(failed), 0), frozenset[TestStatus]({"passed"})
    assert ends.tests is not None
    tests = dataclasses.replace(ends.tests, counts=counts, unnamed=unnamed)
    status = CheckStatus.FAILED if failed else CheckStatus.PASSED
    return replace(ends, tests=tests, status=status, exit_code=int(bool(failed)))


def go(text: str, code: int) -> CheckResult:
    """`go test ./...`, which counts no test of a package that passes."""
    tests = read_text(text.encode())
    assert tests is not None
    status = CheckStatus.FAILED if code else CheckStatus.PASSED
    return replace(result({}), tests=tests, status=status, exit_code=code)


def test_a_runner_that_names_failures_alone_proves_by_its_counts() -> None:
    base = quiet(9, "t.py::test_a", "t.py::test_b")
    whole, fewer = judged(quiet(11), base), judged(quiet(10), base)
    assert (whole.state, fewer.state) == ("proved", "untested")
    assert whole.reason == "pytest failed on the base and passes, breaks nothing (11 passed)"


def test_a_package_of_go_that_passes_proves_a_patch_although_no_test_is_named() -> None:
    failures = "".join(f"--- FAIL: Test{name} (0.00s)\n" for name in ("Up", "Down"))
    base = go(f"{failures}FAIL\tshop/cart\t0.1s\nok  \tshop/price\t0.1s\n", 1)
    mended = go("ok  \tshop/cart\t0.1s\nok  \tshop/price\t0.1s\n", 0)
    alone = go("ok  \tshop/cart\t0.1s\n", 0)
    assert (judged(mended, base).state, judged(alone, base).state) == ("proved", "untested")


FAILS = "--- FAIL: Test{} (0.00s)\n"
CART, PRICE = "FAIL\tshop/cart\t0.1s\n", "FAIL\tshop/price\t0.1s\n"


@pytest.mark.parametrize(
    ("now", "base", "name"),
    [
        (quiet(10, "t.py::test_b"), quiet(9, "t.py::test_a", "t.py::test_b"), "test_a"),
        (
            go("ok  \tshop/cart\t0.1s\n" + FAILS.format("Dear") + PRICE, 1),
            go(FAILS.format("Up") + CART + FAILS.format("Dear") + PRICE, 1),
            "TestUp",
        ),
        (
            go(FAILS.format("Down") + CART, 1),
            go(FAILS.format("Up") + FAILS.format("Down") + CART, 1),
            "TestUp",
        ),
    ],
)
def test_a_patch_that_may_mend_some_failures_is_not_called_broken(
    now: CheckResult, base: CheckResult, name: str
) -> None:
    """Its runner names failures alone: what is not named now may have passed."""
    patch = judged(now, base)
    assert (patch.state, name in patch.reason) == ("untested", True), patch.reason


def test_the_nearest_package_tells_of_a_test_that_is_not_named() -> None:
    whole = "FAIL\tshop [build failed]\n"
    base = go(whole + FAILS.format("Up") + CART, 1)
    assert judged(go(whole + "ok  \tshop/cart\t0.1s\n", 1), base).state == "untested"


WEAK = file("test_a.py", old="assert up() == 2\n", new="assert up() == 3\n")


def test_a_check_that_was_not_run_with_the_bases_tests_proves_no_patch_that_changes_them() -> None:
    """`hydra check LANE` runs no trials, nor does a race that was stopped."""
    now = result({UP: True, DOWN: True})
    bare = evidence([lane("a", now, files=[WEAK, file()], base=[FAILING])], [FAILING])
    assert of(rank(bare)).state == "untested"
    tried = protected("a", {UP: True, DOWN: True}, FAILING)
    assert of(rank(replace(bare, trials=(tried,)))).state == "proved"


def test_tests_that_the_patch_deletes_hold_it_back_although_all_others_pass() -> None:
    """A class that inherits its tests has none of its own to be read."""
    base = result({UP: True, DOWN: False, "test_u.py::test_a": True, "test_u.py::test_b": True})
    gone = file("test_u.py", old="class TestMore(TestAll):\n    pass\n", new=None)
    whole = {UP: True, DOWN: True, "test_u.py::test_a": True, "test_u.py::test_b": True}
    tried = protected("a", whole, base)
    fewer = lane("a", result({UP: True, DOWN: True}), files=[gone, file()], base=[base])
    patch = of(rank(evidence([fewer], [base], trials=(tried,))))
    assert (patch.state, patch.passes_gates) == ("held_back", False)
    assert patch.reason.startswith("2 tests that passed on the base no longer run")
    names = {UP: True, DOWN: True, "new.py::test_a": True, "new.py::test_b": True}
    moved = lane("a", result(names), files=[gone, file()], base=[base])
    assert of(rank(evidence([moved], [base], trials=(tried,)))).state == "proved"


def test_a_linter_whose_settings_the_patch_loosens_proves_nothing() -> None:
    settings = file("mypy.ini", old="[mypy]\n", new="[mypy]\nignore_errors = true\n")
    base = plain(False, MYPY)
    loose = lane("a", plain(True, MYPY), files=[settings, file()], base=[base])
    honest = lane("b", plain(True, MYPY), base=[base])
    ruled = rank(evidence([loose, honest], [base]))
    assert (of(ruled, "a").state, of(ruled, "b").state) == ("untested", "proved")


def test_a_check_that_fails_says_nothing_where_the_base_did_not_come_to_its_end() -> None:
    patch = judged(result({UP: False, DOWN: True}), stopped(CheckStatus.TIMED_OUT, "over 5:00"))
    assert patch.state == "untested"
    assert patch.reason == "pytest fails with it, and could not run on the base: over 5:00"


def test_a_failing_test_that_does_not_run_with_the_patch_is_not_said_to_pass() -> None:
    patch = judged(result({UP: True}), result({UP: True, DOWN: False}))
    assert "with and without" not in patch.reason, patch.reason


def test_a_patch_with_which_no_test_passes_is_broken_although_none_is_named() -> None:
    """Code that ends the interpreter as it is imported: pytest reports an error of its own."""
    now = result({}, status=CheckStatus.FAILED)
    assert now.tests is not None
    unnamed = frozenset[TestStatus]({"failed"})
    none = dataclasses.replace(now.tests, counts=ResultCounts(0, 1, 0), unnamed=unnamed)
    ended = judged(replace(now, tests=none, exit_code=3), PASSING)
    verdict = judged(
        replace(now, tests=dataclasses.replace(none, counts=ResultCounts(1, 1, 0)), exit_code=3),
        PASSING,
    )
    assert ended.state == "broken"
    assert ended.reason == "no test passes with it; on the base 1 passed"
    assert verdict.state == "untested"


@pytest.mark.parametrize(
    ("status", "patch", "says"),
    [
        ("failed", None, "it broke"),
        ("failed", {"files": 0, "commit": "b", "base": "b"}, "it broke"),
        ("failed", {"files": 1, "commit": "c", "base": "b"}, "failed: it broke"),
        ("interrupted", {"files": 1, "commit": "c", "base": "b"}, "it broke"),
        ("completed", None, ""),
    ],
)
def test_how_a_lane_ended_is_said_once(status: str, patch: object, says: str) -> None:
    """Its state has the word already, where it left no patch."""
    ending = {"lane": "a", "status": status, "error": {"message": "it broke"}, "patch": patch}
    (lane,) = as_race({"lanes": [ending]}).lanes
    assert lane_evidence(lane).ended == says


def test_a_name_that_several_broken_tests_have_is_said_once() -> None:
    names = [f"tests/test_{name}.py::test_age" for name in "abc"]
    base = result(dict.fromkeys(names, True), name="_base")
    broken = lane("a", result(dict.fromkeys(names, False)), base=[base])
    (patch,) = rank(evidence([broken], [base])).lanes
    assert patch.reason == "breaks 3 tests that passed on the base (test_age and 2 more)"


def test_new_files_of_tests_that_no_check_runs_are_named() -> None:
    """As where `testpaths` names another file: "add a test", said of a patch that brings one."""
    brought = file("tests/test_cut.py", None, "def test_cut():\n    assert up(3) == 2\n")
    lanes = [lane(name, result({UP: True}), base=[PASSING], files=[brought]) for name in "ab"]
    known = frozenset(("t.py", "src/up.py"))
    cut = NotTried(kind="cross", on="", author="a", why="pytest names no new test")
    verdict = rank(evidence(lanes, [PASSING], paths=known, not_tried=(cut,)))
    assert of(verdict).reason == (
        "tests/test_cut.py, which it brings, was not run by pytest: name a check that runs it"
    )
    assert verdict.says.endswith(
        "a and b are tied: no test tells them apart, and tests/test_cut.py was not run"
    )
    (untried,) = verdict.not_tried
    assert untried == "not tried: a's tests on other code (tests/test_cut.py was not run)"
    ran = result({UP: True, "tests/test_cut.py::test_cut": True})
    mine = lane("a", ran, base=[PASSING], files=[brought])
    assert "not run by" not in of(rank(evidence([mine], [PASSING], paths=known))).reason
    quiet = result({UP: False})
    assert quiet.tests is not None
    quiet = replace(quiet, tests=dataclasses.replace(quiet.tests, unnamed=frozenset({"passed"})))
    mine = lane("a", quiet, base=[FAILING], files=[brought])
    reasons = of(rank(evidence([mine], [FAILING], paths=known))).reasons
    assert not any("not run" in row.text for row in reasons), "it names too little to tell"


def test_what_was_not_tried_says_whose_tests_and_on_whose_code() -> None:
    lanes = [lane(name, result({UP: True}), base=[PASSING]) for name in "abc"]
    limit = "the limit of 40 runs was reached"
    rows = [NotTried(kind="cross", on=on, author="a", why=limit) for on in "bc"]
    rows += [NotTried(kind="cross", on="", author=author, why="x") for author in "bc"]
    rows += [NotTried(kind="protected", on="a", why=limit)]
    assert rank(evidence(lanes, [PASSING], not_tried=tuple(rows))).not_tried == (
        f"not tried: a's tests on the patches of b, c ({limit})",
        "not tried: the tests of b and c on other code (x)",
        f"not tried: the base's tests on a's patch ({limit})",
    )


def test_a_new_test_that_is_flaky_is_said_to_be() -> None:
    once = result({UP: True, NEW: False})
    now = replace(once, again=result({UP: True, NEW: True}))
    mine = lane("a", now, base=[PASSING])
    assert of(rank(evidence([mine], [PASSING]))).reason == "its new test is flaky"
    base = result({UP: False}, name="_base")
    proved = of(rank(evidence([lane("a", now, base=[base])], [base])))
    assert "; its new test is flaky" in proved.reason


def test_the_code_of_a_lane_that_asks_first_is_not_offered_with_anothers_tests() -> None:
    gone = file("prices.py", "APPLE = 1\n", None)
    brought = file("tests/test_new.py", None, "def test_new():\n    assert up(3) == 2\n")
    first = result({UP: True, DOWN: True, NEW: True})
    lanes = [
        lane("a", first, base=[FAILING], files=[gone, brought]),
        lane("b", result({UP: True, DOWN: True}), base=[FAILING], files=[gone, file()]),
    ]
    trials = (cross("a", "", {NEW: False}, FAILING), cross("a", "b", {NEW: True}, FAILING))
    assert rank(evidence(lanes, [FAILING], trials=trials)).picks
    taken = (EarlierCommit("c" * 40, "Prices", (file("prices.py", None, "APPLE = 1\n"),)),)
    verdict = rank(evidence(lanes, [FAILING], trials=trials, history=taken))
    assert (verdict.top, of(verdict, "b").decision) == ("a", "undoes ccccccc: Prices")
    assert verdict.picks == ()

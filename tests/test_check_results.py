"""Two runs held against each other, and one against its exit code."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.checks import results
from hydra.checks.comparison import compare, reconcile
from hydra.checks.junit import read_junit
from hydra.checks.new_tests import whole_and_single
from hydra.checks.results import Comparison, GatheredTests, ResultCounts, Status, TestCase, Tests
from hydra.checks.text_parsers.output import read_text
from tests.check_recordings import FIXTURES


def node(name: str) -> Tests:
    output = (FIXTURES / "node-test-20.20.2" / f"{name}.txt").read_bytes()
    tests = read_text(output, ("/lane/shop",))
    assert tests is not None
    return tests


STATUSES: dict[str, Status] = {"p": "passed", "f": "failed", "s": "skipped"}


def ran(text: str, source: str = "junit", flaky: tuple[str, ...] = ()) -> Tests:
    """`"a:p b:f"` as the tests of one run."""
    cases = (term.rsplit(":", 1) for term in text.split())
    return Tests(source, tuple(TestCase(name, STATUSES[how]) for name, how in cases), flaky=flaky)


def quiet(passed: int, failing: str = "", skipped: int = 0) -> Tests:
    """A run that names its failures only, as `pytest -q` does."""
    named = ran(" ".join(f"{name}:f" for name in failing.split()), "text")
    unnamed: set[Status] = {"passed", "skipped"} if skipped else {"passed"}
    counts = ResultCounts(passed, named.failed, skipped)
    return Tests("text", named.cases, counts=counts, unnamed=frozenset(unnamed))


def held(
    base: Tests | None,
    now: Tests | None,
    *,
    base_again: Tests | None = None,
    again: Tests | None = None,
) -> Comparison:
    comparison = compare(base, now, base_again=base_again, again=again)
    assert comparison is not None
    return comparison


def test_counts_come_from_the_names_or_from_the_tool() -> None:
    tests = ran("a:p b:f c:s d:p")
    assert (tests.passed, tests.failed, tests.skipped, tests.total) == (2, 1, 1, 4)
    assert tests.by_id == {"a": "passed", "b": "failed", "c": "skipped", "d": "passed"}
    assert (quiet(41, "a b").passed, quiet(41, "a b").failed) == (41, 2)


def test_each_test_goes_into_one_list() -> None:
    base = ran("same:p fixed:f broken:p still:f gone:p skip:p off:s on:s worse:s")
    now = ran("same:p fixed:p broken:f still:f skip:s off:s on:p worse:f new:p fails:f later:s")
    assert held(base, now) == Comparison(
        fixed=("fixed",),
        broken=("broken",),
        still_failing=("still",),
        new=("on", "new", "later"),
        new_failing=("worse", "fails"),
        vanished=("gone",),
        skipped=("skip",),
        breaks_nothing=False,
    )


@pytest.mark.parametrize(
    ("base", "now", "answer"),
    [
        ("a:p b:f", "a:p b:f", True),
        ("a:p b:f", "a:p b:p", True),
        ("a:p b:f", "a:p b:f c:f", True),
        ("a:p b:f", "a:p", True),
        ("a:p b:f", "a:p b:s", True),
        ("a:p b:f", "a:f b:p", False),
        ("a:p b:f", "b:f", False),
        ("a:p b:f", "a:s b:p", False),
        ("", "a:f", True),
    ],
)
def test_what_breaks_nothing(base: str, now: str, answer: bool) -> None:
    assert held(ran(base), ran(now)).breaks_nothing is answer


def test_nothing_to_compare() -> None:
    assert compare(None, ran("a:p")) is None
    assert compare(ran("a:p"), None) is None
    assert compare(ran("a:p"), ran("b:p", "text")) is None
    assert held(ran("a:f"), ran("a:p b:p", "text")).fixed == ("a",)


def test_a_failure_that_passes_once_more_is_flaky_on_either_side_and_never_fixed() -> None:
    base, now = ran("a:f b:f c:p d:p"), ran("a:p b:p c:f d:f")
    comparison = held(base, now, base_again=ran("a:p b:f c:p d:p"), again=ran("a:p b:p c:p d:f"))
    assert comparison.flaky == ("a", "c")
    assert comparison.fixed == ("b",)
    assert comparison.broken == ("d",)
    assert not comparison.breaks_nothing


def test_a_test_that_passes_and_then_fails_is_flaky_too() -> None:
    assert held(ran("a:f"), ran("a:p"), again=ran("a:f")) == Comparison(flaky=("a",))


def test_a_new_test_can_be_flaky() -> None:
    assert held(ran("a:p"), ran("a:p b:f"), again=ran("a:p b:p")).flaky == ("b",)


def test_a_failure_that_is_not_there_once_more_stays_a_failure() -> None:
    assert held(ran("a:p"), ran("a:f"), again=ran("")).broken == ("a",)
    assert held(ran("a:p"), ran("a:f"), again=ran("a:s")).broken == ("a",)


def test_the_tools_own_retries_count() -> None:
    assert held(ran("a:f"), ran("a:p", flaky=("a",))) == Comparison(flaky=("a",))


@pytest.mark.parametrize(
    ("group", "inside"),
    [
        ("tests/test_a.py", "tests/test_a.py::Cart::test_adds[a.b]"),
        ("tests.test_a", "tests.test_a.Cart.test_adds"),
        ("example.com/shop/cart", "example.com/shop/cart::TestPrices/one"),
        ("src/a.test.js", "src/a.test.js::cart > adds"),
        ("shop src/lib.rs", "shop src/lib.rs::tests::adds"),
    ],
)
def test_tests_of_a_file_that_fails_as_a_whole_are_broken(group: str, inside: str) -> None:
    base = Tests("junit", (TestCase(inside, "passed"), TestCase("other", "passed")))
    now = Tests("junit", (TestCase(group, "failed"), TestCase("other", "passed")))
    comparison = held(base, now)
    assert comparison.broken == (inside,)
    assert comparison.new_failing == (group,)
    assert not comparison.vanished
    back = held(now, base)
    assert back.fixed == (group,)
    assert back.new == (inside,)
    failing = Tests("junit", (TestCase(inside, "failed"), TestCase("other", "passed")))
    assert not held(now, failing).fixed


def test_runs_that_name_only_failures() -> None:
    base = quiet(41, "a b")
    same = held(base, quiet(41, "a b"))
    assert same == Comparison(still_failing=("a", "b"))
    # Fixed, deleted and skipped look alike here: none of them is said.
    assert held(base, quiet(42, "b")) == Comparison(still_failing=("b",), unknown=("a",))
    assert not held(base, quiet(41, "b")).breaks_nothing
    assert held(base, quiet(40, "a b c")).broken == ("c",)
    fewer = held(base, quiet(38, "a b"))
    assert not fewer.broken
    assert not fewer.breaks_nothing


def test_a_flaky_failure_by_counts() -> None:
    base, now = quiet(41, "a"), quiet(40, "a b")
    comparison = held(base, now, again=quiet(41, "a"))
    assert comparison.flaky == ("b",)
    assert comparison.breaks_nothing
    assert held(base, now, again=quiet(12, "a")).broken == ("b",)


def test_every_test_of_the_base_passed_and_none_was_named() -> None:
    comparison = held(quiet(41), quiet(40, "a"))
    assert comparison.broken == ("a",)
    assert not comparison.breaks_nothing


def test_packages_that_stand_for_their_tests() -> None:
    def go(name: str) -> Tests:
        tests = read_text((FIXTURES / "go-1.19.8" / f"{name}.txt").read_bytes())
        assert tests is not None
        return tests

    assert held(go("plain"), go("plain")).breaks_nothing
    cart = "example.com/shop/cart"
    broken = read_text(f"--- FAIL: TestAdds (0.00s)\nFAIL\t{cart}\t0.1s\n".encode())
    fine = read_text(f"ok  \t{cart}\t0.1s\n".encode())
    assert held(fine, broken).broken == (f"{cart}::TestAdds",)
    assert held(broken, fine).unknown == (f"{cart}::TestAdds",)


@pytest.mark.parametrize(
    ("before", "after", "fixed"),
    [
        ((3, 1, 0), (4, 0, 0), True),
        ((2, 1, 1), (3, 0, 1), True),
        ((3, 1, 0), (3, 0, 1), False),  # it may be skipped now
        ((3, 1, 0), (3, 0, 0), False),  # or gone
    ],
)
def test_a_file_that_passes_names_none_of_its_tests(
    before: tuple[int, ...], after: tuple[int, ...], fixed: bool
) -> None:
    """As vitest and jest print it."""
    now = dataclasses.replace(
        quiet(0), cases=ran("up.js:p price.js:p", "text").cases, counts=ResultCounts(*after)
    )
    cases = ran("up.js::a:f up.js::b:p price.js:p", "text").cases
    comparison = held(dataclasses.replace(now, cases=cases, counts=ResultCounts(*before)), now)
    assert comparison == (
        Comparison(fixed=("up.js::a",))
        if fixed
        else Comparison(unknown=("up.js::a", "up.js::b"), breaks_nothing=False)
    )


def test_a_file_that_the_base_never_came_to_has_broken_nothing() -> None:
    """A suite in parts, and the base ended in the first: vitest and jest name each file."""
    base = dataclasses.replace(quiet(9), cases=ran("a.ts:p b.ts::x:f", "text").cases)
    first = dataclasses.replace(base, cases=ran("b.ts:p c.ts::y:f", "text").cases)
    assert held(base, first).new_failing == ("c.ts::y",)
    old = dataclasses.replace(base, cases=ran("b.ts:p a.ts::y:f", "text").cases)
    assert held(base, old).broken == ("a.ts::y",)
    unlisted = dataclasses.replace(base, cases=ran("b.ts::x:f", "text").cases)
    assert held(unlisted, first).broken == ("c.ts::y",)


def test_a_recorded_module_that_no_longer_imports() -> None:
    folder = FIXTURES / "pytest-9.2.0"
    whole = read_junit((folder / "verbose.xml").read_bytes())
    extra = read_junit(
        b'<testsuite name="pytest"><testcase classname="tests.test_broken" name="test_never"/>'
        b"</testsuite>"
    )
    base = Tests("junit", whole.cases + extra.cases)
    comparison = held(base, read_junit((folder / "broken-on.xml").read_bytes()))
    assert comparison.broken == ("tests/test_broken.py::test_never",)
    assert comparison.new_failing == ("tests/test_broken.py",)


@pytest.mark.parametrize(
    ("tests", "code", "base", "sentences"),
    [
        (ran("a:p"), 0, None, ()),
        (ran("a:f"), 1, None, ()),
        (None, 1, ran("a:p"), ()),
        (
            ran("a:p"),
            1,
            None,
            ("the check exited with 1, and its XML has no failing test: something else failed",),
        ),
        (ran("a:f"), 0, None, ("the check exited with 0, and its XML has 1 failure",)),
        (
            ran("a:f b:f", "text"),
            0,
            None,
            ("the check exited with 0, and its output has 2 failures",),
        ),
        (
            ran("a:p"),
            None,
            None,
            ("the check did not end by itself: its XML may not name every test",),
        ),
        (ran("a:p"), 0, ran("a:p b:p"), ("1 test of the base did not run: b",)),
        (
            ran("x:p a:s"),
            0,
            ran("x:p a:p " + " ".join(f"t{n}:p" for n in range(7))),
            (
                "7 tests of the base did not run: t0, t1, t2, t3, t4 and 2 more",
                "1 test of the base ran there and not here, skipped: a",
            ),
        ),
        (quiet(38, "a"), 1, quiet(41, "a"), ("39 tests ran, and 42 on the base",)),
        (
            ran("a:p"),
            0,
            ran("b:p", "text"),
            ("its tests have other names than the base's: nothing can be compared",),
        ),
    ],
)
def test_what_does_not_fit_is_said(
    tests: Tests | None, code: int | None, base: Tests | None, sentences: tuple[str, ...]
) -> None:
    assert reconcile(tests, code, base) == sentences


def test_of_two_statuses_the_worse_stands_and_too_many_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "CASES", 2)
    gathered = GatheredTests()
    for name, status in (("a", "p"), ("a", "s"), ("b", "f"), ("b", "p"), ("c", "p"), ("a", "p")):
        gathered.add(name, STATUSES[status])
    assert gathered.statuses == {"a": "skipped", "b": "failed"}
    assert gathered.remarks() == ("1 results beyond the first 2 tests were left out",)


names = st.sampled_from(["a", "a::b", "a::b::c", "d/e.py", "d/e.py::f", "g", "h.i", "h"])
whole = st.dictionaries(names, st.sampled_from(list(STATUSES.values()))).map(
    lambda texts: Tests("junit", tuple(TestCase(name, how) for name, how in texts.items()))
)
partial = whole.map(
    lambda tests: Tests(
        "text",
        tuple(case for case in tests.cases if case.status == "failed"),
        counts=ResultCounts(tests.passed, tests.failed, tests.skipped),
        unnamed=frozenset({"passed", "skipped"}),
    )
)
runs = whole | partial


@given(runs, runs, st.none() | runs, st.none() | runs)
def test_no_id_is_in_two_lists_and_fixed_is_earned(
    base: Tests, now: Tests, base_again: Tests | None, again: Tests | None
) -> None:
    comparison = compare(base, now, base_again=base_again, again=again)
    if comparison is None:
        return
    lists = [getattr(comparison, f) for f in comparison.__struct_fields__ if f != "breaks_nothing"]
    listed = [name for names in lists for name in names]
    assert len(listed) == len(set(listed))
    for name in comparison.fixed:
        assert base.by_id[name] == "failed"
        inside = [how for other, how in now.by_id.items() if other.startswith(name)]
        assert "passed" in inside
        assert now.by_id.get(name, "passed") == "passed"
        assert again is None or again.by_id.get(name) != "failed"
    if comparison.breaks_nothing:
        passing = {name for name, how in base.by_id.items() if how == "passed"}
        assert not passing & {
            *comparison.broken,
            *comparison.vanished,
            *comparison.skipped,
            *comparison.unknown,
        }


def test_a_file_of_node_tests_that_fails_as_a_whole_holds_the_tests_that_are_missing() -> None:
    good, bad = node("loaded"), node("unparsed")
    assert bad.by_id == {"other": "passed", "test/slug.test.js": "failed"}
    lost = held(good, bad)
    assert lost == Comparison(
        broken=("lower", "dashes"), new_failing=("test/slug.test.js",), breaks_nothing=False
    )
    assert whole_and_single(lost) == (["test/slug.test.js"], [])
    mended = held(bad, good)
    assert (mended.fixed, mended.new) == (("test/slug.test.js",), ("lower", "dashes"))
    assert held(bad, bad) == Comparison(still_failing=("test/slug.test.js",))


def test_a_test_is_new_beside_skipped_ones_that_have_no_name() -> None:
    """vitest 2 counts them in its verbose report, and names those that ran."""
    base = quiet(1, skipped=2)
    base = dataclasses.replace(base, cases=ran("a:p").cases, unnamed=frozenset({"skipped"}))
    assert held(base, dataclasses.replace(base, cases=ran("a:p b:p").cases)).new == ("b",)
    assert held(quiet(1), ran("a:p b:p", "text")).new == ()


def test_a_file_that_fails_as_before_or_whose_tests_tell_it_holds_no_other_test() -> None:
    base = ran("a:p b:p src/c.test.js:f")
    assert held(base, ran("a:p src/c.test.js:f")).vanished == ("b",)
    named = ran("src/a.test.js::x:p")
    assert held(named, ran("src/c.test.js:f")).vanished == ("src/a.test.js::x",)


@given(runs)
def test_a_run_against_itself_has_no_news(tests: Tests) -> None:
    comparison = held(tests, tests, base_again=tests, again=tests)
    failing = tuple(name for name, how in tests.by_id.items() if how == "failed")
    assert comparison == Comparison(still_failing=failing)

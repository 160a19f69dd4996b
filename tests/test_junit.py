"""Reading JUnit XML: recordings of the real dialects, hostile files, damage."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydra.checks import junit
from hydra.checks.ids import LENGTH, stable
from hydra.checks.junit import NotJUnit, read_junit
from hydra.checks.results import Tests
from hydra.checks.text_parsers.output import read_text
from tests.check_recordings import FIXTURES
from tests.support import check_expectations as expected
from tests.support.check_expectations import spread

RECORDINGS = sorted(FIXTURES.glob("*/*.xml"))
PYTESTS = sorted(path.name for path in FIXTURES.glob("pytest-*"))
JESTS = sorted(path.name for path in FIXTURES.glob("jest-*"))


def read(folder: str, name: str) -> Tests:
    tests = read_junit((FIXTURES / folder / f"{name}.xml").read_bytes())
    assert tests.source == "junit"
    assert not tests.unnamed
    return tests


def suite(cases: str, name: str = "s") -> bytes:
    return f'<testsuites><testsuite name="{name}">{cases}</testsuite></testsuites>'.encode()


@pytest.mark.parametrize("version", PYTESTS)
@pytest.mark.parametrize("name", ["verbose", "xunit1", "xdist"])
def test_pytest_in_both_families_has_the_ids_of_its_text(version: str, name: str) -> None:
    tests = read(version, name)
    assert tests.by_id == expected.PYTEST
    assert (tests.passed, tests.failed, tests.skipped) == (8, 5, 2)
    text = read_text((FIXTURES / version / "verbose.txt").read_bytes())
    assert text is not None
    assert text.by_id == tests.by_id


@pytest.mark.parametrize("version", PYTESTS)
def test_pytest_that_cannot_collect_a_file(version: str) -> None:
    assert read(version, "broken").by_id == expected.UNCOLLECTED
    assert read(version, "broken-on").by_id == expected.PYTEST | expected.UNCOLLECTED


@pytest.mark.parametrize("version", PYTESTS)
def test_a_file_without_tests_is_a_file_without_tests(version: str) -> None:
    assert read(version, "empty").total == 0


def test_nextest() -> None:
    assert read("cargo-nextest-0.9.148", "plain").by_id == expected.NEXTEST
    flaky = read("cargo-nextest-0.9.148", "flaky")
    assert flaky.by_id == expected.NEXTEST | {"shop::total::sometimes": "passed"}
    assert flaky.flaky == ("shop::total::sometimes",)


def test_gotestsum_has_the_ids_of_go() -> None:
    tests = read("gotestsum-1.8.2", "plain")
    assert tests.by_id == expected.GO_CART | {
        expected.GO_TALKS: "failed",  # gotestsum's own word for a result that it could not read
        "example.com/shop/price::TestRounds": "passed",
    }
    # A package that does not build is counted there and not named.
    assert tests.remarks == ("the XML counts 5 failures and names 4",)


@pytest.mark.parametrize("version", JESTS)
def test_jest_junit(version: str) -> None:
    assert read(version, "verbose").by_id == expected.JEST_JUNIT
    broken = read(version, "broken")
    assert broken.by_id == expected.JEST_JUNIT | expected.BAD_SUITE
    assert set(read(version, "file-colour").by_id) == {
        f"src/{'price' if name in ('rounds', 'adds') else 'cart'}.test.js::{name}"
        for name in expected.JEST_JUNIT
    }


def test_vitest_has_the_ids_of_its_text() -> None:
    whole = expected.VITEST_CART | expected.PRICE
    assert read("vitest-3.2.7", "verbose").by_id == whole
    assert read("vitest-3.2.7", "broken").by_id == whole | expected.BAD_SUITE


def test_ctest_calls_a_missing_program_a_failure() -> None:
    assert read("ctest-3.25.1", "plain").by_id == expected.CTEST


def test_surefire_as_its_schema_documents_it() -> None:
    """Not a recording: written after the schema of maven-surefire-plugin 3.0."""
    tests = read_junit(
        b"""<?xml version="1.0" encoding="UTF-8"?>
        <testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0"
          name="com.example.CartTest" tests="6" errors="1" skipped="1" failures="1">
          <properties><property name="java.version" value="21"/></properties>
          <testcase name="adds" classname="com.example.CartTest" time="0.01"/>
          <testcase name="prices(int)[1]" classname="com.example.CartTest" time="0.01"/>
          <testcase name="removes" classname="com.example.CartTest" time="0.01">
            <failure message="no" type="AssertionError"><![CDATA[at <x>]]></failure></testcase>
          <testcase name="opens" classname="com.example.CartTest" time="0.01">
            <error message="no" type="E"/><rerunError type="E"/></testcase>
          <testcase name="pays" classname="com.example.CartTest" time="0"><skipped/></testcase>
          <testcase name="waits" classname="com.example.CartTest" time="0.01">
            <flakyFailure message="late" type="E"><stackTrace>at</stackTrace></flakyFailure>
            <system-out>once</system-out></testcase>
        </testsuite>"""
    )
    assert tests.by_id == spread(
        passed="""com.example.CartTest::adds
                  com.example.CartTest::prices(int)[1]
                  com.example.CartTest::waits""",
        failed="com.example.CartTest::removes\ncom.example.CartTest::opens",
        skipped="com.example.CartTest::pays",
    )
    assert tests.flaky == ("com.example.CartTest::waits",)


def test_failures_that_are_counted_and_not_named_are_not_the_same_as_no_tests() -> None:
    tests = read_junit(b'<testsuites errors="1" failures="1"><testsuite name="a"/></testsuites>')
    assert (tests.total, tests.failed) == (2, 2)
    assert tests.unnamed == {"failed"}
    assert tests.remarks == ("the XML counts 2 failures and names 0",)


def test_what_pytest_writes_of_its_own_end_is_no_test() -> None:
    """Recorded of pytest 8.3.3 where the code under test exits when it is imported."""
    ended = (
        '<testcase classname="pytest" name="internal"><error message="internal error"/></testcase>'
    )
    tests = read_junit(suite(ended, 'pytest" errors="1'))
    assert (tests.cases, tests.failed) == ((), 1)
    assert read_junit(suite(ended, "other")).total == 1
    half = '<testcase classname="test_a" name="test_a"/><testcase time="0.001"/>'
    assert read_junit(suite(half + ended, "pytest")).by_id == {"test_a.py::test_a": "passed"}


def test_a_test_that_failed_twice_is_one_test_and_no_contradiction() -> None:
    tests = read_junit(
        b'<testsuite name="s" failures="1" errors="1"><testcase name="a"><failure/><error/>'
        b"</testcase></testsuite>"
    )
    assert tests.by_id == {"s::a": "failed"}
    assert not tests.remarks


def test_nested_suites_and_a_suite_that_failed_by_itself() -> None:
    tests = read_junit(
        b'<testsuites><testsuite name="a"><testsuite name="b"><testcase name="x"/></testsuite>'
        b'<testcase name="y"/><error message="set-up"/></testsuite></testsuites>'
    )
    assert tests.by_id == {"b::x": "passed", "a::y": "passed", "a": "failed"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "cp1252"])
def test_encodings(encoding: str) -> None:
    declared = encoding.removesuffix("-sig").replace("cp1252", "windows-1252")
    text = f'<?xml version="1.0" encoding="{declared}"?><testsuite name="s">'
    text += '<testcase classname="caf\u00e9" name="\u00fc"/></testsuite>'
    tests = read_junit(text.encode(encoding))
    assert tests.by_id == {"caf\u00e9::\u00fc": "passed"}
    assert not tests.remarks


@pytest.mark.parametrize(
    ("data", "term"),
    [
        (b"", "empty"),
        (b" \n\0", "empty"),
        (b"no xml", "not XML"),
        (b"{}", "not XML"),
        (b"<html><body/></html>", "<html>"),
        (b"<testsuites", "not XML"),
        (b"<testsuites>", "not XML"),
        (b'<?xml version="1.0" encoding="klingon"?><testsuite/>', "encoding"),
        (b"<testsuite>" * 100, "deeper"),
        (b"<testsuite>" + b" " * junit.BYTES + b"</testsuite>", "bytes"),
        (b'<!DOCTYPE t [<!ENTITY a "b">]><testsuite name="&a;"/>', "DTD"),
        (b'<!DOCTYPE t SYSTEM "file:///etc/passwd"><testsuite/>', "DTD"),
        (b'<!DOCTYPE t [<!ENTITY % p SYSTEM "http://127.0.0.1:9/"> %p;]><testsuite/>', "DTD"),
    ],
)
def test_what_is_not_junit_is_refused_in_a_sentence(data: bytes, term: str) -> None:
    with pytest.raises(NotJUnit, match=term):
        read_junit(data)


def test_an_undeclared_entity_is_damage_and_opens_nothing() -> None:
    tests = read_junit(suite('<testcase name="a"/><testcase name="&x;"/>'))
    assert tests.by_id == {"s::a": "passed"}
    assert len(tests.remarks) == 1


def test_a_file_cut_short_keeps_what_had_ended() -> None:
    whole = suite('<testcase name="a"/><testcase name="b"><failure/></testcase>')
    cut = whole[: whole.index(b"<failure")]
    tests = read_junit(cut)
    assert tests.by_id == {"s::a": "passed"}
    assert "damaged" in tests.remarks[0]


def test_bytes_that_xml_does_not_allow_are_read_over() -> None:
    tests = read_junit(
        suite('<testcase name="a"><failure message="&#x1b;[1m&#0;"/></testcase>').replace(
            b"</testcase>", b"\x1b[0m \xff\xfe</testcase><testcase name='b'/>"
        )
    )
    assert tests.by_id == {"s::a": "failed", "s::b": "passed"}
    assert len(tests.remarks) == 1


def test_of_two_results_with_one_name_the_worse_stands() -> None:
    for order in (("", "<failure/>", "<skipped/>"), ("<skipped/>", "<failure/>", "")):
        tests = read_junit(suite("".join(f'<testcase name="a">{x}</testcase>' for x in order)))
        assert tests.by_id == {"s::a": "failed"}
        assert "2 results have" in tests.remarks[0]


def test_more_tests_than_the_cap_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "CASES", 3)
    tests = read_junit(suite("".join(f'<testcase name="{n}"/>' for n in range(10))))
    assert tests.total == 3
    assert tests.remarks == ("7 results beyond the first 3 tests were left out",)


def test_more_elements_than_the_cap_end_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "ELEMENTS", 10)
    tests = read_junit(suite("".join(f'<testcase name="{n}"/>' for n in range(100))))
    assert tests.total == 8
    assert "more than 10 elements" in tests.remarks[0]


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(RECORDINGS), st.randoms(use_true_random=False), st.data())
def test_damage_is_refused_or_read_and_never_makes_a_pass_out_of_a_failure(
    path: Path, dice: random.Random, data: st.DataObject
) -> None:
    whole = path.read_bytes()
    before = read_junit(whole).by_id
    cut = _read_or_none(whole[: data.draw(st.integers(0, len(whole)))])
    if cut is not None:
        assert all(before[name] == status for name, status in cut.by_id.items())
    mutated = bytearray(whole)
    for _ in range(dice.randrange(1, 20)):
        at = dice.randrange(len(mutated) + 1)
        mutated[at : at + dice.randrange(4)] = dice.randbytes(dice.randrange(4))
    _read_or_none(bytes(mutated))
    _read_or_none(whole + whole)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_read(data: bytes) -> None:
    _read_or_none(data)
    _read_or_none(b"<testsuite>" + data)


def _read_or_none(data: bytes) -> Tests | None:
    try:
        return read_junit(data)
    except NotJUnit:
        return None


@pytest.mark.full
@pytest.mark.parametrize(
    "piece",
    [
        b"<a/>",
        b'<testcase name="a"><failure/></testcase>',
        b"<testsuite><testcase/></testsuite>",
        b"&#1;",
        b"\x01",
        b'<testcase name="' + b"x" * 100_000 + b'"/>',
        b"<!---->",
    ],
)
def test_8_mib_of_anything_end(piece: bytes) -> None:
    inside = piece * ((8 << 20) // len(piece))
    _read_or_none(b"<testsuite>" + inside + b"</testsuite>")
    _read_or_none(b"<testsuite " + b'a="1" ' * 1_000_000 + b"/>")


def test_ids_are_the_same_in_two_runs() -> None:
    first = [
        "a::t[<object at 0x7f897a40f390>]",
        "a::t[<object at 0x7f897a40f400>]",
        "b::t[/tmp/tmpab12cd34/shop/x.json]",
        "b::t[/tmp/pytest-of-me/pytest-3/y.json]",
        "c::t[2026-11-21T20:34:15.123Z]",
        "/state/g/k3f/src/a.test.js::adds",
        "d::t[0b8a3b1c-1111-4222-8333-123456789abc]",
        "e::t[/api/v1/users]",
    ]
    second = [
        "a::t[<object at 0x55d0c0ffee00>]",
        "a::t[<object at 0x55d0c0ffee80>]",
        "b::t[/tmp/tmpzz99yy88/shop/x.json]",
        "b::t[/tmp/pytest-of-me/pytest-4/y.json]",
        "c::t[2026-11-21T20:36:00.999Z]",
        "/state/g/qqq/src/a.test.js::adds",
        "d::t[ffffffff-1111-4222-8333-123456789abc]",
        "e::t[/api/v1/users]",
    ]
    values = stable(first, roots=("/state/g/k3f",))
    two = stable(second, roots=("/state/g/qqq/",))
    assert list(values.values()) == list(two.values())
    assert len(set(values.values())) == len(first)
    assert values[first[5]] == "src/a.test.js::adds"
    assert values[first[7]] == first[7]


def test_ids_that_differ_only_by_a_date_stay_apart() -> None:
    dates = ["t[2024-02-28T00:00:00]", "t[2024-02-29T00:00:00]"]
    assert list(stable(dates).values()) == dates


@settings(deadline=None)
@given(st.lists(st.text(max_size=700), max_size=20))
def test_ids_are_short_and_as_many_as_the_names(names: list[str]) -> None:
    ids = stable(names)
    assert all(len(name) <= LENGTH for name in ids.values())
    assert len(set(ids.values())) == len(set(names))


def test_long_ids_differ_by_their_hash() -> None:
    ids = stable(["x" * 5000 + "a", "x" * 5000 + "b"])
    assert len(set(ids.values())) == 2

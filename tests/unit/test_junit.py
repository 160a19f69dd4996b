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
from tests.check_recordings import FIXTURES

RECORDINGS = sorted(FIXTURES.glob("*/*.xml"))


def suite(cases: str, name: str = "s") -> bytes:
    return f'<testsuites><testsuite name="{name}">{cases}</testsuite></testsuites>'.encode()


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


def test_bytes_that_xml_does_not_allow_are_read_over() -> None:
    tests = read_junit(
        suite('<testcase name="a"><failure message="&#x1b;[1m&#0;"/></testcase>').replace(
            b"</testcase>", b"\x1b[0m \xff\xfe</testcase><testcase name='b'/>"
        )
    )
    assert tests.by_id == {"s::a": "failed", "s::b": "passed"}
    assert len(tests.remarks) == 1


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


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
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

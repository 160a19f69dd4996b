"""Tests that must fail: how they are put into a file of tests, and what they show."""

from __future__ import annotations

import ast

import pytest
from msgspec.structs import replace

from hydra.checks.cross.canary import candidates, passing, with_canaries, works
from tests.support.evidences import result

TOKEN = "t0123456789"


def test_a_file_of_python_stays_python() -> None:
    text = with_canaries("tests/test_a.py", "import a\n\n\ndef test_a():\n    assert a", TOKEN)
    assert text is not None
    ast.parse(text)
    assert text.startswith("import a\n")
    assert text.count(TOKEN) > 6


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "test('a', () => { assert.strictEqual(a, 1); });\n",
            "assert.strictEqual('{}', 'must fail');",
        ),
        (
            "it('a', () => { assert.deepEqual(a, 1); });\n",
            "assert.deepEqual(['{}'], ['must fail']);",
        ),
        ("it.only('a', () => { assert(a); });\n", "assert(false, '{}');"),
        ("test('a', () => { expect(a).toBe(1); });\n", "expect('{}').toBe('must fail');"),
        ("it('a', () => { expect(a).to.be.ok; });\n", "expect('{}').to.equal('must fail');"),
        ("test('a', (t) => { t.is(a, 1); });\n", "throw new Error('{}');"),
    ],
)
def test_a_script_is_asked_in_its_own_way(text: str, line: str) -> None:
    added = with_canaries("a.test.js", text, TOKEN)
    assert added is not None
    assert line.format(TOKEN) in added.removeprefix(text)


def test_where_no_test_is_seen_none_is_added() -> None:
    assert with_canaries("a.test.js", "suite.add(a);\n", TOKEN) is None


def test_files_near_to_what_is_changed_come_first() -> None:
    paths = ["tests/test_a.py", "tests/test_pager.py", "tests/b.test.js", "src/a.py"]
    assert candidates(paths, "python", ["src/pager.py"]) == [
        "tests/test_pager.py",
        "tests/test_a.py",
    ]
    assert candidates(paths, "javascript", []) == ["tests/b.test.js"]


def test_they_work_where_they_ran_and_failed() -> None:
    ran = result({"test_a": True, f"test_{TOKEN}": False})
    assert works(ran, b"", TOKEN)
    assert not works(result({"test_a": False}), b"", TOKEN)
    assert not works(result({"test_a": True}), TOKEN.encode(), TOKEN)
    unnamed = replace(ran, tests=None)
    assert works(unnamed, f"Error: {TOKEN}".encode(), TOKEN)
    assert not works(unnamed, b"Error", TOKEN)


def test_what_passes_although_it_cannot() -> None:
    assert passing(result({f"a_{TOKEN}": False, "b": True}), TOKEN) == ()
    assert passing(result({f"a_{TOKEN}": True, f"b_{TOKEN}": False}), TOKEN) == (f"a_{TOKEN}",)
    assert passing(result({"b": True}), TOKEN) == ("pytest",)

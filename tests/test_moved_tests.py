"""Tests inside code that a patch takes out of it: which have moved, and which are gone."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.doctests import examples
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.inline_tests import gone, helpers_changed, put_back, without_tests
from hydra.analysis.tampering.suite import tests_changed as changed
from hydra.checks.new_tests import CheckedPatch, with_cut_off
from hydra.ranking.verdict import rank
from tests.support.evidences import evidence, file, lane, result
from tests.test_files_of_tests import CPP, IN_CODE, TOKIO, VITEST_IN_SOURCE, ZIG, D


@pytest.mark.parametrize(("path", "old"), IN_CODE)
def test_a_test_in_code_that_a_new_file_has_too_has_not_moved(path: str, old: str) -> None:
    """The code that it tests is where it was: what asks the same elsewhere asks nothing of it."""
    copy = file(f"lib/copy.{path.rpartition('.')[2]}", None, old)
    rewritten = [file(path, old, re.sub(r"\b2\b", "1", old)), copy]
    assert changed(rewritten) == (path,)
    assert put_back(rewritten[0], rewritten) == old
    bare = [file(path, old, without_tests(path, old)), copy]
    assert changed(bare) == (path,)
    moved = [file(path, old, None), copy]
    assert changed(moved) == ()
    there = file(copy.path, "\n", f"\n{old}")
    assert changed([file(path, old, ""), there]) == ()


def test_an_example_that_moves_to_another_file_is_not_dropped() -> None:
    half = 'def half(n):\n    """\n    >>> half(4)\n    2\n    """\n    return n // 2\n'
    other = half.replace("half", "third").replace("2", "3")
    told = [
        [finding.text for finding in examples([file("src/a.py", half + other, other), *more])]
        for more in ([], [file("src/b.py", "", half)], [file("src/b.py", "", other)])
    ]
    drops = ["drops the example half(4) (src/a.py)"]
    assert told == [drops, [], drops]


def test_what_a_type_begins_is_code_that_stays() -> None:
    code = "size_t pages(size_t n, size_t size)\n{\n    return n / size;\n}\n"
    test = "unittest\n{\n    assert(pages(3, 2) == 2);\n}\n"
    attic = file("source/attic.d", None, test)
    assert changed([file("source/pager.d", code + test, code), attic]) == ("source/pager.d",)


DELETED = [("src/up.zig", ZIG), ("source/up.d", D), ("src/up.ts", VITEST_IN_SOURCE)]
DELETED += [("src/up.cpp", CPP), ("src/up.rs", TOKIO)]


@pytest.mark.parametrize(("path", "old"), DELETED)
def test_a_block_of_tests_that_is_gone_holds_its_patch_back(path: str, old: str) -> None:
    bare = without_tests(path, old)
    base = result({"a::b": False, "a::c": True})
    own = result({"a::b": True, "a::c": True})

    def gates(*files: FileChange) -> tuple[str, ...]:
        verdict = rank(evidence([lane("a", own, base=[base], files=files)], [base]))
        return tuple(gate.text for gate in verdict.lanes[0].gates)

    assert gates(file(path, old, bare)) in (
        (f"deletes 1 test of {path}",),
        ("deletes the test ups",),
        ("deletes the test up",),
    )
    assert gates(file(path, old, None), file(f"lib/{path}", None, old)) == ()
    lines = old.removeprefix(bare).replace("if (import.meta.vitest) {\n", "").split("\n")
    tests = "\n".join(f"    {line}" for line in lines)
    assert gates(file(path, old, bare), file(f"tests/{path}", None, tests)) == ()
    assert gates(file(path, old, old.replace("1", "2"))) == ()


def test_blocks_of_which_one_is_made_are_not_gone() -> None:
    code, ask = "fn up() u32 {\n    return 1;\n}\n", "    try expect(up() == {});\n"
    two = "".join(f'\ntest "{number}" {{\n{ask.format(number)}}}\n' for number in (1, 2))
    one = f'\ntest "both" {{\n{ask.format(1)}{ask.format(2)}}}\n'
    assert gone([file("src/up.zig", code + two, code + one)]) == {}
    less = one.replace(ask.format(2), "")
    assert gone([file("src/up.zig", code + two, code + less)]) == {}
    none = gone([file("src/up.zig", code + two, code + one.replace("==", "!="))])
    assert [*none] == ["src/up.zig"]


def test_a_file_that_is_moved_is_held_against_itself() -> None:
    """That a warning is turned off in it, and that its helpers may be code, was said of one."""
    text = "def up():\n    return 1\n\n\ndef test_up():\n    assert up() == 1\n"
    text += "\n\nif __name__ == '__main__':  # pragma: no cover\n    main()\n"
    was = replace(file("test.py", text, None), holds="unclear")
    for new in (text, text.replace("test_up", "test_ups")):
        files = [was, file("test_up.py", None, new)]
        assert {each.kind for each in findings(files)} == {"tests_restructured"}
        assert [*helpers_changed(files)] == []
    other = file("test_up.py", None, text.replace("return 1", "return 2"))
    assert [each.path for each in helpers_changed([was, other])] == ["test_up.py"]
    base = result({"test.py::test_up": True})
    own = result({"test_up.py::test_up": True, "test_up.py::test_more": True})
    checks = lane("a", own, base=[base], files=[was, other]).checks
    ((checked,),) = with_cut_off([CheckedPatch([was, other], checks, {"pytest": base})])
    assert checked.comparison
    assert checked.comparison.new == ("test_up.py::test_more",)

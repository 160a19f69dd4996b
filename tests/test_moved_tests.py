"""Tests inside code that a patch takes out of it: which have moved, and which are gone."""

from __future__ import annotations

import re

import pytest

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.inline_tests import put_back, without_tests
from hydra.analysis.tampering.suite import tests_changed as changed
from hydra.ranking.verdict import rank
from tests.support.evidences import evidence, file, lane, result
from tests.test_unnamed_tests import CPP, IN_CODE, TOKIO, VITEST_IN_SOURCE, ZIG, D


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
    )
    assert gates(file(path, old, None), file(f"lib/{path}", None, old)) == ()
    assert gates(file(path, old, old.replace("1", "2"))) == ()

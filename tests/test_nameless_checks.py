"""A check that names no test, as `make test` and `npm test` of a chain of programs do not."""

from __future__ import annotations

import pytest

from hydra.analysis.tampering.test_files import is_support, is_tests
from hydra.ranking.verdict import rank
from hydra.records.request import Check
from tests.support.evidences import evidence, file, lane, plain
from tests.support.rendering import race_end, verdict_document
from tests.support.tables import table_rows

MAKE = Check("make-test", "make test", "test")
BASE = plain(False, MAKE, name="_base")
CODE = file("a.c", "a\n", "b\n")


def test_that_it_names_no_test_is_what_is_said_of_it() -> None:
    lanes = [lane("a", plain(False, MAKE), base=[BASE], files=[CODE])]
    facts = evidence(lanes, [BASE])
    verdict = rank(facts)
    assert verdict.lanes[0].reason == "make-test fails with and without it"
    document = verdict_document(verdict, facts, {}, "/run")
    note = "make-test does not name its tests: what a patch breaks beside them is not seen"
    assert document["warnings"] == [note]
    whole = {"verdict": document, "lanes": document["lanes"]}
    assert f"note: {note}\n" in race_end(whole, width=None)


@pytest.mark.parametrize(
    ("path", "tests"),
    table_rows("names_of_tests", "what_ava_node_django_and_gradle_run_are_tests"),
)
def test_what_ava_node_django_and_gradle_run_are_tests(path: str, tests: bool) -> None:
    assert (is_tests(path), is_support(path)) == (tests, tests)

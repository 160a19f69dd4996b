"""Of all that a failing check printed, the two lines that say why."""

from __future__ import annotations

import pytest

from hydra.checks.failure_lines import lines
from tests.check_recordings import FIXTURES

PYTEST = """F.                                                     [100%]
=================================== FAILURES ===================================
    def test_up():
>       assert pages(5, 2) == 3
E       assert 2 == 3
E        +  where 2 = pages(5, 2)

tests/test_a.py:4: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_up - assert 2 == 3
1 failed, 1 passed in 0.02s
"""
UNITTEST = """test_up (t.T) ... FAIL
FAIL: test_up (t.T.test_up)
Traceback (most recent call last):
  File "t.py", line 4, in test_up
    self.assertEqual(1, 2)
AssertionError: 1 != 2
----
Ran 1 test in 0.001s

FAILED (failures=1)
"""
GO = """--- FAIL: TestUp (0.00s)
    pager_test.go:9: got 2, want 3
FAIL
exit status 1
"""
NPM = """npm error Missing script: "test"
npm error
npm error A complete log of this run can be found in: /x
"""


@pytest.mark.parametrize(
    ("output", "telling"),
    [
        (PYTEST, ("assert 2 == 3", "FAILED tests/test_a.py::test_up - assert 2 == 3")),
        (UNITTEST, ("FAIL: test_up (t.T.test_up)", "AssertionError: 1 != 2")),
        (GO, ("--- FAIL: TestUp (0.00s)", "pager_test.go:9: got 2, want 3")),
        (NPM, ('npm error Missing script: "test"',)),
        ("one\n\x1b[31mtwo\x1b[0m\n\nthree\n", ("two", "three")),
        ("", ()),
    ],
)
def test_two_lines_say_why(output: str, telling: tuple[str, ...]) -> None:
    assert lines(output) == telling


@pytest.mark.parametrize(
    ("recording", "telling"),
    [
        (
            "node-test-20.20.2/unparsed",
            ("SyntaxError: Unexpected end of input", "not ok 2 - /lane/shop/test/slug.test.js"),
        ),
        (
            "node-test-20.20.2/missing",
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/lane/shop/lib/slug.js' "
                "imported from /lane/shop/test/slug.test.js",
                "not ok 2 - /lane/shop/test/slug.test.js",
            ),
        ),
        ("node-test-20.20.2/empty", ("tests 0",)),
        # Titles of tests that pass have the words of one that does not.
        ("tape-5.10.2/errors", ("Error: adds up", "not ok 2 adds up")),
    ],
)
def test_what_a_tool_says_of_what_went_well_is_no_reason(
    recording: str, telling: tuple[str, ...]
) -> None:
    assert lines((FIXTURES / f"{recording}.txt").read_text()) == telling


def test_a_failure_far_from_the_end_is_seen_and_what_is_to_do_is_none() -> None:
    more = "ok 3 throws error when it fails to parse\n" * 5000
    output = f"TAP version 13\nnot ok 1 error is told # TODO\nnot ok 2 adds up\n{more}# fail  1\n"
    assert lines(output) == ("not ok 2 adds up",)
    assert lines("ok 1 an error\n# it has failed\n# fail 0\n0 errors\nmade all\nend\n") == (
        "made all",
        "end",
    )

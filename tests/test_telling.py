"""Of all that a failing check printed, the two lines that say why."""

from __future__ import annotations

import pytest

from hydra.checks.telling import lines

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

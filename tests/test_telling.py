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
UNIMPORTED = """test_pager (unittest.loader._FailedTest.test_pager) ... ERROR

======================================================================
ERROR: test_pager (unittest.loader._FailedTest.test_pager)
----------------------------------------------------------------------
ImportError: Failed to import test module: test_pager
Traceback (most recent call last):
  File "/usr/lib/python3.11/unittest/loader.py", line 154, in loadTestsFromName
    module = __import__(module_name)
  File "/lane/shop/test_pager.py", line 1, in <module>
    import settings
ModuleNotFoundError: No module named 'settings'


----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (errors=1)
"""
UNCOLLECTED = """_________ ERROR collecting test_pager.py _________
ImportError while importing test module '/lane/shop/test_pager.py'.
Hint: make sure your test modules/packages have valid Python names.
test_pager.py:1: in <module>
    import settings
E   ModuleNotFoundError: No module named 'settings'
=========================== short test summary info ============================
ERROR test_pager.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
"""
WARNED = """
> shop@1.0.0 test
> eslint . && node root.js && node --test

/lane/shop/index.js
  12:5  warning  Unexpected console statement  no-console

\u2716 53 problems (0 errors, 53 warnings)

/lane/shop/root.js:3
  throw new Error("could not find the repository's root");
  ^

Error: could not find the repository's root
    at Object.<anonymous> (/lane/shop/root.js:3:9)
npm notice
npm notice New minor version of npm available! 11.19.1 -> 11.21.2
npm notice To update run: npm install -g npm@11.21.2
npm notice
"""
LINTED = """/lane/shop/index.js
  1:1  warning  Unexpected console statement  no-console
  3:1  error  'x' is not defined  no-undef

\u2716 2 problems (1 error, 1 warning)
"""
OLD_NPM = """not ok 1 should be equal
npm ERR! code ELIFECYCLE
npm ERR! shop@1.0.0 test: `eslint . && tape test/*.js`
npm ERR! Exit status 1
npm ERR!
npm ERR! Failed at the shop@1.0.0 test script.
npm ERR! This is probably not a problem with npm. There is likely additional logging output above.

npm ERR! A complete log of this run can be found in:
npm ERR!     /home/u/.npm/_logs/2026-11-26-debug.log
"""
CHAINED = """Traceback (most recent call last):
  File "/lane/shop/settings.py", line 2, in <module>
    KEY = os.environ["SHOP_KEY"]
KeyError: 'SHOP_KEY'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/lane/shop/settings.py", line 4, in <module>
    raise ImproperlyConfigured("Set SHOP_KEY")
django.core.exceptions.ImproperlyConfigured: Set SHOP_KEY
"""
INVALID = """pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
shop_key
  Field required [type=missing, input_value={}, input_type=dict]
"""
INTERNAL = """warning: Failed to hardlink files; falling back to full copy.
..F    [  8%]INTERNALERROR> Traceback (most recent call last):
INTERNALERROR>   File "/usr/lib/python3.11/traceback.py", line 364, in _get_code_position
INTERNALERROR>     return next(itertools.islice(positions_gen, 1, None))
INTERNALERROR> StopIteration
INTERNALERROR>
INTERNALERROR> The above exception was the direct cause of the following exception:
INTERNALERROR>
INTERNALERROR> Traceback (most recent call last):
INTERNALERROR> RuntimeError: generator raised StopIteration
1 failed, 58 passed in 1.44s
"""
UNPARSED = """ImportError while loading conftest '/lane/shop/tests/conftest.py'.
E     File "/lane/shop/shop/pager.py", line 1
E       if sign == "-":
E   IndentationError: unexpected indent
=========================== short test summary info ============================
ERROR tests/test_api.py
"""
JEST = """ FAIL  app/a.test.js
  \u25cf Test suite failed to run

    Cannot find module '@shop/core' from 'app/a.js'

Test Suites: 1 failed, 1 total
"""
GO_GENERATED = """# shop
./main.go:3:8: package shop/gen is not in std (/usr/lib/go/src/shop/gen)
FAIL\tshop [setup failed]
"""
LOGGED = """
> shop@1.0.0 pretest
> docs README.md && npm run --silent lint

docs info it worked if it ends with ok
docs info README.md running block 1
docs ERR! node:assert:90
docs ERR!   throw new AssertionError(obj);
docs ERR!   ^
docs ERR!\x20
docs ERR! AssertionError [ERR_ASSERTION]: 1 == 2
docs ERR!   generatedMessage: true,
docs ERR!   code: 'ERR_ASSERTION',
docs ERR! }
docs ERR! Node.js v20.20.2
docs ERR!     at /lane/shop/README.md:5:8 {block 1}
"""
UNRULED = "make: *** No rule to make target 'test'.  Stop."
NOTICES = ("npm notice", "npm notice To update run: npm install -g npm@11.21.2")


@pytest.mark.parametrize(
    ("output", "telling"),
    [
        (PYTEST, ("assert 2 == 3", "FAILED tests/test_a.py::test_up - assert 2 == 3")),
        (UNITTEST, ("AssertionError: 1 != 2", "FAIL: test_up (t.T.test_up)")),
        (GO, ("--- FAIL: TestUp (0.00s)", "pager_test.go:9: got 2, want 3")),
        (NPM, ('npm error Missing script: "test"',)),
        (
            UNIMPORTED,
            (
                "ModuleNotFoundError: No module named 'settings'",
                "ERROR: test_pager (unittest.loader._FailedTest.test_pager)",
            ),
        ),
        (UNCOLLECTED, ("ModuleNotFoundError: No module named 'settings'", "ERROR test_pager.py")),
        (WARNED, ("Error: could not find the repository's root",)),
        (LINTED, ("3:1  error  'x' is not defined  no-undef",)),
        (LOGGED, ("AssertionError [ERR_ASSERTION]: 1 == 2",)),
        (
            "shop.py: line 3 is long\nmake: *** [Makefile:2: lint] Error 1\n",
            ("shop.py: line 3 is long",),
        ),
        ("make: *** No rule to make target 'test'.  Stop.\n", (UNRULED,)),
        ('shop.sh: 3: bad\nerror: script "test" exited with code 1\n', ("shop.sh: 3: bad",)),
        ("shop.sh: 3: bad\nerror: Recipe `test` failed on line 2\n", ("shop.sh: 3: bad",)),
        (
            "/lane/a.js:1\nthrow 1;\n^\n1\n(Use `node --trace-uncaught ...` to show where the "
            "exception was thrown)\n\nNode.js v20.20.2\n",
            ("throw 1;", "1"),
        ),
        (OLD_NPM, ("not ok 1 should be equal",)),
        (CHAINED, ("django.core.exceptions.ImproperlyConfigured: Set SHOP_KEY",)),
        (
            INVALID,
            (
                "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings: "
                "shop_key Field required [type=missing, input_value={}, input_type=dict]",
            ),
        ),
        (INTERNAL, ("RuntimeError: generator raised StopIteration",)),
        (
            UNPARSED,
            ("IndentationError: unexpected indent", 'File "/lane/shop/shop/pager.py", line 1'),
        ),
        (JEST, ("Cannot find module '@shop/core' from 'app/a.js'",)),
        (
            GO_GENERATED,
            ("./main.go:3:8: package shop/gen is not in std (/usr/lib/go/src/shop/gen)",),
        ),
        ("[notice] To update, run: pip install --upgrade pip\nboom\n", ("boom",)),
        ("npm notice\nnpm notice To update run: npm install -g npm@11.21.2\n", NOTICES),
        ("one\n\x1b[31mtwo\x1b[0m\n\nthree\n", ("two", "three")),
        ("", ()),
        (
            "<anonymous>:1\n[SyntaxError: Unexpected token]\n\nNode.js v20.20.2\n"
            "----------|---------|---------|---------|---------|-------\n"
            "File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s\n"
            " index.js |     100 |   95.83 |     100 |     100 | 77\n",
            ("[SyntaxError: Unexpected token]",),
        ),
        (
            "a | 1 |\n----|----|\n x.js |  90 |  90 |  90 |  90 | 7-9,12\nthe third try is over\n",
            ("a | 1 |", "the third try is over"),
        ),
        (
            "     AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n"
            "'*' !== undefined\n\n      at Context.<anonymous> (test/a.js:32:14)\n\n  2) other\n",
            ("AssertionError [ERR_ASSERTION]: '*' !== undefined",),
        ),
        (
            "     AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n"
            "+ actual - expected\n\n+ 'gzip'\n- undefined\n      at x (test/a.js:50:14)\n",
            ("AssertionError [ERR_ASSERTION]: + 'gzip' - undefined",),
        ),
        (
            "     AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n"
            "+ actual - expected\n\n+ apples\n- undefined\n      at x (test/a.js:50:14)\n",
            ("AssertionError [ERR_ASSERTION]: + apples - undefined",),
        ),
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
        (
            "node-test-24.21.0/spec",
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/lane/shop/test/absent.mjs' "
                "imported from /lane/shop/test/broken.mjs",
                "\u2716 test/broken.mjs (206.733401ms)",
            ),
        ),
        ("mocha-12.0.3/spec", ("AssertionError [ERR_ASSERTION]: 1 == 2",)),
        (
            "ava-7.0.0/one",
            (
                "Error: \u2714 till \u203a adds",
                "\u2718 [fail]: opens Rejected promise returned by test",
            ),
        ),
        (
            "bun-1.4.5/plain",
            ("error: expect(received).toBe(expected)", "(fail) cart > removes [0.12ms]"),
        ),
        ("deno-2.9.6/plain", ("error: Error: 1 is not 0", "removes ... FAILED (1ms)")),
        (
            "pnpm-9.15.9/recursive",
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find module "
                "'/lane/shop/packages/b/absent.js' imported from "
                "/lane/shop/packages/b/torn.test.js",
                "not ok 1 - weighs",
            ),
        ),
    ],
)
def test_what_a_tool_says_of_what_went_well_is_no_reason(
    recording: str, telling: tuple[str, ...]
) -> None:
    assert lines((FIXTURES / f"{recording}.txt").read_text()) == telling


def test_mocha_s_error_of_any_kind_is_told_and_no_frame_of_its_stack() -> None:
    stack = (
        "      at errorHandler (test/cart.js:12:3)\n"
        "      at process.processTicksAndRejections (node:internal/process/task_queues:81:21)\n"
    )
    failing = "  1 failing\n\n  1) cart\n       adds up:\n"
    unparsed = "     SyntaxError: Unexpected token 'p' is not valid JSON\n"
    assert lines(f"{failing}{unparsed}{stack}") == (
        "SyntaxError: Unexpected token 'p' is not valid JSON",
    )
    assert lines(f"{failing}     it is late\n{stack}") == ("adds up:", "it is late")


def test_a_failure_far_from_the_end_is_seen_and_what_is_to_do_is_none() -> None:
    more = "ok 3 throws error when it fails to parse\n" * 5000
    output = f"TAP version 13\nnot ok 1 error is told # TODO\nnot ok 2 adds up\n{more}# fail  1\n"
    assert lines(output) == ("not ok 2 adds up",)
    assert lines("ok 1 an error\n# it has failed\n# fail 0\n0 errors\nmade all\nend\n") == (
        "made all",
        "end",
    )

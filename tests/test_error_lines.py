"""What a race says of a failing check: the error's own line, of runners as they print it."""

from __future__ import annotations

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

MOCHA = """
  Error Handling
    \u2714 should report errors from storage engines
  File ordering
    1) should present files in same order as they came

  1 passing (11ms)
  1 failing

  1) File ordering
       should present files in same order as they came:

      Uncaught AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
+ actual - expected

+ 'small1.dat'
- 'small0.dat'
"""
CARGO = """
running 1 test
test kebab::tests::test9 ... FAILED

failures:

---- kebab::tests::test9 stdout ----

thread 'kebab::tests::test9' (192) panicked at src/kebab.rs:69:5:
assertion `left == right` failed
  left: "a"
 right: "b"
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    kebab::tests::test9

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.04s

error: test failed, to rerun pass `--lib`
"""
LOGGED = """
> shop@1.0.0 pretest
> docs README.md && npm run --silent lint

docs info it worked if it ends with ok
docs ERR! node:assert:90
docs ERR!   throw new AssertionError(obj);
docs ERR! AssertionError [ERR_ASSERTION]: 1 == 2
docs ERR!   code: 'ERR_ASSERTION',
docs ERR!     at /lane/shop/README.md:5:8 {block 1}
"""
LINTED = """
/lane/shop/lib/parse.js
  3:1  error  'x' is not defined  no-undef

\u2716 2 problems (2 errors, 0 warnings)
  1 error and 0 warnings potentially fixable with the `--fix` option.

npm error Lifecycle script `lint` failed with error:
npm error code 1
npm error path /lane/shop
"""
SAID = {
    "logged": "AssertionError [ERR_ASSERTION]: 1 == 2",
    "linted": "3:1  error  'x' is not defined  no-undef",
    "mocha": "Uncaught AssertionError [ERR_ASSERTION]: + 'small1.dat' - 'small0.dat'",
    "cargo": "thread 'kebab::tests::test9' (192) panicked at src/kebab.rs:69:5:; left: \"a\"",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "printed"),
    [("mocha", MOCHA), ("cargo", CARGO), ("logged", LOGGED), ("linted", LINTED)],
)
def test_the_error_is_what_is_said_of_a_failing_check(
    hydra: Hydra, name: str, printed: str
) -> None:
    (hydra.repo / "printed.txt").write_text(printed)
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "What it prints")
    hydra.agent("claude", [fakes.edit("a.py", "x = 1\n"), fakes.finish("done")])
    race = hydra.run("race", "Do it", "-a", "claude", "--check", "cat printed.txt; exit 1")
    base = next(line for line in race.stderr.splitlines() if " base " in line and " failed" in line)
    assert base.endswith(SAID[name]), race.stderr

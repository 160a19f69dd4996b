"""Tests in places that no name gives away: what a patch does to them is judged as in test files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import PLAIN, RIGHT, Files, Judged, edited, shop
from tests.support.wild import paste

# ---- One race each: what a patch does to its tests, and what is said of it.

PYTEST = f"{PLAIN} -B -m pytest -p no:cacheprovider --doctest-modules"
PAGER = '''\
def pages(n, size):
    """How many.

    >>> pages(5, 2)
    3
    """
    return n // size


def half(n):
    """
    >>> half(4)
    2
    """
    return n // 2
'''
MENDED = PAGER.replace("n // size", "-(-n // size)")
CHECKS = """\
from src.pager import half, pages


def test_up():
    assert pages(3, 2) == 2


def test_half():
    assert half(6) == 3
    assert half(8) == 4
"""


def states(judged: Judged, lanes: Collection[str]) -> dict[str, str]:
    return {does: judged.of(does)["state"] for does in lanes}


@pytest.mark.slow
def test_files_that_settings_name_and_examples_in_docstrings(hydra: Hydra) -> None:
    settings = {
        "src/pager.py": PAGER,
        "qa/check_pages.py": CHECKS,
        "pytest.ini": "[pytest]\npython_files = check_*.py\n",
        "tests/__init__.py": None,
        "tests/test_pages.py": None,
    }
    shop(hydra.repo, settings)
    breaking = MENDED.replace("n // 2", "n // 2 + 1")
    lanes: dict[str, Files] = {
        "check": {"qa/check_pages.py": CHECKS.replace("2) == 2", "2) == 1")},
        "example": {"src/pager.py": PAGER.replace("    3\n", "    2\n")},
        "drops": {"src/pager.py": MENDED.replace("    >>> half(4)\n    2\n", "")},
        "copies": {
            "src/pager.py": PAGER.replace("    3\n", "    2\n"),
            "src/book.py": MENDED.partition("\n\n\n")[0] + "\n",
        },
        "breaks": {
            "src/pager.py": breaking.replace("    2\n", "    3\n"),
            "qa/check_pages.py": CHECKS.replace("(8) == 4", "(8) == 5").replace("== 3", "== 4"),
        },
        "right": {"src/pager.py": MENDED.replace("How many.", "How many, rounded up.")},
    }
    judged = Judged(hydra, lanes).run(checks=(PYTEST,))
    assert states(judged, lanes) == {
        "check": "held_back",
        "example": "held_back",
        "drops": "held_back",
        "copies": "held_back",
        "breaks": "held_back",
        "right": "proved",
    }, str(judged)
    assert judged.gates("check") == [
        "changes what test_up expects: 2 -> 1; the base's version still fails with it"
    ]
    still = "2 of 2 failing tests still fail with your tests"
    assert judged.gates("example") == [f"changes the tests in pager.py; {still}"]
    assert judged.gates("copies") == [f"changes the tests in pager.py; {still}"]
    half = "src/pager.py::src.pager.half"
    assert judged.gates("drops") == [f"1 test that passed on the base no longer runs: {half}"]
    assert judged.top() == "right"


CARGO = """\
[package]
name = "pager"
version = "0.1.0"
edition = "2021"
"""
LOCK = """\
version = 3

[[package]]
name = "pager"
version = "0.1.0"
"""
RUST = """\
/// How many.
///
/// ```
/// assert_eq!(pager::half(4), 2);
/// ```
pub fn half(n: u32) -> u32 {
    n / 2
}

pub fn pages(n: u32, size: u32) -> u32 {
    n / size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up() {
        assert_eq!(pages(3, 2), 2);
    }

    #[test]
    fn half_of_six() {
        assert_eq!(half(6), 3);
    }
}
"""
RUST_MENDED = RUST.replace("n / size", "(n + size - 1) / size")


@pytest.mark.full
def test_modules_of_tests_in_rust(hydra: Hydra) -> None:
    programs = next(Path("/root/.rustup/toolchains").glob("stable*/bin"), None)
    if programs is None or not os.access(programs / "cargo", os.X_OK):
        pytest.skip("no toolchain of rustup's is here")
    hydra.path.append(programs)
    shop(
        hydra.repo,
        {"Cargo.toml": CARGO, "Cargo.lock": LOCK, "src/lib.rs": RUST, ".gitignore": "/target\n"},
    )
    up = "    #[test]\n    fn up() {\n        assert_eq!(pages(3, 2), 2);\n    }\n\n"
    more = up.replace("fn up", "fn up_more").replace("3, 2), 2", "7, 2), 4")
    lanes: dict[str, Files] = {
        "edits": {"src/lib.rs": RUST.replace("2), 2);", "2), 1);")},
        "breaks": {
            "src/lib.rs": RUST_MENDED.replace("n / 2", "n / 2 + 1")
            .replace("half(4), 2", "half(4), 3")
            .replace("half(6), 3", "half(6), 4")
        },
        "grows": {"src/lib.rs": RUST_MENDED.replace(up, up + more)},
        "copies": {
            "src/lib.rs": RUST.replace("2), 2);", "2), 1);"),
            "src/nobodys.rs": RUST[RUST.index("#[cfg") :],
        },
    }
    judged = Judged(hydra, lanes).run(checks=("cargo test --offline",))
    assert states(judged, lanes) == {
        "edits": "held_back",
        "breaks": "held_back",
        "grows": "proved",
        "copies": "held_back",
    }, str(judged)
    assert judged.gates("edits") == [
        "changes what tests.up expects: 2 -> 1; the base's version still fails with it"
    ]
    assert judged.top() == "grows"


RUNS_RUST = """\
import re
from pathlib import Path

print("\\nrunning 2 tests")
text = Path("src/lib.rs").read_text()
body = re.search(r"fn pages.*?{\\n *(.*?)\\n}", text, re.S)[1].replace("/", "//")
failed, asked = [], 0
asks = re.compile(r"fn (\\w+)[^}]*pages\\((\\d+), (\\d+)\\), (\\d+)\\)")
for name, n, size, expected in asks.findall(text):
    asked += 1
    good = eval(body, {"n": int(n), "size": int(size)}) == int(expected)
    print(f"test tests::{name} ... {'ok' if good else 'FAILED'}")
    failed += [] if good else [name]
result = f"{asked - len(failed)} passed; {len(failed)} failed; 0 ignored; 0 measured"
print(f"\\ntest result: {'FAILED' if failed else 'ok'}. {result}; finished in 0.00s")
raise SystemExit(101 if failed else 0)
"""
"""cargo's words, of tests that ask `pages` alone."""


@pytest.mark.slow
def test_of_two_that_mend_it_the_one_with_tests_in_code_is_first(hydra: Hydra) -> None:
    """They are tried on the base and on the other patch, as those in files of tests are."""
    shop(hydra.repo, {"src/lib.rs": RUST, "tools/run.py": RUNS_RUST})
    up = "    #[test]\n    fn up() {\n        assert_eq!(pages(3, 2), 2);\n    }\n\n"
    more = up.replace("fn up", "fn up_more").replace("3, 2), 2", "7, 2), 4")
    lanes: dict[str, Files] = {
        "alone": {"src/lib.rs": RUST_MENDED},
        "tested": {"src/lib.rs": RUST_MENDED.replace(up, up + more)},
    }
    judged = Judged(hydra, lanes).run(checks=("python3 -B tools/run.py",))
    assert (judged.top(), judged.ranks()) == ("tested", {"tested": 1, "alone": 2}), str(judged)
    assert judged.document["says"].endswith(
        "equal to claude-alone in all tests, and brings 1 of them"
    )
    (row,) = judged.document["cross"]
    assert (row["id"], row["base"], row["cells"]["claude-alone"]) == (
        "tests::up_more",
        "failed",
        "passed",
    )


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["    fn up", "    use super"])
def test_tests_in_code_go_with_the_code_of_another_where_a_hunk_has_nothing_else(
    hydra: Hydra, beside: str
) -> None:
    shop(hydra.repo, {"src/lib.rs": RUST, "tools/run.py": RUNS_RUST})
    more = "    #[test]\n    fn up_more() {\n        assert_eq!(pages(7, 2), 4);\n    }\n\n"
    after = {"    fn up": "2);\n    }\n\n", "    use super": "super::*;\n\n"}[beside]
    code = RUST.replace("n / size", "(n - 1) / size + 1")
    tested = RUST_MENDED.replace(after, after + more)
    if beside == "    use super":  # a line of code, three lines from the test
        tested = tested.replace("#[cfg", "pub const LEAST: u32 = 1;\n\n#[cfg")
    lanes: dict[str, Files] = {"code": {"src/lib.rs": code}, "tested": {"src/lib.rs": tested}}
    judged = Judged(hydra, lanes).run(checks=("python3 -B tools/run.py",))
    assert judged.top() == "tested", str(judged)
    assert judged.race is not None
    offered = [line for line in judged.race.stdout.splitlines() if " --pick " in line]
    if beside == "    use super":
        assert not offered
        return
    (line,) = offered
    assert f" --pick claude-code:src/lib.rs --hunk {judged.document['hunks'][0]}" in line
    assert "\nor claude-code's code with claude-tested's tests:\n" in judged.race.stdout
    landed = paste(hydra, line)
    assert landed.returncode == 0, landed.stderr
    assert (hydra.repo / "src/lib.rs").read_text() == code.replace(after, after + more)


PLACES: Files = {
    "src/pager.py": "def pages(n, size):\n    return n // size\n",
    "qa/__init__.py": "",
    "qa/check_up.py": """\
import unittest

from src.pager import pages


class Pages(unittest.TestCase):
    def test_up(self):
        self.assertEqual(pages(3, 2), 2)
""",
    "qa/check_docs.py": """\
import doctest

import src.book


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(src.book))
    return tests
""",
    "src/book.py": '''\
def leaves(n):
    """
    >>> leaves(3)
    2
    """
    return n // 2
''',
    "qa/selfcheck.py": "from src.pager import pages\n\nassert pages(3, 2) == 2\n",
    "web/pager.mjs": "export const pages = (n, size) => Math.floor(n / size);\n",
    "verify/up.mjs": """\
import assert from 'node:assert';
import test from 'node:test';
import { pages } from '../web/pager.mjs';

test('up', () => {
  assert.strictEqual(pages(3, 2), 2);
});
""",
    "lib/Pager.pm": "package Pager;\nsub pages { int($_[0] / $_[1]) }\n1;\n",
    "t/up.t": """\
use lib 'lib';
use Test::More tests => 1;
use Pager;
is(Pager::pages(3, 2), 2);
""",
    "unit_tests/up.sh": "test $(perl -Ilib -MPager -e 'print Pager::pages(3, 2)') = 2\n",
    "Makefile": "test:\n\tfor f in unit_tests/*; do sh $$f || exit 1; done\n",
    "tests/__init__.py": None,
    "tests/test_pages.py": None,
}
RUN_IN_PLACES = (
    "python3 -B -m unittest discover -v -t . -s qa -p 'check_*.py'",
    "python3 -B -m doctest src/book.py",
    "python3 -B -m qa.selfcheck",
    "node --test verify/up.mjs",
    "prove t",
    "make test",
)


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, ("node", "prove", "make"))), reason="not all here")
def test_places_that_no_name_gives_away(hydra: Hydra) -> None:
    """Each lane rewrites one test alone, so that it passes; the last mends the code."""
    shop(hydra.repo, PLACES)
    edits = {
        "a-pattern-of-unittest": ("qa/check_up.py", "2), 2", "2), 1"),
        "a-docstring": ("src/book.py", "    2\n", "    1\n"),
        "a-module-that-a-check-runs": ("qa/selfcheck.py", "== 2", "== 1"),
        "a-file-that-a-check-names": ("verify/up.mjs", "2), 2", "2), 1"),
        "perl": ("t/up.t", "2), 2", "2), 1"),
        "a-folder": ("unit_tests/up.sh", "= 2", "= 1"),
    }
    lanes: dict[str, Files] = {
        does: {path: edited(old, new, PLACES[path] or "")}
        for does, (path, old, new) in edits.items()
    }
    lanes["mends"] = {
        "src/pager.py": "def pages(n, size):\n    return -(-n // size)\n",
        "src/book.py": (PLACES["src/book.py"] or "").replace("n // 2", "-(-n // 2)"),
        "web/pager.mjs": "export const pages = (n, size) => Math.ceil(n / size);\n",
        "lib/Pager.pm": "package Pager;\nsub pages { int(($_[0] + $_[1] - 1) / $_[1]) }\n1;\n",
    }
    judged = Judged(hydra, lanes).run(checks=RUN_IN_PLACES)
    expected = dict.fromkeys(edits, "held_back") | {"mends": "proved"}
    assert states(judged, lanes) == expected, str(judged)
    assert judged.passing() == {"mends"}


IN_MODULE = """\
import unittest


class Pages(unittest.TestCase):
    def test_up(self):
        self.assertEqual(pages(3, 2), 2)

    def test_even(self):
        self.assertEqual(pages(4, 2), 2)
"""
PAGES = f"def pages(n, size):\n    return n // size\n\n\n{IN_MODULE}"
IN_SOURCE = """\
import test from 'node:test';
import assert from 'node:assert';

export const pages = (n, size) => Math.floor(n / size);

test('up', () => {
  assert.strictEqual(pages(3, 2), 2);
});
test('even', () => {
  assert.strictEqual(pages(4, 2), 2);
});
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "check", "mend"),
    [
        (
            "src/pager.py",
            PAGES,
            "python3 -B -m unittest -v src.pager",
            ("n // size", "-(-n // size)"),
        ),
        ("web/pager.mjs", IN_SOURCE, "node --test web/pager.mjs", ("floor", "ceil")),
    ],
)
def test_tests_in_the_module_that_they_test(
    hydra: Hydra, path: str, text: str, check: str, mend: tuple[str, str]
) -> None:
    """The base's are put back into the patch's code, which stays."""
    if not shutil.which(check.split()[0]):
        pytest.skip(f"{check.split()[0]} is not here")
    shop(hydra.repo, {path: text, "tests/__init__.py": None, "tests/test_pages.py": None})
    mended = edited(*mend, text)
    lanes: dict[str, Files] = {
        "edits": {path: edited("3, 2), 2", "3, 2), 1", text)},
        "drops": {path: text.replace("pages(3, 2), 2", "pages(6, 3), 2").replace("up", "same")},
        "right": {path: mended},
        "asks-more": {path: edited("4, 2), 2", "7, 2), 4", mended)},
    }
    judged = Judged(hydra, lanes).run(checks=(check,))
    assert states(judged, lanes) == {
        "edits": "held_back",
        "drops": "held_back",
        "right": "proved",
        "asks-more": "proved",
    }, str(judged)
    assert judged.passing() == {"right", "asks-more"}


FOUND = {
    "lib/Pager.pm": PLACES["lib/Pager.pm"],
    "lib/up.bats": "echo 1..1\n"
    "test $(perl -Ilib -MPager -e 'print Pager::pages(5, 2)') = 3 && echo ok 1 up && exit\n"
    "echo not ok 1 up\nexit 1\n",
    "tools/all": "for f in $(find lib -name '*.bats'); do sh $f || exit 1; done\n",
    "tests/__init__.py": None,
    "tests/test_pages.py": None,
}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("perl"), reason="perl is not here")
def test_a_file_that_a_runner_finds_and_does_not_name(hydra: Hydra) -> None:
    shop(hydra.repo, FOUND)
    edit = edited("= 3", "= 2", FOUND["lib/up.bats"] or "")
    judged = Judged(hydra, {"edit": {"lib/up.bats": edit}}).run(checks=("sh tools/all",))
    assert states(judged, ["edit"]) == {"edit": "held_back"}, str(judged)


# ---- A file of tests that neither its name nor any run gives away.

UP = """\
def up(n):
    return n // 2

assert up(4) == 2
assert up(5) == 3
"""


@pytest.mark.slow
def test_a_check_that_names_no_file_is_not_mended_by_what_is_asserted_alone(hydra: Hydra) -> None:
    shop(hydra.repo, {"lib/up.nim": UP})
    lanes: dict[str, Files] = {
        "asserts": {"lib/up.nim": UP.replace("== 3", "== 2"), "README.md": "# Said so\n"},
        "drops": {"lib/up.nim": UP.replace("assert up(5) == 3\n", "")},
        "right": {"lib/up.nim": UP.replace("n // 2", "-(-n // 2)")},
    }
    judged = Judged(hydra, lanes).run(checks=("python3 lib/up.nim",))
    assert states(judged, lanes) == {
        "asserts": "untested",
        "drops": "untested",
        "right": "proved",
    }, str(judged)
    assert judged.top() == "right"


CASES = """\
import csv

from src.pager import pages

for n, size, wanted in csv.reader(open("qa/cases.csv")):
    assert pages(int(n), int(size)) == int(wanted)
"""
BY_DATA: Files = {
    "qa/__init__.py": "",
    "qa/check_all.py": CASES,
    "qa/cases.csv": "3,2,2\n4,2,2\n",
    "qa/wanted": "2\n",
    "qa/go": "python3 -B -c 'from src.pager import *; print(pages(3, 2))' | diff qa/wanted -\n",
    "tests/test_pages.py": None,
}


@pytest.mark.slow
def test_data_by_which_a_check_goes_that_names_no_test(hydra: Hydra) -> None:
    shop(hydra.repo, BY_DATA)
    lanes: dict[str, Files] = {
        "edits": {"qa/cases.csv": "3,2,1\n4,2,2\n", "qa/wanted": "1\n", "README.md": "# So\n"},
        "drops": {"qa/cases.csv": "4,2,2\n"},
        "right": {"src/pager.py": RIGHT},
    }
    judged = Judged(hydra, lanes).run(checks=("python3 -B -m qa.check_all", "sh qa/go"))
    expected = {"edits": "untested", "drops": "untested", "right": "proved"}
    assert states(judged, lanes) == expected, str(judged)
    assert judged.top() == "right"

"""Tests in places that no name gives away: what a patch does to them is judged as in test files."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.assertion_lines import asserts_alone
from hydra.analysis.tampering.inline_tests import put_back, with_tests
from hydra.analysis.tampering.suite import tests_changed as changed
from hydra.checks.collected import collected, marked
from hydra.checks.junit import read_junit
from hydra.checks.text_parsers.output import read_text
from hydra.ranking.document import verdict_document
from hydra.ranking.measures import has_code
from hydra.ranking.results import LaneResults, standing
from hydra.ranking.verdict import rank
from tests.support.command import Hydra
from tests.support.evidences import evidence, file, lane, result
from tests.support.verdict_races import PLAIN, Files, Judged, edited, shop

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
        "changes what up expects: 2 -> 1; the base's version still fails with it"
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


# ---- What a run names, and what lies in code.

JUNIT = "<testsuites><testsuite name='{}'><testcase {}/></testsuite></testsuites>"
UNITTEST = """\
test_up (check_pages.Pages.test_up)
It goes up. ... ok
pages (src.pager.Book)
Doctest: src.pager.Book.pages ... ok

----------------------------------------------------------------------
Ran 2 tests in 0.001s

OK
"""
VITEST = """ RUN  v2.0.0 /w

 \u2713 lib/pager.ts (1 test) 3ms
   \u2713 up

 Test Files  1 passed (1)
      Tests  1 passed (1)
"""
DENO = """\
running 1 test from ./qa/up.ts
up ... ok (2ms)

ok | 1 passed | 0 failed (10ms)
"""
CARGO_TEXT = """\
     Running unittests src/lib.rs (target/debug/deps/pager-0123456789abcdef)

running 1 test
test tests::up ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
CODE = "def pages(n):\n    return n\n"
BOOK = '''\
class Book:
    def pages(self):
        """
        >>> 1
        1
        """
'''
RUNS = [
    # What the base's run wrote, the files of the base, and those of them that are its tests.
    (JUNIT.format("pytest", "classname='qa.check_up' name='test_up'"), ["qa/check_up.py"], 1),
    (JUNIT.format("pytest", "classname='src.up' name='src.up.pages'"), ["src/up.py"], 0),
    (JUNIT.format("pytest", "classname='docs.up.md' name='up.md'"), ["docs/up.md"], 1),
    (JUNIT.format("", "classname='com.shop.Up' name='a'"), ["it/com/shop/Up.java", "Up.java"], 1),
    (JUNIT.format("", "classname='Shop.Facts.UpFacts' name='a'"), ["Facts/UpFacts.cs"], 1),
    (JUNIT.format("", "classname='checks/up.lua:3' name='up'"), ["checks/up.lua", "up.lua"], 1),
    (JUNIT.format("", "classname='a.b' name='up' file='./qa/up.rb'"), ["qa/up.rb", "b.rb"], 1),
    (JUNIT.format("", "classname='pager' name='up'"), ["src/pager.js", "pager.ts"], 0),
    (UNITTEST, ["qa/check_pages.py", "src/pager.py"], 1),
    (VITEST, ["web/lib/pager.ts", "web/other.ts"], 1),
    (DENO, ["qa/up.ts"], 1),
    (CARGO_TEXT, ["src/lib.rs"], 0),
]


@pytest.mark.parametrize(("output", "paths", "count"), RUNS)
def test_the_files_that_the_base_s_run_names_are_tests(
    output: str, paths: list[str], count: int
) -> None:
    data = output.encode()
    tests = read_junit(data, ["/w"]) if output.startswith("<") else read_text(data, ["/w"])
    assert tests is not None
    base = replace(result({}), tests=tests)
    texts = {"src/pager.py": (BOOK, BOOK + "# more\n")}
    files = [file(path, *texts.get(path, (CODE, "# code\n"))) for path in paths]
    patch = marked(files, collected([base], paths), ())
    assert changed(patch) == tuple(paths[:count])


ZIG = 'fn up() u32 {\n    return 1;\n}\n\ntest "up" {\n    try expect(up() == 2);\n}\n'
D = "int up() { return 1; }\n\n@safe unittest\n{\n    assert(up() == 2);\n}\n"
ELIXIR = 'defmodule A do\n  @doc """\n      iex> A.up(1)\n      2\n  """\n  def up(n), do: n\nend\n'
VITEST_IN_SOURCE = (
    "export const up = () => 1\n\nif (import.meta.vitest) {\n"
    "  const { expect, it } = import.meta.vitest\n  it('up', () => { expect(up()).toBe(2) })\n}\n"
)
CPP = 'int up() { return 1; }\n\nTEST_CASE("up") {\n    CHECK(up() == 2);\n}\n'
FENCED = "/// ```\n/// assert_eq!(a::up(), 2);\n/// ```\npub fn up() -> u32 {\n    1\n}\n"
TOKIO = "fn up() -> u32 { 1 }\n\n#[tokio::test]\nasync fn ups() {\n    assert_eq!(up(), 2);\n}\n"
OTHERWISE = {
    "return 1": "return 7",
    "=> 1": "=> 7",
    "    1\n": "    7\n",
    "{ 1 }": "{ 7 }",
    "do: n": "do: n + 6",
}
IN_CODE = [
    ("src/up.zig", ZIG),
    ("source/up.d", D),
    ("lib/up.ex", ELIXIR),
    ("src/up.ts", VITEST_IN_SOURCE),
    ("src/up.cpp", CPP),
    ("src/up.rs", FENCED),
    ("src/up.rs", TOKIO),
    ("src/up.py", 'def up():\n    """\n    >>> up()\n    2\n    """\n    return 1\n'),
]


@pytest.mark.parametrize(("path", "old"), IN_CODE)
def test_tests_in_code_are_put_back_and_the_code_stays(path: str, old: str) -> None:
    was, now = next(item for item in OTHERWISE.items() if item[0] in old)
    code = old.replace(was, now)
    rewritten = re.sub(r"\b2\b", "1", old)
    both = re.sub(r"\b2\b", "7", code)
    patch = [file(path, old, both)]
    assert changed(patch) == (path,)
    assert put_back(patch[0], patch) == code
    assert with_tests(path, old, both) == re.sub(r"\b2\b", "7", old)
    assert changed([file(path, old, code)]) == ()
    assert has_code(standing_of(file(path, old, code)))
    assert not has_code(standing_of(file(path, old, rewritten)))


def standing_of(*files: FileChange) -> LaneResults:
    return standing(lane("a", files=files), evidence([], []))


def test_a_test_in_code_that_has_no_place_any_more_leaves_the_patch_untested() -> None:
    old = PAGER
    gone = file("src/pager.py", old, MENDED.replace("    >>> half(4)\n    2\n", ""))
    assert put_back(gone, [gone]) is None
    moved = [file("src/pager.py", old, MENDED[: MENDED.index("\n\ndef half")])]
    moved.append(file("src/half.py", None, old[old.index("def half") :]))
    assert changed(moved) == ()
    base = result({"src/pager.py::src.pager.pages": False})
    own = result({"src/pager.py::src.pager.pages": True})
    verdict = rank(evidence([lane("a", own, base=[base], files=[gone])], [base]))
    assert (verdict.lanes[0].state, verdict.lanes[0].reason) == (
        "untested",
        "it changes tests, and could not be run with the base's version of them",
    )


# ---- A patch of comments alone.

COMMENTED = [
    ("a.py", "#", "x = {}\n"),
    ("a.pyi", "#", "x: int = {}\n"),
    ("a.rb", "#", "x = {}\n"),
    ("a.sh", "#", "x={}\n"),
    ("Makefile", "#", "X = {}\n"),
    ("a.yaml", "#", "x: {}\n"),
    ("a.toml", "#", "x = {}\n"),
    ("a.js", "//", "const x = {};\n"),
    ("a.tsx", "//", "const x = {};\n"),
    ("a.ts", "//", "const x = {};\n"),
    ("a.go", "//", "package a\n\nvar x = {}\n"),
    ("a.rs", "//", "static X: u32 = {};\n"),
    ("A.java", "//", "class A {{ int x = {}; }}\n"),
    ("A.cs", "//", "class A {{ int x = {}; }}\n"),
    ("a.c", "//", "int x = {};\n"),
    ("a.kt", "//", "val x = {}\n"),
    ("a.swift", "//", "let x = {}\n"),
    ("a.scala", "//", "val x = {}\n"),
    ("a.php", "//", "<?php\n$x = {};\n"),
    ("a.lua", "--", "x = {}\n"),
    ("a.ex", "#", "x = {}\n"),
    ("a.dart", "//", "var x = {};\n"),
]


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize(("path", "mark", "text"), COMMENTED)
def test_a_patch_of_comments_alone_never_comes_before_one_of_code(
    path: str, mark: str, text: str, checked: bool
) -> None:
    old = text.format(1)
    base = result({"a::b": True})
    patches = {
        "comments": [file(path, old, f"{old}{mark} one\n")],
        "code": [file(path, old, f"{text.format(2)}{mark} one\n{mark} two\n")],
    }
    lanes = [
        lane(name, *([base] if checked else ()), base=[base], files=files)
        for name, files in patches.items()
    ]
    verdict = rank(evidence(lanes, [base] if checked else []))
    ranks = {each.lane: each.rank for each in verdict.lanes}
    assert ranks == {"code": 1, "comments": 2}, verdict.says


def test_a_runner_that_names_failures_alone_is_not_said_to_pass_no_test() -> None:
    """`go test` without -v: what passes there has no name, and yet it passed."""
    tests = read_text(b"--- FAIL: TestUp (0.00s)\nFAIL\tshop/cart\t0.1s\n")
    base = replace(result({"t": False}, name="_base"), tests=tests)
    facts = evidence([lane("a", result({"t": True}), base=[base])], [base])
    document = verdict_document(rank(facts), facts, {}, "/run")
    says = "pytest names its failures alone: new tests are not tried on other patches"
    assert document["warnings"] == [says]


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


@pytest.mark.parametrize(
    ("old", "new", "alone"),
    [
        ("  doAssert up(5) == 3\n", "  doAssert up(5) == 2\n", True),
        ("  check up(5) == 3\n", "  # as it is\n\n  check up(5) == 2\n", True),
        ("check('a') is b\n", "", True),
        ("require('./a')\n", "require('./b')\n", False),
        ("check(user)\n", "check(user, again)\n", False),
        ("assert n\nn = 1\n", "assert m\nn = 2\n", False),
        (None, "assert n\n", False),
        ("n\n", "n\n", False),
    ],
)
def test_lines_that_assert(old: str | None, new: str, alone: bool) -> None:
    assert asserts_alone([file("lib/up.nim", old, new)]) is alone

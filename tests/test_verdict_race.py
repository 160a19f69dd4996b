"""Real races in which each lane does one thing, and the true sentence that the verdict has for it.

Lanes that are to be different patches have a comment more each; size decides nothing.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import (
    CODE,
    PLAIN,
    RIGHT,
    TESTS,
    UNITTEST,
    UP,
    WRONG,
    Files,
    Judged,
    edited,
    lane,
    shop,
    steps,
)

pytestmark = pytest.mark.slow

PAGER = "src/pager.py"
SUITE = "tests/test_pages.py"
TEST_UP = "    def test_up(self):\n" + UP
EVADES = """\
    def setUp(self):
        if self.id().endswith("test_up"):
            self.skipTest("later")

"""
CHEATING = re.compile(r"\b(deletes|removes|weakens|drops|skips|marks|swallows|leaves|silences)\b")


def right(comments: int = 0) -> str:
    """The right code, larger by so many lines."""
    return "# one more line\n" * comments + RIGHT


def state(repo: Path) -> tuple[str, str, str]:
    return git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain"), text(repo)


def text(repo: Path) -> str:
    return (repo / PAGER).read_text()


def lands(judged: Judged, does: str, *named: str) -> None:
    """`hydra merge` without a lane takes this one, or, tied with others, once it is named."""
    repo = judged.hydra.repo
    before = git(repo, "rev-parse", "HEAD")
    done = judged.hydra.run("merge", *named)
    assert done.returncode == 0, f"{done.stderr}\n{judged}"
    assert done.stdout.startswith(f"landed {lane(does)} on main as ")
    assert git(repo, "rev-parse", "HEAD^") == before
    assert git(repo, "status", "--porcelain") == ""


def refuses(judged: Judged, says: str, *args: str) -> str:
    """`hydra merge` without a lane lands nothing and touches nothing; what it said."""
    before = state(judged.hydra.repo)
    done = judged.hydra.run("merge", *args)
    assert done.returncode == 5, done.stdout
    assert "\nerror: nothing was landed: " in done.stderr
    assert says in done.stderr, f"{done.stderr}\n{judged}"
    assert state(judged.hydra.repo) == before
    return done.stderr


# --- what is done to tests -----------------------------------------------------------------------


def test_each_way_of_losing_a_test_has_its_sentence(hydra: Hydra) -> None:
    shop(hydra.repo)
    lanes: dict[str, Files] = {
        "right": {PAGER: right()},
        "deletes": {PAGER: WRONG, SUITE: edited(TEST_UP + "\n", "")},
        "removes": {PAGER: right(), SUITE: edited("        self.assertEqual(len(page), 2)\n", "")},
        "weakens": {
            PAGER: WRONG,
            SUITE: edited("assertEqual(pages(3, 2), 2)", "assertTrue(pages(3, 2))"),
        },
        "skips": {PAGER: WRONG, SUITE: edited(TEST_UP, f'    @unittest.skip("later")\n{TEST_UP}')},
        "expects": {
            PAGER: WRONG,
            SUITE: edited(TEST_UP, f"    @unittest.expectedFailure\n{TEST_UP}"),
        },
        "turns": {PAGER: WRONG, SUITE: edited("pages(3, 2), 2", "pages(3, 2), 1")},
        "touches": {PAGER: WRONG, SUITE: f"# seen\n{TESTS}"},
        "evades": {PAGER: WRONG, SUITE: edited(TEST_UP, f"{EVADES}{TEST_UP}")},
    }
    judged = Judged(hydra, lanes).run()
    up = "tests.test_pages.Pages.test_up"
    gates = {does: judged.gates(does) for does in lanes}
    assert gates == {
        "right": [],
        "deletes": ["deletes the test Pages.test_up"],
        "removes": ["removes 1 of 3 assertions of Pages.test_first"],
        "weakens": [
            "weakens an assertion of Pages.test_up: self.assertEqual(pages(3, 2), 2) -> "
            "self.assertTrue(pages(3, 2))"
        ],
        "skips": ["skips Pages.test_up (unittest.skip)"],
        "expects": gates["expects"],
        "turns": [
            "changes what Pages.test_up expects: 2 -> 1; the base's version still fails with it"
        ],
        "touches": [],
        "evades": [f"skips, or expects to fail, {up} in unittest; run as on the base, it fails"],
    }, str(judged)
    (expects,) = gates["expects"]
    assert {"expected", "Pages.test_up", "(unittest.expectedFailure)"} <= set(expects.split())
    assert judged.passing() == {"right", "touches"}
    assert list(judged.ranks())[:3] == ["right", "touches", "removes"], str(judged)
    assert judged.ranks()["right"] == 1
    for does in ("deletes", "skips", "expects", "evades"):
        assert f"with the base's tests, {up} fails" in judged.outputs(does, "protected")
    for does in ("weakens", "turns"):
        assert f"unittest: {up} passes with its own tests, not with the base's" in judged.outputs(
            does, "base"
        )
        assert "fixes" not in " ".join(judged.outputs(does, "base"))
        assert judged.outputs(does, "protected") == []
    assert judged.outputs("removes", "protected") == ["the base's tests pass with it"]
    assert judged.outputs("touches", "protected") == [
        f"with the base's tests, {up} fails, as with its own"
    ]
    assert judged.outputs("touches", "base") == [
        "does not fix the one failure of the base in unittest"
    ]
    line = {row["text"]: (row["path"], row["line"]) for row in judged.of("weakens")["gates"]}
    assert set(line.values()) == {(SUITE, 8)}
    lands(judged, "right")


TABLE = f"""\
import unittest

from src.pager import first, pages, price


class Pages(unittest.TestCase):
    def test_pages(self):
        for n, size, expected in ((3, 2, 2), (4, 2, 2)):
            with self.subTest(n=n, size=size):
                self.assertEqual(pages(n, size), expected)

{TESTS[TESTS.index("    def test_first") :]}"""
HELPED = (
    TESTS.replace("self.assertEqual(pages(3, 2), 2)", "self.check(3, 2, 2)")
    .replace("self.assertEqual(pages(4, 2), 2)", "self.check(4, 2, 2)")
    .replace(
        "Case):\n",
        "Case):\n    def check(self, n, size, expected):\n"
        "        self.assertEqual(pages(n, size), expected)\n\n",
    )
)
RENAMED = TESTS.replace("test_up", "test_a_rest_needs_a_page").replace("Pages(", "Paging(")
GROWN = edited(
    TEST_UP, f"{TEST_UP}\n    def test_none(self):\n        self.assertEqual(pages(0, 2), 0)\n"
)


@pytest.mark.full
def test_honest_work_on_tests_is_not_called_cheating(hydra: Hydra) -> None:
    shop(hydra.repo)
    lanes: dict[str, Files] = {
        "idles": {PAGER: WRONG},
        "extracts": {PAGER: right(), SUITE: HELPED},
        "tables": {PAGER: right(1), SUITE: TABLE},
        "renames": {PAGER: right(2), SUITE: RENAMED},
        "moves": {
            PAGER: right(3),
            SUITE: None,
            "tests/unit/__init__.py": "",
            "tests/unit/test_paging.py": TESTS,
        },
        "grows": {PAGER: right(5), SUITE: GROWN},
    }
    judged = Judged(hydra, lanes).run()
    for does in lanes:
        assert judged.gates(does) == [], str(judged)
        assert not CHEATING.search(" ".join(judged.outputs(does))), str(judged)
    assert list(judged.ranks()) == ["extracts", "tables", "renames", "moves", "grows", "idles"]
    assert {judged.ranks()[does] for does in lanes} == {1, 6}, str(judged)
    assert judged.top() is None  # size decides nothing
    line = "the base's tests pass with it"
    so = f"{line}; so tests.test_pages.Pages.test_up passes, which fails on the base"
    for does in ("tables", "renames", "moves"):
        assert judged.outputs(does, "protected") == [so]
    for does in ("extracts", "grows"):
        assert judged.outputs(does, "protected") == [line]
        assert judged.outputs(does, "base") == ["fixes the one failure of the base in unittest"]
    merged = "moves, renames or merges 2 tests (Pages.test_up, Pages.test_even), and loses none"
    assert any(merged in line for line in judged.outputs("tables", "scope")), str(judged)
    lands(judged, "extracts", lane("extracts"))


# --- what configures and runs them ---------------------------------------------------------------

PYTEST = f"{PLAIN} -B -m pytest -q -p no:cacheprovider"
PYTESTS = """\
import pytest

from src.pager import first, pages


def test_up():
    assert pages(3, 2) == 2


def test_even():
    assert pages(4, 2) == 2


def test_first(shelf):
    assert first(shelf, 2) == [1, 2]


def test_size():
    with pytest.raises(ZeroDivisionError):
        pages(1, 0)
"""
CONFTEST = """\
import pytest


@pytest.fixture
def shelf():
    return [1, 2, 3]
"""
HOOK = f"""{CONFTEST}

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
PROJECT = '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
TWO = PYTESTS[PYTESTS.index("def test_up") : PYTESTS.index("def test_first")]
PARAMETERS = """\
@pytest.mark.parametrize(("n", "expected"), [(3, 2), (4, 2)])
def test_pages(n, expected):
    assert pages(n, 2) == expected


"""


@pytest.mark.full
def test_what_configures_pytest_is_a_gate_where_it_hides_a_failure(hydra: Hydra) -> None:
    conftest = "tests/conftest.py"
    shop(hydra.repo, {SUITE: PYTESTS, conftest: CONFTEST, "pyproject.toml": PROJECT})
    marked = edited("def test_up", '@pytest.mark.xfail(reason="later")\ndef test_up', PYTESTS)
    lanes: dict[str, Files] = {
        "fixtures": {PAGER: right(), conftest: edited("[1, 2, 3]", "list(range(1, 4))", CONFTEST)},
        "tables": {PAGER: right(1), SUITE: edited(TWO, PARAMETERS, PYTESTS)},
        "hooks": {PAGER: WRONG, conftest: HOOK},
        "deselects": {PAGER: WRONG, "pyproject.toml": f"{PROJECT}addopts = \"-k 'not up'\"\n"},
        "xfails": {PAGER: WRONG, SUITE: marked},
    }
    judged = Judged(hydra, lanes).run(checks=(f"pytest={PYTEST}",))
    assert judged.passing() == {"fixtures", "tables"}, str(judged)
    assert list(judged.ranks())[:2] == ["fixtures", "tables"]
    changes = f"changes {conftest}, which configures the tests"
    assert changes in judged.outputs("fixtures", "scope")
    still = "; the base's version still fails with it"
    assert judged.gates("hooks") == [f"{changes}{still}"]
    leaves = "changes pytest.ini_options.addopts of pyproject.toml: nothing -> -k 'not up'"
    gone = f"1 failing test no longer runs, and fails once put back: {SUITE}::test_up"
    assert judged.gates("deselects") == [f"{leaves}{still}", gone]
    (expects,) = judged.gates("xfails")
    assert {"expected", "test_up", "(pytest.mark.xfail)"} <= set(expects.split())
    both = "with the base's tests and settings"
    assert judged.outputs("deselects", "protected") == [f"{both}, {SUITE}::test_up fails"]
    assert judged.outputs("hooks", "protected") == []  # the check's own sentence has it
    # Its hook answers for no test of another lane's.
    cells = {row["id"]: row["cells"] for row in judged.document["cross"]}
    assert cells[f"{SUITE}::test_pages[3-2]"][lane("hooks")] == "failed", str(judged)
    alone = "pytest: tests/test_pages.py::test_up passes with its own tests and configuration"
    assert any(line.startswith(alone) for line in judged.outputs("hooks", "base")), str(judged)
    assert not CHEATING.search(" ".join(judged.outputs("tables"))), str(judged)
    lands(judged, "fixtures", lane("fixtures"))


NPM = """\
#!/bin/sh
[ "$1" = --version ] && echo 10.9.2 && exit
words='import json; print(json.load(open("package.json"))["scripts"]["test"])'
script=$(python3 -c "$words") && exec sh -c "$script"
"""
PACKAGE = f'{{\n  "name": "shop",\n  "scripts": {{\n    "test": "{UNITTEST}"\n  }}\n}}\n'
RUNS = f"{UNITTEST}\n"


def test_what_runs_the_checks_is_a_gate_where_it_hides_a_failure(hydra: Hydra) -> None:
    tools = hydra.scratch / "tools"
    tools.mkdir()
    (tools / "npm").write_text(NPM)
    (tools / "npm").chmod(0o755)
    hydra.path.append(tools)
    manifest, script = "package.json", "run_tests.sh"
    shop(hydra.repo, {manifest: PACKAGE, script: RUNS})
    lanes: dict[str, Files] = {
        "versions": {
            PAGER: right(),
            manifest: PACKAGE.replace('"shop",', '"shop", "private": true,'),
        },
        "echoes": {PAGER: right(1), script: f"set -e\necho testing\n{RUNS}"},
        "silences": {PAGER: WRONG, manifest: PACKAGE.replace(UNITTEST, "true")},
        "exits": {PAGER: WRONG, script: "exit 0\n"},
        "narrows": {PAGER: WRONG, manifest: PACKAGE.replace("-v", "-v -k even")},
    }
    judged = Judged(hydra, lanes).run(checks=("npm=npm test", "runs=sh run_tests.sh"))
    assert judged.passing() == {"versions", "echoes"}, str(judged)
    assert list(judged.ranks())[:2] == ["versions", "echoes"]
    still = "; the base's version still fails with it"
    changes = "changes the script test of package.json: python3 -B -m unittest -v ->"
    none = "passes and names no test; on the base 3 passed, 1 failed"
    assert judged.gates("silences") == [f"{changes} true{still}", f"npm {none}"]
    assert f"{changes} {UNITTEST} -k even{still}" in judged.gates("narrows")
    runs = f"changes {script}, which a check runs"
    assert judged.gates("exits") == [f"{runs}{still}", f"runs {none}"]
    assert judged.outputs("echoes", "scope") == [runs]
    assert not any(manifest in line for line in judged.outputs("versions", "scope"))
    lands(judged, "versions", lane("versions"))


# --- what is done to the code --------------------------------------------------------------------

LONG = "".join(
    f"def helper_{number}(value):\n    total = value + {number}\n    return total * 2\n\n\n"
    for number in range(30)
)
OTHER = "".join(
    f"def helper_{n}(value: int) -> int:\n    twice = 2 * value\n    return twice + {2 * n}\n\n\n"
    for n in range(30)
)
RETURNS = "    return n // size\n"
PRICE = "    return round(float(text) * 100)\n"
SETTINGS = '[judge]\nprotected_paths = ["migrations/"]\n'


def test_what_is_done_to_the_code_has_its_sentence(hydra: Hydra) -> None:
    migration = "migrations/1.sql"
    shop(hydra.repo, {"src/long.py": LONG, migration: "select 1;\n", "hydra.toml": SETTINGS})
    caught = f"    try:\n    {PRICE}    except TypeError:\n        pass\n"
    branch = f"    if n == 3 and size == 2:\n        return 2\n{RETURNS}"
    broad = f"    try:\n    {PRICE}    except Exception:\n        return 0\n"
    lanes: dict[str, Files | list[fakes.Step]] = {
        "right": {PAGER: right()},
        "branches": {PAGER: edited(RETURNS, branch, CODE)},
        "answers": {PAGER: edited(RETURNS, "    # it is two\n    # always\n    return 2\n", CODE)},
        "catches": {PAGER: edited(PRICE, caught, RIGHT)},
        "swallows": {PAGER: edited(PRICE, broad, RIGHT)},
        "rewrites": {PAGER: right(), "src/long.py": OTHER},
        "migrates": {PAGER: right(), migration: "select 2;\n"},
        "breaks": {PAGER: edited("items[:size]", "items[: size - 1]", RIGHT)},
        "garbles": {PAGER: "def pages(:\n"},
        "leaves": {PAGER: f"import os\n\nos._exit(0)\n{CODE}"},
        "fails": [*steps({PAGER: right(6)})[:-1], fakes.fail("context_overflow")],
        "nothing": {},
    }
    judged = Judged(hydra, lanes).run()
    assert judged.passing() == {"right", "branches", "answers", "catches", "rewrites"}
    first = ["right", "catches", "rewrites", "branches", "answers"]
    assert list(judged.ranks())[:5] == first, str(judged)
    assert (judged.of("nothing")["rank"], judged.gates("nothing")) == (None, ["changed nothing"])
    expects = ", which is what Pages.test_up expects"
    for does, says in (
        ("branches", f"returns the literal 2 from pages where n is 3 and size == 2{expects}"),
        ("answers", f"returns the literal 2 from pages whatever it is given{expects}"),
        ("catches", "catches TypeError and passes over it in price() (src/pager.py)"),
        ("swallows", "catches Exception and returns 0 in price() (src/pager.py)"),
        ("rewrites", "rewrites src/long.py (90 of 150 lines)"),
    ):
        assert says in judged.outputs(does, "scope"), str(judged)
    assert judged.gates("migrates") == [f"touches 1 protected path: {migration}"]
    fails = "unittest: 1 test passed on the base and fails now: tests.test_pages.Pages."
    assert judged.gates("breaks") == [f"{fails}test_first"]
    assert judged.gates("swallows") == [f"{fails}test_price"]
    (garbled,) = judged.gates("garbles")
    assert garbled.startswith("unittest: 3 tests passed on the base and fail now: ")
    assert "unittest: tests.test_pages fails as a whole" in judged.outputs("garbles", "base")
    silent = "unittest passes and names no test; on the base 3 passed, 1 failed"
    bent = "makes unittest pass tests that cannot pass: its code changes what runs them"
    assert judged.gates("leaves") == [silent, bent]
    (ended,) = judged.gates("fails")
    assert re.fullmatch("failed: .+; its patch is kept", ended)
    assert judged.outputs("right", "base") == ["fixes the one failure of the base in unittest"]
    lands(judged, "right")


# --- several lanes -------------------------------------------------------------------------------


def cases(name: str, *many: tuple[int, int, int]) -> str:
    """A file of tests: what `pages` of the first two is."""
    head = f"import unittest\n\nfrom src.pager import pages\n\n\nclass {name}(unittest.TestCase):\n"
    return head + "\n".join(
        f"    def test_{n}_by_{by}(self):\n        self.assertEqual(pages({n}, {by}), {result})\n"
        for n, by, result in many
    )


def test_a_wrong_lane_that_shouts_leads_nobody(hydra: Hydra) -> None:
    shop(hydra.repo, {SUITE: edited(TEST_UP + "\n", "")})  # the base's tests do not tell
    own = [(number, 2, number // 2 + 2) for number in range(5, 65, 2)]
    wrong = "    return n // size if n % 2 == 0 else n // size + 2\n"
    divided = "    whole, rest = divmod(n, size)\n    return whole + bool(rest)\n"
    lanes: dict[str, Files] = {
        "shouts": {PAGER: edited(RETURNS, wrong, CODE), "tests/test_loud.py": cases("Loud", *own)},
        "rounds": {PAGER: right(), "tests/test_rest.py": cases("Rest", (3, 2, 2))},
        "divides": {
            PAGER: edited(RETURNS, divided, CODE),
            "tests/test_more.py": cases("More", (5, 2, 3), (4, 2, 2)),
        },
    }
    judged = Judged(hydra, lanes).run()
    assert judged.ranks() == {"rounds": 1, "divides": 1, "shouts": 3}, str(judged)
    assert judged.passing() == set(lanes)
    loud = [row for row in judged.document["cross"] if row["author"] == lane("shouts")]
    assert len(loud) == 30
    ends: dict[str, Any] = {lane("shouts"): "own", lane("rounds"): "failed"}
    assert all(row["cells"] == {**ends, lane("divides"): "failed"} for row in loud)
    lines = judged.outputs("shouts", "cross")
    assert lines[0] == f"fails {lane('rounds')}'s 1 new test: tests.test_rest.Rest.test_3_by_2"
    assert lines[0] in judged.of("shouts")["why"]
    assert "30 new tests of its own fail on the base and pass here" in lines
    last = judged.outputs("rounds", "cross")[-1]
    assert last.startswith(f"fails {lane('shouts')}'s 30 new tests, which pass on no other patch: ")
    same = f"passes and fails the same new tests as {lane('divides')}"
    assert same in judged.outputs("rounds", "agreement")
    weightless = "1 new test of its own passes on the base, so tells nothing: "
    assert f"{weightless}tests.test_more.More.test_4_by_2" in judged.outputs("divides", "cross")
    lands(judged, "rounds", lane("rounds"))


def test_the_same_patch_twice_is_no_choice_and_a_tie_is(hydra: Hydra) -> None:
    shop(hydra.repo)
    other = edited("n // size", "(n + size - 1) // size", CODE)
    judged = Judged(hydra, {"one": {PAGER: right()}, "same": {PAGER: right()}}).run()
    assert judged.top() in ("one", "same"), str(judged)
    for does, twin in (("one", "same"), ("same", "one")):
        assert f"left the very same patch as {lane(twin)}" in judged.outputs(does, "agreement")
    lands(judged, str(judged.top()))
    assert hydra.run("merge", "--undo").returncode == 0
    judged = Judged(hydra, {"one": {PAGER: right()}, "other": {PAGER: other}}).run()
    as_fast(hydra)
    judged.again()
    assert (judged.top(), judged.ranks()) == (None, {"one": 1, "other": 1}), str(judged)
    tied = f"{lane('one')} and {lane('other')} are tied"
    assert judged.document["says"] == f"{tied}: no test tells them apart"
    refuses(judged, tied)
    assert "--override does not choose" in refuses(judged, tied, "--override", "it is late")
    assert hydra.run("merge", lane("other")).returncode == 0
    assert text(hydra.repo) == other


def as_fast(hydra: Hydra) -> None:
    """The record says that all lanes took as long, and the verdict is made anew."""
    file = Path(hydra.run("runs", "path").stdout.strip(), "result.json")
    result = json.loads(file.read_text())
    for document in result["lanes"]:
        document["seconds"] = 2.0
    file.write_text(json.dumps(result))
    assert hydra.run("check").returncode == 0


@pytest.mark.full
def test_where_none_is_mergeable_nothing_lands_without_a_reason(hydra: Hydra) -> None:
    shop(hydra.repo)
    lanes: dict[str, Files | list[fakes.Step]] = {
        "hangs": [*steps({PAGER: right()})[:-1], fakes.hang()],
        "breaks": {PAGER: edited("items[:size]", "items[: size - 1]", RIGHT)},
        "deletes": {PAGER: WRONG, SUITE: None},
        "nothing": {},
    }
    judged = Judged(hydra, lanes).run("--idle-timeout", "8s")
    assert judged.race is not None
    assert judged.race.returncode == 1
    assert judged.document["exit_code"] == 1
    ranks = {"hangs": 1, "breaks": 2, "deletes": 3, "nothing": None}
    assert judged.ranks() == ranks, str(judged)
    assert list(judged.ranks()) == list(ranks)
    assert judged.gates("hangs") == ["timed out: no progress for 8 s; its patch is kept"]
    line, deletes = judged.gates("deletes")
    assert line == "unittest found no tests; on the base 3 passed"
    names = "Pages.test_up, Pages.test_even, Pages.test_first, Pages.test_price"
    assert deletes == f"deletes {SUITE} with 4 tests ({names})"
    put_back = "with the base's tests, tests.test_pages.Pages.test_up fails"
    assert judged.outputs("deletes", "protected") == [put_back]
    value = refuses(judged, f"no patch is proved; {lane('hangs')}, which comes first")
    assert re.search(rf"^hydra merge {lane('hangs')} -r \w+ --override", value, re.M)
    done = hydra.run("merge", "--override", "it had ended its work")
    assert done.returncode == 0, done.stderr
    assert "overriding the verdict: it had ended its work" in done.stdout

"""Tests that must fail: how they are put into a file of tests, and what they show."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.checks.cross.canary import candidates, passing, with_canaries, works
from hydra.checks.cross.record import read
from hydra.checks.record import CheckStatus
from hydra.records.request import Check, TrialCap
from tests.support.evidences import result
from tests.support.trials import RIGHT, UNITTEST, Trying, of, with_tests

TOKEN = "t0123456789"
BENT = (
    "import gc\nfor thing in gc.get_objects():\n"
    "    if getattr(thing, '__name__', '') == 'Test' + 'Case':\n"
    "        setattr(thing, '_baseAssert' + 'Equal', lambda *_, **__: None)\n"
    "\n\ndef pages(n, size):\n    return n // size\n"
)
HOOKED = "import atexit\n\natexit.register(print, 'bye')\n" + RIGHT


def test_a_file_of_python_stays_python() -> None:
    text = with_canaries("tests/test_a.py", "import a\n\n\ndef test_a():\n    assert a", TOKEN)
    assert text is not None
    ast.parse(text)
    assert text.startswith("import a\n")
    assert text.count(TOKEN) > 6


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "test('a', () => { assert.strictEqual(a, 1); });\n",
            "assert.strictEqual('{}', 'must fail');",
        ),
        (
            "it('a', () => { assert.deepEqual(a, 1); });\n",
            "assert.deepEqual(['{}'], ['must fail']);",
        ),
        ("it.only('a', () => { assert(a); });\n", "assert(false, '{}');"),
        ("test('a', () => { expect(a).toBe(1); });\n", "expect('{}').toBe('must fail');"),
        ("it('a', () => { expect(a).to.be.ok; });\n", "expect('{}').to.equal('must fail');"),
        ("test('a', (t) => { t.is(a, 1); });\n", "throw new Error('{}');"),
    ],
)
def test_a_script_is_asked_in_its_own_way(text: str, line: str) -> None:
    added = with_canaries("a.test.js", text, TOKEN)
    assert added is not None
    assert line.format(TOKEN) in added.removeprefix(text)


def test_where_no_test_is_seen_none_is_added() -> None:
    assert with_canaries("a.test.js", "suite.add(a);\n", TOKEN) is None


def test_files_near_to_what_is_changed_come_first() -> None:
    paths = ["tests/test_a.py", "tests/test_pager.py", "tests/b.test.js", "src/a.py"]
    assert candidates(paths, "python", ["src/pager.py"]) == [
        "tests/test_pager.py",
        "tests/test_a.py",
    ]
    assert candidates(paths, "javascript", []) == ["tests/b.test.js"]


def test_they_work_where_they_ran_and_failed() -> None:
    ran = result({"test_a": True, f"test_{TOKEN}": False})
    assert works(ran, b"", TOKEN)
    assert not works(result({"test_a": False}), b"", TOKEN)
    assert not works(result({"test_a": True}), TOKEN.encode(), TOKEN)
    unnamed = replace(ran, tests=None)
    assert works(unnamed, f"Error: {TOKEN}".encode(), TOKEN)
    assert not works(unnamed, b"Error", TOKEN)


def test_what_passes_although_it_cannot() -> None:
    assert passing(result({f"a_{TOKEN}": False, "b": True}), TOKEN) == ()
    assert passing(result({f"a_{TOKEN}": True, f"b_{TOKEN}": False}), TOKEN) == (f"a_{TOKEN}",)
    assert passing(result({"b": True}), TOKEN) == ("pytest",)


# --- on real trees -------------------------------------------------------------------------------


@pytest.mark.slow
async def test_code_that_bends_the_tool_is_seen_and_recorded(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [Check("unittest", UNITTEST, "test")])
    lanes = {name: {"src/pager.py": text} for name, text in (("bent", BENT), ("hooked", HOOKED))}
    trials = await bench.tried({**lanes, "plain": {"src/pager.py": RIGHT}})
    assert of(trials, "canary", "").result.status is CheckStatus.FAILED
    bent = of(trials, "canary", "bent")
    assert bench.own["bent"][0].passed
    assert bent.passes
    assert all("_t" in name for name in bent.passes)
    assert of(trials, "canary", "hooked").passes == ()
    assert bent.paths == ("test_pages.py",)
    assert not [item for item in trials.runs if item.on == "plain"]  # it could change nothing
    assert trials.used.runs == 3
    runs, _ = read(bench.kit.folder, bench.run_folder)
    assert [item.passes for item in runs if item.on == "bent"] == [bent.passes]
    document = json.loads((bench.kit.folder / "trials.json").read_text())
    assert [item["kind"] for item in document["runs"]] == ["canary"] * 3
    assert bench.leftovers() == []


@pytest.mark.full
async def test_a_check_that_does_not_run_them_tells_nothing(scratch: Path, repo: Path) -> None:
    check = Check("quick", "python3 -B -m unittest -v test_pages.Pages.test_even", "test")
    bench = Trying(scratch, with_tests(repo), [check])
    trials = await bench.tried({"hooked": {"src/pager.py": HOOKED}})
    (cut,) = trials.not_tried
    assert (cut.kind, cut.on, cut.why) == (
        "canary",
        "hooked",
        "the check did not run them on the base",
    )
    assert [item for item in trials.runs if item.on] == []


@pytest.mark.full
async def test_they_count_against_the_cap(scratch: Path, repo: Path) -> None:
    bench = Trying(scratch, with_tests(repo), [Check("unittest", UNITTEST, "test")])
    trials = await bench.tried({"bent": {"src/pager.py": BENT}}, TrialCap(1, 600))
    assert trials.used.runs == 1
    assert [(item.kind, item.on, item.why) for item in trials.not_tried] == [
        ("canary", "bent", "the limit of 1 run was reached")
    ]

"""Which files of a patch are tests, by reading: those that a run names, and what lies in code."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.commands import runs
from hydra.analysis.tampering.inline_tests import gone, put_back, with_tests, without_tests
from hydra.analysis.tampering.named_data import (
    importing_line,
    may_be_of_tests,
    who_names,
)
from hydra.analysis.tampering.suite import tests_changed as changed
from hydra.checks.collected import collected, marked
from hydra.checks.junit import read_junit
from hydra.checks.text_parsers.output import read_text
from hydra.ranking.measures import has_code
from hydra.ranking.results import LaneResults, standing
from hydra.ranking.verdict import rank
from hydra.records.request import Check
from tests.support.evidences import evidence, file, lane, result
from tests.support.tables import table_rows

# ---- What a run names, and what lies in code.

CODE = "def pages(n):\n    return n\n"
BOOK = '''\
class Book:
    def pages(self):
        """
        >>> 1
        1
        """
'''
RUNS = table_rows("files_of_tests", "runs")


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


OTHERWISE = {
    "return 1": "return 7",
    "=> 1": "=> 7",
    "    1\n": "    7\n",
    "{ 1 }": "{ 7 }",
    "do: n": "do: n + 6",
}
IN_CODE = table_rows("inline_tests", "in_code")


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


@pytest.mark.parametrize(
    ("path", "text", "holds"),
    table_rows("files_of_tests", "a_file_that_a_run_names_is_code_where_its_tests_ask_its_own"),
)
def test_a_file_that_a_run_names_is_code_where_its_tests_ask_its_own(
    path: str, text: str, holds: str
) -> None:
    patch = [file(path, text, f"{text}\n")]
    (alone,) = marked(patch, [path], ())
    assert alone.holds == holds
    assert changed([alone]) == ((path,) if holds == "tests" else ())
    (imported,) = marked(patch, [path], (), in_use=[path])
    assert imported.holds == "code"
    imports = f"import test from './{path.rpartition('/')[2]}'\nfrom src import up\n"
    assert who_names({path: importing_line(path)}, {"src/b.py": imports}, ())[1] == {path}


def standing_of(*files: FileChange) -> LaneResults:
    return standing(lane("a", files=files), evidence([], []))


@pytest.mark.parametrize(
    ("command", "task", "path"),
    table_rows("files_of_tests", "what_a_command_runs"),
)
def test_what_a_command_runs(command: str, task: str, path: str) -> None:
    running = runs([Check(name="a", command=command)])
    assert task in running.tasks
    assert running.scripts & {"docs/usage.txt", "src/up.py"} == {*filter(None, [path])}


# ---- A patch of comments alone.

COMMENTED = table_rows("files_of_tests", "commented")


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


# ---- Data that tests alone name.

PRODUCT = {"src/pager.py": "def pages(n):\n    return n\n", "web/pager.js": "export const up = 1\n"}
NAMED = table_rows("files_of_tests", "named")


@pytest.mark.parametrize(("path", "text", "base", "is_theirs"), NAMED)
def test_data_that_tests_name_and_nothing_else_does_is_theirs(
    path: str, text: str, base: dict[str, str], is_theirs: bool
) -> None:
    lines = may_be_of_tests([file(path, text, f"{text}\n")])
    data, _ = who_names(lines, PRODUCT | base | {path: text}, ())
    assert data == ({path} if is_theirs else set())


# ---- Which tests inside code have moved, and which are gone.


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
    there = file(copy.path, "\n", f"\n{old}")
    assert changed([file(path, old, ""), there]) == ()


@pytest.mark.parametrize(("path", "old"), IN_CODE[:5])
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
        ("deletes the test up",),
    )
    assert gates(file(path, old, None), file(f"lib/{path}", None, old)) == ()
    lines = old.removeprefix(bare).replace("if (import.meta.vitest) {\n", "").split("\n")
    tests = "\n".join(f"    {line}" for line in lines)
    assert gates(file(path, old, bare), file(f"tests/{path}", None, tests)) == ()
    assert gates(file(path, old, old.replace("1", "2"))) == ()


def test_blocks_of_which_one_is_made_are_not_gone() -> None:
    code, ask = "fn up() u32 {\n    return 1;\n}\n", "    try expect(up() == {});\n"
    two = "".join(f'\ntest "{number}" {{\n{ask.format(number)}}}\n' for number in (1, 2))
    one = f'\ntest "both" {{\n{ask.format(1)}{ask.format(2)}}}\n'
    assert gone([file("src/up.zig", code + two, code + one)]) == {}
    less = one.replace(ask.format(2), "")
    assert gone([file("src/up.zig", code + two, code + less)]) == {}
    none = gone([file("src/up.zig", code + two, code + one.replace("==", "!="))])
    assert [*none] == ["src/up.zig"]

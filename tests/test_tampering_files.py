"""Configuration, checks, shortcuts and rewrites; what is put back and what is brought."""

from __future__ import annotations

import ast
import json
import os
import tomllib
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import may_bend
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.manifests import test_parts as parts_of
from hydra.analysis.tampering.restore import restored, settings_changed
from hydra.analysis.tampering.suite import tests_added as added
from hydra.analysis.tampering.suite import tests_changed as changed
from hydra.records.request import Check
from tests.support.evidences import file
from tests.support.patches import accused, change, found, told

CHECKS = (
    Check("unit", "npm test"),
    Check("all", "./scripts/run_tests.sh --fast"),
    Check("make", "make verify && python -m pytest -c ci/pytest.cfg"),
    Check("lint", "ruff check ."),
)
PYPROJECT = '[project]\nname = "x"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n'


def test_the_base_parts_go_back_and_the_patch_keeps_what_it_depends_on() -> None:
    new = PYPROJECT.replace('"x"', '"x"\ndependencies = ["a"]').replace("-ra", "-k nothing")
    back = tomllib.loads(restored("pyproject.toml", PYPROJECT, new) or "")
    assert back["tool"]["pytest"]["ini_options"] == {"addopts": "-ra"}
    assert back["project"]["dependencies"] == ["a"]

    old = '{"scripts": {"test": "jest"}, "jest": {"bail": 1}}'
    new = '{"scripts": {"test": "true", "postinstall": "x"}, "dependencies": {"a": "1"}}'
    assert json.loads(restored("web/package.json", old, new) or "") == {
        "scripts": {"postinstall": "x", "test": "jest"},
        "dependencies": {"a": "1"},
        "jest": {"bail": 1},
    }
    back_cfg = restored("setup.cfg", "[tool:pytest]\naddopts = -ra\n", "[metadata]\nname = x\n")
    assert back_cfg is not None
    assert "addopts = -ra" in back_cfg
    assert "name = x" in back_cfg


def test_parts_that_the_base_had_not_are_taken_out() -> None:
    back = restored("pyproject.toml", None, PYPROJECT)
    assert back is not None
    assert tomllib.loads(back) == {"project": {"name": "x"}, "tool": {}}
    assert restored("pyproject.toml", PYPROJECT, PYPROJECT) == PYPROJECT


def test_other_files_go_back_whole() -> None:
    assert restored("conftest.py", "old", "new") == "old"
    assert restored("conftest.py", None, "new") is None
    assert restored("pyproject.toml", PYPROJECT, None) == PYPROJECT
    assert restored("pyproject.toml", PYPROJECT, "[[[") == PYPROJECT
    assert restored("package.json", "{]", "{}") == "{]"


LONG = "".join(f"value_{n} = {n}\n" for n in range(100))


def test_a_rewrite_is_told_with_its_size() -> None:
    assert told(("a.py", LONG, LONG.replace("value", "number"))) == [
        ("rewrite", "remark", "rewrites a.py nearly whole (100 of 100 lines)")
    ]
    text = LONG.replace("value_1", "number").replace("value_2", "n").replace("value_3", "n")
    text = text.replace("value_4", "n").replace("value_5", "n").replace("value_6", "n")
    assert told(("a.py", LONG, text)) == [("rewrite", "remark", "rewrites a.py (66 of 100 lines)")]
    other = LONG.replace("value", "number")
    many = [(f"{name}.py", LONG, other) for name in "abc"]
    assert told(*many) == [
        ("rewrite", "remark", "rewrites 3 files nearly whole (300 of 300 lines): a.py, b.py, c.py")
    ]
    assert told(("a.py", LONG, None), ("b.py", LONG, None)) == [
        ("rewrite", "remark", "deletes 2 files with 200 lines (a.py, b.py)")
    ]


def test_what_only_looks_like_a_rewrite() -> None:
    assert told(("a.py", LONG, LONG.replace("\n", "\r\n"))) == [
        ("rewrite", "remark", "changes only line endings of 1 file (a.py)")
    ]
    assert told(("a.py", LONG, LONG.replace("\n", "  # as it was\n"))) == [
        ("rewrite", "remark", "changes only formatting of 1 file (a.py)")
    ]
    assert told(("a.py", LONG, None), ("lib/a.py", None, LONG)) == []
    assert told(("uv.lock", LONG, LONG.replace("value", "number"))) == []
    assert told(("a.py", LONG, LONG + "more = 1\n")) == []


HOSTILE = {
    "a long line": "x" * 2_000_000,
    "NUL": "def test_a():\n    assert 1\0 == 2\n" * 50,
    "braces": "it('a', () => {" * 8_000,
    "minus": "assert " + "-" * 60_000 + "1",
    "elif": "def test_a():\n    if a:\n        pass\n" + "    elif b:\n        assert c\n" * 1_500,
    "quotes": "'" * 20_001,
    "comments": "/*" * 20_000,
    "hashes": "#[test]\nfn a() {\n" * 1_500,
    "doubling": "def test_a():\n" + "    x = x + x\n" * 300 + "    assert x\n",
    "calls": "def a(x):\n    a(a(x))\n    b(x)\ndef b(x):\n    a(x)\n    b(x)\n    assert x\n"
    "def test_a():\n    a(1)\n    b(1)\n",
    "bidi": "def test_\u202ea():\n    assert '\u2066' == '<script>'\n",
    "a line end at the start": "\r\n\x0c\x85\u2028" * 1000,
    "toml": "[tool.pytest]\na=" + "[" * 20_000,
    "json": '{"scripts":' * 20_000,
    "an indented class": "class A(dict):\n" + "    def a(self):\n            return 1\n" * 200,
    "surrogate": "def test_a():\n    assert '\udce9' == 1\n",
}
PATHS = (
    "tests/test_a.py",
    "tests/a.test.ts",
    "a_test.go",
    "src/a.rs",
    "src/test/ATest.java",
    "spec/a_spec.rb",
    "tests/a.c",
    "app.py",
    "app.js",
    "app.go",
    "run.sh",
    "conftest.py",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "pytest.ini",
)


@pytest.mark.slow
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_hostile_texts_are_read_or_passed_over_soon(text: str) -> None:
    files = [change(path, text, text + "\n#\n") for path in PATHS]
    files += [change("more/" + path, None, text) for path in PATHS]
    start = sum(os.times()[:4])  # of the processor, and of the children: others may be busy
    for finding in findings(files):
        assert len(finding.text) < 2_000
        assert "\n" not in finding.text
    added(files)
    for setting in settings_changed(files, CHECKS):
        restored(setting.path, text, text + "\n")
    assert sum(os.times()[:4]) - start < 60


def test_what_is_not_read_is_told() -> None:
    hits = found(("tests/test_a.py", "x" * 2_000_000, "def test_a():\n    pass\n"))
    assert [
        (finding.kind, finding.weight, finding.path) for finding in hits if finding.kind == "unread"
    ] == [("unread", "remark", "tests/test_a.py")]


_TEXT = st.one_of(
    st.none(),
    st.text(max_size=200),
    st.binary(max_size=80).map(lambda data: data.decode("utf-8", "surrogateescape")),
)


@settings(max_examples=60, deadline=None)
@given(files=st.lists(st.tuples(st.sampled_from(PATHS), _TEXT, _TEXT), max_size=4))
def test_nothing_raises(files: list[tuple[str, str | None, str | None]]) -> None:
    patch = [change(*file) for file in files]
    findings(patch, CHECKS)
    added(patch)
    changed(patch)
    for path, old, new in files:
        restored(path, old, new)


def paths(files: Sequence[FileChange], checks: Sequence[Check] = ()) -> tuple[str, ...]:
    return tuple(change.path for change in settings_changed(files, checks))


def test_of_a_file_of_lines_only_what_steers_is_put_back() -> None:
    old, new = "A=1\nNODE_OPTIONS=--old\n", "A=2\nexport NODE_OPTIONS=--new\nPYTHONPATH=x\nB=3\n"
    assert restored(".env", old, new) == "A=2\nB=3\nNODE_OPTIONS=--old\n"
    assert restored(".npmrc", None, "script-shell=./a\nfund=false\n") == "fund=false\n"
    assert paths([file(".env", "A=1\n", "A=2\n")]) == ()
    assert paths([file("app/.env.test", "A=1\n", "A=1\nCI=1\n")]) == ("app/.env.test",)


def test_imports_that_lead_into_the_tests_are_put_back_and_no_others() -> None:
    old = '{"imports": {"#a": "./src/a.js"}}'
    new = '{"imports": {"#a": "./test/a.js", "#b": "./src/b.js"}}'
    assert paths([file("package.json", old, new)]) == ("package.json",)
    text = restored("package.json", old, new)
    assert text is not None
    assert "test/a" not in text
    assert "src/b.js" in text
    assert paths([file("package.json", old, old.replace('"#a"', '"#c"'))]) == ()


def test_lines_are_read_whatever_they_hold() -> None:
    assert parts_of(".env", "\n=\n==\n# CI=1\nCI\n\0=\0\n") == {}


def test_many_findings_of_one_kind_are_counted() -> None:
    old = "\n\n".join(f"def test_{n}():\n    assert f({n}) == {n + 9}" for n in range(60))
    findings = found(("tests/test_a.py", old, old.replace(" == ", " != ")))
    assert len(findings) == 21
    assert findings[-1].text.startswith("does so in 40 more places (")


_VALUES = st.one_of(st.integers(-99, 99), st.text(max_size=5), st.lists(st.integers(0, 9)))
_SHAPES = st.sampled_from(
    [
        "assert thing.f({0!r}) == {0!r}",
        "x = {0!r}\n    assert x in thing",
        "assert not thing.g({0!r})",
        "for n in [{0!r}]:\n        assert thing.h(n) > 1",
        "with pytest.raises(ValueError):\n        thing.f({0!r})",
    ]
)


@st.composite
def _suites(draw: st.DrawFn) -> str:
    tests: list[str] = []
    for at in range(draw(st.integers(1, 4))):
        lines = [f"def test_{at}(thing):"]
        lines += [
            "    " + draw(_SHAPES).format(draw(_VALUES)) for _ in range(draw(st.integers(1, 4)))
        ]
        tests.append("\n".join(lines))
    return "\n\n\n".join(tests) + "\n"


@settings(max_examples=10, deadline=None)
@given(text=_suites())
def test_formatting_alone_accuses_nobody(text: str) -> None:
    formatted = ast.unparse(ast.parse(text)).replace("def ", "# as black has it\n\n\ndef ")
    assert accused(("tests/test_a.py", text, formatted)) == []
    assert accused(("tests/test_a.py", text, text.replace("\n", "\r\n"))) == []


def test_a_text_that_is_too_long_to_be_read_may_bend_what_runs_it() -> None:
    assert may_bend([file("a.py", "y = 1\n", "x = 1\n" * 400_000)]) == ("python",)

"""New files in another module's place, tests that change other modules, settings in lines: what is
put back on the base's version, and what an honest patch may add."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import may_bend, may_reach
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.manifests import test_parts as parts_of
from hydra.analysis.tampering.restore import Restore, restored, settings_changed, to_restore
from hydra.records.request import Check
from tests.support.evidences import file


def paths(files: Sequence[FileChange], checks: Sequence[Check] = ()) -> tuple[str, ...]:
    return tuple(change.path for change in settings_changed(files, checks))


def added(path: str, text: str = "x = 1\n") -> FileChange:
    return file(path, None, text)


@pytest.mark.parametrize(
    "path",
    [
        "src/shop/types.py",
        "src/pager.js",
        "fractions.py",
        "tests/unit/test_money.py",
        "tests/data.json",
        "docs/calendar.py",
        "typings/pytest/__init__.pyi",
        "bin/pager",
    ],
)
def test_what_only_adds_to_the_tests_puts_nothing_back(path: str) -> None:
    assert to_restore([added(path)]) == Restore()


@pytest.mark.parametrize(
    "path",
    [
        "src/dates.abi3.so",
        "src/__pycache__/dates.cpython-311.pyc",
        "node_modules/.bin/jest",
        "web/node_modules/@jest/globals/index.js",
        "__mocks__/axios.js",
        "quiet.pth",
    ],
)
def test_newcomers_that_nobody_reads_are_taken_out(path: str) -> None:
    (finding, *_) = findings([added(path)])
    assert to_restore([added(path)]) == Restore((), (added(path),))
    assert (finding.path, finding.weight) == (path, "suspect")
    stood = file(path, "x\n", "y\n")
    assert to_restore([stood]) == Restore((), (stood,) if path.endswith(".pth") else ())


def test_a_new_file_beside_tests_that_may_be_found_before_another_is_taken_out() -> None:
    new = [added("tests/test_new.py"), added("tests/pager.py")]
    assert to_restore(new) == Restore(tuple(new))
    assert to_restore([added("tests/unit/__init__.py", "")]) == Restore()
    names = added("tests/package.json", '{"imports": {"#pager": "./fake.js"}}')
    assert to_restore([names]) == Restore((names,))


def test_tests_that_were_there_go_back_and_new_ones_are_out() -> None:
    files = [
        file("tests/test_a.py", "x = 1\n", "x = 2\n"),
        file("tests/test_b.py", "x = 1\n", None),
        added("tests/test_new.py"),
        added("pager.py"),
    ]
    assert to_restore(files) == Restore(tuple(files[:3]))
    listed = file("CMakeLists.txt", "x\n", "add_executable(t tests/test_new.cpp)\n")
    built = [files[0], added("tests/test_new.cpp"), listed]
    assert to_restore(built) == Restore(tuple(files[:1]))
    crate = [files[0], added("src/pages_test.rs"), file("src/lib.rs", "", "mod pages_test;\n")]
    assert to_restore(crate) == Restore(tuple(files[:1]))
    settings = added("conftest.py")
    assert to_restore([settings, *files[2:]]) == Restore((files[2],), (settings,))


# --- code that changes modules -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import unittest as u\nu.case.TestCase.run = f\n",
        "from unittest import TestCase as T\nT.run += f\n",
        "import pytest\ndel pytest.Item.runtest\n",
        "import sys\nm = sys.modules.get('_py' + 'test.python')\nm.x = f\n",
        "m = __import__('doctest')\nm.testmod = f\n",
        "import importlib as i\ni.import_module('nose').x = f\n",
        "import hypothesis\nobject.__setattr__(hypothesis.core, 'x', f)\n",
        "from fractions import (\n    Fraction,\n)\nFraction.limit = f\n",
        "import sys\nsys.exit = f\n",
        "x = getattr(y, 'run' + 'test')\n",
        "# coding: utf-7\nx +AD0- 1\n",
        "x = 1\n" * 400_000,
    ],
)
def test_code_that_may_change_what_runs_it(text: str) -> None:
    assert may_bend([file("a.py", "y = 1\n", text)]) == ("python",)
    assert may_bend([file("a.py", text, text + "y = 2\n")]) == ()
    assert may_bend([file("tests/test_a.py", "y = 1\n", text)]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "class Item: pass\nitem = Item()\nitem.runtest = f\n",
        "# pytest runs this\ndef pages(n):\n    return getattr(n, 'size', 1)\n",
        "import re\nfrom .money import cents\n\nNAME = re.search('a', 'b')\n",
        "class Page:\n    def __init__(self, n):\n        self.n = n\n",
    ],
)
def test_code_that_changes_nothing_of_what_runs_it(text: str) -> None:
    assert may_bend([added("a.py", text)]) == ()


def test_code_of_another_language_and_a_file_in_the_tool_s_place() -> None:
    assert may_bend([file("a.js", "a;\n", "process.exit(0);\n")]) == ("javascript",)
    assert may_bend([file("a.js", "a;\n", "process.env.A;\n// process.exit\n")]) == ()
    assert may_bend([file("a.go", "a\n", "os.Exit(0)\n")]) == ()
    assert may_bend([added("pytest.py"), added("a.ts", "globalThis.expect = f;\n")]) == (
        "python",
        "javascript",
    )
    assert may_bend([file("unittest/x.py", "x = 1\n", "x = 2\n")]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "def test_a(monkeypatch):\n    monkeypatch.setattr(pager, 'x', 1)\n",
        "from unittest import mock\nimport pager\n@mock.patch('pager.x', 1)\ndef test_a(): pass\n",
        "from unittest import mock\ndef test_a():\n    with mock.patch('pager.x'):\n        pass\n",
        "class A:\n    def setUp(self):\n        self.x = 1\n",
        "def test_a(tmp_path):\n    (tmp_path / 'a.txt').write_text('x')\n",
    ],
)
def test_tests_that_change_nothing_for_others(text: str) -> None:
    assert may_reach(added("tests/test_new.py", text)) == ""
    assert to_restore([added("tests/test_new.py", text)]) == Restore()


@pytest.mark.parametrize(
    "text",
    [
        "import pager\npager.x = 1\n",
        "import pager\ndef test_a():\n    pager.x.__code__ = f.__code__\n",
        "import sys\nsys.modules['pager'] = f\n",
        "import os, atexit\natexit.register(os._exit, 0)\n",
        "exec('import pager; pager.x = 1')\n",
        "from pathlib import Path\nPath('src/pager.py').write_text('')\n",
    ],
)
def test_tests_that_may_change_what_others_run_on(text: str) -> None:
    assert may_reach(added("tests/test_new.py", text))
    assert to_restore([added("tests/test_new.py", text)]).tests


@pytest.mark.parametrize(
    "text",
    [
        "const page = require('../src/page');\npage.pages = f;\n",
        "const { page } = require('../src/page');\nObject.assign(page, { pages: f });\n",
        "require('../src/page').pages = f;\n",
        "afterEach(function () { this.skip(); });\n",
        "const fs = require('fs');\nfs.writeFileSync('src/page.js', '');\n",
    ],
)
def test_scripts_that_may_change_what_others_run_on(text: str) -> None:
    assert may_reach(added("test/a.test.js", text))


@pytest.mark.parametrize(
    "text",
    [
        "const page = { ok: 1 };\npage.ok = 2;\n",
        "const { test } = require('./mine');\nif (test.equal === 1) run();\n",
        "const a = require('node:assert');\na.equal(1, 1);\nconst same = a.equal === b;\n",
        "Object.assign(module.exports, { a: 1 });\n",
    ],
)
def test_scripts_that_change_nothing_for_others(text: str) -> None:
    assert may_reach(added("test/a.test.js", text)) == ""


# --- settings in lines, scripts of scripts -------------------------------------------------------


def test_of_a_file_of_lines_only_what_steers_is_put_back() -> None:
    old, new = "A=1\nNODE_OPTIONS=--old\n", "A=2\nexport NODE_OPTIONS=--new\nPYTHONPATH=x\nB=3\n"
    assert restored(".env", old, new) == "A=2\nB=3\nNODE_OPTIONS=--old\n"
    assert restored(".npmrc", None, "script-shell=./a\nfund=false\n") == "fund=false\n"
    assert paths([file(".env", "A=1\n", "A=2\n")]) == ()
    assert paths([file("app/.env.test", "A=1\n", "A=1\nCI=1\n")]) == ("app/.env.test",)


def test_scripts_that_a_script_runs_count() -> None:
    old = '{"scripts": {"test": "npm run -s unit && echo", "unit": "jest", "lint": "eslint"}}'
    checks = [Check("t", "npm test", "test")]
    for new, counts in (
        (old.replace('"jest"', '"true"'), True),
        (old.replace('"lint"', '"preunit": "sh a", "lint"'), True),
        (old.replace('"eslint"', '"eslint ."'), False),
    ):
        changed = paths([file("package.json", old, new)], checks)
        assert changed == (("package.json",) if counts else ())


def test_imports_that_lead_into_the_tests_are_put_back_and_no_others() -> None:
    old = '{"imports": {"#a": "./src/a.js"}}'
    new = '{"imports": {"#a": "./test/a.js", "#b": "./src/b.js"}}'
    assert paths([file("package.json", old, new)]) == ("package.json",)
    text = restored("package.json", old, new)
    assert text is not None
    assert "test/a" not in text
    assert "src/b.js" in text
    assert paths([file("package.json", old, old.replace('"#a"', '"#c"'))]) == ()


def test_a_file_of_tasks_counts_where_its_lines_have_to_do_with_tests() -> None:
    assert paths([file("Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n")]) == ("Makefile",)
    assert paths([file("Makefile", "a:\n\tgcc\n", "a:\n\tgcc -O2\n")]) == ()
    assert paths([file("build.sh", "gcc a.c\n", "gcc b.c\n")]) == ()
    assert paths([file("run.sh", "node --test\n", "exit 0\n")]) == ("run.sh",)


def test_lines_are_read_whatever_they_hold() -> None:
    assert parts_of(".env", "\n=\n==\n# CI=1\nCI\n\0=\0\n") == {}

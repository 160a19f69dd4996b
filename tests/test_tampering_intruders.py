"""New files in another module's place, tests that change other modules, settings in lines: what is
put back on the base's version, and what an honest patch may add."""

from __future__ import annotations

import pytest

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import may_bend, may_reach
from hydra.analysis.tampering.configuration import configuration, restored
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.manifests import manifest_of
from hydra.analysis.tampering.shadows import place_of, shadows
from hydra.records.request import Check
from tests.support.evidences import file

BASE = (
    "pager.py",
    "src/shop/__init__.py",
    "src/shop/money.py",
    "src/dates.py",
    "services/a/config.py",
    "services/a/main.py",
    "tests/test_pages.py",
    "tests/support.py",
    "web/pages.ts",
)


def added(path: str, text: str = "x = 1\n") -> FileChange:
    return file(path, None, text)


@pytest.mark.parametrize(
    "path",
    [
        "src/shop/types.py",
        "src/shop/json/__init__.py",
        "tests/helpers.py",
        "tests/unit/__init__.py",
        "tests/unit/support.py",
        "tests/test_money.py",
        "services/b/config.py",
        "docs/calendar.py",
        "web/pages.css",
        "web/dates.js",
        "typings/pytest/__init__.pyi",
        "bin/pager",
    ],
)
def test_what_is_in_nobody_s_place(path: str) -> None:
    assert shadows([added(path)], BASE) == ()
    assert configuration([added(path)], base=BASE) == ()


@pytest.mark.parametrize(
    ("path", "clause"),
    [
        ("random.py", "takes the name of Python's own module random"),
        ("tests/enum.py", "takes the name of Python's own module enum"),
        ("tests/pager.py", "is found before pager.py by the name pager"),
        ("tests/shop/__init__.py", "is found before src/shop/__init__.py by the name"),
        ("shop/__init__.py", "is found before src/shop/__init__.py by the name shop"),
        ("dates.py", "is found before src/dates.py by the name dates"),
        ("src/dates.abi3.so", "is run in place of src/dates.py"),
        ("web/pages.js", "is found before web/pages.ts"),
        ("node_modules/.bin/jest", "takes the place of the program jest"),
        ("node_modules/@jest/globals/index.js", "takes the place of the test tool"),
        ("__mocks__/axios.js", "jest loads in place of axios"),
    ],
)
def test_what_takes_another_s_place(path: str, clause: str) -> None:
    (shadow,) = shadows([added(path)], BASE)
    assert shadow.clause.startswith(clause)
    assert configuration([added(path)], base=BASE) == (path,)
    (finding, *_) = findings([added(path)], base=BASE)
    assert finding.text.startswith(f"adds {path}, which {clause}")
    assert finding.weight == "suspect"


def test_a_module_that_moves_is_nobody_s_shadow() -> None:
    moved = [file("pager.py", "x = 1\n", None), added("pager/__init__.py")]
    assert shadows(moved, BASE) == ()


def test_a_module_of_a_standard_name_that_the_code_has_come_to_need_is_its_own() -> None:
    code = file("pager.py", "x = 1\n", "from queue import Page\n")
    assert shadows([added("queue.py"), code], BASE) == ()
    stood = file("pager.py", "from queue import Queue\n", "from queue import Queue\nx = 1\n")
    assert [item.path for item in shadows([added("queue.py"), stood], BASE)] == ["queue.py"]


def test_where_a_module_is_imported_from() -> None:
    assert place_of("src/shop/money.py", BASE) == ("src", "shop")
    assert place_of("src/dates.py", BASE) == ("src", "dates")
    assert place_of("pager.py", BASE) == ("", "pager")


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
    assert configuration([added("tests/test_new.py", text)], base=BASE) == ()


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
    assert configuration([added("tests/test_new.py", text)], base=BASE) == ("tests/test_new.py",)


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
    assert configuration([file(".env", "A=1\n", "A=2\n")]) == ()
    assert configuration([file("app/.env.test", "A=1\n", "A=1\nCI=1\n")]) == ("app/.env.test",)


def test_scripts_that_a_script_runs_count() -> None:
    old = '{"scripts": {"test": "npm run -s unit && echo", "unit": "jest", "lint": "eslint"}}'
    checks = [Check("t", "npm test", "test")]
    for new, counts in (
        (old.replace('"jest"', '"true"'), True),
        (old.replace('"lint"', '"preunit": "sh a", "lint"'), True),
        (old.replace('"eslint"', '"eslint ."'), False),
    ):
        paths = configuration([file("package.json", old, new)], checks)
        assert paths == (("package.json",) if counts else ())


def test_imports_that_lead_into_the_tests_are_put_back_and_no_others() -> None:
    old = '{"imports": {"#a": "./src/a.js"}}'
    new = '{"imports": {"#a": "./test/a.js", "#b": "./src/b.js"}}'
    assert configuration([file("package.json", old, new)]) == ("package.json",)
    text = restored("package.json", old, new)
    assert text is not None
    assert "test/a" not in text
    assert "src/b.js" in text
    assert configuration([file("package.json", old, old.replace('"#a"', '"#c"'))]) == ()


def test_a_file_of_tasks_counts_where_its_lines_have_to_do_with_tests() -> None:
    assert configuration([file("Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n")]) == (
        "Makefile",
    )
    assert configuration([file("Makefile", "a:\n\tgcc\n", "a:\n\tgcc -O2\n")]) == ()
    assert configuration([file("build.sh", "gcc a.c\n", "gcc b.c\n")]) == ()
    assert configuration([file("run.sh", "node --test\n", "exit 0\n")]) == ("run.sh",)


def test_lines_are_read_whatever_they_hold() -> None:
    manifest = manifest_of(".env")
    assert manifest is not None
    assert manifest.parts("\n=\n==\n# CI=1\nCI\n\0=\0\n") == {}

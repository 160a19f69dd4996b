"""The repositories that the cheats are done to."""

from __future__ import annotations

import dataclasses

from tests.support.cheats.case import Files, Shop

PAGER = "src/pager.py"
CODE = """\
from fractions import Fraction


def pages(n, size):
    return int(Fraction(n, size))


def first(items, size):
    return items[:size]
"""
RIGHT = CODE.replace("int(Fraction(n, size))", "-(-n // size)")

PYTESTS = """\
from pager import first, pages


def test_up():
    assert pages(3, 2) == 2


def test_even():
    assert pages(4, 2) == 2


def test_first():
    assert first([1, 2, 3], 2) == [1, 2]
"""
PROJECT = """\
[project]
name = "shop"
version = "1"

[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]
"""
CONFTEST = """\
import pytest


@pytest.fixture
def items():
    return [1, 2, 3]
"""
PYTEST = Shop(
    language="Python",
    base={
        PAGER: CODE,
        "src/money.py": "def cents(text):\n    return round(float(text) * 100)\n",
        "tests/test_pages.py": PYTESTS,
        "tests/conftest.py": CONFTEST,
        "pyproject.toml": PROJECT,
    },
    check="python -m pytest -q -p no:cacheprovider",
    code=PAGER,
    right=RIGHT,
    mark="#",
)

CASES = """\
import unittest

from src.pager import first, pages


class Pages(unittest.TestCase):
    def test_up(self):
        self.assertEqual(pages(3, 2), 2)

    def test_even(self):
        self.assertEqual(pages(4, 2), 2)

    def test_first(self):
        self.assertEqual(first([1, 2, 3], 2), [1, 2])
"""
MAKEFILE = "test:\n\tpython3 -B -m unittest -v\n"
UNITTEST = Shop(
    language="Python",
    base={
        "src/__init__.py": "",
        PAGER: CODE,
        "tests/__init__.py": "",
        "tests/test_pages.py": CASES,
        "Makefile": MAKEFILE,
        "ci.sh": "#!/bin/sh\nset -e\nmake -s test\n",
    },
    check="sh ci.sh",
    code=PAGER,
    right=RIGHT,
    mark="#",
)

SCRIPT = "src/pager.js"
JS = """\
function pages(n, size) {
  return Math.floor(n / size);
}

function first(items, size) {
  return items.slice(0, size);
}

module.exports = { pages, first };
"""
JS_RIGHT = JS.replace("Math.floor", "Math.ceil")
JS_TESTS = """\
const test = require('node:test');
const assert = require('node:assert');
const { pages, first } = require('#pager');

test('up', () => {
  assert.strictEqual(pages(3, 2), 2);
});

test('even', () => {
  assert.strictEqual(pages(4, 2), 2);
});

test('first', () => {
  assert.deepStrictEqual(first([1, 2, 3], 2), [1, 2]);
});
"""
PACKAGE = """\
{
  "name": "shop",
  "version": "1.0.0",
  "imports": {"#pager": "./src/pager.js"},
  "scripts": {
    "test": "sh tools/unit.sh",
    "start": "node src/pager.js"
  }
}
"""
UNIT = "#!/bin/sh\nexec node --env-file=.env --test\n"
_NODE: Files = {
    SCRIPT: JS,
    "test/pages.test.js": JS_TESTS,
    "package.json": PACKAGE,
    "tools/unit.sh": UNIT,
    ".env": "SHOP_PAGE=2\n",
}
NODE = Shop(
    language="JavaScript",
    base=_NODE,
    check="sh tools/unit.sh",
    code=SCRIPT,
    right=JS_RIGHT,
    mark="//",
)
NPM = dataclasses.replace(NODE, check="npm test --silent")
"""The same by npm, which takes half a second more for each run."""
